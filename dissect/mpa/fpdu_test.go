package mpa

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// want is what the fields of a vector say of its FPDU.
type want struct {
	start   uint64 // offset in the stream, of the Marker in front if there is one
	lead    int    // octets of that Marker
	length  int
	markers int
	crc     uint32
}

func fpduVectors(t testing.TB) (vs []vector, ws []want) {
	for _, v := range vectors(t) {
		l, ok := v.Fields["mpa.ulpdu_length"].(float64)
		if !ok {
			continue
		}
		w := want{length: int(l), start: 4} // 4: no Marker near, where the vector has no place in a stream
		if off, ok := v.Fields["stream_offset_from_SeqStart"].(float64); ok {
			w.start = uint64(off)
		}
		ms, _ := v.Fields["mpa.markers"].([]any)
		w.markers = len(ms)
		for _, m := range ms {
			if m.(map[string]any)["octet_in_hex"].(float64) == 0 {
				w.lead = MarkerLen
			}
		}
		fmt.Sscanf(v.Fields["mpa.crc_value"].(string), "0x%x", &w.crc)
		vs, ws = append(vs, v), append(ws, w)
	}
	return vs, ws
}

func TestFPDUVectors(t *testing.T) {
	vs, ws := fpduVectors(t)
	if len(vs) < 50 {
		t.Fatalf("only %d vectors", len(vs))
	}
	for i, v := range vs {
		w := ws[i]
		t.Run(v.Name, func(t *testing.T) {
			b := unhex(t, v.Hex)
			markers, crc := Off, On
			if w.markers > 0 {
				markers = On
			}
			if w.crc == 0 {
				crc = Off
			}
			// In one piece, in two, and octet by octet.
			var ulpdu []byte
			for cut := 0; cut <= len(b)+1; cut++ {
				if cut > 100 && cut < len(b) {
					cut = len(b)
				}
				c := &collector{}
				f := NewFramer(c, Config{Protocol: ddpLike{}, Start: true, Markers: markers, CRC: crc, Keep: 1 << 16})
				f.off, f.phase = w.start, 0
				f.align = w.start % 4
				switch {
				case cut > len(b):
					for i := range b {
						f.Push(&Chunk{Data: b[i : i+1], Stamp: Stamp{Frame: uint64(i)}})
					}
				case cut > 0 && cut < len(b):
					f.Push(&Chunk{Data: b[:cut], Stamp: Stamp{Frame: 1}})
					f.Push(&Chunk{Data: b[cut:], Stamp: Stamp{Frame: 2}})
				default:
					f.Push(&Chunk{Data: b, Stamp: Stamp{Frame: 1}})
				}
				if len(c.fpdus) != 1 || len(c.notices) != 0 {
					t.Fatalf("cut at %d: %d FPDUs, notices %+v", cut, len(c.fpdus), c.notices)
				}
				got := c.fpdus[0]
				ulpdu = got.ULPDU
				verdict, calc := CRCOK, w.crc
				if crc == Off {
					verdict, calc = CRCOff, 0
				}
				exp := FPDU{Off: w.start + uint64(w.lead), Seq: uint32(w.start) + uint32(w.lead), Length: w.length, ULPDU: got.ULPDU,
					Wire: len(b) - w.lead, Lead: w.lead, Markers: w.markers, First: got.First, Last: got.Last, Complete: true, CRC: verdict, CRCWire: w.crc, CRCCalc: calc}
				if d := cmp.Diff(exp, got); d != "" {
					t.Fatalf("cut at %d: (-want +got)\n%s", cut, d)
				}
				if len(ulpdu) != w.length {
					t.Fatalf("cut at %d: %d octets of ULPDU, want %d", cut, len(ulpdu), w.length)
				}
				if p, ok := v.Fields["payload"].(string); ok && len(p) == 2*int(v.Fields["payload_len"].(float64)) {
					if got := hex.EncodeToString(ulpdu[len(ulpdu)-len(p)/2:]); got != p {
						t.Fatalf("cut at %d: payload is\n%s, want\n%s", cut, got, p)
					}
				}
			}
			wr := Writer{Markers: markers == On, CRC: crc == On, Off: w.start}
			if got := wr.Append(nil, ulpdu); hex.EncodeToString(got) != v.Hex {
				t.Errorf("Append gives\n%x, want\n%s", got, v.Hex)
			}
		})
	}
}

