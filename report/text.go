package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/qp"
)

// TextOptions say how the listing looks.
type TextOptions struct {
	Time  TimeFormat
	Color bool
	ASCII bool // no other characters
	Tree  bool // every header field below each line
	Dump  bool // the payload, as far as it is kept, in hex
	FPDUs bool // a line for each FPDU
}

// Text writes records as a listing: a line for each message, and events in
// their place.
type Text struct {
	w       *Writer
	o       TextOptions
	b       []byte
	first   int64 // time of the first line, or what Start told
	last    int64
	begun   bool
	width   int // of the column of times
	widthQP int // of the column of QPs
	micro   string
	arrow   string
	dots    string
	fpdus   fpduStore // for trees, as is clock
	clock   clock
}

// NewText returns a Text that writes to w.
func NewText(w io.Writer, o TextOptions) *Text {
	t := &Text{w: NewWriter(w), o: o, micro: "µs", arrow: "→", dots: "…", widthQP: len("QP 10")}
	if o.ASCII {
		t.micro, t.arrow, t.dots = "us", "->", "..."
	}
	return t
}

// Start tells the time of the first frame.
func (t *Text) Start(ns int64) {
	t.first, t.last, t.begun = ns, ns, true
}

// Err returns the first error of writing.
func (t *Text) Err() error { return t.w.Err() }

// Flush writes what is buffered.
func (t *Text) Flush() error { return t.w.Flush() }

// Colours of ANSI terminals.
const (
	colorReset  = "\x1b[0m"
	colorDim    = "\x1b[2m"
	colorRed    = "\x1b[31m"
	colorGreen  = "\x1b[32m"
	colorYellow = "\x1b[33m"
	colorBlue   = "\x1b[34m"
	colorCyan   = "\x1b[36m"
)

// safe appends a string that may hold what came from the wire.
func (t *Text) safe(s string) {
	if t.o.ASCII {
		t.b = appendASCII(t.b, s)
	} else {
		t.b = appendSafe(t.b, s)
	}
}

func (t *Text) color(c string) {
	if t.o.Color {
		t.b = append(t.b, c...)
	}
}

// pad appends blanks until n columns follow from on. Only ASCII stands there.
func (t *Text) pad(from, n int) {
	for len(t.b)-from < n {
		t.b = append(t.b, ' ')
	}
}

// right appends s, right-aligned in n columns.
func (t *Text) right(s string, n int) {
	for k := len(s); k < n; k++ {
		t.b = append(t.b, ' ')
	}
	t.b = append(t.b, s...)
}

// head begins a line: frame, time, QP and direction.
func (t *Text) head(at mpa.Stamp, c *qp.Conn, from qp.Role, has bool) {
	if !t.begun {
		t.Start(at.Time)
	}
	var num [24]byte
	t.right(string(strconv.AppendUint(num[:0], at.Frame, 10)), 6)
	t.b = append(t.b, ' ', ' ')
	var tm [40]byte
	text := t.o.Time.appendTime(tm[:0], at.Time, t.first, t.last)
	t.width = max(t.width, len(text))
	t.right(string(text), t.width)
	t.last = at.Time
	t.b = append(t.b, ' ', ' ')
	at0 := len(t.b)
	if c != nil {
		t.b = append(t.b, "QP "...)
		t.b = strconv.AppendInt(t.b, int64(c.Number), 10)
	}
	t.widthQP = max(t.widthQP, len(t.b)-at0)
	t.pad(at0, t.widthQP)
	t.b = append(t.b, ' ', ' ')
	if has {
		t.b = append(t.b, from.Letter(), '>', from.Other().Letter())
	} else {
		t.b = append(t.b, "   "...)
	}
	t.b = append(t.b, ' ', ' ')
}

var shortTitles = map[rdmap.Op]string{
	rdmap.OpSendSE:      "Send with SE",
	rdmap.OpSendSEInv:   "Send with SE and Invalidate",
	rdmap.OpImmediateSE: "Immediate Data with SE",
}

// title is the name of an operation in the listing.
func title(op rdmap.Op) string {
	if s, ok := shortTitles[op]; ok {
		return s
	}
	return op.Title()
}

