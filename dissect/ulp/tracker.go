package ulp

import (
	"slices"
	"time"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
)

// Limits of a Tracker. At the first two the oldest makes way, and is not
// reported.
const (
	maxPending    = 4096 // commands outstanding
	maxReads      = 4096 // Read Requests whose response has not come
	maxBuffers    = 64   // buffers of one command that are joined
	maxFree       = 256  // commands whose memory is kept for others
	maxUnanswered = 16   // commands without an answer that are told one by one, of a side
)

// A Buffer is memory of the side that asks, which the other may use for a
// command: octets TO to TO+Len of an STag.
type Buffer struct {
	STag uint32
	TO   uint64
	Len  uint64
}

func (b *Buffer) holds(stag uint32, to uint64) bool { return b.STag == stag && to-b.TO < b.Len }

// A Pending is a command that is outstanding. Command can be changed until it
// is finished.
type Pending struct {
	Command Command
	ID      uint64 // by which its reply is found
	// Quiet says that it is no matter where it stays without an answer, as a
	// request to be told of events.
	Quiet bool
	// Mild says that its failure is an ordinary answer, as that a name is not
	// there: the event that it makes is Info.
	Mild bool
	// State is for the decoder; it is 0 at the beginning.
	State uint64

	buffers []Buffer
	losses  int // of the answering side when it was asked
	open    bool
}

// A Tracker keeps the commands of one QP that are outstanding, joins the RDMA
// messages that move their data, and hands them out when they are answered. IDs
// are unique among the outstanding commands of a side.
type Tracker struct {
	h      Handler
	ids    [2]map[uint64]*Pending
	order  [2][]*Pending // oldest first, with those that are finished
	open   [2]int
	stags  map[uint32][]*Pending
	reads  map[int]*Pending // by N of the Read Request
	asked  []int            // of reads, oldest first
	losses [2]int
	free   []*Pending
	lists  [][]*Pending // memory of stags
	event  Event
}

// NewTracker returns an empty Tracker that hands commands to h.
func NewTracker(h Handler) *Tracker {
	return &Tracker{h: h, ids: [2]map[uint64]*Pending{{}, {}}, stags: map[uint32][]*Pending{}, reads: map[int]*Pending{}}
}

// Outstanding is how many commands of a side are outstanding.
func (t *Tracker) Outstanding(side Side) int { return t.open[side] }

// Begin takes a request. Where the id is outstanding already, its reply was
// missed: that command is forgotten.
func (t *Tracker) Begin(id uint64, name string, m *Message) *Pending {
	s := m.Side
	if p := t.ids[s][id]; p != nil {
		t.drop(p)
	}
	if t.open[s] >= maxPending {
		t.drop(t.oldest(s))
	}
	p := t.get()
	p.ID, p.open, p.losses = id, true, t.losses[s.Other()]
	c := &p.Command
	c.Name, c.Side, c.Request, c.Start, c.Sent = name, s, m.N, m.First, m.Last
	t.ids[s][id] = p
	t.order[s] = append(t.order[s], p)
	t.open[s]++
	c.Depth = t.open[s]
	return p
}

// get returns a Pending that is empty but for its memory.
func (t *Tracker) get() *Pending {
	n := len(t.free)
	if n == 0 {
		return new(Pending)
	}
	p := t.free[n-1]
	t.free = t.free[:n-1]
	parts, fields, buffers := p.Command.Parts[:0], p.Command.Fields, p.buffers[:0]
	fields.Reset()
	*p = Pending{buffers: buffers, Command: Command{Parts: parts, Fields: fields}}
	return p
}

// oldest returns the oldest open command of a side.
func (t *Tracker) oldest(s Side) *Pending {
	for _, p := range t.order[s] {
		if p.open {
			return p
		}
	}
	return nil
}

// drop forgets a command.
func (t *Tracker) drop(p *Pending) {
	if p == nil || !p.open {
		return
	}
	p.open = false
	s := p.Command.Side
	t.open[s]--
	if t.ids[s][p.ID] == p {
		delete(t.ids[s], p.ID)
	}
	for _, b := range p.buffers {
		l := t.stags[b.STag]
		if i := slices.Index(l, p); i >= 0 {
			l = slices.Delete(l, i, i+1)
		}
		if len(l) == 0 {
			delete(t.stags, b.STag)
			if cap(l) > 0 && len(t.lists) < maxFree {
				t.lists = append(t.lists, l)
			}
		} else {
			t.stags[b.STag] = l
		}
	}
	for _, part := range p.Command.Parts {
		if part.Op == rdmap.OpReadRequest && t.reads[part.N] == p {
			delete(t.reads, part.N)
		}
	}
	t.tidy(s)
}

// tidy takes what is finished from the front of the order, and, where much is
// finished behind a command that stays, from all of it.
func (t *Tracker) tidy(s Side) {
	o := t.order[s]
	if len(o) > 0 && o[0].open && len(o) < 2*t.open[s]+64 {
		return
	}
	kept := o[:0]
	for _, p := range o {
		if p.open {
			kept = append(kept, p)
		} else if len(t.free) < maxFree {
			t.free = append(t.free, p)
		}
	}
	clear(o[len(kept):])
	t.order[s] = kept
}

// Find returns the outstanding command of a side by its id, nil where there is
// none. A Pending is not to be used after the next call of Begin or Finish.
func (t *Tracker) Find(side Side, id uint64) *Pending { return t.ids[side][id] }

