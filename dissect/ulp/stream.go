package ulp

import "github.com/iwdump/iwdump/dissect/mpa"

// Limits of recognition.
const (
	maxLooks   = 64   // Sends that are looked at while nothing speaks for any protocol
	maxDoubt   = 1024 // Sends after which a doubt is given up
	maxHeld    = 256  // commands and events that are held back in doubt
	maxStrikes = 16   // Sends in a row that a protocol that was named makes nothing of
)

// Config says how a Stream recognises.
type Config struct {
	Protocols []Protocol
	// Forced says that the QP carries the first of Protocols, whatever its
	// content.
	Forced bool
	// Ports are those of the two sides.
	Ports [2]uint16
}

// A Stream follows one QP: it finds out which protocol it carries, and hands
// on what the decoder of that protocol finds. Where it recognises none, it
// costs a look at the first Sends and allocates nothing. It is for one
// goroutine.
type Stream struct {
	h       Handler
	c       Config
	cands   []candidate
	named   *candidate
	over    bool // nothing is looked for any more
	started bool
	looks   int
	strikes int
	lost    bool     // messages were missed: fewer are against a protocol
	latest  [2]int64 // time of the last message of each side

	startups []Startup // what was seen of them
	against  uint64    // bits of Config.Protocols
}

// A candidate is a protocol for which something speaks.
type candidate struct {
	p     *Protocol
	dec   Decoder
	score int
	held  *held
}

// NewStream returns a Stream that hands commands and events to h.
func NewStream(h Handler, c Config) *Stream { return &Stream{h: h, c: c} }

// Name is the name of the protocol, "" where none is recognised; doubt says
// that too few messages have agreed so far.
func (s *Stream) Name() (name string, doubt bool) {
	if s.named != nil {
		return s.named.p.Name, false
	}
	if l := s.leader(); l != nil {
		return l.p.Name, true
	}
	return "", false
}

// Title is that of the protocol.
func (s *Stream) Title() string {
	if l := s.leader(); l != nil {
		return l.p.Title
	}
	return ""
}

// Idle says that nothing is looked for any more, and nothing decoded: there is
// no need to keep payloads.
func (s *Stream) Idle() bool { return s.over }

// leader is the candidate for which most speaks, nil where there is none.
func (s *Stream) leader() *candidate {
	if s.named != nil {
		return s.named
	}
	var best *candidate
	for i := range s.cands {
		if c := &s.cands[i]; best == nil || c.score > best.score {
			best = c
		}
	}
	return best
}

func (s *Stream) find(p *Protocol) *candidate {
	for i := range s.cands {
		if s.cands[i].p == p {
			return &s.cands[i]
		}
	}
	return nil
}

// enter makes a protocol a candidate.
func (s *Stream) enter(p *Protocol) *candidate {
	if s.cands == nil {
		s.cands = make([]candidate, 0, len(s.c.Protocols)) // so that they stay where they are
	}
	k := &held{h: s.h}
	c := candidate{p: p, held: k, dec: p.New(k)}
	for _, port := range p.Ports {
		if port == s.c.Ports[0] || port == s.c.Ports[1] {
			c.score++
			break
		}
	}
	for i := range s.startups {
		c.dec.Startup(&s.startups[i], nil)
	}
	s.cands = append(s.cands, c)
	return &s.cands[len(s.cands)-1]
}

// begin makes the protocol that is forced the one.
func (s *Stream) begin() {
	if s.started {
		return
	}
	s.started = true
	if s.c.Forced && len(s.c.Protocols) > 0 {
		c := s.enter(&s.c.Protocols[0])
		c.score = sure
		s.name(c)
	}
	s.over = len(s.c.Protocols) == 0
}

// name takes a candidate for what the QP carries.
func (s *Stream) name(c *candidate) {
	s.named = c
	c.held.release()
}

// judge names a protocol where enough speaks for it, and forgets those that
// something speaks against.
func (s *Stream) judge() {
	kept := s.cands[:0]
	for _, c := range s.cands {
		if s.against>>s.index(c.p)&1 == 0 {
			kept = append(kept, c)
		}
	}
	clear(s.cands[len(kept):])
	s.cands = kept
	best := s.leader()
	if best == nil || best.score < sure {
		return
	}
	for i := range s.cands {
		if c := &s.cands[i]; c != best && c.score == best.score {
			return
		}
	}
	s.name(best)
}

func (s *Stream) index(p *Protocol) int {
	for i := range s.c.Protocols {
		if &s.c.Protocols[i] == p {
			return i
		}
	}
	return 0
}

// Startup takes a startup frame, and says in d what its private data is. d may
// be nil.
func (s *Stream) Startup(f *Startup, d *Description) {
	s.begin()
	if s.over {
		return
	}
	if s.named != nil {
		s.named.dec.Startup(f, d)
		s.label(d, s.named, f.N)
		return
	}
	lead := s.leader()
	for i := range s.c.Protocols {
		p := &s.c.Protocols[i]
		if s.against>>i&1 != 0 {
			continue
		}
		c := s.find(p)
		if c == nil {
			e := p.Private(f)
			if e < 0 {
				s.against |= 1 << i
			}
			if e <= 0 {
				continue
			}
			c = s.enter(p)
		}
		if lead == nil {
			lead = c
		}
		s.score(i, c, c.dec.Startup(f, describe(d, lead.p == p)))
	}
	if len(s.startups) < 2 {
		g := *f
		g.Private = append([]byte(nil), f.Private...)
		s.startups = append(s.startups, g)
	}
	leading := protocolOf(lead)
	s.judge()
	s.label(d, s.find(leading), f.N)
}

