// Package monitor keeps what a long run wants to know at any time: what
// happened lately and since the start, over all and by QP. Its memory is bounded
// by the number of QPs that are open.
package monitor

import (
	"cmp"
	"slices"
	"sync"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/latency"
	"github.com/iwdump/iwdump/qp"
)

// MaxQPs is how many open QPs are followed one by one. The others count in the
// sums alone.
const MaxQPs = 1 << 14

// OpKinds is how many kinds of operations there are at most.
const OpKinds = 16

// Totals are sums.
type Totals struct {
	Messages        [rdmap.Ops]uint64
	Payload         uint64 // octets of payload
	Ops             [OpKinds]Op
	Retransmissions uint64
	CRCBad          uint64
	Holes           uint64 // in TCP streams
	Errors          uint64 // events of that severity
	Dropped         uint64 // frames that the source lost
}

// An Op is what became of one kind of operation.
type Op struct {
	Count   uint64 // that ended, well or not
	Size    uint64 // octets that they moved
	Latency latency.Dist
}

// Sum is the number of all messages.
func (t *Totals) Sum() (n uint64) {
	for _, k := range t.Messages {
		n += k
	}
	return n
}

// Operations is the number of all operations that move data.
func (t *Totals) Operations() (n uint64) {
	for k := range t.Ops {
		if movesData(qp.OpKind(k)) {
			n += t.Ops[k].Count
		}
	}
	return n
}

// movesData says that an operation is one of RDMA: commands of an upper layer
// are made of these.
func movesData(k qp.OpKind) bool {
	return k != qp.KindConnect && k != qp.KindClose && k != qp.KindCommand
}

// A QP is what is known of an open QP.
type QP struct {
	Conn            *qp.Conn
	From            [2]qp.Role // by Side
	Messages        uint64
	Payload         uint64
	Operations      uint64
	Reads           latency.Dist // since the start
	Depth           int          // reads and atomics outstanding, when the last ended
	Retransmissions uint64
	Holes           uint64
	Errors          uint64

	last      counts // at the end of the last window
	lately    window
	readsNow  latency.Dist // of the window
	readsLast latency.Dist // of the one before
	p99       int64        // of readsLast
	recent    []Recent     // from next on, then up to it
	next      int
}

// counts are those of a QP that rates are made of.
type counts struct{ messages, payload, operations uint64 }

// A window is what happened between two calls of Turn.
type window struct {
	Messages, Payload, Operations uint64
}

// A Monitor is a qp.Sink. All methods may be called by any goroutine.
type Monitor struct {
	mu     sync.Mutex
	total  Totals
	since  Totals // since the last call of Since
	qps    map[*qp.Conn]*QP
	opened uint64
	keep   int
}

// New returns an empty Monitor that keeps the latest so many messages of each
// QP.
func New(keep int) *Monitor { return &Monitor{qps: map[*qp.Conn]*QP{}, keep: keep} }

// find returns what is known of a QP, nil for one too many. m.mu is held.
func (m *Monitor) find(c *qp.Conn) *QP {
	if c == nil {
		return nil
	}
	q := m.qps[c]
	if q == nil {
		if len(m.qps) >= MaxQPs {
			return nil
		}
		q = &QP{Conn: c, From: [2]qp.Role{qp.RoleA, qp.RoleB}}
		m.qps[c] = q
		m.opened++
	}
	return q
}

// payload is the octets of payload that a message carries.
func payload(x *qp.Message) uint64 {
	switch {
	case x.Op == rdmap.OpWrite, x.Op == rdmap.OpReadResponse, x.Op.IsSend():
		return x.Size
	}
	return 0
}

// Message takes a message.
func (m *Monitor) Message(x *qp.Message) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := payload(x)
	for _, t := range [...]*Totals{&m.total, &m.since} {
		if int(x.Op) < len(t.Messages) {
			t.Messages[x.Op]++
		}
		t.Payload += n
	}
	if q := m.find(x.Conn); q != nil {
		q.Messages++
		q.Payload += n
		if x.Side < 2 {
			q.From[x.Side], q.From[x.Side.Other()] = x.From, x.From.Other()
		}
		if m.keep > 0 {
			q.remember(x, m.keep)
		}
	}
}

// A Recent is a message of late.
type Recent struct {
	Time    int64 // of its last octet, in ns
	N       int
	From    qp.Role
	Op      rdmap.Op
	BadCRC  bool
	Size    uint64
	Answers int   // N of the request that it answers, 0 for none
	Latency int64 // ns, where it answers one
}

func (q *QP) remember(x *qp.Message, keep int) {
	r := Recent{Time: x.Last.Time, N: x.N, From: x.From, Op: x.Op, BadCRC: x.CRC == mpa.CRCBad, Size: x.Size, Answers: x.Answers, Latency: x.Latency}
	if len(q.recent) < keep {
		q.recent = append(q.recent, r)
		return
	}
	q.recent[q.next] = r
	q.next = (q.next + 1) % keep
}

// Recent returns the latest messages of an open QP, oldest first; ok says that
// it is open.
func (m *Monitor) Recent(c *qp.Conn) (list []Recent, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.qps[c]
	if q == nil {
		return nil, false
	}
	list = append(list, q.recent[q.next:]...)
	return append(list, q.recent[:q.next]...), true
}

