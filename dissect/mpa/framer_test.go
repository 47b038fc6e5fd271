package mpa

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// ddpLike weighs headers as RFC 5041 and 5040 have them, as far as these tests
// need it.
type ddpLike struct{}

func (ddpLike) Control() (mask, value uint16) { return 0x3FF0, 0x0140 }

func (ddpLike) Evidence(u []byte, length int) int {
	if u[0]&0x3F != 1 || u[1]&0xF0 != 0x40 {
		return 0
	}
	op := u[1] & 0xF
	if u[0]&0x80 != 0 {
		if op != 0 && op != 2 {
			return 0
		}
		return 14
	}
	if op == 0 || op == 2 || op > 11 || length < 18 {
		return 0
	}
	bits := 12
	if len(u) < 18 {
		return bits
	}
	word := func(at int) uint32 { return binary.BigEndian.Uint32(u[at:]) }
	if op != 4 && op != 6 && word(2) != 0 || word(6) > 3 || word(10) == 0 {
		return 0
	}
	return bits + 16 // zeros are cheap, and MSNs small
}

func (ddpLike) Follows(a []byte, alen int, b []byte, blen int) int {
	if len(a) < 14 || len(b) < 14 {
		return 0
	}
	if a[0]&0x80 == 0 && b[0]&0x80 == 0 && len(a) >= 18 && len(b) >= 18 {
		if binary.BigEndian.Uint32(a[10:])+1 == binary.BigEndian.Uint32(b[10:]) {
			return 30
		}
		return -30
	}
	if a[0]&0x80 == 0 || b[0]&0x80 == 0 {
		return 0
	}
	if a[0]&0x40 == 0 && string(a[2:6]) == string(b[2:6]) {
		if binary.BigEndian.Uint64(a[6:])+uint64(alen-14) == binary.BigEndian.Uint64(b[6:]) {
			return 60
		}
		return -30
	}
	return 0
}

// collector keeps what a Framer hands out.
type collector struct {
	fpdus   []FPDU
	notices []Notice
}

func (c *collector) FPDU(f *FPDU) {
	g := *f
	g.ULPDU = append([]byte(nil), f.ULPDU...)
	c.fpdus = append(c.fpdus, g)
}

func (c *collector) Notice(n *Notice) { c.notices = append(c.notices, *n) }

// truth is one FPDU that was written.
type truth struct {
	off, end uint64 // off: of ULPDU_Length; end: behind the CRC
	raw      uint64 // off, or of the Marker directly in front
	ulpdu    []byte
	badCRC   bool
}

// traffic writes FPDUs as a sender of RDMA Writes and Sends does.
func traffic(r *rand.Rand, n int, w *Writer, sizes func() int) (stream []byte, fs []truth) {
	stag, to, msn := uint32(0x1234500), uint64(0x7f0000000000), uint32(1)
	for len(fs) < n {
		if r.IntN(3) == 0 {
			u := make([]byte, 18+sizes())
			u[0], u[1] = 0x41, 0x43
			binary.BigEndian.PutUint32(u[10:], msn)
			msn++
			fill(r, u[18:])
			stream, fs = put(stream, fs, w, u)
			continue
		}
		stag += 0x100
		to = 0x7f0000000000 + r.Uint64()>>24 // an address, as most are
		for k := r.IntN(4); k >= 0; k-- {
			u := make([]byte, 14+sizes())
			u[0], u[1] = 0x81, 0x40
			if k == 0 {
				u[0] = 0xC1
			}
			binary.BigEndian.PutUint32(u[2:], stag)
			binary.BigEndian.PutUint64(u[6:], to)
			to += uint64(len(u) - 14)
			fill(r, u[14:])
			stream, fs = put(stream, fs, w, u)
		}
	}
	return stream, fs
}

