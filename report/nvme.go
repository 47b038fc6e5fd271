package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/latency"
	"github.com/iwdump/iwdump/qp"
)

// maxNamespaces bounds the namespaces of a queue that are told apart.
const maxNamespaces = 1024

// NVMe collects the controllers, queues and namespaces of NVMe over RDMA.
type NVMe struct {
	live   map[*qp.Conn]*nvmeQueue
	queues []*nvmeQueue
	others uint64 // QPs that carry something else
}

// nvmeQueue is a queue pair: a QP.
type nvmeQueue struct {
	conn       *qp.Conn
	host       int // side
	start, end int64
	state      qp.State
	fields     ulp.Fields
	tally
	failed, open uint64
	deepest      int
	namespaces   map[uint64]*tally // nil: none
}

// tally counts commands.
type tally struct {
	commands      map[string]uint64
	count         uint64
	read, written uint64 // octets
	dist          latency.Dist
}

func (t *tally) add(o *qp.Operation) {
	if t.commands == nil {
		t.commands = map[string]uint64{}
	}
	name := o.Name()
	t.commands[name]++
	t.count++
	if o.Status != qp.StatusOK {
		return
	}
	switch name {
	case "nvme.read":
		t.read += o.Size
	case "nvme.write":
		t.written += o.Size
	}
	t.dist.Record(o.Latency)
}

// NewNVMe returns an empty NVMe.
func NewNVMe() *NVMe { return &NVMe{live: map[*qp.Conn]*nvmeQueue{}} }

// Message, FPDU and Event are not needed.

func (n *NVMe) Message(*qp.Message) {}
func (n *NVMe) FPDU(*qp.FPDU)       {}
func (n *NVMe) Event(*qp.Event)     {}

// Operation counts a command.
func (n *NVMe) Operation(o *qp.Operation) {
	if o.Command == nil || !strings.HasPrefix(o.Command.Name, "nvme.") {
		return
	}
	q := n.live[o.Conn]
	if q == nil {
		q = &nvmeQueue{conn: o.Conn}
		n.live[o.Conn] = q
	}
	q.add(o)
	q.deepest = max(q.deepest, o.Depth)
	f := o.Command.Fields.Get("nsid")
	if f == nil {
		return
	}
	if q.namespaces == nil {
		q.namespaces = map[uint64]*tally{}
	}
	t := q.namespaces[f.Num]
	if t == nil {
		if len(q.namespaces) >= maxNamespaces {
			return
		}
		t = &tally{}
		q.namespaces[f.Num] = t
	}
	t.add(o)
}

// QP takes which queue of which controller a QP is.
func (n *NVMe) QP(s *qp.Summary) {
	q := n.live[s.Conn]
	delete(n.live, s.Conn)
	if s.ULP == nil || s.ULP.Protocol != "nvme" {
		n.others++
		return
	}
	if q == nil {
		q = &nvmeQueue{conn: s.Conn}
	}
	if s.Roles[1] == qp.Initiator {
		q.host = 1
	}
	q.start, q.end, q.state, q.fields, q.failed, q.open = s.Start.Time, s.End.Time, s.State, s.ULP.Fields.Clone(), s.ULP.Failed, s.ULP.Open
	n.queues = append(n.queues, q)
}

func (q *nvmeQueue) number(key string) (uint64, bool) {
	if f := q.fields.Get(key); f != nil {
		return f.Num, true
	}
	return 0, false
}

func (q *nvmeQueue) text(key string) string {
	if f := q.fields.Get(key); f != nil {
		return f.Text
	}
	return ""
}

func (q *nvmeQueue) admin() bool {
	qid, ok := q.number("qid")
	return ok && qid == 0
}

// name is the queue in a word: its number, "admin", or "?".
func (q *nvmeQueue) name() string {
	switch qid, ok := q.number("qid"); {
	case !ok:
		return "?"
	case qid == 0:
		return "admin"
	default:
		return strconv.FormatUint(qid, 10)
	}
}

