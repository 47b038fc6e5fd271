package report

import (
	"io"
)

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