func fill(r *rand.Rand, b []byte) {
	if r.IntN(4) == 0 {
		return // zeros, as many payloads are
	}
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

func put(stream []byte, fs []truth, w *Writer, u []byte) ([]byte, []truth) {
	raw := w.Off
	off := raw
	if w.Markers && raw%MarkerSpacing == 0 {
		off += MarkerLen
	}
	stream = w.Append(stream, u)
	return stream, append(fs, truth{off: off, raw: raw, end: w.Off, ulpdu: u})
}

// piece is a part of the stream, captured or not.
type piece struct {
	from, to uint64
	lost     bool
}

// check holds what a Framer found against what was written.
func check(t interface{ Fatalf(string, ...any) }, c *collector, fs []truth, pieces []piece, compare int, recall bool) {
	lost := func(from, to uint64) bool {
		for _, p := range pieces {
			if p.lost && p.from < to && from < p.to {
				return true
			}
		}
		return false
	}
	at := map[uint64]*truth{}
	for i := range fs {
		at[fs[i].off] = &fs[i]
	}
	got := map[uint64]bool{}
	for _, f := range c.fpdus {
		tr := at[f.Off]
		if tr == nil || len(tr.ulpdu) != f.Length {
			t.Fatalf("FPDU at %d, length %d, found by %v, is not there", f.Off, f.Length, f.Found)
		}
		if got[f.Off] {
			t.Fatalf("FPDU at %d comes twice", f.Off)
		}
		got[f.Off] = true
		// Before the first Marker is found, one can pass for payload.
		if n := min(len(f.ULPDU), len(tr.ulpdu), compare); string(f.ULPDU[:n]) != string(tr.ulpdu[:n]) {
			t.Fatalf("FPDU %+v: ULPDU starts with % x, want % x", f, f.ULPDU[:n], tr.ulpdu[:n])
		}
		// The Marker in front can be missing: what it says is known.
		if tr.end <= pieces[len(pieces)-1].to && (f.Complete && lost(tr.off, tr.end) || !f.Complete && !lost(tr.raw, tr.end)) {
			t.Fatalf("FPDU at %d: complete is %v", f.Off, f.Complete)
		}
		if f.Complete && f.CRC == CRCBad != tr.badCRC {
			t.Fatalf("FPDU at %d: CRC is %v", f.Off, f.CRC)
		}
	}
	if !recall {
		return
	}
	first, last := pieces[0].from, pieces[len(pieces)-1].to
	for _, tr := range fs {
		if tr.raw >= first && tr.end <= last && !lost(tr.raw, tr.end) && !got[tr.off] {
			t.Fatalf("FPDU at %d..%d was captured but not found; first piece %d, last %d; found %d, notices %+v", tr.off, tr.end, first, last, len(c.fpdus), c.notices)
		}
	}
}

func feed(f *Framer, stream []byte, pieces []piece) {
	for i, p := range pieces {
		at := Stamp{Frame: uint64(i + 1), Time: int64(i)}
		if p.lost {
			f.Skip(p.to-p.from, at, false)
			continue
		}
		f.Push(&Chunk{Data: stream[p.from:p.to], Stamp: at})
	}
	f.Flush(Stamp{Frame: uint64(len(pieces) + 1)})
}

func TestFramerProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		markers := rapid.Bool().Draw(t, "markers")
		crc := rapid.Bool().Draw(t, "crc")
		start := rapid.Bool().Draw(t, "start")
		aligned := rapid.Bool().Draw(t, "aligned")
		maxSeg := rapid.SampledFrom([]int{7, 100, 1448, 9000, 65000}).Draw(t, "segment")
		lossPct := rapid.SampledFrom([]int{0, 2, 15}).Draw(t, "loss")
		big := rapid.SampledFrom([]int{40, 1400, 9000}).Draw(t, "sizes")
		known := rapid.Bool().Draw(t, "known") || start
		if !start && markers && maxSeg <= 100 && lossPct > 0 {
			return // holes every few octets, and nothing to tell where Markers stand: see the package comment
		}
		r := rand.New(rand.NewPCG(seed, 1))
		w := &Writer{Markers: markers, CRC: crc}
		stream, fs := traffic(r, 60+r.IntN(200), w, func() int { return r.IntN(big) })
		var cuts []uint64
		if aligned {
			for _, f := range fs {
				for o := f.raw; o < f.end; o += uint64(maxSeg) {
					cuts = append(cuts, o)
				}
			}
		} else {
			for o := uint64(0); o < uint64(len(stream)); o += uint64(1 + r.IntN(maxSeg)) {
				cuts = append(cuts, o)
			}
		}
		cuts = append(cuts, uint64(len(stream)))
		first := 0
		if !start {
			first = r.IntN(len(cuts) - 1)
		}
		var pieces []piece
		for i := first; i+1 < len(cuts); i++ {
			pieces = append(pieces, piece{from: cuts[i], to: cuts[i+1], lost: r.IntN(100) < lossPct})
		}
		for len(pieces) > 0 && !start && pieces[0].lost {
			pieces = pieces[1:]
		}
		if len(pieces) == 0 {
			return
		}
		c := &collector{}
		use := map[bool]Use{true: On, false: Off}
		conf := Config{Protocol: ddpLike{}, IWARP: known, Off: pieces[0].from, Seq: uint32(pieces[0].from), Start: start}
		if known {
			conf.Markers, conf.CRC = use[markers], use[crc]
		}
		f := NewFramer(c, conf)
		feed(f, stream, pieces)
		compare := 1 << 16
		if !start {
			compare = 14
			if markers && uint64(len(stream))-pieces[0].from < leastHold {
				compare = 2 // too little to tell a Marker from a header field
			}
		}
		check(t, c, fs, pieces, compare, known && crc && (start || !markers))
		got := f.Counts()
		var missing uint64
		for _, p := range pieces {
			if p.lost {
				missing += p.to - p.from
			}
		}
		if got.Missing != missing || got.Framed+got.Skipped+got.Missing != uint64(len(stream))-pieces[0].from {
			t.Fatalf("counts are %+v; %d octets, %d missing", got, uint64(len(stream))-pieces[0].from, missing)
		}
		if start && lossPct == 0 && len(c.notices) > 0 {
			t.Fatalf("notices on a clean stream: %+v", c.notices)
		}
	})
}
