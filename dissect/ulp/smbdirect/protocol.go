package smbdirect

import (
	"encoding/binary"

	"github.com/iwdump/iwdump/dissect/ulp"
)

// Port is that of SMB Direct over iWARP (MS-SMBD, section 2.1).
const Port = 5445

// Protocol is how a [ulp.Stream] recognises SMB Direct and follows it.
func Protocol() ulp.Protocol {
	return ulp.Protocol{
		Name:    "smbdirect",
		Title:   "SMB Direct",
		Ports:   []uint16{Port},
		Private: private,
		Judge:   judge,
		New:     func(h ulp.Handler) ulp.Decoder { return newDecoder(h) },
	}
}

// maxRealDepth is the largest depth that MPA itself can say (RFC 6581, section
// 9.1).
const maxRealDepth = 0x3FFF

// private judges private data, of which there may be none.
func private(s *ulp.Startup) ulp.Evidence {
	if p, ok := ParsePrivateData(s.Private); ok && p.IRD <= maxRealDepth && p.ORD <= maxRealDepth {
		return ulp.Weak
	}
	return ulp.None
}

// Least sizes that a peer may ask for (MS-SMBD, sections 3.1.5.6 and 3.1.5.7).
const (
	leastReceive    = 128
	leastFragmented = 131072
)

// judge judges a Send by itself.
func judge(m *ulp.Message) ulp.Evidence {
	b := m.Payload
	switch {
	case m.Size == 0:
		return ulp.None // a ready-to-receive message (RFC 6581, section 5)
	case m.Size < TransferLen:
		return ulp.Against
	case len(b) < TransferLen:
		return ulp.None // cut
	case isRequest(m) || isResponse(m):
		return ulp.Strong
	}
	t, data, err := ParseTransfer(b)
	switch {
	case err == ErrShort && !m.Whole():
		if t.Size() != m.Size {
			return ulp.Against
		}
		return ulp.Weak
	case err != nil:
		return ulp.Against
	}
	// MS-SMBD, section 3.1.5.8: no credits asked for is an error.
	if t.CreditsRequested == 0 || t.Flags&^FlagResponseRequested != 0 || binary.LittleEndian.Uint16(b[6:]) != 0 || t.Size() != m.Size {
		return ulp.Against
	}
	switch {
	case FormOf(data) != FormUnknown:
		return ulp.Strong
	case t.DataLength == 0:
		return ulp.None // a small number and zeros, as many messages are
	}
	return ulp.Weak
}

// isRequest says that a Send is a negotiate request.
func isRequest(m *ulp.Message) bool {
	if m.Size != RequestLen {
		return false
	}
	r, _, err := ParseNegotiateRequest(m.Payload)
	return err == nil && r.MinVersion == Version && r.CreditsRequested > 0 && r.MaxReceiveSize >= leastReceive && r.MaxFragmentedSize >= leastFragmented
}

// isResponse says that a Send is a negotiate response.
func isResponse(m *ulp.Message) bool {
	if m.Size != ResponseLen {
		return false
	}
	r, _, err := ParseNegotiateResponse(m.Payload)
	if err != nil || r.MinVersion != Version {
		return false
	}
	return r.Status != 0 || r.Version == Version && r.CreditsRequested > 0 && r.CreditsGranted > 0 && r.MaxReceiveSize >= leastReceive && r.MaxFragmentedSize >= leastFragmented
}