// The numbers of RFC 5044, section 4.3: the first FPDU starts at 11, and so do
// the Markers at 11, 523 and 1035.
func TestMarkerPositions(t *testing.T) {
	w := Writer{Markers: true}
	b := w.Append(nil, make([]byte, 1200))
	for _, tt := range []struct{ at, ptr int }{{0, 0}, {512, 508}, {1024, 1020}} {
		if got := int(b[tt.at+2])<<8 | int(b[tt.at+3]); got != tt.ptr {
			t.Errorf("Marker at %d points back %d, want %d", tt.at, got, tt.ptr)
		}
	}
	// Marker 4, length 2, ULPDU 1200, PAD 2, CRC 4, two more Markers.
	if len(b) != 4+2+1200+2+4+8 {
		t.Errorf("%d octets", len(b))
	}
}

func TestWireSize(t *testing.T) {
	for _, tt := range []struct {
		off     uint64
		n, want int
	}{
		{4, 508, 508},         // up to the next Marker, which is the next FPDU's
		{4, 512, 516},         // over it
		{4, 1016, 1020},       // up to the one behind it
		{4, 1020, 1028},       // over both
		{508, 4, 4},           // a Marker behind the first word
		{508, 24, 28},         //
		{412, 1224, 1236},     // marker_three_in_one
		{4, 64776, 65288 - 4}, // the largest ULPDU; RFC 5044 counts the Marker in front
	} {
		if got := wireSize(tt.off, tt.n); got != tt.want {
			t.Errorf("wireSize(%d, %d) = %d, want %d", tt.off, tt.n, got, tt.want)
		}
	}
}

// damaged is the doubt of a chunk whose checksum is wrong.
type damaged bool

func (d damaged) Damaged() bool { return bool(d) }

func TestGiveBack(t *testing.T) {
	w := Writer{CRC: true}
	var stream []byte
	var ends []int
	for i := range 4 {
		u := append([]byte{0xC1, 0x40, 0, 0, 1, byte(i)}, make([]byte, 8+100)...)
		stream = w.Append(stream, u)
		ends = append(ends, len(stream))
	}
	for _, tt := range []struct {
		name     string
		from, to int // the chunk that is damaged
		bit      int // octet whose bit flips
		accepted int
	}{
		{"in the only FPDU", 0, ends[0], 60, 0},
		{"in the second of three", 0, ends[2], ends[0] + 60, ends[0]},
		{"length, so that it runs on", 0, ends[0], 0, 0},
		{"head of an FPDU that goes on", 0, ends[0] + 40, ends[0] + 20, ends[0]},
		{"tail of an FPDU that began before", ends[0] + 40, ends[1], ends[1] - 10, 0},
		{"middle of one", ends[0] + 40, ends[0] + 80, ends[0] + 50, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &collector{}
			f := NewFramer(c, Config{Protocol: ddpLike{}, Start: true, Markers: Off, CRC: On})
			f.Push(&Chunk{Data: stream[:tt.from], Doubt: damaged(false)})
			bad := append([]byte(nil), stream[tt.from:tt.to]...)
			bad[tt.bit-tt.from] ^= 0x10
			if got := f.Push(&Chunk{Data: bad, Doubt: damaged(true)}); got != tt.accepted {
				t.Fatalf("%d octets accepted, want %d", got, tt.accepted)
			}
			f.Push(&Chunk{Data: stream[tt.from+tt.accepted:], Doubt: damaged(false)})
			f.Flush(Stamp{})
			if len(c.fpdus) != len(ends) || len(c.notices) > 0 {
				t.Fatalf("%d FPDUs, want %d; notices %+v", len(c.fpdus), len(ends), c.notices)
			}
			for i, p := range c.fpdus {
				if p.CRC != CRCOK || p.Off+uint64(p.Wire) != uint64(ends[i]) || p.Found != FoundStart {
					t.Errorf("FPDU %d: %+v", i, p)
				}
			}
		})
	}
}

