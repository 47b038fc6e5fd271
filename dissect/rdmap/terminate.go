package rdmap

import (
	"encoding/binary"
	"fmt"

	"github.com/iwdump/iwdump/dissect/ddp"
)

// A Terminate is a Terminate message (RFC 5040, section 4.8).
//
// Linux soft-iWARP writes the control word of it through bit-fields of the
// host, so that on little-endian machines Layer and EType change places, and M,
// D and R are the low bits of the third octet instead of the high ones. That is
// recognised where only that order makes sense; the meaning is the same, and
// Swapped says so. See Other for the rest. What it writes as
// DDP Segment Length is the length of the payload alone.
type Terminate struct {
	Layer, EType, Code uint8
	M, D, R            bool // DDP Segment Length, DDP header, RDMA header are there
	Swapped            bool
	SegmentLength      int // DDP Segment Length, octets
	HasHeader          bool
	Header             ddp.Header // of the segment that is blamed
	HasRead            bool
	Read               ReadRequest // of the Read Request that is blamed
}

// Layers (RFC 5040, section 4.8).
const (
	LayerRDMAP = 0
	LayerDDP   = 1
	LayerLLP   = 2
)

const (
	bitM = 0x80
	bitD = 0x40
	bitR = 0x20
	hdct = bitM | bitD | bitR
)

// ParseTerminate parses the Terminate in b and returns its length. It takes
// what is there: quoted headers that are cut off are left out. Less than the
// control word is ErrShort.
func ParseTerminate(b []byte) (t Terminate, n int, err error) {
	if len(b) < TerminateMin {
		return Terminate{}, 0, ErrShort
	}
	plain := Terminate{Layer: b[0] >> 4, EType: b[0] & 0xF, Code: b[1], M: b[2]&bitM != 0, D: b[2]&bitD != 0, R: b[2]&bitR != 0}
	swapped := Terminate{Layer: b[0] & 0xF, EType: b[0] >> 4, Code: b[1], M: b[2]&1 != 0, D: b[2]&2 != 0, R: b[2]&4 != 0, Swapped: true}
	t = plain
	switch {
	case b[2]&hdct != 0: // the RFC's order
	case b[2]&7 != 0: // reserved bits of the RFC, HdrCt of the other order
		t = swapped
	case !plain.defined() && swapped.defined():
		t = swapped
	}
	n = TerminateMin
	if !t.M && !t.D || len(b) < n+2 {
		return t, n, nil
	}
	t.SegmentLength = int(binary.BigEndian.Uint16(b[n:]))
	n += 2
	if !t.D {
		return t, n, nil
	}
	h, k, err := ddp.Parse(b[n:])
	if err != nil {
		return t, n, nil
	}
	t.Header, t.HasHeader = h, true
	n += k
	if !t.R || h.Tagged {
		return t, n, nil
	}
	r, k, err := ParseReadRequest(b[n:])
	if err != nil {
		return t, n, nil
	}
	t.Read, t.HasRead = r, true
	return t, n + k, nil
}

// Other returns the Terminate in the other order of bits, where that makes sense
// too: nothing in the message tells which is meant.
func (t *Terminate) Other() (Terminate, bool) {
	if t.M || t.D || t.R || t.Layer == t.EType {
		return Terminate{}, false
	}
	o := Terminate{Layer: t.EType, EType: t.Layer, Code: t.Code, Swapped: !t.Swapped}
	return o, o.defined()
}

// Append appends the message to b, in the order of bits that Swapped says. M, D
// and R say what is appended.
func (t Terminate) Append(b []byte) []byte {
	flags := uint8(0)
	for i, on := range [...]bool{t.M, t.D, t.R} {
		if on && t.Swapped {
			flags |= 1 << i
		} else if on {
			flags |= bitM >> i
		}
	}
	hi, lo := t.Layer, t.EType
	if t.Swapped {
		hi, lo = lo, hi
	}
	b = append(b, hi<<4|lo&0xF, t.Code, flags, 0)
	if t.M || t.D {
		b = binary.BigEndian.AppendUint16(b, uint16(t.SegmentLength))
	}
	if t.HasHeader {
		b = t.Header.Append(b)
	}
	if t.HasRead {
		b = t.Read.Append(b)
	}
	return b
}

