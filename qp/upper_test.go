package qp_test

import (
	"testing"

	"github.com/iwdump/iwdump/dissect/ddp"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/dissect/ulp/iser"
	"github.com/iwdump/iwdump/dissect/ulp/nvme"
	"github.com/iwdump/iwdump/dissect/ulp/rpcrdma"
	"github.com/iwdump/iwdump/dissect/ulp/smbdirect"
	"github.com/iwdump/iwdump/qp"
)

func uppers() []ulp.Protocol {
	return []ulp.Protocol{nvme.Protocol(), rpcrdma.Protocol(), smbdirect.Protocol(), iser.Protocol()}
}

// Where no upper layer is recognised, looking for one allocates nothing for a
// message, before and after it is given up.
func TestNoAllocationsUpper(t *testing.T) {
	b := qp.New(&qp.Conn{}, nothing{}, qp.Options{Messages: true, Operations: true, Upper: uppers()})
	send := ddp.Message{Header: ddp.Header{Last: true, Version: 1, ULPControl: control(rdmap.OpSend)}, Size: 16, Payload: make([]byte, 16), Done: true, Complete: true}
	write := ddp.Message{Header: ddp.Header{Tagged: true, Last: true, Version: 1, ULPControl: control(rdmap.OpWrite), STag: 5}, Size: 8, Done: true, Complete: true}
	end := uint64(0)
	both := [...]*ddp.Message{&send, &write}
	some := func(messages []*ddp.Message) {
		for i := range 2 {
			for _, m := range messages {
				end += 100
				m.End = end
				b.Message(qp.Side(i), m)
			}
			b.Ack(qp.Side(1-i), end, mpa.Stamp{Time: 1})
		}
	}
	step := func() { some(both[:]) }
	step()
	for range 200 { // what is kept of a QP grows up to its limits
		some(both[1:])
	}
	step()
	for range 20 { // from within the Sends that are looked at to behind them
		if n := testing.AllocsPerRun(2, step); n != 0 {
			t.Fatalf("%v allocations", n)
		}
	}
}

// told keeps what is told, in order.
type told struct{ lines []string }

func (l *told) Message(m *qp.Message) { l.lines = append(l.lines, "message") }
func (l *told) FPDU(*qp.FPDU)         {}
func (l *told) Operation(o *qp.Operation) {
	if o.Kind == qp.KindCommand {
		l.lines = append(l.lines, o.Name()+" "+o.Status.String())
	}
}
func (l *told) Event(e *qp.Event) { l.lines = append(l.lines, e.Kind) }
func (l *told) QP(s *qp.Summary) {
	if s.ULP != nil {
		l.lines = append(l.lines, s.ULP.Protocol)
	}
}

// A command stands behind the message that answers it, and what it makes of it
// behind that; what is open at the end comes in front of the QP.
func TestUpperOrder(t *testing.T) {
	var l told
	b := qp.New(&qp.Conn{}, &l, qp.Options{Messages: true, Operations: true, Upper: uppers()[:1], ForceUpper: true})
	msn := [2]uint32{}
	send := func(side qp.Side, payload []byte) {
		msn[side]++
		b.Message(side, &ddp.Message{Header: ddp.Header{Last: true, Version: 1, ULPControl: control(rdmap.OpSend), MSN: msn[side]},
			Size: uint64(len(payload)), Payload: payload, Done: true, Complete: true})
	}
	command := func(cid uint16) []byte {
		return nvme.Command{Opcode: nvme.OpFlush, Flags: nvme.PSDTSGL << 6, CID: cid, NSID: 1, SGL: nvme.SGL{ID: nvme.SGLKeyed}}.Append(nil)
	}
	send(0, command(1))
	send(0, command(2))
	send(1, nvme.Completion{CID: 1, Status: nvme.StatusOf(nvme.SCTGeneric, 6)}.Append(nil))
	b.End(&qp.Ending{})
	want := []string{"message", "message", "message", "nvme.flush failed", ulp.CommandFailed, "nvme.flush unanswered", ulp.CommandUnanswered, "nvme"}
	if len(l.lines) != len(want) {
		t.Fatalf("%q", l.lines)
	}
	for i := range want {
		if l.lines[i] != want[i] {
			t.Errorf("%d: %q, want %q", i, l.lines[i], want[i])
		}
	}
}
