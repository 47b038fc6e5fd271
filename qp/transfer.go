package qp

import (
	"fmt"
	"time"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/latency"
)

// transfer is a message that asks for no answer: a Send, a Write or Immediate
// Data. The TCP ACK of its last octet ends it.
type transfer struct {
	n         int
	kind      OpKind
	first     mpa.Stamp
	end       uint64
	size      uint64
	retrans   bool
	announced int
}

var kindOf = [...]OpKind{
	rdmap.OpWrite: KindWrite, rdmap.OpSend: KindSend, rdmap.OpSendInv: KindSendInv, rdmap.OpSendSE: KindSendSE,
	rdmap.OpSendSEInv: KindSendSEInv, rdmap.OpImmediate: KindImmediate, rdmap.OpImmediateSE: KindImmediateSE,
}

// transfer takes a message that asks for no answer.
func (q *QP) transfer(x *Message) {
	if int(x.Op) >= len(kindOf) || x.Op != rdmap.OpWrite && kindOf[x.Op] == 0 {
		return
	}
	s := &q.sides[x.Side]
	kind := kindOf[x.Op]
	if kind != KindWrite {
		// It announces the Writes in front of it (RFC 5040, section 5.5).
		for i := s.transfers.n - 1; i >= 0; i-- {
			t := s.transfers.at(i)
			if t.kind != KindWrite || t.announced != 0 {
				break
			}
			t.announced = x.N
		}
	}
	if x.End <= s.acked {
		return // it was found late: when it was acknowledged is not known any more
	}
	if s.transfers.push(transfer{n: x.N, kind: kind, first: x.First, end: x.End, size: x.Size, retrans: x.Retrans}, maxTransfers) {
		q.sum.Unknown++ // when the oldest is acknowledged will not be told
	}
}

// Ack tells that a side acknowledged all octets of the other below off.
func (q *QP) Ack(side Side, off uint64, at mpa.Stamp) {
	sender := side.Other()
	q.sides[side].seen = true
	s := &q.sides[sender]
	if off > s.acked {
		q.moved(side, at)
		s.acked = off
	}
	n := 0
	for ; n < s.transfers.n && s.transfers.at(n).end <= off; n++ {
		q.acknowledged(sender, s.transfers.at(n), StatusOK, at)
	}
	s.transfers.drop(n)
}

// unacknowledged reports the messages of a side that the peer had not
// acknowledged in the end. Where its ACKs were not captured at all, nothing can
// be said.
func (q *QP) unacknowledged(sender Side, at mpa.Stamp) {
	s := &q.sides[sender]
	if s.acked == 0 {
		return
	}
	for i := range s.transfers.n {
		q.acknowledged(sender, s.transfers.at(i), StatusUnanswered, at)
	}
	s.transfers.drop(s.transfers.n)
}

// acknowledged reports a message with the ACK that ends it, or without.
func (q *QP) acknowledged(sender Side, t *transfer, status Status, at mpa.Stamp) {
	q.op = Operation{Conn: q.c, Kind: t.kind, Side: sender, From: q.roles[sender], Start: t.first, End: at, Latency: at.Time - t.first.Time,
		First: -1, Measure: MeasureAck, Size: t.size, Request: t.n, Status: status, Retrans: t.retrans,
		RequestSpread: -1, Service: -1, ResponseSpread: -1, AnnouncedBy: t.announced}
	q.finish(&q.op)
}

func newDist() *latency.Dist { return new(latency.Dist) }

// duration writes ns in a unit that fits.
func duration(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= time.Second:
		return d.Round(time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Microsecond).String()
	}
	return d.String()
}

func hex32(v uint32) string { return fmt.Sprintf("0x%08x", v) }
