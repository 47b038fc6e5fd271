package reassembly

import (
	"cmp"
	"slices"

	"github.com/iwdump/iwdump/packet"
)

// Config limits an Assembler. Its zero value has the defaults.
type Config struct {
	// Hasher finds connections, a new one where it is zero. Several Assemblers
	// that share the load can have the one that spreads it.
	Hasher Hasher
	// MaxHeld is how many octets are held out of order for one direction, with
	// an overhead for each run of them, 0 for 4 MiB. Above it the first hole is
	// given up.
	MaxHeld int
	// MaxHeldTotal is the same for all directions together, 0 for 64 MiB. Above
	// it who has held for longest gives up.
	MaxHeldTotal int
	// HoleTimeout is how long, in ns of the capture, a hole is waited for
	// without progress, 0 for 10 s.
	HoleTimeout int64
	// IdleTimeout is how long, in ns of the capture, a connection may be idle
	// before Tick ends it, 0 for ever: the limit is then MaxConns.
	IdleTimeout int64
	// MaxConns is how many connections are open at once, 0 for a million.
	// Above it one that has been idle for long is ended.
	MaxConns int
	// MaxHalfOpen is how many of them have carried no octet yet, 0 for 65,536.
	// Above it the oldest of these is forgotten.
	MaxHalfOpen int
}

const (
	// maxEnded is how many connections that ended are remembered, so that what
	// still comes of them is not taken for new ones, and endedTime for how long
	// in ns.
	maxEnded  = 1 << 13
	endedTime = 120e9
	// closingTime is how long, in ns, a connection that looks closed waits for
	// the last acknowledgement, or for a side that was not seen.
	closingTime = 10e9
)

// An Assembler puts the segments of many connections in order. It is for one
// goroutine. Several can share the load, if all segments of a connection go to
// the same one (see Hasher).
type Assembler struct {
	config Config
	open   func(*Conn) Stream
	table  table
	last   *Conn // of the last segment

	half    connList // nothing carried yet, in order of their beginning
	full    connList // oldest or least lately looked at first
	closing connList // in order of entry
	ended   connList // in order of their end

	waiting waitList // directions that hold something, in that order
	held    int      // cost of all that is held
	buffers buffers
	pages   pagePool
	waits   []*wait // for later
	recent  recent

	checksum func(*packet.Segment) packet.Sum
	verdict  verdict // on the segment in hand
	count    uint64
	batch    []*Conn

	// What streams are handed, so that no call allocates.
	chunk Chunk
	gap   Gap
	event Event
	end   End
}

// New returns an Assembler that asks open for the Stream of each connection,
// when it carries its first octet. Where open returns nil, the connection is
// only watched for its end.
func New(c Config, open func(*Conn) Stream) *Assembler {
	if c.Hasher == (Hasher{}) {
		c.Hasher = NewHasher()
	}
	c.MaxHeld = orDefault(c.MaxHeld, 4<<20)
	c.MaxHeldTotal = orDefault(c.MaxHeldTotal, 64<<20)
	c.HoleTimeout = orDefault(c.HoleTimeout, 10e9)
	c.MaxConns = orDefault(c.MaxConns, 1<<20)
	c.MaxHalfOpen = orDefault(c.MaxHalfOpen, 1<<16)
	return &Assembler{config: c, open: open, checksum: (*packet.Segment).Checksum}
}

