package decode

import (
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/qp"
)

// A numberer hands records on to the user's sink, in the order in which they
// come. It numbers the QPs and counts.
type numberer struct {
	sink  qp.Sink
	stats *Stats
}

func (n *numberer) number(c *qp.Conn) {
	if c != nil && c.Number == 0 {
		n.stats.QPs++
		c.Number = int(n.stats.QPs)
	}
}

func (n *numberer) Message(m *qp.Message) {
	n.number(m.Conn)
	n.sink.Message(m)
}

func (n *numberer) FPDU(f *qp.FPDU) {
	n.number(f.Conn)
	n.sink.FPDU(f)
}

func (n *numberer) Operation(o *qp.Operation) {
	n.number(o.Conn)
	n.sink.Operation(o)
}

func (n *numberer) Event(e *qp.Event) {
	n.number(e.Conn)
	n.sink.Event(e)
}

func (n *numberer) QP(s *qp.Summary) {
	n.number(s.Conn)
	for _, k := range s.FPDUs {
		n.stats.FPDUs += k
	}
	for _, k := range s.Messages {
		n.stats.Messages += k
	}
	n.stats.CRCBad += s.FPDUs[mpa.CRCBad]
	n.sink.QP(s)
}
