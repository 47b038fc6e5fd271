package finding_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/finding"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
)

// list writes findings as "severity id", with the QP where there are several.
func list(fs []finding.Finding) []string {
	var out []string
	for _, f := range fs {
		out = append(out, fmt.Sprintf("%s %s", f.Severity, f.ID))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// inCaptures are all findings of every shipped capture. Their truth says what
// was done. Those that are not named have none.
var inCaptures = map[string][]string{
	// A real bad CRC, and the peer's Terminate.
	"crc-race-zerocopy-1": {"error crc-mismatch", "error terminated", "info reset"},
	"iser-rw":             {"info command-failed", "info delayed-ack"}, // the target does not know a command
	"iwt-reject":          {"error connection-rejected"},
	// Errors made on purpose.
	"iwt-term-readbadkey":     {"error terminated"},
	"iwt-term-sendtoolong":    {"error terminated", "info reset"},
	"verbs-oob-write":         {"error terminated", "info reset"},
	"verbs-send-norecv":       {"error terminated"},
	"rping-parallel":          {"error terminated", "info reset"},
	"mpa-raw-v3":              {"error no-reply"},
	"param-crc-strict-reject": {"error connection-rejected"},
	"param-gso-rping":         {"info fpdu-above-mss", "info reserved-flags", "info retransmission"},
	// Links with loss, disorder and bit errors.
	"netem-all":      {"info retransmission", "info slow-operations", "info stall", "warning retransmission-timeout"},
	"netem-corrupt":  {"info retransmission", "info slow-operations", "warning bad-checksum"},
	"netem-in-loss2": {"info retransmission", "info slow-operations", "info stall", "info syn-retry", "warning retransmission-timeout"},
	"netem-reorder":  {"info delayed-ack", "info retransmission", "info slow-operations", "info stall"},
	// Clean, on slow machines.
	"nfs-rdma-v3":       {"info command-failed", "info delayed-ack", "info retransmission"},
	"nfs-rdma-v42":      {"info delayed-ack", "info retransmission"},
	"nvme-rdma-write4k": {"info delayed-ack", "info retransmission"},
	"read-bw-q4-s8192":  {"info delayed-ack", "info retransmission", "info stall"},
	"read-lat-s64":      {"info slow-operations", "info stall", "warning retransmission-timeout"}, // 205 ms and more, as tshark says
	"send-bw-s1-t64":    {"info delayed-ack", "info retransmission", "info unaligned"},            // dozens of FPDUs a segment
	"send-lat-s64":      {"info delayed-ack", "info retransmission", "info stall", "warning retransmission-timeout"},
	"write-lat-s1001":   {"info retransmission", "info stall", "warning retransmission-timeout"},
	"smbdirect":         {"info delayed-ack", "warning command-failed"}, // the share that is to be mounted is not there
	"smbdirect-rw":      {"warning command-failed"},
	"snap128-rping":     {"info headers-only"},
	// Synthetic.
	"bad-crc":              {"error crc-mismatch"},
	"capture-loss":         {"warning capture-holes"},
	"capture-loss-markers": {"warning capture-holes"},
	"midstream":            {"info started-late"},
	"midstream-markers":    {"info started-late"},
	"midstream-stream-cut": {"info started-late", "info unaligned"},
	"outstanding-reads":    {"warning unanswered"},
	"port-reuse":           {"info reset"},
	"reorder":              {"info retransmission", "info unaligned"},
	"retransmissions":      {"info retransmission", "info unaligned"},
	"rtr-kinds":            {"warning startup-mismatch"},
	"snaplen-128":          {"info headers-only"},
	"stream-cut":           {"info unaligned"},
	"terminate":            {"error terminated", "info reset"},
}

// A shipped capture has its findings, and no others.
func TestCaptures(t *testing.T) {
	var names []string
	for _, pattern := range []string{"*.pcap", "*/*.pcap.gz"} {
		found, err := filepath.Glob(filepath.Join("../testdata/pcaps", pattern))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	if len(names) < 55 {
		t.Fatalf("only %d captures", len(names))
	}
	for _, name := range names {
		short, _, _ := strings.Cut(filepath.Base(name), ".")
		t.Run(short, func(t *testing.T) {
			src := capture.Open([]string{name}, nil, capture.Options{})
			defer src.Close()
			c := finding.New()
			if _, err := decode.Run(src, c, decode.Options{Upper: decode.AutoUpper(), Messages: true, Operations: true}); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(inCaptures[short], list(c.Findings(qp.Info))); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// A capture that could not be read to its end.
func TestCutShort(t *testing.T) {
	c := finding.New()
	c.Damage([]*capture.Error{{File: "x.pcap", Msg: "ends"}})
	if d := cmp.Diff([]string{"warning cut-short"}, list(c.Findings(qp.Info))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// Each kind is found in packets, but for the one that is about files.
func TestEveryKind(t *testing.T) {
	found := map[string]bool{"cut-short": true}
	note := func(line string) { found[strings.Fields(line)[1]] = true }
	for _, lines := range inCaptures {
		for _, line := range lines {
			note(line)
		}
	}
	for _, c := range slices.Concat(inPackets, upperPackets) {
		note(c.want)
	}
	for id := range finding.Kinds {
		if !found[id] {
			t.Errorf("nothing has %s", id)
		}
	}
}

// docs/findings.md has a section for each kind, in order, with the same words.
func TestDocs(t *testing.T) {
	b, err := os.ReadFile("../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := strings.Join(strings.Fields(string(b)), " ")
	for _, id := range slices.Sorted(maps.Keys(finding.Kinds)) {
		k := finding.Kinds[id]
		want := fmt.Sprintf("## %s Severity: %s. %s Next: %s", id, k.Severity, k.Meaning, k.Next)
		if !strings.Contains(doc, want) {
			t.Errorf("docs/findings.md does not say: %s", want)
		}
	}
}

// A kind has one finding for a QP, whatever comes.
func TestBounded(t *testing.T) {
	c := finding.New()
	conn := &qp.Conn{Number: 1}
	for range 100_000 {
		c.Event(&qp.Event{Kind: "tcp_retransmission", Conn: conn})
	}
	fs := c.Findings(qp.Info)
	if len(fs) != 1 || fs[0].Count != 100_000 {
		t.Errorf("%+v", fs)
	}
}
