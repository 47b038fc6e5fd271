package mpa

// A Side is one end of a connection, 0 or 1.
type Side uint8

// Other returns the other end.
func (s Side) Other() Side { return s ^ 1 }

// A StartupFrame is a startup frame as it was found in a stream.
type StartupFrame struct {
	Startup
	Off      uint64 // of its first octet
	Seq      uint32
	Wire     int // octets, captured or not
	First    Stamp
	Last     Stamp
	Complete bool // every octet was captured; else Private is cut
	Retrans  bool
}

// A SessionHandler takes what a Session finds. What it is given is valid
// during the call.
type SessionHandler interface {
	Startup(Side, *StartupFrame)
	FPDU(Side, *FPDU)
	Notice(Side, *Notice)
}

// SessionConfig says how a Session works.
type SessionConfig struct {
	// Protocol judges the ULPDUs that each side sends.
	Protocol [2]Protocol
	// Keep is that of Config.
	Keep int
	// StartupOnly leaves a stream alone whose startup was not seen.
	StartupOnly bool
	// Budget limits what is held for searches, together with other Sessions.
	// nil is a limit of its own.
	Budget *Budget
}

// A Session is both directions of one TCP connection: it finds the startup
// frames, and has each direction framed by what they agree (RFC 5044, section
// 7.1): M in the Request rules what the responder sends, M in the Reply what
// the initiator sends, and C in either both.
type Session struct {
	h      SessionHandler
	c      SessionConfig
	halves [2]half
	seen   [2]bool // startup frame of the side
	start  [2]Startup
	none   bool // rejected, or a revision that frames otherwise
	known  bool // this is iWARP
}

type halfState uint8

const (
	opening halfState = iota // its first octets
	framed                   // by the Framer, or searched
	other                    // octets that are not iWARP, though a Request may come
)

// half is one direction.
type half struct {
	s      *Session
	side   Side
	state  halfState
	syn    bool // its first octet is the first of the connection
	off    uint64
	seq    uint32 // of offset 0
	gather []byte // the start of a startup frame
	frame  *StartupFrame
	framer *Framer
	counts Counts // of octets outside of the Framer
}

func (h *half) FPDU(f *FPDU) {
	if !h.s.known {
		h.s.recognised()
	}
	h.s.h.FPDU(h.side, f)
}

func (h *half) Notice(n *Notice) {
	if n.Kind == NoticeResync && !h.s.known {
		h.s.recognised()
	}
	if h.s.known {
		h.s.h.Notice(h.side, n)
	}
}

// NewSession returns a Session that hands what it finds to h.
func NewSession(h SessionHandler, c SessionConfig) *Session {
	if c.Budget == nil {
		c.Budget = new(Budget)
	}
	s := &Session{h: h, c: c}
	for i := range s.halves {
		s.halves[i].s, s.halves[i].side = s, Side(i)
	}
	return s
}

// Open tells the sequence number of the first octet of a side, and whether it
// is the first of the connection: its SYN was seen. It is called before the
// first Push or Skip of that side.
func (s *Session) Open(side Side, seq uint32, syn bool) {
	s.halves[side].seq, s.halves[side].syn = seq, syn
}

// Known says that the connection carries iWARP: a startup frame or an FPDU was
// found.
func (s *Session) Known() bool { return s.known }

// Counts tells what became of the octets of a side; startup frames count as
// framed.
func (s *Session) Counts(side Side) Counts {
	h := &s.halves[side]
	c := h.counts
	if h.framer != nil {
		f := h.framer.Counts()
		c.Framed += f.Framed
		c.Skipped += f.Skipped
		c.Missing += f.Missing
	}
	return c
}

// Uses tells whether a side sends Markers and CRCs, as far as is known, and
// whether that was found from the data.
func (s *Session) Uses(side Side) (markers, crc Use, inferred bool) {
	if f := s.halves[side].framer; f != nil {
		return f.Uses()
	}
	markers, crc = s.agreed(side)
	return markers, crc, false
}

