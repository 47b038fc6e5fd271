package ulp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
)

// log keeps what is found.
type log struct {
	commands []*ulp.Command
	events   []ulp.Event
}

func (l *log) Command(c *ulp.Command) { l.commands = append(l.commands, c.Clone()) }
func (l *log) Event(e *ulp.Event)     { l.events = append(l.events, *e) }

func at(ns int64) mpa.Stamp { return mpa.Stamp{Frame: uint64(ns), Time: ns} }

// msg is a message from first to last.
func msg(n int, side ulp.Side, op rdmap.Op, first, last int64) *ulp.Message {
	return &ulp.Message{N: n, Side: side, Op: op, First: at(first), Last: at(last), Complete: true}
}

// A write of 300 octets: two Read Requests, one of them answered late, and the
// time that each part of it took.
func TestTracker(t *testing.T) {
	var l log
	k := ulp.NewTracker(&l)
	p := k.Begin(7, "x.write", msg(1, 0, rdmap.OpSend, 100, 110))
	p.Command.Size = 300
	k.Expose(p, ulp.Buffer{STag: 9, TO: 1000, Len: 200})
	k.Expose(p, ulp.Buffer{STag: 9, TO: 5000, Len: 100})
	other := k.Begin(8, "x.write", msg(2, 0, rdmap.OpSend, 111, 112))
	k.Expose(other, ulp.Buffer{STag: 9, TO: 1200, Len: 50}) // the same STag, right behind

	read := func(n int, to uint64, size uint32, at int64) *ulp.Message {
		m := msg(n, 1, rdmap.OpReadRequest, at, at)
		m.STag, m.TO, m.ReadSize = 9, to, size
		return m
	}
	answer := func(n, answers int, size uint64, first, last int64) *ulp.Message {
		m := msg(n, 0, rdmap.OpReadResponse, first, last)
		m.Answers, m.Size = answers, size
		return m
	}
	for _, m := range []*ulp.Message{read(3, 1000, 200, 130), read(4, 5000, 100, 131), answer(5, 3, 200, 140, 150), answer(6, 4, 100, 151, 170)} {
		if got := k.Data(m); got == nil || got.ID != 7 {
			t.Fatalf("message %d is of %v", m.N, got)
		}
	}
	if got := k.Data(read(7, 1200, 50, 175)); got != other {
		t.Errorf("what is behind the buffer of one command is of %v", got)
	}
	for name, m := range map[string]*ulp.Message{
		"another address": read(8, 1250, 1, 176), "in front": read(8, 999, 1, 176), "answered twice": answer(8, 3, 1, 176, 177), "not asked": answer(8, 99, 1, 176, 177),
	} {
		if got := k.Data(m); got != nil {
			t.Errorf("%s is of command %d", name, got.ID)
		}
	}
	k.Finish(k.Find(0, 7), msg(9, 1, rdmap.OpSend, 200, 205), ulp.OK, "")
	if len(l.commands) != 1 {
		t.Fatalf("%d commands", len(l.commands))
	}
	c := l.commands[0]
	if c.Request != 1 || c.Reply != 9 || c.Moved != 300 || c.PartCount != 4 || c.Start.Time != 100 || c.End.Time != 205 || c.Depth != 1 {
		t.Errorf("%+v", c)
	}
	if d := cmp.Diff(ulp.Split{Request: 10, Data: 40, Server: 50, Reply: 5}, c.Split()); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if k.Find(0, 7) != nil || k.Outstanding(0) != 1 {
		t.Error("the command is still there")
	}
	if k.Data(read(10, 1000, 1, 300)) != nil {
		t.Error("the buffer of a command that is over is still known")
	}

	k.Finish(k.Find(0, 8), msg(11, 1, rdmap.OpSend, 301, 301), ulp.Failed, "no room")
	if len(l.events) != 1 || l.events[0].Kind != ulp.CommandFailed || l.events[0].Detail != "command x.write (#2) failed: no room" {
		t.Errorf("%+v", l.events)
	}
}

// What is never answered is told, unless that is as it should be or the answer
// may be what the capture lacks.
func TestTrackerEnd(t *testing.T) {
	var l log
	k := ulp.NewTracker(&l)
	k.Begin(1, "x.lost", msg(1, 0, rdmap.OpSend, 1, 1))
	k.Lost(1)
	k.Begin(2, "x.quiet", msg(2, 0, rdmap.OpSend, 2, 2)).Quiet = true
	k.Begin(3, "x.open", msg(3, 0, rdmap.OpSend, 3, 3))
	k.Begin(3, "x.again", msg(4, 1, rdmap.OpSend, 4, 4)) // the ids of the sides are apart
	k.Begin(5, "x.reused", msg(5, 1, rdmap.OpSend, 5, 5))
	k.Begin(5, "x.new", msg(6, 1, rdmap.OpSend, 6, 6))
	k.End(at(100))
	var names []string
	for _, c := range l.commands {
		if c.Status != ulp.Unanswered || c.End.Time != 100 {
			t.Errorf("%+v", c)
		}
		names = append(names, c.Name)
	}
	if d := cmp.Diff([]string{"x.open", "x.again", "x.new"}, names); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if len(l.events) != 3 || l.events[0].Kind != ulp.CommandUnanswered || l.events[0].Wait != 97 {
		t.Errorf("%+v", l.events)
	}
}

// Its memory does not grow with what it sees, and ordinary commands allocate
// nothing.
func TestTrackerBounded(t *testing.T) {
	k := ulp.NewTracker(quiet{})
	request, write, reply := msg(1, 0, rdmap.OpSend, 1, 2), msg(2, 1, rdmap.OpWrite, 3, 4), msg(3, 1, rdmap.OpSend, 5, 6)
	id := uint64(0)
	step := func() {
		for range 8 {
			id++
			p := k.Begin(id%32, "x.read", request)
			p.Command.Fields.Uint("id", "ID", id)
			k.Expose(p, ulp.Buffer{STag: uint32(id % 32), TO: 4096, Len: 512})
			write.STag, write.TO = uint32(id%32), 4096
			k.Data(write)
			k.Finish(p, reply, ulp.OK, "")
		}
	}
	for range 100 {
		step()
	}
	if n := testing.AllocsPerRun(50, step); n > 1 { // a map grows now and then
		t.Errorf("%v allocations for 8 commands", n)
	}
	// One that is never answered does not keep the others.
	k.Begin(1000, "x.event", request).Quiet = true
	for range 10_000 {
		step()
	}
	if k.Outstanding(0) != 1 {
		t.Errorf("%d outstanding", k.Outstanding(0))
	}
	for i := range uint64(100_000) {
		k.Begin(i+5000, "x.read", request)
		write.Op, write.N = rdmap.OpReadRequest, int(i)
		k.Data(write)
	}
	if n := k.Outstanding(0); n > 4096 {
		t.Errorf("%d outstanding", n)
	}
	p := k.Begin(1<<40, "x.read", request)
	k.Expose(p, ulp.Buffer{STag: 77, TO: 0, Len: 1 << 40})
	write.Op, write.STag = rdmap.OpWrite, 77
	for i := range uint64(1000) {
		write.TO = i
		k.Data(write)
	}
	if n := len(p.Command.Parts); n != ulp.MaxParts || p.Command.PartCount != 1000 {
		t.Errorf("%d parts of %d", n, p.Command.PartCount)
	}
}

type quiet struct{}

func (quiet) Command(*ulp.Command) {}
func (quiet) Event(*ulp.Event)     {}
