package iser

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrShort says that more octets are needed.
var ErrShort = errors.New("iser: more octets are needed")

// HeaderLen is the length of all iSER headers (RFC 7145, section 9.1).
const HeaderLen = 28

// Opcodes of iSER (RFC 7145, section 9.1).
const (
	Control    = 1
	Hello      = 2
	HelloReply = 3
)

// A Header is an iSER header (RFC 7145, sections 9.2 to 9.4).
type Header struct {
	Opcode uint8

	// Of a control-type PDU.
	WSV       bool // the Write STag is valid
	RSV       bool // the Read STag is valid
	WriteSTag uint32
	WriteBase uint64
	ReadSTag  uint32
	ReadBase  uint64

	// Of Hello and HelloReply.
	Reject bool   // REJ, of a HelloReply
	MaxVer uint8  // 10
	Ver    uint8  // MinVer of a Hello, CurVer of a HelloReply
	Depth  uint16 // iSER-IRD of a Hello, iSER-ORD of a HelloReply
}

// ParseHeader parses the header at the start of b, and returns its length. An
// opcode that RFC 7145 does not have is an error.
func ParseHeader(b []byte) (h Header, n int, err error) {
	if len(b) < HeaderLen {
		return Header{}, 0, ErrShort
	}
	be := binary.BigEndian
	h.Opcode = b[0] >> 4
	switch h.Opcode {
	case Control:
		h.WSV, h.RSV = b[0]&8 != 0, b[0]&4 != 0
		h.WriteSTag, h.WriteBase = be.Uint32(b[4:]), be.Uint64(b[8:])
		h.ReadSTag, h.ReadBase = be.Uint32(b[16:]), be.Uint64(b[20:])
	case Hello, HelloReply:
		h.Reject = h.Opcode == HelloReply && b[0]&1 != 0
		h.MaxVer, h.Ver = b[1]>>4, b[1]&0xF
		h.Depth = be.Uint16(b[2:])
	default:
		return Header{}, 0, fmt.Errorf("iser: no opcode %d", h.Opcode)
	}
	return h, HeaderLen, nil
}

// Append appends the header to b.
func (h Header) Append(b []byte) []byte {
	be := binary.BigEndian
	var out [HeaderLen]byte
	out[0] = h.Opcode << 4
	switch h.Opcode {
	case Control:
		if h.WSV {
			out[0] |= 8
		}
		if h.RSV {
			out[0] |= 4
		}
		be.PutUint32(out[4:], h.WriteSTag)
		be.PutUint64(out[8:], h.WriteBase)
		be.PutUint32(out[16:], h.ReadSTag)
		be.PutUint64(out[20:], h.ReadBase)
	default:
		if h.Reject {
			out[0] |= 1
		}
		out[1] = h.MaxVer<<4 | h.Ver&0xF
		be.PutUint16(out[2:], h.Depth)
	}
	return append(b, out[:]...)
}

// PrivateLen is the length of the private data of Linux: RFC 7145 has none.
const PrivateLen = 4

// Private is the private data of Linux.
type Private struct {
	NoZBVA           bool // zero-based virtual addresses are not supported
	NoSendInvalidate bool // Send with Invalidate is not supported
}

// ParsePrivate parses private data.
func ParsePrivate(b []byte) (p Private, n int, err error) {
	if len(b) < PrivateLen {
		return Private{}, 0, ErrShort
	}
	return Private{b[0]&0x80 != 0, b[0]&0x40 != 0}, PrivateLen, nil
}

// Append appends the private data to b.
func (p Private) Append(b []byte) []byte {
	flags := byte(0)
	if p.NoZBVA {
		flags |= 0x80
	}
	if p.NoSendInvalidate {
		flags |= 0x40
	}
	return append(b, flags, 0, 0, 0)
}
