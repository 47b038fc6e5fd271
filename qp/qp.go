package qp

import (
	"github.com/iwdump/iwdump/dissect/ddp"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/latency"
)

// Limits of what is kept of a QP. Where one is reached, the oldest makes way,
// and its operation is not reported.
const (
	maxRequests  = 1 << 14 // reads and atomics outstanding, a side; the 14 bits of an ORD (RFC 6581, section 9)
	maxTransfers = 4096    // messages not yet acknowledged, a side
	maxEarly     = 64      // responses whose request has not come, a side
	maxDoubtful  = 64      // reads and atomics, where answers are missing, a side
	maxLook      = 256     // requests that are looked at for the one that is answered
	maxRecent    = 64      // messages that a Terminate may blame, a side
	maxInvalid   = 8       // STags that were invalidated, a side
	maxTold      = 16      // unanswered requests that are told one by one
)

// Options say what a QP hands out.
type Options struct {
	Messages   bool // Message records
	Operations bool // Operation records
	// Upper are the upper layer protocols that are looked for; ForceUpper says
	// that it is the first of them.
	Upper      []ulp.Protocol
	ForceUpper bool
	// Describe is how much is said of each message that is of an upper layer.
	Describe Describe
	// UpperMemory is shared with other QPs; nil is one of its own.
	UpperMemory *UpperMemory
	// Shared is memory that other QPs use too; nil is some of its own.
	Shared *Shared
}

// Describe is how much is said of a message.
type Describe uint8

const (
	DescribeAll  Describe = iota
	DescribeText          // no fields
	DescribeNone
)

// Shared is memory that the QPs of one goroutine can have in common: what they
// are handing out.
type Shared struct{ scratch }

type scratch struct {
	msg       Message
	op        Operation
	ev        Event
	read      rdmap.ReadRequest
	terminate rdmap.Terminate
	immediate rdmap.Immediate
	atomicReq rdmap.AtomicRequest
	atomicRsp rdmap.AtomicResponse
}

// A QP is one QP pair. It is for one goroutine.
type QP struct {
	*scratch
	c       *Conn
	sink    Sink
	o       Options
	roles   [2]Role
	sides   [2]side
	n       int // of the last message
	synAt   mpa.Stamp
	syn     bool
	movedAt int64 // when something new was sent or acknowledged last, in ns
	sum     Summary
	lats    [opKinds]*latency.Dist
	upper   *upper // nil where no upper layer is looked for

	request, reply mpa.Startup // what Summary.Request and Reply point to
	requestAt      opening
}

// side is what is kept of what one side sent.
type side struct {
	requests  ring[request]
	early     ring[response]
	transfers ring[transfer]
	recent    ring[brief]
	invalid   ring[uint32]

	losses     int     // how often messages of it may be missing
	seen       bool    // the capture shows this side
	answered   bool    // an answer to it was seen
	partial    bool    // some requests that may have no answer yet are not in requests
	trust      trust   // in the answers to it
	run        int     // answers that fit in turn, while that is likely
	next       uint32  // MSN of the request that the next answer is for, but where trust is lost
	before     request // the last that was answered
	tally      tally
	freeAt     int64  // when the last octet of the last answer passed, in ns
	freed      bool   // that is known
	freedFor   uint32 // MSN of the request that was next then
	messages   uint64 // RDMAP messages
	limit      int    // on outstanding requests; -1 where none is known
	exceeded   excess
	terminated bool   // it sent a Terminate
	acked      uint64 // octets of it below this were acknowledged
	badCRC     int    // N of its last message with a wrong CRC
}

// New returns the QP of a connection, which hands its records to sink.
func New(c *Conn, sink Sink, o Options) *QP {
	q := &QP{c: c, sink: sink, o: o, roles: [2]Role{RoleA, RoleB}}
	if o.Shared == nil {
		o.Shared = new(Shared)
	}
	q.scratch = &o.Shared.scratch
	for i := range q.sides {
		q.sides[i].limit = -1
	}
	if len(o.Upper) > 0 {
		if o.UpperMemory == nil {
			q.o.UpperMemory = new(UpperMemory)
		}
		q.upper = newUpper(q, o.Upper, o.ForceUpper)
	}
	return q
}

