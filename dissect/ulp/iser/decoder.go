package iser

import (
	"bytes"
	"fmt"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/ulp"
)

// A Decoder follows one iSCSI connection.
type Decoder struct {
	h ulp.Handler
	t *ulp.Tracker

	lost    bool
	losses  uint64
	full    bool      // full feature phase
	names   [2]string // initiator and target
	maxCmd  uint32
	hasMax  bool
	closed  mpa.Stamp // since when CmdSN has reached MaxCmdSN; Frame is 0 where it has not
	waited  bool      // that was told
	command string
	event   ulp.Event
}

// NewDecoder returns a Decoder that hands to h what it finds.
func NewDecoder(h ulp.Handler) *Decoder { return &Decoder{h: h, t: ulp.NewTracker(h)} }

// What a command is, in Pending.State.
const (
	stateSCSI = 1 << iota
	stateData
	stateLoss = 8 // from this bit on: the low bits of Decoder.losses
	lossMask  = 1<<16 - 1
)

// ofTarget marks the ids of what a target asks.
const ofTarget = 1 << 32

// KeepSend is how many octets of a Send are needed: all text of a login, and
// then the sense data.
func (k *Decoder) KeepSend() int {
	if k.full {
		return HeaderLen + BHSLen + 260
	}
	return HeaderLen + BHSLen + 8192
}

// KeepTagged is 0: no PDU is in a tagged message.
func (k *Decoder) KeepTagged() int { return 0 }

// Startup takes a startup frame.
func (k *Decoder) Startup(s *ulp.Startup, d *ulp.Description) ulp.Evidence {
	e := judgePrivate(s)
	if e <= 0 || d == nil {
		return e
	}
	p, _, _ := ParsePrivate(s.Private)
	d.Say("iSER connect")
	if s.Reply {
		d.Text = append(d.Text[:0], "iSER accept"...)
	}
	d.Fields.Bool("zbva", "Zero-based virtual addresses", !p.NoZBVA).In(0, 1)
	d.Fields.Bool("send_with_invalidate", "Send with Invalidate", !p.NoSendInvalidate).In(0, 1)
	return e
}

func (k *Decoder) tell(kind string, sev ulp.Severity, m *ulp.Message, detail string) {
	k.event = ulp.Event{Kind: kind, Severity: sev, Side: m.Side, N: m.N, At: m.Last, Detail: detail, Command: k.command}
	k.h.Event(&k.event)
}

// Message takes a message.
func (k *Decoder) Message(m *ulp.Message, d *ulp.Description) ulp.Evidence {
	k.command = ""
	if !m.IsSend() {
		if p := k.t.Data(m); p != nil && d != nil {
			d.Sayf("iSCSI data of %s itt 0x%08x", title(p), uint32(p.ID))
			d.Fields.Uint("request_n", "Of message", uint64(p.Command.Request))
			d.Fields.STag("itt", "Initiator Task Tag", uint32(p.ID))
		}
		return ulp.None
	}
	e := judge(m)
	if e < 0 || len(m.Payload) < HeaderLen {
		return e
	}
	h, _, err := ParseHeader(m.Payload)
	if err != nil {
		return ulp.Against
	}
	if h.Opcode != Control {
		k.hello(m, &h, d)
		return e
	}
	b, _, err := ParseBHS(m.Payload[HeaderLen:])
	if err != nil {
		return ulp.None
	}
	data := m.Payload[min(len(m.Payload), HeaderLen+BHSLen+b.AHSLen):]
	data = data[:min(len(data), b.DataLen)]
	if b.Opcode.Target() {
		if k.reply(m, &h, &b, data, d) {
			return ulp.Strong
		}
		return e
	}
	k.request(m, &h, &b, data, d)
	return e
}

func (k *Decoder) hello(m *ulp.Message, h *Header, d *ulp.Description) {
	if h.Reject {
		k.tell(ulp.ProtocolError, ulp.Error, m, "the target rejects the iSER connection in its HelloReply")
	}
	if d == nil {
		return
	}
	f := &d.Fields
	if h.Opcode == Hello {
		d.Sayf("iSER Hello, IRD %d", h.Depth)
		f.Uint("max_ver", "MaxVer", uint64(h.MaxVer)).In(1, 1)
		f.Uint("min_ver", "MinVer", uint64(h.Ver)).In(1, 1)
		f.Uint("iser_ird", "iSER-IRD", uint64(h.Depth)).In(2, 2)
		return
	}
	d.Sayf("iSER HelloReply, ORD %d", h.Depth)
	f.Bool("rej", "REJ", h.Reject).In(0, 1)
	f.Uint("max_ver", "MaxVer", uint64(h.MaxVer)).In(1, 1)
	f.Uint("cur_ver", "CurVer", uint64(h.Ver)).In(1, 1)
	f.Uint("iser_ord", "iSER-ORD", uint64(h.Depth)).In(2, 2)
}

