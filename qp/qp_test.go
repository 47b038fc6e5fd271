package qp_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/dissect/ddp"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/qp"
)

// sink writes down what a QP hands out, a line each, messages left out.
type sink struct {
	lines   []string
	last    qp.Message
	summary qp.Summary
}

func (s *sink) Message(m *qp.Message) { s.last = *m }
func (s *sink) FPDU(*qp.FPDU)         {}

func (s *sink) Operation(o *qp.Operation) {
	line := fmt.Sprintf("%v #%d-#%d %v: %d ns by %v, %d octets", o.Kind, o.Request, o.Answer, o.Status, o.Latency, o.Measure, o.Size)
	if o.First >= 0 {
		line += fmt.Sprintf(", first %d, asking %d, service %d, answering %d, depth %d", o.First, o.RequestSpread, o.Service, o.ResponseSpread, o.Depth)
	}
	if o.AnnouncedBy > 0 {
		line += fmt.Sprintf(", announced by #%d", o.AnnouncedBy)
	}
	if o.Retrans {
		line += ", sent again"
	}
	s.lines = append(s.lines, line)
}

func (s *sink) Event(e *qp.Event) {
	s.lines = append(s.lines, fmt.Sprintf("%v %s: %s", e.Severity, e.Kind, e.Detail))
}

func (s *sink) QP(q *qp.Summary) { s.summary = *q }

// bench is a QP under test. Side 0 is the initiator. Each message is one frame,
// 100 octets of the stream and 10 ns long.
type bench struct {
	qp *qp.QP
	sink
	off [2]uint64
	msn [2][4]uint32
}

func newBench() *bench {
	b := &bench{}
	b.qp = qp.New(&qp.Conn{Number: 1}, &b.sink, qp.Options{Messages: true, Operations: true})
	b.qp.SetSYN(0, mpa.Stamp{Frame: 1})
	for side := range qp.Side(2) {
		b.qp.Ack(side, 0, mpa.Stamp{Frame: 2}) // the capture shows both
	}
	return b
}

func (b *bench) send(side qp.Side, at int64, h ddp.Header, payload []byte, size int, change ...func(*ddp.Message)) {
	m := &ddp.Message{Header: h, Size: uint64(size), Segments: 1, Off: b.off[side], End: b.off[side] + 100,
		First: mpa.Stamp{Frame: uint64(at), Time: at}, Last: mpa.Stamp{Frame: uint64(at), Time: at + 10}, Done: true, Complete: true, CRC: mpa.CRCOK, Payload: payload}
	for _, f := range change {
		f(m)
	}
	b.off[side] += 100
	b.qp.Message(side, m)
}

func control(op rdmap.Op) uint8 { return rdmap.Control{Version: 1, Op: op}.Octet() }

func (b *bench) untagged(side qp.Side, at int64, op rdmap.Op, payload []byte, size int, change ...func(*ddp.Message)) {
	q := op.Queue()
	b.msn[side][q]++
	b.send(side, at, ddp.Header{Last: true, Version: 1, ULPControl: control(op), QN: q, MSN: b.msn[side][q]}, payload, size, change...)
}

func (b *bench) tagged(side qp.Side, at int64, op rdmap.Op, stag uint32, to uint64, size int, change ...func(*ddp.Message)) {
	b.send(side, at, ddp.Header{Tagged: true, Last: true, Version: 1, ULPControl: control(op), STag: stag, TO: to}, nil, size, change...)
}

func (b *bench) read(side qp.Side, at int64, stag uint32, to uint64, size uint32) {
	r := rdmap.ReadRequest{SinkSTag: stag, SinkTO: to, Size: size, SrcSTag: 0x77}
	b.untagged(side, at, rdmap.OpReadRequest, r.Append(nil), 28)
}

func (b *bench) response(side qp.Side, at int64, stag uint32, to uint64, size int) {
	b.tagged(side, at, rdmap.OpReadResponse, stag, to, size)
}

