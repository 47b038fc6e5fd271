package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/latency"
	"github.com/iwdump/iwdump/qp"
)

// A Row is a line of the table of QPs: one QP, or all of one listener.
type Row struct {
	Number    int // of the QP; of a listener, how many QPs it has
	Initiator string
	Responder string
	Agreed    string // what the startup agreed on
	State     string
	Start     int64 // ns
	Duration  int64
	Messages  [2]uint64 // of the initiator (or A), of the responder (or B)
	Payload   [2]uint64
	Errors    uint64 // events of that severity
	Warnings  uint64
	Retrans   uint64 // octets
	Missing   uint64
	BadCRC    uint64
	Depth     int
	Reads     latency.Dist
}

// QPs collects the summaries of QPs for a table.
type QPs struct {
	rows       []Row
	byListener bool
	listeners  map[string]int
}

// NewQPs returns an empty table. With byListener a row is a responder's
// endpoint with all its QPs.
func NewQPs(byListener bool) *QPs {
	return &QPs{byListener: byListener, listeners: map[string]int{}}
}

// Message, FPDU, Operation and Event are not needed: summaries have it all.

func (t *QPs) Message(*qp.Message)     {}
func (t *QPs) FPDU(*qp.FPDU)           {}
func (t *QPs) Operation(*qp.Operation) {}
func (t *QPs) Event(*qp.Event)         {}

// QP adds a QP.
func (t *QPs) QP(s *qp.Summary) {
	i := 0 // side of the initiator, or A
	if s.Roles[0] == qp.Responder {
		i = 1
	}
	r := Row{Number: s.Conn.Number, Initiator: s.Conn.Text[i], Responder: s.Conn.Text[1-i], Agreed: agreed(s), State: state(s),
		Start: s.Start.Time, Duration: s.End.Time - s.Start.Time, Errors: s.Events[qp.Error], Warnings: s.Events[qp.Warning],
		Depth: max(s.MaxDepth[0], s.MaxDepth[1]), BadCRC: s.FPDUs[mpa.CRCBad]}
	for k, side := range [2]int{i, 1 - i} {
		r.Messages[k] = s.Sent[side]
		r.Payload[k] = s.Payload[side]
		r.Retrans += s.Stream[side].Retransmitted
		r.Missing += s.Stream[side].Missing
	}
	for j := range s.Latency {
		if s.Latency[j].Kind == qp.KindRead {
			r.Reads.Merge(s.Latency[j].Dist)
		}
	}
	if !t.byListener {
		t.rows = append(t.rows, r)
		return
	}
	k, ok := t.listeners[r.Responder]
	if !ok {
		k = len(t.rows)
		t.listeners[r.Responder] = k
		r.Number, r.Initiator, r.State = 1, "", count1(r.State)
		t.rows = append(t.rows, r)
		return
	}
	t.rows[k].add(&r)
}

func count1(state string) string { return "1 " + state }

// add adds a QP to a row of several.
func (r *Row) add(o *Row) {
	r.Number++
	if r.Agreed != o.Agreed {
		r.Agreed = "various"
	}
	r.State = addState(r.State, o.State)
	end := max(r.Start+r.Duration, o.Start+o.Duration)
	r.Start = min(r.Start, o.Start)
	r.Duration = end - r.Start
	for k := range r.Messages {
		r.Messages[k] += o.Messages[k]
		r.Payload[k] += o.Payload[k]
	}
	r.Errors += o.Errors
	r.Warnings += o.Warnings
	r.Retrans += o.Retrans
	r.Missing += o.Missing
	r.BadCRC += o.BadCRC
	r.Depth = max(r.Depth, o.Depth)
	r.Reads.Merge(&o.Reads)
}

