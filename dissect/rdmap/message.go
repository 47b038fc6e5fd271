package rdmap

import (
	"encoding/binary"
	"errors"
)

// Octets behind the DDP header (RFC 5040, sections 4.4 and 4.8; RFC 7306,
// sections 5.2 and 6.2).
const (
	ReadRequestLen    = 28
	ImmediateLen      = 8
	AtomicRequestLen  = 52
	AtomicResponseLen = 12
	TerminateMin      = 4
	TerminateMax      = 52
)

// ErrShort says that more octets are needed.
var ErrShort = errors.New("rdmap: more octets are needed")

// A ReadRequest is the header of an RDMA Read Request (RFC 5040, section 4.4).
type ReadRequest struct {
	SinkSTag uint32 // of the requester's buffer
	SinkTO   uint64
	Size     uint32 // RDMARDSZ, octets
	SrcSTag  uint32 // of the responder's buffer
	SrcTO    uint64
}

// ParseReadRequest parses the header at the start of b and returns its length.
func ParseReadRequest(b []byte) (r ReadRequest, n int, err error) {
	if len(b) < ReadRequestLen {
		return ReadRequest{}, 0, ErrShort
	}
	return ReadRequest{
		SinkSTag: binary.BigEndian.Uint32(b),
		SinkTO:   binary.BigEndian.Uint64(b[4:]),
		Size:     binary.BigEndian.Uint32(b[12:]),
		SrcSTag:  binary.BigEndian.Uint32(b[16:]),
		SrcTO:    binary.BigEndian.Uint64(b[20:]),
	}, ReadRequestLen, nil
}

// Append appends the header to b.
func (r ReadRequest) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, r.SinkSTag)
	b = binary.BigEndian.AppendUint64(b, r.SinkTO)
	b = binary.BigEndian.AppendUint32(b, r.Size)
	b = binary.BigEndian.AppendUint32(b, r.SrcSTag)
	return binary.BigEndian.AppendUint64(b, r.SrcTO)
}

// An Immediate is Immediate Data (RFC 7306, section 6.2).
type Immediate struct {
	Data [ImmediateLen]byte
}

// ParseImmediate parses the data at the start of b and returns its length.
func ParseImmediate(b []byte) (m Immediate, n int, err error) {
	if len(b) < ImmediateLen {
		return Immediate{}, 0, ErrShort
	}
	copy(m.Data[:], b)
	return m, ImmediateLen, nil
}

// Append appends the data to b.
func (m Immediate) Append(b []byte) []byte { return append(b, m.Data[:]...) }

// An AtomicOp is an atomic operation code (RFC 7306, section 5.2.1).
type AtomicOp uint8

const (
	FetchAdd AtomicOp = 0
	CmpSwap  AtomicOp = 2
)

// String is the name of the operation in lower case.
func (o AtomicOp) String() string {
	switch o {
	case FetchAdd:
		return "fetch_add"
	case CmpSwap:
		return "cmp_swap"
	}
	return "reserved"
}

// An AtomicRequest is the header of an Atomic Request (RFC 7306, section
// 5.2.1).
type AtomicRequest struct {
	Op          AtomicOp
	ID          uint32 // Request Identifier
	STag        uint32 // Remote STag
	TO          uint64 // Remote Tagged Offset
	Data        uint64 // Add or Swap Data
	Mask        uint64 // Add or Swap Mask
	Compare     uint64
	CompareMask uint64
}

// ParseAtomicRequest parses the header at the start of b and returns its
// length. The reserved bits are passed over.
func ParseAtomicRequest(b []byte) (r AtomicRequest, n int, err error) {
	if len(b) < AtomicRequestLen {
		return AtomicRequest{}, 0, ErrShort
	}
	return AtomicRequest{
		Op:          AtomicOp(b[3] & 0xF),
		ID:          binary.BigEndian.Uint32(b[4:]),
		STag:        binary.BigEndian.Uint32(b[8:]),
		TO:          binary.BigEndian.Uint64(b[12:]),
		Data:        binary.BigEndian.Uint64(b[20:]),
		Mask:        binary.BigEndian.Uint64(b[28:]),
		Compare:     binary.BigEndian.Uint64(b[36:]),
		CompareMask: binary.BigEndian.Uint64(b[44:]),
	}, AtomicRequestLen, nil
}

// Append appends the header to b.
func (r AtomicRequest) Append(b []byte) []byte {
	b = append(b, 0, 0, 0, uint8(r.Op)&0xF)
	b = binary.BigEndian.AppendUint32(b, r.ID)
	b = binary.BigEndian.AppendUint32(b, r.STag)
	b = binary.BigEndian.AppendUint64(b, r.TO)
	b = binary.BigEndian.AppendUint64(b, r.Data)
	b = binary.BigEndian.AppendUint64(b, r.Mask)
	b = binary.BigEndian.AppendUint64(b, r.Compare)
	return binary.BigEndian.AppendUint64(b, r.CompareMask)
}

// An AtomicResponse is the header of an Atomic Response (RFC 7306, section
// 5.2.2).
type AtomicResponse struct {
	ID       uint32 // Original Request Identifier
	Original uint64 // Original Remote Data Value
}

// ParseAtomicResponse parses the header at the start of b and returns its
// length.
func ParseAtomicResponse(b []byte) (r AtomicResponse, n int, err error) {
	if len(b) < AtomicResponseLen {
		return AtomicResponse{}, 0, ErrShort
	}
	return AtomicResponse{ID: binary.BigEndian.Uint32(b), Original: binary.BigEndian.Uint64(b[4:])}, AtomicResponseLen, nil
}

// Append appends the header to b.
func (r AtomicResponse) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, r.ID)
	return binary.BigEndian.AppendUint64(b, r.Original)
}
