package mpa

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A candidate is a place where an FPDU may start, under one guess, with the
// chain that starts there.
type candidate struct {
	off    uint64 // of ULPDU_Length
	next   uint64 // of the ULPDU_Length behind it
	length int
	link   int  // index of the candidate at next, -1 for none
	bits   int  // of evidence for it alone
	sum    int  // with the chain that follows
	count  int  // FPDUs of the chain
	oks    int  // of them, with a right CRC
	crc    CRC  // CRCUnchecked where not all of it is at hand
	marks  int  // Markers in the chain that point where they must
	edge   bool // the chain goes on to the end of what is held
	whole  bool // the chain does not break on octets that are held
	broken bool // what follows it is held, and is no FPDU
	dead   bool
}

// A guess is a choice of what is not known about Markers.
type guess struct {
	markers Use // On or Off
	phase   uint64
	support int // Markers that speak for the phase
}

// leads says that a Marker stands directly in front of off.
func (g guess) leads(off uint64) bool {
	return g.markers == On && (off-MarkerLen-g.phase)%MarkerSpacing == 0
}

// span returns where an FPDU at off ends, and where the next one starts.
func (g guess) span(off uint64, length int) (end, next uint64) {
	n := size(length)
	if g.markers == On {
		n = wireSize((off-g.phase)%MarkerSpacing, n)
	}
	end = off + uint64(n)
	if g.markers == On && (end-g.phase)%MarkerSpacing == 0 {
		return end, end + MarkerLen
	}
	return end, end
}

// A result is the chain that a search found.
type result struct {
	guess
	root   candidate
	weight weight
	wrong  int // FPDUs of the chain with a wrong CRC
}

// best returns the first FPDU of the best chain, under the best guess.
func (f *Framer) best(last, aligned bool) (result, bool) {
	s := f.search
	s.tried, s.rows, s.large = 0, 0, false
	f.headers(aligned)
	if len(s.heads) == 0 {
		return result{}, false
	}
	var best result
	for _, g := range f.guesses(last) {
		f.chains(g)
		weight := s.weight()
		if g.markers == On && !f.phased && g.support < 2 && weight.sure == 0 {
			// A single Marker that points where it must can be a small
			// number in a header or a payload.
			continue
		}
		i := f.root(last)
		if i < 0 || f.markers == On && g.markers == Off && s.cands[i].oks == 0 || !best.weight.less(weight) {
			continue
		}
		best = result{guess: g, root: s.cands[i], weight: weight}
		for ; i >= 0; i = s.cands[i].link {
			if s.cands[i].crc == CRCBad {
				best.wrong++
			}
		}
	}
	return best, best.root.sum > 0
}

// A weight is what speaks for a guess: all candidates under it that stand.
type weight struct {
	oks, sure, bits int
}

func (w weight) less(o weight) bool {
	return cmp.Or(cmp.Compare(w.oks, o.oks), cmp.Compare(w.bits, o.bits)) < 0
}

func (s *search) weight() (w weight) {
	for i := range s.cands {
		c := &s.cands[i]
		if c.dead {
			continue
		}
		if c.crc == CRCOK {
			w.oks++
			if c.marks > 0 {
				w.sure++
			}
		}
		w.bits += c.bits
		s.rows = max(s.rows, c.count)
		s.large = s.large || c.edge && s.stampAt(c.off).off == c.off
	}
	return w
}

// headers lists where the held octets look like the start of an FPDU by their
// first four octets, which no Marker splits.
func (f *Framer) headers(aligned bool) {
	s := f.search
	s.heads = s.heads[:0]
	for ri, r := range s.runs {
		b := s.buf[r.pos : r.pos+r.n]
		i, step := 0, 1
		if aligned {
			i, step = int((f.align-r.off)%4), 4
		}
		low, value := byte(f.mask), byte(f.control)
		for ; i+4 <= len(b); i += step {
			if b[i+3]&low != value {
				continue
			}
			w := binary.BigEndian.Uint32(b[i:])
			if uint16(w)&f.mask != f.control {
				continue
			}
			if l := w >> 16; l < MinLength || l > MaxLength || f.p.Evidence(b[i+2:i+4], int(l)) <= 0 {
				continue
			}
			s.heads = append(s.heads, header{off: r.off + uint64(i), run: ri})
		}
	}
}

// guesses lists what may be the case with Markers.
func (f *Framer) guesses(last bool) []guess {
	s := f.search
	off, on := guess{markers: Off}, guess{markers: On, phase: f.phase}
	switch {
	case f.markers == Off:
		return []guess{off}
	case f.markers == On && f.phased:
		return []guess{on}
	case f.phased:
		return []guess{off, on}
	}
	var gs []guess
	if len(s.heads) > 1 {
		gs = f.phases()
	}
	if f.markers == Unknown || last {
		gs = append(gs, off) // at the end, what is held can lie between two Markers
	}
	return gs
}

