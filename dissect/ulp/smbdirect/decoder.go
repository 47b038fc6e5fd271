package smbdirect

import (
	"fmt"
	"math/bits"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/ulp"
)

// OpNegotiate names the negotiation of SMB Direct itself.
const OpNegotiate = "smbdirect.negotiate"

// A decoder follows one QP.
type decoder struct {
	h    ulp.Handler
	t    *ulp.Tracker
	side [2]half

	losses  uint64 // counts
	dialect uint16 // that was negotiated, 0 where that was not seen
	forms   [5]uint64
	request NegotiateRequest
	reply   NegotiateResponse
	seen    bool // both of them
	broke   map[string]bool
	event   ulp.Event
}

// A half is one direction.
type half struct {
	r     Reassembler
	first ulp.Message // of the message whose fragments come; without payload

	// Credits that it has, where known is set.
	known   bool
	credits int
	target  int // that it asks for
	full    ulp.Exhaustion
}

func newDecoder(h ulp.Handler) *decoder {
	return &decoder{h: h, t: ulp.NewTracker(h), broke: map[string]bool{}}
}

// Startup takes a startup frame.
func (c *decoder) Startup(s *ulp.Startup, d *ulp.Description) ulp.Evidence {
	e := private(s)
	if e > ulp.None && d != nil {
		p, _ := ParsePrivateData(s.Private)
		d.Sayf("SMB Direct IRD %d ORD %d", p.IRD, p.ORD)
		d.Fields.Uint("ird", "IRD", uint64(p.IRD)).In(0, 4)
		d.Fields.Uint("ord", "ORD", uint64(p.ORD)).In(4, 4)
		if p.LittleEndian {
			d.Say(" in the wrong octet order")
			d.Fields.Bool("little_endian", "Little-endian, where it should be in network order", true)
		}
	}
	return e
}

// Message takes a message.
func (c *decoder) Message(m *ulp.Message, d *ulp.Description) ulp.Evidence {
	if !m.IsSend() {
		c.data(m, d)
		return ulp.None
	}
	e := judge(m)
	if e < ulp.None || len(m.Payload) < TransferLen {
		return e
	}
	s := &c.side[m.Side&1]
	switch {
	case isRequest(m):
		c.negotiate(m, d)
		return e
	case isResponse(m):
		c.negotiated(m, d)
		return e
	}
	t, data, err := ParseTransfer(m.Payload)
	c.count(m, &t)
	describeTransfer(d, &t)
	if err != nil {
		data = nil
	}
	if t.DataLength == 0 {
		if d != nil {
			d.Sayf("SMB Direct credits %d asked %d granted", t.CreditsRequested, t.CreditsGranted)
			if t.Flags&FlagResponseRequested != 0 {
				d.Say(", keep-alive")
			}
		}
		return e
	}
	if _, n := s.r.Waiting(); n == 0 {
		s.begin(m)
	}
	msg, done := s.r.Add(&t, data)
	if !done {
		if _, n := s.r.Waiting(); n == 1 {
			s.begin(m)
		}
		if d != nil {
			d.Sayf("SMB Direct fragment of %d octets, %d to come", t.DataLength, t.Remaining)
		}
		return e
	}
	c.forms[FormOf(msg.Data)]++
	return max(e, c.message(m, &msg, d))
}

// begin notes the message that holds the first fragment.
func (s *half) begin(m *ulp.Message) {
	s.first = *m
	s.first.Payload = nil
}

// negotiate takes a negotiate request.
func (c *decoder) negotiate(m *ulp.Message, d *ulp.Description) {
	r, _, err := ParseNegotiateRequest(m.Payload)
	if err != nil {
		return
	}
	c.request = r
	c.t.Begin(negotiateID, OpNegotiate, m)
	for i := range c.side {
		c.side[i].known, c.side[i].credits = true, 0
	}
	if d != nil {
		d.Command = OpNegotiate
		d.Sayf("SMB Direct Negotiate Request credits %d send %d receive %d fragmented %d", r.CreditsRequested, r.PreferredSendSize, r.MaxReceiveSize, r.MaxFragmentedSize)
		f := &d.Fields
		f.Hex("min_version", "MinVersion", uint64(r.MinVersion), 4).In(0, 2)
		f.Hex("max_version", "MaxVersion", uint64(r.MaxVersion), 4).In(2, 2)
		f.Uint("credits_requested", "CreditsRequested", uint64(r.CreditsRequested)).In(6, 2)
		f.Uint("preferred_send_size", "PreferredSendSize", uint64(r.PreferredSendSize)).In(8, 4)
		f.Uint("max_receive_size", "MaxReceiveSize", uint64(r.MaxReceiveSize)).In(12, 4)
		f.Uint("max_fragmented_size", "MaxFragmentedSize", uint64(r.MaxFragmentedSize)).In(16, 4)
	}
}

// negotiateID is the id of the negotiation among those of SMB 2, of which no
// request has it.
const negotiateID = Unsolicited

