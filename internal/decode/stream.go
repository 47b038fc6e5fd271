package decode

import (
	"fmt"
	"net/netip"

	"github.com/iwdump/iwdump/dissect/ddp"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/reassembly"
)

// keepHeaders is what is kept of a message to parse its headers.
const keepHeaders = rdmap.TerminateMax

// maxEarly is how many events of a connection are kept until it is known to be
// iWARP.
const maxEarly = 16

// A worker decodes some of the connections of a capture.
type worker struct {
	o      Options
	sink   qp.Sink
	asm    *reassembly.Assembler
	budget mpa.Budget
	upper  qp.UpperMemory
	memory ddp.Memory
	shared qp.Shared
	// captureEnd is the time of the last frame, while what is left is flushed.
	captureEnd int64
	loss       loss // what the source lost last
	fpdu       qp.FPDU
	seg        ddp.Segment
	chunk      mpa.Chunk
}

func newWorker(sink qp.Sink, o Options) *worker {
	w := &worker{o: o, sink: sink}
	w.asm = reassembly.New(reassembly.Config{IdleTimeout: o.IdleTimeout}, w.open)
	w.asm.Expire() // the first generation begins
	return w
}

// A worker is the Sink of its QPs: what it hands on to changes.

func (w *worker) Message(m *qp.Message)     { w.sink.Message(m) }
func (w *worker) FPDU(f *qp.FPDU)           { w.sink.FPDU(f) }
func (w *worker) Operation(o *qp.Operation) { w.sink.Operation(o) }
func (w *worker) Event(e *qp.Event)         { w.sink.Event(e) }
func (w *worker) QP(s *qp.Summary)          { w.sink.QP(s) }

// A stream is one connection on its way through the layers.
type stream struct {
	w    *worker
	tcp  *reassembly.Conn
	mpa  *mpa.Session
	opts [2]bool // the side was opened
	sid  [2]direction
	qp   *qp.QP // nil until the connection is known to be iWARP
	conn *qp.Conn

	fin      [2]mpa.Stamp // of the FIN of each side, its Frame 0 before that
	mss      [2]int       // what the receiver of each side takes in a segment, 0 where not known
	aboveMSS uint64
	largest  int

	early  []early
	events uint64 // those that early has no room for
}

// early is an event from before the connection was known to be iWARP.
type early struct {
	side  qp.Side
	event qp.Event
}

// direction is one direction of a stream, between mpa and qp.
type direction struct {
	s    *stream
	side qp.Side
	ddp  *ddp.Assembler

	now, before segmentStart // the segments whose octets came last
	starts      uint64       // FPDUs that start a segment
	within      uint64       // FPDUs that start within one
	kept        [2]int       // octets of Sends and of tagged messages that the upper layer wants
}

// segmentStart is where the octets of a segment begin.
type segmentStart struct {
	frame uint64
	off   uint64
}

// place notes whether an FPDU starts a segment, where that is still known.
func (d *direction) place(f *mpa.FPDU) {
	at := f.Off - uint64(f.Lead)
	for _, s := range [...]segmentStart{d.now, d.before} {
		if s.frame == f.First.Frame {
			if s.off == at {
				d.starts++
			} else {
				d.within++
			}
			return
		}
	}
}

func (w *worker) open(c *reassembly.Conn) reassembly.Stream {
	s := &stream{w: w, tcp: c}
	for i := range s.sid {
		s.sid[i].s, s.sid[i].side = s, qp.Side(i)
	}
	s.mpa = mpa.NewSession(s, mpa.SessionConfig{
		Protocol:    [2]mpa.Protocol{&s.sid[0], &s.sid[1]},
		Keep:        max(ddp.UntaggedLen+keepHeaders, ddp.UntaggedLen+w.o.KeepPayload),
		StartupOnly: w.o.NoRecovery,
		Budget:      &w.budget,
	})
	return s
}

// Protocol for mpa: what an FPDU of this direction looks like.

func (d *direction) protocol() rdmap.Protocol { return rdmap.Protocol{Stream: d.ddp} }