// controller is what several queues belong to.
type controller struct {
	queues []*nvmeQueue
}

// first is the queue that says most of the controller.
func (c *controller) first() *nvmeQueue {
	for _, q := range c.queues {
		if q.admin() {
			return q
		}
	}
	return c.queues[0]
}

// controllers joins queues: those of one controller ID of a subsystem, or of an
// address where its name is not known, with one host, from one admin queue to
// the next.
func (n *NVMe) controllers() []*controller {
	type key struct {
		subsystem, host string
		cntlid          uint64
	}
	queues := slices.Clone(n.queues)
	slices.SortStableFunc(queues, func(a, b *nvmeQueue) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.conn.Number, b.conn.Number))
	})
	var all []*controller
	open := map[key]*controller{}
	for _, q := range queues {
		id, ok := q.number("cntlid")
		k := key{q.text("subsystem_nqn"), q.text("host_nqn"), id}
		if k.subsystem == "" {
			k.subsystem, k.host = q.conn.Ends[1-q.host].String(), q.conn.Ends[q.host].Addr().String()
		}
		c := open[k]
		if !ok || c == nil || q.admin() && slices.ContainsFunc(c.queues, (*nvmeQueue).admin) {
			c = &controller{}
			all = append(all, c)
			if ok {
				open[k] = c
			}
		}
		c.queues = append(c.queues, q)
	}
	return all
}

// namespaces sums up what the queues of a controller did to each namespace.
func (c *controller) namespaces() (ids []uint64, all map[uint64]*tally) {
	all = map[uint64]*tally{}
	for _, q := range c.queues {
		if q.admin() {
			continue
		}
		for id, t := range q.namespaces {
			sum := all[id]
			if sum == nil {
				sum = &tally{commands: map[string]uint64{}}
				all[id] = sum
			}
			for name, n := range t.commands {
				sum.commands[name] += n
			}
			sum.count += t.count
			sum.read += t.read
			sum.written += t.written
			sum.dist.Merge(&t.dist)
		}
	}
	return slices.Sorted(maps.Keys(all)), all
}

// Write writes the controllers, each with its queues and namespaces.
func (n *NVMe) Write(w io.Writer, ascii bool) error {
	micro := "µs"
	if ascii {
		micro = "us"
	}
	all := n.controllers()
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "no QP carries NVMe over RDMA")
		return err
	}
	times := func(d *latency.Dist) []string {
		if d.Count() == 0 {
			return []string{"-", "-", "-"}
		}
		var c []string
		for _, ns := range []int64{d.Percentile(50), d.Percentile(99), d.Max()} {
			c = append(c, string(appendDuration(nil, ns, micro)))
		}
		return c
	}
	for i, c := range all {
		if err := c.head(w, i); err != nil {
			return err
		}
		cells := make([][]string, 0, len(c.queues))
		for _, q := range c.queues {
			entries := "-"
			if v, ok := q.number("queue_size"); ok {
				entries = strconv.FormatUint(v, 10)
			}
			cells = append(cells, append([]string{q.name(), strconv.Itoa(q.conn.Number), entries, strconv.Itoa(q.deepest), strconv.FormatUint(q.count, 10),
				strconv.FormatUint(q.failed, 10), strconv.FormatUint(q.open, 10), size(q.read), size(q.written)}, append(times(&q.dist), q.state.String())...))
		}
		if err := columns(w, []string{"queue", "QP", "entries", "depth", "commands", "failed", "open", "read", "written", "p50", "p99", "max", "state"}, cells); err != nil {
			return err
		}
		ids, spaces := c.namespaces()
		cells = cells[:0]
		for _, id := range ids {
			t := spaces[id]
			cells = append(cells, append([]string{namespace(id), strconv.FormatUint(t.count, 10), size(t.read), size(t.written)}, append(times(&t.dist), counted(t.commands))...))
		}
		if len(cells) > 0 {
			if err := columns(w, []string{"namespace", "commands", "read", "written", "p50", "p99", "max", "of them"}, cells); err != nil {
				return err
			}
		}
	}
	return nil
}

