package nvme

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
)

// maxNamespaces is how many namespaces of a queue the block size is kept of.
const maxNamespaces = 64

// A Decoder follows one queue pair.
type Decoder struct {
	h ulp.Handler
	t *ulp.Tracker

	host    ulp.Side
	hasHost bool
	lost    bool // messages may be missing
	losses  uint64

	qid       uint16
	hasQID    bool
	admin     bool // as far as is known
	sqsize    int  // most commands outstanding, 0 where not known
	full      bool // that was told
	cntlid    uint16
	hasCNTLID bool
	kato      uint32 // ms
	lastHost  mpa.Stamp
	missed    bool // a keep alive, and that was told
	enabled   bool // CC.EN
	data      ConnectData
	hasData   bool
	connect   int // N of the Connect whose data has not come
	done      bool

	blocks map[uint32]uint32 // octets of a logical block by namespace

	name  string // of the command that the message asks for or answers
	event ulp.Event
}

// NewDecoder returns a Decoder that hands to h what it finds.
func NewDecoder(h ulp.Handler) *Decoder {
	return &Decoder{h: h, t: ulp.NewTracker(h)}
}

// What a command is, in Pending.State.
const (
	stateOpcode   = 0xFF
	stateFCType   = 0xFF << 8
	stateAdmin    = 1 << 16
	stateKeyed    = 1 << 17
	stateTransfer = 1 << 18 // an I/O command that moves all its data
	stateEight    = 1 << 19
	stateLoss     = 20 // from this bit on: the low bits of Decoder.losses
	lossMask      = 1<<12 - 1
)

// Startup takes a startup frame.
func (k *Decoder) Startup(s *ulp.Startup, d *ulp.Description) ulp.Evidence {
	e := judgePrivate(s)
	if e <= 0 {
		return e
	}
	switch {
	case !s.Reply:
		r, _, _ := ParseRequest(s.Private)
		k.host, k.hasHost = s.Side, true
		k.setQueue(r.QID)
		k.sqsize = int(r.HSQSize)
		if d != nil {
			d.Sayf("NVMe connect qid %d", r.QID)
			f := &d.Fields
			f.Uint("recfmt", "Record Format", uint64(r.RecFmt)).In(0, 2)
			f.Uint("qid", "Queue ID", uint64(r.QID)).In(2, 2)
			f.Uint("hrqsize", "Host RDMA QP receive queue size", uint64(r.HRQSize)).In(4, 2)
			f.Uint("hsqsize", "Host RDMA QP send queue size", uint64(r.HSQSize)).In(6, 2).As("counted from 0")
			f.Uint("cntlid", "Controller ID", uint64(r.CNTLID)).In(8, 2)
		}
	case s.Reject:
		r, _, _ := ParseReject(s.Private)
		if k.hasQID {
			e = ulp.Strong
		}
		if d != nil {
			d.Sayf("NVMe reject: %s", r.Reason())
			d.Fields.Uint("recfmt", "Record Format", uint64(r.RecFmt)).In(0, 2)
			d.Fields.Uint("reject", "Status", uint64(r.Status)).In(2, 2).As(r.Reason())
		}
		k.tell(ulp.ProtocolError, ulp.Error, s.Side, s.N, s.Last, "the controller rejects the connection: "+r.Reason())
	default:
		a, _, _ := ParseAccept(s.Private)
		if k.hasQID {
			e = ulp.Strong
		}
		if d != nil {
			d.Sayf("NVMe accept")
			d.Fields.Uint("recfmt", "Record Format", uint64(a.RecFmt)).In(0, 2)
			d.Fields.Uint("crqsize", "Controller RDMA QP receive queue size", uint64(a.CRQSize)).In(2, 2)
		}
	}
	return e
}

func (k *Decoder) setQueue(qid uint16) {
	k.qid, k.hasQID, k.admin = qid, true, qid == 0
}

func (k *Decoder) tell(kind string, sev ulp.Severity, side ulp.Side, n int, at mpa.Stamp, detail string) {
	k.event = ulp.Event{Kind: kind, Severity: sev, Side: side, N: n, At: at, Detail: detail, Command: k.name}
	k.h.Event(&k.event)
}

// Message takes a message.
func (k *Decoder) Message(m *ulp.Message, d *ulp.Description) ulp.Evidence {
	if !m.IsSend() {
		k.moved(m, d)
		return ulp.None
	}
	if m.Size == 0 {
		return ulp.None
	}
	k.name = ""
	switch {
	case k.hasHost && m.Side != k.host, !k.hasHost && m.Complete && m.Size == CompletionLen:
		return k.completion(m, d)
	case m.Complete || len(m.Payload) >= leastCommand:
		return k.command(m, d)
	}
	return ulp.None
}

