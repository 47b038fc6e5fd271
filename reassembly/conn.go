package reassembly

import (
	"github.com/iwdump/iwdump/packet"
)

// A Conn is one TCP connection as it was captured.
type Conn struct {
	Flow   packet.Flow // of side A
	Start  Stamp       // of the first segment
	Last   Stamp       // of the last segment so far
	stream Stream
	a      *Assembler
	dirs   [2]direction
	order  uint64 // connections are numbered as they come
	first  Side   // who sent the first FIN
	fins   uint8
	count  uint64 // segments
	wait   bool   // it is in Assembler.waiting
	dead   bool   // ended: what still comes of it is passed over
}

// Counts says what came of one direction.
type Counts struct {
	Octets        uint64 // sequence numbers from the first seen to where it was handed on
	Missing       uint64 // of them, those that did not come
	Retransmitted uint64 // octets that came again; not part of Octets
	Segments      uint64 // with payload
}

// Counts returns what came of a side so far.
func (c *Conn) Counts(side Side) Counts { return c.dirs[side].counts }

// SYN tells whether the SYN of a side was seen, when, and the MSS it offers (0
// for none).
func (c *Conn) SYN(side Side) (seen bool, at Stamp, mss uint16) {
	d := &c.dirs[side]
	return d.syn, d.synAt, d.mss
}

// Opener returns the side that opened the connection, where a SYN tells.
func (c *Conn) Opener() (Side, bool) {
	for i := range c.dirs {
		if c.dirs[i].syn {
			if c.dirs[i].synAck {
				return Side(i).Other(), true
			}
			return Side(i), true
		}
	}
	return A, false
}

// Begins tells whether the first octet that a side hands on is the first of
// the connection.
func (c *Conn) Begins(side Side) bool { return c.dirs[side].begins }

// segment takes a segment of the connection.
func (c *Conn) segment(side Side, s *packet.Segment, at Stamp) {
	c.Last = at
	c.count++
	d, o := &c.dirs[side], &c.dirs[side.Other()]
	if s.Flags&packet.SYN != 0 {
		c.syn(d, side, s, at)
	}
	if s.Flags&packet.ACK != 0 {
		c.ack(side, o, s, at)
	}
	c.window(side, d, s, at)
	n := uint64(s.Len)
	seq := s.Seq
	if s.Flags&packet.SYN != 0 {
		seq++ // the SYN takes one
	}
	if n > 0 {
		c.payload(side, d, s, seq, at)
	}
	if !c.dead && len(d.held) > 0 {
		c.overdue(side, d, at)
	}
	if !c.dead && len(o.held) > 0 {
		c.overdue(side.Other(), o, at)
	}
	if s.Flags&packet.RST != 0 {
		if d.started && !d.near(seq) {
			return // not of this connection, or made up
		}
		c.event(side, Event{Kind: ResetSent, Seq: seq, At: at})
		if c.fins == 0 {
			c.first = side
		}
		c.end(EndReset, side, true)
		return
	}
	if s.Flags&packet.FIN != 0 && !d.fin {
		if !d.started {
			d.start(seq, false)
		}
		if d.near(seq) {
			d.fin, d.finAt = true, d.offset(seq)+n
			if c.fins == 0 {
				c.first = side
			}
			c.fins++
			c.event(side, Event{Kind: FinSent, Seq: seq + uint32(n), At: at})
		}
	}
	if d.fin && o.fin && d.acked > d.finAt && o.acked > o.finAt {
		c.end(EndClosed, c.first, true)
	}
}

func (c *Conn) event(side Side, e Event) {
	c.a.event = e
	c.stream.Event(side, &c.a.event)
}

// syn takes the SYN of a segment.
func (c *Conn) syn(d *direction, side Side, s *packet.Segment, at Stamp) {
	if d.syn {
		c.event(side, Event{Kind: SynRetry, Seq: s.Seq, At: at})
		return
	}
	d.syn, d.synAt, d.mss = true, at, s.MSS
	d.synAck = s.Flags&packet.ACK != 0
	if !d.started {
		d.start(s.Seq+1, true)
	}
}

