package mpa

import "encoding/binary"

// swallow counts the current FPDU as octets that could not be framed.
func (f *Framer) swallow(at Stamp) {
	n := uint64(f.cur.wire - f.cur.missing)
	f.counts.Skipped += n
	f.counts.Missing += uint64(f.cur.missing)
	f.skipped(f.off-uint64(f.cur.wire), n, at)
	f.cur = partial{}
}

// Skip takes n octets that are missing. cut says that the packet with them was
// captured, at at, but cut before them.
func (f *Framer) Skip(n uint64, at Stamp, cut bool) {
	switch f.mode {
	case given:
		f.off += n
		f.counts.Missing += n
		return
	case searching:
		f.holdGap(n, cut)
		return
	}
	for n > 0 && f.mode == framing {
		p := &f.cur
		if p.need == 0 && !f.skipHead(n, at) {
			f.lose(at, true)
			f.holdGap(n, cut)
			return
		}
		k := f.skipRun(n)
		n -= uint64(k)
		p.missing += k
		f.advance(k)
		if p.need > 0 && p.got == p.need {
			f.budget.out.CRCWire, f.budget.out.CRCCalc = 0, 0
			p.endLost = !cut
			f.finish(at)
		}
	}
}

// skipHead says whether the chain goes on over n missing octets where the next
// header begins: they are of the Marker in front of it, or the length is known.
func (f *Framer) skipHead(n uint64, at Stamp) bool {
	p := &f.cur
	if f.markers == On && p.got == 0 {
		if in := (f.off - f.phase) % MarkerSpacing; in < MarkerLen && n <= MarkerLen-in {
			if p.wire == 0 {
				p.first = at
			}
			p.lead, p.start = true, f.off-in+MarkerLen
			return true
		}
	}
	if p.got < 2 {
		return false
	}
	p.length = int(binary.BigEndian.Uint16(f.head))
	if p.length < MinLength || p.length > MaxLength {
		return false
	}
	if f.bad {
		f.emitBad()
	}
	p.need = size(p.length)
	return true
}

// skipRun counts up to n missing octets of the current FPDU that are all
// Marker or all not, and returns their number.
func (f *Framer) skipRun(n uint64) int {
	p := &f.cur
	k := int(min(n, uint64(max(0, p.need-p.got))))
	if f.markers == On {
		at := int((f.off - f.phase) % MarkerSpacing)
		if at < MarkerLen {
			k = int(min(n, uint64(MarkerLen-at)))
			if at+k == MarkerLen {
				p.markers++
			}
			return k
		}
		k = min(k, MarkerSpacing-at)
	}
	p.got += k
	return k
}

// lose breaks the chain at the current FPDU, and starts a search with what is
// at hand of it. hole says that the header was not captured.
func (f *Framer) lose(at Stamp, hole bool) {
	if f.bad {
		f.emitBad()
	}
	p := f.cur
	f.cur = partial{}
	f.budget.note = Notice{Kind: NoticeLost, Off: f.off - uint64(p.wire), Seq: f.seq + uint32(f.off-uint64(p.wire)), Stamp: at}
	if p.got > 0 && !hole {
		f.budget.note.Off, f.budget.note.Seq, f.budget.note.Header = p.start, f.seq+uint32(p.start), f.head[:p.nhead]
	}
	lead := p.wire - p.got
	if p.missing > 0 {
		// Some of the Marker in front, which is no longer needed.
		f.counts.Missing += uint64(p.missing)
		f.counts.Skipped += uint64(lead - p.missing)
		lead = 0
	}
	f.off -= uint64(lead + p.got)
	f.h.Notice(&f.budget.note)
	if f.guessed {
		f.markers, f.phased = Unknown, false // a stretch that agrees proves little
	}
	f.proof = 0
	f.align, f.aligned = f.off%4, true // all FPDUs are a multiple of 4 octets long
	f.startSearch()
	if lead+p.got > 0 {
		raw := append(make([]byte, 0, MarkerLen+4), p.marker[:lead]...)
		f.hold(&Chunk{Data: append(raw, f.head[:p.got]...), Stamp: p.first, Retrans: p.retrans})
	}
}

// Flush tells that no more will come. What is not complete is handed out as
// far as it is known.
func (f *Framer) Flush(at Stamp) {
	if f.mode == searching {
		f.trySearch(true)
	}
	if f.mode == searching {
		f.giveUp()
	}
	if p := &f.cur; f.mode == framing && p.wire > 0 {
		if p.need == 0 {
			f.counts.Skipped += uint64(p.wire)
			f.skipped(f.off-uint64(p.wire), uint64(p.wire), at)
		} else {
			// Its last octets never came: they are not counted as missing, for
			// the stream ends before them.
			f.verdictOpen(at)
		}
		f.cur = partial{}
	}
	if f.bad {
		f.emitBad()
	}
	f.mode = given
}

// verdictOpen hands out an FPDU whose end never came.
func (f *Framer) verdictOpen(at Stamp) {
	o := &f.budget.out
	o.CRC, o.CRCWire, o.CRCCalc = CRCUnchecked, 0, 0
	if f.crc == Off {
		o.CRC = CRCOff
	}
	f.cur.endLost = true
	f.fill(o, at)
	o.Wire = wireSize((o.Off-f.phase)%MarkerSpacing, size(o.Length))
	if f.markers != On {
		o.Wire = size(o.Length)
	}
	o.Complete = false
	f.emit(o)
}

func (f *Framer) skipped(off, n uint64, at Stamp) {
	f.budget.note = Notice{Kind: NoticeSkipped, Off: off, Seq: f.seq + uint32(off), Len: n, Stamp: at}
	f.h.Notice(&f.budget.note)
}
