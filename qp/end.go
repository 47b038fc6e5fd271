package qp

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
)

// An Ending is how a QP ends, and what the layers below counted.
type Ending struct {
	State     State // Open, Closed or Reset: what TCP did
	By        Side  // who sent the first FIN or RST, where HasBy
	HasBy     bool
	Start, At mpa.Stamp    // of the first segment, and of the last
	FIN       [2]mpa.Stamp // of the segment that says that a side sends no more; its Frame is 0 where none was seen
	Streams   [2]Stream
	CRC       mpa.Use // Unknown where nothing tells
	Markers   [2]mpa.Use
	Inferred  bool // CRC or Markers were found from the data

	Starts      uint64 // FPDUs that start a TCP segment
	Within      uint64 // FPDUs that start within one
	AboveMSS    uint64 // FPDUs larger than the MSS of their receiver
	LargestFPDU int    // octets
	CaptureEnd  int64  // time of the last frame of the capture, where that ends the QP
}

// ends takes a Terminate: it ends the stream, and all that is outstanding
// (RFC 5040, section 6.2.1).
func (q *QP) ends(x *Message) {
	s := &q.sides[x.Side]
	s.terminated = true
	if q.sum.State != Terminated {
		q.sum.State = Terminated
		q.sum.EndedBy, q.sum.HasEnded = q.roles[x.Side], true
	}
	if x.Terminate == nil {
		q.tell(Error, "terminate", x.Side, x.Last, x.N, "Terminate whose content was not captured")
	} else {
		q.explain(x)
	}
	for i := range q.sides {
		q.open(Side(i), StatusFailed, x.Last)
	}
}

// explain tells what a Terminate says, and what it blames.
func (q *QP) explain(x *Message) {
	t := x.Terminate
	layer, etype, code := t.Names()
	detail := fmt.Sprintf("the %s ends the stream: %s, %s, %s", q.roles[x.Side], layer, etype, code)
	if o, ok := t.Other(); ok {
		layer, etype, code := o.Names()
		detail += fmt.Sprintf(" (or, in the order of bits of Linux soft-iWARP, %s, %s, %s)", layer, etype, code)
	}
	b := q.blamed(x)
	fields := []Field{{Name: "layer", Num: int64(t.Layer)}, {Name: "etype", Num: int64(t.EType)}, {Name: "code", Num: int64(t.Code)}}
	if b != nil {
		detail += fmt.Sprintf("; it blames %s #%d", b.op.Title(), b.n)
		if b.tagged {
			detail += fmt.Sprintf(" to %s+0x%x of %d octets", hex32(b.stag), b.to, b.size)
		} else {
			detail += fmt.Sprintf(" (queue %d, MSN %d) of %d octets", b.queue, b.msn, b.size)
		}
		fields = append(fields, Field{Name: "blames_n", Num: int64(b.n)})
	} else if t.HasHeader {
		detail += "; the segment that it blames was not found"
	}
	n := x.N
	sev := Error
	if t.Layer == rdmap.LayerRDMAP && t.EType == 0 || t.Layer == rdmap.LayerDDP && t.EType == 0 {
		// What stacks send at an ordinary disconnect too.
		sev = Info
	}
	q.tell(sev, "terminate", x.Side, x.Last, n, detail, fields...)
}

// blamed finds the message that a Terminate quotes.
func (q *QP) blamed(x *Message) *brief {
	t := x.Terminate
	o := &q.sides[x.Side.Other()]
	if !t.HasHeader {
		if t.Layer == rdmap.LayerLLP && t.Code == 2 {
			for i := o.recent.n - 1; i >= 0; i-- {
				if b := o.recent.at(i); b.n == o.badCRC {
					return b
				}
			}
		}
		return nil
	}
	h := &t.Header
	for i := o.recent.n - 1; i >= 0; i-- {
		b := o.recent.at(i)
		switch {
		case b.tagged != h.Tagged || b.op != rdmap.OpOf(h):
		case h.Tagged && b.stag == h.STag && h.TO-b.to < max(1, b.size):
			return b
		case !h.Tagged && b.queue == h.QN && b.msn == h.MSN:
			return b
		case t.HasRead && b.stag == t.Read.SinkSTag && t.Read.SinkTO >= b.to && t.Read.SinkTO-b.to <= b.size:
			// siw quotes another MSN. What was answered already is taken off
			// what is quoted (RFC 5040, section 4.8).
			return b
		}
	}
	return nil
}

// closes reports how the two sides closed the connection.
func (q *QP) closes(e *Ending) {
	asker := Side(0)
	if fin := e.FIN; fin[0].Frame == 0 && fin[1].Frame == 0 {
		return
	} else if fin[0].Frame == 0 || fin[1].Frame != 0 && fin[1].Frame < fin[0].Frame {
		asker = 1
	}
	start, end := e.FIN[asker], e.FIN[asker.Other()]
	q.op = Operation{Conn: q.c, Kind: KindClose, Side: asker, From: q.roles[asker], Start: start, End: end, First: -1,
		Measure: MeasureResponse, RequestSpread: -1, Service: -1, ResponseSpread: -1}
	if end.Frame == 0 {
		q.op.End, q.op.Status = e.At, StatusUnanswered
		if e.State == Reset {
			q.op.Status = StatusFailed
		}
	}
	q.op.Latency = q.op.End.Time - start.Time
	q.finish(&q.op)
}

// End takes the end of the connection, or of the capture. It is the last call.
func (q *QP) End(e *Ending) {
	q.moved(0, e.At)
	for i := range q.sides {
		for k := range q.sides[i].early.n {
			q.unasked(Side(i), q.sides[i].early.at(k))
		}
		q.exceeds(Side(i))
		q.open(Side(i), StatusUnanswered, e.At)
		q.unacknowledged(Side(i), e.At)
	}
	q.closes(e)
	s := &q.sum
	if q.upper != nil {
		s.ULP = q.upper.end(e.At)
	}
	s.Conn, s.Roles, s.Start, s.End = q.c, q.roles, e.Start, e.At
	s.Stream, s.CRC, s.Markers, s.Inferred = e.Streams, e.CRC, e.Markers, e.Inferred
	s.Starts, s.Within = e.Starts, e.Within
	s.AboveMSS, s.LargestFPDU, s.CaptureEnd = e.AboveMSS, e.LargestFPDU, e.CaptureEnd
	for i := range q.sides {
		s.Limit[i] = q.sides[i].limit
	}
	s.Handshake = s.Request != nil && s.Reply != nil
	switch {
	case s.Reply != nil && s.Reply.Reject:
		s.State = Rejected
		s.EndedBy, s.HasEnded = Responder, true
	case s.State == Terminated:
	default:
		s.State = e.State
		if e.HasBy {
			s.EndedBy, s.HasEnded = q.roles[e.By], true
		}
	}
	for k, d := range q.lats {
		if d != nil {
			s.Latency = append(s.Latency, Latency{Kind: OpKind(k), Dist: d})
		}
	}
	q.sink.QP(s)
}