// A wrong CRC alone does not break the chain; a wrong length does, and what it
// swallowed is found again.
func TestBadFPDU(t *testing.T) {
	build := func(n int) (stream []byte, ends []int) {
		w := Writer{CRC: true}
		r := rand.New(rand.NewPCG(1, 2))
		for i := range n {
			u := append([]byte{0xC1, 0x40, 0, 0, 1, byte(i)}, make([]byte, 8+200)...)
			for j := range u[14:] {
				u[14+j] = byte(r.Uint32())
			}
			stream = w.Append(stream, u)
			ends = append(ends, len(stream))
		}
		return stream, ends
	}
	run := func(stream []byte) *collector {
		c := &collector{}
		f := NewFramer(c, Config{Protocol: ddpLike{}, Start: true, Markers: Off, CRC: On})
		f.Push(&Chunk{Data: stream})
		f.Flush(Stamp{})
		return c
	}
	t.Run("payload", func(t *testing.T) {
		stream, ends := build(6)
		stream[ends[1]+50] ^= 1
		c := run(stream)
		if len(c.fpdus) != 6 || c.fpdus[2].CRC != CRCBad || len(c.notices) > 0 {
			t.Errorf("%d FPDUs, third %v; notices %+v", len(c.fpdus), c.fpdus[2].CRC, c.notices)
		}
		if f := c.fpdus[2]; f.CRCWire == f.CRCCalc {
			t.Errorf("both values are %#x", f.CRCWire)
		}
	})
	t.Run("length", func(t *testing.T) {
		stream, ends := build(6)
		stream[ends[1]+1] ^= 0x40 // 222 becomes 158
		c := run(stream)
		var offs []int
		for _, f := range c.fpdus {
			offs = append(offs, int(f.Off))
		}
		if d := cmp.Diff([]int{0, ends[0], ends[2], ends[3], ends[4]}, offs); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		var kinds []NoticeKind
		for _, n := range c.notices {
			kinds = append(kinds, n.Kind)
		}
		if d := cmp.Diff([]NoticeKind{NoticeLost, NoticeSkipped, NoticeResync}, kinds); d != "" {
			t.Errorf("notices (-want +got)\n%s", d)
		}
	})
	t.Run("impossible header", func(t *testing.T) {
		stream, ends := build(6)
		stream[ends[1]+2] = 0xFF
		c := run(stream)
		if len(c.fpdus) != 5 || c.notices[0].Kind != NoticeLost || c.notices[0].Off != uint64(ends[1]) || len(c.notices[0].Header) != 4 {
			t.Errorf("%d FPDUs, notices %+v", len(c.fpdus), c.notices)
		}
	})
}

