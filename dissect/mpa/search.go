package mpa

import (
	"sort"
)

// Limits of a search.
const (
	// MaxHold is how many octets of a direction are held at most while its
	// FPDUs are searched: enough for four FPDUs of the largest size.
	MaxHold = 256 << 10

	firstHold   = 32 << 10 // a stream without startup and without any chain is given up here
	leastHold   = 4 << 10  // and is not judged before, unless it ends
	trialFactor = 64       // octets covered by trial CRCs, as a multiple of those held
	maxReplays  = 64       // times that what is held is searched again from a later point
)

// Bits of evidence (see the package comment).
const (
	bitsCRC    = 32
	bitsMarker = 28
	bitsLength = 14 // a length that leads exactly to a proven header
	bitsStart  = 6  // the start of a segment
	needKnown  = 40 // of a stream that is iWARP
	needChain  = 72 // of one that must prove it
	needLink   = 28 // of a header in front of a proven one
)

// search is what a Framer holds while it does not know where FPDUs start.
type search struct {
	buf     []byte
	runs    []run
	store   []run // the memory of runs, from its start
	marks   []mark
	missing uint64 // octets in holes between and behind the runs
	cut     bool   // what is missing last was cut off a packet
	from    uint64 // offset of the first octet held, or of the first hole
	next    int    // len(buf) at which to search again

	tried int  // octets covered by trial CRCs in this search
	rows  int  // most candidates in a row that the last search saw
	large bool // it saw a header at the start of a segment that leads beyond what is held
	heads []header
	cands []candidate
}

// A run is octets held without a hole.
type run struct {
	off uint64
	pos int // in buf
	n   int
	cut bool // what is missing in front of it was cut off packets
}

// A mark says which chunk brought the octets from off on.
type mark struct {
	off     uint64
	stamp   Stamp
	retrans bool
}

// A header is a place where the octets look like the start of an FPDU.
type header struct {
	off uint64
	run int
}

func (s *search) size() uint64 { return uint64(len(s.buf)) + s.missing }

func (f *Framer) startSearch() {
	if f.search == nil {
		f.search = f.budget.search()
	}
	s := f.search
	f.mode = searching
	s.buf, s.runs, s.marks = s.buf[:0], s.store[:0], s.marks[:0]
	s.missing, s.cut, s.next, s.from = 0, false, 0, f.off
	if !f.iwarp {
		s.next = leastHold
	}
}

// restart has what is held searched again, if the Framer searches.
func (f *Framer) restart() {
	if f.mode == searching {
		f.search.next = 0
	}
}

// giveUp ends a search without an FPDU.
func (f *Framer) giveUp() {
	f.drop(f.search.size())
	f.mode = given
	f.budget.release(f.search)
	f.search = nil
}

// hold keeps a chunk for the search.
func (f *Framer) hold(c *Chunk) {
	if len(c.Data) == 0 {
		return
	}
	s := f.search
	if n := len(s.runs); n > 0 && s.runs[n-1].off+uint64(s.runs[n-1].n) == f.off {
		s.runs[n-1].n += len(c.Data)
	} else {
		s.runs = append(s.runs, run{off: f.off, pos: len(s.buf), n: len(c.Data), cut: s.cut})
		if n == 0 {
			s.store = s.runs
		}
	}
	s.marks = append(s.marks, mark{off: f.off, stamp: c.Stamp, retrans: c.Retrans})
	s.buf = append(s.buf, c.Data...)
	f.budget.held += len(c.Data)
	f.off += uint64(len(c.Data))
}

func (f *Framer) holdGap(n uint64, cut bool) {
	f.off += n
	f.search.missing += n
	f.search.cut = cut
}

// trySearch looks for FPDUs in what is held, and if it finds some, frames it
// from there on. With last, what is held is all there will be.
func (f *Framer) trySearch(last bool) {
	if f.mode != searching || f.replaying {
		return
	}
	for n := 0; f.mode == searching; n++ {
		s := f.search
		if len(s.buf) == 0 || !last && len(s.buf) < s.next {
			break
		}
		if n == maxReplays {
			f.drop(s.size())
			break
		}
		s.next = len(s.buf) + len(s.buf)/4 + MarkerSpacing
		if !f.iwarp {
			s.next = max(2*len(s.buf), leastHold)
		}
		if !f.lock(last) {
			break
		}
	}
	if f.mode == searching {
		f.limit()
	}
}

// limit gives up what need not be held any longer.
func (f *Framer) limit() {
	s := f.search
	n := len(s.buf)
	full := n >= MaxHold || n >= leastHold && f.budget.spent()
	if !f.iwarp && (full || n >= firstHold && s.rows < 2 && !s.large) {
		f.giveUp()
		return
	}
	if full {
		// Keep the second half: an FPDU can be a quarter of it.
		f.drop(s.runAt(n/2) - s.from)
		s.next = 0
	}
}

// runAt returns the offset of the octet at pos in the buffer.
func (s *search) runAt(pos int) uint64 {
	for _, r := range s.runs {
		if pos < r.pos+r.n {
			return r.off + uint64(pos-r.pos)
		}
	}
	return s.from + s.size()
}

