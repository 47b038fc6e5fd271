package ddp

import (
	"math"
	"slices"

	"github.com/iwdump/iwdump/dissect/mpa"
)

const (
	queues  = 4 // queue numbers of RDMAP (RFC 7306, section 10.2)
	maxRuns = 8 // tagged messages that may be open at once
)

// An Assembler puts the segments of one direction together into messages:
// untagged ones by queue, MSN and MO, tagged ones by runs of opcode, STag and
// TO that end with L. Segments come in the order of the stream. Several
// messages may be open at once, on different queues.
type Assembler struct {
	h    Handler
	keep [2]int // octets of a payload: of untagged messages, and of tagged ones
	q    [queues]queue
	runs []*partial // tagged messages that are open
	mem  *Memory
	lost bool // some segments since the last message may be missing

	// Knowledge of tagged messages that are over, for Knows.
	stags [8]uint32
	nstag int
}

// queue is what is known of an untagged queue.
type queue struct {
	open   *partial
	next   uint32 // MSN
	synced bool   // next is right
}

// partial is a message that is open.
type partial struct {
	msg     Message
	next    uint64 // MO or TO where the next segment must begin
	lost    bool   // segments of it may be missing; tagged only
	payload []byte
}

// Memory is what Assemblers of one goroutine share: that of messages which are
// open no longer serves the next.
type Memory struct {
	free []*partial
	out  Message
}

// partial returns one that begins with s.
func (m *Memory) partial(s *Segment) *partial {
	var p *partial
	if n := len(m.free); n > 0 {
		p, m.free = m.free[n-1], m.free[:n-1]
	} else {
		p = new(partial)
	}
	begin(&p.msg, s)
	p.lost, p.payload = false, p.payload[:0]
	return p
}

// hand hands a message out that is over.
func (a *Assembler) hand(p *partial) {
	const most = 64 // unused at once
	p.msg.Complete = p.msg.Complete && p.msg.Done
	p.msg.Payload = p.payload
	a.h.Message(&p.msg)
	if len(a.mem.free) < most {
		a.mem.free = append(a.mem.free, p)
	}
}

// whole hands out a message of a single segment.
func (a *Assembler) whole(s *Segment) {
	m := &a.mem.out
	begin(m, s)
	m.Payload = s.Payload
	a.h.Message(m)
}

// Config says how an Assembler works.
type Config struct {
	// Keep is how many octets of the payload of each message are kept; where a
	// message is a single segment, all that is at hand is handed out.
	Keep int
	// Start says that the first segment is the first of the stream, so that
	// MSNs begin with 1.
	Start bool
	// Memory is shared with other Assemblers; nil is one of its own.
	Memory *Memory
}

// NewAssembler returns an Assembler that hands messages to h.
func NewAssembler(h Handler, c Config) *Assembler {
	a := &Assembler{h: h, keep: [2]int{c.Keep, c.Keep}, mem: c.Memory}
	if a.mem == nil {
		a.mem = new(Memory)
	}
	if c.Start {
		for i := range a.q {
			a.q[i].synced, a.q[i].next = true, 1
		}
	}
	return a
}

// Keep sets how many octets of the payload of untagged and of tagged messages
// are kept from here on.
func (a *Assembler) Keep(untagged, tagged int) { a.keep = [2]int{untagged, tagged} }

// Add takes the next segment.
func (a *Assembler) Add(s *Segment) {
	if s.Version != Version {
		a.violate(s, BadVersion, Version, uint64(s.Version))
	}
	if s.Tagged {
		a.tagged(s)
	} else {
		a.untagged(s)
	}
	a.lost = false
}

// Lost tells that octets of the stream are missing, or could not be framed,
// between the last segment and the next.
func (a *Assembler) Lost() {
	a.lost = true
	for i := range a.q {
		a.q[i].synced = false
	}
	for i := range a.runs {
		a.runs[i].lost = true
	}
}

