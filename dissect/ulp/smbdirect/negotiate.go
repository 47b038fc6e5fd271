package smbdirect

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	// Version is version 1.0 of the protocol (MS-SMBD, section 2.2.1).
	Version = 0x0100
	// RequestLen and ResponseLen are the lengths in octets of the two messages
	// of the negotiation (MS-SMBD, sections 2.2.1 and 2.2.2).
	RequestLen  = 20
	ResponseLen = 32
)

// ErrShort says that more octets are needed.
var ErrShort = errors.New("smbdirect: more octets are needed")

// A FormatError says that octets are not what they should be.
type FormatError struct {
	Off int    // octets from the start of what was parsed
	Msg string // what was found
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("smbdirect: octet %d: %s", e.Off, e.Msg)
}

// A NegotiateRequest is the first message of the client (MS-SMBD, section
// 2.2.1).
type NegotiateRequest struct {
	MinVersion, MaxVersion uint16
	CreditsRequested       uint16
	PreferredSendSize      uint32 // octets of a message
	MaxReceiveSize         uint32 // octets of a message
	MaxFragmentedSize      uint32 // octets of upper-layer data that is fragmented
}

// ParseNegotiateRequest parses the message at the start of b and returns its
// length. A FormatError says that no version 1.0 is in the range.
func ParseNegotiateRequest(b []byte) (r NegotiateRequest, n int, err error) {
	if len(b) < RequestLen {
		return NegotiateRequest{}, 0, ErrShort
	}
	le := binary.LittleEndian
	r = NegotiateRequest{
		MinVersion:        le.Uint16(b),
		MaxVersion:        le.Uint16(b[2:]),
		CreditsRequested:  le.Uint16(b[6:]),
		PreferredSendSize: le.Uint32(b[8:]),
		MaxReceiveSize:    le.Uint32(b[12:]),
		MaxFragmentedSize: le.Uint32(b[16:]),
	}
	if r.MinVersion > Version || r.MaxVersion < Version {
		return r, 0, &FormatError{Off: 0, Msg: fmt.Sprintf("versions 0x%04x to 0x%04x are without 0x0100", r.MinVersion, r.MaxVersion)}
	}
	return r, RequestLen, nil
}

// Append appends the message to b.
func (r NegotiateRequest) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint16(b, r.MinVersion)
	b = le.AppendUint16(b, r.MaxVersion)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint16(b, r.CreditsRequested)
	b = le.AppendUint32(b, r.PreferredSendSize)
	b = le.AppendUint32(b, r.MaxReceiveSize)
	return le.AppendUint32(b, r.MaxFragmentedSize)
}

// A NegotiateResponse is the first message of the server (MS-SMBD, section
// 2.2.2).
type NegotiateResponse struct {
	MinVersion, MaxVersion uint16
	Version                uint16 // NegotiatedVersion
	CreditsRequested       uint16
	CreditsGranted         uint16
	Status                 uint32
	MaxReadWriteSize       uint32 // octets that one buffer descriptor may have
	PreferredSendSize      uint32
	MaxReceiveSize         uint32
	MaxFragmentedSize      uint32
}

// ParseNegotiateResponse parses the message at the start of b and returns its
// length. A FormatError says that no version 1.0 is in the range.
func ParseNegotiateResponse(b []byte) (r NegotiateResponse, n int, err error) {
	if len(b) < ResponseLen {
		return NegotiateResponse{}, 0, ErrShort
	}
	le := binary.LittleEndian
	r = NegotiateResponse{
		MinVersion:        le.Uint16(b),
		MaxVersion:        le.Uint16(b[2:]),
		Version:           le.Uint16(b[4:]),
		CreditsRequested:  le.Uint16(b[8:]),
		CreditsGranted:    le.Uint16(b[10:]),
		Status:            le.Uint32(b[12:]),
		MaxReadWriteSize:  le.Uint32(b[16:]),
		PreferredSendSize: le.Uint32(b[20:]),
		MaxReceiveSize:    le.Uint32(b[24:]),
		MaxFragmentedSize: le.Uint32(b[28:]),
	}
	if r.MinVersion > Version || r.MaxVersion < Version {
		return r, 0, &FormatError{Off: 0, Msg: fmt.Sprintf("versions 0x%04x to 0x%04x are without 0x0100", r.MinVersion, r.MaxVersion)}
	}
	return r, ResponseLen, nil
}

// Append appends the message to b.
func (r NegotiateResponse) Append(b []byte) []byte {
	le := binary.LittleEndian
	for _, v := range [...]uint16{r.MinVersion, r.MaxVersion, r.Version, 0, r.CreditsRequested, r.CreditsGranted} {
		b = le.AppendUint16(b, v)
	}
	for _, v := range [...]uint32{r.Status, r.MaxReadWriteSize, r.PreferredSendSize, r.MaxReceiveSize, r.MaxFragmentedSize} {
		b = le.AppendUint32(b, v)
	}
	return b
}