// errorType is a layer and error type, with its codes.
type errorType struct {
	name  string
	codes map[uint8]string
	any   bool // the code has no meaning
}

// terminates names layers, types and codes: RFC 5040, section 4.8; RFC 5041,
// section 7.2 (with RFC 6580, section 3.2); RFC 5044, section 8; RFC 6581,
// section 8; RFC 7306, section 8.2.
var terminates = map[[2]uint8]errorType{
	{LayerRDMAP, 0}: {name: "Local Catastrophic Error", any: true},
	{LayerRDMAP, 1}: {name: "Remote Protection Error", codes: map[uint8]string{
		0x00: "Invalid STag", 0x01: "Base or bounds violation", 0x02: "Access rights violation",
		0x03: "STag not associated with RDMAP Stream", 0x04: "TO wrap", 0x09: "STag cannot be Invalidated", 0xFF: "Unspecified Error"}},
	{LayerRDMAP, 2}: {name: "Remote Operation Error", codes: map[uint8]string{
		0x05: "Invalid RDMAP version", 0x06: "Unexpected OpCode", 0x07: "Catastrophic error, localized to RDMAP Stream",
		0x08: "Catastrophic error, global", 0x09: "STag cannot be Invalidated", 0xFF: "Unspecified Error"}},
	{LayerDDP, 0}: {name: "Local Catastrophic Error", any: true},
	{LayerDDP, 1}: {name: "Tagged Buffer Error", codes: map[uint8]string{
		0x00: "Invalid STag", 0x01: "Base or bounds violation", 0x02: "STag not associated with DDP Stream",
		0x03: "TO wrap", 0x04: "Invalid DDP version"}},
	{LayerDDP, 2}: {name: "Untagged Buffer Error", codes: map[uint8]string{
		0x01: "Invalid QN", 0x02: "Invalid MSN - no buffer available", 0x03: "Invalid MSN - MSN range is not valid",
		0x04: "Invalid MO", 0x05: "DDP Message too long for available buffer", 0x06: "Invalid DDP version"}},
	{LayerDDP, 3}: {name: "Reserved for the LLP", any: true},
	{LayerLLP, 0}: {name: "MPA Error", codes: map[uint8]string{
		0x01: "TCP connection closed, terminated or lost", 0x02: "Received MPA CRC does not match the calculated value",
		0x03: "MPA Marker and ULPDU Length fields do not agree on the start of an FPDU", 0x04: "Invalid MPA Request or Reply Frame",
		0x05: "Local catastrophic error", 0x06: "Insufficient IRD resources", 0x07: "No matching RTR option"}},
}

var layerNames = [...]string{"RDMAP", "DDP", "LLP"}

// defined says that layer, type and code are in a registry.
func (t *Terminate) defined() bool {
	e, ok := terminates[[2]uint8{t.Layer, t.EType}]
	if !ok {
		return false
	}
	_, ok = e.codes[t.Code]
	return ok || e.any
}

// Names returns layer, error type and error code in the RFCs' words.
func (t *Terminate) Names() (layer, etype, code string) {
	layer, etype, code = fmt.Sprintf("layer %d", t.Layer), fmt.Sprintf("type %d", t.EType), fmt.Sprintf("code 0x%02x", t.Code)
	if int(t.Layer) < len(layerNames) {
		layer = layerNames[t.Layer]
	}
	e, ok := terminates[[2]uint8{t.Layer, t.EType}]
	if !ok {
		return layer, etype, code
	}
	if name, ok := e.codes[t.Code]; ok {
		code = name
	}
	return layer, e.name, code
}