// Flush hands out the messages that are open.
func (a *Assembler) Flush() {
	for i := range a.q {
		if a.q[i].open != nil {
			a.close(&a.q[i])
		}
	}
	for len(a.runs) > 0 {
		a.end(0)
	}
}

// Expects returns the MSN that the next message on queue qn must have, where
// it is known.
func (a *Assembler) Expects(qn uint32) (msn uint32, ok bool) {
	if qn >= queues || a.q[qn].next == 0 {
		return 0, false
	}
	return a.q[qn].next, true
}

// Knows says that stag was used lately.
func (a *Assembler) Knows(stag uint32) bool {
	for i := range min(a.nstag, len(a.stags)) {
		if a.stags[i] == stag {
			return true
		}
	}
	for i := range a.runs {
		if a.runs[i].msg.Header.STag == stag {
			return true
		}
	}
	return false
}

func (a *Assembler) violate(s *Segment, kind ViolationKind, want, got uint64) {
	a.h.Violation(&Violation{Kind: kind, Header: s.Header, Want: want, Got: got, Off: s.Off, At: s.First})
}

// worse returns the worse of two verdicts.
func worse(a, b mpa.CRC) mpa.CRC {
	order := [...]int{mpa.CRCOK: 0, mpa.CRCOff: 1, mpa.CRCUnchecked: 2, mpa.CRCBad: 3}
	if order[b] > order[a] {
		return b
	}
	return a
}

// begin starts a message with its first segment.
func begin(m *Message, s *Segment) {
	// Field by field: a composite literal is made elsewhere, then copied.
	m.Header, m.Size, m.Segments = s.Header, uint64(s.Len), 1
	m.Off, m.End = s.Off, s.Off+uint64(s.Wire)
	m.First, m.Last = s.First, s.Latest
	m.Done, m.Complete, m.EndLost, m.Retrans, m.CRC = s.Last, s.Complete, s.EndLost, s.Retrans, s.CRC
	m.Payload = nil
}

// extend adds a segment to a message.
func extend(m *Message, s *Segment) {
	m.Segments++
	m.End = s.Off + uint64(s.Wire)
	m.Last = s.Latest
	m.Done = s.Last
	m.Complete = m.Complete && s.Complete
	m.EndLost = s.EndLost
	m.Retrans = m.Retrans || s.Retrans
	m.CRC = worse(m.CRC, s.CRC)
}

// untagged takes an untagged segment.
func (a *Assembler) untagged(s *Segment) {
	if s.QN >= queues {
		// No such queue: what the opcode says of it is the caller's matter.
		a.whole(s)
		return
	}
	q := &a.q[s.QN]
	if q.open != nil && (s.MSN != q.open.msg.Header.MSN || s.MO == 0) {
		if q.synced {
			a.violate(s, Unfinished, uint64(q.open.msg.Header.MSN), uint64(s.MSN))
		}
		a.close(q)
	}
	if q.open == nil {
		a.first(q, s)
		return
	}
	p := q.open
	if uint64(s.MO) != p.next {
		if q.synced {
			a.violate(s, MOGap, p.next, uint64(s.MO))
		}
		p.msg.Complete = false
	}
	q.synced = true
	extend(&p.msg, s)
	a.gather(&p.payload, a.keep[0], uint64(s.MO), s.Payload)
	p.next = uint64(s.MO) + uint64(s.Len)
	p.msg.Size = max(p.msg.Size, p.next)
	if s.Last {
		a.close(q)
	}
}

// first takes the first segment of an untagged message that is seen.
func (a *Assembler) first(q *queue, s *Segment) {
	switch {
	case !q.synced || s.MSN == q.next:
	case int32(s.MSN-q.next) > 0:
		a.violate(s, MSNGap, uint64(q.next), uint64(s.MSN))
	default:
		a.violate(s, MSNRepeated, uint64(q.next), uint64(s.MSN))
	}
	if s.MO != 0 && q.synced {
		a.violate(s, MOGap, 0, uint64(s.MO))
	}
	q.next = s.MSN + 1
	if s.Last && s.MO == 0 {
		q.synced = true
		a.whole(s)
		return
	}
	p := a.mem.partial(s)
	q.open, q.synced = p, true
	p.msg.Complete = s.Complete && s.MO == 0
	p.msg.Size = uint64(s.MO) + uint64(s.Len)
	a.gather(&p.payload, a.keep[0], uint64(s.MO), s.Payload)
	p.next = p.msg.Size
	if s.Last {
		a.close(q)
	}
}

