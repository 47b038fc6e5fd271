package iser_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/ulp/iser"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/internal/tshark"
	"github.com/iwdump/iwdump/qp"
)

var fields = []string{"iscsi.opcode", "iscsi.initiatortasktag", "iscsi.datasegmentlength", "iscsi.cmdsn", "iscsi.maxcmdsn",
	"iscsi.scsicommand.expecteddatatransferlength", "iscsi.scsiresponse.response", "iscsi.scsiresponse.status", "scsi_sbc.opcode", "scsi_sbc.rdwr10.lba", "scsi_sbc.rdwr10.xferlen", "scsi.sns.key", "scsi.sns.ascascq"}

// pdus puts the PDUs of a session on plain TCP, and notes what this package
// says of each, in the order of fields.
type pdus struct {
	t    *testing.T
	talk tshark.Conversation
	want [][]string
}

func (p *pdus) Message(m *qp.Message) {
	if !m.Op.IsSend() {
		return
	}
	h, n, err := iser.ParseHeader(m.Payload)
	if err != nil || h.Opcode != iser.Control {
		p.t.Fatalf("message %d: %+v, %v", m.N, h, err)
	}
	wire := m.Payload[n:]
	b, n, err := iser.ParseBHS(wire)
	if err != nil {
		p.t.Fatalf("message %d: %v", m.N, err)
	}
	data := wire[n+b.AHSLen:][:b.DataLen]
	// iSCSI has what iSER leaves out: octets up to a multiple of four.
	wire = wire[:n+b.AHSLen+b.DataLen]
	for len(wire)%4 != 0 {
		wire = append(slices.Clip(wire), 0)
	}
	p.talk.Send(m.From == qp.Responder, wire)

	row := make([]string, len(fields))
	set := func(name string, v any) { row[slices.Index(fields, name)] = fmt.Sprint(v) }
	set("iscsi.opcode", uint8(b.Opcode))
	set("iscsi.initiatortasktag", b.ITT)
	set("iscsi.datasegmentlength", b.DataLen)
	if b.Opcode.Target() {
		set("iscsi.maxcmdsn", b.MaxCmdSN())
	} else {
		set("iscsi.cmdsn", b.CmdSN())
	}
	switch b.Opcode {
	case iser.OpSCSICommand:
		set("iscsi.scsicommand.expecteddatatransferlength", b.ExpectedLength())
		if c := iser.ParseCDB(b.CDB()); c.HasLBA {
			set("scsi_sbc.opcode", b.CDB()[0])
			set("scsi_sbc.rdwr10.lba", c.LBA)
			set("scsi_sbc.rdwr10.xferlen", c.Blocks)
		}
	case iser.OpSCSIResponse:
		set("iscsi.scsiresponse.response", b.Response())
		set("iscsi.scsiresponse.status", uint8(b.SCSIStatus()))
		if s, ok := iser.ParseSense(data); ok {
			set("scsi.sns.key", s.Key)
			set("scsi.sns.ascascq", int(s.ASC)<<8|int(s.ASCQ))
		}
	}
	p.want = append(p.want, row)
}

func (*pdus) FPDU(*qp.FPDU)           {}
func (*pdus) Operation(*qp.Operation) {}
func (*pdus) Event(*qp.Event)         {}
func (*pdus) QP(*qp.Summary)          {}

// The PDUs of a real session, without their iSER headers, are to tshark what
// they are to this package.
func TestAgainstTshark(t *testing.T) {
	tshark.Need(t)
	src := capture.Open([]string{"../../../testdata/pcaps/siw/iser-rw.pcap.gz"}, nil, capture.Options{})
	defer src.Close()
	p := &pdus{t: t, talk: tshark.Conversation{Port: iser.Port}}
	if _, err := decode.Run(src, p, decode.Options{Workers: 1, Messages: true, KeepPayload: 16 << 10}); err != nil {
		t.Fatal(err)
	}
	got := p.talk.Fields(t, "iscsi", fields...)
	for _, row := range got {
		for i, s := range row {
			s, _, _ = strings.Cut(s, ";") // told again of the data
			if v, err := strconv.ParseUint(s, 0, 64); err == nil {
				row[i] = strconv.FormatUint(v, 10)
			}
		}
		// tshark tells the operation of a response too, and of more commands.
		if at := slices.Index(fields, "scsi_sbc.opcode"); row[0] != "1" || !iser.ParseCDB(cdbOf(row[at])).HasLBA {
			row[at] = ""
		}
	}
	if len(p.want) < 100 {
		t.Errorf("%d PDUs", len(p.want))
	}
	if d := cmp.Diff(p.want, got); d != "" {
		t.Errorf("(-here +tshark)\n%s", d)
	}
}

func cdbOf(opcode string) []byte {
	b := make([]byte, 16)
	v, _ := strconv.ParseUint(opcode, 10, 8)
	b[0] = byte(v)
	return b
}
