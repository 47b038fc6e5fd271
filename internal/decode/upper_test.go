package decode_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
)

// commands is a sink that keeps what upper layers say.
type commands struct {
	list   []qp.Operation
	names  map[string]int
	uppers []string // of the QPs
	texts  int
	doubts int
	events []qp.Event
}

func (c *commands) Message(m *qp.Message) {
	if m.ULP != nil {
		c.texts++
		if m.ULP.Doubt {
			c.doubts++
		}
	}
}
func (c *commands) FPDU(*qp.FPDU) {}
func (c *commands) Operation(o *qp.Operation) {
	if o.Command != nil {
		x := *o
		x.Command = o.Command.Clone()
		c.list = append(c.list, x)
		c.names[o.Name()]++
	}
}
func (c *commands) Event(e *qp.Event) { c.events = append(c.events, *e) }
func (c *commands) QP(s *qp.Summary) {
	name := ""
	if s.ULP != nil {
		name = s.ULP.Protocol
		if s.ULP.Doubt {
			name += "?"
		}
	}
	c.uppers = append(c.uppers, name)
}

// changed is a capture whose frames are changed on their way, or left out.
type changed struct {
	*capture.Files
	change func(*capture.Frame) bool
}

func (s changed) Next() (*capture.Block, error) {
	b, err := s.Files.Next()
	if b != nil && s.change != nil {
		kept := b.Frames[:0]
		for _, f := range b.Frames {
			if s.change(&f) {
				kept = append(kept, f)
			}
		}
		b.Frames = kept
	}
	return b, err
}

func upper(t *testing.T, name, ulpName string, change func(*capture.Frame) bool) *commands {
	t.Helper()
	files := capture.Open([]string{name}, nil, capture.Options{})
	defer files.Close()
	u, err := decode.ParseUpper(ulpName)
	if err != nil {
		t.Fatal(err)
	}
	c := &commands{names: map[string]int{}}
	if _, err := decode.Run(changed{files, change}, c, decode.Options{Upper: u, Workers: 1, Messages: true, Operations: true}); err != nil {
		t.Fatal(err)
	}
	return c
}

// carried is what the captures carry; the others carry no upper layer that is
// known: rping, perftest, a test program, made up traffic.
var carried = map[string]string{
	"nvme-rdma-read4k": "nvme", "nvme-rdma-write4k": "nvme", "nfs-rdma-v3": "rpcrdma", "nfs-rdma-v42": "rpcrdma",
	"smbdirect": "smbdirect", "smbdirect-rw": "smbdirect", "iser-rw": "iser",
}