func (d *direction) Control() (mask, value uint16)     { return rdmap.Protocol{}.Control() }
func (d *direction) Evidence(u []byte, length int) int { return d.protocol().Evidence(u, length) }
func (d *direction) Follows(a []byte, n int, b []byte, m int) int {
	return rdmap.Protocol{}.Follows(a, n, b, m)
}

// From reassembly.

func (s *stream) start(side reassembly.Side, seq uint32) {
	if !s.opts[side] {
		s.opts[side] = true
		s.mpa.Open(mpa.Side(side), seq, s.tcp.Begins(side))
	}
}

// Data takes octets of TCP in order.
func (s *stream) Data(side reassembly.Side, c *reassembly.Chunk) int {
	s.start(side, c.Seq)
	d := &s.sid[side]
	d.before, d.now = d.now, segmentStart{frame: c.Frame, off: c.Off}
	k := &s.w.chunk
	k.Data, k.Stamp, k.Retrans, k.Doubt = c.Data, mpa.Stamp(c.Stamp), c.Retransmitted, c
	return s.mpa.Push(mpa.Side(side), k)
}

var gapCauses = [...]string{
	reassembly.GapLost:  "the peer acknowledged them, so the capture lost them",
	reassembly.GapCut:   "the capture kept only the head of the packet",
	reassembly.GapNever: "they never came",
}

var gapNames = [...]string{reassembly.GapLost: "lost", reassembly.GapCut: "cut", reassembly.GapNever: "never_came"}

// Gap takes octets that are missing.
func (s *stream) Gap(side reassembly.Side, g *reassembly.Gap) {
	s.start(side, g.Seq)
	if g.Cause != reassembly.GapCut {
		e := qp.Event{Severity: qp.Warning, Kind: "tcp_gap", At: mpa.Stamp(g.Stamp),
			Detail: fmt.Sprintf("%d octets from TCP sequence number %d on are missing: %s", g.Len, g.Seq, gapCauses[g.Cause]),
			Fields: []qp.Field{{Name: "tcp_seq", Num: int64(g.Seq)}, {Name: "length", Num: int64(g.Len)}, {Name: "cause", Text: gapNames[g.Cause]}}}
		s.w.loss.blame(&e)
		s.event(qp.Side(side), e)
	}
	s.mpa.Skip(mpa.Side(side), g.Len, mpa.Stamp(g.Stamp), g.Cause == reassembly.GapCut)
}

// Ack takes an acknowledgement.
func (s *stream) Ack(side reassembly.Side, off uint64, at reassembly.Stamp) {
	if s.qp != nil {
		s.qp.Ack(qp.Side(side), off, mpa.Stamp(at))
	}
}

// Event takes what else TCP did.
func (s *stream) Event(side reassembly.Side, e *reassembly.Event) {
	x := qp.Event{At: mpa.Stamp(e.At)}
	seq := qp.Field{Name: "tcp_seq", Num: int64(e.Seq)}
	n := qp.Field{Name: "length", Num: int64(e.Len)}
	switch e.Kind {
	case reassembly.Retransmission:
		x.Kind, x.Fields = "tcp_retransmission", []qp.Field{seq, n}
		if e.Time > 0 {
			x.Fields = append(x.Fields, qp.Field{Name: "after_ns", Num: e.Time})
		}
		x.Detail = fmt.Sprintf("%d octets from TCP sequence number %d on are sent again", e.Len, e.Seq)
	case reassembly.Duplicate:
		x.Kind, x.Fields = "tcp_duplicate", []qp.Field{seq, n}
		x.Detail = fmt.Sprintf("the packet with %d octets from TCP sequence number %d on was captured twice", e.Len, e.Seq)
	case reassembly.OutOfOrder:
		x.Kind, x.Fields = "tcp_out_of_order", []qp.Field{seq, n}
		x.Detail = fmt.Sprintf("%d octets from TCP sequence number %d on came late, behind octets that follow them", e.Len, e.Seq)
	case reassembly.OverlapConflict:
		x.Severity, x.Kind, x.Fields = qp.Warning, "tcp_overlap_conflict", []qp.Field{seq, n}
		x.Detail = fmt.Sprintf("%d octets from TCP sequence number %d on came again with another content; the first counts", e.Len, e.Seq)
	case reassembly.Dropped:
		x.Severity, x.Kind, x.Fields = qp.Warning, "tcp_bad_checksum", []qp.Field{seq, n}
		x.Detail = fmt.Sprintf("%d octets from TCP sequence number %d on have a wrong TCP checksum, so the receiver threw them away", e.Len, e.Seq)
	case reassembly.ResetSent:
		x.Severity, x.Kind = qp.Warning, "tcp_reset"
		x.Detail = "the connection is reset"
	case reassembly.SynRetry:
		x.Severity, x.Kind = qp.Warning, "tcp_syn_retry"
		x.Detail = "the SYN is sent again"
	case reassembly.FinSent:
		s.fin[side] = mpa.Stamp(e.At)
		return
	case reassembly.ZeroWindow:
		x.Severity, x.Kind = qp.Warning, "tcp_zero_window"
		x.Detail = "the receive window is closed: the peer must wait"
	case reassembly.WindowOpen:
		x.Kind, x.Fields = "tcp_window_open", []qp.Field{{Name: "closed_ns", Num: e.Time}}
		x.Detail = fmt.Sprintf("the receive window is open again after %d ns", e.Time)
	default:
		return
	}
	s.event(qp.Side(side), x)
}