// ack takes the acknowledgement of a segment, which is for the octets of o.
func (c *Conn) ack(side Side, o *direction, s *packet.Segment, at Stamp) {
	if !o.started {
		// What o sends was not seen from its start. Where the connection's
		// start was, the first ACK tells where it begins.
		if d := &c.dirs[side]; d.syn && s.Flags&packet.SYN == 0 {
			o.start(s.Ack, true)
		}
		return
	}
	if !o.near(s.Ack) {
		return
	}
	off := o.offset(s.Ack)
	if off <= o.acked {
		return
	}
	o.acked = off
	c.doubt(o)
	c.stream.Ack(side, off, at)
}

// window notes a window that closes or opens.
func (c *Conn) window(side Side, d *direction, s *packet.Segment, at Stamp) {
	if s.Flags&(packet.SYN|packet.RST|packet.FIN) != 0 {
		return
	}
	switch {
	case s.Window == 0 && d.closedAt == 0:
		d.closedAt = at.Time
		c.event(side, Event{Kind: ZeroWindow, Seq: s.Seq, At: at})
	case s.Window != 0 && d.closedAt != 0:
		c.event(side, Event{Kind: WindowOpen, Seq: s.Seq, Time: at.Time - d.closedAt, At: at})
		d.closedAt = 0
	}
}

// payload takes the octets of a segment.
func (c *Conn) payload(side Side, d *direction, s *packet.Segment, seq uint32, at Stamp) {
	if !d.started {
		d.start(seq, false)
	}
	if !d.near(seq) {
		return // not of this connection: nothing is that far ahead
	}
	off, n := d.offset(seq), uint64(s.Len)
	if n <= 1 && off+1 == d.next {
		return // a keep-alive
	}
	d.counts.Segments++
	if d.samples < sampled {
		d.samples++
		d.damaged(s)
	}
	dup := s.IPID != 0 && s.IPID == d.lastID && off+n == d.lastEnd && at.Time-d.lastTime < duplicateWithin
	if off+n > d.lastEnd || d.lastEnd == 0 {
		d.lastID, d.lastEnd, d.lastTime = s.IPID, off+n, at.Time
	}
	b := s.Payload
	again := false
	if off < d.seen {
		// Some of it came before, in order or not.
		old := min(off+n, d.seen) - off
		if known := d.compare(off, b, c.a.generation); known.conflict && !d.damaged(s) {
			c.event(side, Event{Kind: OverlapConflict, Seq: seq + uint32(known.at), Len: known.len, At: at})
		}
		kind := Retransmission
		if dup {
			kind = Duplicate
		}
		if off+n <= d.next || d.holds(off, off+old) {
			d.counts.Retransmitted += old
			c.event(side, Event{Kind: kind, Seq: seq, Len: old, At: at})
		}
		again = off < d.thrown
	}
	d.seen = max(d.seen, off+n)
	if off < d.next {
		cut := d.next - off
		if cut >= n {
			return
		}
		off, n, seq = d.next, n-cut, seq+uint32(cut)
		b = b[min(cut, uint64(len(b))):]
	}
	if off == d.next {
		c.deliver(side, d, s, b, n, again, at)
		if !c.dead && len(d.held) > 0 {
			c.drain(side, d, at)
		}
		return
	}
	if d.damaged(s) {
		c.event(side, Event{Kind: Dropped, Seq: seq, Len: n, At: at})
		return
	}
	if len(d.held) == 0 || off < d.held[len(d.held)-1].off {
		c.event(side, Event{Kind: OutOfOrder, Seq: seq, Len: n, At: at})
	}
	d.hold(c.a, off, n, b, again, at)
	c.a.await(c)
	c.doubt(d)
	for !c.dead && len(d.held) > 0 && (d.heldBytes > c.a.config.MaxHeld || len(d.held) > maxRuns || c.a.held > c.a.config.MaxHeldTotal) {
		c.giveUp(side, d, d.held[0].off, GapNever, at)
	}
}

