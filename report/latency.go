package report

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/iwdump/iwdump/latency"
	"github.com/iwdump/iwdump/qp"
)

// A Group is the latencies of the operations that are alike in what the table
// is by.
type Group struct {
	Op   string
	QP   int    // 0: of all
	From string // empty: of both directions
	Size int    // operations of up to so many octets, a power of two; -1: of all
	// Start is that of the interval, in ns since 1970; 0 where there are none.
	Start int64
	Dist  latency.Dist
}

// By says what groups are by, besides the kind of operation.
type By struct{ QP, Size, Direction, Op, Command bool }

// ParseBy parses names that are joined by commas.
func ParseBy(text string) (by By, err error) {
	for name := range strings.SplitSeq(text, ",") {
		switch name {
		case "op":
			by.Op = true
		case "command":
			by.Command = true
		case "qp":
			by.QP = true
		case "size":
			by.Size = true
		case "direction":
			by.Direction = true
		default:
			return By{}, fmt.Errorf("%q is none of op, command, qp, size, direction", name)
		}
	}
	return by, nil
}

// maxGroups bounds the groups, and so the memory that --by and --interval take.
const maxGroups = 1 << 16

// A slow operation is what is remembered of one of the slowest.
type slow struct {
	qp.Operation
	number int
}

// Latencies collects the latencies of operations.
type Latencies struct {
	by       By
	interval int64
	keep     int // of the slowest
	groups   map[groupKey]*Group
	slowest  []slow // slowest first
	failed   map[string]uint64
	guesses  bool   // count operations whose answer is a guess
	dropped  uint64 // operations for which there is no room for a group
	first    int64
}

type groupKey struct {
	op    string
	qp    int
	from  string
	size  int
	start int64
}

// NewLatencies returns an empty Latencies, by what by says, and, where interval
// is not 0, by intervals of so many ns. It keeps the slowest operations.
func NewLatencies(by By, interval int64, slowest int) *Latencies {
	return &Latencies{by: by, interval: interval, keep: slowest, groups: map[groupKey]*Group{}, failed: map[string]uint64{}}
}

// CountGuesses has operations counted whose answer may be that of another
// request, as packets are missing.
func (l *Latencies) CountGuesses() { l.guesses = true }

// Begin tells the time of the first frame.
func (l *Latencies) Begin(ns int64) { l.first = ns }

// Message, FPDU, Event and QP are not needed.

func (l *Latencies) Message(*qp.Message) {}
func (l *Latencies) FPDU(*qp.FPDU)       {}
func (l *Latencies) Event(*qp.Event)     {}
func (l *Latencies) QP(*qp.Summary)      {}

// Operation adds an operation. Those of the connection itself, connect and
// close, have groups of their own or none: they are no I/O.
func (l *Latencies) Operation(o *qp.Operation) {
	if l.by.Command && o.Command == nil {
		return
	}
	ofConnection := o.Kind == qp.KindConnect || o.Kind == qp.KindClose
	if ofConnection && !l.by.Op {
		return
	}
	switch {
	case o.Status != qp.StatusOK:
		l.failed[o.Name()+" "+o.Status.String()]++
		return
	case o.Guess && !l.guesses:
		l.failed[o.Name()+" guessed (--guesses counts them)"]++
		return
	}
	k := groupKey{size: -1}
	if l.by.Op || l.by.Command {
		k.op = o.Name()
	}
	if l.by.QP {
		k.qp = o.Conn.Number
	}
	if l.by.Direction {
		k.from = o.From.String()
	}
	if l.by.Size {
		k.size = 0
		if o.Size > 0 {
			k.size = 1 << bits.Len64(o.Size-1)
		}
	}
	if l.interval > 0 {
		k.start = l.first + (o.End.Time-l.first)/l.interval*l.interval
	}
	g := l.groups[k]
	if g == nil {
		if len(l.groups) == maxGroups {
			l.dropped++
			return
		}
		g = &Group{Op: k.op, QP: k.qp, From: k.from, Size: k.size, Start: k.start, Dist: latency.Fine()}
		l.groups[k] = g
	}
	g.Dist.Record(o.Latency)
	if !ofConnection {
		l.remember(o)
	}
}

