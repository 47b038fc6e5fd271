package reassembly

// A wait is what a direction keeps while something is missing: what came ahead
// of its turn, and the acknowledgements of what has not come.
type wait struct {
	dir      *direction
	store    store
	acks     []pendingAck // of positions behind direction.next, ascending
	progress int64        // when a hole was last filled, in ns

	listed     bool
	prev, next *wait
}

// A pendingAck is an acknowledgement that came ahead of what it is for.
type pendingAck struct {
	pos   uint64
	count uint64 // Conn.count then
	Stamp
}

const (
	// maxPending is how many acknowledgements wait at once. More are taken for
	// one.
	maxPending = 32
	// patience is how many segments of a connection may come between an
	// acknowledgement and what it is for, or how much time in ns: captures do
	// not keep the order between the directions.
	patience     = 16
	patienceTime = 10e6
	// A direction whose peer is never seen waits for holes at least until
	// aloneSegments are held and for aloneTime.
	aloneSegments = 3
	aloneTime     = 1e9
	// maxFreeWaits bounds what is kept for later.
	maxFreeWaits = 256
)

// waitList lists the waits that hold octets, who began first in front.
type waitList struct{ head, tail *wait }

func (l *waitList) push(w *wait) {
	w.prev, w.next, w.listed = l.tail, nil, true
	if l.tail != nil {
		l.tail.next = w
	} else {
		l.head = w
	}
	l.tail = w
}

func (l *waitList) remove(w *wait) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.head = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.tail = w.prev
	}
	w.prev, w.next, w.listed = nil, nil, false
}

// waiting returns the wait of d, which it makes if there is none.
func (d *direction) waiting() *wait {
	if d.wait == nil {
		a := d.conn.a
		if n := len(a.waits); n > 0 {
			d.wait = a.waits[n-1]
			a.waits = a.waits[:n-1]
		} else {
			d.wait = new(wait)
		}
		d.wait.dir = d
	}
	return d.wait
}

// relax frees the wait if it is empty.
func (d *direction) relax() {
	w, a := d.wait, d.conn.a
	if w == nil || w.store.n > 0 {
		return
	}
	if w.listed {
		a.waiting.remove(w)
	}
	if len(w.acks) > 0 {
		return
	}
	d.wait = nil
	w.dir, w.progress = nil, 0
	if len(a.waits) < maxFreeWaits {
		a.waits = append(a.waits, w)
	}
}

// discard throws all that is held away.
func (d *direction) discard() {
	w := d.wait
	if w == nil {
		return
	}
	for w.store.n > 0 {
		d.drop()
	}
	w.acks = w.acks[:0]
	d.relax()
}

// drop takes the first piece out of the store and gives its memory back.
func (d *direction) drop() {
	a := d.conn.a
	p := d.wait.store.pop(&a.pages)
	a.held -= p.cost()
	a.buffers.put(p.data)
}

// pend notes an acknowledgement of what has not come.
func (w *wait) pend(pos uint64, at Stamp, count uint64) {
	k := pendingAck{pos, count, at}
	if n := len(w.acks); n == maxPending {
		w.acks[n-1] = k
	} else {
		w.acks = append(w.acks, k)
	}
}

// settle gives up holes that are not worth waiting for any more.
func (d *direction) settle(at Stamp) {
	for d.wait != nil && d.wait.store.n > 0 {
		cause, by, due := d.overdue(at)
		if !due {
			return
		}
		d.giveUp(cause, by)
	}
}

// overdue tells whether the hole in front of what is held is to be given up,
// why, and the segment that made it certain. The package doc has the rules.
func (d *direction) overdue(at Stamp) (GapCause, Stamp, bool) {
	c, w := d.conn, d.wait
	first := w.store.first()
	for i := range w.acks {
		if k := &w.acks[i]; k.pos >= first.off {
			if c.count-k.count >= patience || at.Time-k.Time >= patienceTime {
				return GapLost, k.Stamp, true
			}
			break
		}
	}
	age := at.Time - max(first.Time, w.progress)
	due := age >= c.a.config.HoleTimeout
	if d.state == starting {
		due = due || w.store.n >= patience || age >= aloneTime
	}
	if !c.ends[d.side.Other()].seen {
		due = due || w.store.n >= aloneSegments && age >= aloneTime || w.store.cost > c.a.config.MaxHeld/4
	}
	return GapNever, at, due
}

// giveUp declares the hole in front of what is held missing, and hands on what
// is behind it. Where the start is not known, nothing is missing: it begins
// there.
func (d *direction) giveUp(cause GapCause, at Stamp) {
	first := d.wait.store.first()
	if d.state == starting {
		d.begin(first.off)
	} else {
		d.gap(first.off-d.next, cause, at)
	}
	d.drain()
}

// drain hands on what is held and has become in order, and the acknowledgements
// of it.
func (d *direction) drain() {
	w := d.wait
	if w == nil {
		return
	}
	for w.store.n > 0 && d.state == placed && w.store.first().off == d.next {
		d.handOn()
	}
	d.tellPending()
	d.relax()
}

// handOn hands on the first piece that is held, which is in order.
func (d *direction) handOn() {
	p := *d.wait.store.first()
	taken := true
	if len(p.data) > 0 {
		taken = d.deliver(p.data, p.Stamp, p.again, nil)
	}
	if taken && p.cut > 0 {
		d.gap(p.cut, GapCut, p.Stamp)
	}
	d.drop()
}

// limit gives holes up until what is held is within the limits.
func (d *direction) limit(at Stamp) {
	a := d.conn.a
	for d.wait != nil && d.wait.store.cost > a.config.MaxHeld {
		d.giveUp(GapNever, at)
	}
	for a.held > a.config.MaxHeldTotal {
		a.waiting.head.dir.giveUp(GapNever, at)
	}
}
