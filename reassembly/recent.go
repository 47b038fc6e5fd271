package reassembly

import (
	"bytes"

	"github.com/iwdump/iwdump/packet"
)

// recent remembers the segments that were delivered since the call of Expire
// before the last, of all connections, without copying them. Segments of one
// direction are chained, the latest first. It holds all of them, and so what is
// known of a connection does not depend on how busy others are. It is empty
// unless Expire is called.
type recent struct {
	ring  []delivered // by number modulo its length, a power of two
	next  uint64      // number of the next one; the first is 1
	block uint64      // number of the first one of the current block
	floor uint64      // number of the oldest that is remembered
}

type delivered struct {
	data []byte
	off  uint64 // position of data[0]
	prev uint64 // number of the one before it in this direction
	Stamp
	mark mark
}

const (
	minRecent = 1 << 10
	// maxRecent bounds the memory for blocks of very many small segments, to
	// 4 MiB. What was delivered before that is forgotten early.
	maxRecent = 1 << 16
	// maxCompared bounds how far a segment is compared back.
	maxCompared = 64
)

func (r *recent) at(number uint64) *delivered { return &r.ring[number&uint64(len(r.ring)-1)] }

// expire forgets what came before the current block, and begins another.
func (r *recent) expire() {
	if r.ring == nil {
		r.ring = make([]delivered, minRecent)
		r.next, r.block, r.floor = 1, 1, 1
		return
	}
	for ; r.floor < r.block; r.floor++ {
		*r.at(r.floor) = delivered{} // so as not to pin its memory
	}
	r.block = r.next
}

// forget forgets all.
func (r *recent) forget() {
	clear(r.ring)
	r.block, r.floor = r.next, r.next
}

// add remembers data, which d delivered from s.
func (r *recent) add(d *direction, data []byte, off uint64, s *packet.Segment, at Stamp) {
	if n := uint64(len(r.ring)); r.next-r.floor == n {
		if n < maxRecent {
			r.grow()
		} else {
			r.floor++
		}
	}
	e := r.at(r.next)
	e.data, e.off, e.prev, e.Stamp, e.mark = data, off, d.recent, at, markOf(s)
	d.recent = r.next
	r.next++
}

// grow doubles the ring.
func (r *recent) grow() {
	old := *r
	r.ring = make([]delivered, 2*len(old.ring))
	for k := r.floor; k < r.next; k++ {
		*r.at(k) = *old.at(k)
	}
}

// A comparison is what is known of octets that came again.
type comparison struct {
	first   Stamp // of the first copy, zero where it is not remembered
	differs bool
	off     uint64 // of the first difference, where differs
	n       uint64 // octets from there to the last difference known
	same    bool   // it is the same packet, captured twice
}

// differ notes that octets [off, off+n) differ.
func (c *comparison) differ(off, n uint64) {
	if !c.differs {
		c.differs, c.off, c.n = true, off, n
		return
	}
	lo, hi := min(c.off, off), max(c.off+c.n, off+n)
	c.off, c.n = lo, hi-lo
}

// compare compares data, which s brought for position off, with what d
// delivered lately.
func (r *recent) compare(d *direction, data []byte, off uint64, s *packet.Segment, at Stamp) (c comparison) {
	if r.ring == nil {
		return c
	}
	end := off + uint64(len(data))
	k := d.recent
	for range maxCompared {
		if k < r.floor {
			return c
		}
		e := r.at(k)
		k = e.prev
		eEnd := e.off + uint64(len(e.data))
		if eEnd <= off {
			return c
		}
		lo, hi := max(off, e.off), min(end, eEnd)
		if lo >= hi {
			continue
		}
		c.first = e.Stamp
		if p, q, ok := difference(data[lo-off:hi-off], e.data[lo-e.off:hi-e.off]); ok {
			c.differ(lo+p, q-p)
		}
		if e.off == off && eEnd == end && s.Len == len(e.data) {
			c.same = !c.differs && e.mark.same(markOf(s), at.Time-e.Time)
		}
	}
	return c
}

// difference returns the range [lo, hi) that a and b, of equal length, differ
// in, if they do.
func difference(a, b []byte) (lo, hi uint64, ok bool) {
	if bytes.Equal(a, b) {
		return 0, 0, false
	}
	i, j := 0, len(a)
	for a[i] == b[i] {
		i++
	}
	for a[j-1] == b[j-1] {
		j--
	}
	return uint64(i), uint64(j), true
}
