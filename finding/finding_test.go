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
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/finding"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/latency"
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

// All findings of every shipped capture, and no others. Their truth says what
// was done: clean captures have no error and no warning.
func TestCaptures(t *testing.T) {
	want := map[string][]string{
		// A real bad CRC, and the peer's Terminate.
		"crc-race-zerocopy-1": {"error crc-mismatch", "error terminated", "info reset"},
		"iser-rw":             {"info delayed-ack"},
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
		"netem-all":      {"info retransmission", "info slow-operations", "warning retransmission-timeout"},
		"netem-corrupt":  {"info retransmission", "info slow-operations", "warning bad-checksum"},
		"netem-in-loss2": {"info retransmission", "info slow-operations", "info syn-retry", "warning retransmission-timeout"},
		"netem-reorder":  {"info delayed-ack", "info retransmission", "info slow-operations"},
		// Clean, on slow machines.
		"nfs-rdma-v3":       {"info delayed-ack", "info retransmission"},
		"nfs-rdma-v42":      {"info delayed-ack", "info retransmission"},
		"nvme-rdma-write4k": {"info delayed-ack", "info retransmission"},
		"read-bw-q4-s8192":  {"info delayed-ack", "info retransmission"},
		"read-lat-s64":      {"info retransmission", "info slow-operations"},
		"send-bw-s1-t64":    {"info delayed-ack", "info retransmission", "info unaligned"}, // dozens of FPDUs a segment
		"send-lat-s64":      {"info delayed-ack", "info retransmission"},
		"write-lat-s1001":   {"info retransmission"},
		"smbdirect":         {"info delayed-ack"},
		"snap128-rping":     {"info headers-only"},
		// Synthetic.
		"bad-crc":              {"error crc-mismatch"},
		"capture-loss":         {"warning capture-holes"},
		"capture-loss-markers": {"warning capture-holes"},
		"duplicates":           {"info retransmission"},
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
			if _, err := decode.Run(src, c, decode.Options{Messages: true, Operations: true}); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want[short], list(c.Findings(qp.Info))); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// Kinds that no shipped capture has, from records made by hand.
func TestByHand(t *testing.T) {
	conn := &qp.Conn{Number: 3}
	event := func(kind string, fields ...qp.Field) func(*finding.Collector) {
		return func(c *finding.Collector) {
			c.Event(&qp.Event{Kind: kind, Conn: conn, HasSide: true, Detail: "so it was", Fields: fields})
		}
	}
	startup := func(private ...byte) func(*finding.Collector) {
		return func(c *finding.Collector) {
			c.Message(&qp.Message{Conn: conn, Startup: &mpa.Startup{Revision: 1, Private: private}})
		}
	}
	v2 := func(a bool) *mpa.Startup {
		return &mpa.Startup{Revision: 2, Enhanced: true, PDLength: 4, PeerToPeer: a, IRD: 1, ORD: 1}
	}
	shaken := func(f func(*qp.Summary)) *qp.Summary {
		s := &qp.Summary{Conn: conn, Roles: [2]qp.Role{qp.Initiator, qp.Responder}, Handshake: true, Request: v2(false), Reply: v2(false), Sent: [2]uint64{5, 5},
			Limit: [2]int{-1, -1}}
		s.Messages[rdmap.OpMPARequest] = 1
		f(s)
		return s
	}
	summary := func(f func(*qp.Summary)) func(*finding.Collector) {
		return func(c *finding.Collector) { c.QP(shaken(f)) }
	}
	var reads latency.Dist
	for range 20 {
		reads.Record(1000)
	}
	for _, tt := range []struct {
		id  string
		sev qp.Severity
		in  func(*finding.Collector)
	}{
		{"slow-reply", qp.Warning, func(c *finding.Collector) {
			c.Operation(&qp.Operation{Conn: conn, Kind: qp.KindConnect, Service: 2e9})
		}},
		{"missing-rtr", qp.Warning, summary(func(s *qp.Summary) { s.Request, s.Reply = v2(true), v2(true) })},
		{"crc-one-sided", qp.Info, summary(func(s *qp.Summary) { s.Request.CRC = true })},
		{"depth-zero", qp.Warning, event("rdmap_violation", qp.Field{Name: "depth", Num: 1}, qp.Field{Name: "limit", Num: 0})},
		{"depth-exceeded", qp.Warning, event("rdmap_violation", qp.Field{Name: "depth", Num: 9}, qp.Field{Name: "limit", Num: 8})},
		{"smbd-private-depth", qp.Info, startup(0, 0, 0, 16, 0, 0, 0, 16)},
		{"smbd-private-order", qp.Warning, startup(16, 0, 0, 0, 16, 0, 0, 0)},
		{"reset", qp.Warning, func(c *finding.Collector) {
			event("unanswered")(c)
			c.QP(shaken(func(s *qp.Summary) { s.State, s.HasEnded = qp.Reset, true }))
		}},
		{"marker-mismatch", qp.Error, event("marker_mismatch")},
		{"ddp-violation", qp.Error, event("ddp_violation")},
		{"framing-lost", qp.Error, func(c *finding.Collector) {
			c.Event(&qp.Event{Kind: "ddp_violation", Conn: conn, Detail: "framing is lost"})
		}},
		{"rdmap-violation", qp.Error, event("rdmap_violation")},
		{"use-after-invalidate", qp.Warning, func(c *finding.Collector) {
			c.Event(&qp.Event{Kind: "rdmap_violation", Conn: conn, Detail: "RDMA Write names 0x00000001, which a Send had invalidated"})
		}},
		{"overlap-conflict", qp.Warning, event("tcp_overlap_conflict")},
		{"zero-window", qp.Warning, event("tcp_window_open", qp.Field{Name: "closed_ns", Num: 300e6})},
		{"reads-serialised", qp.Info, summary(func(s *qp.Summary) {
			s.MaxDepth, s.Limit = [2]int{1, 0}, [2]int{1, 1}
			s.Latency = []qp.Latency{{Kind: qp.KindRead, Dist: &reads}}
		})},
		{"not-framed", qp.Warning, event("skipped")},
		{"only-startup", qp.Info, summary(func(s *qp.Summary) { s.Sent = [2]uint64{1, 1} })},
		{"silent-end", qp.Warning, func(c *finding.Collector) {
			event("unanswered")(c)
			c.QP(shaken(func(s *qp.Summary) { s.CaptureEnd = 60e9 }))
		}},
		{"cut-short", qp.Warning, func(c *finding.Collector) { c.Damage([]*capture.Error{{File: "x.pcap", Msg: "ends"}}) }},
	} {
		t.Run(tt.id+" "+tt.sev.String(), func(t *testing.T) {
			c := finding.New()
			tt.in(c)
			var got []string
			for _, f := range c.Findings(qp.Info) {
				if f.ID != "unanswered" {
					got = append(got, fmt.Sprintf("%s %s", f.Severity, f.ID))
				}
				if f.QP != 3 && f.ID != "cut-short" {
					t.Errorf("QP %d", f.QP)
				}
			}
			if d := cmp.Diff([]string{fmt.Sprintf("%s %s", tt.sev, tt.id)}, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
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
