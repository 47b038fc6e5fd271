package reassembly

import "github.com/iwdump/iwdump/packet"

// A Conn is one TCP connection as it was captured.
type Conn struct {
	Flow  packet.Flow // of side A
	Start Stamp       // of the first segment
	Last  Stamp       // of the last segment so far

	a      *Assembler
	stream Stream // nil before the first octet
	owner  Stream // who is told the end
	ends   [2]end
	dirs   *[2]direction // nil before the first octet, and where nobody wants them
	count  uint64        // segments
	order  uint64        // connections are numbered as they come
	hash   uint64
	looked int64 // when it was last looked at in its list, in ns

	fins    uint8 // a bit for each side that sent a FIN
	first   Side  // who sent the first FIN
	resets  uint8 // a bit for the side that ended it by an RST
	ignored bool
	stray   stray

	list       *connList
	prev, next *Conn
}

// end is what is known of one side without its octets.
type end struct {
	syn      bool   // its SYN was seen
	synAck   bool   // and acknowledged another
	known    bool   // isn is known, by the SYN or by the acknowledgement of it
	seen     bool   // it sent a segment
	acked    bool   // ack is set
	highSet  bool   // high is set
	learned  uint8  // segments that were verified unasked
	mss      uint16 // of the SYN
	wscale   int8
	isn      uint32
	ack      uint32 // what the other side acknowledged before a position was known
	high     uint32 // behind its last octet, of a connection that is over or ignored
	closedAt int64  // when its window closed
	closed   bool
	synAt    Stamp
	retries  []Stamp // of the SYN, not told yet
	sums     sums
}

// Counts says what came of one direction, in octets but for Segments. At the
// end of the connection Octets is what was handed on as Data, and Missing. Each
// payload octet of a captured segment is counted once: as handed on, in Cut, or
// in one of the counts behind it.
type Counts struct {
	Octets        uint64 // sequence numbers from the first seen to where it was handed on
	Missing       uint64 // of them, those that did not come
	Cut           uint64 // of those missing, what the capture cut off
	Retransmitted uint64 // came again; not part of Octets
	Duplicated    uint64 // came in packets that were captured twice
	Late          uint64 // came after it had been given up
	Early         uint64 // lies in front of offset 0
	Damaged       uint64 // came in segments that the receiver threw away
	Probes        uint64 // keep-alives
	Stray         uint64 // far from all that is expected, or left out by a limit
	Segments      uint64 // with payload
}

// Counts returns what came of a side so far. It is zero after the end, and
// after Ignore.
func (c *Conn) Counts(side Side) Counts {
	if c.dirs == nil {
		return Counts{}
	}
	return c.dirs[side].counts
}

// SYN tells whether the SYN of a side was seen, when, and the MSS it offers (0
// for none).
func (c *Conn) SYN(side Side) (seen bool, at Stamp, mss uint16) {
	e := &c.ends[side]
	return e.syn, e.synAt, e.mss
}

// ISN returns the initial sequence number of a side, where it is known.
func (c *Conn) ISN(side Side) (isn uint32, ok bool) { return c.ends[side].isn, c.ends[side].known }

// WindowScale returns the shift that the SYN of a side offers (RFC 7323,
// section 2.2), -1 for none.
func (c *Conn) WindowScale(side Side) int8 {
	if !c.ends[side].syn {
		return -1
	}
	return c.ends[side].wscale
}

// Opener returns the side that opened the connection, where a SYN tells.
func (c *Conn) Opener() (Side, bool) {
	for i := range c.ends {
		if e := &c.ends[i]; e.syn {
			if e.synAck {
				return Side(i).Other(), true
			}
			return Side(i), true
		}
	}
	return A, false
}

// Begins tells whether the first octet that a side hands on is the first of
// the connection.
func (c *Conn) Begins(side Side) bool { return c.ends[side].known }

// Ignore says that nothing but the end of the connection is of interest from
// now on. It may be called from the methods of its Stream.
func (c *Conn) Ignore() {
	c.ignored = true
	c.stream = ignored{}
}