// remember keeps an operation if it is one of the slowest.
func (l *Latencies) remember(o *qp.Operation) {
	if l.keep == 0 || len(l.slowest) == l.keep && o.Latency <= l.slowest[l.keep-1].Latency {
		return
	}
	i, _ := slices.BinarySearchFunc(l.slowest, o.Latency, func(s slow, ns int64) int { return cmp.Compare(ns, s.Latency) })
	for i < len(l.slowest) && l.slowest[i].Latency == o.Latency {
		i++ // the first of equals stays first
	}
	if len(l.slowest) == l.keep {
		l.slowest = l.slowest[:l.keep-1]
	}
	l.slowest = slices.Insert(l.slowest, i, slow{*o, o.Conn.Number})
}

// Groups returns the groups in order.
func (l *Latencies) Groups() []*Group {
	gs := make([]*Group, 0, len(l.groups))
	for _, g := range l.groups {
		gs = append(gs, g)
	}
	slices.SortFunc(gs, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Op, b.Op), cmp.Compare(a.QP, b.QP), cmp.Compare(a.From, b.From), cmp.Compare(a.Size, b.Size))
	})
	return gs
}

// Name is what distinguishes a group, in words.
func (g *Group) Name() string {
	var parts []string
	if g.Op != "" {
		parts = append(parts, g.Op)
	}
	if g.QP > 0 {
		parts = append(parts, "QP "+strconv.Itoa(g.QP))
	}
	if g.From != "" {
		parts = append(parts, "from "+g.From)
	}
	if g.Size >= 0 {
		parts = append(parts, "up to "+strconv.Itoa(g.Size))
	}
	if len(parts) == 0 {
		return "all"
	}
	return strings.Join(parts, ", ")
}

var percentiles = [...]struct {
	name string
	p    float64
}{{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}}

// WriteTable writes a line for each group.
func (l *Latencies) WriteTable(w io.Writer, ascii bool) error {
	micro := "µs"
	if ascii {
		micro = "us"
	}
	head := []string{"operation", "count", "min", "mean", "p50", "p90", "p99", "p99.9", "max", "stddev"}
	if l.interval > 0 {
		head = append([]string{"from"}, head...)
	}
	head[len(head)-10] = "operation"
	var cells [][]string
	for _, g := range l.Groups() {
		ns := func(v int64) string { return string(appendDuration(nil, v, micro)) }
		d := &g.Dist
		c := []string{g.Name(), strconv.FormatUint(d.Count(), 10), ns(d.Min()), ns(d.Mean())}
		for _, p := range percentiles {
			c = append(c, ns(d.Percentile(p.p)))
		}
		c = append(c, ns(d.Max()), ns(d.StdDev()))
		if l.interval > 0 {
			c = append([]string{"+" + string(appendSeconds(nil, g.Start-l.first))}, c...)
		}
		cells = append(cells, c)
	}
	if len(cells) == 0 {
		_, err := fmt.Fprintln(w, "no operation came to its end in the capture")
		return err
	}
	if err := columns(w, head, cells); err != nil {
		return err
	}
	return l.writeNotes(w)
}

// writeNotes tells what the table does not show.
func (l *Latencies) writeNotes(w io.Writer) error {
	var b []byte
	for _, name := range sortedKeys(l.failed) {
		b = fmt.Appendf(b, "not measured: %d %s\n", l.failed[name], name)
	}
	if l.dropped > 0 {
		b = fmt.Appendf(b, "not shown: %d operations, since there are more than %d lines\n", l.dropped, maxGroups)
	}
	_, err := w.Write(b)
	return err
}

// WriteHistogram draws the durations of a group, a line for each part of the
// scale, which is logarithmic: two lines an octave or fewer, so that it fits.
func (g *Group) WriteHistogram(w io.Writer, width int, ascii bool) error {
	micro, full, parts := "µs", "█", []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}
	if ascii {
		micro, full, parts = "us", "#", []string{""}
	}
	// Lines at 1, 2, 5, 10, … of the lowest decade on.
	edge := func(i int) int64 {
		v := []int64{1, 2, 5}[i%3]
		for range i / 3 {
			v *= 10
		}
		return v
	}
	line := func(ns int64) int {
		i := 0
		for edge(i+1) <= ns && i < 40 {
			i++
		}
		return i
	}
	counts := map[int]uint64{}
	low, high, most := 100, 0, uint64(0)
	g.Dist.Buckets(func(from, to int64, n uint64) bool {
		i := line(min(max((from+to)/2, g.Dist.Min()), g.Dist.Max()))
		counts[i] += n
		low, high = min(low, i), max(high, i)
		most = max(most, counts[i])
		return true
	})
	var b []byte
	b = append(b, g.Name()...)
	b = append(b, '\n')
	room := max(4, width-34)
	for i := low; i <= high; i++ {
		from, to := string(appendDuration(nil, edge(i), micro)), string(appendDuration(nil, edge(i+1), micro))
		b = append(b, strings.Repeat(" ", max(0, 8-len([]rune(from))))...)
		b = append(b, from...)
		b = append(b, " .. "...)
		b = append(b, to...)
		b = append(b, strings.Repeat(" ", max(0, 8-len([]rune(to))))...)
		b = fmt.Appendf(b, "%9d ", counts[i])
		eighths := int(counts[i] * uint64(room*8) / max(1, most))
		b = append(b, strings.Repeat(full, eighths/8)...)
		switch {
		case !ascii:
			b = append(b, parts[eighths%8]...)
			if eighths == 0 && counts[i] > 0 {
				b = append(b, parts[1]...)
			}
		case eighths < 8 && counts[i] > 0:
			b = append(b, '.')
		}
		b = append(b, '\n')
	}
	_, err := w.Write(b)
	return err
}

