package decode_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/dissect/ulp/iser"
	"github.com/iwdump/iwdump/dissect/ulp/nvme"
	"github.com/iwdump/iwdump/dissect/ulp/rpcrdma"
	"github.com/iwdump/iwdump/dissect/ulp/smbdirect"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/report"
)

// A script is messages of one QP as octets: for each an octet of op and side, an
// octet of STag, an octet of what of it is known, and the length of its payload
// (two octets), which follows. An op of 0xF is a hole.
const (
	scriptHead = 5
	startupOp  = 0xE
)

func appendScript(b []byte, op byte, side qp.Side, stag byte, payload []byte) []byte {
	return append(append(b, op|byte(side)<<4, stag, 0xFF, byte(len(payload)), byte(len(payload)>>8)), payload...)
}

// scripter makes a script of the first messages of a capture.
type scripter struct {
	conn *qp.Conn
	b    []byte
}

func (s *scripter) Message(m *qp.Message) {
	if s.conn == nil {
		s.conn = m.Conn
	}
	if m.Conn != s.conn || len(s.b) > 8192 {
		return
	}
	op := byte(m.Op)
	if m.Startup != nil {
		op = startupOp
	}
	payload := m.Payload[:min(len(m.Payload), 1200)]
	if m.Startup != nil {
		payload = m.Startup.Private
	}
	s.b = appendScript(s.b, op, m.Side, byte(m.Header.STag), payload)
}
func (*scripter) FPDU(*qp.FPDU)           {}
func (*scripter) Operation(*qp.Operation) {}
func (*scripter) Event(*qp.Event)         {}
func (*scripter) QP(*qp.Summary)          {}

// checker holds what a stream finds against what is always so.
type checker struct{ t *testing.T }

func (c checker) Command(x *ulp.Command) {
	if x.Name == "" || x.Request == 0 || len(x.Parts) > ulp.MaxParts || x.PartCount < len(x.Parts) || x.Status != ulp.Unanswered && x.Reply == 0 {
		c.t.Errorf("%+v", x)
	}
	if s := x.Split(); x.Status != ulp.Unanswered && s.Request+s.Data+s.Server+s.Reply != x.End.Time-x.Start.Time {
		c.t.Errorf("%+v of %d", s, x.End.Time-x.Start.Time)
	}
}

func (c checker) Event(e *ulp.Event) {
	if e.Kind == "" || e.Detail == "" {
		c.t.Errorf("%+v", e)
	}
}

// FuzzUpper shows any messages to all upper layers: nothing panics, what comes
// out is well-formed and bounded, and what names a protocol is said once.
func FuzzUpper(f *testing.F) {
	for _, name := range []string{"nvme-rdma-read4k.pcap", "siw/nfs-rdma-v42.pcap.gz", "siw/nfs-rdma-v3.pcap.gz", "siw/smbdirect.pcap.gz", "siw/iser-rw.pcap.gz", "rping-mtu1500-s64.pcap"} {
		src := capture.Open([]string{filepath.Join(pcaps, name)}, nil, capture.Options{})
		s := &scripter{}
		if _, err := decode.Run(src, s, decode.Options{Workers: 1, Messages: true, KeepPayload: 4096}); err != nil {
			f.Fatal(err)
		}
		src.Close()
		for forced := range 5 {
			f.Add(byte(forced), s.b)
		}
	}
	f.Fuzz(func(t *testing.T, forced byte, script []byte) {
		protocols := []ulp.Protocol{nvme.Protocol(), rpcrdma.Protocol(), smbdirect.Protocol(), iser.Protocol()}
		config := ulp.Config{Protocols: protocols, Ports: [2]uint16{40000, 4420}}
		if k := int(forced) % 5; k > 0 {
			config.Protocols, config.Forced = protocols[k-1:k], true
		}
		s := ulp.NewStream(checker{t}, config)
		var d ulp.Description
		named := ""
		for n := 1; len(script) >= scriptHead; n++ {
			op, side, stag, known := script[0]&0xF, ulp.Side(script[0]>>4&1), script[1], script[2]
			size := int(script[3]) | int(script[4])<<8
			script = script[scriptHead:]
			payload := script[:min(size, len(script))]
			script = script[len(payload):]
			at := mpa.Stamp{Frame: uint64(n), Time: int64(n) * 1000}
			d.Reset()
			switch op {
			case 0xF:
				s.Lost(side)
				continue
			case startupOp:
				s.Startup(&ulp.Startup{N: n, Side: side, Reply: known&1 == 0, Reject: known&2 == 0, Revision: 1, First: at, Last: at, Private: payload}, &d)
			default:
				m := &ulp.Message{N: n, Side: side, Op: rdmap.Op(op), Size: uint64(size), Payload: payload, Complete: known&1 != 0, First: at, Last: at, MSN: uint32(n),
					STag: uint32(stag), TO: uint64(known), ReadSize: uint32(size), Answers: n - int(stag&7), Invalidate: uint32(stag), HasInvalidate: rdmap.Op(op).Invalidates()}
				s.Message(m, &d)
			}
			name, doubt := s.Name()
			if named != "" && name != named {
				t.Fatalf("%s was named, and now %q", named, name)
			}
			if !doubt {
				named = name
			}
			if d.Protocol != "" && d.Protocol != name {
				t.Fatalf("a description by %s, on a QP of %q", d.Protocol, name)
			}
			var out bytes.Buffer
			j := report.NewJSON(&out)
			j.Message(&qp.Message{Conn: &qp.Conn{Number: 1}, N: n, ULP: &d})
			j.Flush()
			if !json.Valid(out.Bytes()) {
				t.Fatalf("%s", out.Bytes())
			}
		}
		s.End(mpa.Stamp{Frame: 1 << 30, Time: 1 << 40})
		s.Summary(&d.Fields)
	})
}
