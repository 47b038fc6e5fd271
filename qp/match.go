package qp

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/ddp"
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
	depth   int  // 0 where not known
	losses  int  // of the other side when it was sent
	timed   bool // last is when its last octet passed
	retrans bool
}

// response is a Read Response or Atomic Response.
type response struct {
	m       brief  // msn is that of the request that it must be for, where counted is set
	off     uint64 // of it in its stream, and of what is behind it
	end     uint64
	fpdus   int
	first   mpa.Stamp
	last    mpa.Stamp
	whole   bool // every octet of it was captured
	timed   bool // last is when its last octet passed
	begun   bool // first is when its first octet passed
	retrans bool
	counted bool
	guess   bool // another request may be meant
	bad     bool // it is not what was asked for
}

// trust says how far the answers to a side are known to go with its requests.
type trust uint8

const (
	// lost: answers may be missing, and nothing tells which request the next
	// is for.
	lost trust = iota
	// likely: some answers in a row went with requests in a row, but could have
	// gone with others.
	likely
	// certain: all answers were seen, or some in a row could have gone with
	// these requests only.
	certain
)

// sure is how many answers in a row must fit the requests in turn, and not their
// neighbours, until that is certain.
const sure = 3

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
func (q *QP) requested(x *Message, timed bool) {
	s, o := &q.sides[x.Side], &q.sides[x.Side.Other()]
	r := request{m: brief{n: x.N, op: x.Op, msn: x.Header.MSN}, first: x.First, last: x.Last, timed: timed, retrans: x.Retrans, losses: o.losses}
	if x.Read != nil {
		r.m.stag, r.m.to, r.m.size = x.Read.SinkSTag, x.Read.SinkTO, uint64(x.Read.Size)
	} else {
		r.m.id, r.m.stag, r.m.to, r.m.size = x.AtomicReq.ID, x.AtomicReq.STag, x.AtomicReq.TO, 8
	}
	for i := range s.early.n {
		p := s.early.at(i)
		if !r.fits(p) || p.counted && p.m.msn != r.m.msn {
			continue
		}
		if !p.counted {
			s.next = r.m.msn + 1
		}
		r.depth = s.requests.n + 1
		q.pair(x.Side, &r, p)
		s.early.remove(i)
		return
	}
	if s.requests.push(r, q.most(x.Side)) {
		q.sum.Unknown++
		s.partial = true
	}
	if q.whole() || s.trust == certain && s.losses == 0 {
		depth := s.requests.n
		s.requests.at(depth - 1).depth = depth
		if s.limit >= 0 && depth > s.limit && s.exceeded.n == 0 && q.whole() && !x.RTR {
			s.exceeded = excess{n: x.N, at: x.Last, depth: depth}
		}
	}
}

// excess is the first request that was one too many.
type excess struct {
	n     int
	at    mpa.Stamp
	depth int
}

// exceeds tells of the first request of a side that was one too many. That is
// not certain before the end: the answers in front of it may be what the capture
// lacks.
func (q *QP) exceeds(side Side) {
	s := &q.sides[side]
	if x := &s.exceeded; x.n > 0 && q.whole() {
		q.tell(Warning, "rdmap_violation", side, x.at, x.n,
			fmt.Sprintf("%d reads and atomics are outstanding, where the IRD and ORD agreed on allow %d", x.depth, s.limit),
			Field{Name: "depth", Num: int64(x.depth)}, Field{Name: "limit", Num: int64(s.limit)})
	}
}

// whole says that the capture has all of the connection so far: then what does
// not fit breaks a rule.
func (q *QP) whole() bool {
	for i := range q.sides {
		if s := &q.sides[i]; !s.seen || s.losses > 0 {
			return false
		}
	}
	return q.begun()
}

// begun says that the capture has the start of the connection.
func (q *QP) begun() bool { return q.syn || q.sum.Request != nil && q.sum.Reply != nil }

// most is how many requests of a side are kept: where answers are missing, no
// more than it is likely to have outstanding.
func (q *QP) most(side Side) int {
	if s := &q.sides[side]; s.trust != certain && !q.whole() {
		if s.limit > 0 {
			return min(s.limit, maxDoubtful)
		}
		return maxDoubtful
	}
	return maxRequests
}