func FuzzFramer(f *testing.F) {
	var marked, plain []byte
	vs, ws := fpduVectors(f)
	for i, v := range vs {
		if ws[i].markers > 0 {
			marked = append(marked, unhex(f, v.Hex)...)
		} else {
			plain = append(plain, unhex(f, v.Hex)...)
		}
		f.Add(unhex(f, v.Hex), uint16(5), byte(i))
	}
	f.Add(plain, uint16(100), byte(0))
	f.Add(plain, uint16(7), byte(0x33))
	f.Add(marked, uint16(512), byte(0x15))
	f.Fuzz(func(t *testing.T, b []byte, cut uint16, opts byte) {
		conf := Config{Protocol: ddpLike{}, Markers: Use(opts & 3 % 3), CRC: Use(opts >> 2 & 3 % 3), Start: opts&16 != 0, IWARP: opts&32 != 0}
		c := &collector{}
		fr := NewFramer(c, conf)
		step, at, total := max(1, int(cut)), 0, uint64(0)
		for i := 0; at < len(b); i++ {
			n := min(step, len(b)-at)
			total += uint64(n)
			if opts&64 != 0 && i%3 == 2 {
				fr.Skip(uint64(n), Stamp{}, n%2 == 0)
			} else if got := fr.Push(&Chunk{Data: b[at : at+n]}); got != n {
				t.Fatalf("%d of %d octets accepted, though none is damaged", got, n)
			}
			at += n
		}
		fr.Flush(Stamp{})
		k := fr.Counts()
		if k.Framed+k.Skipped+k.Missing != total {
			t.Fatalf("counts %+v of %d octets", k, total)
		}
		end := uint64(0)
		for _, p := range c.fpdus {
			if p.Off < end {
				t.Fatalf("FPDU at %d overlaps the one before, which ends at %d", p.Off, end)
			}
			if len(p.ULPDU) > p.Length {
				t.Fatalf("%d octets of a ULPDU of %d", len(p.ULPDU), p.Length)
			}
			end = p.Off + uint64(size(p.Length))
		}
	})
}

func BenchmarkFramer(b *testing.B) {
	for _, bm := range []struct {
		name    string
		n       int
		markers bool
		crc     bool
		segment int // 0: one FPDU each
	}{
		{"1448", 1424, false, true, 0},
		{"9000", 8924, false, true, 0},
		{"64", 64, false, true, 1448},
		{"nocrc", 1424, false, false, 0},
		{"markers", 1412, true, true, 0},
		{"unaligned", 1424, false, true, 1448},
	} {
		b.Run(bm.name, func(b *testing.B) {
			w := Writer{Markers: bm.markers, CRC: bm.crc}
			u := append([]byte{0xC1, 0x40}, make([]byte, 12+bm.n)...)
			var stream []byte
			var cuts []int
			for len(stream) < 4<<20 {
				stream = w.Append(stream, u)
				cuts = append(cuts, len(stream))
			}
			if bm.segment > 0 {
				cuts = cuts[:0]
				for i := bm.segment; i < len(stream); i += bm.segment {
					cuts = append(cuts, i)
				}
			}
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			use := map[bool]Use{true: On, false: Off}
			h := &counter{}
			for b.Loop() {
				f := NewFramer(h, Config{Protocol: ddpLike{}, Start: true, Markers: use[bm.markers], CRC: use[bm.crc]})
				at := 0
				var c Chunk
				for _, to := range cuts {
					c.Data = stream[at:to]
					f.Push(&c)
					at = to
				}
			}
		})
	}
}

type counter struct{ fpdus, notices int }

func (c *counter) FPDU(*FPDU)     { c.fpdus++ }
func (c *counter) Notice(*Notice) { c.notices++ }

func TestNoAllocations(t *testing.T) {
	for _, markers := range []Use{On, Off} {
		for _, segment := range []int{1448, 1000} {
			w := Writer{Markers: markers == On, CRC: true}
			u := append([]byte{0xC1, 0x40}, make([]byte, 1400)...)
			var stream []byte
			for range 100 {
				stream = w.Append(stream, u)
			}
			h := &counter{}
			f := NewFramer(h, Config{Protocol: ddpLike{}, Start: true, Markers: markers, CRC: On})
			at := 0
			c := &Chunk{}
			got := testing.AllocsPerRun(50, func() {
				c.Data = stream[at : at+segment]
				at += segment
				f.Push(c)
			})
			if got != 0 || h.fpdus == 0 || h.notices != 0 {
				t.Errorf("markers %v, segments of %d: %v allocations, %d FPDUs, %d notices", markers, segment, got, h.fpdus, h.notices)
			}
		}
	}
}
