package qp

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
)

// brief is what is remembered of a message.
type brief struct {
	n      int
	op     rdmap.Op
	tagged bool
	stag   uint32
	to     uint64
	size   uint64
	queue  uint32
	msn    uint32
	id     uint32
}

// request is a Read Request or Atomic Request without its answer.
type request struct {
	m       brief // of a read: sink STag, sink TO and the size asked for
	first   mpa.Stamp
	last    mpa.Stamp
	depth   int
	losses  int // of the other side when it was sent
	retrans bool
}

// response is a Read Response or Atomic Response.
type response struct {
	m       brief
	first   mpa.Stamp
	last    mpa.Stamp
	whole   bool // every octet of it was captured
	retrans bool
	losses  int // of the other side when it came
}

// fits says that p can answer r. A response with octets missing may begin
// behind its start, or be shorter.
func (r *request) fits(p *response) bool {
	if r.m.op == rdmap.OpAtomicRequest {
		return p.m.op == rdmap.OpAtomicResponse && p.m.id == r.m.id
	}
	if p.m.op != rdmap.OpReadResponse || p.m.stag != r.m.stag {
		return false
	}
	if p.whole {
		return p.m.to == r.m.to && p.m.size == r.m.size
	}
	return p.m.to-r.m.to <= r.m.size && p.m.to-r.m.to+p.m.size <= r.m.size
}

// requested takes a Read Request or an Atomic Request.
func (q *QP) requested(x *Message) {
	s := &q.sides[x.Side]
	r := request{m: brief{n: x.N, op: x.Op}, first: x.First, last: x.Last, retrans: x.Retrans, losses: q.sides[x.Side.Other()].losses}
	if x.Read != nil {
		r.m.stag, r.m.to, r.m.size = x.Read.SinkSTag, x.Read.SinkTO, uint64(x.Read.Size)
	} else {
		r.m.id, r.m.stag, r.m.to, r.m.size = x.AtomicReq.ID, x.AtomicReq.STag, x.AtomicReq.TO, 8
	}
	for i := range s.early.n {
		if p := s.early.at(i); r.fits(p) {
			if p.last.Time >= r.last.Time {
				r.depth = s.requests.n + 1
				q.done(x.Side, &r, p)
			}
			s.early.remove(i)
			return
		}
	}
	s.requests.push(r, maxRequests)
	depth := s.requests.n
	s.requests.at(depth - 1).depth = depth
	q.sum.MaxDepth[x.Side] = max(q.sum.MaxDepth[x.Side], depth)
	if s.limit >= 0 && depth > s.limit && !s.exceeded && !s.lost && !x.RTR {
		s.exceeded = true
		q.tell(Warning, "rdmap_violation", x.Side, x.Last, x.N,
			fmt.Sprintf("%d reads and atomics are outstanding, where the IRD and ORD agreed on allow %d", depth, s.limit),
			Field{Name: "depth", Num: int64(depth)}, Field{Name: "limit", Num: int64(s.limit)})
	}
}

// answered finds the request that a response answers: they are answered in
// order (RFC 5040, section 5.5; RFC 7306, section 7). A response can be handed
// in before its request: where the side that asked lags behind since it had to
// be searched, and where a mirror brought the two in disorder.
func (q *QP) answered(x *Message, p response) {
	asker := x.Side.Other()
	a, s := &q.sides[asker], &q.sides[x.Side]
	p.losses = a.losses
	at := 0
	most := min(a.requests.n, maxLook)
	for at < most && !a.requests.at(at).fits(&p) {
		at++
	}
	switch {
	case at == most:
		if a.requests.n > 0 && q.misfits(x, &p, a.requests.at(0)) {
			at = 0
			break
		}
		if a.early.n == maxEarly {
			q.unasked(asker, a.early.at(0))
		}
		a.early.push(p, maxEarly)
		return
	case at > 0 && (a.lost || s.lost):
		// The answers in between were not captured: nothing can be said of
		// their requests.
		a.requests.drop(at)
		at = 0
	case at > 0:
		q.tell(Error, "rdmap_violation", x.Side, x.First, x.N,
			fmt.Sprintf("%s answers #%d before the %d requests in front of it are answered", x.Op.Title(), a.requests.at(at).m.n, at))
	}
	a.lost, s.lost = false, false // they go together again
	r := *a.requests.at(at)
	a.requests.remove(at)
	if p.last.Time < r.last.Time {
		return // a mirror brought them in disorder: that is no time
	}
	x.Answers, x.Latency = r.m.n, p.last.Time-r.last.Time
	q.done(asker, &r, &p)
}