func opColor(op rdmap.Op) string {
	switch {
	case op == rdmap.OpTerminate:
		return colorRed
	case op == rdmap.OpWrite || op == rdmap.OpReadResponse:
		return colorGreen
	case op.IsSend() || op == rdmap.OpImmediate || op == rdmap.OpImmediateSE:
		return colorCyan
	case op == rdmap.OpMPARequest || op == rdmap.OpMPAReply:
		return colorBlue
	}
	return ""
}

// Message writes the line of a message.
func (t *Text) Message(m *qp.Message) {
	t.b = t.b[:0]
	t.head(m.Last, m.Conn, m.From, true)
	if c := opColor(m.Op); c != "" {
		t.color(c)
	}
	at := len(t.b)
	t.b = append(t.b, title(m.Op)...)
	t.pad(at, 27)
	t.color(colorReset)
	t.right(strconv.FormatUint(m.Size, 10), 8)
	t.details(m)
	t.b = append(t.b, '\n')
	if t.o.Tree {
		t.tree(m)
	}
	if t.o.Dump && len(m.Payload) > 0 {
		t.b = appendDump(t.b, "        ", m.Payload)
		if uint64(len(m.Payload)) < m.Size {
			t.b = fmt.Appendf(t.b, "        %s %d more octets are not kept\n", t.dots, m.Size-uint64(len(m.Payload)))
		}
	}
	t.w.Write(t.b)
}

func (t *Text) stagTO(name string, stag uint32, to uint64) {
	t.b = append(t.b, ' ', ' ')
	t.b = append(t.b, name...)
	t.b = append(t.b, ' ')
	t.b = appendHex(t.b, uint64(stag), 8)
	t.b = append(t.b, "+0x"...)
	t.b = strconv.AppendUint(t.b, to, 16)
}

// details appends what a person wants to know of a message at a glance.
func (t *Text) details(m *qp.Message) {
	switch {
	case m.Startup != nil:
		t.startup(m.Startup)
	case m.Read != nil:
		t.stagTO("sink", m.Read.SinkSTag, m.Read.SinkTO)
		t.stagTO("source", m.Read.SrcSTag, m.Read.SrcTO)
		t.b = fmt.Appendf(t.b, "  reads %d", m.Read.Size)
	case m.Terminate != nil:
		layer, etype, code := m.Terminate.Names()
		t.b = fmt.Appendf(t.b, "  %s, %s, %s", layer, etype, code)
	case m.AtomicReq != nil:
		a := m.AtomicReq
		t.stagTO(a.Op.String(), a.STag, a.TO)
		t.b = fmt.Appendf(t.b, "  id 0x%08x  data 0x%x", a.ID, a.Data)
	case m.AtomicRsp != nil:
		t.b = fmt.Appendf(t.b, "  id 0x%08x  original 0x%x", m.AtomicRsp.ID, m.AtomicRsp.Original)
	case m.Immediate != nil:
		t.b = fmt.Appendf(t.b, "  data %x", m.Immediate.Data)
	case m.Header.Tagged:
		t.stagTO("sink", m.Header.STag, m.Header.TO)
	case m.HasCRC:
		t.b = append(t.b, "  MSN "...)
		t.b = strconv.AppendUint(t.b, uint64(m.Header.MSN), 10)
		if m.Op.Invalidates() {
			t.b = fmt.Appendf(t.b, "  invalidates 0x%08x", m.Header.ULPWord)
		}
	}
	if m.FPDUs > 1 {
		t.b = fmt.Appendf(t.b, "  %d FPDUs", m.FPDUs)
	}
	if m.ULP != nil {
		t.ulp(m.ULP)
	}
	if m.Answers > 0 {
		t.answers(m.Answers, m.Latency)
	}
	for _, mark := range [...]struct {
		on   bool
		text string
	}{
		{m.RTR, "ready to receive"},
		{m.Retrans, "retransmitted"},
		{!m.Complete, "incomplete in the capture"},
		{m.CRC == mpa.CRCBad, "CRC BAD"},
	} {
		if mark.on {
			t.b = append(t.b, "  ["...)
			t.b = append(t.b, mark.text...)
			t.b = append(t.b, ']')
		}
	}
}