// addState counts a state in a list like "3 closed, 1 reset by initiator".
func addState(list, state string) string {
	parts := strings.Split(list, ", ")
	for i, p := range parts {
		var n int
		var rest string
		if head, tail, ok := strings.Cut(p, " "); ok {
			fmt.Sscanf(head, "%d", &n)
			rest = tail
		}
		if rest == state {
			parts[i] = fmt.Sprintf("%d %s", n+1, state)
			return strings.Join(parts, ", ")
		}
	}
	return list + ", 1 " + state
}

// state tells how a QP ended, and who ended it.
func state(s *qp.Summary) string {
	if !s.HasEnded {
		return s.State.String()
	}
	return s.State.String() + " by " + s.EndedBy.String()
}

// agreed writes what the startup agreed on, in a few characters: revision, C
// for CRCs, M for Markers of either side, IRD and ORD of both, the RTR.
func agreed(s *qp.Summary) string {
	var b strings.Builder
	first := s.Request
	if first == nil {
		first = s.Reply
	}
	if first == nil {
		b.WriteString("no startup")
	} else {
		fmt.Fprintf(&b, "v%d", first.Revision)
	}
	if s.CRC == mpa.On {
		b.WriteString(" CRC")
	}
	for side, use := range s.Markers {
		if use == mpa.On {
			fmt.Fprintf(&b, " markers %c", s.Roles[side].Letter())
		}
	}
	if s.Request != nil && s.Request.HasEnhanced() {
		fmt.Fprintf(&b, " I %s/%s", short(s.Request.IRD), short(s.Request.ORD))
	}
	if s.Reply != nil && s.Reply.HasEnhanced() {
		fmt.Fprintf(&b, " R %s/%s", short(s.Reply.IRD), short(s.Reply.ORD))
	}
	if s.RTR != "" {
		b.WriteString(" RTR " + s.RTR)
	}
	return b.String()
}

func short(v uint16) string {
	if v == mpa.NotNegotiated {
		return "-"
	}
	return fmt.Sprint(v)
}

// Orders are the names by which rows can be sorted.
var Orders = []string{"number", "payload", "messages", "errors", "retransmitted", "missing", "p50", "p99", "duration", "depth"}

// sortRows sorts rows by a name of Orders, largest first but for the number.
func sortRows(rows []Row, by string) {
	value := func(r *Row) int64 {
		switch by {
		case "payload":
			return int64(r.Payload[0] + r.Payload[1])
		case "messages":
			return int64(r.Messages[0] + r.Messages[1])
		case "errors":
			return int64(r.Errors)<<32 + int64(r.Warnings)
		case "retransmitted":
			return int64(r.Retrans)
		case "missing":
			return int64(r.Missing)
		case "p50":
			return r.Reads.Percentile(50)
		case "p99":
			return r.Reads.Percentile(99)
		case "duration":
			return r.Duration
		case "depth":
			return int64(r.Depth)
		}
		return 0
	}
	slices.SortStableFunc(rows, func(a, b Row) int {
		if by == "number" {
			return cmp.Compare(a.Number, b.Number)
		}
		return cmp.Compare(value(&b), value(&a))
	})
}

// QPsOptions say how the table looks.
type QPsOptions struct {
	Sort  string
	Top   int // rows at most, 0: all
	Wide  bool
	ASCII bool
}

// manyRows is from how many rows on columns are written without a frame: such
// a list is for grep.
const manyRows = 300

