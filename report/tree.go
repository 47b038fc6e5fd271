package report

import (
	"fmt"
	"strings"

	"github.com/iwdump/iwdump/dissect/ddp"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/qp"
)

// line appends a line of a tree: depth, the octets it stands in (of its frame
// or FPDU, counted from ULPDU_Length; negative where it has none), and text.
func (t *Text) line(depth, from, n int, format string, a ...any) {
	t.b = append(t.b, strings.Repeat("    ", depth+2)...)
	text := fmt.Sprintf(format, a...)
	t.safe(text)
	if from >= 0 {
		t.color(colorDim)
		if n == 1 {
			t.b = fmt.Appendf(t.b, "  [%d]", from)
		} else {
			t.b = fmt.Appendf(t.b, "  [%d-%d]", from, from+n-1)
		}
		t.color(colorReset)
	}
	t.b = append(t.b, '\n')
}

// bits appends a field of an octet in the way of tshark: its place, its name.
func (t *Text) bits(depth, at int, octet, mask uint8, name string, value any) {
	var pic [9]byte
	for i, k := 0, 0; i < 8; i, k = i+1, k+1 {
		if i == 4 {
			pic[k] = ' '
			k++
		}
		switch bit := uint8(0x80) >> i; {
		case mask&bit == 0:
			pic[k] = '.'
		case octet&bit != 0:
			pic[k] = '1'
		default:
			pic[k] = '0'
		}
	}
	t.line(depth, at, 1, "%s = %s: %v", pic[:], name, value)
}

// tree appends every header field of a message.
func (t *Text) tree(m *qp.Message) {
	t.line(0, -1, 0, "Frames: %d to %d, %s to %s, sent by the %s", m.First.Frame, m.Last.Frame, m.Conn.Text[m.Side], m.Conn.Text[m.Side.Other()], m.From)
	t.line(0, -1, 0, "First octet: %s", t.clock.append(nil, m.First.Time))
	t.line(0, -1, 0, "Last octet: %s", t.clock.append(nil, m.Last.Time))
	t.line(0, -1, 0, "Stream: octets %d to %d", m.Off, m.End-1)
	if m.Startup != nil {
		t.startupTree(m.Startup)
		t.ulpTree(m.ULP, 20+m.Startup.PDLength-len(m.Startup.Private))
		return
	}
	t.line(0, -1, 0, "MPA: %s, CRC %s, every octet captured: %v, sent again: %v", count(uint64(m.FPDUs), "FPDU"), m.CRC, m.Complete, m.Retrans)
	if fpdus, left := t.fpdus.take(m); len(fpdus) > 0 {
		for i := range fpdus {
			t.fpduTree(&fpdus[i])
		}
		if left > 0 {
			t.line(0, -1, 0, "%s %d more FPDUs are not kept", t.dots, left)
		}
	} else {
		t.headerTree(0, 2, &m.Header)
	}
	at := 2 + m.Header.Len()
	switch {
	case m.Read != nil:
		t.line(0, -1, 0, "RDMA Read Request (RFC 5040, section 4.4)")
		t.readTree(1, at, m.Read)
	case m.Terminate != nil:
		t.terminateTree(at, m.Terminate)
	case m.Immediate != nil:
		t.line(0, -1, 0, "Immediate Data (RFC 7306, section 6)")
		t.line(1, at, 8, "Data: %x", m.Immediate.Data)
	case m.AtomicReq != nil:
		t.atomicTree(at, m.AtomicReq)
	case m.AtomicRsp != nil:
		t.line(0, -1, 0, "Atomic Response (RFC 7306, section 5.2.2)")
		t.line(1, at, 4, "Original Request Identifier: 0x%08x", m.AtomicRsp.ID)
		t.line(1, at+4, 8, "Original Remote Data Value: 0x%016x", m.AtomicRsp.Original)
	default:
		t.line(0, -1, 0, "Payload: %s, all segments together", count(m.Size, "octet"))
	}
	if m.FPDUs > 1 {
		at = -1 // it is spread over several
	}
	t.ulpTree(m.ULP, at)
}

func (t *Text) startupTree(s *mpa.Startup) {
	key, name := mpa.RequestKey, "Request"
	if s.Reply {
		key, name = mpa.ReplyKey, "Reply"
	}
	flags := s.Append(nil)[16]
	t.line(0, -1, 0, "MPA %s Frame (RFC 5044, section 7.1.1)", name)
	t.line(1, 0, 16, "Key: %s", key)
	t.bits(1, 16, flags, 0x80, "M, Markers wanted", s.Markers)
	t.bits(1, 16, flags, 0x40, "C, CRC wanted", s.CRC)
	t.bits(1, 16, flags, 0x20, "R, rejected", s.Reject)
	t.bits(1, 16, flags, 0x10, "S, enhanced (RFC 6581)", s.Enhanced)
	t.bits(1, 16, flags, 0x0F, "Reserved", s.Reserved)
	t.line(1, 17, 1, "Revision: %d", s.Revision)
	t.line(1, 18, 2, "PD_Length: %d", s.PDLength)
	at := 20
	if s.HasEnhanced() {
		hi, lo := uint8(0), uint8(0)
		for _, f := range [...]struct {
			on  bool
			p   *uint8
			bit uint8
		}{{s.PeerToPeer, &hi, 0x80}, {s.SendRTR, &hi, 0x40}, {s.WriteRTR, &lo, 0x80}, {s.ReadRTR, &lo, 0x40}} {
			if f.on {
				*f.p |= f.bit
			}
		}
		t.line(1, -1, 0, "Enhanced connection setup (RFC 6581, section 9)")
		t.bits(2, 20, hi, 0x80, "A, peer-to-peer", s.PeerToPeer)
		t.bits(2, 20, hi, 0x40, "B, Send as RTR", s.SendRTR)
		t.line(2, 20, 2, "IRD: %s", depth(s.IRD))
		t.bits(2, 22, lo, 0x80, "C, Write as RTR", s.WriteRTR)
		t.bits(2, 22, lo, 0x40, "D, Read as RTR", s.ReadRTR)
		t.line(2, 22, 2, "ORD: %s", depth(s.ORD))
		at = 24
	}
	if len(s.Private) > 0 {
		t.line(1, at, len(s.Private), "Private data: %s", count(uint64(len(s.Private)), "octet"))
		t.b = appendDump(t.b, strings.Repeat("    ", 4), s.Private)
	}
}

