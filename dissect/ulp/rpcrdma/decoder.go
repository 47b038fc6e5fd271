package rpcrdma

import (
	"strings"

	"fmt"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
)

// A decoder follows one QP.
type decoder struct {
	h ulp.Handler
	t *ulp.Tracker

	private [2]PrivateData
	has     [2]bool // private
	granted [2]uint32
	full    [2]ulp.Exhaustion
	losses  uint8 // counts
	calls   [2]uint64
	broke   map[string]bool // rules that were broken, each told once

	// What was read of the message at hand.
	compound Compound
	values   []Value
	event    ulp.Event
}

func newDecoder(h ulp.Handler) *decoder {
	return &decoder{h: h, t: ulp.NewTracker(h), broke: map[string]bool{}}
}

// Startup takes a startup frame.
func (c *decoder) Startup(s *ulp.Startup, d *ulp.Description) ulp.Evidence {
	p, ok := ParsePrivateData(s.Private)
	if !ok {
		return ulp.None
	}
	c.private[s.Side&1], c.has[s.Side&1] = p, true
	if d != nil {
		d.Sayf("RPC-over-RDMA sends %d receives %d octets inline", p.SendSize, p.ReceiveSize)
		d.Fields.Uint("version", "Version", uint64(p.Version))
		d.Fields.Bool("remote_invalidation", "Remote invalidation", p.RemoteInvalidation)
		d.Fields.Uint("send_size", "Send size", uint64(p.SendSize))
		d.Fields.Uint("receive_size", "Receive size", uint64(p.ReceiveSize))
	}
	return ulp.Strong
}

// Message takes a message.
func (c *decoder) Message(m *ulp.Message, d *ulp.Description) ulp.Evidence {
	if !m.IsSend() {
		c.data(m, d)
		return ulp.None
	}
	e := judge(m)
	if e < ulp.None || len(m.Payload) < fixedLen {
		return e
	}
	h, n, err := ParseHeader(m.Payload)
	describeHeader(d, &h)
	c.inline(m)
	switch h.Proc {
	case ProcError:
		return max(e, c.failed(m, &h, d))
	case ProcDone:
		c.violation(m, "RDMA_DONE", "RDMA_DONE is sent, which is not to be used (RFC 8166, section 4.6.2)")
		if d != nil {
			d.Sayf("RPC RDMA_DONE xid 0x%08x", h.XID)
		}
		return e
	case ProcMsgP:
		c.violation(m, "RDMA_MSGP", "RDMA_MSGP is sent, which is not to be used (RFC 8166, section 4.6.1)")
	}
	var body []byte
	if err == nil && h.Proc != ProcNoMsg {
		body = m.Payload[n:]
	}
	call, known := IsCall(body)
	if !known {
		// The Payload stream is elsewhere, or cut: a call is what has a Read list,
		// and a reply must not (RFC 8166, section 4.3.1).
		call = h.Reads.Len() > 0 || c.t.Find(m.Side.Other(), uint64(h.XID)) == nil
	}
	if call {
		c.call(m, &h, body, d)
		return e
	}
	return max(e, c.reply(m, &h, body, d))
}

// call takes a call. Where its body is not there, it is known by name later, or
// never.
func (c *decoder) call(m *ulp.Message, h *Header, body []byte, d *ulp.Description) {
	c.calls[m.Side&1]++
	p := c.t.Begin(uint64(h.XID), OpUnknown, m)
	c.full[m.Side&1].Used(m, c.t.Outstanding(m.Side), int(c.granted[m.Side&1]))
	s := newState(c.losses, h.HasReply)
	for r := range h.Reads.All() {
		c.t.Expose(p, ulp.Buffer{STag: r.Handle, TO: r.Offset, Len: uint64(r.Length)})
	}
	for k := range h.Writes.All() {
		c.expose(p, k)
	}
	c.expose(p, h.Reply)
	p.Command.Fields.STag("xid", "XID", h.XID)
	p.State = uint64(s)
	if body == nil {
		if d != nil {
			d.Command = p.Command.Name
			d.Sayf("RPC call in a Read chunk of %d octets xid 0x%08x", h.Reads.Octets(), h.XID)
		}
		return
	}
	c.arguments(p, h, body, d)
}

func (c *decoder) expose(p *ulp.Pending, k WriteChunk) {
	for s := range k.All() {
		c.t.Expose(p, ulp.Buffer{STag: s.Handle, TO: s.Offset, Len: uint64(s.Length)})
	}
}

