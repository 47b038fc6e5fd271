package ulp

import (
	"fmt"
	"time"

	"github.com/iwdump/iwdump/dissect/mpa"
)

// maxTold is how many times a side without credits are told one by one.
const maxTold = 16

// An Exhaustion follows the credits of one side: when all are in use, it has to
// wait for the peer. Its zero value is ready.
type Exhaustion struct {
	out     bool
	since   mpa.Stamp // of the message that used the last one
	n       int
	times   int
	longest int64
	event   Event
}

// Used takes a message that leaves used of limit credits in use. A limit of one
// is no limit to wait for: it is how some begin.
func (x *Exhaustion) Used(m *Message, used, limit int) {
	if !x.out && limit > 1 && used >= limit {
		x.out, x.since, x.n = true, m.Last, m.N
	}
}

// Freed takes a message of the peer that leaves used of limit credits in use,
// and hands an event to h where it ends a wait.
func (x *Exhaustion) Freed(h Handler, m *Message, used, limit int) {
	if !x.out || used >= limit {
		return
	}
	x.out = false
	wait := m.Last.Time - x.since.Time
	x.times++
	x.longest = max(x.longest, wait)
	if x.times > maxTold {
		return
	}
	x.event = Event{Kind: CreditsExhausted, Severity: Info, Side: m.Side.Other(), N: x.n, At: x.since, Limit: uint64(limit), Value: uint64(limit), HasValue: true, Wait: wait,
		Detail: fmt.Sprintf("all %d credits were in use for %v", limit, time.Duration(wait))}
	h.Event(&x.event)
}

// End takes the end of the QP: what was not told one by one is told together.
func (x *Exhaustion) End(h Handler, side Side, at mpa.Stamp) {
	if x.times <= maxTold {
		return
	}
	x.event = Event{Kind: CreditsExhausted, Severity: Info, Side: side, At: at, Value: uint64(x.times), HasValue: true, Wait: x.longest,
		Detail: fmt.Sprintf("all credits were in use %d times, for %v at the longest", x.times, time.Duration(x.longest))}
	h.Event(&x.event)
}
