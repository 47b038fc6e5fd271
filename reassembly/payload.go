package reassembly

import "github.com/iwdump/iwdump/packet"

// An arrival is a segment with payload that does not simply continue its
// direction.
type arrival struct {
	s        *packet.Segment
	at       Stamp
	start    uint64 // position of its first octet
	end      uint64 // behind its last octet
	captured uint64 // behind the last one that was captured

	early  uint64 // octets in front of offset 0
	late   uint64 // octets that had been given up
	again  uint64 // octets that came before
	filled uint64 // octets that came after others behind them
	since  int64  // for how long those had been seen, in ns
	resent bool   // that is because they were sent again, as it seems
	seen   bool   // the first time was seen, but thrown away
	known  comparison
	thrown bool // its receiver threw it away, and nothing of it counts
}

// data returns the captured octets of [from, to).
func (v *arrival) data(from, to uint64) []byte {
	from, to = min(from, v.captured), min(to, v.captured)
	return v.s.Payload[from-v.start : to-v.start]
}

// payload takes the payload of a segment, whose first octet has the sequence
// number seq. It returns false where the receiver threw the segment away.
func (d *direction) payload(s *packet.Segment, seq uint32, at Stamp) bool {
	if d.state == unplaced {
		d.place(seq)
	}
	v := arrival{s: s, at: at, start: d.position(seq)}
	v.end = v.start + uint64(s.Len)
	v.captured = v.start + uint64(min(len(s.Payload), s.Len))
	if d.state == placed && s.Len == 1 && v.end == d.next {
		d.counts.Probes++
		return true
	}
	d.counts.Segments++
	if v.start < d.next && !d.before(&v) {
		return false
	}
	ok := d.spread(&v)
	if !v.thrown {
		d.repeated(&v)
		d.account(&v)
	}
	if ok {
		d.high = max(d.high, v.end)
		d.report(&v)
	}
	if d.state == starting && d.wait == nil { // nothing of it was kept
		d.state = unplaced
	}
	d.drain()
	d.limit(at)
	return ok
}

// place gives a direction of which nothing is known a place. Its first segment
// may have been overtaken by one behind it, unless all before was acknowledged.
func (d *direction) place(seq uint32) {
	e := &d.conn.ends[d.side]
	pos := position(seq)
	if ahead := int32(e.ack - seq); e.acked && ahead >= 0 && ahead <= maxJump {
		d.begin(pos)
		d.ack = pos + uint64(ahead)
		if ahead > 0 {
			d.waiting().pend(d.ack, d.conn.Last, d.conn.count)
		}
		return
	}
	d.state, d.next, d.base = starting, pos-startSpan, pos-startSpan
}

// before looks at the octets of a segment that are not expected any more. It
// returns false where the receiver threw the segment away.
func (d *direction) before(v *arrival) bool {
	from, to := v.start, min(v.end, d.next)
	if from < d.base {
		v.early = min(v.end, d.base) - from
		from = d.base
	}
	if from >= to {
		return true // all of it is early
	}
	v.known = d.conn.a.recent.compare(d, v.data(from, to), from, v.s, v.at)
	if v.known.differs && d.damaged(v.s) {
		d.throw(v)
		return false
	}
	v.again = to - from
	if lo, hi := max(from, d.gapFrom), min(to, d.gapTo); lo < hi {
		v.late = hi - lo
		v.again -= v.late
	}
	return true
}

// throw counts a segment that its receiver threw away.
func (d *direction) throw(v *arrival) {
	v.thrown = true
	d.threw(v.start, v.end)
	d.conn.event(d.side, Event{Kind: Dropped, Seq: uint32(v.start), Len: v.end - v.start, At: v.at})
}

// spread hands on the octets of a segment that are in order and holds those
// behind a hole, but for those that came before. It returns false where the
// receiver threw the segment away.
func (d *direction) spread(v *arrival) bool {
	if d.wait != nil {
		if held := d.wait.store.at(max(v.start, d.next)); held != nil && held.off < v.end && d.damaged(v.s) {
			d.throw(v)
			return false
		}
	}
	for p := max(v.start, d.next); p < v.end; {
		to := v.end
		var held *piece // the first that ends behind p
		if d.wait != nil {
			held = d.wait.store.at(p)
		}
		if held != nil {
			to = min(to, max(p, held.off))
		}
		switch {
		case p < to && p == d.next && d.state == placed:
			d.fill(v, p, to, held)
			if !d.take(v, p, to) {
				return false
			}
			p = to
		case p < to:
			// It is copied anyway, so that to verify it costs little.
			if p == max(v.start, d.next) && d.damaged(v.s) {
				d.throw(v)
				return false
			}
			d.fill(v, p, to, held)
			d.hold(v, p, to)
			p = to
		default:
			p = d.overlap(v, p, held)
			if p >= v.captured && p > d.next && p < v.end {
				// What was cut off is not worth a piece in each hole.
				d.counts.Stray += v.end - p
				v.end = p
			}
		}
	}
	return true
}

