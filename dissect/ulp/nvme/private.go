package nvme

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrShort says that more octets are needed.
var ErrShort = errors.New("nvme: more octets are needed")

// PrivateLen is the length of the private data of a Request and of a Reply that
// accepts.
const PrivateLen = 32

// RejectLen is the length of the private data of a Reply that rejects.
const RejectLen = 4

// A Request is the private data of a connection request.
type Request struct {
	RecFmt  uint16 // 0
	QID     uint16 // 0 is the admin queue
	HRQSize uint16 // receive entries of the host
	HSQSize uint16 // send entries of the host, counted from 0
	CNTLID  uint16 // of the controller of an I/O queue; 0 where the host says none
}

// ParseRequest parses private data.
func ParseRequest(b []byte) (r Request, n int, err error) {
	if len(b) < PrivateLen {
		return Request{}, 0, ErrShort
	}
	le := binary.LittleEndian
	return Request{le.Uint16(b), le.Uint16(b[2:]), le.Uint16(b[4:]), le.Uint16(b[6:]), le.Uint16(b[8:])}, PrivateLen, nil
}

// Append appends the private data to b.
func (r Request) Append(b []byte) []byte {
	for _, v := range [...]uint16{r.RecFmt, r.QID, r.HRQSize, r.HSQSize, r.CNTLID} {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return append(b, make([]byte, PrivateLen-10)...)
}

// An Accept is the private data of a Reply that accepts.
type Accept struct {
	RecFmt  uint16
	CRQSize uint16 // receive entries of the controller
}

// ParseAccept parses private data.
func ParseAccept(b []byte) (a Accept, n int, err error) {
	if len(b) < PrivateLen {
		return Accept{}, 0, ErrShort
	}
	return Accept{binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:])}, PrivateLen, nil
}

// Append appends the private data to b.
func (a Accept) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, a.RecFmt)
	b = binary.LittleEndian.AppendUint16(b, a.CRQSize)
	return append(b, make([]byte, PrivateLen-4)...)
}

// A Reject is the private data of a Reply that rejects.
type Reject struct {
	RecFmt uint16
	Status uint16
}

// ParseReject parses private data.
func ParseReject(b []byte) (r Reject, n int, err error) {
	if len(b) < RejectLen {
		return Reject{}, 0, ErrShort
	}
	return Reject{binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:])}, RejectLen, nil
}

// Append appends the private data to b.
func (r Reject) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, r.RecFmt)
	return binary.LittleEndian.AppendUint16(b, r.Status)
}

var rejections = [...]string{
	1: "invalid private data length",
	2: "invalid record format",
	3: "invalid queue ID",
	4: "invalid host send queue size",
	5: "invalid host receive queue size",
	6: "out of resources",
	7: "invalid IRD",
	8: "invalid ORD",
}

// Reason is the status in words.
func (r Reject) Reason() string {
	if int(r.Status) < len(rejections) && rejections[r.Status] != "" {
		return rejections[r.Status]
	}
	return fmt.Sprintf("status %d", r.Status)
}