// arguments reads an RPC call, and says what it asks for.
func (c *decoder) arguments(p *ulp.Pending, h *Header, body []byte, d *ulp.Description) {
	rpc, n, err := ParseCall(body)
	if _, ok := err.(*FormatError); ok || len(body) < callMin-16 {
		return
	}
	s := state(p.State)
	s.set(rpc.Program, rpc.Version, rpc.Procedure)
	cmd := &p.Command
	cmd.Name = Name(rpc.Program, rpc.Version, rpc.Procedure)
	at, args, readable := Chunks{Base: n, Reads: h.Reads}, []byte(nil), err == nil
	if readable {
		args = body[n:]
		readable, args, at.Base = s.unwrap(&rpc, args, at.Base)
	}
	c.values = c.values[:0]
	compound, whole, subject := false, false, []Value(nil)
	switch {
	case !readable:
	case isCompound(rpc.Program, rpc.Version, rpc.Procedure):
		c.compound.Callback, c.compound.Reply = s.callback(), false
		if _, err := c.compound.Parse(args, at); err == nil {
			compound, cmd.Name, whole = true, c.compound.OpName(), c.compound.Whole()
			if j := c.compound.Subject(); j != nil {
				subject = j.Values
			}
		}
	default:
		c.values, whole = Args(c.values, rpc.Program, rpc.Version, rpc.Procedure, args, at)
		subject = c.values
	}
	p.State = uint64(s)
	if !s.known() {
		cmd.Fields.Uint("program", "Program", uint64(rpc.Program))
		cmd.Fields.Uint("version", "Version", uint64(rpc.Version))
		cmd.Fields.Uint("procedure", "Procedure", uint64(rpc.Procedure))
	}
	ask(cmd, subject)
	if d != nil {
		d.Command = cmd.Name
		c.describeCall(d, &rpc, compound, whole)
	}
}

// reply takes a reply.
func (c *decoder) reply(m *ulp.Message, h *Header, body []byte, d *ulp.Description) ulp.Evidence {
	client := m.Side.Other()
	p := c.t.Find(client, uint64(h.XID))
	c.granted[client&1] = min(h.Credits, maxCredits)
	if h.Reads.Len() > 0 {
		c.violation(m, "read list", "a reply has a Read list (RFC 8166, section 4.3.1)")
	}
	if p == nil {
		if d != nil {
			d.Sayf("RPC reply xid 0x%08x to a call that was not seen", h.XID)
		}
		return ulp.None
	}
	s := state(p.State)
	c.values = c.values[:0]
	o := outcome{op: p.Command.Name}
	if body != nil {
		o = c.results(p, h, body)
	} else if r, ok := s.outcome(); ok {
		// A Long Reply: it was written into the Reply chunk before.
		o.result, o.failed, o.known = r, s.failed(), true
	}
	if d != nil {
		d.Command = p.Command.Name
		c.describeReply(d, h, &o)
	}
	c.moved(m, p, h, &o)
	status := ulp.OK
	if o.failed {
		status = ulp.Failed
	}
	p.Mild = strings.HasSuffix(o.result, "_NOENT")
	c.t.Finish(p, m, status, o.result)
	c.full[client&1].Freed(c.h, m, c.t.Outstanding(client), int(min(h.Credits, maxCredits)))
	return ulp.Strong
}

// moved compares what RDMA moved with what the header of the reply says of it.
func (c *decoder) moved(m *ulp.Message, p *ulp.Pending, h *Header, o *outcome) {
	cmd := &p.Command
	written := h.Writes.Octets() + h.Reply.Octets()
	if o.hasData {
		cmd.Size = o.data
	}
	if written == 0 || state(p.State).losses() != c.losses&stateLossMask || cmd.Moved == written {
		return
	}
	c.event = ulp.Event{Kind: ulp.DataLength, Severity: ulp.Warning, Side: m.Side, N: m.N, At: m.Last, Command: cmd.Name,
		Value: cmd.Moved, Limit: written, HasValue: true,
		Detail: fmt.Sprintf("%d octets were moved for %s (#%d), whose reply says %d", cmd.Moved, cmd.Name, cmd.Request, written)}
	c.h.Event(&c.event)
}