// Each upper layer is recognised where it is carried, without a doubt, and
// nowhere else.
func TestUpperRecognised(t *testing.T) {
	var names []string
	for _, pattern := range []string{"*.pcap", "*/*.pcap.gz"} {
		found, err := filepath.Glob(filepath.Join(pcaps, pattern))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	seen := 0
	for _, name := range names {
		short, _, _ := strings.Cut(filepath.Base(name), ".")
		want := carried[short]
		c := upper(t, name, "auto", nil)
		for i, got := range c.uppers {
			if got != want {
				t.Errorf("%s: QP %d carries %q, not %q", short, i+1, want, got)
			}
		}
		switch {
		case want != "":
			seen++
			if len(c.list) == 0 {
				t.Errorf("%s: no commands", short)
			}
		case c.texts+len(c.list) > 0:
			t.Errorf("%s: %d messages and %d commands are said to be of an upper layer", short, c.texts, len(c.list))
		default:
			late := upper(t, name, "auto", func(f *capture.Frame) bool { return f.Number > 12 })
			short := upper(t, name, "auto", func(f *capture.Frame) bool { f.Data = f.Data[:min(len(f.Data), 128)]; return true })
			if n := late.texts + len(late.list) + short.texts + len(short.list); n > 0 {
				t.Errorf("%s, from the middle or cut: %d messages and commands are said to be of an upper layer", name, n)
			}
		}
	}
	if seen != len(carried) {
		t.Errorf("%d captures with an upper layer", seen)
	}
}

// With "none" nothing is said, and with the name of another protocol nothing
// that is not there is made up.
func TestUpperForced(t *testing.T) {
	name := filepath.Join(pcaps, "nvme-rdma-read4k.pcap")
	if c := upper(t, name, "none", nil); c.texts+len(c.list) != 0 || !slices.Equal(c.uppers, []string{"", ""}) {
		t.Errorf("none: %d messages, %d commands, %q", c.texts, len(c.list), c.uppers)
	}
	if c := upper(t, name, "nvme", nil); c.names["nvme.read"] != 67 || c.doubts != 0 {
		t.Errorf("nvme: %v, %d doubts", c.names, c.doubts)
	}
	for _, other := range []string{"rpcrdma", "smbdirect", "iser"} {
		if c := upper(t, name, other, nil); len(c.list) != 0 {
			t.Errorf("%s: %v", other, c.names)
		}
	}
	if _, err := decode.ParseUpper("x"); err == nil || !strings.Contains(err.Error(), "nvme") {
		t.Errorf("%v", err)
	}
}

// What fio did is found: 64 reads, and 64 writes, of 4 KiB, four at a time
// (each session reads the partition table with three reads besides), and they
// took as long as fio says, less what the host itself needs.
func TestNVMeTruth(t *testing.T) {
	for _, tt := range []struct {
		file, name  string
		others      map[string]int
		parts       []rdmap.Op
		minUS, mean float64 // completion latency by fio, µs
	}{
		{"nvme-rdma-read4k.pcap", "nvme.read", map[string]int{"nvme.read": 67}, []rdmap.Op{rdmap.OpWrite}, 2979, 5310.58},
		{"siw/nvme-rdma-write4k.pcap.gz", "nvme.write", map[string]int{"nvme.write": 64, "nvme.read": 3}, nil, 186, 5944.03},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := upper(t, filepath.Join(pcaps, tt.file), "auto", nil)
			for name, n := range tt.others {
				if c.names[name] != n {
					t.Errorf("%d %s, not %d", c.names[name], name, n)
				}
			}
			var of []qp.Operation
			for _, o := range c.list {
				if o.Name() == tt.name {
					of = append(of, o)
				}
			}
			of = of[len(of)-64:] // the probe comes first
			lbas := map[uint64]bool{}
			sum, deepest := int64(0), 0
			for _, o := range of {
				x := o.Command
				var ops []rdmap.Op
				for _, p := range x.Parts {
					ops = append(ops, p.Op)
				}
				if o.Status != qp.StatusOK || o.Size != 4096 || x.Moved != 4096 || !slices.Equal(ops, tt.parts) || o.Measure != qp.MeasureReply {
					t.Errorf("%+v %+v", o, x)
				}
				if s := x.Split(); s.Request+s.Data+s.Server+s.Reply != o.Latency || s.Request < 0 || s.Data < 0 || s.Server < 0 || s.Reply < 0 {
					t.Errorf("%+v of %d", s, o.Latency)
				}
				lba := x.Fields.Get("slba").Num
				if lbas[lba] || lba%8 != 0 || lba >= 512 || x.Fields.Get("blocks").Num != 8 || x.Fields.Get("nsid").Num != 1 {
					t.Errorf("LBA %d", lba)
				}
				lbas[lba] = true
				sum += o.Latency
				deepest = max(deepest, o.Depth)
			}
			if mean := float64(sum) / 64e3; mean > tt.mean || mean < tt.mean/3 {
				t.Errorf("a mean of %.0f µs, and fio says %.0f", mean, tt.mean)
			}
			if deepest != 4 {
				t.Errorf("%d at a time", deepest)
			}
			for _, e := range c.events {
				if _, isUpper := upperEvent(e.Kind); isUpper {
					t.Errorf("%s: %s", e.Kind, e.Detail)
				}
			}
		})
	}
}

func upperEvent(kind string) (string, bool) {
	switch kind {
	case ulp.CommandUnanswered, ulp.CommandFailed, ulp.CreditsExhausted, ulp.DataLength, ulp.KeepAliveMissed, ulp.QueueFull, ulp.CommandAborted, ulp.ProtocolViolation, ulp.ProtocolError:
		return kind, true
	}
	return "", false
}

