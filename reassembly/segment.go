package reassembly

import "github.com/iwdump/iwdump/packet"

// segment takes a segment of the connection. It returns false where the segment
// belongs to another connection between the same endpoints, and then has
// changed nothing that matters.
func (c *Conn) segment(side Side, s *packet.Segment, at Stamp) bool {
	e := &c.ends[side]
	if e.learned < learnSegments {
		e.learned++
		c.damaged(side, s)
	}
	seq := s.Seq
	if s.Flags&packet.SYN != 0 {
		if !c.syn(side, s, at) {
			return false
		}
		seq++ // the SYN takes one
	}
	if c.ignored {
		return c.skim(side, s, seq, at)
	}
	if c.dirs != nil {
		if d := &c.dirs[side]; seq != uint32(d.next) && d.state != unplaced && d.far(seq) && s.Flags&packet.SYN == 0 {
			return c.astray(side, s, seq)
		}
	}
	c.Last = at
	c.count++
	e.seen = true
	if s.Flags&packet.RST != 0 {
		c.reset(side, s, at)
		return true
	}
	if c.dirs == nil {
		if !c.wakes(side, s) {
			return true
		}
		c.wake()
	}
	if (s.Window == 0) != e.closed {
		c.window(side, s, at)
	}
	d, o := &c.dirs[side], &c.dirs[side.Other()]
	if s.Flags&packet.ACK != 0 && (s.Ack != uint32(o.ack) || o.wait != nil || o.state != placed) {
		o.acknowledge(s, at)
	}
	taken := true
	if s.Len > 0 {
		if c.stream == nil {
			c.start()
		}
		if seq == uint32(d.next) && d.wait == nil && d.state == placed && len(s.Payload) == s.Len && d.next >= d.thrownTo {
			taken = d.inOrder(s, at)
		} else {
			taken = d.payload(s, seq, at)
		}
	}
	if s.Flags&packet.FIN != 0 && taken && c.fins&(1<<side) == 0 && !c.damaged(side, s) {
		c.fin(side, seq, s, at)
	}
	if d.wait != nil || o.wait != nil || c.fins != 0 {
		c.settle(at)
	}
	if c.ignored && c.dirs != nil {
		c.strip()
	}
	return true
}

// wakes tells whether s, sent by side, is more than a handshake.
func (c *Conn) wakes(side Side, s *packet.Segment) bool {
	if s.Len > 0 || s.Flags&packet.FIN != 0 {
		return true
	}
	if s.Flags&packet.ACK == 0 {
		return false
	}
	o := &c.ends[side.Other()]
	if !o.known {
		o.ack, o.acked = s.Ack, true
		return false
	}
	// An acknowledgement of octets that were not captured.
	ahead := int32(s.Ack - (o.isn + 1))
	return ahead > 0 && ahead <= maxJump
}

// syn takes the SYN of a segment. It returns false where the SYN is that of
// another connection.
func (c *Conn) syn(side Side, s *packet.Segment, at Stamp) bool {
	e, o := &c.ends[side], &c.ends[side.Other()]
	ack := s.Flags&packet.ACK != 0
	switch {
	case e.syn && e.isn == s.Seq:
		if at.Time-e.synAt.Time >= duplicateTime {
			c.retry(side, at)
		}
		return true
	case e.syn && (c.carries(side) || !ack), e.known && e.isn != s.Seq && c.carries(side):
		return c.damaged(side, s)
	case !e.known && c.carries(side) && (c.dirs == nil || !c.dirs[side].precede(s.Seq+1)):
		return c.damaged(side, s)
	}
	e.syn, e.synAck, e.known, e.isn, e.synAt = true, ack, true, s.Seq, at
	e.mss, e.wscale = s.MSS, s.WScale
	if ack && !o.known && !c.carries(side.Other()) {
		o.known, o.isn = true, s.Ack-1
	}
	for i := range c.ends {
		if c.dirs == nil || !c.ends[i].known {
			continue
		}
		switch d, first := &c.dirs[i], c.ends[i].isn+1; d.state {
		case unplaced:
			d.begin(position(first))
		case starting:
			d.begin(d.position(first))
			d.drain()
		}
	}
	return true
}

// maxRetries is how many SYNs sent again are told of a side before its octets.
const maxRetries = 8

// retry notes that a side sent its SYN again. That is most often before there
// is a stream to tell.
func (c *Conn) retry(side Side, at Stamp) {
	e := &c.ends[side]
	if c.stream != nil {
		c.event(side, Event{Kind: SynRetry, Seq: e.isn, At: at})
	} else if len(e.retries) < maxRetries {
		e.retries = append(e.retries, at)
	}
}

// carries tells whether octets of a side were seen.
func (c *Conn) carries(side Side) bool {
	if c.dirs == nil {
		return c.ignored
	}
	d := &c.dirs[side]
	return d.state == starting || d.state == placed && (d.next != d.base || d.wait != nil)
}

// reset takes an RST, where it can be of this connection: RFC 9293, section
// 3.10.7.4, demands the very next sequence number, of which a capture may know
// less than the receiver.
func (c *Conn) reset(side Side, s *packet.Segment, at Stamp) {
	if c.damaged(side, s) {
		return
	}
	if c.dirs != nil {
		d, o := &c.dirs[side], &c.dirs[side.Other()]
		switch {
		case d.state != placed || d.nearby(s.Seq):
			if s.Flags&packet.ACK != 0 && s.Seq != 0 {
				o.acknowledge(s, at)
			}
		case s.Seq != 0 || s.Flags&packet.ACK == 0 || o.state != placed || !o.nearby(s.Ack):
			// In answer to a segment that acknowledges nothing, it has the
			// sequence number 0 and the acknowledgement counts; else it is
			// made up.
			return
		}
	} else if e := &c.ends[side]; e.known && int32(s.Seq-e.isn) < 0 {
		return
	}
	c.event(side, Event{Kind: ResetSent, Seq: s.Seq, At: at})
	c.resets |= 1 << side
	c.over(EndReset, side, at)
}

// fin takes a FIN, which stands behind the payload of its segment.
func (c *Conn) fin(side Side, seq uint32, s *packet.Segment, at Stamp) {
	d := &c.dirs[side]
	if d.state == unplaced {
		d.begin(position(seq))
	}
	pos := d.position(seq) + uint64(s.Len)
	if pos < d.next {
		return // not where the octets end
	}
	if c.fins == 0 {
		c.first = side
	}
	c.fins |= 1 << side
	d.fin = pos
	c.event(side, Event{Kind: FinSent, Seq: seq + uint32(s.Len), At: at})
}

// window notes a window that closes or opens.
func (c *Conn) window(side Side, s *packet.Segment, at Stamp) {
	if s.Flags&(packet.SYN|packet.FIN) != 0 {
		return
	}
	e := &c.ends[side]
	if e.closed = s.Window == 0; e.closed {
		e.closedAt = at.Time
		c.event(side, Event{Kind: ZeroWindow, Seq: s.Seq, At: at})
	} else {
		c.event(side, Event{Kind: WindowOpen, Seq: s.Seq, Time: at.Time - e.closedAt, At: at})
	}
}