// take hands on [p, to) of a segment, which is in order. It returns false where
// the receiver threw the segment away.
func (d *direction) take(v *arrival, p, to uint64) bool {
	if b := v.data(p, to); len(b) > 0 && !d.deliver(b, v.at, v.resent, v.s) {
		d.counts.Damaged += v.end - p - uint64(len(b)) // which deliver does not know of
		return false
	}
	if to > d.next {
		d.gap(to-d.next, GapCut, v.at)
	}
	if d.wait != nil {
		d.wait.progress = v.at.Time
	}
	return true
}

// hold keeps a copy of [p, to) of a segment, which is behind a hole.
func (d *direction) hold(v *arrival, p, to uint64) {
	a, w := d.conn.a, d.waiting()
	k := piece{off: p, Stamp: v.at, mark: markOf(v.s), again: v.resent}
	if b := v.data(p, to); len(b) > 0 {
		k.data = a.buffers.get(len(b))
		copy(k.data, b)
	}
	k.cut = to - p - uint64(len(k.data))
	w.store.insert(k, &a.pages)
	a.held += k.cost()
	if !w.listed {
		a.waiting.push(w)
	}
}

// overlap compares the octets of a segment from p on with the piece that holds
// them, and hands that on where it is in order. It returns where the rest of
// the segment goes on.
func (d *direction) overlap(v *arrival, p uint64, held *piece) uint64 {
	to := min(v.end, held.end())
	v.again += to - p
	held.again = true
	if old, b := held.data[min(p-held.off, uint64(len(held.data))):], v.data(p, to); len(old) > 0 {
		n := min(len(old), len(b))
		if lo, hi, ok := difference(b[:n], old[:n]); ok {
			v.known.differ(p+lo, hi-lo)
		}
	}
	if v.known.first == (Stamp{}) {
		v.known.first = held.Stamp
	}
	if held.off == v.start && held.end() == v.end && held.mark.same(markOf(v.s), v.at.Time-held.Time) {
		v.known.same = !v.known.differs
		held.again = !v.known.same
	}
	if d.state == placed && held.off == d.next {
		d.handOn()
	}
	return to
}

// fill notes octets of a segment that came after others, of which next are the
// nearest. Either it was sent before them and overtaken, or it was sent again
// and the capture lacks the first time. The IPv4 identification of most hosts
// counts packets; else it is told by the time, or by acknowledgements that ask
// for it (RFC 5681, section 3.2).
func (d *direction) fill(v *arrival, p, to uint64, next *piece) {
	switch {
	case p < d.thrownTo && to > d.thrownFrom:
		v.resent, v.seen = true, true
	case next == nil:
		return
	case v.filled == 0:
		v.since = v.at.Time - next.Time
		order := int16(v.s.IPID - next.mark.ipid)
		if v.s.IPID != 0 && next.mark.ipid != 0 && order != 0 && absolute(int32(order)) < maxOvertaken {
			v.resent = order > 0
		} else {
			v.resent = v.since >= overtakeTime || d.dups >= 3
		}
	}
	v.filled += to - p
}

const (
	// maxOvertaken is how far apart identifications may be to be compared.
	maxOvertaken = 1024
	// overtakeTime is how long, in ns, a segment may be late that was only
	// overtaken.
	overtakeTime = 3e6
)

// account counts the octets of a segment that were not expected any more. Those
// that were are counted as they are handed on.
func (d *direction) account(v *arrival) {
	d.counts.Early += v.early
	d.counts.Late += v.late
	if v.known.same {
		d.counts.Duplicated += v.again
	} else {
		d.counts.Retransmitted += v.again
	}
}

// report tells the stream of what a segment brought again.
func (d *direction) report(v *arrival) {
	c := d.conn
	e := Event{Seq: uint32(v.start), Len: v.again, At: v.at}
	if v.known.differs {
		c.event(d.side, Event{Kind: OverlapConflict, Seq: uint32(v.known.off), Len: v.known.n, At: v.at})
	}
	if v.late > 0 {
		c.event(d.side, Event{Kind: Late, Seq: uint32(v.start), Len: v.late, At: v.at})
	}
	switch {
	case v.again > 0 && v.known.same:
		e.Kind, e.Time = Duplicate, v.at.Time-v.known.first.Time
	case v.again > 0:
		if v.known.first != (Stamp{}) {
			e.Time = v.at.Time - v.known.first.Time
		}
	case v.filled > 0:
		e.Len, e.Time, e.Unseen = v.filled, v.since, v.resent && !v.seen
		if !v.resent {
			e.Kind = OutOfOrder
		}
	default:
		return
	}
	c.event(d.side, e)
}
