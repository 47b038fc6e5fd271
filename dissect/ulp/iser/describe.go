package iser

import (
	"bytes"
	"strings"

	"github.com/iwdump/iwdump/dissect/ulp"
)

func title(p *ulp.Pending) string { return strings.TrimPrefix(p.Command.Name, "iscsi.") }

// asked adds what a request asks for.
func asked(f *ulp.Fields, b *BHS) {
	f.STag("itt", "Initiator Task Tag", b.ITT)
	if b.Opcode != OpSCSICommand {
		return
	}
	f.TO("lun", "LUN", b.LUN)
	if c := ParseCDB(b.CDB()); c.HasLBA {
		f.Uint("lba", "Logical block address", c.LBA)
		f.Uint("blocks", "Blocks", uint64(c.Blocks))
	}
}

// describe says what a control-type PDU is. p is what it answers, nil where it
// answers nothing that was seen.
func (k *Decoder) describe(d *ulp.Description, h *Header, b *BHS, data []byte, p *ulp.Pending) {
	if d == nil {
		return
	}
	d.Command = k.command
	f := &d.Fields
	f.Open("iser", "iSER header").In(0, HeaderLen)
	f.Bool("wsv", "Write STag valid", h.WSV).In(0, 1)
	f.Bool("rsv", "Read STag valid", h.RSV).In(0, 1)
	if h.WSV {
		f.STag("write_stag", "Write STag", h.WriteSTag).In(4, 4)
		f.TO("write_base", "Write Base Offset", h.WriteBase).In(8, 8)
	}
	if h.RSV {
		f.STag("read_stag", "Read STag", h.ReadSTag).In(16, 4)
		f.TO("read_base", "Read Base Offset", h.ReadBase).In(20, 8)
	}
	f.Close()
	const at = HeaderLen
	f.Hex("opcode", "Opcode", uint64(b.Opcode), 2).In(at, 1).As(b.Opcode.String())
	if b.Immediate {
		f.Bool("immediate", "Immediate delivery", true).In(at, 1)
	}
	f.Hex("flags", "Flags", uint64(b.Flags), 2).In(at+1, 1)
	f.Uint("data_length", "Data segment length", uint64(b.DataLen)).In(at+5, 3)
	f.STag("itt", "Initiator Task Tag", b.ITT).In(at+16, 4)
	if p != nil {
		f.Uint("request_n", "Answers message", uint64(p.Command.Request))
	}
	d.Sayf("iSCSI %s", b.Opcode)
	switch b.Opcode {
	case OpSCSICommand:
		describeSCSI(d, b)
	case OpSCSIResponse:
		describeResponse(d, b, data)
		if p != nil {
			d.Sayf(" of %s", title(p))
		}
	case OpLoginRequest, OpLoginResponse:
		d.Sayf(", %s", stages[b.Flags>>2&3])
		if b.Flags&0x80 != 0 {
			d.Sayf(" to %s", stages[b.Flags&3])
		}
		if b.Opcode == OpLoginResponse {
			s, name := b.LoginStatus()
			d.Sayf(": %s", name)
			f.Hex("login_status", "Status", uint64(s), 4).In(at+36, 2).As(name)
			f.Text("status", "Status", name).In(at+36, 2)
		}
		describeText(f, data, HeaderLen+BHSLen+b.AHSLen)
	case OpTextRequest, OpTextResponse:
		describeText(f, data, HeaderLen+BHSLen+b.AHSLen)
	case OpTaskRequest:
		d.Sayf(" %s of itt 0x%08x", b.TaskFunction(), b.TargetTag())
		f.Text("function", "Function", b.TaskFunction()).In(at+1, 1)
		f.STag("referenced_itt", "Referenced Task Tag", b.TargetTag()).In(at+20, 4)
	case OpTaskResponse:
		text := name(taskResponses, b.Response(), "response")
		d.Sayf(": %s", text)
		f.Text("status", "Response", text).In(at+2, 1)
	case OpLogoutRequest:
		d.Sayf(", %s", logoutReasons[min(b.Flags&0x7F, 3)])
	case OpReject:
		text := name(rejectReasons, b.Specific[0], "reason")
		d.Sayf(": %s", text)
		f.Text("status", "Reason", text).In(at+2, 1)
	case OpAsync:
		text := name(asyncEvents, uint8(b.word(36)>>24), "event")
		d.Sayf(": %s", text)
		f.Text("status", "Event", text).In(at+36, 1)
	case OpNOPIn, OpNOPOut:
		if b.TargetTag() != NoTag {
			f.STag("ttt", "Target Transfer Tag", b.TargetTag()).In(at+20, 4)
		}
	}
	if b.ITT != NoTag {
		d.Sayf(" itt 0x%08x", b.ITT)
	}
	switch {
	case b.Opcode.Target():
		f.Uint("stat_sn", "StatSN", uint64(b.word(24))).In(at+24, 4)
		f.Uint("exp_cmd_sn", "ExpCmdSN", uint64(b.word(28))).In(at+28, 4)
		f.Uint("max_cmd_sn", "MaxCmdSN", uint64(b.MaxCmdSN())).In(at+32, 4)
	case b.Opcode != OpDataOut:
		f.Uint("cmd_sn", "CmdSN", uint64(b.CmdSN())).In(at+24, 4)
		f.Uint("exp_stat_sn", "ExpStatSN", uint64(b.word(28))).In(at+28, 4)
	}
}