func (b *bench) startup(side qp.Side, at int64, s mpa.Startup) {
	wire := len(s.Append(nil))
	s.PDLength = wire - mpa.StartupLen
	b.qp.Startup(side, &mpa.StartupFrame{Startup: s, Wire: wire, First: mpa.Stamp{Frame: uint64(at), Time: at}, Last: mpa.Stamp{Frame: uint64(at), Time: at}, Complete: true})
}

func TestRules(t *testing.T) {
	v2 := func(reply bool, ird, ord uint16) mpa.Startup {
		return mpa.Startup{Reply: reply, Revision: 2, Enhanced: true, IRD: ird, ORD: ord}
	}
	for _, tt := range []struct {
		name string
		do   func(b *bench)
		want []string
	}{
		{"a read", func(b *bench) {
			b.read(0, 100, 5, 0x1000, 64)
			b.response(1, 400, 5, 0x1000, 64)
		}, []string{
			// From the last octet of the request, at 110: to 400 and 410.
			"rdma_read #1-#2 ok: 300 ns by response, 64 octets, first 290, asking 10, service 290, answering 10, depth 1",
		}},
		{"three reads to the same sink", func(b *bench) {
			for i := range int64(3) {
				b.read(0, 100+i, 5, 0, 8)
			}
			for i := range int64(3) {
				b.response(1, 200+10*i, 5, 0, 8)
			}
		}, []string{
			"rdma_read #1-#4 ok: 100 ns by response, 8 octets, first 90, asking 10, service 90, answering 10, depth 1",
			"rdma_read #2-#5 ok: 109 ns by response, 8 octets, first 99, asking 10, service 0, answering 10, depth 2",
			"rdma_read #3-#6 ok: 118 ns by response, 8 octets, first 108, asking 10, service 0, answering 10, depth 3",
		}},
		{"shorter, longer and elsewhere", func(b *bench) {
			b.read(0, 100, 5, 0, 8)
			b.response(1, 200, 5, 0, 7)
			b.read(0, 300, 5, 0, 8)
			b.response(1, 400, 5, 0, 9)
			b.read(0, 500, 5, 0, 8)
			b.response(1, 600, 5, 1, 8)
		}, []string{
			"error rdmap_violation: RDMA Read Response is shorter than asked: 7 octets of 8 (#1)",
			"rdma_read #1-#2 failed: 100 ns by response, 7 octets, first 90, asking 10, service 90, answering 10, depth 1",
			"error rdmap_violation: RDMA Read Response is longer than asked: 9 octets for 8 (#3)",
			"rdma_read #3-#4 failed: 100 ns by response, 9 octets, first 90, asking 10, service 90, answering 10, depth 1",
			"error rdmap_violation: RDMA Read Response goes to 0x00000005+0x1, asked for at +0x0 (#5)",
			"rdma_read #5-#6 failed: 100 ns by response, 8 octets, first 90, asking 10, service 90, answering 10, depth 1",
		}},
		{"a stall", func(b *bench) {
			b.read(0, 100, 5, 0, 8)
			b.response(1, 250_000_110, 5, 0, 8)
			b.read(0, 1_250_000_100, 5, 0, 8) // nothing waits meanwhile
			b.response(1, 2_250_000_110, 5, 0, 8)
		}, []string{
			"info tcp_stall: nothing moved for 250ms while 1 operation waited, the oldest RDMA Read Request #1",
			"rdma_read #1-#2 ok: 250000010 ns by response, 8 octets, first 250000000, asking 10, service 250000000, answering 10, depth 1",
			"warning tcp_stall: nothing moved for 1s while 1 operation waited, the oldest RDMA Read Request #3",
			"rdma_read #3-#4 ok: 1000000010 ns by response, 8 octets, first 1000000000, asking 10, service 1000000000, answering 10, depth 1",
		}},
		{"out of turn", func(b *bench) {
			b.read(0, 100, 5, 0, 8)
			b.read(0, 101, 6, 0, 8)
			b.response(1, 200, 6, 0, 8)
			b.response(1, 300, 5, 0, 8)
		}, []string{
			"error rdmap_violation: RDMA Read Response answers #2 before the 1 requests in front of it are answered",
			"rdma_read #2-#3 ok: 99 ns by response, 8 octets, first 89, asking 10, service 89, answering 10, depth 2",
			"rdma_read #1-#4 ok: 200 ns by response, 8 octets, first 190, asking 10, service 90, answering 10, depth 1",
		}},
		{"a response without a request is told at the end", func(b *bench) {
			b.response(1, 200, 5, 0, 8)
			b.qp.End(&qp.Ending{})
		}, []string{"error rdmap_violation: RDMA Read Response without a request"}},
		{"a response that is handed in before its request", func(b *bench) {
			b.response(1, 300, 5, 0, 8)
			b.read(0, 100, 5, 0, 8)
			b.qp.End(&qp.Ending{})
		}, []string{"rdma_read #2-#1 ok: 200 ns by response, 8 octets, first 190, asking 10, service 190, answering 10, depth 1"}},
		{"a response that a mirror shows before its request", func(b *bench) {
			b.response(1, 95, 5, 0, 8)
			b.read(0, 100, 5, 0, 8)
			b.qp.End(&qp.Ending{})
		}, nil},
		{"answers that the capture lost", func(b *bench) {
			b.read(0, 100, 5, 0, 8)
			b.read(0, 101, 6, 0, 8)
			b.qp.Lost(1)
			b.response(1, 300, 6, 0, 8)
			b.qp.End(&qp.Ending{})
		}, []string{"rdma_read #2-#3 ok: 199 ns by response, 8 octets, first 189, asking 10, service -1, answering 10, depth 0"}},
		{"a request that the capture lost", func(b *bench) {
			b.qp.Lost(0)
			b.response(1, 300, 6, 0, 8)
			b.qp.End(&qp.Ending{})
		}, nil},
		{"unanswered", func(b *bench) {
			b.read(0, 100, 5, 0, 8)
			b.qp.End(&qp.Ending{At: mpa.Stamp{Time: 1110}})
		}, []string{
			"rdma_read #1-#0 unanswered: 1000 ns by response, 8 octets",
			"warning unanswered: RDMA Read Request #1 of 8 octets was not answered in the 1µs that followed",
		}},
		{"closed from both sides", func(b *bench) {
			b.qp.End(&qp.Ending{State: qp.Closed, FIN: [2]mpa.Stamp{{Frame: 9, Time: 250}, {Frame: 7, Time: 100}}, At: mpa.Stamp{Frame: 10, Time: 260}})
		}, []string{"close #0-#0 ok: 150 ns by response, 0 octets"}},
		{"closed from one side", func(b *bench) {
			b.qp.End(&qp.Ending{FIN: [2]mpa.Stamp{{Frame: 9, Time: 250}}, At: mpa.Stamp{Frame: 10, Time: 1000}})
		}, []string{"close #0-#0 unanswered: 750 ns by response, 0 octets"}},
		{"a close that a reset answers", func(b *bench) {
			b.qp.End(&qp.Ending{State: qp.Reset, FIN: [2]mpa.Stamp{{Frame: 9, Time: 250}}, At: mpa.Stamp{Frame: 10, Time: 260}})
		}, []string{"close #0-#0 failed: 10 ns by response, 0 octets"}},
		{"a deeper queue than was agreed on", func(b *bench) {
			b.startup(0, 10, v2(false, 4, 1))
			b.startup(1, 20, v2(true, 2, 4))
			b.read(0, 100, 5, 0, 8)
			b.read(0, 101, 5, 0, 8)
			b.read(0, 102, 5, 0, 8)
			for i := range int64(3) {
				b.response(1, 200+10*i, 5, 0, 8)
			}
			b.qp.End(&qp.Ending{}) // until then, answers could be missing
		}, []string{
			// From the SYN, at 0.
			"connect #1-#2 ok: 20 ns by response, 0 octets, first 20, asking -1, service 10, answering -1, depth 0",
			"rdma_read #3-#6 ok: 100 ns by response, 8 octets, first 90, asking 10, service 90, answering 10, depth 1",
			"rdma_read #4-#7 ok: 109 ns by response, 8 octets, first 99, asking 10, service 0, answering 10, depth 2",
			"rdma_read #5-#8 ok: 118 ns by response, 8 octets, first 108, asking 10, service 0, answering 10, depth 3",
			"warning rdmap_violation: 2 reads and atomics are outstanding, where the IRD and ORD agreed on allow 1",
		}},
		{"depths that are left to the upper layer", func(b *bench) {
			b.startup(0, 10, v2(false, mpa.NotNegotiated, mpa.NotNegotiated))
			b.startup(1, 20, v2(true, mpa.NotNegotiated, mpa.NotNegotiated))
			b.read(0, 100, 5, 0, 8)
			b.read(0, 101, 5, 0, 8)
		}, []string{"connect #1-#2 ok: 20 ns by response, 0 octets, first 20, asking -1, service 10, answering -1, depth 0"}},
		{"an ORD above the IRD", func(b *bench) {
			b.startup(0, 10, v2(false, 4, 4))
			b.startup(1, 20, v2(true, 4, 8))
		}, []string{
			"connect #1-#2 ok: 20 ns by response, 0 octets, first 20, asking -1, service 10, answering -1, depth 0",
			"warning mpa_mismatch: the Reply has an ORD of 8, above the Request's IRD of 4 (RFC 6581, section 9.1)",
		}},
		{"a reject", func(b *bench) {
			b.startup(0, 10, mpa.Startup{Revision: 1, Markers: true, CRC: true})
			b.startup(1, 20, mpa.Startup{Reply: true, Revision: 1, Reject: true, CRC: true})
		}, []string{
			"connect #1-#2 failed: 20 ns by response, 0 octets, first 20, asking -1, service 10, answering -1, depth 0",
			"error mpa_reject: the responder rejects the connection: the Request asks for Markers, which many refuse",
		}},
		{"atomics by identifier", func(b *bench) {
			a := rdmap.AtomicRequest{Op: rdmap.FetchAdd, ID: 7}
			b.untagged(0, 100, rdmap.OpAtomicRequest, a.Append(nil), 52)
			b.untagged(1, 150, rdmap.OpAtomicResponse, rdmap.AtomicResponse{ID: 7}.Append(nil), 12)
			b.untagged(1, 160, rdmap.OpAtomicResponse, rdmap.AtomicResponse{ID: 8}.Append(nil), 12)
			b.qp.End(&qp.Ending{})
		}, []string{
			"atomic #1-#2 ok: 50 ns by response, 8 octets, first 40, asking 10, service 40, answering 10, depth 1",
			"error rdmap_violation: Atomic Response without a request",
		}},
		{"writes, and the Send that announces them", func(b *bench) {
			b.tagged(0, 100, rdmap.OpWrite, 5, 0, 4096)
			b.tagged(0, 110, rdmap.OpWrite, 5, 4096, 4096)
			b.untagged(0, 120, rdmap.OpSend, nil, 16)
			b.tagged(0, 130, rdmap.OpWrite, 5, 0, 1)
			b.qp.Ack(1, 200, mpa.Stamp{Time: 500}) // the first two
			b.qp.Ack(1, 399, mpa.Stamp{Time: 600}) // all but one octet
			b.qp.Ack(1, 400, mpa.Stamp{Time: 700})
		}, []string{
			"rdma_write #1-#0 ok: 400 ns by ack, 4096 octets, announced by #3",
			"rdma_write #2-#0 ok: 390 ns by ack, 4096 octets, announced by #3",
			"send #3-#0 ok: 480 ns by ack, 16 octets",
			"rdma_write #4-#0 ok: 570 ns by ack, 1 octets",
		}},
		{"what the peer did not acknowledge", func(b *bench) {
			b.untagged(0, 100, rdmap.OpSend, nil, 16)
			b.qp.Ack(1, 50, mpa.Stamp{Time: 110})
			b.qp.End(&qp.Ending{At: mpa.Stamp{Time: 300}})
		}, []string{"send #1-#0 unanswered: 200 ns by ack, 16 octets"}},
		{"sent again", func(b *bench) {
			b.untagged(0, 100, rdmap.OpSend, nil, 16, func(m *ddp.Message) { m.Retrans = true })
			b.qp.Ack(1, 100, mpa.Stamp{Time: 300})
		}, []string{"send #1-#0 ok: 200 ns by ack, 16 octets, sent again"}},
		{"a Terminate blames a Write, not what lies behind it", func(b *bench) {
			b.tagged(0, 100, rdmap.OpWrite, 5, 0x1000, 256)
			b.tagged(0, 110, rdmap.OpWrite, 5, 0x1100, 256)
			b.read(0, 120, 9, 0, 8)
			h := ddp.Header{Tagged: true, Last: true, Version: 1, ULPControl: control(rdmap.OpWrite), STag: 5, TO: 0x1100}
			term := rdmap.Terminate{Layer: 1, EType: 1, Code: 1, M: true, D: true, SegmentLength: 270, HasHeader: true, Header: h}
			b.untagged(1, 200, rdmap.OpTerminate, term.Append(nil), 20)
			b.untagged(1, 300, rdmap.OpSend, nil, 1)
		}, []string{
			"error terminate: the responder ends the stream: DDP, Tagged Buffer Error, Base or bounds violation; it blames RDMA Write #2 to 0x00000005+0x1100 of 256 octets",
			"rdma_read #3-#0 failed: 80 ns by response, 8 octets",
			"error rdmap_violation: Send behind a Terminate of the same side",
		}},
		{"a Terminate that can mean two things", func(b *bench) {
			term := rdmap.Terminate{Layer: rdmap.LayerLLP, Code: 6}
			b.untagged(1, 200, rdmap.OpTerminate, term.Append(nil), 4)
		}, []string{"error terminate: the responder ends the stream: LLP, MPA Error, Insufficient IRD resources (or, in the order of bits of Linux soft-iWARP, RDMAP, Remote Operation Error, Unexpected OpCode)"}},
		{"a key that was taken back", func(b *bench) {
			inv := ddp.Header{Last: true, Version: 1, ULPControl: control(rdmap.OpSendInv), MSN: 1, ULPWord: 5}
			b.send(1, 100, inv, nil, 16)
			b.tagged(1, 200, rdmap.OpWrite, 6, 0, 8)
			b.tagged(1, 300, rdmap.OpWrite, 5, 0, 8)
		}, []string{"warning rdmap_violation: RDMA Write names 0x00000005, which a Send with Invalidate of this side had invalidated"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench()
			tt.do(b)
			if d := cmp.Diff(tt.want, b.lines); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// The answer knows its request.
func TestAnswers(t *testing.T) {
	b := newBench()
	b.read(0, 100, 5, 0, 8)
	b.response(1, 200, 5, 0, 8)
	if m := b.last; m.Answers != 1 || m.Latency != 100 || m.N != 2 || m.From != qp.Responder {
		t.Errorf("%+v", m)
	}
}

// The first message of the initiator is the ready-to-receive message where the
// A bit was agreed on and it is empty (RFC 6581, section 5).
func TestRTR(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(b *bench)
		want string
	}{
		{"write", func(b *bench) { b.tagged(0, 100, rdmap.OpWrite, 1, 0, 0) }, "write"},
		{"send", func(b *bench) { b.untagged(0, 100, rdmap.OpSend, nil, 0) }, "send"},
		{"read", func(b *bench) { b.read(0, 100, 1, 0, 0) }, "read"},
		{"not empty", func(b *bench) { b.tagged(0, 100, rdmap.OpWrite, 1, 0, 1) }, ""},
		{"not the first", func(b *bench) {
			b.tagged(0, 100, rdmap.OpWrite, 1, 0, 1)
			b.tagged(0, 200, rdmap.OpWrite, 1, 0, 0)
		}, ""},
		{"of the responder", func(b *bench) { b.tagged(1, 100, rdmap.OpWrite, 1, 0, 0) }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench()
			b.startup(0, 1, mpa.Startup{Revision: 2, Enhanced: true, PeerToPeer: true, SendRTR: true, WriteRTR: true, ReadRTR: true, IRD: 1, ORD: 1})
			b.startup(1, 2, mpa.Startup{Reply: true, Revision: 2, Enhanced: true, PeerToPeer: true, SendRTR: true, WriteRTR: true, ReadRTR: true, IRD: 1, ORD: 1})
			tt.do(b)
			b.qp.End(&qp.Ending{})
			if b.summary.RTR != tt.want {
				t.Errorf("RTR %q, want %q", b.summary.RTR, tt.want)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	b := newBench()
	b.startup(0, 10, mpa.Startup{Revision: 1})
	b.startup(1, 20, mpa.Startup{Reply: true, Revision: 1})
	b.read(0, 100, 5, 0, 8)
	b.read(0, 101, 5, 8, 8)
	b.response(1, 200, 5, 0, 8)
	b.untagged(0, 300, rdmap.OpSend, nil, 16)
	b.qp.End(&qp.Ending{State: qp.Closed, By: 1, HasBy: true, At: mpa.Stamp{Time: 500}})
	s := b.summary
	if s.State != qp.Closed || s.EndedBy != qp.Responder || !s.Handshake || s.MaxDepth != [2]int{2, 0} || s.Payload != [2]uint64{16, 8} || s.Sent != [2]uint64{4, 2} {
		t.Errorf("%+v", s)
	}
	if s.Messages[rdmap.OpReadRequest] != 2 || s.Octets[rdmap.OpSend] != 16 || s.Messages[rdmap.OpMPAReply] != 1 {
		t.Errorf("messages %v, octets %v", s.Messages, s.Octets)
	}
	if len(s.Latency) != 2 || s.Latency[1].Kind != qp.KindRead || s.Latency[1].Dist.Count() != 1 || s.Latency[1].Dist.Max() != 100 {
		t.Errorf("latency %+v", s.Latency)
	}
}

// What is outstanding is bounded, whatever comes.
func TestBounded(t *testing.T) {
	b := newBench()
	for i := range int64(40_000) {
		b.read(0, 100+i, uint32(i), 0, 8)
		b.response(1, 100+i, 0xFFFF0000+uint32(i), 0, 8)
		b.untagged(1, 100+i, rdmap.OpSend, nil, 1)
	}
	b.lines = nil
	b.qp.End(&qp.Ending{})
	unanswered := 0
	for _, l := range b.lines {
		if len(l) > 7 && l[:7] == "warning" {
			unanswered++
		}
	}
	if unanswered != 17 { // 16, and one that sums up
		t.Errorf("%d events of what is unanswered", unanswered)
	}
}

func TestNoAllocations(t *testing.T) {
	b := qp.New(&qp.Conn{}, nothing{}, qp.Options{Messages: true, Operations: true})
	r := rdmap.ReadRequest{SinkSTag: 5, Size: 8}.Append(nil)
	at := int64(0)
	request := ddp.Message{Header: ddp.Header{Last: true, Version: 1, ULPControl: control(rdmap.OpReadRequest), QN: 1}, Size: 28, Done: true, Complete: true, Payload: r}
	response := ddp.Message{Header: ddp.Header{Tagged: true, Last: true, Version: 1, ULPControl: control(rdmap.OpReadResponse), STag: 5}, Size: 8, Done: true, Complete: true}
	send := ddp.Message{Header: ddp.Header{Last: true, Version: 1, ULPControl: control(rdmap.OpSend)}, Size: 8, Done: true, Complete: true}
	step := func() {
		for range 20 {
			at += 100
			request.Last.Time, response.Last.Time, send.First.Time = at, at+50, at
			send.End += 100
			b.Message(0, &request)
			b.Message(1, &response)
			b.Message(0, &send)
			b.Ack(1, send.End, mpa.Stamp{Time: at + 70})
		}
	}
	for range 50 {
		step()
	}
	if n := testing.AllocsPerRun(20, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

type nothing struct{}

func (nothing) Message(*qp.Message)     {}
func (nothing) FPDU(*qp.FPDU)           {}
func (nothing) Operation(*qp.Operation) {}
func (nothing) Event(*qp.Event)         {}
func (nothing) QP(*qp.Summary)          {}
