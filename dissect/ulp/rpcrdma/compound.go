package rpcrdma

import (
	"encoding/binary"
)

// An Operation is one operation of a COMPOUND, in a call or in a reply.
type Operation struct {
	Code   uint32
	Name   string // "READ", as in its RFC; "" where it is not known
	Op     string // "nfs4.read"; "" where it is not known
	Status uint32 // nfsstat4, of a reply
	Values []Value
	// Body is the encoded arguments or results, as far as they are there,
	// without the code and the status.
	Body []byte
	// Whole says that it could be read to its end.
	Whole bool
}

// A Compound is the COMPOUND of NFSv4 (RFC 7530, section 15.2; RFC 8881, section
// 16.2), or CB_COMPOUND, in a call or in a reply.
type Compound struct {
	Callback bool
	Reply    bool
	Status   uint32 // of a reply: nfsstat4 of the last operation that was run
	Tag      []byte
	Minor    uint32 // minorversion, of a call
	Ident    uint32 // callback_ident, of a CB_COMPOUND call
	Count    uint32 // operations that it says it has
	// Ops is those that could be followed. Where they are fewer than Count, what
	// was parsed ends there, or the one after them is not known.
	Ops []Operation

	values []Value
}

// maxValues is how many values of the operations of one message are kept.
const maxValues = 256

// Chunks says which data of a message is not in its Payload stream (RFC 8166,
// section 4.3).
type Chunks struct {
	Base   int       // octets of the Payload stream in front of what is parsed
	Reads  ReadList  // of a call
	Writes WriteList // of a reply
}

// Parse parses the COMPOUND at the start of b into c, whose memory it uses
// again; Callback and Reply say what it is. It reads as many operations as it
// can follow and returns how many octets that took; ErrShort where b ends
// before the first operation's code. Results alias b.
func (c *Compound) Parse(b []byte, at Chunks) (n int, err error) {
	*c = Compound{Callback: c.Callback, Reply: c.Reply, Ops: c.Ops[:0], values: c.values[:0]}
	w := walker{cursor: cursor{b: b}, reply: c.Reply, reads: at.Reads, writes: at.Writes, moved: uint64(at.Base), out: c.values}
	if c.Reply {
		c.Status = w.word()
	}
	c.Tag = w.opaque()
	if !c.Reply {
		c.Minor = w.word()
		if c.Callback {
			c.Ident = w.word()
		}
	}
	c.Count = w.word()
	if w.short {
		return 0, ErrShort
	}
	whole := w.off
	for i := uint32(0); i < c.Count && len(w.out) < maxValues; i++ {
		if !w.operation(c) {
			break
		}
		if c.Ops[len(c.Ops)-1].Whole {
			whole = w.off
		} else {
			break
		}
	}
	c.values = w.out
	if len(c.Ops) == 0 && c.Count > 0 {
		return 0, ErrShort
	}
	return whole, nil
}

// operation reads one operation, and says whether there is one.
func (w *walker) operation(c *Compound) bool {
	o := Operation{Code: w.word()}
	if c.Reply {
		o.Status = w.word()
	}
	if w.short {
		return false
	}
	w.status = o.Status
	start, first := w.off, len(w.out)
	if p := operation(c.Callback, o.Code); p != nil {
		o.Name, o.Op = p.title, p.op
		switch {
		case !c.Reply:
			w.walk(p.args)
		case o.Status == 0:
			w.walk(p.res)
		default:
			w.walk(p.failed)
		}
		o.Whole = w.ok()
	}
	o.Values = w.out[first:len(w.out):len(w.out)]
	o.Body = w.b[start:]
	if o.Whole {
		o.Body = w.b[start:w.off:w.off]
	}
	c.Ops = append(c.Ops, o)
	return true
}

// Whole says that all operations could be read to their ends.
func (c *Compound) Whole() bool {
	return uint64(len(c.Ops)) == uint64(c.Count) && (len(c.Ops) == 0 || c.Ops[len(c.Ops)-1].Whole)
}

// Subject returns the operation that the COMPOUND is for, such as its READ: the
// last that is more than SEQUENCE, the choice of a file or a look at its
// attributes. nil where there is none, or it may be among those that could not
// be followed.
func (c *Compound) Subject() *Operation {
	best, rankOf := -1, 0
	for i := range c.Ops {
		r := rank(c.Ops[i].Code)
		if c.Callback {
			r = rankCB(c.Ops[i].Code)
		}
		if c.Ops[i].Op != "" && (best < 0 || r >= rankOf) {
			best, rankOf = i, r
		}
	}
	if best < 0 || rankOf < rankSubject && !c.Whole() {
		return nil
	}
	return &c.Ops[best]
}

// OpName names the COMPOUND after its Subject: "nfs4.read", "nfs4cb.recall";
// "nfs4.compound" and "nfs4cb.compound" where there is none.
func (c *Compound) OpName() string {
	if s := c.Subject(); s != nil {
		return s.Op
	}
	if c.Callback {
		return "nfs4cb.compound"
	}
	return "nfs4.compound"
}

// Append appends the COMPOUND to b: its operations by Code, Status and Body.
func (c *Compound) Append(b []byte) []byte {
	word := binary.BigEndian.AppendUint32
	if c.Reply {
		b = word(b, c.Status)
	}
	b = appendOpaque(b, c.Tag)
	if !c.Reply {
		b = word(b, c.Minor)
		if c.Callback {
			b = word(b, c.Ident)
		}
	}
	b = word(b, c.Count)
	for i := range c.Ops {
		b = word(b, c.Ops[i].Code)
		if c.Reply {
			b = word(b, c.Ops[i].Status)
		}
		b = append(b, c.Ops[i].Body...)
	}
	return b
}
