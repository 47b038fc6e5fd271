package report

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/iwdump/iwdump/qp"
)

// A Perfetto collects operations and writes them as a trace that
// ui.perfetto.dev opens: QPs are processes, operations are slices, on as many
// tracks as are needed for those at the same time, and what is outstanding and
// how much is sent are counters.
type Perfetto struct {
	limit int
	left  uint64
	ops   []perfettoOp
	sent  map[sentKey]uint64
	conns map[*qp.Conn][2]qp.Role
	first int64
}

type perfettoOp struct {
	qp.Operation
}

// sentKey is a side of a QP, and an interval of throughputStep.
type sentKey struct {
	conn *qp.Conn
	side qp.Side
	at   int64
}

// throughputStep is how long throughput is averaged over, in ns.
const throughputStep = 1e6

// NewPerfetto returns a Perfetto that keeps up to limit operations.
func NewPerfetto(limit int) *Perfetto {
	return &Perfetto{limit: limit, sent: map[sentKey]uint64{}, conns: map[*qp.Conn][2]qp.Role{}}
}

// Begin tells the time of the first frame.
func (p *Perfetto) Begin(ns int64) { p.first = ns }

// Left returns how many operations the limit left out.
func (p *Perfetto) Left() uint64 { return p.left }

// Message counts what a message carries.
func (p *Perfetto) Message(m *qp.Message) {
	if len(p.sent) < p.limit && (m.Op.IsSend() || m.Header.Tagged) {
		p.sent[sentKey{m.Conn, m.Side, m.Last.Time / throughputStep}] += m.Size
	}
}

// FPDU and Event are not needed.

func (p *Perfetto) FPDU(*qp.FPDU)   {}
func (p *Perfetto) Event(*qp.Event) {}

// Operation adds an operation.
func (p *Perfetto) Operation(o *qp.Operation) {
	if len(p.ops) == p.limit {
		p.left++
		return
	}
	p.ops = append(p.ops, perfettoOp{*o})
}

// QP notes the roles of a QP.
func (p *Perfetto) QP(s *qp.Summary) { p.conns[s.Conn] = s.Roles }

// Write writes the trace: https://perfetto.dev/docs/getting-started/other-formats
// (the JSON trace event format).
func (p *Perfetto) Write(w io.Writer) error {
	out := NewWriter(w)
	out.Write([]byte(`{"displayTimeUnit":"ns","traceEvents":[`))
	first := true
	o := &object{}
	emit := func(f func()) {
		o.b = o.b[:0]
		if !first {
			o.b = append(o.b, ',', '\n')
		}
		first = false
		o.open()
		f()
		o.close()
		out.Write(o.b)
	}
	meta := func(name string, pid, tid int, value string) {
		emit(func() {
			o.word("ph", "M")
			o.word("name", name)
			o.int("pid", int64(pid))
			o.int("tid", int64(tid))
			o.nested("args")
			o.text("name", value)
			o.close()
		})
	}
	conns := make([]*qp.Conn, 0, len(p.conns))
	for c := range p.conns {
		conns = append(conns, c)
	}
	slices.SortFunc(conns, func(a, b *qp.Conn) int { return cmp.Compare(a.Number, b.Number) })
	for _, c := range conns {
		meta("process_name", c.Number, 0, "QP "+strconv.Itoa(c.Number)+" "+c.Text[0]+" - "+c.Text[1])
	}
	slices.SortStableFunc(p.ops, func(a, b perfettoOp) int { return cmp.Compare(a.Start.Time, b.Start.Time) })
	lanes := map[laneKey][]int64{} // end of the last slice of each track
	depth := map[laneKey][]int64{} // ends of those outstanding
	for i := range p.ops {
		x := &p.ops[i]
		pid := x.Conn.Number
		k := laneKey{x.Conn, x.Side}
		end := max(x.End.Time, x.Start.Time)
		lane := slices.IndexFunc(lanes[k], func(until int64) bool { return until <= x.Start.Time })
		if lane < 0 {
			lane = len(lanes[k])
			lanes[k] = append(lanes[k], 0)
			meta("thread_name", pid, tid(x.Side, lane), x.From.String())
		}
		lanes[k][lane] = end
		emit(func() {
			o.word("ph", "X")
			o.word("name", x.Name())
			o.word("cat", x.Status.String())
			o.int("pid", int64(pid))
			o.int("tid", int64(tid(x.Side, lane)))
			p.time(o, "ts", x.Start.Time-p.first)
			p.time(o, "dur", end-x.Start.Time)
			o.nested("args")
			o.uint("size", x.Size)
			if x.Request > 0 {
				o.int("request_n", int64(x.Request))
			}
			o.uint("frame", x.Start.Frame)
			o.uint("end_frame", x.End.Frame)
			o.word("measure", x.Measure.String())
			if x.Guess {
				o.bool("guess", true)
			}
			o.close()
		})
		if x.Depth == 0 {
			continue
		}
		open := slices.DeleteFunc(depth[k], func(until int64) bool { return until <= x.Start.Time })
		depth[k] = append(open, end)
		p.counter(emit, o, pid, "outstanding "+x.From.String(), x.Start.Time, uint64(len(depth[k])))
	}
	keys := make([]sentKey, 0, len(p.sent))
	for k := range p.sent {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b sentKey) int {
		return cmp.Or(cmp.Compare(a.conn.Number, b.conn.Number), cmp.Compare(a.side, b.side), cmp.Compare(a.at, b.at))
	})
	for i, k := range keys {
		name := "octets/s by " + p.conns[k.conn][k.side].String()
		p.counter(emit, o, k.conn.Number, name, k.at*throughputStep, p.sent[k]*(1e9/throughputStep))
		if next := i + 1; next == len(keys) || keys[next].conn != k.conn || keys[next].side != k.side || keys[next].at > k.at+1 {
			p.counter(emit, o, k.conn.Number, name, (k.at+1)*throughputStep, 0)
		}
	}
	out.Write([]byte("]}\n"))
	return out.Flush()
}

type laneKey struct {
	conn *qp.Conn
	side qp.Side
}

// tid is the track of a side: thousands of them at once are not told apart.
func tid(side qp.Side, lane int) int { return 1 + int(side)*100_000 + lane }

func (p *Perfetto) counter(emit func(func()), o *object, pid int, name string, ns int64, v uint64) {
	emit(func() {
		o.word("ph", "C")
		o.text("name", name)
		o.int("pid", int64(pid))
		p.time(o, "ts", max(0, ns-p.first))
		o.nested("args")
		o.uint("value", v)
		o.close()
	})
}

// time writes ns as microseconds with three decimals.
func (p *Perfetto) time(o *object, name string, ns int64) {
	o.key(name)
	o.b = strconv.AppendFloat(o.b, float64(ns)/1e3, 'f', 3, 64)
}
