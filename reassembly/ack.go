package reassembly

import "github.com/iwdump/iwdump/packet"

// acknowledge takes the acknowledgement of s, which the other side sent, for
// the octets of d.
func (d *direction) acknowledge(s *packet.Segment, at Stamp) {
	c := d.conn
	if d.state == unplaced {
		e := &c.ends[d.side]
		e.ack, e.acked = s.Ack, true
		return
	}
	pos := d.position(s.Ack)
	if pos <= d.ack {
		if pos == d.ack && s.Len == 0 && d.dups < 255 {
			d.dups++
		}
		return
	}
	if pos > max(d.high, d.next, d.ack)+maxJump {
		return // nothing is that far ahead
	}
	if pos > d.next && c.damaged(d.side.Other(), s) {
		return // it may be this number that is wrong
	}
	d.ack, d.dups = pos, 0
	pos = d.octets(pos)
	if d.state == placed {
		d.tell(min(pos, d.next), at)
	}
	if pos > d.next {
		d.waiting().pend(pos, at, c.count)
	}
}

// octets returns pos without the FIN, which takes one sequence number and is
// acknowledged like an octet.
func (d *direction) octets(pos uint64) uint64 {
	if d.fin != 0 && d.next <= d.fin {
		return min(pos, d.fin)
	}
	return pos
}

// tell tells that the other side acknowledged all below pos.
func (d *direction) tell(pos uint64, at Stamp) {
	if pos > d.told {
		d.told = pos
		if c := d.conn; c.stream != nil {
			c.stream.Ack(d.side.Other(), pos-d.base, at)
		}
	}
}

// tellPending tells the acknowledgements of what has come since.
func (d *direction) tellPending() {
	w := d.wait
	if d.state != placed || len(w.acks) == 0 {
		return
	}
	n := 0
	for n < len(w.acks) && d.octets(w.acks[n].pos) <= d.next {
		d.tell(d.octets(w.acks[n].pos), w.acks[n].Stamp)
		n++
	}
	if n < len(w.acks) { // of a part
		d.tell(d.next, w.acks[n].Stamp)
	}
	w.acks = append(w.acks[:0], w.acks[n:]...)
}
