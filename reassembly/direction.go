package reassembly

import "github.com/iwdump/iwdump/packet"

// state says what is known of where a direction begins.
type state uint8

const (
	unplaced state = iota // nothing
	starting              // octets are held, always some, but others may precede them
	placed                // base is known
)

// A direction is what one side sends. Positions are sequence numbers made 64
// bits wide, so that their wrap does not matter.
type direction struct {
	conn *Conn
	side Side

	state state
	dups  uint8 // acknowledgements that repeat ack

	base uint64 // of offset 0
	next uint64 // of the next octet to hand on; while starting, the lowest that is taken
	high uint64 // behind the highest octet that came
	ack  uint64 // all below was acknowledged by the other side
	told uint64 // all below was told to be
	fin  uint64 // of the FIN, 0 where none was seen

	gapFrom, gapTo       uint64 // the last gap that the capture did not cut
	thrownFrom, thrownTo uint64 // octets that last came in segments that were thrown away
	recent               uint64 // the last segment in recent

	wait    *wait    // nil while nothing is missing
	repeats *repeats // nil while nothing came again
	counts  Counts
}

const (
	// startSpan is how far in front of the first octets that are seen others
	// may lie that were sent before them.
	startSpan = 1 << 20
	// resetSpan is how far ahead of what was seen an RST may lie: the capture
	// may lack what is between.
	resetSpan = 1 << 20
	// ackSpan is how far behind the last acknowledgement one may lie that an
	// RST answers.
	ackSpan = 1 << 16
)

// position returns the position of a sequence number of a direction of which
// nothing is known. All positions are far from zero.
func position(seq uint32) uint64 { return 1<<32 | uint64(seq) }

// position returns the position of a sequence number near those expected.
func (d *direction) position(seq uint32) uint64 {
	return d.next + uint64(int64(int32(seq-uint32(d.next))))
}

// far tells whether a sequence number is too far from what is expected.
func (d *direction) far(seq uint32) bool {
	return absolute(int32(seq-uint32(d.next))) > maxJump
}

// nearby tells whether an RST may have a sequence number.
func (d *direction) nearby(seq uint32) bool {
	p := d.position(seq)
	return p+ackSpan >= min(d.ack, d.next) && p <= max(d.high, d.next, d.ack)+resetSpan
}

// precede tells whether the direction may begin with seq although octets of it
// were seen.
func (d *direction) precede(seq uint32) bool {
	if d.state == placed {
		return uint32(d.base) == seq
	}
	p := d.position(seq)
	return p >= d.next && p <= d.wait.store.first().off
}

// begin makes pos the position of offset 0.
func (d *direction) begin(pos uint64) {
	d.state = placed
	d.base, d.next, d.told = pos, pos, pos
	d.ack, d.high = max(d.ack, pos), max(d.high, pos)
}

// finished tells whether all up to the FIN was handed on.
func (d *direction) finished() bool { return d.state == placed && d.fin != 0 && d.next >= d.fin }

// finAcked tells whether the other side acknowledged the FIN.
func (d *direction) finAcked() bool { return d.ack > d.fin }

// inOrder takes a segment that continues the direction and was captured whole.
// It returns false where the receiver threw it away.
func (d *direction) inOrder(s *packet.Segment, at Stamp) bool {
	d.counts.Segments++
	return d.deliver(s.Payload, at, false, s)
}

// deliver hands on octets that are in order, of s or, where that is nil, from
// the store. It returns false where not all were accepted.
func (d *direction) deliver(data []byte, at Stamp, again bool, s *packet.Segment) bool {
	c := d.conn
	a := c.a
	k := &a.chunk
	// Field by field: a composite literal is made elsewhere, then copied.
	k.Data, k.Off, k.Seq, k.Stamp, k.Retransmitted, k.dir, k.seg = data, d.next-d.base, uint32(d.next), at, again, d, s
	n := min(max(c.stream.Data(d.side, k), 0), len(data))
	if n > 0 && s != nil && a.recent.ring != nil {
		a.recent.add(d, data[:n], d.next, s, at)
	}
	d.next += uint64(n)
	d.counts.Octets += uint64(n)
	d.high = max(d.high, d.next)
	if n == len(data) {
		return true
	}
	lost := uint64(len(data) - n)
	d.high = max(d.high, d.next+lost)
	d.threw(d.next, d.next+lost)
	c.event(d.side, Event{Kind: Dropped, Seq: uint32(d.next), Len: lost, At: at})
	return false
}

// threw notes that octets [from, to) came in a segment that its receiver threw
// away.
func (d *direction) threw(from, to uint64) {
	if d.thrownTo != from {
		d.thrownFrom = from
	}
	d.thrownTo = to
	d.counts.Damaged += to - from
}

// gap hands on n octets that are missing.
func (d *direction) gap(n uint64, cause GapCause, at Stamp) {
	c := d.conn
	if c.stream == nil {
		c.start()
	}
	g := &c.a.gap
	*g = Gap{Off: d.next - d.base, Seq: uint32(d.next), Len: n, Cause: cause, Stamp: at}
	if cause == GapCut {
		d.counts.Cut += n
	} else {
		if d.gapTo != d.next {
			d.gapFrom = d.next
		}
		d.gapTo = d.next + n
	}
	d.next += n
	d.high = max(d.high, d.next)
	d.counts.Octets += n
	d.counts.Missing += n
	c.stream.Gap(d.side, g)
}

// finish hands on what is held and the holes between, and what was acknowledged
// or seen behind that.
func (d *direction) finish(at Stamp) {
	if d.state == unplaced {
		return
	}
	for d.wait != nil && d.wait.store.n > 0 {
		cause := GapNever
		if d.ack >= d.wait.store.first().off {
			cause = GapLost
		}
		d.giveUp(cause, at)
	}
	acked := d.octets(d.ack)
	if d.fin == 0 && acked == d.next+1 {
		acked-- // most likely of a FIN that was not captured
	}
	if acked > d.next {
		d.gap(acked-d.next, GapLost, at)
	}
	if top := max(d.high, d.octets(d.fin)); top > d.next {
		d.gap(top-d.next, GapNever, at)
	}
	if d.wait != nil {
		d.tellPending()
	}
}
