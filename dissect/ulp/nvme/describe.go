package nvme

import (
	"fmt"
	"strconv"

	"github.com/iwdump/iwdump/dissect/ulp"
)

// asked adds what a command asks for.
func asked(f *ulp.Fields, c *Command, admin, whole bool) {
	f.Uint("cid", "Command ID", uint64(c.CID))
	if c.Fabrics() {
		return
	}
	o, _ := c.operation(admin)
	if !admin || c.NSID != 0 {
		f.Uint("nsid", "Namespace", uint64(c.NSID))
	}
	if o.lba && whole {
		f.Uint("slba", "Starting LBA", c.SLBA())
		f.Uint("blocks", "Logical blocks", uint64(c.Blocks()))
	}
}

// result adds what a completion brings that is worth keeping.
func (k *Decoder) result(f *ulp.Fields, c *Completion, p *ulp.Pending) {
	if !c.Status.OK() {
		f.Hex("sct", "Status Code Type", uint64(c.Status.SCT()), 1)
		f.Hex("sc", "Status Code", uint64(c.Status.SC()), 2)
	}
}

// describe says what a command is.
func (k *Decoder) describe(d *ulp.Description, m *ulp.Message, c *Command, o opcode, whole bool) {
	d.Say("NVMe ")
	d.Say(o.title)
	f := &d.Fields
	op := f.Hex("opcode", "Opcode", uint64(c.Opcode), 2).In(0, 1)
	if c.Fabrics() {
		op.As("Fabrics")
	} else {
		op.As(o.title)
	}
	if c.Fuse() != FuseNone {
		d.Sayf(" fused %s", [...]string{1: "first", 2: "second", 3: "reserved"}[c.Fuse()])
		f.Uint("fuse", "Fused operation", uint64(c.Fuse())).In(1, 1).As([...]string{1: "first command", 2: "second command", 3: "reserved"}[c.Fuse()])
	}
	f.Uint("psdt", "PRP or SGL for data transfer", uint64(c.PSDT())).In(1, 1)
	f.Uint("cid", "Command ID", uint64(c.CID)).In(2, 2)
	switch {
	case c.Fabrics():
		k.describeFabrics(d, m, c, o)
	case k.admin:
		k.describeAdmin(d, c)
	default:
		sayNSID(d, c.NSID)
		f.Uint("nsid", "Namespace", uint64(c.NSID)).In(4, 4)
		if o.lba && whole {
			d.Say(" lba 0x")
			d.Text = strconv.AppendUint(d.Text, c.SLBA(), 16)
			if d.SayNum(" ", uint64(c.Blocks())); c.Blocks() == 1 {
				d.Say(" block")
			} else {
				d.Say(" blocks")
			}
			f.Uint("slba", "Starting LBA", c.SLBA()).In(40, 8)
			f.Uint("blocks", "Logical blocks", uint64(c.Blocks())).In(48, 2)
			control := c.CDW[2] >> 16
			f.Bool("fua", "Force Unit Access", control&0x4000 != 0).In(51, 1)
			f.Bool("limited_retry", "Limited Retry", control&0x8000 != 0).In(51, 1)
		} else if c.Opcode == OpDSM && whole {
			n := int(c.CDW[0]&0xFF) + 1
			d.Sayf(" %s", plural(n, "range"))
			f.Uint("ranges", "Ranges", uint64(n)).In(40, 1)
			f.Bool("deallocate", "Deallocate", c.CDW[1]&4 != 0).In(44, 1)
			if c.CDW[1]&4 != 0 {
				d.Say(" deallocate")
			}
		}
	}
	d.SayNum(" cid ", uint64(c.CID))
	k.describeSGL(d, c)
	if whole {
		for i, w := range c.CDW {
			f.Hex(wordKeys[i], wordLabels[i], uint64(w), 8).In(40+4*i, 4)
		}
	}
}

var (
	wordKeys   = [6]string{"cdw10", "cdw11", "cdw12", "cdw13", "cdw14", "cdw15"}
	wordLabels = [6]string{"Command Dword 10", "Command Dword 11", "Command Dword 12", "Command Dword 13", "Command Dword 14", "Command Dword 15"}
)

