package rpcrdma

import (
	"strconv"

	"github.com/iwdump/iwdump/dissect/ulp"
)

func utoa(v uint32) string { return strconv.FormatUint(uint64(v), 10) }

// results reads a reply to a call.
func (c *decoder) results(p *ulp.Pending, h *Header, body []byte) (o outcome) {
	s := state(p.State)
	o.op = p.Command.Name
	c.values = c.values[:0]
	r, n, err := ParseReply(body)
	if err != nil {
		return o
	}
	if r.Denied || r.Stat != AcceptSuccess {
		o.known, o.failed, o.result = true, true, r.Status()
		o.kind, o.status = kindAccepted, r.Stat
		if r.Denied {
			o.kind, o.status = kindDenied, r.AuthStat
			if r.Stat == RejectMismatch {
				o.status = deniedMismatch
			}
		}
		return o
	}
	o.known = true
	if !s.known() {
		return o
	}
	ok, res, base := skipGSS(s.service(), body[n:], n)
	if !ok {
		return o
	}
	at := Chunks{Base: base, Writes: h.Writes}
	program, version, proc := s.program()
	if isCompound(program, version, proc) {
		c.compound.Callback, c.compound.Reply = s.callback(), true
		if _, err := c.compound.Parse(res, at); err != nil {
			return o
		}
		o.compound, o.whole = true, c.compound.Whole()
		o.status, o.failed = c.compound.Status, c.compound.Status != 0
		if j := c.compound.Subject(); j != nil && j.Op == p.Command.Name {
			o.amount(j.Values)
		}
	} else {
		var st Status
		var has bool
		st, has, c.values, o.whole = Results(c.values, program, version, proc, res, at)
		if has {
			o.status, o.failed = st.Code, !st.OK
		}
		o.amount(c.values)
	}
	if o.status != 0 {
		o.kind = kindStatus
		o.result = s.words(o.kind, o.status)
	}
	return o
}

// movesData says that a call reads or writes the data of a file.
func movesData(op string) bool {
	switch op {
	case "nfs2.read", "nfs3.read", "nfs4.read", "nfs4.read_plus", "nfs2.write", "nfs3.write", "nfs4.write":
		return true
	}
	return false
}

// amount finds how much was read or written.
func (o *outcome) amount(values []Value) {
	if !movesData(o.op) {
		return
	}
	for i := range values {
		switch values[i].Name {
		case "count", "length": // results of NFSv3 READ have both, and the same
			o.data, o.hasData = values[i].Num, true
		}
	}
}

// ask fills in what a call asks for. Numbers and names are kept, file handles
// and other identifiers are not: the description has them.
func ask(cmd *ulp.Command, values []Value) {
	for i := range values {
		switch v := &values[i]; v.Name {
		case "offset", "to_offset", "stable", "access", "count", "length":
			if cmd.Fields.Get(v.Name) == nil {
				cmd.Fields.Uint(v.Name, label(v.Name), v.Num)
			}
			if (v.Name == "count" || v.Name == "length") && movesData(cmd.Name) {
				cmd.Size = v.Num
			}
		case "name", "to_name", "path":
			if cmd.Fields.Get(v.Name) == nil {
				cmd.Fields.Text(v.Name, label(v.Name), string(v.Data))
			}
		}
	}
}
