package reassembly

import "github.com/iwdump/iwdump/packet"

// maxJump is how far sequence numbers may lie from what is expected and still
// be of this connection: the largest window (RFC 7323, section 2.3).
const maxJump = 1 << 30

// stray notes segments that are further away than that. Some in a row that
// follow one another are a new connection whose SYN was not captured.
type stray struct {
	next uint32 // behind the last one
	n    uint8
	side Side
}

const (
	strayRun  = 3
	straySpan = 1 << 20 // how far apart those that follow one another may be
)

// add notes a stray segment and tells whether there were enough.
func (t *stray) add(side Side, seq uint32, n int) bool {
	if t.n == 0 || t.side != side || absolute(int32(seq-t.next)) > straySpan {
		t.n = 0
	}
	t.side, t.next = side, seq+uint32(n)
	t.n++
	return t.n >= strayRun
}

func absolute(d int32) int64 { return max(int64(d), -int64(d)) }

// astray takes a segment whose sequence number is far from the connection's. It
// returns false where it begins another connection.
func (c *Conn) astray(side Side, s *packet.Segment, seq uint32) bool {
	if s.Len == 0 || c.damaged(side, s) {
		return true
	}
	o := &c.dirs[side.Other()]
	if s.Flags&packet.ACK != 0 && o.state == placed && o.far(s.Ack) {
		return false // neither number fits
	}
	if c.stray.add(side, seq, s.Len) {
		return false
	}
	c.dirs[side].counts.Stray += uint64(s.Len)
	return true
}

// skim takes a segment of a connection that nobody wants: only its end matters,
// or that another one takes its place.
func (c *Conn) skim(side Side, s *packet.Segment, seq uint32, at Stamp) bool {
	if c.dirs != nil {
		c.strip()
	}
	e := &c.ends[side]
	end := seq + uint32(s.Len)
	if e.highSet && s.Flags&(packet.SYN|packet.RST) == 0 && absolute(int32(seq-e.high)) > maxJump {
		return s.Len == 0 || !c.stray.add(side, seq, s.Len)
	}
	c.Last = at
	c.count++
	if s.Flags&packet.RST != 0 {
		if !e.highSet || absolute(int32(s.Seq-e.high)) <= resetSpan {
			c.resets |= 1 << side
			c.over(EndReset, side, at)
		}
		return true
	}
	if !e.highSet || int32(end-e.high) > 0 {
		e.high, e.highSet = end, true
	}
	if s.Flags&packet.FIN != 0 {
		if c.fins == 0 {
			c.first = side
		}
		c.fins |= 1 << side
		if c.fins == 3 {
			c.over(EndClosed, c.first, at)
		}
	}
	return true
}

// lateSpan is how near to the last octets of a connection that is over a
// segment lies that is still of it.
const lateSpan = 1 << 24

// revives tells whether a segment between the endpoints of a connection that is
// over begins a new one.
func (c *Conn) revives(side Side, s *packet.Segment, at Stamp) bool {
	e := &c.ends[side]
	if s.Flags&packet.SYN != 0 {
		return !e.known || e.isn != s.Seq
	}
	if s.Flags&packet.RST != 0 || s.Len == 0 {
		return false
	}
	if at.Time-c.Last.Time > endedTime {
		return true
	}
	if !e.highSet {
		return false
	}
	ahead := int32(s.Seq + uint32(s.Len) - e.high)
	// Who has sent an RST has forgotten the connection. If he sends more, the
	// RST was not his.
	return absolute(ahead) > lateSpan || ahead > 0 && c.resets&(1<<side) != 0
}