// event hands an event on, or keeps it until the connection is known to be
// iWARP.
func (s *stream) event(side qp.Side, e qp.Event) {
	e.Side, e.HasSide = side, true
	if s.qp != nil {
		s.qp.Event(&e)
		return
	}
	if len(s.early) < maxEarly {
		s.early = append(s.early, early{side, e})
	} else {
		s.events++
	}
}

// End takes the end of the connection.
func (s *stream) End(e *reassembly.End) {
	at := mpa.Stamp(e.At)
	s.mpa.Flush(at)
	if s.qp == nil {
		return
	}
	for i := range s.sid {
		if s.sid[i].ddp != nil {
			s.sid[i].ddp.Flush()
		}
	}
	end := &qp.Ending{AboveMSS: s.aboveMSS, LargestFPDU: s.largest, CaptureEnd: s.w.captureEnd, By: qp.Side(e.By), HasBy: e.HasBy, FIN: s.fin, At: at, Start: mpa.Stamp(s.tcp.Start)}
	switch {
	case e.Kind == reassembly.EndClosed || e.Kind == reassembly.EndOpen && e.Fin[0] && e.Fin[1]:
		end.State = qp.Closed
	case e.Kind == reassembly.EndReset:
		end.State = qp.Reset
	}
	for i := range end.Streams {
		side := mpa.Side(i)
		k := s.mpa.Counts(side)
		end.Streams[i] = qp.Stream{Octets: k.Framed + k.Skipped + k.Missing, Framed: k.Framed, Skipped: k.Skipped, Missing: k.Missing,
			Retransmitted: s.tcp.Counts(reassembly.Side(i)).Retransmitted}
		markers, crc, inferred := s.mpa.Uses(side)
		end.Markers[i] = markers
		end.Starts += s.sid[i].starts
		end.Within += s.sid[i].within
		if crc == mpa.On || end.CRC == mpa.Unknown {
			end.CRC = crc
		}
		end.Inferred = end.Inferred || inferred
	}
	s.qp.End(end)
}

// From mpa.

// recognised makes the QP.
func (s *stream) recognised() {
	c := &qp.Conn{First: s.tcp.Start.Frame}
	flow := s.tcp.Flow
	c.Ends = [2]netip.AddrPort{flow.Src.AddrPort(), flow.Dst.AddrPort()}
	for i := range c.Ends {
		c.Text[i] = c.Ends[i].String()
	}
	s.conn = c
	s.qp = qp.New(c, s.w, qp.Options{Messages: s.w.o.Messages, Operations: s.w.o.Operations, Shared: &s.w.shared,
		Upper: s.w.o.Upper.protocols, ForceUpper: s.w.o.Upper.forced, Describe: s.w.o.Describe, UpperMemory: &s.w.upper})
	if side, ok := s.tcp.Opener(); ok {
		if seen, at, _ := s.tcp.SYN(side); seen {
			s.qp.SetSYN(qp.Side(side), mpa.Stamp(at))
		}
	}
	for i := range s.mss {
		_, _, mss := s.tcp.SYN(reassembly.Side(1 - i))
		s.mss[i] = int(mss)
	}
	for i := range s.early {
		s.qp.Event(&s.early[i].event)
	}
	if s.events > 0 {
		s.qp.Event(&qp.Event{Kind: "not_shown", At: mpa.Stamp(s.tcp.Last),
			Detail: fmt.Sprintf("%d more events from before the connection was known to be iWARP are not shown", s.events),
			Fields: []qp.Field{{Name: "value", Num: int64(s.events)}}})
	}
	s.early = nil
}