func protocolOf(c *candidate) *Protocol {
	if c == nil {
		return nil
	}
	return c.p
}

func describe(d *Description, yes bool) *Description {
	if yes {
		return d
	}
	return nil
}

func (s *Stream) score(i int, c *candidate, e Evidence) {
	if e < 0 {
		s.against |= 1 << i
		return
	}
	c.score += int(min(e, Strong))
}

// label completes the description of message n, or empties it where who made it
// is out.
func (s *Stream) label(d *Description, c *candidate, n int) {
	switch {
	case d == nil:
	case c == nil:
		d.Reset()
	case len(d.Text) > 0 || len(d.Fields.List) > 0:
		d.Protocol, d.Doubt = c.p.Name, s.named == nil
		if c.held.reply == n && n > 0 {
			d.Answers, d.Latency = c.held.request, c.held.latency
		}
	}
}

// Message takes a message, and says in d what it is. d may be nil.
func (s *Stream) Message(m *Message, d *Description) {
	s.begin()
	switch {
	case s.over:
		return
	case s.named != nil:
		s.follow(m, d)
	default:
		s.look(m, d)
	}
	// Where the side that asks had to be searched, its messages come behind
	// those that answer them.
	if other := m.Side.Other() & 1; m.Last.Time < s.latest[other] {
		s.Lost(other)
	}
	s.latest[m.Side&1] = max(s.latest[m.Side&1], m.Last.Time)
}

// follow takes a message of a QP whose protocol is known.
func (s *Stream) follow(m *Message, d *Description) {
	e := s.named.dec.Message(m, d)
	s.label(d, s.named, m.N)
	if !m.IsSend() || e == None {
		return
	}
	if e > 0 || s.c.Forced {
		s.strikes = 0
		return
	}
	if s.strikes++; s.strikes >= maxStrikes {
		s.over = true
	}
}

// look takes a message of a QP whose protocol is not known.
func (s *Stream) look(m *Message, d *Description) {
	if !m.IsSend() {
		lead := s.leader()
		for i := range s.cands {
			c := &s.cands[i]
			c.dec.Message(m, describe(d, c == lead))
		}
		if lead != nil {
			s.label(d, lead, m.N)
		}
		return
	}
	if m.Size == 0 {
		return // a ready-to-receive message
	}
	lead := s.leader()
	for i := range s.c.Protocols {
		p := &s.c.Protocols[i]
		if s.against>>i&1 != 0 {
			continue
		}
		c := s.find(p)
		if c == nil {
			e := p.Judge(m)
			if e < 0 && !s.lost {
				s.against |= 1 << i
			}
			if e <= 0 {
				continue
			}
			c = s.enter(p)
		}
		if lead == nil {
			lead = c
		}
		s.score(i, c, c.dec.Message(m, describe(d, lead.p == p)))
	}
	leading := protocolOf(lead)
	s.judge()
	s.label(d, s.find(leading), m.N)
	s.looks++
	s.over = s.named == nil && (s.against == 1<<len(s.c.Protocols)-1 || s.looks >= maxDoubt || len(s.cands) == 0 && s.looks >= maxLooks)
}

// Lost tells that messages of a side may be missing.
func (s *Stream) Lost(side Side) {
	s.lost = true
	if s.named != nil {
		s.named.dec.Lost(side)
		return
	}
	for i := range s.cands {
		s.cands[i].dec.Lost(side)
	}
}

// End takes the end of the QP, or of the capture. It is the last call but for
// Name and Summary.
func (s *Stream) End(at mpa.Stamp) {
	if s.named != nil && !s.over {
		s.named.dec.End(at)
	}
}

// Summary adds what can be said of the QP as a whole.
func (s *Stream) Summary(f *Fields) {
	if l := s.leader(); l != nil {
		l.dec.Summary(f)
	}
}

// held holds back what a decoder finds, until its protocol is named.
type held struct {
	h        Handler
	open     bool
	commands []*Command
	events   []Event

	reply, request int // of the last command
	latency        int64
}

func (k *held) Command(c *Command) {
	k.reply, k.request, k.latency = c.Reply, c.Request, c.End.Time-c.Start.Time
	if k.open {
		k.h.Command(c)
	} else if len(k.commands) < maxHeld {
		k.commands = append(k.commands, c.Clone())
	}
}

func (k *held) Event(e *Event) {
	if k.open {
		k.h.Event(e)
	} else if len(k.events) < maxHeld {
		k.events = append(k.events, *e)
	}
}

// release hands on what was held back, and all that follows.
func (k *held) release() {
	k.open = true
	for _, c := range k.commands {
		k.h.Command(c)
	}
	for i := range k.events {
		k.h.Event(&k.events[i])
	}
	k.commands, k.events = nil, nil
}

// A Keeper is a Decoder that says how many octets it needs.
type Keeper interface {
	// KeepSend and KeepTagged are how many octets of the payload of Sends, and
	// of RDMA Writes and Read Responses, it wants from here on.
	KeepSend() int
	KeepTagged() int
}

// What is kept of payloads.
const (
	KeepSend   = 4096 // of a Send, where a decoder does not say
	keepTagged = 1024 // until a protocol is named
	mostKept   = 64 << 10
)

// Keep is how many octets of the payload of Sends, and of RDMA Writes and Read
// Responses, are of use from here on.
func (s *Stream) Keep() (send, tagged int) {
	switch {
	case s.over:
		return 0, 0
	case s.named != nil:
		if k, ok := s.named.dec.(Keeper); ok {
			return min(k.KeepSend(), mostKept), min(k.KeepTagged(), mostKept)
		}
		return KeepSend, 0
	case len(s.cands) == 0:
		return KeepSend, 0
	}
	return KeepSend, keepTagged
}
