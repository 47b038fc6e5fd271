package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iwdump/iwdump/qp"
)

// A Ladder collects the messages of QPs for a ladder diagram: two lifelines,
// and an arrow for each message.
type Ladder struct {
	limit int
	total int
	left  uint64 // messages beyond the limit
	qps   []*ladderQP
	byQP  map[*qp.Conn]*ladderQP
	first int64
}

// ladderQP is one QP of a Ladder.
type ladderQP struct {
	conn  *qp.Conn
	roles [2]qp.Role
	steps []step
	byN   map[int]int // N of a request to its step
}

// step is a line of the ladder.
type step struct {
	time    int64
	frame   uint64
	right   bool   // sent by the left end
	label   string // of a message
	answers int    // step that it answers, -1 for none
	latency int64
	n       int
	count   int    // of equal messages, folded
	note    string // of an event, in place of an arrow
	gap     bool   // the note is of a hole in the capture
	until   int64  // of the last of those folded
}

// NewLadder returns a Ladder that keeps up to limit messages and events.
func NewLadder(limit int) *Ladder { return &Ladder{limit: limit, byQP: map[*qp.Conn]*ladderQP{}} }

// Begin tells the time of the first frame.
func (l *Ladder) Begin(ns int64) { l.first = ns }

// Left returns how many messages and events the limit left out.
func (l *Ladder) Left() uint64 { return l.left }

func (l *Ladder) of(c *qp.Conn) *ladderQP {
	if l.total == l.limit {
		l.left++
		return nil
	}
	l.total++
	q := l.byQP[c]
	if q == nil {
		q = &ladderQP{conn: c, byN: map[int]int{}, roles: [2]qp.Role{qp.RoleA, qp.RoleB}}
		l.byQP[c] = q
		l.qps = append(l.qps, q)
	}
	return q
}

// Message adds a message.
func (l *Ladder) Message(m *qp.Message) {
	q := l.of(m.Conn)
	if q == nil {
		return
	}
	q.roles[m.Side], q.roles[m.Side.Other()] = m.From, m.From.Other()
	s := step{time: m.Last.Time, until: m.Last.Time, frame: m.Last.Frame, right: m.Side == q.left(), answers: -1, n: m.N, count: 1}
	s.label = title(m.Op)
	switch {
	case m.Read != nil:
		s.label += " " + size(uint64(m.Read.Size))
	case m.Startup == nil && m.Op.Known() && m.Size > 0:
		s.label += " " + size(m.Size)
	}
	answers, latency := m.Answers, m.Latency
	if u := m.ULP; u != nil && u.Command != "" && m.Op.IsSend() {
		s.label += " " + u.Command
		if u.Answers > 0 {
			answers, latency = u.Answers, u.Latency
		} else {
			q.byN[m.N] = len(q.steps)
		}
	}
	if m.Retrans {
		s.label += " (sent again)"
	}
	if !m.Complete {
		s.label += " (incomplete)"
	}
	if answers > 0 {
		if i, ok := q.byN[answers]; ok {
			s.answers, s.latency = i, latency
			delete(q.byN, answers)
		}
	}
	if m.Read != nil || m.AtomicReq != nil || m.Startup != nil && !m.Startup.Reply {
		q.byN[m.N] = len(q.steps)
	}
	q.steps = append(q.steps, s)
}

// left is the side that is drawn on the left: the initiator, or A.
func (q *ladderQP) left() qp.Side {
	if q.roles[0] == qp.Responder {
		return 1
	}
	return 0
}

// FPDU and Operation are not needed.

func (l *Ladder) FPDU(*qp.FPDU)           {}
func (l *Ladder) Operation(*qp.Operation) {}