// headerTree appends a DDP header with its RDMAP control octet; at is where it
// begins.
func (t *Text) headerTree(depth, at int, h *ddp.Header) {
	octets := h.Append(nil)
	kind := "untagged"
	if h.Tagged {
		kind = "tagged"
	}
	t.line(depth, -1, 0, "DDP, %s (RFC 5041, section 4)", kind)
	t.bits(depth+1, at, octets[0], 0x80, "T, tagged", h.Tagged)
	t.bits(depth+1, at, octets[0], 0x40, "L, last of its message", h.Last)
	t.bits(depth+1, at, octets[0], 0x3C, "Reserved", h.Reserved)
	t.bits(depth+1, at, octets[0], 0x03, "DV, version", h.Version)
	c := rdmap.ParseControl(h.ULPControl)
	t.line(depth+1, -1, 0, "RDMAP control (RFC 5040, section 4.1)")
	t.bits(depth+2, at+1, octets[1], 0xC0, "RV, version", c.Version)
	t.bits(depth+2, at+1, octets[1], 0x30, "Reserved", c.Reserved)
	t.bits(depth+2, at+1, octets[1], 0x0F, "Opcode", fmt.Sprintf("%s (%d)", c.Op.Title(), c.Op))
	if h.Tagged {
		t.line(depth+1, at+2, 4, "STag: 0x%08x", h.STag)
		t.line(depth+1, at+6, 8, "Tagged offset: 0x%016x", h.TO)
		return
	}
	if c.Op.Invalidates() {
		t.line(depth+1, at+2, 4, "Invalidate STag: 0x%08x", h.ULPWord)
	} else {
		t.line(depth+1, at+2, 4, "RsvdULP: 0x%08x", h.ULPWord)
	}
	t.line(depth+1, at+6, 4, "Queue number: %d", h.QN)
	t.line(depth+1, at+10, 4, "Message sequence number: %d", h.MSN)
	t.line(depth+1, at+14, 4, "Message offset: %d", h.MO)
}

func (t *Text) readTree(depth, at int, r *rdmap.ReadRequest) {
	t.line(depth, at, 4, "Sink STag: 0x%08x", r.SinkSTag)
	t.line(depth, at+4, 8, "Sink tagged offset: 0x%016x", r.SinkTO)
	t.line(depth, at+12, 4, "RDMA Read size: %d", r.Size)
	t.line(depth, at+16, 4, "Source STag: 0x%08x", r.SrcSTag)
	t.line(depth, at+20, 8, "Source tagged offset: 0x%016x", r.SrcTO)
}

func (t *Text) terminateTree(at int, m *rdmap.Terminate) {
	layer, etype, code := m.Names()
	t.line(0, -1, 0, "Terminate (RFC 5040, section 4.8)")
	if m.Swapped {
		t.line(1, -1, 0, "The control word is in the order of bits that Linux soft-iWARP writes, not in that of the RFC")
	}
	t.line(1, at, 1, "Layer: %s (%d)", layer, m.Layer)
	t.line(1, at, 1, "Error type: %s (%d)", etype, m.EType)
	t.line(1, at+1, 1, "Error code: %s (0x%02x)", code, m.Code)
	t.line(1, at+2, 1, "M, segment length is there: %v; D, DDP header: %v; R, RDMA header: %v", m.M, m.D, m.R)
	if !m.M && !m.D {
		return
	}
	t.line(1, at+4, 2, "DDP Segment Length: %d", m.SegmentLength)
	if !m.HasHeader {
		return
	}
	t.line(1, -1, 0, "Terminated DDP header")
	t.headerTree(2, at+6, &m.Header)
	if m.HasRead {
		t.line(1, -1, 0, "Terminated RDMA header")
		t.readTree(2, at+6+m.Header.Len(), &m.Read)
	}
}

func (t *Text) atomicTree(at int, a *rdmap.AtomicRequest) {
	t.line(0, -1, 0, "Atomic Request (RFC 7306, section 5.2.1)")
	t.line(1, at+3, 1, "Atomic operation: %s (%d)", a.Op, a.Op)
	t.line(1, at+4, 4, "Request Identifier: 0x%08x", a.ID)
	t.line(1, at+8, 4, "Remote STag: 0x%08x", a.STag)
	t.line(1, at+12, 8, "Remote tagged offset: 0x%016x", a.TO)
	t.line(1, at+20, 8, "Add or Swap Data: 0x%016x", a.Data)
	t.line(1, at+28, 8, "Add or Swap Mask: 0x%016x", a.Mask)
	t.line(1, at+36, 8, "Compare Data: 0x%016x", a.Compare)
	t.line(1, at+44, 8, "Compare Mask: 0x%016x", a.CompareMask)
}