func orDefault[T int | int64](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

// Connections returns how many connections there were, those without a payload
// included.
func (a *Assembler) Connections() uint64 { return a.count }

// Open returns how many connections are open, and how many of them have carried
// nothing yet.
func (a *Assembler) Open() (all, half int) {
	return a.half.n + a.full.n + a.closing.n, a.half.n
}

// Held returns how many octets are held out of order, with the overhead that
// counts against the limits.
func (a *Assembler) Held() int { return a.held }

// Expire tells that a new block of the capture begins, and that the memory of
// the last but one is no longer valid. Payloads must stay valid until then, and
// are compared with retransmissions. A caller that never calls Expire promises
// nothing beyond the call of Segment: then only what is held is compared. Like
// Tick, it is to be called at the same frames for all Assemblers that share the
// load.
func (a *Assembler) Expire() { a.recent.expire() }

// Segment takes the next segment of the capture.
func (a *Assembler) Segment(s *packet.Segment, at Stamp) {
	a.verdict = verdictNone
	c, side := a.find(&s.Flow)
	switch {
	case c == nil:
		c, side = a.connect(s, at), A
	case c.list == &a.ended:
		if !c.revives(side, s, at) {
			return
		}
		a.forget(c)
		c, side = a.connect(s, at), A
	}
	if c.segment(side, s, at) {
		return
	}
	// It belongs to another connection between the same endpoints.
	c.finish(EndReplaced, side, true, at)
	a.forget(c)
	a.connect(s, at).segment(A, s, at)
}

// find returns the connection that f is a direction of, and which, or nil.
func (a *Assembler) find(f *packet.Flow) (*Conn, Side) {
	if c := a.last; c != nil {
		if side, ok := c.side(f); ok {
			return c, side
		}
	}
	c, side := a.table.find(a.config.Hasher.Hash(f), f)
	if c != nil {
		a.last = c
	}
	return c, side
}

// connect makes a connection whose side A sent s.
func (a *Assembler) connect(s *packet.Segment, at Stamp) *Conn {
	for all, half := a.Open(); half > 0 && half >= a.config.MaxHalfOpen || all >= a.config.MaxConns; all, half = a.Open() {
		a.evict(at)
	}
	c := &Conn{Flow: s.Flow, Start: at, Last: at, a: a, order: a.count, hash: a.config.Hasher.Hash(&s.Flow), looked: at.Time}
	a.count++
	a.table.insert(c)
	a.half.push(c)
	a.last = c
	return c
}

// evict ends one connection to make room: the oldest that has carried nothing,
// or that looks closed, or else one that has been idle for long. The list is
// gone round like a clock: who had a segment since he was looked at last gets
// another turn.
func (a *Assembler) evict(at Stamp) {
	c := a.half.head
	if c == nil {
		c = a.closing.head
	}
	for c == nil {
		if h := a.full.head; h.looked == h.Last.Time {
			c = h
		} else {
			h.looked = h.Last.Time
			a.full.push(h)
		}
	}
	c.finish(EndEvicted, A, false, at)
	a.forget(c)
}

// forget takes c out of the table, as if it had never been.
func (a *Assembler) forget(c *Conn) {
	if c.list != nil {
		c.list.remove(c)
	}
	a.table.remove(c)
	if a.last == c {
		a.last = nil
	}
}

// bury keeps a connection that is over for a while.
func (a *Assembler) bury(c *Conn) {
	a.ended.push(c)
	if a.ended.n > maxEnded {
		a.forget(a.ended.head)
	}
}

// Tick tells the time of the capture. Holes and connections that have waited
// too long are given up, in the order in which the connections began. To be
// called about once a second; for output that does not depend on how
// connections are spread over several Assemblers, at the same frames for all.
func (a *Assembler) Tick(at Stamp) {
	batch := a.batch[:0]
	for w := a.waiting.head; w != nil; w = w.next {
		batch = append(batch, w.dir.conn)
	}
	for c := a.closing.head; c != nil && at.Time-c.looked >= closingTime; c = c.next {
		batch = append(batch, c)
	}
	if a.config.IdleTimeout > 0 {
		batch = a.idle(&a.half, at, batch)
		batch = a.idle(&a.full, at, batch)
	}
	slices.SortFunc(batch, byOrder)
	batch = slices.Compact(batch)
	for _, c := range batch {
		c.tick(at)
	}
	clear(batch)
	a.batch = batch
}

// idle appends the connections of a list that have been idle for too long.
func (a *Assembler) idle(l *connList, at Stamp, batch []*Conn) []*Conn {
	for n := l.n; n > 0 && at.Time-l.head.looked >= a.config.IdleTimeout; n-- {
		c := l.head
		if c.idle(at) {
			batch = append(batch, c)
		}
		c.looked = c.Last.Time
		l.push(c)
	}
	return batch
}

func byOrder(c, d *Conn) int { return cmp.Compare(c.order, d.order) }

// Flush ends all connections, in the order in which they began.
func (a *Assembler) Flush() {
	var all []*Conn
	for _, l := range []*connList{&a.half, &a.full, &a.closing} {
		for c := l.head; c != nil; c = c.next {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, byOrder)
	for _, c := range all {
		c.finish(EndOpen, c.first, c.fins != 0, c.Last)
	}
	a.table, a.last = table{}, nil
	a.half, a.full, a.closing, a.ended = connList{}, connList{}, connList{}, connList{}
	a.recent.forget()
}