var requestNames = map[Opcode]string{OpNOPOut: "iscsi.nop_out", OpTaskRequest: "iscsi.task_management", OpLoginRequest: "iscsi.login",
	OpTextRequest: "iscsi.text", OpLogoutRequest: "iscsi.logout"}

var replies = map[Opcode]bool{OpNOPIn: true, OpSCSIResponse: true, OpTaskResponse: true, OpLoginResponse: true, OpTextResponse: true, OpLogoutResponse: true}

// request takes a PDU of an initiator.
func (k *Decoder) request(m *ulp.Message, h *Header, b *BHS, data []byte, d *ulp.Description) {
	if b.Opcode == OpNOPOut && b.ITT == NoTag {
		// The answer to a NOP-In (RFC 7143, section 11.18).
		if p := k.t.Find(m.Side.Other(), ofTarget|uint64(b.TargetTag())); p != nil {
			k.command = p.Command.Name
			k.t.Finish(p, m, ulp.OK, "")
		}
		k.describe(d, h, b, data, nil)
		return
	}
	if b.Opcode == OpDataOut {
		if p := k.t.Find(m.Side, uint64(b.ITT)); p != nil {
			k.command = p.Command.Name
			p.Command.Moved += uint64(b.DataLen)
		}
		k.describe(d, h, b, data, nil)
		return
	}
	name := requestNames[b.Opcode]
	if b.Opcode == OpSCSICommand {
		name = ParseCDB(b.CDB()).Name
	}
	if name == "" {
		k.describe(d, h, b, data, nil)
		return
	}
	k.command = name
	p := k.t.Begin(uint64(b.ITT), name, m)
	p.State = (k.losses & lossMask) << stateLoss
	switch b.Opcode {
	case OpSCSICommand:
		k.scsi(p, h, b)
	case OpLoginRequest:
		k.login(data)
	case OpTaskRequest:
		k.abort(m, b)
	}
	if !b.Immediate && b.Opcode != OpLoginRequest {
		k.window(m, b)
	}
	asked(&p.Command.Fields, b)
	k.describe(d, h, b, data, nil)
}

// scsi takes a SCSI Command.
func (k *Decoder) scsi(p *ulp.Pending, h *Header, b *BHS) {
	n := uint64(b.ExpectedLength())
	p.State |= stateSCSI
	if b.Reads() != b.Writes() {
		p.State |= stateData
	}
	if b.Reads() || b.Writes() {
		p.Command.Size = n
	}
	p.Command.Moved = uint64(b.DataLen) // immediate data
	if h.WSV {
		k.t.Expose(p, ulp.Buffer{STag: h.WriteSTag, TO: h.WriteBase, Len: n})
	}
	if h.RSV {
		k.t.Expose(p, ulp.Buffer{STag: h.ReadSTag, TO: h.ReadBase, Len: n})
	}
}

// login takes the names from the text of a login.
func (k *Decoder) login(data []byte) {
	for pair := range bytes.SplitSeq(data, []byte{0}) {
		key, value, _ := bytes.Cut(pair, []byte{'='})
		switch string(key) {
		case "InitiatorName":
			k.names[0] = string(value[:min(len(value), 223)])
		case "TargetName":
			k.names[1] = string(value[:min(len(value), 223)])
		}
	}
}

// abort takes a task management request: what it aborts is never answered.
func (k *Decoder) abort(m *ulp.Message, b *BHS) {
	what := b.TaskFunction()
	switch b.Flags & 0x7F {
	case 1: // ABORT TASK
		if p := k.t.Find(m.Side, uint64(b.TargetTag())); p != nil {
			p.Quiet = true
			what = fmt.Sprintf("%s for %s (#%d)", what, p.Command.Name, p.Command.Request)
		}
	case 2, 4, 5, 6, 7:
	default:
		return
	}
	k.tell(ulp.CommandAborted, ulp.Warning, m, "the initiator asks for "+what)
}

// window notes where the initiator has used all command numbers that the target
// granted (RFC 7143, section 4.2.2.1).
func (k *Decoder) window(m *ulp.Message, b *BHS) {
	if k.hasMax && !k.lost && b.CmdSN() == k.maxCmd && k.closed.Frame == 0 && k.t.Outstanding(m.Side) > 1 {
		k.closed = m.Last
	}
}

// granted takes the MaxCmdSN of a PDU of the target.
func (k *Decoder) granted(m *ulp.Message, b *BHS) {
	if max := b.MaxCmdSN(); !k.hasMax || int32(max-k.maxCmd) > 0 {
		k.maxCmd, k.hasMax = max, true
	} else {
		return
	}
	if k.closed.Frame == 0 {
		return
	}
	wait := m.Last.Time - k.closed.Time
	k.closed = mpa.Stamp{}
	if k.waited {
		return
	}
	k.waited = true
	k.event = ulp.Event{Kind: ulp.CreditsExhausted, Severity: ulp.Info, Side: m.Side.Other(), N: m.N, At: m.Last, Wait: wait,
		Detail: fmt.Sprintf("the initiator had used all command numbers up to MaxCmdSN for %d µs", wait/1000)}
	k.h.Event(&k.event)
}

