package qp

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/mpa"
)

// stallAfter is how long nothing moves before that is a stall, in ns: the
// shortest retransmission timeout of common stacks.
const stallAfter = 200_000_000

// longStall is how long a stall is, in ns, that hosts alone seldom cause.
const longStall = 1_000_000_000

// moved takes a sign of progress: a message, or an ACK of octets that had none.
// The two sides are not handed in in the order of time where one of them had to
// be searched, so that only what is later than all before counts.
func (q *QP) moved(side Side, at mpa.Stamp) {
	if q.movedAt != 0 && at.Time-q.movedAt >= stallAfter {
		q.stalled(side, at)
	}
	q.movedAt = max(q.movedAt, at.Time)
}

// stalled tells of a time in which nothing moved though something waited.
func (q *QP) stalled(side Side, at mpa.Stamp) {
	waiting, n, sent, what := 0, 0, int64(0), ""
	oldest := func(at int64, number int, title string) {
		if waiting++; waiting == 1 || at < sent {
			n, sent, what = number, at, title
		}
	}
	for i := range q.sides {
		s := &q.sides[i]
		for k := 0; (s.trust == certain || q.whole()) && k < s.requests.n; k++ {
			if r := s.requests.at(k); r.last.Time <= q.movedAt {
				oldest(r.last.Time, r.m.n, r.m.op.Title())
			}
		}
		for k := 0; s.acked > 0 && k < s.transfers.n; k++ {
			if t := s.transfers.at(k); t.first.Time <= q.movedAt {
				oldest(t.first.Time, t.n, t.kind.String())
			}
		}
	}
	if waiting == 0 {
		return
	}
	ns := at.Time - q.movedAt
	sev := Info
	if ns >= longStall {
		sev = Warning
	}
	q.tell(sev, "tcp_stall", side, at, n, fmt.Sprintf("nothing moved for %s while %s waited, the oldest %s #%d", duration(ns), operations(waiting), what, n),
		Field{Name: "stalled_ns", Num: ns}, Field{Name: "waiting", Num: int64(waiting)})
}

func operations(n int) string {
	if n == 1 {
		return "1 operation"
	}
	return fmt.Sprintf("%d operations", n)
}