// Push takes the next octets of a side. See Framer.Push for what it returns.
func (s *Session) Push(side Side, c *Chunk) int {
	h := &s.halves[side]
	if h.state == framed && h.framer.mode == framing {
		n := h.framer.Push(c)
		h.off += uint64(n)
		return n
	}
	return h.push(c)
}

func (h *half) push(c *Chunk) int {
	total := len(c.Data)
	rest := *c
	for len(rest.Data) > 0 {
		if len(h.gather) > 0 || h.state == opening || startsKey(rest.Data) && (h.state == other || h.framer.mode != framing) {
			n, ok := h.startup(&rest)
			rest.Data = rest.Data[n:]
			h.off += uint64(n)
			if ok {
				continue
			}
		}
		n := len(rest.Data)
		switch {
		case n == 0:
		case h.state == framed:
			if n = h.framer.Push(&rest); n < len(rest.Data) {
				h.off += uint64(n)
				return total - len(rest.Data) + n
			}
		default:
			h.counts.Skipped += uint64(n)
		}
		h.off += uint64(n)
		rest.Data = rest.Data[n:]
	}
	return total
}

// startsKey says that b may start with the key of a startup frame.
func startsKey(b []byte) bool {
	const common = "MPA ID Re"
	return b[0] == common[0] && len(b) >= len(common) && string(b[:len(common)]) == common
}

// startup takes octets of c that may be a startup frame. It returns their
// number, and false where they are none: they have been passed on, and what
// follows is to be taken as it is.
func (h *half) startup(c *Chunk) (int, bool) {
	if len(h.gather) == 0 {
		h.frame = &StartupFrame{Off: h.off, Seq: h.seq + uint32(h.off), First: c.Stamp}
	}
	had := len(h.gather)
	h.gather = append(h.gather, c.Data[:min(len(c.Data), StartupLen+MaxPrivateData-had)]...)
	h.frame.Retrans = h.frame.Retrans || c.Retrans
	st, n, err := ParseStartup(h.gather)
	switch {
	case err == ErrShort:
		return len(h.gather) - had, true
	case err != nil:
		h.notStartup(c, had)
		return 0, false
	}
	h.frame.Startup, h.frame.Wire, h.frame.Last, h.frame.Complete = st, n, c.Stamp, true
	h.started()
	h.counts.Framed += uint64(n)
	return n - had, true
}

// notStartup passes on what had been gathered of what is no startup frame.
func (h *half) notStartup(c *Chunk, had int) {
	b := h.gather[:had]
	frame := h.frame
	h.gather, h.frame = nil, nil
	if h.state == opening {
		if h.syn || h.s.c.StartupOnly {
			h.state = other
		} else {
			h.begin(h.off - uint64(had))
		}
	}
	if had == 0 {
		return
	}
	if h.state == framed {
		h.framer.Push(&Chunk{Data: b, Stamp: frame.First, Retrans: frame.Retrans})
	} else {
		h.counts.Skipped += uint64(had)
	}
}

// begin has the direction searched from off on.
func (h *half) begin(off uint64) {
	markers, crc := h.s.agreed(h.side)
	h.state = framed
	h.framer = NewFramer(h, Config{Protocol: h.s.c.Protocol[h.side], Markers: markers, CRC: crc,
		IWARP: h.s.known, Keep: h.s.c.Keep, Off: off, Seq: h.seq + uint32(off), Budget: h.s.c.Budget})
}