// Startup takes a startup frame.
func (s *stream) Startup(side mpa.Side, f *mpa.StartupFrame) {
	if s.qp == nil {
		s.recognised()
	}
	s.qp.Startup(qp.Side(side), f)
}

// FPDU takes an FPDU.
func (s *stream) FPDU(side mpa.Side, f *mpa.FPDU) {
	if s.qp == nil {
		s.recognised()
	}
	d := &s.sid[side]
	if d.ddp == nil {
		d.ddp = ddp.NewAssembler(d, ddp.Config{Keep: keepHeaders + s.w.o.KeepPayload, Start: f.Found == mpa.FoundStart, Memory: &s.w.memory})
	}
	d.keep()
	s.qp.FPDU(f.CRC)
	d.place(f)
	if n := f.Wire; n > s.largest {
		s.largest = n
	}
	if n := s.mss[side]; n > 0 && f.Wire > n {
		s.aboveMSS++
	}
	seg := &s.w.seg
	h := &seg.Header
	n, err := h.Parse(f.ULPDU)
	if s.w.o.FPDUs && err == nil {
		x := &s.w.fpdu
		*x = qp.FPDU{FPDU: *f, Conn: s.conn, Side: d.side, From: s.qp.Role(d.side), Op: rdmap.OpOf(h), Header: *h}
		s.w.FPDU(x)
	}
	if f.CRC == mpa.CRCBad {
		s.badCRC(d.side, f)
	}
	if err != nil {
		if len(f.ULPDU) == f.Length {
			s.event(d.side, qp.Event{Severity: qp.Error, Kind: "ddp_violation", At: f.First,
				Detail: fmt.Sprintf("the ULPDU of %d octets at TCP sequence number %d is too short for a DDP header", f.Length, f.Seq),
				Fields: []qp.Field{{Name: "tcp_seq", Num: int64(f.Seq)}}})
		}
		d.ddp.Lost()
		s.qp.Lost(d.side)
		return
	}
	size := max(0, f.Length-n)
	if v := rdmap.Check(h, size); v != 0 {
		s.event(d.side, qp.Event{Severity: qp.Error, Kind: "rdmap_violation", At: f.First,
			Detail: fmt.Sprintf("%v: %s, DDP control 0x%02x, RDMAP control 0x%02x, %d octets behind the headers", v, rdmap.OpOf(h).Title(), f.ULPDU[0], f.ULPDU[1], size),
			Fields: []qp.Field{{Name: "tcp_seq", Num: int64(f.Seq)}}})
	}
	// Field by field: a composite literal is made elsewhere, then copied.
	seg.Len, seg.Payload = size, f.ULPDU[n:]
	seg.Off, seg.Wire, seg.First, seg.Latest = f.Off, f.Wire, f.First, f.Last
	seg.Complete, seg.EndLost, seg.Retrans, seg.CRC = f.Complete, f.EndLost, f.Retrans, f.CRC
	d.ddp.Add(seg)
}

func (s *stream) badCRC(side qp.Side, f *mpa.FPDU) {
	s.event(side, qp.Event{Severity: qp.Error, Kind: "crc_mismatch", At: f.Last,
		Detail: fmt.Sprintf("the CRC32c of the FPDU at TCP sequence number %d is 0x%08x, and should be 0x%08x; the TCP checksum does not show the damage, so it was done before TCP sent it or by what does not keep checksums", f.Seq, f.CRCWire, f.CRCCalc),
		Fields: []qp.Field{{Name: "tcp_seq", Num: int64(f.Seq)}, {Name: "crc_wire", Text: fmt.Sprintf("0x%08x", f.CRCWire)}, {Name: "crc_calculated", Text: fmt.Sprintf("0x%08x", f.CRCCalc)}}})
}