// allNamespaces is the NSID that means all of them.
const allNamespaces = 0xFFFFFFFF

func sayNSID(d *ulp.Description, nsid uint32) {
	if nsid == allNamespaces {
		d.Say(" all namespaces")
		return
	}
	d.SayNum(" nsid ", uint64(nsid))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (k *Decoder) describeSGL(d *ulp.Description, c *Command) {
	s, f := &c.SGL, &d.Fields
	if s.InCapsule() && s.Length > 0 {
		d.Sayf(", %s in the capsule", plural(int(s.Length), "octet"))
	}
	if f.Off {
		return
	}
	f.Open("sgl", "SGL").In(24, SGLLen)
	f.Hex("id", "Identifier", uint64(s.ID), 2).In(39, 1).As(s.Type())
	switch {
	case s.Keyed():
		f.TO("address", "Address", s.Address).In(24, 8)
		f.Uint("length", "Length", uint64(s.Length)).In(32, 3)
		f.STag("key", "Key", s.Key).In(35, 4)
		f.Bool("invalidate", "Invalidate the key", s.Invalidates()).In(39, 1)
	case s.ID&0xF == 1:
		f.Uint("offset", "Offset in the capsule", s.Address).In(24, 8)
		f.Uint("length", "Length", uint64(s.Length)).In(32, 4)
	default:
		f.TO("address", "Address", s.Address).In(24, 8)
		f.Uint("length", "Length", uint64(s.Length)).In(32, 4)
	}
	f.Close()
}

func (k *Decoder) describeFabrics(d *ulp.Description, m *ulp.Message, c *Command, o opcode) {
	f := &d.Fields
	f.Hex("fctype", "Fabrics Command Type", uint64(c.FCType()), 2).In(4, 1).As(o.title)
	switch c.FCType() {
	case Connect:
		q := c.Connect()
		d.Sayf(" qid %d", q.QID)
		f.Uint("recfmt", "Record Format", uint64(q.RecFmt)).In(40, 2)
		f.Uint("qid", "Queue ID", uint64(q.QID)).In(42, 2)
		f.Uint("sqsize", "Submission queue size", uint64(q.SQSize)).In(44, 2).As("counted from 0")
		f.Hex("cattr", "Connect Attributes", uint64(q.CAttr), 2).In(46, 1)
		f.Uint("kato_ms", "Keep Alive Timeout, ms", uint64(q.KATO)).In(48, 4)
		if b := m.Payload; c.SGL.InCapsule() && c.SGL.Address == 0 && len(b) >= CommandLen+connectNames {
			describeConnectData(f, b[CommandLen:])
		}
	case PropertyGet, PropertySet:
		q := c.Property()
		name := q.Name()
		if name == "" {
			name = fmt.Sprintf("0x%x", q.Offset)
		}
		d.Sayf(" %s", name)
		size := uint64(4)
		if q.Eight {
			size = 8
		}
		f.Uint("property_size", "Property size", size).In(40, 1)
		f.Hex("property", "Property", uint64(q.Offset), 2).In(44, 4).As(q.Name())
		if c.FCType() == PropertySet {
			d.Sayf(" = 0x%x", q.Value)
			f.Hex("value", "Value", q.Value, int(2*size)).In(48, int(size))
		}
	case AuthSend, AuthReceive:
		f.Hex("secp", "Security Protocol", uint64(c.CDW[0]>>24), 2).In(43, 1)
		f.Hex("spsp", "Security Protocol specific", uint64(c.CDW[0]>>8&0xFFFF), 4).In(41, 2)
		f.Uint("length", "Transfer or allocation length", uint64(c.CDW[1])).In(44, 4)
	case Disconnect:
		f.Uint("recfmt", "Record Format", uint64(c.CDW[0]&0xFFFF)).In(40, 2)
	}
}

// describeConnectData says what the data of a Connect is, which stands behind
// the entry.
func describeConnectData(f *ulp.Fields, b []byte) {
	x := parseConnectData(b)
	f.Open("connect_data", "Connect data").In(CommandLen, ConnectDataLen)
	f.Text("host_id", "Host Identifier", fmt.Sprintf("%x", x.HostID)).In(CommandLen, 16)
	f.Hex("cntlid", "Controller ID", uint64(x.CNTLID), 4).In(CommandLen+16, 2)
	f.Text("subsystem_nqn", "Subsystem NQN", x.SubNQN).In(CommandLen+256, NQNLen)
	f.Text("host_nqn", "Host NQN", x.HostNQN).In(CommandLen+512, NQNLen)
	f.Close()
}

func (k *Decoder) describeAdmin(d *ulp.Description, c *Command) {
	f := &d.Fields
	f.Uint("nsid", "Namespace", uint64(c.NSID)).In(4, 4)
	low := uint8(c.CDW[0])
	named := func(key, label, name string) {
		if name == "" {
			name = fmt.Sprintf("0x%02x", low)
		}
		d.Say(" " + name)
		f.Hex(key, label, uint64(low), 2).In(40, 1).As(name)
	}
	switch c.Opcode {
	case OpIdentify:
		named("cns", "Controller or Namespace Structure", identifies[low])
	case OpGetFeatures, OpSetFeatures:
		named("fid", "Feature Identifier", features[low])
	case OpGetLogPage:
		named("lid", "Log Page Identifier", logPages[low])
	case OpAbort:
		d.Sayf(" of cid %d in queue %d", c.CDW[0]>>16, c.CDW[0]&0xFFFF)
		f.Uint("abort_sqid", "Submission Queue ID", uint64(c.CDW[0]&0xFFFF)).In(40, 2)
		f.Uint("abort_cid", "Command ID to abort", uint64(c.CDW[0]>>16)).In(42, 2)
	}
	if c.NSID != 0 {
		sayNSID(d, c.NSID)
	}
}

// describeCompletion says what a completion is, and of what.
func (k *Decoder) describeCompletion(d *ulp.Description, c *Completion, p *ulp.Pending) {
	if d == nil {
		return
	}
	what, fabrics := "completion", false
	f := &d.Fields
	if p != nil {
		d.Command = p.Command.Name
		what = title(p)
		fabrics = uint8(p.State&stateOpcode) == OpFabrics
		f.Uint("request_n", "Answers message", uint64(p.Command.Request))
	}
	status := c.Status.For(fabrics)
	d.Say("NVMe ")
	if d.Say(what); c.Status.OK() && p != nil {
		d.SayNum(" done cid ", uint64(c.CID))
	} else {
		d.Sayf(" cid %d: %s", c.CID, status)
	}
	f.Hex("result", "Command specific result", c.Result, 16).In(0, 8)
	if p != nil && fabrics && c.Status.OK() {
		switch uint8(p.State & stateFCType >> 8) {
		case Connect:
			d.Sayf(", controller %d", uint16(c.Result))
			f.Uint("cntlid", "Controller ID", c.Result&0xFFFF).In(0, 2)
		case PropertyGet:
			v, digits := c.Result&0xFFFFFFFF, 8
			if p.State&stateEight != 0 {
				v, digits = c.Result, 16
			}
			d.Sayf(", 0x%x", v)
			f.Hex("value", "Value", v, digits).In(0, digits/2)
		}
	}
	f.Uint("sqhd", "SQ Head Pointer", uint64(c.SQHD)).In(8, 2)
	f.Uint("sqid", "SQ Identifier", uint64(c.SQID)).In(10, 2)
	f.Uint("cid", "Command ID", uint64(c.CID)).In(12, 2)
	f.Text("status", "Status", status).In(14, 2)
	f.Hex("sct", "Status Code Type", uint64(c.Status.SCT()), 1).In(15, 1).As(typeNames[c.Status.SCT()])
	f.Hex("sc", "Status Code", uint64(c.Status.SC()), 2).In(14, 2)
	if !c.Status.OK() {
		f.Bool("more", "More", c.Status.More()).In(15, 1)
		f.Bool("dnr", "Do Not Retry", c.Status.DNR()).In(15, 1)
	}
}