// side tells which side sends f, if it is of this connection.
func (c *Conn) side(f *packet.Flow) (Side, bool) {
	if f.Src.Port == c.Flow.Src.Port && *f == c.Flow {
		return A, true
	}
	return B, f.Src == c.Flow.Dst && f.Dst == c.Flow.Src
}

// start asks for the stream.
func (c *Conn) start() {
	c.stream = c.a.open(c)
	if c.stream == nil {
		c.Ignore()
	} else {
		c.owner = c.stream
		if c.ignored { // by open
			c.stream = ignored{}
		}
	}
	for i := range c.ends {
		e := &c.ends[i]
		for _, at := range e.retries {
			c.retry(Side(i), at)
		}
		e.retries = nil
	}
}

func (c *Conn) event(side Side, e Event) {
	if c.stream != nil {
		c.a.event = e
		c.stream.Event(side, &c.a.event)
	}
}

// wake makes the directions, when there is something to put in order.
func (c *Conn) wake() {
	c.dirs = new([2]direction)
	for i := range c.dirs {
		d, e := &c.dirs[i], &c.ends[i]
		d.conn, d.side = c, Side(i)
		if e.known {
			d.begin(position(e.isn + 1))
		}
	}
	c.a.full.push(c)
	c.looked = c.Last.Time
}

// strip frees all that only the stream needs.
func (c *Conn) strip() {
	for i := range c.dirs {
		d := &c.dirs[i]
		if d.state != unplaced {
			c.ends[i].high, c.ends[i].highSet = uint32(max(d.next, d.high)), true
		}
		d.discard()
	}
	c.dirs = nil
}

// finish ends the connection and tells its stream. It stays in the table.
func (c *Conn) finish(kind EndKind, by Side, has bool, at Stamp) {
	if c.dirs != nil {
		for i := range c.dirs {
			c.dirs[i].finish(at)
		}
		if kind != EndReset && kind != EndReplaced && c.closed() {
			kind, by, has = EndClosed, c.first, true
		}
	}
	if c.owner != nil {
		e := &c.a.end
		*e = End{Kind: kind, By: by, HasBy: has, Fin: [2]bool{c.fins&1 != 0, c.fins&2 != 0}, At: c.Last}
		c.owner.End(e)
	}
	if c.dirs != nil {
		c.strip()
	}
	c.stream, c.owner = nil, nil
}

// closed tells whether both sides sent a FIN and all before it.
func (c *Conn) closed() bool {
	return c.fins == 3 && c.dirs[A].finished() && c.dirs[B].finished()
}

// looksClosed tells whether every side that was seen sent a FIN and all before
// it.
func (c *Conn) looksClosed() bool {
	if c.dirs == nil || c.fins == 0 {
		return false
	}
	for i := range c.dirs {
		if c.ends[i].seen && !c.dirs[i].finished() {
			return false
		}
	}
	return true
}

// settle does what the segment in hand, or the time, made due.
func (c *Conn) settle(at Stamp) {
	for i := range c.dirs {
		if d := &c.dirs[i]; d.wait != nil {
			d.settle(at)
		}
	}
	if c.fins == 0 {
		return
	}
	if c.closed() && c.dirs[A].finAcked() && c.dirs[B].finAcked() {
		c.over(EndClosed, c.first, at)
	} else if c.list != &c.a.closing && c.looksClosed() {
		c.looked = at.Time
		c.a.closing.push(c)
	}
}

// over ends the connection for good: what still comes of it is late.
func (c *Conn) over(kind EndKind, by Side, at Stamp) {
	c.finish(kind, by, true, at)
	c.a.bury(c)
}

// tick does what the time has made due.
func (c *Conn) tick(at Stamp) {
	if c.dirs != nil {
		c.settle(at)
		if c.list == &c.a.ended {
			return
		}
	}
	switch {
	case c.idle(at):
		c.finish(EndIdle, A, false, at)
		c.a.forget(c)
	case c.list != &c.a.closing || at.Time-c.looked < closingTime:
	case c.looksClosed():
		c.over(EndClosed, c.first, at)
	default:
		c.looked = c.Last.Time
		c.a.full.push(c)
	}
}

func (c *Conn) idle(at Stamp) bool {
	t := c.a.config.IdleTimeout
	return t > 0 && at.Time-c.Last.Time >= t
}
