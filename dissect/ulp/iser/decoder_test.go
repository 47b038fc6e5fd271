package iser_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/dissect/ulp/iser"
	"github.com/iwdump/iwdump/internal/ulptest"
)

// session is a connection: messages go to its decoder, one a millisecond.
type session struct {
	ulptest.Result
	dec ulp.Decoder
	n   int
	d   ulp.Description
}

func newSession() *session {
	s := &session{}
	s.dec = iser.NewDecoder(&s.Result)
	return s
}

func (s *session) message(m ulp.Message) (string, ulp.Evidence) {
	s.n++
	at := mpa.Stamp{Time: int64(s.n) * 1e6, Frame: uint64(s.n)}
	m.N, m.First, m.Last, m.Complete = s.n, at, at, true
	if m.Payload != nil {
		m.Size = uint64(len(m.Payload))
	}
	s.d.Reset()
	e := s.dec.Message(&m, &s.d)
	return string(s.d.Text), e
}

func (s *session) send(side ulp.Side, h iser.Header, b iser.BHS, data string) (string, ulp.Evidence) {
	h.Opcode, b.DataLen = iser.Control, len(data)
	return s.message(ulp.Message{Side: side, Op: rdmap.OpSend, Payload: append(b.Append(h.Append(nil)), data...)})
}

// scsi is a SCSI Command.
func scsi(itt uint32, flags uint8, length uint32, cdb ...byte) iser.BHS {
	b := iser.BHS{Opcode: iser.OpSCSICommand, Flags: 0x80 | flags, ITT: itt}
	b.Rest[2], b.Rest[3] = byte(length>>8), byte(length)
	copy(b.Rest[12:], cdb)
	return b
}

const reads, writes = 0x40, 0x20