// Role returns what a side is, as far as is known.
func (q *QP) Role(s Side) Role { return q.roles[s] }

// SetSYN tells who sent the SYN, and when. That is taken to be the initiator
// until a startup frame tells.
func (q *QP) SetSYN(side Side, at mpa.Stamp) {
	q.syn, q.synAt = true, at
	q.setInitiator(side)
}

func (q *QP) setInitiator(side Side) {
	q.roles[side], q.roles[side.Other()] = Initiator, Responder
}

// Event hands on what the layers below have to tell.
func (q *QP) Event(e *Event) {
	e.Conn = q.c
	if e.HasSide {
		e.From = q.roles[e.Side]
	}
	q.sum.Events[e.Severity]++
	q.sink.Event(e)
}

// tell makes an event.
func (q *QP) tell(sev Severity, kind string, side Side, at mpa.Stamp, n int, detail string, fields ...Field) {
	q.ev = Event{Severity: sev, Kind: kind, Side: side, HasSide: true, At: at, N: n, Detail: detail, Fields: fields}
	q.Event(&q.ev)
}

// FPDU counts an FPDU.
func (q *QP) FPDU(c mpa.CRC) { q.sum.FPDUs[c]++ }

// Lost tells that octets of a side are missing, or could not be framed.
func (q *QP) Lost(side Side) {
	q.sides[side].losses++
	q.sides[side.Other()].trust = lost
	if q.upper != nil {
		q.upper.stream.Lost(ulp.Side(side))
	}
}

// Message takes a message of a side. Messages of a side come in its order;
// those of the two sides need not, where one of them had to be searched for
// FPDUs.
func (q *QP) Message(side Side, m *ddp.Message) {
	q.moved(side, m.First)
	q.movedAt = max(q.movedAt, m.Last.Time)
	q.n++
	s := &q.sides[side]
	op := rdmap.OpOf(&m.Header)
	q.sum.Messages[op]++
	q.sum.Octets[op] += m.Size
	q.sum.Sent[side]++
	s.messages++
	s.seen = true
	x := &q.msg
	*x = Message{Conn: q.c, N: q.n, Side: side, From: q.roles[side], First: m.First, Last: m.Last, Off: m.Off, End: m.End,
		Op: op, Size: m.Size, FPDUs: m.Segments, Complete: m.Complete, Retrans: m.Retrans, CRC: m.CRC, HasCRC: true,
		Header: m.Header, Payload: m.Payload}
	if m.CRC == mpa.CRCBad {
		s.badCRC = q.n
	}
	q.headers(x)
	if s.terminated {
		defer q.tell(Error, "rdmap_violation", side, m.First, q.n, x.Op.Title()+" behind a Terminate of the same side")
	}
	switch op {
	case rdmap.OpReadRequest:
		q.sides[side.Other()].tally.between += m.End - m.Off
		if x.Read != nil {
			q.rtr(x)
			q.requested(x, !m.EndLost)
		} else {
			s.losses++ // as good as not captured
		}
	case rdmap.OpAtomicRequest:
		q.sides[side.Other()].tally.between += m.End - m.Off
		if x.AtomicReq != nil {
			q.requested(x, !m.EndLost)
		} else {
			s.losses++
		}
	case rdmap.OpReadResponse:
		q.sum.Payload[side] += m.Size
		q.answered(x, response{m: brief{n: x.N, op: op, stag: m.Header.STag, to: m.Header.TO, size: m.Size}, off: m.Off, end: m.End, fpdus: m.Segments, first: m.First, last: m.Last,
			whole: m.Complete && m.Done, timed: m.Done && !m.EndLost, begun: m.Complete || q.sides[side].losses == 0, retrans: m.Retrans})
	case rdmap.OpAtomicResponse:
		if x.AtomicRsp != nil {
			q.answered(x, response{m: brief{n: x.N, op: op, id: x.AtomicRsp.ID}, off: m.Off, end: m.End, fpdus: m.Segments, first: m.First, last: m.Last,
				whole: true, timed: !m.EndLost, begun: true, retrans: m.Retrans})
		} else {
			s.losses++
			q.sides[side.Other()].trust = lost
		}
	case rdmap.OpTerminate:
		// told behind the message itself
	default:
		q.sides[side.Other()].tally.between += m.End - m.Off
		if op.IsSend() || op == rdmap.OpWrite {
			q.sum.Payload[side] += m.Size
		}
		q.rtr(x)
		q.transfer(x)
	}
	q.invalidated(x)
	b := brief{n: x.N, op: op, tagged: m.Header.Tagged, stag: m.Header.STag, to: m.Header.TO, size: m.Size, queue: m.Header.QN, msn: m.Header.MSN}
	if x.Read != nil {
		b.stag, b.to, b.size = x.Read.SinkSTag, x.Read.SinkTO, uint64(x.Read.Size)
	}
	s.recent.push(b, maxRecent)
	q.hand(x)
	if op == rdmap.OpTerminate {
		q.ends(x)
	}
}