// answered finds the request that a response answers. They are answered in
// order (RFC 5040, section 5.5; RFC 7306, section 7), so that as long as all
// responses were seen, the next is for the request with the next MSN, whether
// that was captured or not. A response can be handed in before its request:
// where the side that asked lags behind since it had to be searched, and where
// a mirror brought the two in disorder.
func (q *QP) answered(x *Message, p response) {
	asker := x.Side.Other()
	a, s := &q.sides[asker], &q.sides[x.Side]
	if !a.answered {
		a.answered = true
		if q.begun() && s.losses == 0 {
			a.trust, a.next = certain, 1
			a.freed = true
			if a.losses == 0 && a.requests.n > 0 {
				a.next = a.requests.at(0).m.msn
			}
			a.freedFor = a.next
		}
	}
	if a.trust == lost && !a.counts(&p) {
		q.search(x, &p)
		return
	}
	a.passed(&p)
	at, most := 0, a.requests.n
	for at < most && int32(a.requests.at(at).m.msn-a.next) < 0 {
		at++
	}
	switch there := at < most && a.requests.at(at).m.msn == a.next; {
	case there && a.requests.at(at).fits(&p):
		q.sum.Unknown += uint64(at)
		a.requests.drop(at)
		q.turn(x, &p)
	case q.whole():
		q.strict(x, &p)
	case there:
		a.trust = lost // what was counted is wrong
		q.search(x, &p)
	case at == most && a.trust == likely:
		a.trust = lost // one before went with a request of another
		q.sum.Unknown++
	case at < most:
		a.next++ // its request was not captured
		q.sum.Unknown++
	default:
		p.m.msn, p.counted = a.next, true
		a.next++
		q.hold(asker, &p)
	}
}

// A tally is what the octets of a stream tell of the answers in it that were not
// captured: what lies between two answers is other messages, which were seen,
// and answers whose sizes the requests tell.
type tally struct {
	end     uint64 // of the last answer, in its stream
	between uint64 // octets of other messages behind it
	ok      bool   // the answers up to that are counted

	single       uint64 // most octets seen in an answer of one FPDU
	size, octets uint64 // of the last answer of several
}

// octetsOf returns how many octets of the stream the answer of a size takes, 0
// where that is not known.
func (t *tally) octetsOf(size uint64) uint64 {
	switch {
	case size <= t.single:
		const around = 2 + ddp.TaggedLen + 4 // ULPDU_Length, header, CRC
		return (around + size + 3) &^ 3
	case size == t.size:
		return t.octets
	}
	return 0
}

// passed notes an answer, if answers are counted.
func (s *side) passed(p *response) {
	t := &s.tally
	t.end, t.between, t.ok = p.end, 0, s.trust == certain
	switch {
	case !p.whole || p.m.op != rdmap.OpReadResponse:
	case p.fpdus == 1:
		t.single = max(t.single, p.m.size)
	default:
		t.size, t.octets = p.m.size, p.end-p.off
	}
}

// counts finds how many answers the capture lacks in front of p, from the octets
// that it lacks there, and so counts on.
func (s *side) counts(p *response) bool {
	t := &s.tally
	if !t.ok || p.off < t.end+t.between {
		return false
	}
	t.ok = false
	rest, next, at := p.off-t.end-t.between, s.next, 0
	for ; rest > 0; at++ {
		if at >= s.requests.n || s.requests.at(at).m.msn != next || s.requests.at(at).m.op != rdmap.OpReadRequest {
			return false
		}
		n := t.octetsOf(s.requests.at(at).m.size)
		if n == 0 || n > rest {
			return false
		}
		rest -= n
		next++
	}
	if at >= s.requests.n || s.requests.at(at).m.msn != next || !s.requests.at(at).fits(p) {
		return false
	}
	s.next, s.trust = next, certain
	return true
}

// turn pairs a response with the oldest request, which is next in turn, and
// learns from it.
func (q *QP) turn(x *Message, p *response) {
	a := &q.sides[x.Side.Other()]
	r := a.requests.at(0)
	if a.trust == likely {
		p.guess = true
		switch other := a.requests.n > 1 && a.requests.at(1).fits(p) || a.before.fits(p); {
		case other: // says nothing
		case a.run+1 < sure:
			a.run++
		default:
			a.trust, a.partial, p.guess = certain, false, false
		}
	}
	a.before.m = r.m
	a.next = r.m.msn + 1
	q.match(x, 0, p)
}

// search looks for the request that a response answers where others may be
// missing. Where all requests are at hand, and one alone can be meant, that is
// certain; else what it finds is a guess.
func (q *QP) search(x *Message, p *response) {
	asker := x.Side.Other()
	a := &q.sides[asker]
	at, fits := 0, 0
	for i := range a.requests.n {
		if r := a.requests.at(i); r.last.Time <= p.last.Time && r.fits(p) {
			if fits++; fits == 1 {
				at = i
			}
		}
	}
	if fits > 1 {
		switch q.sum.MaxDepth[asker] {
		case 0: // begun midway: the oldest, if none from before that is left
		case 1: // one at a time: the latest
			for at = a.requests.n - 1; !a.requests.at(at).fits(p) || a.requests.at(at).last.Time > p.last.Time; at-- {
			}
		default:
			fits = 0
		}
	}
	if fits == 0 {
		q.sum.Unknown++
		return
	}
	q.sum.Unknown += uint64(at)
	a.requests.drop(at)
	a.passed(p)
	a.trust, a.run = certain, 0
	if fits > 1 || a.partial || a.losses > 0 || !q.begun() {
		a.trust, a.partial, p.guess = likely, true, true
	}
	a.before.m = a.requests.at(0).m
	a.next = a.before.m.msn + 1
	q.match(x, 0, p)
}

