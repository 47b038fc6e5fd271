package mpa

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/iwdump/iwdump/internal/crc32c"
)

// weigh adds to the evidence for c what its CRC, its Markers and its place in
// a segment say.
func (f *Framer) weigh(c *candidate, h header, g guess) {
	s := f.search
	r := s.runs[h.run]
	b := s.buf[r.pos : r.pos+r.n]
	at := int(c.off - r.off)
	end, _ := g.span(c.off, c.length)
	whole := end <= r.off+uint64(r.n)
	lead := g.leads(c.off)
	if whole && f.crc != Off && s.tried <= trialFactor*len(s.buf) {
		n := int(end - c.off)
		s.tried += n
		crc := uint32(0)
		from := at
		if lead && at >= MarkerLen {
			from -= MarkerLen
		} else if lead {
			crc = CRC32C(make([]byte, MarkerLen))
		}
		crc = crc32c.Update(crc, b[from:at+n-crcLen])
		c.crc = CRCBad
		if crc == binary.LittleEndian.Uint32(b[at+n-crcLen:]) {
			c.crc = CRCOK
			c.bits += bitsCRC
		}
	}
	if i := s.markAt(c.off); s.marks[i].off == c.off || lead && s.marks[i].off == c.off-MarkerLen {
		// The longer segments are, the more it says.
		c.bits += min(bitsStart, bits.Len(uint(len(s.buf)/len(s.marks)))-1)
	}
	if g.markers != On {
		return
	}
	judge := func(m uint64, want uint32) {
		if m < r.off || m+MarkerLen > r.off+uint64(r.n) {
			return
		}
		if binary.BigEndian.Uint32(b[m-r.off:])&^3 == want {
			c.bits += bitsMarker
			c.marks++
		} else if c.crc != CRCOK {
			c.dead = true
		}
	}
	if lead && at >= MarkerLen {
		judge(c.off-MarkerLen, 0)
	}
	for m := c.off + (g.phase-c.off)%MarkerSpacing; m < end; m += MarkerSpacing {
		if m > c.off {
			judge(m, uint32(m-c.off))
		}
	}
}

// root returns the index of the candidate to frame from, or -1: the first that
// is proven, but not one that a better proven chain contradicts.
func (f *Framer) root(last bool) int {
	s := f.search
	i := slices.IndexFunc(s.cands, func(c candidate) bool { return f.proven(&c, last) })
	if i < 0 || !f.iwarp && s.embedded(i) {
		return -1
	}
	on := s.cands[i].link // the next of its chain
	for j := i + 1; j < len(s.cands); j++ {
		c, d := &s.cands[i], &s.cands[j]
		if j == on {
			on = d.link
			continue
		}
		if on < 0 && d.off >= f.chainEnd(i) {
			break
		}
		if f.proven(d, last) && (d.oks > 0 || c.oks == 0) && d.sum > c.sum {
			i, on = j, d.link
		}
	}
	return i
}

// embedded says that the chain at i is more likely data that holds FPDUs, a
// capture of iWARP that is copied, say. In such data chains break, and the more
// of them there are in front of i, the more must follow to outweigh them. FPDUs
// in the payload of an FPDU whose header is not held do not count against a
// chain longer than that can be.
func (s *search) embedded(i int) bool {
	breaks := 0
	for _, c := range s.cands[:i] {
		if c.broken && c.crc == CRCOK {
			breaks++
		}
	}
	after := s.from + s.size() - s.cands[i].off
	switch breaks {
	case 0:
		return false
	case 1:
		return after < leastHold
	}
	return after <= MaxLength
}

// chainEnd returns where the last FPDU of the chain at i ends.
func (f *Framer) chainEnd(i int) uint64 {
	s := f.search
	for s.cands[i].link >= 0 {
		i = s.cands[i].link
	}
	return s.cands[i].next
}

// proven says whether the chain at c is an FPDU for certain (see the package
// comment).
func (f *Framer) proven(c *candidate, last bool) bool {
	if c.dead {
		return false
	}
	if f.iwarp {
		if c.oks > 0 || c.marks > 0 {
			return true
		}
		if f.crc == On && c.crc == CRCBad && c.link < 0 {
			return false
		}
		if f.crc == On && c.edge && !last {
			return false // more octets will tell by the CRC
		}
		return c.sum >= needKnown
	}
	if !c.whole {
		return false
	}
	return c.oks >= 2 || c.oks >= 1 && c.sum >= needChain || c.count >= 3 && c.sum >= needChain
}