// hand hands out a message.
func (q *QP) hand(x *Message) {
	if q.upper != nil {
		q.upper.see(x)
		defer q.upper.flush()
	}
	if q.o.Messages {
		q.sink.Message(x)
	}
}

// headers parses what stands behind the DDP header.
func (q *QP) headers(x *Message) {
	var err error
	switch x.Op {
	case rdmap.OpReadRequest:
		if q.read, _, err = rdmap.ParseReadRequest(x.Payload); err == nil {
			x.Read = &q.read
		}
	case rdmap.OpTerminate:
		if q.terminate, _, err = rdmap.ParseTerminate(x.Payload); err == nil {
			x.Terminate = &q.terminate
		}
	case rdmap.OpImmediate, rdmap.OpImmediateSE:
		if q.immediate, _, err = rdmap.ParseImmediate(x.Payload); err == nil {
			x.Immediate = &q.immediate
		}
	case rdmap.OpAtomicRequest:
		if q.atomicReq, _, err = rdmap.ParseAtomicRequest(x.Payload); err == nil {
			x.AtomicReq = &q.atomicReq
		}
	case rdmap.OpAtomicResponse:
		if q.atomicRsp, _, err = rdmap.ParseAtomicResponse(x.Payload); err == nil {
			x.AtomicRsp = &q.atomicRsp
		}
	}
}

// rtr labels the ready-to-receive message (RFC 6581, section 5): the first
// message of the initiator, empty, where the peer-to-peer model was agreed.
// Chelsio adapters send a Read or Write without an agreement (revision 1).
func (q *QP) rtr(x *Message) {
	if q.sides[x.Side].messages != 1 || x.From != Initiator || q.sum.Reply == nil {
		return
	}
	empty := x.Size == 0
	if x.Read != nil {
		empty = x.Read.Size == 0
	}
	agreed := q.sum.Reply.HasEnhanced() && q.sum.Reply.PeerToPeer
	old := !q.sum.Reply.Enhanced && (x.Op == rdmap.OpReadRequest || x.Op == rdmap.OpWrite)
	if !empty || !agreed && !old {
		return
	}
	x.RTR = true
	switch x.Op {
	case rdmap.OpReadRequest:
		q.sum.RTR = "read"
	case rdmap.OpWrite:
		q.sum.RTR = "write"
	case rdmap.OpSend:
		q.sum.RTR = "send"
	}
}

// invalidated notes the STag that a Send invalidates, and tells where one is
// used afterwards. An STag of the receiver is meant (RFC 5040, section 5.3).
func (q *QP) invalidated(x *Message) {
	s := &q.sides[x.Side]
	if x.Op.Invalidates() {
		s.invalid.push(x.Header.ULPWord, maxInvalid)
		return
	}
	if s.invalid.n == 0 || !q.whole() {
		return
	}
	stag, ok := x.Header.STag, x.Op == rdmap.OpWrite && x.Size > 0
	if x.Read != nil {
		stag, ok = x.Read.SrcSTag, x.Read.Size > 0
	}
	for i := 0; ok && i < s.invalid.n; i++ {
		if *s.invalid.at(i) == stag {
			q.tell(Warning, "rdmap_violation", x.Side, x.First, x.N, x.Op.Title()+" names "+hex32(stag)+", which a Send with Invalidate of this side had invalidated",
				Field{Name: "stag", Text: hex32(stag)})
			s.invalid.remove(i) // once is enough
		}
	}
}