// FPDU is not needed.
func (m *Monitor) FPDU(*qp.FPDU) {}

// Operation takes an operation.
func (m *Monitor) Operation(o *qp.Operation) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, t := range [...]*Totals{&m.total, &m.since} {
		if int(o.Kind) >= len(t.Ops) {
			break
		}
		op := &t.Ops[o.Kind]
		op.Count++
		op.Size += o.Size
		if o.Status == qp.StatusOK {
			op.Latency.Record(o.Latency)
		}
	}
	q := m.find(o.Conn)
	if q == nil || !movesData(o.Kind) {
		return
	}
	q.Operations++
	if o.Kind == qp.KindRead || o.Kind == qp.KindAtomic {
		q.Depth = o.Depth
	}
	if o.Kind == qp.KindRead && o.Status == qp.StatusOK {
		q.Reads.Record(o.Latency)
		q.readsNow.Record(o.Latency)
	}
}

// Event takes an event.
func (m *Monitor) Event(e *qp.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.find(e.Conn)
	if q == nil {
		q = &QP{} // nobody looks at it
	}
	for i, t := range [...]*Totals{&m.total, &m.since} {
		switch e.Kind {
		case "tcp_retransmission":
			t.Retransmissions++
			q.Retransmissions += uint64(i)
		case "tcp_gap":
			t.Holes++
			q.Holes += uint64(i)
		case "crc_mismatch":
			t.CRCBad++
		case "capture_drop":
			for _, f := range e.Fields {
				if f.Name == "frames" {
					t.Dropped += uint64(max(0, f.Num))
				}
			}
		}
		if e.Severity == qp.Error {
			t.Errors++
			q.Errors += uint64(i)
		}
	}
}

// QP takes the end of a QP: it is forgotten.
func (m *Monitor) QP(s *qp.Summary) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.find(s.Conn)
	delete(m.qps, s.Conn)
}

// Open returns how many QPs are open, and how many there have been.
func (m *Monitor) Open() (now int, ever uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.qps), m.opened
}

// Totals returns the sums since the start.
func (m *Monitor) Totals() Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.total.copy()
}

// Since returns the sums since the last call of it.
func (m *Monitor) Since() Totals {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.since
	m.since = Totals{}
	return t
}

// copy returns a copy that shares no memory.
func (t *Totals) copy() Totals {
	c := *t
	for i := range c.Ops {
		c.Ops[i].Latency = copyDist(&t.Ops[i].Latency)
	}
	return c
}

func copyDist(d *latency.Dist) latency.Dist {
	var c latency.Dist
	c.Merge(d)
	return c
}

// A Row is a QP at a moment. Rates are those of the window that ended last.
type Row struct {
	QP
	NewMessages, NewPayload, NewOperations uint64
	Now                                    latency.Dist // of reads, in that window
}

// An Order compares QPs: the first ones are shown.
type Order func(a, b *QP) int

// Orders by name.
var Orders = []struct {
	Name  string
	Order Order
}{
	{"throughput", func(a, b *QP) int { return cmp.Compare(b.lately.Payload, a.lately.Payload) }},
	{"ops/s", func(a, b *QP) int { return cmp.Compare(b.lately.Operations, a.lately.Operations) }},
	{"read p99", func(a, b *QP) int { return cmp.Compare(b.p99, a.p99) }},
	{"retransmissions", func(a, b *QP) int { return cmp.Compare(b.Retransmissions, a.Retransmissions) }},
	{"holes", func(a, b *QP) int { return cmp.Compare(b.Holes, a.Holes) }},
	{"number", func(a, b *QP) int { return 0 }},
}

// Turn ends the window.
func (m *Monitor) Turn() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, q := range m.qps {
		now := counts{q.Messages, q.Payload, q.Operations}
		q.lately = window{now.messages - q.last.messages, now.payload - q.last.payload, now.operations - q.last.operations}
		q.last = now
		q.readsLast, q.readsNow, q.p99 = q.readsNow, latency.Dist{}, 0
		if q.readsLast.Count() > 0 {
			q.p99 = q.readsLast.Percentile(99)
		}
	}
}

// Rows returns limit QPs by an order from the given place on, and how many
// there are.
func (m *Monitor) Rows(order Order, from, limit int) (rows []Row, all int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	qps := make([]*QP, 0, len(m.qps))
	for _, q := range m.qps {
		qps = append(qps, q)
	}
	slices.SortFunc(qps, func(a, b *QP) int { return cmp.Or(order(a, b), cmp.Compare(a.Conn.Number, b.Conn.Number)) })
	from = max(0, min(from, len(qps)))
	for _, q := range qps[from:min(len(qps), from+max(0, limit))] {
		r := Row{QP: *q, NewMessages: q.lately.Messages, NewPayload: q.lately.Payload, NewOperations: q.lately.Operations, Now: copyDist(&q.readsLast)}
		r.Reads, r.recent = copyDist(&q.Reads), nil
		rows = append(rows, r)
	}
	return rows, len(qps)
}
