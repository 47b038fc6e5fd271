package decode_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/packet"
	"github.com/iwdump/iwdump/qp"
)

// TestImperfect damages real captures and holds the operations of what is left
// against those of the whole: what is told without a doubt is right, no rule is
// said to be broken that was not, and enough is still told.
func TestImperfect(t *testing.T) {
	lose := func(percent int, seed uint64) func([]capture.Frame) []capture.Frame {
		return func(fs []capture.Frame) (out []capture.Frame) {
			r := rand.New(rand.NewPCG(seed, 9))
			for _, f := range fs {
				if r.IntN(100) >= percent {
					out = append(out, f)
				}
			}
			return out
		}
	}
	damages := []struct {
		name   string
		damage func([]capture.Frame) []capture.Frame
	}{
		{"3% lost", lose(3, 1)}, {"3% lost again", lose(3, 2)}, {"1% lost", lose(1, 3)}, {"15% lost", lose(15, 4)},
		{"cut to 128", func(fs []capture.Frame) (out []capture.Frame) {
			for _, f := range fs {
				f.Data = f.Data[:min(len(f.Data), 128)]
				out = append(out, f)
			}
			return out
		}},
		{"from a quarter on", func(fs []capture.Frame) []capture.Frame { return fs[len(fs)/4:] }},
		{"from the middle on", func(fs []capture.Frame) []capture.Frame { return fs[len(fs)/2:] }},
		{"one direction", func(fs []capture.Frame) (out []capture.Frame) {
			var d packet.Decoder
			var s packet.Segment
			var first packet.Endpoint
			for i := range fs {
				if d.Decode(&fs[i], &s) != packet.TCP {
					continue
				}
				if first == (packet.Endpoint{}) {
					first = s.Flow.Src
				}
				if s.Flow.Src.Addr == first.Addr {
					out = append(out, fs[i])
				}
			}
			return out
		}},
	}
	// An operation is known by who asked, what, and when.
	type key struct {
		src, dst string
		kind     qp.OpKind
		start    int64
		size     uint64
	}
	keyOf := func(o *qp.Operation) key {
		return key{o.Conn.Text[o.Side], o.Conn.Text[o.Side.Other()], o.Kind, o.Start.Time, o.Size}
	}
	told, all := 0, 0
	guessed, right, there := 0, 0, 0 // there: those whose first and last packet were left
	answered := func(o *qp.Operation) bool {
		return o.Measure == qp.MeasureResponse && o.Kind != qp.KindConnect && o.Kind != qp.KindClose
	}
	for _, name := range []string{"nvme-rdma-read4k.pcap", "siw/read-lat-s64.pcap.gz", "siw/read-bw-q4-s8192.pcap.gz", "siw/nfs-rdma-v3.pcap.gz",
		"siw/iwt-reads16.pcap.gz", "siw/iwt-allops.pcap.gz", "siw/verbs-mixed.pcap.gz", "siw/rping-mtu1500-s4096.pcap.gz", "siw/send-lat-s64.pcap.gz",
		"siw/iser-rw.pcap.gz", "synthetic/atomics-immediate.pcap.gz", "synthetic/outstanding-reads.pcap.gz"} {
		frames := load(t, filepath.Join(pcaps, name))
		whole := &records{}
		o := decode.Options{Workers: 1, Operations: true}
		if _, err := decode.Run(&source{frames}, whole, o); err != nil {
			t.Fatal(err)
		}
		truth := map[key][]*qp.Operation{}
		for i := range whole.ops {
			k := keyOf(&whole.ops[i])
			truth[k] = append(truth[k], &whole.ops[i])
		}
		broken := map[string]bool{}
		for _, e := range whole.events {
			broken[e.Kind] = true
		}
		for _, d := range damages {
			t.Run(name+" "+d.name, func(t *testing.T) {
				got := &records{}
				left := d.damage(frames)
				if _, err := decode.Run(&source{left}, got, o); err != nil {
					t.Fatal(err)
				}
				kept := map[uint64]bool{}
				for _, f := range left {
					kept[f.Number] = true
				}
				for i := range whole.ops {
					if o := &whole.ops[i]; answered(o) && o.Status == qp.StatusOK && kept[o.Start.Frame] && kept[o.End.Frame] {
						there++
					}
				}
				for i := range got.events {
					e := &got.events[i]
					switch e.Kind {
					case "rdmap_violation", "ddp_violation", "unanswered":
						if !broken[e.Kind] {
							t.Errorf("frame %d: %s: %s", e.At.Frame, e.Kind, e.Detail)
						}
					}
				}
				wrong := 0
				for i := range got.ops {
					o := &got.ops[i]
					if !answered(o) {
						continue
					}
					same := func(w *qp.Operation) bool {
						return w.Status == o.Status && w.Latency == o.Latency && w.End.Frame == o.End.Frame && (o.Depth == 0 || o.Depth == w.Depth) &&
							(o.First < 0 || o.First == w.First) && (o.Service < 0 || o.Service == w.Service)
					}
					ws := truth[keyOf(o)]
					ok := slices.ContainsFunc(ws, same) || slices.ContainsFunc(whole.ops, func(w qp.Operation) bool {
						// Its request was sent twice, and of the first time nothing is left.
						return w.Kind == o.Kind && w.End.Frame == o.End.Frame && w.Size == o.Size && !kept[w.Start.Frame]
					})
					if o.Guess {
						if guessed++; ok {
							right++
						}
						continue
					}
					if all++; ok {
						told++
					} else if wrong++; wrong <= 3 {
						t.Errorf("%s; the whole capture says%s", brief(o), brief(ws...))
					}
				}
			})
		}
	}
	t.Logf("of %d, %d are told, and %d guessed, of which %d are right", there, told, guessed, right)
	if all != told || told < there/2 || right < guessed*2/3 {
		t.Errorf("of %d, %d of %d told are right, and %d of %d guessed", there, told, all, right, guessed)
	}
}

func brief(os ...*qp.Operation) (s string) {
	for _, o := range os {
		s += fmt.Sprintf(" %v %v of %d octets from frame %d to frame %d, %d ns, first %d, service %d, depth %d",
			o.Kind, o.Status, o.Size, o.Start.Frame, o.End.Frame, o.Latency, o.First, o.Service, o.Depth)
	}
	return s
}