// Notice takes what else mpa found.
func (s *stream) Notice(side mpa.Side, n *mpa.Notice) {
	if s.qp == nil {
		s.recognised()
	}
	d := &s.sid[side]
	x := qp.Event{At: n.Stamp}
	seq := qp.Field{Name: "tcp_seq", Num: int64(n.Seq)}
	length := qp.Field{Name: "length", Num: int64(n.Len)}
	switch n.Kind {
	case mpa.NoticeLost:
		s.qp.Lost(d.side)
		if n.Header == nil {
			return // the gap was told
		}
		x.Severity, x.Kind, x.Fields = qp.Error, "ddp_violation", []qp.Field{seq}
		x.Detail = fmt.Sprintf("framing is lost at TCP sequence number %d: % x cannot begin an FPDU", n.Seq, n.Header)
	case mpa.NoticeResync:
		if d.ddp != nil {
			d.ddp.Lost()
		}
		s.qp.Lost(d.side)
		x.Kind, x.Fields = "resync", []qp.Field{seq, {Name: "found", Text: n.Found.String()}, {Name: "skipped", Num: int64(n.Len)}}
		x.Detail = fmt.Sprintf("FPDUs go on at TCP sequence number %d, found by %s, behind %d octets", n.Seq, foundBy[n.Found], n.Len)
	case mpa.NoticeSkipped:
		x.Severity, x.Kind, x.Fields = qp.Warning, "skipped", []qp.Field{seq, length}
		x.Detail = fmt.Sprintf("%d octets from TCP sequence number %d on could not be framed", n.Len, n.Seq)
	case mpa.NoticeMarker:
		x.Severity, x.Kind, x.Fields = qp.Error, "marker_mismatch", []qp.Field{seq, {Name: "fpduptr", Num: int64(n.Got)}, {Name: "expected", Num: int64(n.Want)}}
		x.Detail = fmt.Sprintf("the Marker at TCP sequence number %d points %d octets back; the FPDU starts %d octets back", n.Seq, n.Got, n.Want)
	}
	s.event(d.side, x)
}

var foundBy = [...]string{
	mpa.FoundStart:  "the startup frame",
	mpa.FoundChain:  "the FPDU before",
	mpa.FoundMarker: "a Marker",
	mpa.FoundCRC:    "its CRC",
	mpa.FoundGuess:  "a chain of plausible headers",
}

// From ddp.

// Message takes a DDP message.
func (d *direction) Message(m *ddp.Message) { d.s.qp.Message(d.side, m) }

var ddpRules = [...]string{
	ddp.BadVersion:  "the DDP version is not 1",
	ddp.MSNGap:      "message sequence numbers are left out",
	ddp.MSNRepeated: "a message sequence number is used again",
	ddp.MOGap:       "the message offset is not where the segment before ends",
	ddp.TOGap:       "the tagged offset is not where the segment before ends",
	ddp.TOWrap:      "the tagged offset wraps",
	ddp.Unfinished:  "a message begins before the one before it has ended",
}

// Violation takes a rule of DDP that a segment breaks.
func (d *direction) Violation(v *ddp.Violation) {
	where := fmt.Sprintf("queue %d, MSN %d, MO %d", v.Header.QN, v.Header.MSN, v.Header.MO)
	if v.Header.Tagged {
		where = fmt.Sprintf("STag 0x%08x, TO 0x%016x", v.Header.STag, v.Header.TO)
	}
	d.s.event(d.side, qp.Event{Severity: qp.Error, Kind: "ddp_violation", At: v.At,
		Detail: fmt.Sprintf("%s: %s (%s): %d, expected %d", rdmap.OpOf(&v.Header).Title(), ddpRules[v.Kind], where, v.Got, v.Want)})
}