// phases returns the most likely places of Markers. What is held must not speak
// against them, which is to say that the reserved half of each is zero, and
// must speak for them: a Marker points to what looks like a header, or to where
// the one before it points.
func (f *Framer) phases() []guess {
	const most = 2
	s := f.search
	type place struct {
		bad     bool
		support int
		at      uint64 // of the Marker before, and what it says
		ptr     uint64
	}
	var places [MarkerSpacing]place
	for _, r := range s.runs {
		b := s.buf[r.pos : r.pos+r.n]
		for i := 0; i+MarkerLen <= len(b); i++ {
			at := r.off + uint64(i)
			p := &places[at%MarkerSpacing]
			if p.bad {
				continue
			}
			w := binary.BigEndian.Uint32(b[i:])
			if w>>16 != 0 || w&3 != 0 {
				p.bad = true
				continue
			}
			ptr := uint64(w)
			switch {
			case p.ptr > 0 && ptr == p.ptr+at-p.at:
				p.support++
			case ptr > 0 && ptr <= at && s.isHeader(at-ptr), ptr == 0 && s.isHeader(at+MarkerLen):
				p.support++
			}
			p.at, p.ptr = at, ptr
		}
	}
	var gs []guess
	for range most {
		best := 0
		for i := range places {
			if p := &places[i]; !p.bad && p.support > places[best].support || places[best].bad {
				best = i
			}
		}
		if places[best].bad || places[best].support == 0 {
			break
		}
		gs = append(gs, guess{markers: On, phase: uint64(best), support: places[best].support})
		places[best].bad = true
	}
	return gs
}

func (s *search) isHeader(off uint64) bool {
	_, ok := slices.BinarySearchFunc(s.heads, off, func(h header, off uint64) int { return cmp.Compare(h.off, off) })
	return ok
}

// prefix copies the first octets of the FPDU at off into p, Markers left out,
// and returns how many are held.
func (s *search) prefix(p []byte, h header, g guess) int {
	r := s.runs[h.run]
	b := s.buf[r.pos+int(h.off-r.off) : r.pos+r.n]
	if g.markers != On {
		return copy(p, b)
	}
	n, off := 0, h.off
	for n < len(p) && len(b) > 0 {
		at := int((off - g.phase) % MarkerSpacing)
		if at < MarkerLen {
			k := min(MarkerLen-at, len(b))
			b, off = b[k:], off+uint64(k)
			continue
		}
		k := copy(p[n:], b[:min(len(b), MarkerSpacing-at)])
		n, b, off = n+k, b[k:], off+uint64(k)
	}
	return n
}

// prefixLen is how much of an FPDU is weighed: ULPDU_Length and the longer of
// the DDP headers, with what RDMAP adds to a Read Request.
const prefixLen = 2 + 18 + 28

// chains builds the candidates under g, and chains them from the last to the
// first: each has one successor at most, so the work is linear.
func (f *Framer) chains(g guess) {
	s := f.search
	s.cands = s.cands[:0]
	var a, b [prefixLen]byte
	for _, h := range s.heads {
		if g.markers == On {
			if at := (h.off - g.phase) % MarkerSpacing; at < MarkerLen || at%4 != 0 {
				continue
			}
		}
		n := s.prefix(a[:], h, g)
		if n < 4 {
			continue
		}
		c := candidate{off: h.off, length: int(binary.BigEndian.Uint16(a[:])), link: -1}
		c.bits = f.p.Evidence(a[2:n], c.length)
		if c.bits <= 0 {
			continue
		}
		_, c.next = g.span(c.off, c.length)
		s.cands = append(s.cands, c)
	}
	edge := s.from + s.size()
	for i := len(s.cands) - 1; i >= 0; i-- {
		c := &s.cands[i]
		h := header{off: c.off, run: s.runOf(c.off)}
		f.weigh(c, h, g)
		c.sum, c.count = c.bits, 1
		if c.crc == CRCOK {
			c.oks = 1
		}
		ri := -1
		if c.next < edge {
			ri = s.runOf(c.next)
		}
		switch {
		case c.next >= edge:
			c.edge, c.whole = true, true
			continue
		case ri < 0 || c.next+4 > s.runs[ri].off+uint64(s.runs[ri].n):
			c.whole = true
			c.edge = ri == len(s.runs)-1
			continue
		}
		k, ok := slices.BinarySearchFunc(s.cands[i+1:], c.next, func(c candidate, off uint64) int { return cmp.Compare(c.off, off) })
		t := i + 1 + k
		if ok && !s.cands[t].dead {
			next := &s.cands[t]
			na := s.prefix(a[:], h, g)
			nb := s.prefix(b[:], header{off: next.off, run: ri}, g)
			follows := f.p.Follows(a[2:na], c.length, b[2:nb], next.length)
			fits := c.bits+follows+bitsLength >= needLink && (c.crc != CRCBad || f.crc != On || c.bits >= needKnown)
			if c.crc == CRCOK || fits {
				c.link = t
				c.sum += follows + next.sum
				c.count += next.count
				c.oks += next.oks
				c.marks += next.marks
				c.edge, c.whole = next.edge, next.whole
				continue
			}
		}
		c.dead = c.crc != CRCOK
		c.broken = true
	}
}
