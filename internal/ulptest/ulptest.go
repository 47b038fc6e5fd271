// Package ulptest shows the messages of a capture to upper layer protocols. It
// is for tests.
package ulptest

import (
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
)

// A Result is what was found on one QP.
type Result struct {
	Name     string
	Doubt    bool
	Commands []*ulp.Command
	Events   []ulp.Event
	Texts    []string // of the messages that have one
	Summary  ulp.Fields

	stream *ulp.Stream
	desc   ulp.Description
}

// Command takes a command.
func (r *Result) Command(c *ulp.Command) { r.Commands = append(r.Commands, c.Clone()) }

// Event takes an event.
func (r *Result) Event(e *ulp.Event) { r.Events = append(r.Events, *e) }

// sink makes messages of those of package qp.
type sink struct {
	t         testing.TB
	keep      int
	protocols []ulp.Protocol
	qps       map[*qp.Conn]*Result
	order     []*Result
}

// Run shows the messages of a capture, of whose payloads keep octets are kept,
// to the protocols, and returns what was found, QP by QP.
func Run(t testing.TB, name string, keep int, protocols ...ulp.Protocol) []*Result {
	t.Helper()
	src := capture.Open([]string{name}, nil, capture.Options{})
	defer src.Close()
	s := &sink{t: t, keep: keep, protocols: protocols, qps: map[*qp.Conn]*Result{}}
	if _, err := decode.Run(src, s, decode.Options{Workers: 1, Messages: true, KeepPayload: keep}); err != nil {
		t.Fatal(err)
	}
	return s.order
}

func (s *sink) result(c *qp.Conn) *Result {
	r := s.qps[c]
	if r == nil {
		r = &Result{}
		r.stream = ulp.NewStream(r, ulp.Config{Protocols: s.protocols, Ports: [2]uint16{c.Ends[0].Port(), c.Ends[1].Port()}})
		s.qps[c] = r
		s.order = append(s.order, r)
	}
	return r
}

// Message takes a message.
func (s *sink) Message(m *qp.Message) {
	r := s.result(m.Conn)
	r.desc.Reset()
	if m.Startup != nil {
		r.stream.Startup(&ulp.Startup{N: m.N, Side: ulp.Side(m.Side), Reply: m.Startup.Reply, Reject: m.Startup.Reject, Revision: m.Startup.Revision,
			Enhanced: m.Startup.Enhanced, First: m.First, Last: m.Last, Private: m.Startup.Private}, &r.desc)
	} else {
		u := Message(m, s.keep)
		r.stream.Message(&u, &r.desc)
	}
	if len(r.desc.Text) > 0 {
		r.Texts = append(r.Texts, string(r.desc.Text))
	}
}

// Message is a message as an upper layer sees it.
func Message(m *qp.Message, keep int) ulp.Message {
	u := ulp.Message{N: m.N, Side: ulp.Side(m.Side), Op: m.Op, Size: m.Size, Payload: m.Payload[:min(len(m.Payload), keep)], Complete: m.Complete,
		First: m.First, Last: m.Last, MSN: m.Header.MSN, STag: m.Header.STag, TO: m.Header.TO, Answers: m.Answers}
	if m.Op.Invalidates() {
		u.Invalidate, u.HasInvalidate = m.Header.ULPWord, true
	}
	if m.Read != nil {
		u.STag, u.TO, u.ReadSize = m.Read.SrcSTag, m.Read.SrcTO, m.Read.Size
	}
	if m.Op != rdmap.OpReadResponse {
		u.Answers = 0
	}
	return u
}

// FPDU is not looked at.
func (s *sink) FPDU(*qp.FPDU) {}

// Operation is not looked at.
func (s *sink) Operation(*qp.Operation) {}

// Event tells of holes.
func (s *sink) Event(e *qp.Event) {
	if e.Conn != nil && (e.Kind == "tcp_gap" || e.Kind == "resync" || e.Kind == "skipped") {
		s.result(e.Conn).stream.Lost(ulp.Side(e.Side))
	}
}

// QP takes the end of a QP.
func (s *sink) QP(q *qp.Summary) {
	r := s.result(q.Conn)
	r.stream.End(q.End)
	r.Name, r.Doubt = r.stream.Name()
	r.stream.Summary(&r.Summary)
}