// close hands out the message of a queue.
func (a *Assembler) close(q *queue) {
	p := q.open
	q.open = nil
	a.hand(p)
}

// gather keeps the first octets of a message, keep of them at most, as long as
// they come without a hole. at is where b belongs.
func (a *Assembler) gather(p *[]byte, keep int, at uint64, b []byte) {
	if at == uint64(len(*p)) && len(*p) < keep {
		*p = append(*p, b[:min(len(b), keep-len(*p))]...)
	}
}

// tagged takes a tagged segment.
func (a *Assembler) tagged(s *Segment) {
	if s.TO > math.MaxUint64-uint64(s.Len) {
		a.violate(s, TOWrap, 0, s.TO)
	}
	i := a.find(s)
	if i < 0 {
		if s.Last && !a.lost {
			a.single(s)
			return
		}
		if len(a.runs) == maxRuns {
			a.end(0)
		}
		r := a.mem.partial(s)
		a.runs = append(a.runs, r)
		// What is first seen behind a hole may be the middle of a message.
		r.msg.Complete = s.Complete && !a.lost
		a.gather(&r.payload, a.keep[1], 0, s.Payload)
		r.next = s.TO + uint64(s.Len)
		if s.Last {
			a.end(len(a.runs) - 1)
		}
		return
	}
	r := a.runs[i]
	if s.TO != r.next {
		if !r.lost {
			a.violate(s, TOGap, r.next, s.TO)
		}
		r.msg.Complete = false
	}
	r.lost = false
	a.gather(&r.payload, a.keep[1], s.TO-r.msg.Header.TO, s.Payload)
	extend(&r.msg, s)
	r.next = s.TO + uint64(s.Len)
	r.msg.Size = r.next - r.msg.Header.TO
	if s.Last {
		a.end(i)
	}
}

// single hands out a tagged message of one segment.
func (a *Assembler) single(s *Segment) {
	a.remember(s.STag)
	a.whole(s)
}

// find returns the open message that s goes on with, or -1.
func (a *Assembler) find(s *Segment) int {
	op := s.ULPControl & 0xF
	best := -1
	for i := range a.runs {
		r := a.runs[i]
		if h := &r.msg.Header; h.STag != s.STag || h.ULPControl&0xF != op {
			continue
		}
		if r.next == s.TO {
			return i
		}
		// Behind a hole the TO has jumped, but not back and not far.
		if s.TO > r.next && s.TO-r.next <= math.MaxUint32 && r.lost {
			best = i
		}
	}
	if best >= 0 {
		return best
	}
	// One message of an opcode ends before the next begins.
	for i := range a.runs {
		r := a.runs[i]
		if r.msg.Header.ULPControl&0xF != op {
			continue
		}
		if !r.lost && r.msg.Header.STag == s.STag && s.TO > r.next {
			return i // a jump in the middle of a message
		}
		if !r.lost {
			a.violate(s, Unfinished, r.next, s.TO)
		}
		a.end(i)
		break
	}
	return -1
}

// end hands out the open tagged message at i.
func (a *Assembler) end(i int) {
	p := a.runs[i]
	a.remember(p.msg.Header.STag)
	a.runs = slices.Delete(a.runs, i, i+1)
	a.hand(p)
}

// remember notes an STag for Knows.
func (a *Assembler) remember(stag uint32) {
	if a.nstag > 0 && a.stags[(a.nstag-1)%len(a.stags)] == stag {
		return
	}
	a.stags[a.nstag%len(a.stags)] = stag
	a.nstag++
}