// moved takes a message that moves data.
func (k *Decoder) moved(m *ulp.Message, d *ulp.Description) {
	p := k.t.Data(m)
	if p == nil {
		return
	}
	c := &p.Command
	if k.connect == c.Request && m.Op == rdmap.OpReadResponse {
		k.connect = 0
		k.connectData(m.Payload)
	}
	if d == nil {
		return
	}
	d.Say("NVMe ")
	d.Say(title(p))
	d.SayNum(" data cid ", p.ID)
	if m.Op != rdmap.OpReadRequest {
		d.Fields.Uint("request_n", "Of message", uint64(c.Request))
	} else {
		d.Fields.Uint("request_n", "For message", uint64(c.Request))
	}
	d.Fields.Uint("cid", "Command ID", p.ID)
}

func title(p *ulp.Pending) string {
	c := Command{Opcode: uint8(p.State & stateOpcode), NSID: uint32(p.State & stateFCType >> 8)}
	return c.Title(p.State&stateAdmin != 0)
}

func (k *Decoder) connectData(b []byte) {
	if len(b) >= connectNames {
		k.data, k.hasData = parseConnectData(b), true
	}
}

// KeepTagged is how many octets of an RDMA Read Response are needed: the data
// of a Connect.
func (k *Decoder) KeepTagged() int {
	if k.hasData || k.done {
		return 0
	}
	return connectNames
}

// KeepSend is how many octets of a Send are needed.
func (k *Decoder) KeepSend() int {
	if k.hasData || k.done {
		return CommandLen
	}
	return CommandLen + connectNames
}

// command takes a command capsule.
func (k *Decoder) command(m *ulp.Message, d *ulp.Description) ulp.Evidence {
	e := judge(m)
	var entry [CommandLen]byte
	have := copy(entry[:], m.Payload)
	if e < 0 || have < leastCommand {
		return e
	}
	c, _, _ := ParseCommand(entry[:])
	k.host, k.hasHost = m.Side, true
	k.infer(&c)
	o, _ := c.operation(k.admin)
	k.name = o.name
	k.alive(m)
	whole := have == CommandLen
	p := k.t.Begin(uint64(c.CID), o.name, m)
	p.State = uint64(c.Opcode) | uint64(k.losses&lossMask)<<stateLoss
	if k.admin {
		p.State |= stateAdmin
	}
	if c.Fabrics() {
		p.State |= uint64(c.FCType()) << 8
	}
	if c.SGL.Keyed() && c.SGL.Length > 0 {
		p.State |= stateKeyed
		k.t.Expose(p, ulp.Buffer{STag: c.SGL.Key, TO: c.SGL.Address, Len: uint64(c.SGL.Length)})
	}
	if c.SGL.Keyed() || c.SGL.InCapsule() {
		p.Command.Size = uint64(c.SGL.Length)
	}
	if c.SGL.InCapsule() {
		p.Command.Moved = uint64(c.SGL.Length)
	}
	switch {
	case c.Fabrics():
		k.fabrics(m, &c, p)
	case k.admin:
		k.administers(m, &c, p)
	case o.lba && whole:
		k.blockSize(m, &c, p)
		if c.Opcode == OpRead || c.Opcode == OpWrite || c.Opcode == OpCompare {
			p.State |= stateTransfer
		}
	}
	asked(&p.Command.Fields, &c, k.admin, whole)
	k.depth(m)
	if d != nil {
		d.Command = o.name
		k.describe(d, m, &c, o, whole)
	}
	if c.Fabrics() && c.FCType() == Connect && e == ulp.Strong {
		return ulp.Strong
	}
	return e
}

// infer finds out which kind of queue it is, where nothing said so.
func (k *Decoder) infer(c *Command) {
	if k.hasQID {
		return
	}
	switch {
	case c.Fabrics() && c.FCType() == Connect:
		k.setQueue(c.Connect().QID)
	case c.Fabrics() && (c.FCType() == PropertyGet || c.FCType() == PropertySet),
		c.Opcode == OpIdentify, c.Opcode == OpKeepAlive, c.Opcode == OpGetFeatures, c.Opcode == OpAsyncEvent && c.NSID == 0:
		k.setQueue(0)
	}
}