// namespace is a namespace ID in words.
func namespace(id uint64) string {
	if id == 0xFFFFFFFF {
		return "all"
	}
	return strconv.FormatUint(id, 10)
}

// counted lists commands with their counts, most first.
func counted(commands map[string]uint64) string {
	names := sortedKeys(commands)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(commands[b], commands[a]) })
	parts := make([]string, 0, len(names))
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%d %s", commands[name], strings.TrimPrefix(name, "nvme.")))
	}
	return strings.Join(parts, ", ")
}

// head writes what is known of a controller.
func (c *controller) head(w io.Writer, i int) error {
	q := c.first()
	var b []byte
	if i > 0 {
		b = append(b, '\n')
	}
	b = append(b, "controller "...)
	if id, ok := q.number("cntlid"); ok {
		b = strconv.AppendUint(b, id, 10)
	} else {
		b = append(b, '?')
	}
	name := func(s string) []byte {
		if s == "" {
			return []byte("whose name was not seen")
		}
		return appendSafe(nil, s)
	}
	b = fmt.Appendf(b, " of %s at %s\n  host %s at %s", name(q.text("subsystem_nqn")), q.conn.Ends[1-q.host], name(q.text("host_nqn")), q.conn.Ends[q.host].Addr())
	if v, ok := q.number("kato_ms"); ok {
		b = fmt.Appendf(b, ", keep alive timeout %d ms", v)
	}
	b = append(b, '\n')
	_, err := w.Write(b)
	return err
}

// WriteJSON writes a record for each controller.
func (n *NVMe) WriteJSON(w io.Writer) error {
	j := NewJSON(w)
	for _, c := range n.controllers() {
		o := j.begin("nvme_controller")
		q := c.first()
		for _, key := range []string{"cntlid", "kato_ms"} {
			if v, ok := q.number(key); ok {
				o.uint(key, v)
			}
		}
		for _, key := range []string{"subsystem_nqn", "host_nqn", "host_id"} {
			if s := q.text(key); s != "" {
				o.text(key, s)
			}
		}
		o.text("target", q.conn.Ends[1-q.host].String())
		o.text("host", q.conn.Ends[q.host].Addr().String())
		o.key("queues")
		o.b = append(o.b, '[')
		for i, q := range c.queues {
			if i > 0 {
				o.b = append(o.b, ',')
			}
			o.open()
			if v, ok := q.number("qid"); ok {
				o.uint("qid", v)
			}
			o.int("qp", int64(q.conn.Number))
			if v, ok := q.number("queue_size"); ok {
				o.uint("queue_size", v)
			}
			j.time("start", q.start)
			j.time("end", q.end)
			o.word("state", q.state.String())
			o.int("max_depth", int64(q.deepest))
			o.uint("failed", q.failed)
			o.uint("unanswered", q.open)
			q.tally.json(o)
			o.close()
		}
		o.b = append(o.b, ']')
		o.first = false
		o.key("namespaces")
		o.b = append(o.b, '[')
		ids, all := c.namespaces()
		for i, id := range ids {
			if i > 0 {
				o.b = append(o.b, ',')
			}
			o.open()
			o.uint("nsid", id)
			all[id].json(o)
			o.close()
		}
		o.b = append(o.b, ']')
		o.first = false
		j.end()
	}
	return j.Flush()
}

// json writes the fields of a tally.
func (t *tally) json(o *object) {
	o.nested("commands")
	for _, name := range sortedKeys(t.commands) {
		o.uint(name, t.commands[name])
	}
	o.close()
	o.uint("read_octets", t.read)
	o.uint("written_octets", t.written)
	if t.dist.Count() > 0 {
		o.nested("latency")
		distribution(o, &t.dist)
		o.close()
	}
}
