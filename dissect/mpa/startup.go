package mpa

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Keys of the two startup frames (RFC 5044, section 7.1.1).
const (
	RequestKey = "MPA ID Req Frame"
	ReplyKey   = "MPA ID Rep Frame"
)

const (
	// StartupLen is the length of a startup frame without private data (RFC
	// 5044, section 7.1.1).
	StartupLen = 20
	// MaxPrivateData is the largest PD_Length (RFC 5044, section 7.1.1).
	MaxPrivateData = 512
	// NotNegotiated is the IRD or ORD that leaves the matter to the upper
	// layer (RFC 6581, section 9.1).
	NotNegotiated = 0x3FFF

	enhancedLen = 4 // the word of RFC 6581, section 9
)

// Flags of octet 16 (RFC 5044, section 7.1.1; S: RFC 6581, section 6).
const (
	flagM    = 0x80
	flagC    = 0x40
	flagR    = 0x20
	flagS    = 0x10
	flagsRes = 0x0F
)

// Bits of the enhanced word (RFC 6581, section 9).
const (
	bitA     = 0x8000 // in the first half
	bitB     = 0x4000
	bitC     = 0x8000 // in the second half
	bitD     = 0x4000
	depthMax = 0x3FFF
)

// ErrShort says that more octets are needed.
var ErrShort = errors.New("more octets are needed")

// A FormatError says that octets are not what they should be.
type FormatError struct {
	Off int    // octets from the start of what was parsed
	Msg string // what was found
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("mpa: octet %d: %s", e.Off, e.Msg)
}

// A Startup is an MPA Request or Reply frame (RFC 5044, section 7.1.1).
type Startup struct {
	Reply    bool
	Markers  bool  // M: this end wants Markers in what it receives
	CRC      bool  // C: this end wants CRCs, in both directions
	Reject   bool  // R
	Enhanced bool  // S: the private data begins with the word of RFC 6581
	Reserved uint8 // the four bits after S
	Revision uint8
	PDLength int // PD_Length: the enhanced word and the private data

	// Of the enhanced word (RFC 6581, section 9), where Enhanced.
	PeerToPeer bool // A
	SendRTR    bool // B
	WriteRTR   bool // C
	ReadRTR    bool // D
	IRD, ORD   uint16

	// Private is the upper layer's private data, behind the enhanced word.
	Private []byte
}

// ParseStartup parses the startup frame at the start of b. Private aliases b.
// It returns the length of the frame, ErrShort where b ends within it, and a
// FormatError where b is no startup frame.
func ParseStartup(b []byte) (s Startup, n int, err error) {
	k := min(len(b), len(RequestKey))
	switch string(b[:k]) {
	case RequestKey[:k]:
	case ReplyKey[:k]:
		s.Reply = k > 9
	default:
		return Startup{}, 0, &FormatError{Off: 0, Msg: "no MPA key"}
	}
	if len(b) < StartupLen {
		return Startup{}, 0, ErrShort
	}
	s.Markers = b[16]&flagM != 0
	s.CRC = b[16]&flagC != 0
	s.Reject = b[16]&flagR != 0
	s.Enhanced = b[16]&flagS != 0
	s.Reserved = b[16] & flagsRes
	s.Revision = b[17]
	s.PDLength = int(binary.BigEndian.Uint16(b[18:]))
	if s.PDLength > MaxPrivateData {
		return Startup{}, 0, &FormatError{Off: 18, Msg: fmt.Sprintf("PD_Length %d is above %d", s.PDLength, MaxPrivateData)}
	}
	n = StartupLen + s.PDLength
	if len(b) < n {
		return Startup{}, 0, ErrShort
	}
	s.Private = b[StartupLen:n:n]
	if s.Enhanced && len(s.Private) >= enhancedLen {
		hi := binary.BigEndian.Uint16(s.Private)
		lo := binary.BigEndian.Uint16(s.Private[2:])
		s.PeerToPeer = hi&bitA != 0
		s.SendRTR = hi&bitB != 0
		s.WriteRTR = lo&bitC != 0
		s.ReadRTR = lo&bitD != 0
		s.IRD = hi & depthMax
		s.ORD = lo & depthMax
		s.Private = s.Private[enhancedLen:]
	}
	return s, n, nil
}

// HasEnhanced says that the frame carries the word of RFC 6581.
func (s *Startup) HasEnhanced() bool { return s.Enhanced && s.PDLength >= enhancedLen }

// Append appends the frame to b. PDLength is taken from Private and Enhanced.
func (s *Startup) Append(b []byte) []byte {
	key := RequestKey
	if s.Reply {
		key = ReplyKey
	}
	b = append(b, key...)
	flags := s.Reserved & flagsRes
	for _, f := range [...]struct {
		on  bool
		bit uint8
	}{{s.Markers, flagM}, {s.CRC, flagC}, {s.Reject, flagR}, {s.Enhanced, flagS}} {
		if f.on {
			flags |= f.bit
		}
	}
	n := len(s.Private)
	if s.Enhanced {
		n += enhancedLen
	}
	b = append(b, flags, s.Revision)
	b = binary.BigEndian.AppendUint16(b, uint16(n))
	if s.Enhanced {
		hi, lo := s.IRD&depthMax, s.ORD&depthMax
		if s.PeerToPeer {
			hi |= bitA
		}
		if s.SendRTR {
			hi |= bitB
		}
		if s.WriteRTR {
			lo |= bitC
		}
		if s.ReadRTR {
			lo |= bitD
		}
		b = binary.BigEndian.AppendUint16(b, hi)
		b = binary.BigEndian.AppendUint16(b, lo)
	}
	return append(b, s.Private...)
}