// started takes the startup frame in h.frame.
func (h *half) started() {
	s := h.s
	h.gather = append([]byte(nil), h.gather[:min(len(h.gather), h.frame.Wire)]...)
	if h.framer != nil {
		h.framer.Flush(h.frame.First)
		c := h.framer.Counts()
		h.counts.Framed, h.counts.Skipped, h.counts.Missing = h.counts.Framed+c.Framed, h.counts.Skipped+c.Skipped, h.counts.Missing+c.Missing
		h.framer = nil
	}
	s.seen[h.side], s.start[h.side] = true, h.frame.Startup
	if !h.frame.Reply && s.seen[h.side.Other()] && !s.start[h.side.Other()].Reply {
		// Another Request, after a reject or from both ends.
		s.seen[h.side.Other()] = false
	}
	s.none = h.frame.Reject && h.frame.Reply || h.frame.Revision > 2
	s.recognised()
	s.h.Startup(h.side, h.frame)
	off := h.frame.Off + uint64(h.frame.Wire)
	h.gather, h.frame = nil, nil
	if s.none {
		h.state = other
		s.halves[h.side.Other()].silence()
		return
	}
	h.state = framed
	markers, crc := s.agreed(h.side)
	h.framer = NewFramer(h, Config{Protocol: s.c.Protocol[h.side], Markers: markers, CRC: crc,
		Start: true, Keep: s.c.Keep, Off: off, Seq: h.seq + uint32(off), Budget: s.c.Budget})
	if o := &s.halves[h.side.Other()]; o.framer != nil {
		o.framer.Learn(s.agreed(o.side))
	}
}

// silence ends the framing of a direction that will carry no FPDUs.
func (h *half) silence() {
	if h.framer != nil && h.framer.mode == searching {
		h.framer.giveUp()
	}
}

// recognised notes that this is iWARP, and has the other direction searched
// with that knowledge.
func (s *Session) recognised() {
	if s.known {
		return
	}
	s.known = true
	for i := range s.halves {
		h := &s.halves[i]
		switch {
		case h.framer != nil:
			h.framer.Recognised()
		case h.state == other && !s.c.StartupOnly:
			h.begin(h.off)
		}
	}
}

// agreed tells what the startup frames say of what side sends.
func (s *Session) agreed(side Side) (markers, crc Use) {
	o := side.Other()
	if s.seen[o] {
		markers = Off
		if s.start[o].Markers {
			markers = On
		}
	}
	switch {
	case s.seen[side] && s.start[side].CRC, s.seen[o] && s.start[o].CRC:
		crc = On
	case s.seen[side] && s.seen[o]:
		crc = Off
	}
	return markers, crc
}

// Skip takes n octets of a side that are missing. See Framer.Skip for cut.
func (s *Session) Skip(side Side, n uint64, at Stamp, cut bool) {
	h := &s.halves[side]
	if len(h.gather) >= StartupLen {
		// A startup frame whose private data was cut off (a snaplen).
		n = h.cutStartup(n, at)
	}
	if n == 0 {
		return
	}
	if h.state == opening {
		had := len(h.gather)
		h.syn = false // what a SYN proves of the first octets it no longer does
		h.notStartup(nil, had)
		if h.state == opening {
			h.begin(h.off)
		}
	} else if len(h.gather) > 0 {
		h.notStartup(nil, len(h.gather))
	}
	h.off += n
	if h.state == framed {
		h.framer.Skip(n, at, cut)
	} else {
		h.counts.Missing += n
	}
}

// cutStartup takes what is captured of the startup frame that is gathered, and
// returns how many of n missing octets are not part of it.
func (h *half) cutStartup(n uint64, at Stamp) uint64 {
	var whole [StartupLen + MaxPrivateData]byte
	had := copy(whole[:], h.gather)
	st, wire, err := ParseStartup(whole[:])
	if err != nil || uint64(wire-had) > n {
		return n
	}
	cut := uint64(wire - had)
	st.Private = st.Private[:max(0, len(st.Private)-int(cut))]
	h.frame.Startup, h.frame.Wire, h.frame.Last, h.frame.Complete = st, wire, at, false
	h.off += cut
	h.counts.Framed += uint64(had)
	h.counts.Missing += cut
	h.started()
	return n - cut
}

// Flush tells that no more will come of either side.
func (s *Session) Flush(at Stamp) {
	for i := range s.halves {
		h := &s.halves[i]
		if len(h.gather) > 0 {
			h.syn = true
			h.notStartup(nil, len(h.gather))
		}
	}
	// What is found in one direction helps to find the other.
	for range 2 {
		for i := range s.halves {
			if f := s.halves[i].framer; f != nil && f.mode == searching {
				f.trySearch(true)
			}
		}
	}
	for i := range s.halves {
		if f := s.halves[i].framer; f != nil {
			f.Flush(at)
		}
	}
}