// reply takes a PDU of a target, and says whether it answers a request that was
// seen.
func (k *Decoder) reply(m *ulp.Message, h *Header, b *BHS, data []byte, d *ulp.Description) bool {
	k.granted(m, b)
	var p *ulp.Pending
	if replies[b.Opcode] && b.ITT != NoTag {
		p = k.t.Find(m.Side.Other(), uint64(b.ITT))
	}
	if p != nil {
		k.command = p.Command.Name
	}
	k.describe(d, h, b, data, p)
	switch {
	case p != nil:
		status, result := outcome(b, data)
		// What a target does not know, and what it tells of its own.
		s, ok := ParseSense(data)
		p.Mild = ok && b.Opcode == OpSCSIResponse && (s.Key == unitAttention || s.Key == illegalRequest && s.ASC == invalidOperation)
		k.lengths(m, p, b, status)
		if b.Opcode == OpLoginResponse && b.Flags&0x83 == 0x83 {
			k.full = true
		}
		k.t.Finish(p, m, status, result)
		return true
	case b.Opcode == OpNOPIn && b.ITT == NoTag && b.TargetTag() != NoTag:
		k.command = "iscsi.nop_in"
		k.t.Begin(ofTarget|uint64(b.TargetTag()), k.command, m)
	case b.Opcode == OpReject:
		k.tell(ulp.ProtocolError, ulp.Error, m, "the target rejects a PDU: "+name(rejectReasons, b.Specific[0], "reason"))
	case b.Opcode == OpAsync:
		k.tell(ulp.ProtocolError, ulp.Warning, m, "the target tells: "+name(asyncEvents, uint8(b.word(36)>>24), "event"))
	}
	return false
}

// outcome says how a reply ends its command.
func outcome(b *BHS, data []byte) (ulp.Status, string) {
	switch b.Opcode {
	case OpSCSIResponse:
		switch {
		case b.Response() != 0:
			return ulp.Failed, fmt.Sprintf("target failure, response 0x%02x", b.Response())
		case b.SCSIStatus() == Good || b.SCSIStatus() == 0x04:
			return ulp.OK, ""
		}
		if s, ok := ParseSense(data); ok {
			return ulp.Failed, b.SCSIStatus().String() + ": " + s.String()
		}
		return ulp.Failed, b.SCSIStatus().String()
	case OpTaskResponse:
		if r := b.Response(); r != 0 {
			return ulp.Failed, name(taskResponses, r, "response")
		}
	case OpLoginResponse:
		if s, text := b.LoginStatus(); s != 0 {
			return ulp.Failed, text
		}
	case OpLogoutResponse:
		if r := b.Response(); r != 0 {
			return ulp.Failed, fmt.Sprintf("response %d", r)
		}
	}
	return ulp.OK, ""
}

// lengths holds the data that was moved against what the command expects. A
// target that reports a residual may have moved it all the same.
func (k *Decoder) lengths(m *ulp.Message, p *ulp.Pending, b *BHS, status ulp.Status) {
	c := &p.Command
	if status != ulp.OK || b.Opcode != OpSCSIResponse || p.State&stateData == 0 || p.State>>stateLoss != k.losses&lossMask || c.Moved == c.Size {
		return
	}
	left, under, _ := b.Residual()
	if under && uint64(left) <= c.Size && c.Moved == c.Size-uint64(left) {
		return
	}
	k.event = ulp.Event{Kind: ulp.DataLength, Severity: ulp.Warning, Side: m.Side, N: m.N, At: m.Last, Command: c.Name, HasValue: true, Value: c.Moved, Limit: c.Size,
		Detail: fmt.Sprintf("%s (#%d) is for %d octets, and %d were moved", c.Name, c.Request, c.Size, c.Moved)}
	k.h.Event(&k.event)
}

// Lost tells that messages of a side may be missing.
func (k *Decoder) Lost(side ulp.Side) {
	k.lost = true
	k.losses++
	k.closed = mpa.Stamp{}
	k.t.Lost(side)
}

// End takes the end of the QP.
func (k *Decoder) End(at mpa.Stamp) { k.t.End(at) }

// Summary adds who talks to whom.
func (k *Decoder) Summary(f *ulp.Fields) {
	if k.names[0] != "" {
		f.Text("initiator_name", "InitiatorName", k.names[0])
	}
	if k.names[1] != "" {
		f.Text("target_name", "TargetName", k.names[1])
	}
}
