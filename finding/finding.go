// Package finding turns the records of a capture into findings: what is wrong
// or odd in it, where, what that means, and what to look at next.
//
// A [Collector] is a qp.Sink. It keeps a finding of each kind for each QP, with
// a count, so that its memory is bounded by the number of QPs.
package finding

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/latency"
	"github.com/iwdump/iwdump/qp"
)

// Thresholds of findings.
const (
	rto        = 200 * time.Millisecond // no stack retransmits by timeout sooner
	slowReply  = time.Second
	longClosed = 200 * time.Millisecond // of a window
	delayed    = 40 * time.Millisecond  // ACK, as Linux does
	delays     = 3                      // so many make a finding
	silence    = 5 * time.Second
	outlier    = 50 // times the median, and
	outlierMin = 100 * time.Millisecond
	manyReads  = 16
	manyFPDUs  = 32
	privateMax = mpa.NotNegotiated // largest plausible IRD or ORD
	maxTracked = 1 << 17           // findings kept
)

// A Finding is something wrong or odd.
type Finding struct {
	*Kind
	Severity qp.Severity // that of the Kind, or less where the case is harmless
	QP       int         // 0: concerns the capture
	Frame    uint64      // of the first occurrence
	From     string      // side, empty where it concerns both
	N        int         // of the message, 0 for none
	Count    uint64      // occurrences
	Detail   string      // what was found, of the first occurrence
}

type key struct {
	id   string
	conn *qp.Conn
}

// A Collector makes findings of records.
type Collector struct {
	found   map[key]*Finding
	conns   map[key]*qp.Conn // of found, whose number is known at the end
	dropped uint64
	live    map[*qp.Conn]*tracked
}

// tracked is what is kept of a QP while it goes on.
type tracked struct {
	delayedAcks uint64
	firstDelay  qp.Operation
	slow        uint64
	slowest     qp.Operation
	dists       map[qp.OpKind]*latency.Dist
	unanswered  bool
	holes       bool
}

// New returns an empty Collector.
func New() *Collector {
	return &Collector{found: map[key]*Finding{}, conns: map[key]*qp.Conn{}, live: map[*qp.Conn]*tracked{}}
}

func (c *Collector) track(conn *qp.Conn) *tracked {
	t := c.live[conn]
	if t == nil {
		t = &tracked{dists: map[qp.OpKind]*latency.Dist{}}
		c.live[conn] = t
	}
	return t
}

// add adds an occurrence.
func (c *Collector) add(id string, conn *qp.Conn, from string, at mpa.Stamp, n int, format string, a ...any) *Finding {
	k := key{id, conn}
	f := c.found[k]
	if f == nil {
		if len(c.found) >= maxTracked {
			c.dropped++
			return &Finding{Kind: Kinds[id]}
		}
		f = &Finding{Kind: Kinds[id], Severity: Kinds[id].Severity, Frame: at.Frame, From: from, N: n, Detail: fmt.Sprintf(format, a...)}
		c.found[k] = f
		c.conns[k] = conn
	}
	f.Count++
	return f
}

// Message looks at startup frames.
func (c *Collector) Message(m *qp.Message) {
	s := m.Startup
	if s == nil {
		return
	}
	from := m.From.String()
	if s.Reserved != 0 {
		c.add("reserved-flags", m.Conn, from, m.Last, m.N, "the %s has reserved flag bits 0x%x set", m.Op.Title(), s.Reserved)
	}
	if s.Revision != 1 || len(s.Private) != 8 {
		return
	}
	plausible := func(order binary.ByteOrder) bool {
		a, b := order.Uint32(s.Private), order.Uint32(s.Private[4:])
		return a > 0 && b > 0 && a <= privateMax && b <= privateMax
	}
	switch {
	case plausible(binary.BigEndian):
		c.add("smbd-private-depth", m.Conn, from, m.Last, m.N, "the private data of the %s says IRD %d and ORD %d", m.Op.Title(), binary.BigEndian.Uint32(s.Private), binary.BigEndian.Uint32(s.Private[4:]))
	case plausible(binary.LittleEndian):
		c.add("smbd-private-order", m.Conn, from, m.Last, m.N, "the private data of the %s says IRD %d and ORD %d if read with the least significant octet first",
			m.Op.Title(), binary.LittleEndian.Uint32(s.Private), binary.LittleEndian.Uint32(s.Private[4:]))
	}
}

// FPDU is not needed.
func (c *Collector) FPDU(*qp.FPDU) {}

