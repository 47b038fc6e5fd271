package report

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/qp"
)

// ulp appends what a message is to the upper layer.
func (t *Text) ulp(d *ulp.Description) {
	if len(d.Text) > 0 {
		t.b = append(t.b, ' ', ' ')
		t.color(colorBlue)
		t.safe(string(d.Text))
		t.color(colorReset)
		if d.Doubt {
			t.b = append(t.b, " (in doubt)"...)
		}
	}
	if d.Answers > 0 {
		t.answers(d.Answers, d.Latency)
	}
}

// answers appends what a message answers, and how long that took.
func (t *Text) answers(n int, ns int64) {
	t.b = append(t.b, ' ', ' ')
	t.color(colorYellow)
	t.b = appendDuration(t.b, ns, t.micro)
	t.color(colorReset)
	t.b = fmt.Appendf(t.b, " %s #%d", t.arrow, n)
}

// ulpTree appends the fields of the upper layer. at is where the message begins
// in its frame or FPDU, negative where it is spread over several.
func (t *Text) ulpTree(d *ulp.Description, at int) {
	if d == nil || len(d.Fields.List) == 0 && len(d.Text) == 0 {
		return
	}
	text := string(d.Text)
	if text == "" {
		text = d.Protocol
	}
	if d.Doubt {
		text += " (in doubt: too few messages agree so far)"
	}
	t.line(0, -1, 0, "%s", text)
	for i := range d.Fields.List {
		f := &d.Fields.List[i]
		from, n := -1, 0
		if f.Len > 0 && at >= 0 {
			from, n = at+f.From, f.Len
		}
		s := f.Label
		if v := f.Value(); v != "" || f.Kind == ulp.Text {
			if s != "" {
				s += ": "
			}
			s += v
		}
		if f.Note != "" {
			s += " (" + f.Note + ")"
		}
		t.line(1+int(f.Depth), from, n, "%s", s)
	}
}

// description writes what a message is to the upper layer.
func description(o *object, d *ulp.Description) {
	o.nested("ulp")
	o.word("protocol", d.Protocol)
	if d.Doubt {
		o.bool("doubt", true)
	}
	if len(d.Text) > 0 {
		o.text("text", string(d.Text))
	}
	if d.Command != "" {
		o.text("command", d.Command)
	}
	if d.Answers > 0 {
		o.int("answers_n", int64(d.Answers))
		o.int("latency_ns", d.Latency)
	}
	ulpFields(o, d.Fields.List)
	o.close()
}

// ulpFields writes fields: what is nested in one follows it.
func ulpFields(o *object, list []ulp.Field) {
	var ends [16]byte // of what is open
	n := 0
	for i := range list {
		f := &list[i]
		for n > int(f.Depth) {
			n--
			o.b = append(o.b, ends[n])
			o.first = false
		}
		if n > 0 && ends[n-1] == ']' {
			if !o.first {
				o.b = append(o.b, ',')
			}
			o.first = false
		} else {
			o.key(f.Key)
		}
		switch f.Kind {
		case ulp.Object, ulp.List:
			open, end := byte('{'), byte('}')
			if f.Kind == ulp.List {
				open, end = '[', ']'
			}
			if n == len(ends) {
				o.b = append(o.b, open, end)
				continue
			}
			o.b = append(o.b, open)
			ends[n] = end
			n++
			o.first = true
		case ulp.Number:
			o.b = fmt.Appendf(o.b, "%d", f.Num)
		case ulp.Hex:
			o.b = append(o.b, '"')
			o.b = appendHex(o.b, f.Num, int(f.Digits))
			o.b = append(o.b, '"')
		case ulp.Flag:
			o.b = fmt.Appendf(o.b, "%t", f.Num != 0)
		default:
			o.b = appendString(o.b, f.Text)
		}
	}
	for n > 0 {
		n--
		o.b = append(o.b, ends[n])
		o.first = false
	}
}

// command writes what an operation is to the upper layer.
func (j *JSON) command(x *qp.Operation) {
	o, c := &j.o, x.Command
	if c.Result != "" {
		o.text("result", c.Result)
	}
	if c.Moved > 0 {
		o.uint("moved", c.Moved)
	}
	if c.Status != ulp.Unanswered {
		s := c.Split()
		o.nested("split")
		o.int("request_ns", s.Request)
		o.int("data_ns", s.Data)
		o.int("server_ns", s.Server)
		o.int("reply_ns", s.Reply)
		o.close()
	}
	if c.PartCount > 0 {
		o.key("parts")
		o.b = append(o.b, '[')
		for i := range c.Parts {
			p := &c.Parts[i]
			if i > 0 {
				o.b = append(o.b, ',')
			}
			o.open()
			o.int("n", int64(p.N))
			o.word("op", p.Op.String())
			o.uint("size", p.Size)
			o.close()
		}
		o.b = append(o.b, ']')
		o.first = false
		o.int("part_count", int64(c.PartCount))
	}
	o.nested("ulp")
	ulpFields(o, c.Fields.List)
	o.close()
}

// commandLatencies writes the latencies of the commands of a QP.
func commandLatencies(o *object, u *qp.UpperLayer) {
	for i := range u.Commands {
		o.nested(u.Commands[i].Name)
		distribution(o, u.Commands[i].Dist)
		o.close()
	}
}

// upperLayer writes what is known of the upper layer of a QP.
func upperLayer(o *object, u *qp.UpperLayer) {
	o.nested("ulp")
	o.word("protocol", u.Protocol)
	if u.Doubt {
		o.bool("doubt", true)
	}
	if u.Failed > 0 {
		o.uint("failed", u.Failed)
	}
	if u.Open > 0 {
		o.uint("unanswered", u.Open)
	}
	ulpFields(o, u.Fields.List)
	o.close()
}
