package ulp

import (
	"testing"

	"github.com/iwdump/iwdump/dissect/mpa"
)

type told []Event

func (t *told) Command(*Command) {}
func (t *told) Event(e *Event)   { *t = append(*t, *e) }

func TestExhaustion(t *testing.T) {
	var x Exhaustion
	var h told
	at := func(n int, side Side) *Message { return &Message{N: n, Side: side, Last: mpa.Stamp{Time: int64(n)}} }
	x.Used(at(1, 0), 1, 1) // no limit to wait for
	x.Freed(&h, at(2, 1), 0, 1)
	x.Used(at(3, 0), 1, 2)
	x.Used(at(4, 0), 2, 2) // the last one
	x.Used(at(5, 0), 3, 2)
	x.Freed(&h, at(6, 1), 2, 2)
	x.Freed(&h, at(9, 1), 1, 2)
	x.Freed(&h, at(10, 1), 0, 2)
	if len(h) != 1 || h[0].Kind != CreditsExhausted || h[0].Wait != 5 || h[0].N != 4 || h[0].Side != 0 || h[0].Limit != 2 || h[0].At.Time != 4 {
		t.Errorf("%+v", h)
	}
	// A side that waits time and again is not told of each time.
	for i := range 100 {
		x.Used(at(100+10*i, 0), 2, 2)
		x.Freed(&h, at(100+10*i+i%7, 1), 1, 2)
	}
	x.End(&h, 0, mpa.Stamp{Time: 2000})
	if len(h) != maxTold+1 || h[maxTold].Value != 101 || h[maxTold].Wait != 6 {
		t.Errorf("%d events, the last %+v", len(h), h[len(h)-1])
	}
}