// Operation looks at how long operations took.
func (c *Collector) Operation(o *qp.Operation) {
	t := c.track(o.Conn)
	from := o.From.String()
	d := time.Duration(o.Latency)
	if o.Status != qp.StatusOK || o.Kind == qp.KindClose || o.Guess {
		return
	}
	if o.Kind == qp.KindConnect {
		if o.Service > int64(slowReply) {
			c.add("slow-reply", o.Conn, from, o.End, o.Answer, "the MPA Reply came %v after the Request", round(time.Duration(o.Service)))
		}
		return
	}
	if o.Measure == qp.MeasureAck && !o.Retrans && d >= delayed && d < rto && o.Size < 1448 {
		if t.delayedAcks == 0 {
			t.firstDelay = *o
		}
		t.delayedAcks++
	}
	if o.Measure != qp.MeasureResponse {
		return
	}
	dist := t.dists[o.Kind]
	if dist == nil {
		dist = new(latency.Dist)
		t.dists[o.Kind] = dist
	}
	dist.Record(o.Latency)
	if d >= outlierMin && dist.Count() > manyReads && o.Latency > outlier*dist.Percentile(50) {
		t.slow++
		if o.Latency > t.slowest.Latency {
			t.slowest = *o
		}
	}
}

// Event turns events into findings.
func (c *Collector) Event(e *qp.Event) {
	from := ""
	if e.HasSide {
		from = e.From.String()
	}
	field := func(name string) (int64, bool) {
		for i := range e.Fields {
			if e.Fields[i].Name == name {
				return e.Fields[i].Num, true
			}
		}
		return 0, false
	}
	if c.upper(e, from) {
		return
	}
	add := func(id string) *Finding { return c.add(id, e.Conn, from, e.At, e.N, "%s", e.Detail) }
	switch e.Kind {
	case "mpa_reject":
		add("connection-rejected")
	case "mpa_mismatch":
		f := add("startup-mismatch")
		f.Severity = max(f.Severity, e.Severity)
	case "terminate":
		f := add("terminated")
		f.Severity = min(f.Severity, e.Severity)
	case "tcp_reset":
		add("reset").Severity = qp.Info // the QP's end tells whether it did harm
	case "crc_mismatch":
		add("crc-mismatch")
	case "marker_mismatch":
		add("marker-mismatch")
	case "ddp_violation":
		if strings.HasPrefix(e.Detail, "framing") {
			add("framing-lost")
		} else {
			add("ddp-violation")
		}
	case "rdmap_violation":
		if _, ok := field("limit"); ok {
			if limit, _ := field("limit"); limit == 0 {
				add("depth-zero")
			} else {
				add("depth-exceeded")
			}
		} else if strings.Contains(e.Detail, "invalidated") {
			add("use-after-invalidate")
		} else {
			add("rdmap-violation")
		}
	case "unanswered":
		c.track(e.Conn).unanswered = true
		add("unanswered")
	case "tcp_retransmission":
		after, ok := field("after_ns")
		if ok && after >= int64(rto) {
			f := add("retransmission-timeout")
			f.Detail = fmt.Sprintf("%s, %v after the first time", e.Detail, round(time.Duration(after)))
		} else {
			add("retransmission")
		}
	case "tcp_stall":
		if f := add("stall"); f.Count == 1 {
			f.Severity = e.Severity
		} else if e.Severity > f.Severity {
			f.Severity, f.Frame, f.Detail = e.Severity, e.At.Frame, e.Detail
		}
	case "tcp_bad_checksum":
		add("bad-checksum")
	case "tcp_overlap_conflict":
		add("overlap-conflict")
	case "tcp_syn_retry":
		add("syn-retry")
	case "tcp_window_open":
		if ns, _ := field("closed_ns"); ns >= int64(longClosed) {
			c.add("zero-window", e.Conn, from, e.At, e.N, "the receive window was closed for %v", round(time.Duration(ns)))
		}
	case "tcp_gap":
		c.track(e.Conn).holes = true
		add("capture-holes")
	case "skipped":
		add("not-framed")
	}
}