// strict matches by values, on a capture that lacks nothing, a response that is
// not the next in turn; what is wrong with it is told.
func (q *QP) strict(x *Message, p *response) {
	asker := x.Side.Other()
	a := &q.sides[asker]
	at, most := 0, min(a.requests.n, maxLook)
	for at < most && !a.requests.at(at).fits(p) {
		at++
	}
	switch {
	case at == most:
		if a.requests.n == 0 || !q.misfits(x, p, a.requests.at(0)) {
			q.hold(asker, p)
			return
		}
		at, p.bad = 0, true
		a.next = a.requests.at(0).m.msn + 1
	case at > 0:
		q.tell(Error, "rdmap_violation", x.Side, x.First, x.N,
			fmt.Sprintf("%s answers #%d before the %d requests in front of it are answered", x.Op.Title(), a.requests.at(at).m.n, at))
	default:
		a.next = a.requests.at(0).m.msn + 1
	}
	q.match(x, at, p)
}

// hold keeps a response for a request that may come yet.
func (q *QP) hold(asker Side, p *response) {
	a := &q.sides[asker]
	if a.early.n == maxEarly {
		q.unasked(asker, a.early.at(0))
	}
	a.early.push(*p, maxEarly)
}

// match takes the request at a place for the one that p answers.
func (q *QP) match(x *Message, at int, p *response) {
	asker := x.Side.Other()
	r := *q.sides[asker].requests.at(at)
	q.sides[asker].requests.remove(at)
	if q.pair(asker, &r, p) && !p.guess {
		x.Answers, x.Latency = r.m.n, p.last.Time-r.last.Time
	}
}

// pair reports a request with its response, unless the time between them is not
// known: packets were not captured, or a mirror brought them in disorder.
func (q *QP) pair(asker Side, r *request, p *response) bool {
	ok := r.timed && p.timed && p.last.Time >= r.last.Time
	if ok {
		q.done(asker, r, p)
	} else {
		q.sum.Unknown++
	}
	a := &q.sides[asker]
	a.freeAt, a.freed, a.freedFor = p.last.Time, p.timed, r.m.msn+1
	return ok
}

// misfits tells what is wrong with a response to where the first request asked
// for it, and says whether it is one.
func (q *QP) misfits(x *Message, p *response, r *request) bool {
	if p.m.op != rdmap.OpReadResponse || r.m.op != rdmap.OpReadRequest || p.m.stag != r.m.stag || !p.whole {
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
	if !q.whole() {
		q.sum.Unknown++
		return
	}
	q.tell(Error, "rdmap_violation", asker.Other(), p.first, p.m.n, p.m.op.Title()+" without a request")
}

// done reports a request with its answer.
func (q *QP) done(asker Side, r *request, p *response) {
	q.deep(asker, r)
	o := q.begin(asker, r)
	o.Status, o.Answer = StatusOK, p.m.n
	if p.bad {
		o.Status = StatusFailed
	}
	if p.guess {
		o.Guess, o.Depth = true, 0
		q.sum.Guessed++
	}
	o.End = p.last
	o.Latency = p.last.Time - r.last.Time
	if p.begun {
		o.First = p.first.Time - r.last.Time
		o.ResponseSpread = p.last.Time - p.first.Time
		// What it waited for the answer in front of it is not its own.
		if a := &q.sides[asker]; a.freed && (a.freedFor == r.m.msn || q.whole()) && !p.guess {
			o.Service = max(0, p.first.Time-max(r.last.Time, a.freeAt))
		}
	}
	o.Retrans = o.Retrans || p.retrans
	if p.m.op == rdmap.OpReadResponse && p.whole {
		o.Size = p.m.size
	}
	q.finish(o)
}

// deep notes how many requests were outstanding with r. Where a hole was found
// since, that is not known: those in front of it may have been answered.
func (q *QP) deep(asker Side, r *request) {
	if !q.whole() {
		r.depth = 0
	}
	q.sum.MaxDepth[asker] = max(q.sum.MaxDepth[asker], r.depth)
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
		if !r.timed || !q.silent(asker, r) {
			q.sum.Unknown++ // its answer may be what the capture lacks
			continue
		}
		q.deep(asker, r)
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

// silent says that the answer to r would have been seen.
func (q *QP) silent(asker Side, r *request) bool {
	a, o := &q.sides[asker], &q.sides[asker.Other()]
	if o.losses > r.losses {
		return false
	}
	if a.answered {
		return a.trust == certain
	}
	return q.begun() && o.losses == 0 && o.seen
}

// finish hands an operation out, and counts its latency where it came to a good
// end.
func (q *QP) finish(o *Operation) {
	if o.Status == StatusOK && !o.Guess {
		if q.lats[o.Kind] == nil {
			q.lats[o.Kind] = newDist()
		}
		q.lats[o.Kind].Record(o.Latency)
	}
	if q.o.Operations {
		q.sink.Operation(o)
	}
}
