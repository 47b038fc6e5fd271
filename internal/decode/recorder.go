package decode

import (
	"bytes"
	"slices"

	"github.com/iwdump/iwdump/qp"
)

// A recorder keeps the records of one worker for one block, each with the frame
// that brought it.
type recorder struct {
	frame uint64
	tick  bool

	entries    []entry
	next       int // entry to hand out
	messages   []qp.Message
	fpdus      []qp.FPDU
	operations []qp.Operation
	events     []qp.Event
	qps        []qp.Summary
}

// entry is the place of a record in the order of all.
type entry struct {
	frame uint64
	conn  uint64 // the connection's first frame
	tick  bool
	kind  recordKind
	index int
}

type recordKind uint8

const (
	aMessage recordKind = iota
	anFPDU
	anOperation
	anEvent
	aQP
)

// at tells what brings the records that follow: a frame, or the time that it
// tells, which is looked at before it.
func (r *recorder) at(frame uint64, tick bool) { r.frame, r.tick = frame, tick }

func (r *recorder) add(c *qp.Conn, kind recordKind, index int) {
	r.entries = append(r.entries, entry{frame: r.frame, conn: c.First, tick: r.tick, kind: kind, index: index})
}

func (r *recorder) Message(m *qp.Message) {
	r.add(m.Conn, aMessage, len(r.messages))
	c := *m
	c.Payload = bytes.Clone(m.Payload)
	c.Startup = copyOf(m.Startup)
	if c.Startup != nil {
		c.Startup.Private = bytes.Clone(m.Startup.Private)
	}
	c.Read, c.Terminate, c.Immediate = copyOf(m.Read), copyOf(m.Terminate), copyOf(m.Immediate)
	c.AtomicReq, c.AtomicRsp = copyOf(m.AtomicReq), copyOf(m.AtomicRsp)
	if c.ULP != nil {
		c.ULP = c.ULP.Clone()
	}
	r.messages = append(r.messages, c)
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

func (r *recorder) FPDU(f *qp.FPDU) {
	r.add(f.Conn, anFPDU, len(r.fpdus))
	c := *f
	c.ULPDU = nil
	r.fpdus = append(r.fpdus, c)
}

func (r *recorder) Operation(o *qp.Operation) {
	r.add(o.Conn, anOperation, len(r.operations))
	c := *o
	if c.Command != nil {
		c.Command = c.Command.Clone()
	}
	r.operations = append(r.operations, c)
}

func (r *recorder) Event(e *qp.Event) {
	r.add(e.Conn, anEvent, len(r.events))
	c := *e
	c.Fields = slices.Clone(e.Fields)
	r.events = append(r.events, c)
}

func (r *recorder) QP(s *qp.Summary) {
	r.add(s.Conn, aQP, len(r.qps))
	r.qps = append(r.qps, *s)
}

// more says that there is a record to hand out.
func (r *recorder) more() bool { return r.next < len(r.entries) }

// before says that the next record of r comes before that of o.
func (r *recorder) before(o *recorder) bool {
	a, b := &r.entries[r.next], &o.entries[o.next]
	if a.frame != b.frame {
		return a.frame < b.frame
	}
	if a.tick != b.tick {
		return a.tick
	}
	return a.conn < b.conn
}

// hand hands out the next record.
func (r *recorder) hand(sink qp.Sink) {
	e := &r.entries[r.next]
	r.next++
	switch e.kind {
	case aMessage:
		sink.Message(&r.messages[e.index])
	case anFPDU:
		sink.FPDU(&r.fpdus[e.index])
	case anOperation:
		sink.Operation(&r.operations[e.index])
	case anEvent:
		sink.Event(&r.events[e.index])
	case aQP:
		sink.QP(&r.qps[e.index])
	}
}

// reset forgets all records and keeps the memory.
func (r *recorder) reset() {
	clear(r.messages)
	clear(r.operations)
	clear(r.events)
	clear(r.qps)
	r.entries, r.next = r.entries[:0], 0
	r.messages, r.fpdus, r.operations, r.events, r.qps = r.messages[:0], r.fpdus[:0], r.operations[:0], r.events[:0], r.qps[:0]
}