// drop takes n octets from the front of what is held, and counts them.
func (f *Framer) drop(n uint64) {
	s := f.search
	end := s.from + n
	var skipped, first uint64
	var at Stamp
	for len(s.runs) > 0 && s.runs[0].off < end {
		r := &s.runs[0]
		k := int(min(end-r.off, uint64(r.n)))
		if skipped == 0 {
			first, at = r.off, s.stampAt(r.off).stamp
		}
		skipped += uint64(k)
		r.off += uint64(k)
		r.pos += k
		if r.n -= k; r.n == 0 {
			s.runs = s.runs[1:]
		}
	}
	f.counts.Skipped += skipped
	f.counts.Missing += n - skipped
	s.missing -= n - skipped
	s.from = end
	f.budget.held -= int(skipped)
	// Move what is left to the front.
	if len(s.runs) == 0 {
		s.buf, s.runs, s.marks = s.buf[:0], s.store[:0], s.marks[:0]
	} else {
		cut := s.runs[0].pos
		s.buf = append(s.buf[:0], s.buf[cut:]...)
		for i := range s.runs {
			s.runs[i].pos -= cut
		}
		i := s.markAt(s.runs[0].off)
		s.marks = append(s.marks[:0], s.marks[i:]...)
		s.marks[0].off = s.runs[0].off
	}
	if skipped > 0 {
		f.skipped(first, skipped, at)
	}
}

func (s *search) markAt(off uint64) int {
	return max(0, sort.Search(len(s.marks), func(i int) bool { return s.marks[i].off > off })-1)
}

func (s *search) stampAt(off uint64) mark { return s.marks[s.markAt(off)] }

// runOf returns the index of the run that holds off, or -1.
func (s *search) runOf(off uint64) int {
	i := sort.Search(len(s.runs), func(i int) bool { return s.runs[i].off > off }) - 1
	if i >= 0 && off < s.runs[i].off+uint64(s.runs[i].n) {
		return i
	}
	return -1
}

// lock finds the first proven FPDU and frames what is held from there on.
func (f *Framer) lock(last bool) bool {
	s := f.search
	sure := f.iwarp && (f.markers == Off || f.phased)
	if !sure && !last && len(s.buf) < leastHold {
		return false // too little to tell anything for certain
	}
	best, ok := f.best(last, f.aligned)
	if !ok && f.aligned && (last || len(s.buf) >= 2*leastHold) {
		best, ok = f.best(last, false)
	}
	if !ok {
		return false
	}
	c := best.root
	f.inferred = f.inferred || f.markers == Unknown
	f.guessed = f.guessed || f.markers == Unknown && !f.phased
	f.markers = best.markers
	if best.markers == On {
		f.phase, f.phased = best.phase, true
	}
	if f.crc == Unknown {
		f.inferred = true
		switch {
		case c.oks > 0:
			f.crc = On
		case best.wrong > 0 && c.count >= 3:
			f.crc = Off
		}
	}
	f.align, f.aligned = c.off%4, true
	switch {
	case c.oks > 0:
		f.found = FoundCRC
	case c.marks > 0:
		f.found = FoundMarker
	default:
		f.found = FoundGuess
	}
	start := c.off
	if best.leads(c.off) && c.off >= MarkerLen {
		if i := s.runOf(c.off - MarkerLen); i >= 0 && i == s.runOf(c.off) {
			start -= MarkerLen
		}
	}
	if f.fromStart && start == f.origin {
		f.found = FoundStart
	}
	f.replay(start, c.off, best.leads(c.off) && start == c.off)
	return true
}

// replay frames what is held from start on. header is where the first header
// is; leadLost says that the Marker in front of it was not captured.
func (f *Framer) replay(start, header uint64, leadLost bool) {
	f.iwarp = true
	skipped := start - f.search.from
	f.drop(skipped)
	old := f.search
	if f.found != FoundStart {
		f.budget.note = Notice{Kind: NoticeResync, Off: header, Seq: f.seq + uint32(header), Len: skipped,
			Stamp: old.stampAt(header).stamp, Found: f.found}
		f.h.Notice(&f.budget.note)
	}

	end := f.off
	f.budget.held -= len(old.buf)
	f.search = nil // what is lost meanwhile is held elsewhere
	f.mode, f.replaying, f.cur, f.off = framing, true, partial{}, start
	if leadLost {
		f.update(make([]byte, MarkerLen)) // what it said is known: nothing but zeros
	}
	var at Stamp
	for _, r := range old.runs {
		m := old.markAt(r.off)
		at = old.marks[m].stamp
		if r.off > f.off {
			f.Skip(r.off-f.off, at, r.cut)
		}
		for ; r.n > 0; m++ {
			k := r.n
			if m+1 < len(old.marks) {
				k = min(k, int(old.marks[m+1].off-r.off))
			}
			at = old.marks[m].stamp
			f.Push(&Chunk{Data: old.buf[r.pos : r.pos+k], Stamp: at, Retrans: old.marks[m].retrans})
			r.off, r.pos, r.n = r.off+uint64(k), r.pos+k, r.n-k
		}
	}
	if end > f.off {
		f.Skip(end-f.off, at, old.cut)
	}
	f.replaying = false
	f.budget.release(old)
}