// deliver hands on a segment that comes in order: n octets, of which b were
// captured.
func (c *Conn) deliver(side Side, d *direction, s *packet.Segment, b []byte, n uint64, again bool, at Stamp) {
	if len(b) > 0 {
		k := &c.a.chunk
		*k = Chunk{Data: b, Off: d.next, Seq: d.base + uint32(d.next), Stamp: at, Retransmitted: again, dir: d, seg: s}
		took := uint64(c.stream.Data(side, k))
		if took < uint64(len(b)) {
			d.take(took, b[:took], c.a.generation)
			d.thrown = max(d.thrown, d.next+n-took)
			c.event(side, Event{Kind: Dropped, Seq: d.base + uint32(d.next), Len: n - took, At: at})
			return
		}
		d.take(took, b, c.a.generation)
	}
	if cut := n - uint64(len(b)); cut > 0 {
		c.gap(side, d, cut, GapCut, at)
	}
}

// gap hands on n octets that are missing.
func (c *Conn) gap(side Side, d *direction, n uint64, cause GapCause, at Stamp) {
	g := Gap{Off: d.next, Seq: d.base + uint32(d.next), Len: n, Cause: cause, Stamp: at}
	d.next += n
	d.seen = max(d.seen, d.next)
	d.counts.Octets += n
	d.counts.Missing += n
	c.a.gap = g
	c.stream.Gap(side, &c.a.gap)
}

// drain hands on what is held and has become in order.
func (c *Conn) drain(side Side, d *direction, at Stamp) {
	for len(d.held) > 0 && d.held[0].off <= d.next && !c.dead {
		h := d.pop(c.a)
		if h.off+h.n <= d.next {
			continue
		}
		if cut := d.next - h.off; cut > 0 {
			h.data = h.data[min(cut, uint64(len(h.data))):]
			h.n -= cut
		}
		c.deliver(side, d, nil, h.data, h.n, h.again, h.at)
	}
}

// giveUp declares the holes below off missing, and hands on what is behind
// them.
func (c *Conn) giveUp(side Side, d *direction, off uint64, cause GapCause, at Stamp) {
	for len(d.held) > 0 && !c.dead && d.held[0].off <= off {
		if h := d.held[0].off; h > d.next {
			c.gap(side, d, h-d.next, cause, at)
		}
		c.drain(side, d, at)
	}
}

// overdue gives up the hole in front of what is held where the peer has
// acknowledged it and some segments have come since. A mirror can bring an ACK
// before what it acknowledges.
func (c *Conn) overdue(side Side, d *direction, at Stamp) {
	if d.doubted == 0 || c.count-d.doubted < patience {
		return
	}
	c.giveUp(side, d, d.doubtful, GapLost, at)
	d.doubted = 0
	c.doubt(d)
}

// doubt notes that the peer has acknowledged what is missing.
func (c *Conn) doubt(d *direction) {
	if d.doubted == 0 && len(d.held) > 0 && d.acked > d.next {
		d.doubted, d.doubtful = c.count, d.acked
	}
}

// end ends the connection.
func (c *Conn) end(kind EndKind, by Side, has bool) {
	if c.dead {
		return
	}
	for i := range c.dirs {
		d := &c.dirs[i]
		if len(d.held) > 0 {
			c.giveUp(Side(i), d, d.seen, GapNever, c.Last)
		}
		if end := d.acked; d.started && end > d.next {
			if d.fin && end > d.finAt {
				end-- // the FIN takes one
			}
			if end > d.next {
				c.gap(Side(i), d, end-d.next, GapLost, c.Last)
			}
		}
	}
	c.dead = true
	c.stream.End(&End{Kind: kind, By: by, HasBy: has, Fin: [2]bool{c.dirs[0].fin, c.dirs[1].fin}, At: c.Last})
	c.a.ended(c)
}