// Expose notes a buffer that a command lets the peer use.
func (t *Tracker) Expose(p *Pending, b Buffer) {
	if len(p.buffers) >= maxBuffers || b.Len == 0 {
		return
	}
	p.buffers = append(p.buffers, b)
	l := t.stags[b.STag]
	if n := len(t.lists); l == nil && n > 0 {
		l = t.lists[n-1]
		t.lists = t.lists[:n-1]
	}
	if !slices.Contains(l, p) {
		t.stags[b.STag] = append(l, p)
	}
}

// Data joins an RDMA Write, Read Request or Read Response to the command whose
// buffer it uses, and returns it; nil where there is none. Other messages are
// passed over.
func (t *Tracker) Data(m *Message) *Pending {
	size := m.Size
	var p *Pending
	switch m.Op {
	case rdmap.OpWrite:
		p = t.using(m.Side.Other(), m.STag, m.TO)
	case rdmap.OpReadRequest:
		size = uint64(m.ReadSize)
		if p = t.using(m.Side.Other(), m.STag, m.TO); p != nil {
			t.await(m.N, p)
		}
	case rdmap.OpReadResponse:
		if p = t.reads[m.Answers]; p != nil && m.Answers > 0 {
			delete(t.reads, m.Answers)
		}
	}
	if p == nil {
		return nil
	}
	c := &p.Command
	if c.PartCount == 0 {
		c.DataFirst, c.DataLast = m.First, m.Last
	}
	if m.First.Time < c.DataFirst.Time {
		c.DataFirst = m.First
	}
	if m.Last.Time > c.DataLast.Time {
		c.DataLast = m.Last
	}
	c.PartCount++
	if m.Op != rdmap.OpReadRequest {
		c.Moved += size
	}
	if len(c.Parts) < MaxParts {
		c.Parts = append(c.Parts, Part{N: m.N, Op: m.Op, Size: size, First: m.First, Last: m.Last})
	}
	return p
}

// using returns the command of a side that exposes an address.
func (t *Tracker) using(side Side, stag uint32, to uint64) *Pending {
	for _, p := range t.stags[stag] {
		if p.Command.Side != side {
			continue
		}
		for i := range p.buffers {
			if p.buffers[i].holds(stag, to) {
				return p
			}
		}
	}
	return nil
}

// await notes that a Read Request was sent for a command. Beyond MaxParts of a
// command they are not followed.
func (t *Tracker) await(n int, p *Pending) {
	if len(p.Command.Parts) >= MaxParts {
		return
	}
	if len(t.asked) >= 2*maxReads {
		kept := t.asked[:0]
		for _, k := range t.asked {
			if t.reads[k] != nil {
				kept = append(kept, k)
			}
		}
		if len(kept) >= maxReads {
			for _, k := range kept[:len(kept)/2] {
				delete(t.reads, k)
			}
			kept = slices.Delete(kept, 0, len(kept)/2)
		}
		t.asked = kept
	}
	t.reads[n] = p
	t.asked = append(t.asked, n)
}

// Finish hands out a command that m answers, and forgets it. result says how
// it failed; a Failed command makes an event.
func (t *Tracker) Finish(p *Pending, m *Message, status Status, result string) {
	c := &p.Command
	c.Reply, c.Back, c.End = m.N, m.First, m.Last
	c.Status, c.Result = status, result
	t.h.Command(c)
	if status == Failed {
		t.event = Event{Kind: CommandFailed, Severity: Warning, Side: m.Side, N: m.N, At: m.Last, Command: c.Name,
			Detail: "command " + c.Name + " (#" + itoa(c.Request) + ") failed: " + result}
		if p.Mild {
			t.event.Severity = Info
		}
		t.h.Event(&t.event)
	}
	t.drop(p)
}

// Drop forgets a command without a word, where its end cannot be seen.
func (t *Tracker) Drop(p *Pending) { t.drop(p) }

// Lost tells that messages of a side may be missing: what it had to answer may
// have been answered.
func (t *Tracker) Lost(side Side) { t.losses[side]++ }

// End hands out what was not answered, but for what is Quiet, and for what may
// have been answered where the capture has a hole.
func (t *Tracker) End(at mpa.Stamp) {
	for s := range t.order {
		told, more := 0, Event{}
		for _, p := range t.order[s] {
			c := &p.Command
			if !p.open {
				continue
			}
			p.open = false
			if p.Quiet || p.losses != t.losses[Side(s).Other()] {
				continue
			}
			c.Status, c.End = Unanswered, at
			t.h.Command(c)
			t.event = Event{Kind: CommandUnanswered, Severity: Warning, Side: Side(s), N: c.Request, At: c.Sent, Command: c.Name, Wait: at.Time - c.Sent.Time,
				Detail: "command " + c.Name + " (#" + itoa(c.Request) + ") was not answered in the " + time.Duration(at.Time-c.Sent.Time).String() + " that followed"}
			if told++; told <= maxUnanswered {
				t.h.Event(&t.event)
			} else {
				more = t.event
			}
		}
		if told > maxUnanswered {
			more.Detail = itoa(told-maxUnanswered) + " more commands were not answered"
			t.h.Event(&more)
		}
		t.order[s], t.open[s] = nil, 0
		clear(t.ids[s])
	}
	clear(t.stags)
	clear(t.reads)
	t.asked = nil
}
