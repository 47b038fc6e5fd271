package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/latency"
	"github.com/iwdump/iwdump/qp"
)

// An Overview takes records and writes, at the end, what they amount to.
type Overview struct {
	messages [rdmap.Ops]uint64
	octets   [rdmap.Ops]uint64
	fpdus    [4]uint64
	states   map[string]uint64
	events   map[string]uint64
	worst    map[string]qp.Severity
	lats     map[string]*latency.Dist
	stream   qp.Stream
	upper    upperCounts
}

// NewOverview returns an empty Overview.
func NewOverview() *Overview {
	return &Overview{states: map[string]uint64{}, events: map[string]uint64{}, worst: map[string]qp.Severity{}, lats: map[string]*latency.Dist{}}
}

// Message is not needed: summaries count them.
func (v *Overview) Message(*qp.Message) {}

// FPDU is not needed: summaries count them.
func (v *Overview) FPDU(*qp.FPDU) {}

// Operation is not needed: summaries measure them.
func (v *Overview) Operation(*qp.Operation) {}

// Event counts an event.
func (v *Overview) Event(e *qp.Event) {
	v.events[e.Kind]++
	v.worst[e.Kind] = max(v.worst[e.Kind], e.Severity)
}

// QP counts a QP.
func (v *Overview) QP(s *qp.Summary) {
	v.states[s.State.String()]++
	for op, n := range s.Messages {
		v.messages[op] += n
		v.octets[op] += s.Octets[op]
	}
	for i, n := range s.FPDUs {
		v.fpdus[i] += n
	}
	for i := range s.Stream {
		t := &s.Stream[i]
		v.stream.Octets += t.Octets
		v.stream.Framed += t.Framed
		v.stream.Skipped += t.Skipped
		v.stream.Missing += t.Missing
		v.stream.Retransmitted += t.Retransmitted
	}
	for i := range s.Latency {
		l := &s.Latency[i]
		name := l.Kind.String()
		if v.lats[name] == nil {
			v.lats[name] = new(latency.Dist)
		}
		v.lats[name].Merge(l.Dist)
	}
	v.upper.add(s.ULP)
}

// Write writes the overview.
func (v *Overview) Write(w io.Writer, st *decode.Stats, ascii bool) error {
	micro := "µs"
	if ascii {
		micro = "us"
	}
	var b []byte
	links := make([]string, len(st.LinkTypes))
	for i, l := range st.LinkTypes {
		links[i] = string(appendSafe(nil, l.String()))
	}
	b = fmt.Appendf(b, "capture   %s, %s", count(st.Frames, "frame"), octets(st.Octets))
	if st.Frames > 0 {
		b = append(b, " over "...)
		b = appendDuration(b, st.LastTime-st.FirstTime, micro)
	}
	if len(links) > 0 {
		b = fmt.Appendf(b, ", %s", strings.Join(links, ", "))
	}
	b = fmt.Appendf(b, "\nTCP       %s, %s that %s not TCP\n", count(st.TCPConnections, "connection"), count(st.OtherFrames, "frame"), isAre(st.OtherFrames))
	b = fmt.Appendf(b, "QPs       %d", st.QPs)
	for i, name := range sortedKeys(v.states) {
		b = append(b, ":,"[min(i, 1)])
		b = fmt.Appendf(b, " %d %s", v.states[name], name)
	}
	b = append(b, '\n')
	if st.QPs == 0 {
		_, err := w.Write(b)
		return err
	}
	b = v.upper.appendCarried(b)
	b = fmt.Appendf(b, "FPDUs     %d", st.FPDUs)
	sep := ": "
	for _, k := range [...]struct {
		crc  mpa.CRC
		text string
	}{{mpa.CRCOK, "CRC ok"}, {mpa.CRCBad, "CRC BAD"}, {mpa.CRCUnchecked, "not checked"}, {mpa.CRCOff, "CRC not in use"}} {
		if n := v.fpdus[k.crc]; n > 0 {
			b = fmt.Appendf(b, "%s%d %s", sep, n, k.text)
			sep = ", "
		}
	}
	b = fmt.Appendf(b, "\nstream    %s framed, %d skipped, %d missing, %d sent again\n", octets(v.stream.Framed), v.stream.Skipped, v.stream.Missing, v.stream.Retransmitted)
	b = append(b, "\nmessages                                 count          octets\n"...)
	for _, op := range [...]rdmap.Op{rdmap.OpMPARequest, rdmap.OpMPAReply, rdmap.OpWrite, rdmap.OpReadRequest, rdmap.OpReadResponse, rdmap.OpSend,
		rdmap.OpSendInv, rdmap.OpSendSE, rdmap.OpSendSEInv, rdmap.OpImmediate, rdmap.OpImmediateSE, rdmap.OpAtomicRequest, rdmap.OpAtomicResponse,
		rdmap.OpTerminate, 0xC, 0xD, 0xE, 0xF} {
		if v.messages[op] > 0 {
			b = fmt.Appendf(b, "  %-30s %13d %15d\n", title(op), v.messages[op], v.octets[op])
		}
	}
	if len(v.lats) > 0 {
		b = append(b, "\nlatency               count       min       p50       p90       p99       max\n"...)
		for _, name := range sortedKeys(v.lats) {
			d := v.lats[name]
			b = fmt.Appendf(b, "  %-16s %8d", name, d.Count())
			for _, ns := range [...]int64{d.Min(), d.Percentile(50), d.Percentile(90), d.Percentile(99), d.Max()} {
				s := string(appendDuration(nil, ns, micro))
				b = append(b, strings.Repeat(" ", max(1, 10-len([]rune(s))))...)
				b = append(b, s...)
			}
			b = append(b, '\n')
		}
	}
	b = v.upper.appendLatencies(b, micro)
	if len(v.events) > 0 {
		b = append(b, "\nevents\n"...)
		kinds := sortedKeys(v.events)
		slices.SortStableFunc(kinds, func(x, y string) int { return cmp.Compare(v.worst[y], v.worst[x]) })
		for _, kind := range kinds {
			b = fmt.Appendf(b, "  %-9s %-28s %5d\n", v.worst[kind], kind, v.events[kind])
		}
	}
	_, err := w.Write(b)
	return err
}

// Closing is one line on what was read, for the end of a listing.
func Closing(st *decode.Stats) string {
	s := fmt.Sprintf("%s, %s, %s", count(st.Frames, "frame"), count(st.QPs, "QP"), count(st.Messages, "message"))
	if st.CRCBad > 0 {
		s += ", " + count(st.CRCBad, "bad CRC")
	}
	return s
}

func count(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.FormatUint(n, 10) + " " + what + "s"
}

func isAre(n uint64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// octets writes a number of octets in a unit that fits.
func octets(n uint64) string {
	switch {
	case n < 10_000:
		return strconv.FormatUint(n, 10) + " octets"
	case n < 10_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 10_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