// Event adds what the capture lacks, what was sent again, and what is wrong.
func (l *Ladder) Event(e *qp.Event) {
	note, gap := "", false
	length := func() string {
		for i := range e.Fields {
			if e.Fields[i].Name == "length" {
				return size(uint64(e.Fields[i].Num))
			}
		}
		return ""
	}
	switch {
	case e.Conn == nil:
		return
	case e.Kind == "tcp_gap":
		note, gap = length()+" octets missing", true
	case e.Kind == "skipped":
		note, gap = length()+" octets not framed", true
	case e.Kind == "tcp_retransmission":
		note = length() + " octets sent again"
	case e.Severity == qp.Error && e.Kind != "terminate":
		note = strings.ReplaceAll(e.Kind, "_", " ")
	default:
		return
	}
	q := l.of(e.Conn)
	if q == nil {
		return
	}
	q.steps = append(q.steps, step{time: e.At.Time, until: e.At.Time, frame: e.At.Frame, right: e.HasSide && e.Side == q.left(), answers: -1, note: note, gap: gap, count: 1})
}

// QP is not needed.
func (l *Ladder) QP(*qp.Summary) {}

// A row is what is drawn in one line.
type row struct {
	step
	idle    int64 // since the row before, where that is long
	columns []bracket
}

// bracket is what one of the columns that join requests with answers shows.
type bracket uint8

const (
	none bracket = iota
	opens
	runs
	closes
)

const maxBrackets = 4

// rows folds the steps of a QP: runs of equal messages, unless full, and idle
// stretches.
func (q *ladderQP) rows(full bool) []row {
	answered := make([]int, len(q.steps)) // by step: the step that answers it, 0 for none
	for i, s := range q.steps {
		if s.answers >= 0 {
			answered[s.answers] = i
		}
	}
	var rows []row
	at := make([]int, len(q.steps)) // row of a step
	for i, s := range q.steps {
		if n := len(rows); !full && n > 0 {
			last := &rows[n-1]
			plain := s.answers < 0 && last.answers < 0 && answered[i] == 0 && answered[i-1] == 0
			if plain && s.label == last.label && s.note == last.note && s.right == last.right && s.gap == last.gap {
				last.count++
				last.until = s.time
				at[i] = n - 1
				continue
			}
		}
		at[i] = len(rows)
		rows = append(rows, row{step: s})
	}
	idleOver := idleThreshold(rows)
	for i := 1; i < len(rows); i++ {
		if d := rows[i].time - rows[i-1].until; d >= idleOver {
			rows[i].idle = d
		}
	}
	q.brackets(rows, at, answered)
	return rows
}

// idleThreshold is from when on a pause is worth a line: ten times the usual
// one, and at least a millisecond.
func idleThreshold(rows []row) int64 {
	var pauses []int64
	for i := 1; i < len(rows); i++ {
		pauses = append(pauses, rows[i].time-rows[i-1].until)
	}
	if len(pauses) == 0 {
		return 1e6
	}
	slices.Sort(pauses)
	return max(1e6, 10*pauses[len(pauses)/2])
}

// brackets assigns columns to pairs of request and answer.
func (q *ladderQP) brackets(rows []row, at, answered []int) {
	var busy [maxBrackets]int // row up to which a column is taken, plus one
	for i, a := range answered {
		if a == 0 {
			continue
		}
		from, to := at[i], at[a]
		column := slices.IndexFunc(busy[:], func(until int) bool { return until <= from })
		if column < 0 {
			continue // too many at once: the answer still shows its latency
		}
		busy[column] = to + 1
		for r := from; r <= to; r++ {
			for len(rows[r].columns) <= column {
				rows[r].columns = append(rows[r].columns, none)
			}
			switch r {
			case from:
				rows[r].columns[column] = opens
			case to:
				rows[r].columns[column] = closes
			default:
				rows[r].columns[column] = runs
			}
		}
	}
}

// LadderOptions say how the ladder looks.
type LadderOptions struct {
	Width int  // columns
	ASCII bool // no other characters
	Full  bool // nothing is folded
}

// strokes are the characters of which a ladder is drawn.
type strokes struct {
	life, line, right, left, dots, wave string
	open, run, close, micro             string
}

var unicodeStrokes = strokes{"│", "─", "▶", "◀", "·", "~", "┐", "│", "┘", "µs"}
var asciiStrokes = strokes{"|", "-", ">", "<", ".", "~", ".", "|", "'", "us"}

