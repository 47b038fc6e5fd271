package smbdirect

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/ulp"
)

// maxCompound is how many compounded commands of a message are read.
const maxCompound = 32

// message takes an upper-layer message, whose last fragment is in m.
func (c *decoder) message(m *ulp.Message, msg *Message, d *ulp.Description) ulp.Evidence {
	b := msg.Data
	switch FormOf(b) {
	case FormEncrypted:
		if d != nil {
			h, _, _ := ParseEncrypted(b)
			d.Sayf("SMB3 encrypted %d octets session 0x%016x", msg.Size, h.SessionID)
			d.Fields.Bool("encrypted", "Encrypted", true)
			d.Fields.TO("session_id", "SessionId", h.SessionID)
			d.Fields.Uint("original_size", "OriginalMessageSize", uint64(h.OriginalSize))
		}
		return ulp.None
	case FormCompressed:
		if d != nil {
			h, _, _ := ParseCompressed(b)
			d.Sayf("SMB3 compressed (%s) %d octets, %d uncompressed", h.AlgorithmName(), msg.Size, h.OriginalSize)
			d.Fields.Bool("compressed", "Compressed", true)
			d.Fields.Text("algorithm", "CompressionAlgorithm", h.AlgorithmName())
			d.Fields.Uint("original_size", "OriginalCompressedSegmentSize", uint64(h.OriginalSize))
		}
		return ulp.None
	case FormPlain:
	default:
		if d != nil {
			d.Sayf("SMB Direct data of %d octets, not SMB 2", msg.Size)
		}
		return ulp.None
	}
	// A request begins with its first fragment, and a reply ends with its last.
	begin, end := *m, *m
	if msg.Fragments > 1 {
		first := &c.side[m.Side&1].first
		begin.N, begin.First, end.First = first.N, first.First, first.First
	}
	if d != nil {
		d.Fields.Uint("fragments", "Fragments", uint64(msg.Fragments))
		d.Fields.Uint("message_size", "Message size", msg.Size)
		d.Fields.OpenList("commands", "SMB 2 commands")
	}
	e := ulp.None
	for i := range maxCompound {
		h, _, err := ParseHeader(b)
		if err != nil {
			if d != nil && i > 0 {
				d.Say(", …")
			}
			break
		}
		if d != nil && i > 0 {
			d.Say(", ")
		}
		own := b
		if h.Next > 0 && uint64(h.Next) < uint64(len(b)) {
			own = b[:h.Next]
		}
		if h.Response() {
			e = max(e, c.response(&end, &h, own, d))
		} else {
			c.ask(&begin, &h, own, d)
		}
		if h.Next == 0 {
			break
		}
		if h.Next < HeaderLen || uint64(h.Next) >= uint64(len(b)) {
			if d != nil {
				d.Say(", …")
			}
			break
		}
		b = b[h.Next:]
	}
	if d != nil {
		d.Fields.Close()
	}
	return e
}

// losses is kept in the State of a Pending, with this.
const stateChannel = 1 << 63

// ask takes a request.
func (c *decoder) ask(m *ulp.Message, h *Header, b []byte, d *ulp.Description) {
	r, err := ParseRequest(h.Command, b)
	if d != nil {
		if d.Command == "" {
			d.Command = h.Command.Op()
		}
		describeRequest(d, h, &r, err == nil)
	}
	if h.Command == Cancel {
		c.cancel(m, h)
		return
	}
	p := c.t.Begin(h.MessageID, h.Command.Op(), m)
	p.Quiet = h.Command == ChangeNotify // it may wait as long as it likes
	p.State = c.losses &^ stateChannel
	cmd := &p.Command
	cmd.Fields.Uint("message_id", "MessageId", h.MessageID)
	cmd.Fields.TO("session_id", "SessionId", h.SessionID)
	if !h.Async() {
		cmd.Fields.STag("tree_id", "TreeId", h.TreeID)
	}
	if err != nil {
		return
	}
	if r.HasName && (h.Command == Create || h.Command == TreeConnect) {
		cmd.Fields.Text("name", "Name", r.Name.String())
	}
	if h.Command == Read || h.Command == Write {
		cmd.Size = uint64(r.Length)
		cmd.Fields.Uint("offset", "Offset", r.Offset)
		cmd.Fields.Uint("length", "Length", uint64(r.Length))
		if r.Channel != ChannelNone {
			p.State |= stateChannel
			cmd.Fields.Text("channel", "Channel", ChannelName(r.Channel))
		}
		c.expose(p, r.Descriptors)
	}
}

// cancel takes a CANCEL, which has no reply of its own.
func (c *decoder) cancel(m *ulp.Message, h *Header) {
	c.event = ulp.Event{Kind: ulp.CommandAborted, Severity: ulp.Info, Side: m.Side, N: m.N, At: m.Last, Detail: "a command is cancelled"}
	if p := c.t.Find(m.Side, h.MessageID); p != nil {
		c.event.Command = p.Command.Name
		c.event.Detail = fmt.Sprintf("%s (#%d) is cancelled", p.Command.Name, p.Command.Request)
	}
	c.h.Event(&c.event)
}

// response takes a response.
func (c *decoder) response(m *ulp.Message, h *Header, b []byte, d *ulp.Description) ulp.Evidence {
	failed := Failed(h.Command, h.Status)
	var r Response
	has := false
	// What is not a success has an error body, but for READ and some that are cut
	// to fit, whose count is where it always is.
	if !failed && !h.Pending() && h.Command.Known() && (h.Status == 0 || h.Command == Read) {
		var err error
		r, err = ParseResponse(h.Command, b)
		has = err == nil
	}
	if h.Command == Negotiate && has {
		c.dialect = r.Dialect
	}
	if d != nil {
		if d.Command == "" {
			d.Command = h.Command.Op()
		}
		describeResponse(d, h, &r, has)
	}
	if h.MessageID == Unsolicited {
		return ulp.Strong // the break of an oplock, or a notification
	}
	p := c.t.Find(m.Side.Other(), h.MessageID)
	if p == nil {
		return ulp.None
	}
	if h.Pending() {
		return ulp.Strong
	}
	cmd := &p.Command
	if has && r.HasCount {
		cmd.Size = uint64(r.Count)
		c.moved(m, p, uint64(r.Count))
	}
	status, result := ulp.OK, ""
	if h.Status != 0 {
		result = StatusName(h.Status)
	}
	if failed {
		status = ulp.Failed
	}
	c.t.Finish(p, m, status, result)
	return ulp.Strong
}

// moved compares what RDMA moved for a READ or WRITE with what its response
// says.
func (c *decoder) moved(m *ulp.Message, p *ulp.Pending, count uint64) {
	cmd := &p.Command
	if p.State&stateChannel == 0 || p.State&^stateChannel != c.losses&^stateChannel || cmd.Moved == count || cmd.PartCount > ulp.MaxParts {
		return
	}
	c.event = ulp.Event{Kind: ulp.DataLength, Severity: ulp.Warning, Side: m.Side, N: m.N, At: m.Last, Command: cmd.Name,
		Value: cmd.Moved, Limit: count, HasValue: true,
		Detail: fmt.Sprintf("%d octets were moved for %s (#%d), whose response says %d", cmd.Moved, cmd.Name, cmd.Request, count)}
	c.h.Event(&c.event)
}