// failed takes an RDMA_ERROR.
func (c *decoder) failed(m *ulp.Message, h *Header, d *ulp.Description) ulp.Evidence {
	name := ErrorName(h.Err)
	if d != nil {
		d.Sayf("RPC RDMA_ERROR %s xid 0x%08x", name, h.XID)
		d.Fields.Text("error", "Error", name)
	}
	p := c.t.Find(m.Side.Other(), uint64(h.XID))
	c.event = ulp.Event{Kind: ulp.ProtocolError, Severity: ulp.Error, Side: m.Side, N: m.N, At: m.Last,
		Detail: fmt.Sprintf("RDMA_ERROR %s for XID 0x%08x", name, h.XID)}
	if p != nil {
		c.event.Command = p.Command.Name
	}
	c.h.Event(&c.event)
	if p == nil {
		return ulp.None
	}
	if d != nil {
		d.Command = p.Command.Name
	}
	c.t.Finish(p, m, ulp.Failed, "RDMA_ERROR "+name)
	return ulp.Strong
}

// data takes a message that moves data.
func (c *decoder) data(m *ulp.Message, d *ulp.Description) {
	p := c.t.Data(m)
	if p == nil {
		return
	}
	s := state(p.State)
	switch {
	case m.Op == rdmap.OpReadResponse && !s.known() && xidOf(m.Payload) == uint32(p.ID):
		// The head of a call in a Position Zero Read chunk.
		if call, ok := IsCall(m.Payload); ok && call {
			c.arguments(p, &Header{XID: uint32(p.ID)}, m.Payload, nil)
		}
	case m.Op == rdmap.OpWrite && s.hasReply() && !s.answered() && xidOf(m.Payload) == uint32(p.ID):
		// The head of a reply in the Reply chunk.
		if call, ok := IsCall(m.Payload); ok && !call {
			o := c.results(p, &Header{}, m.Payload)
			s.answer(&o)
			p.State = uint64(s)
		}
	}
	if d != nil {
		d.Command = p.Command.Name
		d.Sayf("data of %s (#%d)", p.Command.Name, p.Command.Request)
		d.Fields.STag("xid", "XID", uint32(p.ID))
		d.Fields.Uint("request_n", "Call", uint64(p.Command.Request))
	}
}

func xidOf(b []byte) uint32 {
	c := cursor{b: b}
	return c.word()
}

// inline checks the length of a Send against what both ends said of themselves
// (RFC 8797, section 4.2).
func (c *decoder) inline(m *ulp.Message) {
	if !c.has[0] || !c.has[1] {
		return
	}
	if limit := min(c.private[m.Side&1].SendSize, c.private[m.Side.Other()&1].ReceiveSize); m.Size > uint64(limit) {
		c.violation(m, "inline threshold", fmt.Sprintf("a Send has %d octets, more than the inline threshold of %d (RFC 8797, section 4.2)", m.Size, limit))
	}
}

// violation tells of a rule that is broken, the first time.
func (c *decoder) violation(m *ulp.Message, rule, detail string) {
	if c.broke[rule] {
		return
	}
	c.broke[rule] = true
	c.event = ulp.Event{Kind: ulp.ProtocolViolation, Severity: ulp.Warning, Side: m.Side, N: m.N, At: m.Last, Detail: detail}
	c.h.Event(&c.event)
}

// Lost tells that messages of a side may be missing.
func (c *decoder) Lost(side ulp.Side) {
	c.losses++
	c.t.Lost(side)
}

// End takes the end of the QP.
func (c *decoder) End(at mpa.Stamp) {
	for i := range c.full {
		c.full[i].End(c.h, ulp.Side(i), at)
	}
	c.t.End(at)
}

// Summary adds what can be said of the QP as a whole.
func (c *decoder) Summary(f *ulp.Fields) {
	client := 0
	if c.calls[1] > c.calls[0] {
		client = 1
	}
	f.Uint("calls", "Calls", c.calls[client])
	f.Uint("credits", "Credits granted last", uint64(c.granted[client]))
	if n := c.calls[1-client]; n > 0 {
		f.Uint("reverse_calls", "Calls of the server (RFC 8167)", n)
	}
	if c.has[0] && c.has[1] {
		f.Bool("remote_invalidation", "Remote invalidation", c.private[0].RemoteInvalidation && c.private[1].RemoteInvalidation)
		f.Uint("inline_call", "Octets of a call inline", uint64(min(c.private[client].SendSize, c.private[1-client].ReceiveSize)))
		f.Uint("inline_reply", "Octets of a reply inline", uint64(min(c.private[1-client].SendSize, c.private[client].ReceiveSize)))
	}
}