// Write writes the table, with totals below it.
func (t *QPs) Write(w io.Writer, o QPsOptions) error {
	rows := slices.Clone(t.rows)
	sortRows(rows, o.Sort)
	left := 0
	if o.Top > 0 && len(rows) > o.Top {
		left = len(rows) - o.Top
		rows = rows[:o.Top]
	}
	micro := "µs"
	if o.ASCII {
		micro = "us"
	}
	ns := func(r *Row, p float64) string {
		if r.Reads.Count() == 0 {
			return "-"
		}
		return string(appendDuration(nil, r.Reads.Percentile(p), micro))
	}
	head := []string{"QP", "initiator", "responder", "agreed", "state", "messages", "payload", "read p50", "p99", "!!", "!"}
	if t.byListener {
		head[0], head[1] = "QPs", ""
	}
	if o.Wide {
		head = append(head, "reads", "depth", "bad CRC", "sent again", "missing", "duration")
	}
	cells := make([][]string, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		c := []string{fmt.Sprint(r.Number), r.Initiator, r.Responder, r.Agreed, r.State,
			fmt.Sprintf("%d / %d", r.Messages[0], r.Messages[1]), fmt.Sprintf("%s / %s", size(r.Payload[0]), size(r.Payload[1])),
			ns(r, 50), ns(r, 99), blank(r.Errors), blank(r.Warnings)}
		if o.Wide {
			c = append(c, fmt.Sprint(r.Reads.Count()), fmt.Sprint(r.Depth), blank(r.BadCRC), blank(r.Retrans), blank(r.Missing),
				string(appendDuration(nil, r.Duration, micro)))
		}
		cells = append(cells, c)
	}
	var err error
	if len(cells) > manyRows {
		err = columns(w, head, cells)
	} else {
		err = table(w, head, cells, o.ASCII)
	}
	if err != nil {
		return err
	}
	total := Row{}
	for i := range t.rows {
		total.add(&t.rows[i])
	}
	n := len(t.rows)
	what := "QP"
	if t.byListener {
		what = "listener"
	}
	line := fmt.Sprintf("%s: %s messages, %s payload, %d errors, %d warnings", count(uint64(n), what),
		fmt.Sprint(total.Messages[0]+total.Messages[1]), size(total.Payload[0]+total.Payload[1]), total.Errors, total.Warnings)
	if total.Reads.Count() > 0 {
		line += fmt.Sprintf(", %d reads, p50 %s, p99 %s", total.Reads.Count(), ns(&total, 50), ns(&total, 99))
	}
	if left > 0 {
		line += fmt.Sprintf("; %d more are not shown", left)
	}
	_, err = fmt.Fprintln(w, line)
	return err
}

func blank(n uint64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// size writes a number of octets shortly.
func size(n uint64) string {
	switch {
	case n < 1e4:
		return fmt.Sprint(n)
	case n < 1e7:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 1e10:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1fG", float64(n)/1e9)
}

// rightAligned says that a column holds numbers.
func rightAligned(head string) bool {
	switch head {
	case "initiator", "responder", "agreed", "state", "operation", "note", "of them", "":
		return false
	}
	return true
}

// table writes a table with a frame.
func table(w io.Writer, head []string, cells [][]string, ascii bool) error {
	align := make([]tw.Align, len(head))
	for i, h := range head {
		align[i] = tw.AlignLeft
		if rightAligned(h) {
			align[i] = tw.AlignRight
		}
	}
	style := tw.StyleLight
	if ascii {
		style = tw.StyleASCII
	}
	t := tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{Symbols: tw.NewSymbols(style), Borders: tw.BorderNone,
			Settings: tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.Lines{ShowHeaderLine: tw.On}}})),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithRowAutoWrap(tw.WrapNone), tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithAlignment(align))
	t.Header(head)
	if err := t.Bulk(cells); err != nil {
		return err
	}
	return t.Render()
}

// columns writes a list of aligned columns, for many rows.
func columns(w io.Writer, head []string, cells [][]string) error {
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, cells...) {
		for i, c := range row {
			widths[i] = max(widths[i], len([]rune(c)))
		}
	}
	out := NewWriter(w)
	var b []byte
	for _, row := range append([][]string{head}, cells...) {
		b = b[:0]
		for i, c := range row {
			fill := strings.Repeat(" ", widths[i]-len([]rune(c)))
			if rightAligned(head[i]) {
				b = append(append(b, fill...), c...)
			} else {
				b = append(append(b, c...), fill...)
			}
			b = append(b, ' ', ' ')
		}
		b = append([]byte(strings.TrimRight(string(b), " ")), '\n')
		out.Write(b)
	}
	return out.Flush()
}