// QP looks at how a QP began and ended.
func (c *Collector) QP(s *qp.Summary) {
	t := c.track(s.Conn)
	defer delete(c.live, s.Conn)
	messages := s.Sent[0] + s.Sent[1]
	switch {
	case s.Request != nil && s.Reply == nil && messages == s.Messages[rdmap.OpMPARequest] && !t.holes:
		detail := "the MPA Request was not answered"
		if s.Request.Revision > 2 {
			detail = fmt.Sprintf("the MPA Request of revision %d was not answered: revisions 1 and 2 are known", s.Request.Revision)
		}
		if s.HasEnded {
			detail += fmt.Sprintf("; the %s ended the connection", s.EndedBy)
		}
		c.add("no-reply", s.Conn, qp.Responder.String(), s.End, 0, "%s", detail)
	case s.Handshake && s.State != qp.Rejected && messages == 2:
		c.add("only-startup", s.Conn, "", s.End, 0, "nothing was captured after the startup")
	case !s.Handshake && s.Request == nil:
		c.add("started-late", s.Conn, "", s.Start, 0, "the startup was not captured")
	}
	if s.Handshake && s.State != qp.Rejected && s.Request.CRC != s.Reply.CRC {
		c.add("crc-one-sided", s.Conn, "", s.Start, 0, "the Request says C=%d, the Reply C=%d", bit(s.Request.CRC), bit(s.Reply.CRC))
	}
	if s.Handshake && s.State != qp.Rejected && s.Request.HasEnhanced() && s.Reply.HasEnhanced() &&
		s.Request.PeerToPeer && s.Reply.PeerToPeer && s.RTR == "" && messages > 2 && !t.holes {
		c.add("missing-rtr", s.Conn, qp.Initiator.String(), s.Start, 0, "the A bits are set, and the initiator's first message is not an empty Send, Write or Read")
	}
	c.end(s, t)
	for side, st := range s.Stream {
		if st.Missing > 0 && !t.holes {
			c.add("headers-only", s.Conn, s.Roles[side].String(), s.Start, 0, "%d octets of the %s were cut off", st.Missing, s.Roles[side])
		}
	}
	for i := range s.Latency {
		if l := &s.Latency[i]; l.Kind == qp.KindRead && l.Dist.Count() >= manyReads {
			c.serialised(s)
		}
	}
	if t.delayedAcks >= delays {
		c.add("delayed-ack", s.Conn, t.firstDelay.From.Other().String(), t.firstDelay.End, t.firstDelay.Request, "%d small messages were acknowledged %v or more later", t.delayedAcks, delayed)
	}
	if t.slow > 0 {
		o := &t.slowest
		c.add("slow-operations", s.Conn, o.From.String(), o.End, o.Request, "%d operations took more than %d times as long as most; the slowest, %s #%d, took %v", t.slow, outlier, o.Name(), o.Request, round(time.Duration(o.Latency)))
	}
	if all := s.Starts + s.Within; all >= manyFPDUs && s.Within > s.Starts {
		c.add("unaligned", s.Conn, "", s.Start, 0, "%d of %d FPDUs start a TCP segment", s.Starts, all)
	}
	if s.AboveMSS > 0 {
		c.add("fpdu-above-mss", s.Conn, "", s.Start, 0, "%d FPDUs are larger than the MSS, the largest %d octets", s.AboveMSS, s.LargestFPDU)
	}
}

// serialised looks at whether reads could not be outstanding together.
func (c *Collector) serialised(s *qp.Summary) {
	for side, depth := range s.MaxDepth {
		if depth == 1 && s.Limit[side] == 1 {
			c.add("reads-serialised", s.Conn, s.Roles[side].String(), s.Start, 0, "never more than one read is outstanding, and the IRD and ORD agreed on allow no more")
		}
	}
}

// end looks at how a QP ended.
func (c *Collector) end(s *qp.Summary, t *tracked) {
	switch {
	case s.State == qp.Reset:
		f := c.add("reset", s.Conn, s.EndedBy.String(), s.End, 0, "the %s reset the connection", s.EndedBy)
		if t.unanswered {
			f.Severity = qp.Warning
			f.Detail += " while requests waited for an answer"
		} else {
			f.Severity = qp.Info
			f.Detail += " when nothing was under way: rping, perftest and killed programs end so"
		}
	case s.State == qp.Open && t.unanswered && s.CaptureEnd-s.End.Time > int64(silence):
		c.add("silent-end", s.Conn, "", s.End, 0, "nothing was heard for the last %v of the capture, while requests waited for an answer", round(time.Duration(s.CaptureEnd-s.End.Time)))
	}
}

// Damage adds what could not be read.
func (c *Collector) Damage(damage []*capture.Error) {
	for _, d := range damage {
		c.add("cut-short", nil, "", mpa.Stamp{Frame: d.Frame}, 0, "%v", d)
	}
}

// Findings returns all findings of a severity or more, most severe first, then
// by QP and frame.
func (c *Collector) Findings(least qp.Severity) []Finding {
	var fs []Finding
	for k, f := range c.found {
		if f.Severity < least {
			continue
		}
		g := *f
		if conn := c.conns[k]; conn != nil {
			g.QP = conn.Number
		}
		fs = append(fs, g)
	}
	slices.SortFunc(fs, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.QP, b.QP), cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.ID, b.ID))
	})
	return fs
}

// Dropped returns how many occurrences had no room.
func (c *Collector) Dropped() uint64 { return c.dropped }

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// round brings a duration to three digits or so.
func round(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond)
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond)
	}
	return d
}