// The session of iSER: login, 4 writes of 64 KiB and 8 of 512 octets, 2 reads
// of 128 KiB and 16 of 4 KiB (and 3 of 4 KiB for the partition table), logout.
func TestISERTruth(t *testing.T) {
	c := upper(t, filepath.Join(pcaps, "siw/iser-rw.pcap.gz"), "auto", nil)
	sizes := map[string]map[uint64]int{"iscsi.read": {}, "iscsi.write": {}}
	for _, o := range c.list {
		if m := sizes[o.Name()]; m != nil {
			if m[o.Size]++; o.Command.Moved != o.Size || o.Status != qp.StatusOK {
				t.Errorf("%+v", o.Command)
			}
		}
	}
	want := map[string]map[uint64]int{"iscsi.write": {64 << 10: 4, 512: 8}, "iscsi.read": {128 << 10: 2, 4 << 10: 19}}
	if d := cmp.Diff(want, sizes); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if c.names["iscsi.login"] != 1 || c.names["iscsi.logout"] != 1 {
		t.Errorf("%v", c.names)
	}
	if first, last := c.list[0].Name(), c.list[len(c.list)-1].Name(); first != "iscsi.login" || last != "iscsi.logout" {
		t.Errorf("from %s to %s", first, last)
	}
}

// A capture that starts late is recognised all the same, and nothing in it is
// said to be unanswered; nor where a packet in the middle is missing.
func TestUpperLate(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"nvme-rdma-read4k.pcap", "nvme"}, {"siw/nvme-rdma-write4k.pcap.gz", "nvme"}, {"siw/iser-rw.pcap.gz", "iser"},
		{"siw/nfs-rdma-v3.pcap.gz", "rpcrdma"}, {"siw/nfs-rdma-v42.pcap.gz", "rpcrdma"},
	} {
		name := filepath.Join(pcaps, tt.file)
		whole := upper(t, name, "auto", nil)
		late := upper(t, name, "auto", func(f *capture.Frame) bool { return f.Number > 150 })
		if !slices.Contains(late.uppers, tt.want) || len(late.list) == 0 {
			t.Errorf("%s, late: %q, %d commands", tt.file, late.uppers, len(late.list))
		}
		holes := upper(t, name, "auto", func(f *capture.Frame) bool { return f.Number%97 != 50 })
		for what, c := range map[string]*commands{"late": late, "with holes": holes} {
			for _, u := range c.uppers {
				if u != "" && strings.TrimSuffix(u, "?") != tt.want {
					t.Errorf("%s, %s: %q", tt.file, what, u)
				}
			}
			for command, n := range c.names {
				if n > whole.names[command] {
					t.Errorf("%s, %s: %d %s, of %d", tt.file, what, n, command, whole.names[command])
				}
			}
			for _, o := range c.list {
				if o.Status == qp.StatusUnanswered {
					t.Errorf("%s, %s: %s #%d is unanswered", tt.file, what, o.Name(), o.Request)
				}
			}
		}
		if n, m := len(holes.list), len(whole.list); n < m*2/3 {
			t.Errorf("%s, with holes: %d commands of %d", tt.file, n, m)
		}
	}
}

// Of packets that are cut to 128 octets the heads of commands are left: enough
// to recognise NVMe, and to count and time its commands where the host that
// captured did not merge their responses with the data in front of them.
func TestUpperCut(t *testing.T) {
	c := upper(t, filepath.Join(pcaps, "nvme-rdma-read4k.pcap"), "auto", func(f *capture.Frame) bool {
		f.Data = f.Data[:min(len(f.Data), 128)]
		return true
	})
	if !slices.Equal(c.uppers, []string{"nvme", "nvme"}) || c.names["nvme.property_get"] != 6 || c.names["nvme.property_set"] != 3 || c.names["nvme.connect"] != 2 {
		t.Errorf("%q, %v", c.uppers, c.names)
	}
	for _, o := range c.list {
		if o.Status == qp.StatusUnanswered {
			t.Errorf("%s #%d is unanswered", o.Name(), o.Request)
		}
	}
}