func names(events []ulp.Event) (kinds []string) {
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// What is said of the PDUs of a session, and what commands they make.
func TestSession(t *testing.T) {
	s := newSession()
	none := iser.Header{}
	steps := []struct {
		side ulp.Side
		h    iser.Header
		b    iser.BHS
		data string
		want string
	}{
		{0, none, iser.BHS{Opcode: iser.OpLoginRequest, Immediate: true, Flags: 0x87, ITT: 1}, "InitiatorName=iqn.a\x00TargetName=iqn.b\x00", "iSCSI Login Request, operational negotiation to full feature phase itt 0x00000001"},
		{1, none, iser.BHS{Opcode: iser.OpLoginResponse, Flags: 0x87, ITT: 1}, "RDMAExtensions=Yes\x00", "iSCSI Login Response, operational negotiation to full feature phase: success itt 0x00000001"},
		{0, none, iser.BHS{Opcode: iser.OpTextRequest, Flags: 0x80, ITT: 2}, "SendTargets=All\x00", "iSCSI Text Request itt 0x00000002"},
		{1, none, iser.BHS{Opcode: iser.OpTextResponse, Flags: 0x80, ITT: 2}, "", "iSCSI Text Response itt 0x00000002"},
		{1, none, iser.BHS{Opcode: iser.OpNOPIn, Flags: 0x80, ITT: iser.NoTag, Rest: [28]byte{0, 0, 0, 7}}, "", "iSCSI NOP-In"},
		{0, none, iser.BHS{Opcode: iser.OpNOPOut, Immediate: true, Flags: 0x80, ITT: iser.NoTag, Rest: [28]byte{0, 0, 0, 7}}, "", "iSCSI NOP-Out"},
		{0, none, iser.BHS{Opcode: iser.OpNOPOut, Flags: 0x80, ITT: 3, Rest: [28]byte{0xFF, 0xFF, 0xFF, 0xFF}}, "", "iSCSI NOP-Out itt 0x00000003"},
		{1, none, iser.BHS{Opcode: iser.OpNOPIn, Flags: 0x80, ITT: 3, Rest: [28]byte{0xFF, 0xFF, 0xFF, 0xFF}}, "", "iSCSI NOP-In itt 0x00000003"},
		{0, none, scsi(4, 0, 0), "", "iSCSI TEST UNIT READY lun 0 itt 0x00000004"},
		{1, none, iser.BHS{Opcode: iser.OpSCSIResponse, Flags: 0x80, Specific: [2]byte{0, 0x28}, ITT: 4}, "", "iSCSI SCSI Response TASK SET FULL of test_unit_ready itt 0x00000004"},
		{0, none, scsi(5, 0, 0), "", "iSCSI TEST UNIT READY lun 0 itt 0x00000005"},
		{0, none, iser.BHS{Opcode: iser.OpTaskRequest, Immediate: true, Flags: 0x81, ITT: 6, Rest: [28]byte{0, 0, 0, 5}}, "", "iSCSI Task Management Function Request ABORT TASK of itt 0x00000005 itt 0x00000006"},
		{1, none, iser.BHS{Opcode: iser.OpTaskResponse, Flags: 0x80, ITT: 6}, "", "iSCSI Task Management Function Response: function complete itt 0x00000006"},
		{1, none, iser.BHS{Opcode: iser.OpAsync, Flags: 0x80, ITT: iser.NoTag, Rest: [28]byte{16: 1}}, "", "iSCSI Asynchronous Message: target requests logout"},
		{0, none, iser.BHS{Opcode: iser.OpLogoutRequest, Immediate: true, Flags: 0x80, ITT: 7}, "", "iSCSI Logout Request, close the session itt 0x00000007"},
		{1, none, iser.BHS{Opcode: iser.OpLogoutResponse, Flags: 0x80, ITT: 7}, "", "iSCSI Logout Response itt 0x00000007"},
	}
	for i, x := range steps {
		got, e := s.send(x.side, x.h, x.b, x.data)
		if got != x.want || e != ulp.Strong {
			t.Errorf("%d: %q, evidence %d, not %q", i, got, e, x.want)
		}
	}
	s.dec.End(mpa.Stamp{Time: 1e9})
	var commands []string
	for _, c := range s.Commands {
		commands = append(commands, strings.TrimSpace(c.Name+" "+c.Result))
	}
	if d := cmp.Diff([]string{"iscsi.login", "iscsi.text", "iscsi.nop_in", "iscsi.nop_out", "iscsi.test_unit_ready TASK SET FULL", "iscsi.task_management", "iscsi.logout"}, commands); d != "" {
		t.Errorf("(-want +got)\n%s", d) // the task that was aborted is not missed
	}
	if d := cmp.Diff([]string{ulp.CommandFailed, ulp.CommandAborted, ulp.ProtocolError}, names(s.Events)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	var f ulp.Fields
	if s.dec.Summary(&f); f.Get("initiator_name").Text != "iqn.a" || f.Get("target_name").Text != "iqn.b" {
		t.Errorf("%+v", f)
	}
}

// Data goes by RDMA, in the PDU of the command, and in PDUs of its own.
func TestData(t *testing.T) {
	s := newSession()
	s.send(0, iser.Header{RSV: true, ReadSTag: 5, ReadBase: 0x1000}, scsi(1, reads, 4096, 0x28, 0, 0, 0, 0, 9, 0, 0, 8), "")
	if text, _ := s.message(ulp.Message{Side: 1, Op: rdmap.OpWrite, STag: 5, TO: 0x1000, Size: 4096}); text != "iSCSI data of read itt 0x00000001" {
		t.Errorf("%q", text)
	}
	ok := iser.BHS{Opcode: iser.OpSCSIResponse, Flags: 0x80}
	ok.ITT = 1
	s.send(1, iser.Header{}, ok, "")

	s.send(0, iser.Header{WSV: true, WriteSTag: 6, WriteBase: 0x2000}, scsi(2, writes, 1000, 0x2A, 0, 0, 0, 0, 9, 0, 0, 2), strings.Repeat("x", 100))
	s.send(0, iser.Header{}, iser.BHS{Opcode: iser.OpDataOut, Flags: 0x80, ITT: 2}, strings.Repeat("x", 200))
	s.message(ulp.Message{Side: 1, Op: rdmap.OpReadRequest, STag: 6, TO: 0x2000, ReadSize: 700, Size: 28})
	s.message(ulp.Message{Op: rdmap.OpReadResponse, STag: 99, Size: 700, Answers: 6})
	ok.ITT = 2
	s.send(1, iser.Header{}, ok, "")

	if len(s.Events) != 0 || len(s.Commands) != 2 {
		t.Fatalf("%+v %+v", s.Events, s.Commands)
	}
	for i, want := range []struct {
		size  uint64
		parts int
	}{{4096, 1}, {1000, 2}} {
		if c := s.Commands[i]; c.Size != want.size || c.Moved != want.size || c.PartCount != want.parts {
			t.Errorf("%+v", c)
		}
	}

	// Less than expected is told, unless the target says so.
	for i, left := range []byte{0, 96, 100} {
		s := newSession()
		s.send(0, iser.Header{RSV: true, ReadSTag: 5}, scsi(1, reads, 100, 0x12), "")
		s.message(ulp.Message{Side: 1, Op: rdmap.OpWrite, STag: 5, Size: 4})
		b := iser.BHS{Opcode: iser.OpSCSIResponse, Flags: 0x80, ITT: 1}
		if left > 0 {
			b.Flags |= 2
			b.Rest[27] = left
		}
		s.send(1, iser.Header{}, b, "")
		want := []string{ulp.DataLength}
		if left == 96 {
			want = nil
		}
		if d := cmp.Diff(want, names(s.Events)); d != "" {
			t.Errorf("%d: (-want +got)\n%s", i, d)
		}
	}
}

// What cannot be iSER is said to be against it.
func TestEvidence(t *testing.T) {
	p := iser.Protocol()
	good := scsi(1, reads, 512, 0x28).Append(iser.Header{Opcode: iser.Control, RSV: true, ReadSTag: 1}.Append(nil))
	change := func(at int, v byte) []byte {
		b := append([]byte(nil), good...)
		b[at] = v
		return b
	}
	for name, tt := range map[string]struct {
		b    []byte
		want ulp.Evidence
	}{
		"a command":                    {good, ulp.Strong},
		"Hello":                        {iser.Header{Opcode: iser.Hello, MaxVer: 10, Ver: 10, Depth: 4}.Append(nil), ulp.Weak},
		"Hello with more":              {append(iser.Header{Opcode: iser.Hello, MaxVer: 10}.Append(nil), 0), ulp.Against},
		"16 octets":                    {make([]byte, 16), ulp.Against},
		"76 octets of zero":            {make([]byte, 76), ulp.Against},
		"a reserved flag":              {change(0, 0x15), ulp.Against},
		"a reserved octet":             {change(2, 1), ulp.Against},
		"an STag that is not valid":    {change(7, 1), ulp.Against},
		"an unknown iSCSI opcode":      {change(28, 0x1C), ulp.Against},
		"Data-In":                      {change(28, 0x25), ulp.Against},
		"another length than it says":  {change(35, 4), ulp.Against},
		"an STag, and no SCSI Command": {change(28, 0x00), ulp.Against},
	} {
		m := &ulp.Message{Op: rdmap.OpSend, Size: uint64(len(tt.b)), Payload: tt.b, Complete: true}
		if got := p.Judge(m); got != tt.want {
			t.Errorf("%s: %d, not %d", name, got, tt.want)
		}
	}
	for want, private := range map[ulp.Evidence][]byte{ulp.Weak: {0x80, 0, 0, 0}, ulp.None: {0x80, 0, 0, 1}} {
		if got := p.Private(&ulp.Startup{Private: private}); got != want {
			t.Errorf("% x: %d", private, got)
		}
	}
}

// Cut short anywhere, nothing panics, and nothing is against it.
func TestCut(t *testing.T) {
	whole := scsi(1, reads, 512, 0x28).Append(iser.Header{Opcode: iser.Control, RSV: true, ReadSTag: 1}.Append(nil))
	for n := range whole {
		s := newSession()
		if e := s.dec.Message(&ulp.Message{N: 1, Op: rdmap.OpSend, Size: uint64(len(whole)), Payload: whole[:n]}, &s.d); e != ulp.None || len(s.d.Text) > 0 {
			t.Errorf("%d octets: %d, %q", n, e, s.d.Text)
		}
	}
}
