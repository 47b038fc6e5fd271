package save

import (
	"bytes"
	"container/list"
	"net/netip"
	"sync"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/packet"
)

// Limits of what is held until it is known whether it is iWARP.
const (
	maxHeldConn  = 4 << 20  // octets of one connection
	maxHeld      = 64 << 20 // octets of all
	maxConns     = 1 << 16  // connections that are told apart
	frameCost    = 128      // what a frame costs beyond its octets
	maxFoundWait = 1 << 16  // connections found, but not settled yet
)

// ends are the ends of a connection, the lower first.
type ends [2]netip.AddrPort

func endsOf(a, b netip.AddrPort) ends {
	if a.Compare(b) > 0 {
		a, b = b, a
	}
	return ends{a, b}
}

// A verdict says what a connection is.
type verdict uint8

const (
	unknown verdict = iota
	isIWARP
	isOther
)

// A conn is a connection of which frames came.
type conn struct {
	ends    ends
	verdict verdict
	frames  []capture.Frame
	cost    int
	list    *list.List // that it is in: undecided or decided
	place   *list.Element
}

// A hold holds the first frames of each connection back until it is known
// what the connection is.
type hold struct {
	write func(*capture.Frame)
	dec   packet.Decoder
	seg   packet.Segment
	conns map[ends]*conn
	cost  int
	// The connections, oldest first.
	undecided, decided list.List

	mu    sync.Mutex
	found []ends
}

func newHold(write func(*capture.Frame)) *hold {
	return &hold{write: write, conns: map[ends]*conn{}}
}

// Found tells that a connection is iWARP. It may be called by any goroutine.
func (w *Writer) Found(a, b netip.AddrPort) {
	if h := w.hold; h != nil {
		h.mu.Lock()
		if len(h.found) < maxFoundWait {
			h.found = append(h.found, endsOf(a, b))
		}
		h.mu.Unlock()
	}
}

// settle writes what was held of the connections that were found.
func (h *hold) settle() {
	h.mu.Lock()
	found := h.found
	h.found = nil
	h.mu.Unlock()
	for _, e := range found {
		c := h.conns[e]
		if c == nil {
			c = h.add(e)
		}
		for i := range c.frames {
			h.write(&c.frames[i])
		}
		h.decide(c, isIWARP)
	}
}

func (h *hold) add(e ends) *conn {
	if len(h.conns) >= maxConns {
		from := &h.decided
		if from.Len() == 0 {
			from = &h.undecided
		}
		h.forget(from.Front().Value.(*conn))
	}
	c := &conn{ends: e, list: &h.undecided}
	c.place = c.list.PushBack(c)
	h.conns[e] = c
	return c
}

func (h *hold) forget(c *conn) {
	h.drop(c)
	c.list.Remove(c.place)
	delete(h.conns, c.ends)
}

// drop frees what is held of a connection.
func (h *hold) drop(c *conn) {
	h.cost -= c.cost
	c.frames, c.cost = nil, 0
}

// decide says what a connection is. What is held of it is dropped.
func (h *hold) decide(c *conn, v verdict) {
	h.drop(c)
	c.verdict = v
	c.list.Remove(c.place)
	c.list = &h.decided
	c.place = c.list.PushBack(c)
}

// frame takes a frame.
func (h *hold) frame(f *capture.Frame) {
	if h.dec.Decode(f, &h.seg) != packet.TCP {
		return
	}
	e := endsOf(h.seg.Flow.Src.AddrPort(), h.seg.Flow.Dst.AddrPort())
	c := h.conns[e]
	switch {
	case c == nil:
		c = h.add(e)
	case h.seg.Flags&(packet.SYN|packet.ACK) == packet.SYN && c.verdict != unknown:
		// Another connection between the same ends. It goes to the back.
		h.forget(c)
		c = h.add(e)
	}
	switch c.verdict {
	case isIWARP:
		h.write(f)
		return
	case isOther:
		return
	}
	kept := *f
	kept.Data = bytes.Clone(f.Data)
	c.frames = append(c.frames, kept)
	c.cost += len(f.Data) + frameCost
	h.cost += len(f.Data) + frameCost
	if c.cost > maxHeldConn {
		h.decide(c, isOther)
	}
	for h.cost > maxHeld {
		h.decide(h.undecided.Front().Value.(*conn), isOther)
	}
}
