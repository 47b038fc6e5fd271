package rpcrdma

import (
	"fmt"
	"slices"
	"strings"

	"github.com/iwdump/iwdump/dissect/ulp"
)

// label is the name of a value for people: "to_offset" is "To offset".
func label(name string) string {
	switch name {
	case "xid":
		return "XID"
	case "fh":
		return "File handle"
	case "offset":
		return "Offset"
	case "count":
		return "Count"
	case "length":
		return "Length"
	case "name":
		return "Name"
	}
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "_", " ")
}

// describeHeader adds the fields of a header.
func describeHeader(d *ulp.Description, h *Header) {
	if d == nil {
		return
	}
	f := &d.Fields
	f.STag("xid", "XID", h.XID).In(0, 4)
	f.Uint("version", "Version", uint64(h.Version)).In(4, 4)
	f.Uint("credits", "Credits", uint64(h.Credits)).In(8, 4)
	f.Text("proc", "Procedure", h.Proc.String()).In(12, 4)
	if h.Reads.Len() > 0 {
		f.OpenList("reads", "Read list")
		for s := range h.Reads.All() {
			f.Open("", "Read segment")
			f.Uint("position", "Position", uint64(s.Position))
			describeSegment(f, s.Segment)
			f.Close()
		}
		f.Close()
	}
	if len(h.Writes) > 0 {
		f.OpenList("writes", "Write list")
		for c := range h.Writes.All() {
			describeChunk(f, "", "Write chunk", c)
		}
		f.Close()
	}
	if h.HasReply {
		describeChunk(f, "reply", "Reply chunk", h.Reply)
	}
}

func describeChunk(f *ulp.Fields, key, title string, c WriteChunk) {
	f.OpenList(key, title)
	for s := range c.All() {
		f.Open("", "Segment")
		describeSegment(f, s)
		f.Close()
	}
	f.Close()
}

func describeSegment(f *ulp.Fields, s Segment) {
	f.STag("stag", "Handle (STag)", s.Handle)
	f.Uint("length", "Length", uint64(s.Length))
	f.TO("to", "Offset (TO)", s.Offset)
}

// title is a procedure for people: "NFSv3 READ".
func title(program, version, proc uint32) string {
	p := lookup(program, version, proc)
	if p == nil {
		return fmt.Sprintf("RPC program %d version %d procedure %d", program, version, proc)
	}
	name := strings.ToUpper(ProgramName(program))
	switch {
	case program == ProgramNFS:
		name = fmt.Sprintf("NFSv%d", version)
	case program >= ProgramTransient:
		name = "NFSv4"
	}
	return name + " " + p.title
}

// describeCall says what a call is. compound says that the decoder's compound
// is of it, else its values are.
func (c *decoder) describeCall(d *ulp.Description, rpc *Call, compound, whole bool) {
	d.Say(title(rpc.Program, rpc.Version, rpc.Procedure))
	f := &d.Fields
	f.Text("type", "RPC message", "call")
	f.Uint("program", "Program", uint64(rpc.Program)).As(ProgramName(rpc.Program))
	f.Uint("program_version", "Program version", uint64(rpc.Version))
	f.Uint("procedure", "Procedure", uint64(rpc.Procedure))
	f.Text("auth", "Credentials", FlavorName(rpc.Cred.Flavor))
	if compound {
		c.describeOps(d)
	} else {
		brief(d, c.values)
		describeValues(f, c.values)
	}
	d.Sayf(" xid 0x%08x", rpc.XID)
	if !whole {
		f.Bool("cut", "Not read to the end", true)
	}
}

// brief appends to the text the values that say most.
func brief(d *ulp.Description, values []Value) {
	for i := range values {
		switch v := &values[i]; v.Name {
		case "offset", "count", "length":
			if v.Name != "length" || i == 0 || values[i-1].Name != "stable" {
				d.Sayf(" %s %d", v.Name, v.Num)
			}
		case "name", "to_name", "path":
			d.Sayf(" \"%s\"", v.Data)
		}
	}
}

// describeValues adds values, of those of one name the first.
func describeValues(f *ulp.Fields, values []Value) {
	if len(values) == 0 {
		return
	}
	f.Open("values", "Values")
	defer f.Close()
	for i := range values {
		v := &values[i]
		switch {
		case slices.ContainsFunc(values[:i], func(o Value) bool { return o.Name == v.Name }):
		case v.Data == nil:
			f.Uint(v.Name, label(v.Name), v.Num)
		case v.Name == "name" || v.Name == "to_name" || v.Name == "path" || strings.HasPrefix(v.Name, "impl_") || v.Name == "netid" || v.Name == "address" || v.Name == "caller" || v.Name == "host":
			f.Text(v.Name, label(v.Name), string(v.Data))
		default:
			f.Text(v.Name, label(v.Name), fmt.Sprintf("%x", v.Data))
		}
	}
}

// describeOps says what the operations of a COMPOUND are.
func (c *decoder) describeOps(d *ulp.Description) {
	p := &c.compound
	for i := range p.Ops {
		o := &p.Ops[i]
		sep := " "
		if i > 0 {
			sep = ", "
		}
		if o.Name == "" {
			d.Sayf("%soperation %d", sep, o.Code)
			continue
		}
		d.Say(sep)
		d.Say(o.Name)
		if rank(o.Code) == rankSubject && !p.Callback {
			brief(d, o.Values)
		}
	}
	if !p.Whole() {
		d.Say(", …")
	}
	f := &d.Fields
	if len(p.Tag) > 0 {
		f.Text("tag", "Tag", string(p.Tag))
	}
	if !p.Reply {
		f.Uint("minor_version", "Minor version", uint64(p.Minor))
	}
	f.Uint("operation_count", "Operations", uint64(p.Count))
	f.OpenList("operations", "Operations")
	for i := range p.Ops {
		o := &p.Ops[i]
		f.Open("", o.Name)
		f.Uint("code", "Operation", uint64(o.Code)).As(o.Name)
		f.Text("op", "Name", o.Op)
		if p.Reply {
			f.Uint("status", "Status", uint64(o.Status)).As(StatusName4(o.Status))
		}
		describeValues(f, o.Values)
		f.Close()
	}
	f.Close()
}

// describeReply says what a reply is.
func (c *decoder) describeReply(d *ulp.Description, h *Header, o *outcome) {
	f := &d.Fields
	f.Text("type", "RPC message", "reply")
	result := o.result
	switch {
	case result != "":
	case o.known:
		result = "OK"
	default:
		result = "not seen"
	}
	d.Sayf("RPC reply %s %s", o.op, result)
	f.Text("status", "Status", result)
	if o.compound {
		c.describeOps(d)
	} else {
		if o.hasData {
			d.Sayf(" %d octets", o.data)
		}
		describeValues(f, c.values)
	}
	d.Sayf(" xid 0x%08x", h.XID)
}