// misfits tells what is wrong with a response to where the first request asked
// for it, and says whether it is one.
func (q *QP) misfits(x *Message, p *response, r *request) bool {
	if p.m.op != rdmap.OpReadResponse || r.m.op != rdmap.OpReadRequest || p.m.stag != r.m.stag || !p.whole || q.sides[x.Side].lost {
		return false
	}
	what := ""
	switch {
	case p.m.to != r.m.to && p.m.size == r.m.size:
		what = fmt.Sprintf("goes to %s+0x%x, asked for at +0x%x", hex32(p.m.stag), p.m.to, r.m.to)
	case p.m.to != r.m.to:
		return false
	case p.m.size < r.m.size:
		what = fmt.Sprintf("is shorter than asked: %d octets of %d", p.m.size, r.m.size)
	default:
		what = fmt.Sprintf("is longer than asked: %d octets for %d", p.m.size, r.m.size)
	}
	q.tell(Error, "rdmap_violation", x.Side, x.First, x.N, fmt.Sprintf("%s %s (#%d)", x.Op.Title(), what, r.m.n))
	return true
}

// unasked tells of a response whose request never came, unless the capture may
// have lost it.
func (q *QP) unasked(asker Side, p *response) {
	if q.sides[asker].losses > 0 {
		return
	}
	q.tell(Error, "rdmap_violation", asker.Other(), p.first, p.m.n, p.m.op.Title()+" without a request")
}

// done reports a request with its answer.
func (q *QP) done(asker Side, r *request, p *response) {
	o := q.begin(asker, r)
	o.Status, o.Answer = StatusOK, p.m.n
	o.End = p.last
	o.Latency = p.last.Time - r.last.Time
	o.First = p.first.Time - r.last.Time
	o.Service, o.ResponseSpread = o.First, p.last.Time-p.first.Time
	o.Retrans = o.Retrans || p.retrans
	if p.m.op == rdmap.OpReadResponse {
		o.Size = p.m.size
	}
	q.finish(o)
}

// begin fills in what a request says of its operation.
func (q *QP) begin(asker Side, r *request) *Operation {
	o := &q.op
	*o = Operation{Conn: q.c, Kind: KindRead, Side: asker, From: q.roles[asker], Start: r.last, Measure: MeasureResponse, Size: r.m.size,
		Request: r.m.n, Retrans: r.retrans, First: -1, RequestSpread: r.last.Time - r.first.Time, Service: -1, ResponseSpread: -1, Depth: r.depth}
	if r.m.op == rdmap.OpAtomicRequest {
		o.Kind = KindAtomic
	}
	return o
}

// open reports the requests of a side that have no answer.
func (q *QP) open(asker Side, status Status, at mpa.Stamp) {
	s := &q.sides[asker]
	told, more := 0, 0
	var last request
	for i := range s.requests.n {
		r := s.requests.at(i)
		if q.sides[asker.Other()].losses > r.losses {
			continue // its answer may be what the capture lacks
		}
		o := q.begin(asker, r)
		o.Status, o.End, o.Latency = status, at, at.Time-r.last.Time
		q.finish(o)
		if status != StatusUnanswered {
			continue
		}
		if told++; told <= maxTold {
			q.tell(Warning, "unanswered", asker, r.last, r.m.n,
				fmt.Sprintf("%s #%d of %d octets was not answered in the %s that followed", r.m.op.Title(), r.m.n, r.m.size, duration(o.Latency)),
				Field{Name: "request_n", Num: int64(r.m.n)}, Field{Name: "age_ns", Num: o.Latency})
		} else {
			last, more = *r, more+1
		}
	}
	if more > 0 {
		q.tell(Warning, "unanswered", asker, last.last, last.m.n, fmt.Sprintf("%d more requests were not answered", more))
	}
	s.requests.drop(s.requests.n)
}

// finish hands an operation out, and counts its latency where it came to a good
// end.
func (q *QP) finish(o *Operation) {
	if o.Status == StatusOK {
		if q.lats[o.Kind] == nil {
			q.lats[o.Kind] = newDist()
		}
		q.lats[o.Kind].Record(o.Latency)
	}
	if q.o.Operations {
		q.sink.Operation(o)
	}
}
