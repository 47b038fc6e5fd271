package decode_test

import (
	"encoding/binary"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
)

// A frameList is a Source.
type frameList []capture.Frame

func (l *frameList) Next() (*capture.Block, error) {
	if len(*l) == 0 {
		return nil, io.EOF
	}
	n := min(len(*l), 100)
	b := &capture.Block{Frames: (*l)[:n]}
	*l = (*l)[n:]
	return b, nil
}

// framesOf reads all frames of a shipped capture.
func framesOf(t testing.TB, name string) []capture.Frame {
	src := capture.Open([]string{filepath.Join(pcaps, name)}, nil, capture.Options{})
	defer src.Close()
	var all []capture.Frame
	for {
		b, err := src.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range b.Frames {
			f.Data = slices.Clone(f.Data)
			all = append(all, f)
		}
		b.Release()
	}
}

// outer puts an Ethernet and an IPv4 header in front of a payload.
func outer(proto byte, id int, payload []byte) []byte {
	n := 20 + len(payload)
	h := []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0,
		0x45, 0, byte(n >> 8), byte(n), byte(id >> 8), byte(id), 0, 0, 64, proto, 0, 0, 203, 0, 113, 1, 203, 0, 113, 2}
	return append(h, payload...)
}

// erspan is a frame as a switch mirrors it (type II).
func erspan(f capture.Frame) capture.Frame {
	g := append([]byte{0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 1, 0, 1, 0, 0, 0, 1}, f.Data...)
	f.Data = outer(47, int(f.Number), g)
	f.Len = len(f.Data)
	return f
}

// vxlan is a frame in an overlay network.
func vxlan(f capture.Frame) capture.Frame {
	n := 16 + len(f.Data)
	u := append([]byte{0xc0, 0, 0x12, 0xb5, byte(n >> 8), byte(n), 0, 0, 8, 0, 0, 0, 0, 0, 1, 0}, f.Data...)
	f.Data = outer(17, int(f.Number), u)
	f.Len = len(f.Data)
	return f
}

// halves cuts an IPv4 frame in two fragments.
func halves(f capture.Frame) []capture.Frame {
	ip := f.Data[14:]
	at := (len(ip) - 20) / 2 &^ 7
	if at == 0 {
		return []capture.Frame{f}
	}
	a := slices.Concat(f.Data[:14], ip[:20+at])
	b := slices.Concat(f.Data[:34], ip[20+at:])
	binary.BigEndian.PutUint16(a[16:], uint16(20+at))
	binary.BigEndian.PutUint16(b[16:], uint16(len(ip)-at))
	binary.BigEndian.PutUint16(a[20:], 0x2000)
	binary.BigEndian.PutUint16(b[20:], uint16(at/8))
	first, second := f, f
	first.Data, first.Len = a, len(a)
	second.Data, second.Len = b, len(b)
	return []capture.Frame{first, second}
}

// gist is what a capture says, however it was taken.
type gist struct {
	Conns    uint64
	Messages []string
	Retrans  [][2]uint64
	Octets   [][2]uint64
}

func gistOf(t testing.TB, workers int, frames []capture.Frame) gist {
	for i := range frames {
		frames[i].Number = uint64(i + 1)
	}
	list := frameList(frames)
	r := &records{}
	stats, err := decode.Run(&list, r, decode.Options{Workers: workers, Messages: true, FPDUs: true, Operations: true})
	if err != nil {
		t.Fatal(err)
	}
	g := gist{Conns: stats.TCPConnections}
	for _, m := range r.messages {
		g.Messages = append(g.Messages, m.Op.String())
	}
	for _, q := range r.qps {
		var n, o [2]uint64
		for side, c := range q.Stream {
			n[side], o[side] = c.Retransmitted, c.Framed
		}
		g.Retrans = append(g.Retrans, n)
		g.Octets = append(g.Octets, o)
	}
	return g
}

// One connection is one, seen bare, in tunnels, in fragments, or in several of
// these ways at once; and a packet that is captured twice is no
// retransmission.
func TestClothes(t *testing.T) {
	for _, name := range []string{"rping-mtu1500-s64.pcap", "siw/iwt-ipv6.pcap.gz", "siw/netem-in-loss2.pcap.gz"} {
		bare := framesOf(t, name)
		want := gistOf(t, 1, bare)
		if len(want.Messages) == 0 {
			t.Fatalf("%s: no messages", name)
		}
		later := func(f capture.Frame, ns int64) capture.Frame { f.Time += ns; return f }
		for _, c := range []struct {
			name string
			wear func(f capture.Frame) []capture.Frame
		}{
			{"ERSPAN", func(f capture.Frame) []capture.Frame { return []capture.Frame{erspan(f)} }},
			{"VXLAN in ERSPAN", func(f capture.Frame) []capture.Frame { return []capture.Frame{erspan(vxlan(f))} }},
			{"VXLAN in fragments", func(f capture.Frame) []capture.Frame { return halves(vxlan(f)) }},
			{"bare and in ERSPAN", func(f capture.Frame) []capture.Frame { return []capture.Frame{f, later(erspan(f), 3000)} }},
			{"twice by a mirror", func(f capture.Frame) []capture.Frame { return []capture.Frame{f, later(f, 1000)} }},
			{"in VXLAN and bare", func(f capture.Frame) []capture.Frame { return []capture.Frame{vxlan(f), later(f, 20000)} }},
			{"on two interfaces", func(f capture.Frame) []capture.Frame {
				g := later(f, 5000)
				g.Iface++
				return []capture.Frame{f, g}
			}},
		} {
			var worn []capture.Frame
			for _, f := range bare {
				worn = append(worn, c.wear(f)...)
			}
			for _, workers := range []int{1, 3} {
				if diff := cmp.Diff(want, gistOf(t, workers, slices.Clone(worn))); diff != "" {
					t.Errorf("%s, %s, %d workers: -bare +worn\n%s", name, c.name, workers, diff)
				}
			}
		}
	}
}

// A link type that is not known is counted, by number and name, and the rest is
// read.
func TestUnknownLink(t *testing.T) {
	bare := framesOf(t, "rping-mtu1500-s64.pcap")
	var mixed []capture.Frame
	for i, f := range bare {
		if i%3 == 0 {
			mixed = append(mixed, capture.Frame{Data: make([]byte, 64), Len: 64, Time: f.Time, Link: 189})
		}
		mixed = append(mixed, f)
	}
	list := frameList(mixed)
	stats, err := decode.Run(&list, &records{}, decode.Options{Workers: 1, Messages: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"link type 189 (USB_LINUX) is not known here: 30 frames are left out"}
	if got := stats.Notes(); !slices.Equal(got, want) || stats.TCPConnections != 1 || stats.Messages != 72 {
		t.Errorf("%q, %d messages", got, stats.Messages)
	}
}
