package qp

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
)

// Startup takes a startup frame of a side.
func (q *QP) Startup(side Side, f *mpa.StartupFrame) {
	op := rdmap.OpMPARequest
	if f.Reply {
		op = rdmap.OpMPAReply
		q.setInitiator(side.Other())
	} else {
		q.setInitiator(side)
	}
	q.sides[side].seen = true
	q.n++
	q.sum.Messages[op]++
	q.sum.Sent[side]++
	x := &q.msg
	*x = Message{Conn: q.c, N: q.n, Side: side, From: q.roles[side], First: f.First, Last: f.Last, Off: f.Off, End: f.Off + uint64(f.Wire),
		Op: op, Size: uint64(len(f.Private)), Complete: f.Complete, Retrans: f.Retrans, Startup: &f.Startup, Payload: f.Private}
	if f.HasEnhanced() && !f.Complete {
		x.Size = uint64(f.PDLength - 4)
	}
	q.sum.Octets[op] += x.Size
	if !f.Reply {
		q.request = f.Startup
		q.request.Private = bytes.Clone(f.Private)
		q.sum.Request, q.sum.Reply = &q.request, nil
		q.requestAt = opening{x.N, x.First, x.Last, x.Retrans}
		q.hand(x)
		return
	}
	q.reply = f.Startup
	q.reply.Private = bytes.Clone(f.Private)
	q.sum.Reply = &q.reply
	if q.sum.Request != nil {
		x.Answers, x.Latency = q.requestAt.n, f.Last.Time-q.requestAt.last.Time
	}
	q.hand(x)
	q.connected(x)
	q.agreement(x)
}

// connected reports the operation that a Reply ends.
func (q *QP) connected(x *Message) {
	if q.sum.Request == nil {
		return
	}
	start := q.requestAt.first
	if q.syn {
		start = q.synAt
	}
	asker := x.Side.Other()
	q.op = Operation{Conn: q.c, Kind: KindConnect, Side: asker, From: q.roles[asker], Start: start, End: x.Last, Latency: x.Last.Time - start.Time,
		First: x.First.Time - start.Time, Measure: MeasureResponse, Request: q.requestAt.n, Answer: x.N, Retrans: q.requestAt.retrans || x.Retrans,
		RequestSpread: -1, Service: x.First.Time - q.requestAt.last.Time, ResponseSpread: -1}
	if x.Startup.Reject {
		q.op.Status = StatusFailed
	}
	q.finish(&q.op)
}

// agreement takes from the two startup frames what they allow, and tells where
// they contradict each other (RFC 5044, section 7.1; RFC 6581, section 9).
func (q *QP) agreement(x *Message) {
	req, rep := q.sum.Request, q.sum.Reply
	if rep.Reject {
		q.tell(Error, "mpa_reject", x.Side, x.Last, x.N, q.rejection())
		return
	}
	if req == nil {
		return
	}
	mismatch := func(sev Severity, format string, a ...any) {
		q.tell(sev, "mpa_mismatch", x.Side, x.Last, x.N, fmt.Sprintf(format, a...))
	}
	if req.Revision != rep.Revision {
		mismatch(Warning, "the Request has revision %d, the Reply %d", req.Revision, rep.Revision)
	}
	if req.Enhanced != rep.Enhanced {
		mismatch(Warning, "only one of Request and Reply has the S flag of RFC 6581")
	}
	if !req.HasEnhanced() || !rep.HasEnhanced() {
		return
	}
	if req.PeerToPeer != rep.PeerToPeer {
		mismatch(Warning, "the A bits of Request and Reply differ (RFC 6581, section 9.2)")
	}
	if rep.PeerToPeer && req.PeerToPeer && !(req.SendRTR && rep.SendRTR || req.WriteRTR && rep.WriteRTR || req.ReadRTR && rep.ReadRTR) {
		mismatch(Warning, "no ready-to-receive message is offered by one side and accepted by the other")
	}
	if rep.ORD > req.IRD && rep.ORD != mpa.NotNegotiated && req.IRD != mpa.NotNegotiated {
		mismatch(Warning, "the Reply has an ORD of %d, above the Request's IRD of %d (RFC 6581, section 9.1)", rep.ORD, req.IRD)
	}
	initiator := x.Side.Other()
	q.sides[initiator].limit = depthLimit(req.ORD, rep.IRD)
	q.sides[x.Side].limit = depthLimit(rep.ORD, req.IRD)
}

// depthLimit is how many reads may be outstanding, -1 where that is not known.
func depthLimit(ord, ird uint16) int {
	switch {
	case ord == mpa.NotNegotiated && ird == mpa.NotNegotiated:
		return -1
	case ord == mpa.NotNegotiated:
		return int(ird)
	case ird == mpa.NotNegotiated:
		return int(ord)
	}
	return int(min(ord, ird))
}

// rejection says what a reject is probably due to.
func (q *QP) rejection() string {
	var why []string
	if req, rep := q.sum.Request, q.sum.Reply; req != nil {
		if req.Markers {
			why = append(why, "the Request asks for Markers, which many refuse")
		}
		if req.Revision != rep.Revision {
			why = append(why, fmt.Sprintf("the Request has revision %d, the Reply %d", req.Revision, rep.Revision))
		}
		if req.Enhanced && rep.HasEnhanced() && rep.ORD > req.IRD && rep.ORD != mpa.NotNegotiated {
			why = append(why, fmt.Sprintf("the responder needs an IRD of %d, the initiator offers %d", rep.ORD, req.IRD))
		}
		if !req.CRC && !rep.CRC && len(rep.Private) == 0 {
			why = append(why, "the Request does not ask for CRCs, which the responder may insist on (siw: mpa_crc_strict)")
		}
		if len(rep.Private) > 0 {
			why = append(why, "its private data may tell more")
		}
	}
	s := "the responder rejects the connection"
	if len(why) > 0 {
		s += ": " + strings.Join(why, "; ")
	} else {
		s += ": nothing listens there, or the application refused"
	}
	return s
}

// opening is what is remembered of the startup frame that opens.
type opening struct {
	n           int
	first, last mpa.Stamp
	retrans     bool
}
