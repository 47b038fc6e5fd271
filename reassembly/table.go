package reassembly

import (
	"math/bits"

	"github.com/iwdump/iwdump/packet"
)

// table finds connections by their endpoints: open addressing with linear
// probing, at most half full.
type table struct {
	slots []slot // a power of two of them
	n     int
	shift uint8 // of a hash down to an index
}

type slot struct {
	hash uint64
	conn *Conn // nil where the slot is free
}

const minSlots = 64

// find returns the connection that f is a direction of, and which, or nil.
func (t *table) find(hash uint64, f *packet.Flow) (*Conn, Side) {
	if t.n == 0 {
		return nil, A
	}
	mask := uint64(len(t.slots) - 1)
	for i := hash >> t.shift; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.conn == nil {
			return nil, A
		}
		if s.hash == hash {
			if side, ok := s.conn.side(f); ok {
				return s.conn, side
			}
		}
	}
}

// insert adds c, which must not be there.
func (t *table) insert(c *Conn) {
	if 2*(t.n+1) > len(t.slots) {
		t.grow()
	}
	t.place(slot{c.hash, c})
	t.n++
}

func (t *table) place(s slot) {
	mask := uint64(len(t.slots) - 1)
	i := s.hash >> t.shift
	for t.slots[i].conn != nil {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, max(minSlots, 2*len(old)))
	t.shift = uint8(64 - bits.TrailingZeros(uint(len(t.slots))))
	for _, s := range old {
		if s.conn != nil {
			t.place(s)
		}
	}
}

// remove takes c out, which must be there, and closes the probe chains over
// its slot.
func (t *table) remove(c *Conn) {
	mask := uint64(len(t.slots) - 1)
	i := c.hash >> t.shift
	for t.slots[i].conn != c {
		i = (i + 1) & mask
	}
	for j := (i + 1) & mask; t.slots[j].conn != nil; j = (j + 1) & mask {
		home := t.slots[j].hash >> t.shift
		if (j-home)&mask >= (j-i)&mask { // its chain runs over the free slot
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = slot{}
	t.n--
}