// Write draws the ladders of all QPs, one below the other.
func (l *Ladder) Write(w io.Writer, o LadderOptions) error {
	out := NewWriter(w)
	slices.SortFunc(l.qps, func(a, b *ladderQP) int { return a.conn.Number - b.conn.Number })
	c := &unicodeStrokes
	if o.ASCII {
		c = &asciiStrokes
	}
	for i, q := range l.qps {
		if i > 0 {
			out.Write([]byte{'\n'})
		}
		out.Write(l.draw(q, o, c))
	}
	return out.Flush()
}

// draw draws one ladder.
func (l *Ladder) draw(q *ladderQP, o LadderOptions, c *strokes) []byte {
	left := q.left()
	var b []byte
	b = fmt.Appendf(b, "QP %d  %s %s   %s %s\n", q.conn.Number, q.conn.Text[left], q.roles[left], q.conn.Text[left.Other()], q.roles[left.Other()])
	rows := q.rows(o.Full)
	brackets := 0
	for i := range rows {
		brackets = max(brackets, len(rows[i].columns))
	}
	timeCols, tailCols := 13, brackets+9
	if o.Width < 50 {
		timeCols = 0
	}
	if o.Width < 36 {
		tailCols, brackets = 0, 0
	}
	room := max(8, o.Width-timeCols-tailCols-2)
	blank := func(n int) { b = append(b, strings.Repeat(" ", max(0, n))...) }
	head := func(text string) {
		if timeCols > 0 {
			blank(timeCols - 1 - len(text))
			b = append(b, text...)
			b = append(b, ' ')
		}
	}
	head("")
	b = append(b, q.roles[left].Letter())
	blank(room)
	b = append(b, q.roles[left.Other()].Letter(), '\n')
	for i := range rows {
		r := &rows[i]
		if r.idle > 0 {
			head("")
			b = append(b, c.life...)
			b = append(b, middle(" idle "+string(appendDuration(nil, r.idle, c.micro))+" ", room, " ")...)
			b = append(b, c.life...)
			b = l.tail(b, r, brackets, c, true)
			b = append(b, '\n')
		}
		head(string(appendSeconds(nil, r.time-l.first)))
		b = append(b, c.life...)
		label := r.label
		if r.count > 1 {
			label += " x" + strconv.Itoa(r.count)
		}
		switch {
		case r.note != "":
			fill := c.dots
			if r.gap {
				fill = c.wave
			}
			b = append(b, middle(" "+r.note+times(r.count)+" ", room, fill)...)
		case r.right:
			label = fit(label, room-5)
			b = append(b, c.line+c.line+" "+label+" "...)
			b = append(b, strings.Repeat(c.line, max(0, room-5-utf8.RuneCountInString(label)))...)
			b = append(b, c.right...)
		default:
			label = fit(label, room-5)
			b = append(b, c.left...)
			b = append(b, strings.Repeat(c.line, max(0, room-5-utf8.RuneCountInString(label)))...)
			b = append(b, " "+label+" "+c.line+c.line...)
		}
		b = append(b, c.life...)
		b = l.tail(b, r, brackets, c, false)
		if tailCols > 0 && r.answers >= 0 {
			b = append(b, ' ')
			b = appendDuration(b, r.latency, c.micro)
		}
		b = append([]byte(strings.TrimRight(string(b), " ")), '\n')
	}
	return b
}

func times(n int) string {
	if n > 1 {
		return " x" + strconv.Itoa(n)
	}
	return ""
}

// tail appends the brackets of a row; of a row in between, they only run on.
func (l *Ladder) tail(b []byte, r *row, n int, c *strokes, between bool) []byte {
	for k := range n {
		mark := none
		if k < len(r.columns) {
			mark = r.columns[k]
		}
		if between && mark == opens {
			mark = none
		} else if between && mark == closes {
			mark = runs
		}
		b = append(b, [...]string{" ", c.open, c.run, c.close}[mark]...)
	}
	return b
}

// fit cuts text to n columns.
func fit(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:max(0, n)])
	}
	return text
}

// middle centres text in n columns that are filled with fill.
func middle(text string, n int, fill string) string {
	text = fit(text, n)
	left := (n - utf8.RuneCountInString(text)) / 2
	return strings.Repeat(fill, left) + text + strings.Repeat(fill, n-left-utf8.RuneCountInString(text))
}
