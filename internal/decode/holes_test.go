package decode_test

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/packet"
)

// load reads all frames of a capture into memory.
func load(t *testing.T, name string) (frames []capture.Frame) {
	src := capture.Open([]string{name}, nil, capture.Options{})
	defer src.Close()
	for {
		b, err := src.Next()
		if errors.Is(err, io.EOF) {
			return frames
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range b.Frames {
			f.Data = append([]byte(nil), f.Data...)
			frames = append(frames, f)
		}
		b.Release()
	}
}

// Real captures that lose packets, are cut, begin late or see one direction:
// what is found is what the whole capture shows, and nothing else; and what is
// there as a whole is found.
func TestRealWithHoles(t *testing.T) {
	damages := []struct {
		name   string
		damage func([]capture.Frame) []capture.Frame
		cut    bool
	}{
		{name: "one in 7 lost", damage: func(fs []capture.Frame) (out []capture.Frame) {
			for i, f := range fs {
				if i%7 != 6 {
					out = append(out, f)
				}
			}
			return out
		}},
		{name: "one in 50 lost", damage: func(fs []capture.Frame) (out []capture.Frame) {
			for i, f := range fs {
				if i%50 != 49 {
					out = append(out, f)
				}
			}
			return out
		}},
		{name: "cut to 128", cut: true, damage: func(fs []capture.Frame) (out []capture.Frame) {
			for _, f := range fs {
				f.Data = f.Data[:min(len(f.Data), 128)]
				out = append(out, f)
			}
			return out
		}},
		{name: "from the middle on", damage: func(fs []capture.Frame) []capture.Frame { return fs[len(fs)/2:] }},
		{name: "one direction", damage: func(fs []capture.Frame) (out []capture.Frame) {
			var d packet.Decoder
			var s packet.Segment
			var first packet.Endpoint
			for i := range fs {
				if d.Decode(&fs[i], &s) != packet.TCP {
					continue
				}
				if len(out) == 0 {
					first = s.Flow.Src
				}
				if s.Flow.Src.Addr == first.Addr {
					out = append(out, fs[i])
				}
			}
			return out
		}},
	}
	type key struct {
		src, dst string
		seq      uint32
		length   int
	}
	for _, tt := range []struct {
		name   string
		crc    bool
		recall float64 // of those that are there as a whole
	}{
		{"siw/param-mpav1-crc.pcap.gz", true, 1},
		{"siw/netem-corrupt.pcap.gz", true, 0.99}, // what was damaged may have no other copy left
		{"siw/crc-race-zerocopy-1.pcap.gz", true, 1},
		{"siw/verbs-mixed.pcap.gz", false, 0.95},
		{"siw/iwt-reads16.pcap.gz", false, 0.95},
		{"siw/rping-mtu1500-s4096.pcap.gz", false, 0.95},
		{"siw/nfs-rdma-v3.pcap.gz", false, 0.95},
		{"siw/send-bw-s1-t64.pcap.gz", false, 0.95},
		{"nvme-rdma-read4k.pcap", false, 0.95},
	} {
		frames := load(t, filepath.Join(pcaps, tt.name))
		whole := &records{}
		if _, err := decode.Run(&source{frames}, whole, decode.Options{Workers: 1, FPDUs: true}); err != nil {
			t.Fatal(err)
		}
		truth := map[key]int{}
		for i := range whole.fpdus {
			f := &whole.fpdus[i]
			truth[key{f.Conn.Text[f.Side], f.Conn.Text[f.Side.Other()], f.Seq, f.Length}] = i
		}
		for _, d := range damages {
			t.Run(tt.name+" "+d.name, func(t *testing.T) {
				left := d.damage(frames)
				kept := map[uint64]bool{}
				for _, f := range left {
					kept[f.Number] = true
				}
				got := &records{}
				if _, err := decode.Run(&source{left}, got, decode.Options{Workers: 1, FPDUs: true}); err != nil {
					t.Fatal(err)
				}
				found := map[key]bool{}
				for i := range got.fpdus {
					f := &got.fpdus[i]
					k := key{f.Conn.Text[f.Side], f.Conn.Text[f.Side.Other()], f.Seq, f.Length}
					at, ok := truth[k]
					if !ok {
						t.Errorf("FPDU %+v, found by %v, is not in the whole capture", k, f.Found)
						continue
					}
					if w := &whole.fpdus[at]; w.Header != f.Header {
						t.Errorf("FPDU %+v has header %+v, want %+v", k, f.Header, w.Header)
					}
					found[k] = true
				}
				all, missed := 0, 0
				for k, i := range truth {
					w := &whole.fpdus[i]
					there := true
					for n := w.First.Frame; n <= w.Last.Frame; n++ {
						there = there && (kept[n] || n != w.First.Frame && n != w.Last.Frame)
					}
					if !there {
						continue
					}
					all++
					if !found[k] {
						missed++
					}
				}
				if all > 0 && float64(all-missed) < tt.recall*float64(all) && !d.cut { // of what is cut, headers can be missing
					t.Errorf("%d of %d FPDUs were not found", missed, all)
				}
				for _, s := range got.qps {
					for side, c := range s.Stream {
						if c.Octets != c.Framed+c.Skipped+c.Missing {
							t.Errorf("QP %d side %d: %+v does not add up", s.Conn.Number, side, c)
						}
					}
				}
			})
		}
	}
}