// fabrics takes a Fabrics command.
func (k *Decoder) fabrics(m *ulp.Message, c *Command, p *ulp.Pending) {
	switch c.FCType() {
	case Connect:
		f := c.Connect()
		k.setQueue(f.QID)
		k.sqsize = int(f.SQSize)
		if f.QID == 0 {
			k.kato = f.KATO
		}
		if c.SGL.InCapsule() && c.SGL.Address == 0 {
			k.connectData(m.Payload[min(CommandLen, len(m.Payload)):])
		} else {
			k.connect = m.N
		}
	case PropertySet, PropertyGet:
		q := c.Property()
		if q.Eight {
			p.State |= stateEight
		}
		if c.FCType() == PropertySet && q.Offset == propertyCC {
			k.configures(m, uint32(q.Value))
		}
	}
}

// configures takes a new value of CC: bit 0 enables the controller, bits 15:14
// announce a shutdown (NVM Express 2.0, section 3.1.3.5).
func (k *Decoder) configures(m *ulp.Message, cc uint32) {
	on, shutdown := cc&1 != 0, cc>>14&3 != 0
	if k.enabled && !on && !shutdown {
		k.tell(ulp.CommandAborted, ulp.Warning, m.Side, m.N, m.Last, "the host resets the controller: it clears CC.EN without a shutdown")
	}
	k.enabled = on && !shutdown
}

// administers takes an admin command that means something to the queue itself.
func (k *Decoder) administers(m *ulp.Message, c *Command, p *ulp.Pending) {
	switch c.Opcode {
	case OpAsyncEvent:
		p.Quiet = true
	case OpAbort:
		k.tell(ulp.CommandAborted, ulp.Warning, m.Side, m.N, m.Last,
			fmt.Sprintf("the host asks to abort the command with CID %d of queue %d", c.CDW[0]>>16, c.CDW[0]&0xFFFF))
	}
}

// completion takes a response capsule.
func (k *Decoder) completion(m *ulp.Message, d *ulp.Description) ulp.Evidence {
	if m.Complete && m.Size != CompletionLen {
		return ulp.Against
	}
	c, _, err := ParseCompletion(m.Payload)
	if err != nil {
		return ulp.None
	}
	if !k.hasQID && c.SQID != 0 {
		k.setQueue(c.SQID)
	}
	var p *ulp.Pending
	if k.hasHost {
		p = k.t.Find(k.host, uint64(c.CID))
	}
	if p == nil {
		k.describeCompletion(d, &c, nil)
		if k.hasHost && !k.lost && k.done {
			k.tell(ulp.ProtocolViolation, ulp.Warning, m.Side, m.N, m.Last, fmt.Sprintf("a completion with CID %d, which no command that is outstanding has", c.CID))
			return ulp.Against
		}
		return ulp.None
	}
	k.name = p.Command.Name
	fabrics := uint8(p.State&stateOpcode) == OpFabrics
	if fabrics && uint8(p.State&stateFCType>>8) == Connect && c.Status.OK() {
		k.cntlid, k.hasCNTLID, k.done, k.lastHost = uint16(c.Result), true, true, m.Last
	}
	k.describeCompletion(d, &c, p)
	k.lengths(m, p, c.Status)
	k.result(&p.Command.Fields, &c, p)
	status, text := ulp.OK, ""
	if !c.Status.OK() {
		status, text = ulp.Failed, c.Status.For(fabrics)
	}
	k.t.Finish(p, m, status, text)
	return ulp.Strong
}

// Lost tells that messages of a side may be missing.
func (k *Decoder) Lost(side ulp.Side) {
	k.lost = true
	k.losses++
	k.t.Lost(side)
}

// End takes the end of the QP.
func (k *Decoder) End(at mpa.Stamp) { k.t.End(at) }

// Summary adds which queue of which controller it is.
func (k *Decoder) Summary(f *ulp.Fields) {
	if k.hasQID {
		f.Uint("qid", "Queue ID", uint64(k.qid))
	}
	if k.sqsize > 0 {
		f.Uint("queue_size", "Queue size", uint64(k.sqsize)+1)
	}
	if k.hasCNTLID {
		f.Uint("cntlid", "Controller ID", uint64(k.cntlid))
	}
	if k.hasData {
		f.Text("subsystem_nqn", "Subsystem NQN", k.data.SubNQN)
		f.Text("host_nqn", "Host NQN", k.data.HostNQN)
		f.Text("host_id", "Host Identifier", fmt.Sprintf("%x", k.data.HostID))
	}
	if k.kato > 0 {
		f.Uint("kato_ms", "Keep Alive Timeout, ms", uint64(k.kato))
	}
}