func describeSCSI(d *ulp.Description, b *BHS) {
	const at = HeaderLen
	f := &d.Fields
	c := ParseCDB(b.CDB())
	d.Text = append(d.Text[:0], "iSCSI "...)
	d.Say(c.Title)
	f.Text("scsi", "SCSI command", c.Title).In(at+32, 1)
	f.Hex("operation", "Operation code", uint64(b.CDB()[0]), 2).In(at+32, 1)
	if c.HasLBA {
		d.Sayf(" lba 0x%x %d blocks", c.LBA, c.Blocks)
		f.Uint("lba", "Logical block address", c.LBA).In(at+32, 16)
		f.Uint("blocks", "Blocks", uint64(c.Blocks)).In(at+32, 16)
	}
	f.TO("lun", "LUN", b.LUN).In(at+8, 8)
	if lun, ok := simpleLUN(b.LUN); ok {
		d.Sayf(" lun %d", lun)
	}
	f.Bool("reads_data", "Reads", b.Reads()).In(at+1, 1)
	f.Bool("writes_data", "Writes", b.Writes()).In(at+1, 1)
	f.Uint("expected_length", "Expected Data Transfer Length", uint64(b.ExpectedLength())).In(at+20, 4)
}

// simpleLUN is the number of a LUN of one level, peripheral or flat (SAM-5,
// section 4.7.7).
func simpleLUN(v uint64) (int, bool) {
	if v&(1<<48-1) != 0 {
		return 0, false
	}
	switch v >> 62 {
	case 0:
		return int(v >> 48 & 0xFF), v>>56&0x3F == 0
	case 1:
		return int(v >> 48 & 0x3FFF), true
	}
	return 0, false
}

func describeResponse(d *ulp.Description, b *BHS, data []byte) {
	const at = HeaderLen
	f := &d.Fields
	f.Hex("response", "Response", uint64(b.Response()), 2).In(at+2, 1)
	_, text := outcome(b, data)
	if text == "" {
		text = b.SCSIStatus().String()
	}
	d.Sayf(" %s", text)
	f.Hex("scsi_status", "SCSI status", uint64(b.SCSIStatus()), 2).In(at+3, 1).As(b.SCSIStatus().String())
	f.Text("status", "Status", text)
	if n, under, over := b.Residual(); under || over {
		f.Uint("residual", "Residual Count", uint64(n)).In(at+44, 4)
		f.Bool("underflow", "Underflow", under).In(at+1, 1)
		f.Bool("overflow", "Overflow", over).In(at+1, 1)
	}
	if s, ok := ParseSense(data); ok {
		f.Open("sense", "Sense data").In(HeaderLen+BHSLen+b.AHSLen, len(data))
		f.Hex("key", "Sense key", uint64(s.Key), 1).As(senseKeys[s.Key&0xF])
		f.Hex("asc", "Additional sense code", uint64(s.ASC), 2)
		f.Hex("ascq", "Additional sense code qualifier", uint64(s.ASCQ), 2)
		f.Close()
	}
}

// maxKeys is how many keys of a text are shown.
const maxKeys = 64

// describeText shows the keys of a login or text, which begin at an octet of the
// message.
func describeText(f *ulp.Fields, data []byte, at int) {
	if len(data) == 0 {
		return
	}
	f.OpenList("keys", "Keys").In(at, len(data))
	n := 0
	for pair := range bytes.SplitSeq(data, []byte{0}) {
		if len(pair) > 0 && n < maxKeys {
			f.Text("", "", string(pair)).In(at, len(pair))
			n++
		}
		at += len(pair) + 1
	}
	f.Close()
}
