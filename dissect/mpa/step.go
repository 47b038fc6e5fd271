package mpa

import (
	"encoding/binary"

	"github.com/iwdump/iwdump/internal/crc32c"
)

// step takes the next run of octets that are all of one kind, Marker or not,
// and all of one FPDU. It returns their number, and false where the octets
// can't be an FPDU or the CRC is wrong.
func (f *Framer) step(b []byte, c *Chunk) (int, bool) {
	p := &f.cur
	if p.wire == 0 {
		p.first = c.Stamp
		p.start = f.off
	}
	p.retrans = p.retrans || c.Retrans
	if f.markers == On {
		at := int((f.off - f.phase) % MarkerSpacing)
		if at < MarkerLen {
			b = b[:min(len(b), MarkerLen-at)]
			copy(p.marker[at:], b)
			f.update(b)
			if p.got == 0 && p.wire == 0 {
				p.lead = true
			}
			if p.lead && p.got == 0 {
				p.start = f.off - uint64(at) + MarkerLen
			}
			f.advance(len(b))
			if at+len(b) == MarkerLen {
				p.markers++
				return len(b), f.checkMarker(c.Stamp) || !f.guessed
			}
			return len(b), true
		}
		b = b[:min(len(b), MarkerSpacing-at)]
	}
	return f.data(b, c)
}

func (f *Framer) advance(n int) {
	f.off += uint64(n)
	f.cur.wire += n
}

func (f *Framer) update(b []byte) {
	if f.crc != Off {
		f.cur.crc = crc32c.Update(f.cur.crc, b)
	}
}

// wants is how many octets are kept of the ULPDU that starts with first.
func (f *Framer) wants(first []byte) int {
	if f.keeper == nil || len(first) < 2 {
		return f.keep
	}
	return max(f.keep, f.keeper.Keep(first[:2]))
}

// grow makes room for n gathered octets.
func (f *Framer) grow(n int) {
	if n > len(f.head) {
		f.head = append(f.head, make([]byte, n-len(f.head))...)
	}
}

// data takes octets that are no Marker.
func (f *Framer) data(b []byte, c *Chunk) (int, bool) {
	p := &f.cur
	if p.need == 0 {
		n := copy(f.gathered()[p.got:4], b)
		f.update(b[:n])
		p.got += n
		p.nhead += n
		f.advance(n)
		if p.got < 4 {
			return n, true
		}
		p.length = int(binary.BigEndian.Uint16(f.head))
		if p.length < MinLength || p.length > MaxLength || f.p.Evidence(f.head[2:4], p.length) <= 0 {
			return n, false
		}
		if f.bad {
			f.emitBad()
		}
		p.need = size(p.length)
		p.keep = 2 + min(f.wants(f.head[2:4]), p.length)
		f.grow(p.keep)
		return n, true
	}
	if body := p.need - crcLen - p.got; body > 0 {
		b = b[:min(len(b), body)]
		f.update(b)
		if p.nhead == p.got && p.nhead < p.keep {
			p.nhead += copy(f.head[p.nhead:p.keep], b)
		}
	} else {
		b = b[:min(len(b), p.need-p.got)]
		copy(p.field[crcLen-(p.need-p.got):], b)
	}
	p.got += len(b)
	f.advance(len(b))
	if p.got < p.need {
		return len(b), true
	}
	return len(b), f.finish(c.Stamp)
}

// gathered returns where the first octets of an FPDU are gathered.
func (f *Framer) gathered() []byte {
	if f.head == nil {
		f.head = make([]byte, 2+f.keep)
	}
	return f.head
}

// checkMarker compares the Marker that was just taken with where the current
// FPDU starts, and says whether it points there.
func (f *Framer) checkMarker(at Stamp) bool {
	p := &f.cur
	want := uint16(0)
	if p.got > 0 {
		want = uint16(f.off - MarkerLen - p.start)
	}
	got := binary.BigEndian.Uint16(p.marker[2:]) &^ 3
	if got == want || f.guessed {
		return got == want
	}
	f.budget.note = Notice{Kind: NoticeMarker, Off: f.off - MarkerLen, Seq: f.seq + uint32(f.off-MarkerLen), Len: MarkerLen, Stamp: at, Want: want, Got: got}
	f.h.Notice(&f.budget.note)
	return false
}

// finish hands out the FPDU that is complete, and returns false where its CRC
// is wrong.
func (f *Framer) finish(at Stamp) bool {
	p := &f.cur
	o := &f.budget.out
	o.CRCWire = binary.LittleEndian.Uint32(p.field[:])
	o.CRCCalc = p.crc
	o.CRC = f.verdict(o)
	f.fill(o, at)
	if o.CRC == CRCBad {
		return false
	}
	f.emit(o)
	return true
}

// verdict judges the CRC of the current FPDU, and learns from it whether CRCs
// are used at all.
func (f *Framer) verdict(o *FPDU) CRC {
	switch {
	case f.cur.missing > 0 && f.crc == Off:
		o.CRCWire, o.CRCCalc = 0, 0
		return CRCOff
	case f.cur.missing > 0:
		o.CRCWire, o.CRCCalc = 0, 0
		return CRCUnchecked
	case f.crc == Off:
		o.CRCCalc = 0
		return CRCOff
	case o.CRCWire == o.CRCCalc:
		f.crc, f.misses = On, 0
		return CRCOK
	case f.crc == On:
		return CRCBad
	}
	if f.misses++; f.misses >= 3 || o.CRCWire == 0 {
		f.crc = Off
		return CRCOff
	}
	return CRCUnchecked
}

func (f *Framer) fill(o *FPDU, last Stamp) {
	p := &f.cur
	o.Off = p.start
	o.Seq = f.seq + uint32(p.start)
	o.Length = p.length
	o.ULPDU = f.head[2:max(2, min(p.nhead, 2+p.length))]
	o.Lead = 0
	if p.lead {
		o.Lead = MarkerLen
	}
	o.Wire = p.wire - o.Lead
	o.Markers = p.markers
	o.First = p.first
	o.Last = last
	o.Complete = p.missing == 0
	o.EndLost = p.endLost
	o.Retrans = p.retrans
	o.Found = f.found
}

func (f *Framer) emit(o *FPDU) {
	f.counts.Framed += uint64(f.cur.wire - f.cur.missing)
	f.counts.Missing += uint64(f.cur.missing)
	if f.found > FoundChain {
		f.found = FoundChain
	}
	f.cur = partial{}
	if f.guessed {
		f.prove(o)
	}
	f.h.FPDU(o)
}

// deferBad keeps the FPDU whose CRC is wrong until the header behind it tells
// whether its length can be trusted. One that ends where its segment ends is
// trusted all the same.
func (f *Framer) deferBad(trusted bool) {
	if f.bad {
		f.emitBad()
	}
	f.trusted = trusted
	if f.pending == nil {
		f.pending = new(FPDU)
	}
	*f.pending = f.budget.out
	f.pendULP = append(f.pendULP[:0], f.pending.ULPDU...)
	f.pending.ULPDU = f.pendULP
	f.bad = true
	f.cur = partial{}
}

func (f *Framer) emitBad() {
	f.bad = false
	if f.found > FoundChain {
		f.found = FoundChain
	}
	f.counts.Framed += uint64(f.pending.Lead + f.pending.Wire)
	f.h.FPDU(f.pending)
}
