package monitor

import (
	"testing"

	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/qp"
)

func TestTotals(t *testing.T) {
	m := New(0)
	c := &qp.Conn{Number: 1}
	m.Message(&qp.Message{Conn: c, Op: rdmap.OpWrite, Size: 1000})
	m.Message(&qp.Message{Conn: c, Op: rdmap.OpReadRequest, Size: 28}) // no payload
	m.Operation(&qp.Operation{Conn: c, Kind: qp.KindRead, Latency: 5000, Size: 10, Depth: 2})
	m.Operation(&qp.Operation{Conn: c, Kind: qp.KindRead, Status: qp.StatusUnanswered, Latency: 1e12, Depth: 2})
	m.Operation(&qp.Operation{Conn: c, Kind: qp.KindConnect, Latency: 7000})
	m.Event(&qp.Event{Conn: c, Kind: "tcp_retransmission"})
	m.Event(&qp.Event{Conn: c, Kind: "crc_mismatch", Severity: qp.Error})
	m.Event(&qp.Event{Kind: "capture_drop", Fields: []qp.Field{{Name: "frames", Num: 12}}})
	for _, total := range []Totals{m.Totals(), m.Since()} {
		reads := &total.Ops[qp.KindRead]
		if total.Sum() != 2 || total.Payload != 1000 || total.Operations() != 2 || reads.Count != 2 || reads.Latency.Count() != 1 || reads.Latency.Max() != 5000 ||
			total.Retransmissions != 1 || total.CRCBad != 1 || total.Errors != 1 || total.Dropped != 12 {
			t.Errorf("%+v", total)
		}
	}
	if again := m.Since(); again.Sum() != 0 || again.Dropped != 0 {
		t.Errorf("%+v", again)
	}
	rows, all := m.Rows(Orders[0].Order, 0, 10)
	if all != 1 || len(rows) != 1 {
		t.Fatalf("%d rows of %d", len(rows), all)
	}
	if r := &rows[0]; r.Messages != 2 || r.Operations != 2 || r.Reads.Count() != 1 || r.Depth != 2 || r.Retransmissions != 1 || r.Errors != 1 {
		t.Errorf("%+v", r)
	}
	m.QP(&qp.Summary{Conn: c})
	if now, ever := m.Open(); now != 0 || ever != 1 {
		t.Errorf("%d open of %d", now, ever)
	}
}

// However many QPs are open, no more than MaxQPs are followed; all count.
func TestMaxQPs(t *testing.T) {
	m := New(2)
	for n := range MaxQPs + 100 {
		m.Message(&qp.Message{Conn: &qp.Conn{Number: n + 1}, Op: rdmap.OpSend, Size: 1})
	}
	if now, _ := m.Open(); now != MaxQPs {
		t.Errorf("%d QPs", now)
	}
	if total := m.Totals(); total.Sum() != MaxQPs+100 {
		t.Errorf("%d messages", total.Sum())
	}
}
