package reassembly

import (
	"cmp"
	"slices"

	"github.com/iwdump/iwdump/packet"
)

// Config limits an Assembler. Its zero value has the defaults.
type Config struct {
	// MaxHeld is how many octets are held out of order for one direction, 0
	// for 4 MiB. Above it the first hole is given up.
	MaxHeld int
	// MaxHeldTotal is the same for all directions together, 0 for 32 MiB.
	MaxHeldTotal int
	// HoleTimeout is how long, in ns of the capture, a hole is waited for
	// where the peer's ACKs are not seen, 0 for 2 s.
	HoleTimeout int64
	// IdleTimeout is how long, in ns of the capture, a connection may be idle
	// before it is ended, 0 for ever.
	IdleTimeout int64
	// MaxConns is how many connections are open at once, 0 for a million.
	// Above it the oldest is ended.
	MaxConns int
}

// tombs is how many connections that ended are remembered, so that what still
// comes of them is not taken for new ones.
const tombs = 4096

// An Assembler puts the segments of many connections in order. It is for one
// goroutine.
type Assembler struct {
	config  Config
	open    func(*Conn) Stream
	conns   map[packet.Flow]entry
	last    entry // of the last segment
	count   uint64
	tombs   []*Conn
	ntombs  int
	waiting []*Conn // those with holes, some of them
	held    int     // octets in all stores

	generation uint64
	chunk      Chunk
	gap        Gap
	event      Event
}

// entry is what the table holds for each direction.
type entry struct {
	c    *Conn
	side Side
}

// New returns an Assembler that asks open for the Stream of each connection.
func New(c Config, open func(*Conn) Stream) *Assembler {
	if c.MaxHeld <= 0 {
		c.MaxHeld = 4 << 20
	}
	if c.MaxHeldTotal <= 0 {
		c.MaxHeldTotal = 32 << 20
	}
	if c.HoleTimeout <= 0 {
		c.HoleTimeout = 2e9
	}
	if c.MaxConns <= 0 {
		c.MaxConns = 1 << 20
	}
	return &Assembler{config: c, open: open, conns: make(map[packet.Flow]entry)}
}

// Connections returns how many connections there were.
func (a *Assembler) Connections() uint64 { return a.count }

// Expire tells that a new block of the capture begins, and that the memory of
// the last but one is no longer valid. Payloads must stay valid until then.
func (a *Assembler) Expire() {
	a.generation++
}

// Segment takes the next segment of the capture.
func (a *Assembler) Segment(s *packet.Segment, at Stamp) {
	e := a.last
	if e.c == nil || e.c.flow(e.side) != s.Flow {
		var ok bool
		if e, ok = a.conns[s.Flow]; !ok {
			e = a.connect(s, at)
		}
		a.last = e
	}
	if s.Flags&packet.SYN != 0 {
		if d := &e.c.dirs[e.side]; e.c.dead || s.Flags&packet.ACK == 0 && d.started && (!d.syn || d.base != s.Seq+1) {
			if d.syn && d.base == s.Seq+1 {
				return // of the connection that ended
			}
			e.c.end(EndReplaced, 0, false)
			e = a.connect(s, at)
			a.last = e
		}
	}
	if e.c.dead {
		return
	}
	e.c.segment(e.side, s, at)
}

// flow returns the flow of a side.
func (c *Conn) flow(side Side) packet.Flow {
	if side == A {
		return c.Flow
	}
	return c.Flow.Reverse()
}

// connect makes a connection whose side A sent s.
func (a *Assembler) connect(s *packet.Segment, at Stamp) entry {
	c := &Conn{Flow: s.Flow, Start: at, Last: at, a: a, order: a.count}
	a.count++
	a.conns[s.Flow] = entry{c, A}
	a.conns[s.Flow.Reverse()] = entry{c, B}
	c.stream = a.open(c)
	if len(a.conns) > 2*a.config.MaxConns {
		a.evict()
	}
	return entry{c, A}
}

// evict ends the oldest connections, a sixteenth of all at once, so that the
// search for them is paid by as many new ones.
func (a *Assembler) evict() {
	all := a.all()
	slices.SortFunc(all, func(x, y *Conn) int {
		return cmp.Or(cmp.Compare(x.Last.Frame, y.Last.Frame), cmp.Compare(x.order, y.order))
	})
	for _, c := range all[:max(1, len(all)/16)] {
		c.end(EndIdle, 0, false)
		a.forget(c)
	}
}

// all returns the connections that are open.
func (a *Assembler) all() []*Conn {
	var all []*Conn
	for _, e := range a.conns {
		if e.side == A && !e.c.dead {
			all = append(all, e.c)
		}
	}
	return all
}

func byOrder(x, y *Conn) int { return cmp.Compare(x.order, y.order) }

// await notes that c has a hole.
func (a *Assembler) await(c *Conn) {
	if !c.wait {
		c.wait = true
		a.waiting = append(a.waiting, c)
	}
}

// Tick tells the time of the capture. Holes and connections that have waited
// too long are given up. To be called about once a second.
func (a *Assembler) Tick(at Stamp) {
	if len(a.waiting) > 0 {
		slices.SortFunc(a.waiting, byOrder)
		keep := a.waiting[:0]
		for _, c := range a.waiting {
			if c.tick(at) {
				keep = append(keep, c)
			} else {
				c.wait = false
			}
		}
		clear(a.waiting[len(keep):])
		a.waiting = keep
	}
	if a.config.IdleTimeout > 0 {
		all := a.all()
		slices.SortFunc(all, byOrder)
		for _, c := range all {
			if at.Time-c.Last.Time > a.config.IdleTimeout {
				c.end(EndIdle, 0, false)
			}
		}
	}
}

// tick gives up holes that are too old, and says whether some are left.
func (c *Conn) tick(at Stamp) bool {
	left := false
	for i := range c.dirs {
		d := &c.dirs[i]
		for len(d.held) > 0 && !c.dead && at.Time-d.held[0].at.Time > c.a.config.HoleTimeout {
			c.giveUp(Side(i), d, d.held[0].off, GapNever, at)
		}
		left = left || len(d.held) > 0
	}
	return left && !c.dead
}

// ended keeps a connection that is over for a while.
func (a *Assembler) ended(c *Conn) {
	for i := range c.dirs {
		d := &c.dirs[i]
		a.held -= d.heldBytes
		d.held, d.heldBytes, d.recent, d.nrecent = nil, 0, nil, 0
	}
	c.stream = nil
	if len(a.tombs) < tombs {
		a.tombs = append(a.tombs, c)
		return
	}
	i := a.ntombs % tombs
	a.ntombs++
	a.forget(a.tombs[i])
	a.tombs[i] = c
}

// forget takes a connection out of the table, if it is still in it.
func (a *Assembler) forget(c *Conn) {
	if a.conns[c.Flow].c == c {
		delete(a.conns, c.Flow)
		delete(a.conns, c.Flow.Reverse())
	} else if e := a.conns[c.Flow.Reverse()]; e.c == c {
		delete(a.conns, c.Flow)
		delete(a.conns, c.Flow.Reverse())
	}
	if a.last.c == c {
		a.last = entry{}
	}
}

// Flush ends all connections, in the order in which they began.
func (a *Assembler) Flush() {
	all := a.all()
	slices.SortFunc(all, byOrder)
	for _, c := range all {
		c.end(EndOpen, c.first, c.fins > 0)
	}
}