// WriteSlowest writes the slowest operations: where they are, and where the
// time went.
func (l *Latencies) WriteSlowest(w io.Writer, ascii bool) error {
	micro := "µs"
	if ascii {
		micro = "us"
	}
	head := []string{"latency", "operation", "QP", "size", "request", "frame", "answer", "frame ", "asking", "service", "answering", "note"}
	cells := make([][]string, 0, len(l.slowest))
	ns := func(v int64) string {
		if v < 0 {
			return "-"
		}
		return string(appendDuration(nil, v, micro))
	}
	for i := range l.slowest {
		o := &l.slowest[i]
		answer := "ACK"
		if o.Answer > 0 {
			answer = "#" + strconv.Itoa(o.Answer)
		}
		note := ""
		switch {
		case o.Guess:
			note = "guess"
		case o.Retrans:
			note = "retransmitted"
		}
		cells = append(cells, []string{ns(o.Latency), o.Name(), strconv.Itoa(o.number), strconv.FormatUint(o.Size, 10), "#" + strconv.Itoa(o.Request),
			strconv.FormatUint(o.Start.Frame, 10), answer, strconv.FormatUint(o.End.Frame, 10), ns(o.RequestSpread), ns(o.Service), ns(o.ResponseSpread), note})
	}
	return columns(w, head, cells)
}

// WriteCSV writes the groups as CSV, durations in ns.
func (l *Latencies) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	head := []string{"start_ns", "op", "qp", "from", "size_up_to", "count", "min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns", "stddev_ns"}
	if err := c.Write(head); err != nil {
		return err
	}
	num := func(v int64, known bool) string {
		if !known {
			return ""
		}
		return strconv.FormatInt(v, 10)
	}
	for _, g := range l.Groups() {
		d := &g.Dist
		row := []string{num(g.Start, l.interval > 0), g.Op, num(int64(g.QP), g.QP > 0), g.From, num(int64(g.Size), g.Size >= 0), num(int64(d.Count()), true), num(d.Min(), true), num(d.Mean(), true)}
		for _, p := range percentiles {
			row = append(row, num(d.Percentile(p.p), true))
		}
		row = append(row, num(d.Max(), true), num(d.StdDev(), true))
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// WriteJSON writes the groups as JSON Lines, each a record "latency", and the
// slowest operations as records "operation".
func (l *Latencies) WriteJSON(w io.Writer) error {
	j := NewJSON(w)
	for _, g := range l.Groups() {
		o := j.begin("latency")
		if l.interval > 0 {
			j.time("start", g.Start)
		}
		if g.Op != "" {
			o.word("op", g.Op)
		}
		if g.QP > 0 {
			o.int("qp", int64(g.QP))
		}
		if g.From != "" {
			o.word("from", g.From)
		}
		if g.Size >= 0 {
			o.int("size_up_to", int64(g.Size))
		}
		distribution(o, &g.Dist)
		o.int("stddev_ns", g.Dist.StdDev())
		j.end()
	}
	for i := range l.slowest {
		o := &l.slowest[i].Operation
		j.Operation(o)
	}
	return j.Flush()
}

// distribution writes the fields of a distribution.
func distribution(o *object, d *latency.Dist) {
	o.uint("count", d.Count())
	o.int("min_ns", d.Min())
	o.int("mean_ns", d.Mean())
	o.int("p50_ns", d.Percentile(50))
	o.int("p90_ns", d.Percentile(90))
	o.int("p99_ns", d.Percentile(99))
	o.int("p999_ns", d.Percentile(99.9))
	o.int("max_ns", d.Max())
}
