package ddp

import (
	"encoding/binary"
	"errors"
)

// Bits of the DDP control octet (RFC 5041, section 4.1).
const (
	flagTagged   = 0x80
	flagLast     = 0x40
	maskReserved = 0x3C
	maskVersion  = 0x03
)

// Version is the DV of RFC 5041, section 4.1. That of the RDMA Consortium,
// which came before it, is 0.
const Version = 1

// Lengths of the two headers in octets (RFC 5041, sections 4.2 and 4.3).
const (
	TaggedLen   = 14
	UntaggedLen = 18
)

// ErrShort says that more octets are needed.
var ErrShort = errors.New("ddp: more octets are needed")

// A Header is a DDP segment header, tagged or untagged (RFC 5041, section 4).
type Header struct {
	Tagged   bool
	Last     bool
	Reserved uint8 // Rsvd, four bits
	Version  uint8 // DV

	ULPControl uint8 // first octet of RsvdULP: the RDMAP control octet

	STag uint32 // tagged only
	TO   uint64 // tagged only

	ULPWord uint32 // untagged only: RsvdULP octets 1 to 4, the Invalidate STag of RDMAP
	QN      uint32 // untagged only
	MSN     uint32 // untagged only
	MO      uint32 // untagged only
}

// Len returns the length of the header in octets.
func (h *Header) Len() int {
	if h.Tagged {
		return TaggedLen
	}
	return UntaggedLen
}

// Parse parses the header at the start of b and returns its length. It accepts
// every value of every field: to judge them is for the caller. The only error
// is ErrShort.
func Parse(b []byte) (h Header, n int, err error) {
	n, err = h.Parse(b)
	return h, n, err
}

// Parse is the function of that name, in place. On an error h is zero.
func (h *Header) Parse(b []byte) (n int, err error) {
	*h = Header{}
	if len(b) < UntaggedLen && (len(b) < TaggedLen || b[0]&flagTagged == 0) {
		return 0, ErrShort
	}
	h.Tagged = b[0]&flagTagged != 0
	h.Last = b[0]&flagLast != 0
	h.Reserved = b[0] & maskReserved >> 2
	h.Version = b[0] & maskVersion
	h.ULPControl = b[1]
	if h.Tagged {
		h.STag = binary.BigEndian.Uint32(b[2:])
		h.TO = binary.BigEndian.Uint64(b[6:])
		return TaggedLen, nil
	}
	h.ULPWord = binary.BigEndian.Uint32(b[2:])
	h.QN = binary.BigEndian.Uint32(b[6:])
	h.MSN = binary.BigEndian.Uint32(b[10:])
	h.MO = binary.BigEndian.Uint32(b[14:])
	return UntaggedLen, nil
}

// Append appends the header to b.
func (h *Header) Append(b []byte) []byte {
	c := h.Reserved<<2&maskReserved | h.Version&maskVersion
	if h.Last {
		c |= flagLast
	}
	if h.Tagged {
		b = append(b, c|flagTagged, h.ULPControl)
		b = binary.BigEndian.AppendUint32(b, h.STag)
		return binary.BigEndian.AppendUint64(b, h.TO)
	}
	b = append(b, c, h.ULPControl)
	b = binary.BigEndian.AppendUint32(b, h.ULPWord)
	b = binary.BigEndian.AppendUint32(b, h.QN)
	b = binary.BigEndian.AppendUint32(b, h.MSN)
	return binary.BigEndian.AppendUint32(b, h.MO)
}