// negotiated takes a negotiate response.
func (c *decoder) negotiated(m *ulp.Message, d *ulp.Description) {
	r, _, err := ParseNegotiateResponse(m.Payload)
	if err != nil {
		return
	}
	c.reply, c.seen = r, true
	c.grant(m, int(r.CreditsGranted))
	if p := c.t.Find(m.Side.Other(), negotiateID); p != nil {
		status, result := ulp.OK, ""
		if r.Status != 0 {
			status, result = ulp.Failed, StatusName(r.Status)
		}
		c.t.Finish(p, m, status, result)
	}
	if d != nil {
		d.Command = OpNegotiate
		d.Sayf("SMB Direct Negotiate Response %s credits %d granted, send %d receive %d read/write %d", StatusName(r.Status), r.CreditsGranted, r.PreferredSendSize, r.MaxReceiveSize, r.MaxReadWriteSize)
		f := &d.Fields
		f.Hex("min_version", "MinVersion", uint64(r.MinVersion), 4).In(0, 2)
		f.Hex("max_version", "MaxVersion", uint64(r.MaxVersion), 4).In(2, 2)
		f.Hex("negotiated_version", "NegotiatedVersion", uint64(r.Version), 4).In(4, 2)
		f.Uint("credits_requested", "CreditsRequested", uint64(r.CreditsRequested)).In(8, 2)
		f.Uint("credits_granted", "CreditsGranted", uint64(r.CreditsGranted)).In(10, 2)
		f.Hex("status", "Status", uint64(r.Status), 8).As(StatusName(r.Status)).In(12, 4)
		f.Uint("max_read_write_size", "MaxReadWriteSize", uint64(r.MaxReadWriteSize)).In(16, 4)
		f.Uint("preferred_send_size", "PreferredSendSize", uint64(r.PreferredSendSize)).In(20, 4)
		f.Uint("max_receive_size", "MaxReceiveSize", uint64(r.MaxReceiveSize)).In(24, 4)
		f.Uint("max_fragmented_size", "MaxFragmentedSize", uint64(r.MaxFragmentedSize)).In(28, 4)
	}
}

// count takes the credits of a data transfer: it uses one of its side, and may
// grant some to the other (MS-SMBD, section 3.1.5.8).
func (c *decoder) count(m *ulp.Message, t *Transfer) {
	s := &c.side[m.Side&1]
	s.target = int(t.CreditsRequested)
	if s.known {
		if s.credits == 0 {
			// Grants cross with what is sent: the peer's may be on its way.
			s.known = false
			c.violation(m, "credits", "a message is sent without a credit that was seen to be granted (MS-SMBD, section 3.1.5.1)")
		} else if s.credits--; s.credits == 0 {
			s.full.Used(m, s.target, s.target)
		}
	}
	c.grant(m, int(t.CreditsGranted))
}

// grant takes credits that m grants to the peer of its side.
func (c *decoder) grant(m *ulp.Message, n int) {
	s := &c.side[m.Side.Other()&1]
	if n == 0 {
		return
	}
	s.credits += n
	s.full.Freed(c.h, m, max(s.target, n)-n, max(s.target, n))
}

// data takes a message that moves data.
func (c *decoder) data(m *ulp.Message, d *ulp.Description) {
	p := c.t.Data(m)
	if p == nil || d == nil {
		return
	}
	d.Command = p.Command.Name
	d.Sayf("data of %s (#%d)", p.Command.Name, p.Command.Request)
	d.Fields.Uint("message_id", "MessageId", p.ID)
	d.Fields.Uint("request_n", "Request", uint64(p.Command.Request))
}

// expose notes the buffer descriptors of a request.
func (c *decoder) expose(p *ulp.Pending, l Descriptors) {
	for d := range l.All() {
		// See Descriptor.Names.
		c.t.Expose(p, ulp.Buffer{STag: d.Token, TO: d.Offset, Len: uint64(d.Length)})
		if s := bits.ReverseBytes32(d.Token); s != d.Token {
			c.t.Expose(p, ulp.Buffer{STag: s, TO: d.Offset, Len: uint64(d.Length)})
		}
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
	c.side[side&1].r.Reset()
	for i := range c.side {
		c.side[i].known = false
	}
	c.t.Lost(side)
}

// End takes the end of the QP.
func (c *decoder) End(at mpa.Stamp) {
	for i := range c.side {
		c.side[i].full.End(c.h, ulp.Side(i), at)
	}
	c.t.End(at)
}

// Summary adds what can be said of the QP as a whole.
func (c *decoder) Summary(f *ulp.Fields) {
	if c.dialect != 0 {
		f.Text("dialect", "Dialect", DialectName(c.dialect))
	}
	if c.seen {
		f.Uint("max_read_write_size", "Octets of a buffer descriptor", uint64(c.reply.MaxReadWriteSize))
		f.Uint("max_fragmented_size", "Octets of a fragmented message", uint64(min(c.request.MaxFragmentedSize, c.reply.MaxFragmentedSize)))
	}
	for i, n := range c.forms {
		if n > 0 {
			f.Uint("messages_"+Form(i).String(), "Messages, "+Form(i).String(), n)
		}
	}
}

// DialectName is a dialect as people write it: "3.1.1".
func DialectName(v uint16) string {
	switch v {
	case 0x0202:
		return "2.0.2"
	case 0x0210:
		return "2.1"
	case 0x0300:
		return "3.0"
	case 0x0302:
		return "3.0.2"
	case 0x0311:
		return "3.1.1"
	}
	return fmt.Sprintf("0x%04x", v)
}
