package report

import (
	"strings"
	"testing"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/qp"
)

// tree is the tree of a message, without the indent.
func tree(t *testing.T, fpdus []*qp.FPDU, m *qp.Message) []string {
	t.Helper()
	got := listing(t, TextOptions{Tree: true}, func(x *Text) {
		for _, f := range fpdus {
			x.FPDU(f)
		}
		x.Message(m)
	})
	var lines []string
	for line := range strings.Lines(got) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// has checks that lines stand in a tree, in this order.
func has(t *testing.T, lines []string, want ...string) {
	t.Helper()
	at := 0
	for _, w := range want {
		k := at
		for k < len(lines) && lines[k] != w {
			k++
		}
		if k == len(lines) {
			t.Errorf("%q is not there, or not in its place, in\n%s", w, strings.Join(lines, "\n"))
			return
		}
		at = k + 1
	}
}

// Every field of an FPDU, and where it stands: the octets of the vector.
func TestTreeFPDU(t *testing.T) {
	m := message(t, sendPad3)
	has(t, tree(t, []*qp.FPDU{fpdu(t, sendPad3, m)}, m),
		"First octet: 2026-12-01T06:25:19.004512345Z",
		"FPDU at TCP sequence number 4026464814 (RFC 5044, section 4), frames 12 to 12, found by start",
		"ULPDU_Length: 19  [0-1]",
		"0... .... = T, tagged: false  [2]",
		".1.. .... = L, last of its message: true  [2]",
		"..00 00.. = Reserved: 0  [2]",
		".... ..01 = DV, version: 1  [2]",
		"01.. .... = RV, version: 1  [3]",
		"..00 .... = Reserved: 0  [3]",
		".... 0011 = Opcode: Send (3)  [3]",
		"RsvdULP: 0x00000000  [4-7]",
		"Queue number: 0  [8-11]",
		"Message sequence number: 4  [12-15]",
		"Message offset: 0  [16-19]",
		"Behind the DDP header: 1 octet  [20]",
		"PAD: 3 octets  [21-23]",
		"CRC32c: 0x1826dd6d, ok  [24-27]",
		"Payload: 1 octet, all segments together")
}

func TestTreeCRC(t *testing.T) {
	for _, c := range []struct {
		crc  mpa.CRC
		want string
	}{
		{mpa.CRCBad, "CRC32c: 0x1826dd6d, BAD, should be 0x01020304  [24-27]"},
		{mpa.CRCOff, "CRC32c: not in use  [24-27]"},
		{mpa.CRCUnchecked, "CRC32c: not checked, since not every octet was captured  [24-27]"},
	} {
		m := message(t, sendPad3)
		f := fpdu(t, sendPad3, m)
		f.CRC, f.CRCCalc = c.crc, 0x01020304
		has(t, tree(t, []*qp.FPDU{f}, m), c.want)
	}
}

func TestTreeMessages(t *testing.T) {
	has(t, tree(t, nil, message(t, readRequestV)),
		"Sink STag: 0x00000501  [20-23]", "Sink tagged offset: 0x00007f0000001000  [24-31]", "RDMA Read size: 4096  [32-35]",
		"Source STag: 0x00000a02  [36-39]", "Source tagged offset: 0x0000000000010000  [40-47]")
	has(t, tree(t, nil, message(t, immediateV)), "Data: 0011223344556677  [20-27]")
	has(t, tree(t, nil, message(t, atomicReqV)),
		"Atomic operation: cmp_swap (2)  [23]", "Request Identifier: 0x00000012  [24-27]", "Remote STag: 0x00000a02  [28-31]",
		"Remote tagged offset: 0x0000000000020008  [32-39]", "Add or Swap Data: 0x0000000000001111  [40-47]", "Add or Swap Mask: 0xffffffffffffffff  [48-55]",
		"Compare Data: 0x0000000000002222  [56-63]", "Compare Mask: 0xffffffffffffffff  [64-71]")
	has(t, tree(t, nil, message(t, terminateV)),
		"Layer: RDMAP (0)  [20]", "Error type: Remote Protection Error (1)  [20]", "Error code: Access rights violation (0x02)  [21]",
		"DDP Segment Length: 46  [24-25]", "Terminated DDP header", "Queue number: 1  [32-35]", "Message sequence number: 7  [36-39]",
		"Terminated RDMA header", "Sink STag: 0x00000501  [44-47]", "RDMA Read size: 8192  [56-59]", "Source STag: 0xbad00002  [60-63]")
	has(t, tree(t, nil, startupMessage(t, mpaReqV2)),
		"Key: MPA ID Req Frame  [0-15]", "0... .... = M, Markers wanted: false  [16]", ".1.. .... = C, CRC wanted: true  [16]",
		"..0. .... = R, rejected: false  [16]", "...1 .... = S, enhanced (RFC 6581): true  [16]", "Revision: 2  [17]", "PD_Length: 36  [18-19]",
		"1... .... = A, peer-to-peer: true  [20]", ".0.. .... = B, Send as RTR: false  [20]", "IRD: 32  [20-21]",
		"1... .... = C, Write as RTR: true  [22]", ".1.. .... = D, Read as RTR: true  [22]", "ORD: 32  [22-23]", "Private data: 32 octets  [24-55]",
		"0000  00 00 01 00 80 00 7f 00  00 00 00 00 00 00 00 00  ................")
}

// A message shows its own FPDUs, also where another is open on the same
// direction, and they are forgotten then.
func TestTreeInterleaved(t *testing.T) {
	var out strings.Builder
	x := NewText(&out, TextOptions{Tree: true})
	m := message(t, sendPad3)
	other := message(t, sendPad1)
	mine, others := fpdu(t, sendPad3, m), fpdu(t, sendPad1, other)
	others.Off = m.Off + 8
	m.End += 100
	x.FPDU(mine)
	x.FPDU(others)
	x.Message(m)
	check(t, x.Flush())
	if n := strings.Count(out.String(), "FPDU at TCP"); n != 1 || !strings.Contains(out.String(), "ULPDU_Length: 19 ") {
		t.Errorf("%d FPDUs in\n%s", n, out.String())
	}
	if x.fpdus.n != 1 {
		t.Errorf("%d are kept, want that of the other message", x.fpdus.n)
	}
	x.QP(&qp.Summary{Conn: conn})
	if x.fpdus.n != 0 || len(x.fpdus.sides) != 0 {
		t.Errorf("%d are kept of a QP that has ended", x.fpdus.n)
	}
}

// FPDUs whose message never comes do not fill the memory.
func TestTreeBounded(t *testing.T) {
	var s fpduStore
	m := message(t, sendPad1)
	f := fpdu(t, sendPad1, m)
	for n := range 4 * maxStreamFPDUs {
		f.Off = m.Off + uint64(n)
		s.add(f)
	}
	if s.n != maxStreamFPDUs {
		t.Errorf("%d are kept of one direction, want %d", s.n, maxStreamFPDUs)
	}
	m.FPDUs, m.End = 4*maxStreamFPDUs, m.Off+4*maxStreamFPDUs
	fpdus, left := s.take(m)
	if len(fpdus) != maxStreamFPDUs || left != 3*maxStreamFPDUs || s.n != 0 {
		t.Errorf("%d came, %d were left, %d are kept", len(fpdus), left, s.n)
	}
	for range 2 * maxStoreFPDUs / 4 {
		f.Conn = &qp.Conn{}
		for range 4 {
			s.add(f)
		}
	}
	if s.n != maxStoreFPDUs {
		t.Errorf("%d are kept of all, want %d", s.n, maxStoreFPDUs)
	}
}
