package qp

import (
	"slices"
	"strings"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/latency"
)

// maxNames is how many names of commands have latencies of their own.
const maxNames = 512

// An UpperLayer is what the upper layer protocol tells of a QP.
type UpperLayer struct {
	Protocol string // "nvme"
	Title    string // "NVMe over RDMA"
	Doubt    bool   // too few messages agreed
	Fields   ulp.Fields
	Commands []CommandLatency // by name
	Failed   uint64           // commands that failed
	Open     uint64           // commands that were not answered
}

// A CommandLatency is the distribution of the latencies of one command.
type CommandLatency struct {
	Name string
	Dist *latency.Dist
}

// upper is what is between a QP and its upper layer.
type upper struct {
	q      *QP
	stream *ulp.Stream
	wants  bool // descriptions
	lats   map[string]*latency.Dist
	failed uint64
	open   uint64

	holding  bool // a message is being looked at, and not handed out yet
	commands []ulp.Command
	events   []ulp.Event
}

// An UpperMemory is what looking for upper layers needs for a moment only. QPs of
// one goroutine can share it.
type UpperMemory struct {
	d ulp.Description
	m ulp.Message
	s ulp.Startup
}

func newUpper(q *QP, protocols []ulp.Protocol, forced bool) *upper {
	u := &upper{q: q, wants: q.o.Messages && q.o.Describe != DescribeNone}
	u.stream = ulp.NewStream(u, ulp.Config{Protocols: protocols, Forced: forced, Ports: [2]uint16{q.c.Ends[0].Port(), q.c.Ends[1].Port()}})
	return u
}

// see shows a message to the upper layer, before it is handed out. What comes
// of it is held until flush, so that it comes behind the message.
func (u *upper) see(x *Message) {
	if u.stream.Idle() {
		return
	}
	var d *ulp.Description
	now := u.q.o.UpperMemory
	if u.wants {
		d = &now.d
		d.Reset()
		d.Fields.Off = u.q.o.Describe == DescribeText
	}
	u.holding = u.wants
	if s := x.Startup; s != nil {
		now.s = ulp.Startup{N: x.N, Side: ulp.Side(x.Side), Reply: s.Reply, Reject: s.Reject, Revision: s.Revision, Enhanced: s.Enhanced,
			First: x.First, Last: x.Last, Private: s.Private}
		if x.Complete {
			u.stream.Startup(&now.s, d)
		}
	} else {
		m := &now.m
		*m = ulp.Message{N: x.N, Side: ulp.Side(x.Side), Op: x.Op, Size: x.Size, Payload: x.Payload, Complete: x.Complete, First: x.First, Last: x.Last,
			MSN: x.Header.MSN, STag: x.Header.STag, TO: x.Header.TO, Answers: x.Answers}
		if x.Op.Invalidates() {
			m.Invalidate, m.HasInvalidate = x.Header.ULPWord, true
		}
		if x.Read != nil {
			m.STag, m.TO, m.ReadSize = x.Read.SrcSTag, x.Read.SrcTO, x.Read.Size
		}
		if !x.RTR && x.Op != rdmap.OpTerminate {
			u.stream.Message(m, d)
		}
	}
	if d != nil && d.Protocol != "" {
		x.ULP = d
	}
}

// flush hands out what was held.
func (u *upper) flush() {
	u.holding = false
	for i := range u.commands {
		u.hand(&u.commands[i])
	}
	for i := range u.events {
		u.tell(&u.events[i])
	}
	u.commands, u.events = u.commands[:0], u.events[:0]
}

// Command takes a command that is over.
func (u *upper) Command(c *ulp.Command) {
	if u.holding {
		if n := len(u.commands); n < cap(u.commands) {
			u.commands = u.commands[:n+1] // with the memory that it had
		} else {
			u.commands = append(u.commands, ulp.Command{})
		}
		c.CopyTo(&u.commands[len(u.commands)-1])
		return
	}
	u.hand(c)
}

// Event takes an event.
func (u *upper) Event(e *ulp.Event) {
	if u.holding {
		u.events = append(u.events, *e)
		return
	}
	u.tell(e)
}

var commandStatus = [...]Status{ulp.OK: StatusOK, ulp.Unanswered: StatusUnanswered, ulp.Failed: StatusFailed}

// hand makes an operation of a command.
func (u *upper) hand(c *ulp.Command) {
	q := u.q
	side := Side(c.Side)
	o := &q.op
	*o = Operation{Conn: q.c, Kind: KindCommand, Side: side, From: q.roles[side], Start: c.Start, End: c.End, Latency: c.End.Time - c.Start.Time,
		First: -1, Measure: MeasureReply, Size: c.Size, Request: c.Request, Answer: c.Reply, Status: commandStatus[c.Status],
		RequestSpread: -1, Service: -1, ResponseSpread: -1, Depth: c.Depth, Command: c}
	switch c.Status {
	case ulp.Unanswered:
		u.open++
	case ulp.Failed:
		u.failed++
	}
	if c.Status != ulp.Unanswered {
		s := c.Split()
		o.RequestSpread, o.Service, o.ResponseSpread = s.Request, s.Server, s.Reply
		if c.Status == ulp.OK {
			u.record(c.Name, o.Latency)
		}
	}
	if q.o.Operations {
		q.sink.Operation(o)
	}
}

func (u *upper) record(name string, ns int64) {
	d := u.lats[name]
	if d == nil {
		if len(u.lats) >= maxNames {
			return
		}
		if u.lats == nil {
			u.lats = map[string]*latency.Dist{}
		}
		d = new(latency.Dist)
		u.lats[name] = d
	}
	d.Record(ns)
}

var upperSeverity = [...]Severity{ulp.Info: Info, ulp.Warning: Warning, ulp.Error: Error}

// tell makes an Event of what a protocol has to tell.
func (u *upper) tell(e *ulp.Event) {
	var fields []Field
	if e.Command != "" {
		fields = append(fields, Field{Name: "command", Text: e.Command})
	}
	if e.HasValue {
		fields = append(fields, Field{Name: "value", Num: int64(e.Value)}, Field{Name: "most", Num: int64(e.Limit)})
	}
	if e.Wait > 0 {
		fields = append(fields, Field{Name: "wait_ns", Num: e.Wait})
	}
	u.q.tell(upperSeverity[e.Severity], e.Kind, Side(e.Side), e.At, e.N, e.Detail, fields...)
}

// end takes the end of the QP, and says what is known of its upper layer.
func (u *upper) end(at mpa.Stamp) *UpperLayer {
	u.stream.End(at)
	u.flush()
	name, doubt := u.stream.Name()
	if name == "" {
		return nil
	}
	l := &UpperLayer{Protocol: name, Title: u.stream.Title(), Doubt: doubt, Failed: u.failed, Open: u.open}
	u.stream.Summary(&l.Fields)
	for name, d := range u.lats {
		l.Commands = append(l.Commands, CommandLatency{name, d})
	}
	slices.SortFunc(l.Commands, func(a, b CommandLatency) int { return strings.Compare(a.Name, b.Name) })
	return l
}

// Keep is how many octets of the payload of Sends, and of tagged messages, the
// upper layer needs.
func (q *QP) Keep() (send, tagged int) {
	if q.upper == nil {
		return 0, 0
	}
	return q.upper.stream.Keep()
}
