package qp

import (
	"github.com/iwdump/iwdump/dissect/ddp"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
)

type Options struct{ Operations, Latency bool }

type QP struct {
	c     *Conn
	sink  Sink
	roles [2]Role
	n     int
	m     Message
	sum   Summary
}

type Ending struct {
	State     State
	By        Side
	HasBy     bool
	At, Start mpa.Stamp
	Streams   [2]Stream
	CRC       bool
	Markers   [2]bool
	Inferred  bool
}

func New(c *Conn, sink Sink, o Options) *QP {
	return &QP{c: c, sink: sink, roles: [2]Role{RoleA, RoleB}}
}

func (q *QP) Role(s Side) Role { return q.roles[s] }

func (q *QP) SetSYN(side Side, at mpa.Stamp) {
	q.roles[side], q.roles[side.Other()] = Initiator, Responder
}

func (q *QP) Startup(side Side, f *mpa.StartupFrame) {
	op := rdmap.OpMPARequest
	if f.Reply {
		op = rdmap.OpMPAReply
		q.roles[side], q.roles[side.Other()] = Responder, Initiator
	} else {
		q.roles[side], q.roles[side.Other()] = Initiator, Responder
	}
	q.n++
	q.m = Message{Conn: q.c, N: q.n, Side: side, From: q.roles[side], First: f.First, Last: f.Last, Op: op, Size: uint64(len(f.Private)), Complete: f.Complete, Startup: &f.Startup}
	q.sink.Message(&q.m)
}

func (q *QP) Message(side Side, m *ddp.Message) {
	q.n++
	op := rdmap.OpOf(&m.Header)
	q.m = Message{Conn: q.c, N: q.n, Side: side, From: q.roles[side], First: m.First, Last: m.Last, Off: m.Off, End: m.End, Op: op, Size: m.Size,
		FPDUs: m.Segments, Complete: m.Complete, Retrans: m.Retrans, CRC: m.CRC, HasCRC: true, Header: m.Header, Payload: m.Payload}
	q.sink.Message(&q.m)
}

func (q *QP) Ack(side Side, off uint64, at mpa.Stamp) {}
func (q *QP) Lost(side Side, at mpa.Stamp)            {}
func (q *QP) Event(e *Event) {
	e.Conn, e.From = q.c, q.roles[e.Side]
	q.sink.Event(e)
}
func (q *QP) FPDU(side Side, c mpa.CRC) { q.sum.FPDUs[c]++ }
func (q *QP) End(e Ending) {
	q.sum.Conn, q.sum.Roles, q.sum.State, q.sum.Stream = q.c, q.roles, e.State, e.Streams
	q.sink.QP(&q.sum)
}