// startup appends what a startup frame says, flags as letters.
func (t *Text) startup(s *mpa.Startup) {
	t.b = fmt.Appendf(t.b, "  rev %d", s.Revision)
	for _, f := range [...]struct {
		on   bool
		text string
	}{{s.Markers, "markers"}, {s.CRC, "CRC"}, {s.Reject, "REJECT"}} {
		if f.on {
			t.b = append(t.b, ' ', ' ')
			t.b = append(t.b, f.text...)
		}
	}
	if !s.HasEnhanced() {
		return
	}
	t.b = fmt.Appendf(t.b, "  IRD %s  ORD %s", depth(s.IRD), depth(s.ORD))
	if s.PeerToPeer {
		t.b = append(t.b, "  peer-to-peer, RTR"...)
		for _, f := range [...]struct {
			on   bool
			text string
		}{{s.SendRTR, "Send"}, {s.WriteRTR, "Write"}, {s.ReadRTR, "Read"}} {
			if f.on {
				t.b = append(t.b, ' ')
				t.b = append(t.b, f.text...)
			}
		}
	}
}

// depth writes an IRD or ORD.
func depth(v uint16) string {
	if v == mpa.NotNegotiated {
		return "not negotiated"
	}
	return strconv.Itoa(int(v))
}

// FPDU writes the line of an FPDU, where lines of FPDUs are wanted. Trees need
// FPDUs too: that of a message shows those that it came in.
func (t *Text) FPDU(f *qp.FPDU) {
	if t.o.Tree {
		t.fpdus.add(f)
	}
	if !t.o.FPDUs {
		return
	}
	t.b = t.b[:0]
	t.head(f.Last, f.Conn, f.From, true)
	t.color(colorDim)
	t.b = fmt.Appendf(t.b, "  FPDU seq %d  length %d", f.Seq, f.Length)
	if f.Header.Tagged {
		t.stagTO(title(f.Op), f.Header.STag, f.Header.TO)
	} else {
		t.b = fmt.Appendf(t.b, "  %s  queue %d  MSN %d  MO %d", title(f.Op), f.Header.QN, f.Header.MSN, f.Header.MO)
	}
	if f.Header.Last {
		t.b = append(t.b, "  last"...)
	}
	if f.Markers > 0 {
		t.b = fmt.Appendf(t.b, "  markers %d", f.Markers)
	}
	t.b = fmt.Appendf(t.b, "  CRC %s", f.CRC)
	if f.Found != mpa.FoundStart {
		t.b = fmt.Appendf(t.b, "  found by %s", f.Found)
	}
	if !f.Complete {
		t.b = append(t.b, "  [incomplete in the capture]"...)
	}
	t.color(colorReset)
	t.b = append(t.b, '\n')
	t.w.Write(t.b)
}

// Operation writes nothing: the listing shows latencies beside the answers.
func (t *Text) Operation(*qp.Operation) {}

// Event writes the line of an event. What the capture lacks is drawn as a rule
// across the listing, so that it is not taken for a pause in the traffic.
func (t *Text) Event(e *qp.Event) {
	t.b = t.b[:0]
	t.head(e.At, e.Conn, e.From, e.HasSide)
	switch e.Severity {
	case qp.Error:
		t.color(colorRed)
		t.b = append(t.b, "!! "...)
	case qp.Warning:
		t.color(colorYellow)
		t.b = append(t.b, "!  "...)
	default:
		t.color(colorDim)
		t.b = append(t.b, "-- "...)
	}
	switch e.Kind {
	case "tcp_gap", "skipped", "capture_drop":
		t.b = append(t.b, "~~~~ "...)
	}
	t.safe(strings.ReplaceAll(e.Kind, "_", " "))
	t.b = append(t.b, ": "...)
	t.safe(e.Detail)
	t.color(colorReset)
	t.b = append(t.b, '\n')
	t.w.Write(t.b)
}

// QP writes nothing: Summaries are for the end, see Overview.
func (t *Text) QP(s *qp.Summary) { t.fpdus.forget(s.Conn) }
