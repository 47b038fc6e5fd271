package packet

import (
	"encoding/binary"

	"github.com/iwdump/iwdump/capture"
)

// A Kind says what a frame turned out to hold.
type Kind uint8

const (
	TCP         Kind = iota // a TCP segment
	NotIP                   // neither IPv4 nor IPv6
	NotTCP                  // IP, and something else in it
	Fragment                // part of an IP packet
	Malformed               // headers that contradict themselves
	CutShort                // the capture holds too little of the headers to tell
	UnknownLink             // a link type that is not taken apart here
	TooDeep                 // more headers around one another than anybody has use for
)

var kindNames = [...]string{
	TCP:         "TCP",
	NotIP:       "not IP",
	NotTCP:      "not TCP",
	Fragment:    "IP fragment",
	Malformed:   "malformed",
	CutShort:    "headers cut short",
	UnknownLink: "unknown link type",
	TooDeep:     "too many headers",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// EtherTypes (https://www.iana.org/assignments/ieee-802-numbers).
const (
	etherIPv4  = 0x0800
	etherVLAN  = 0x8100 // IEEE 802.1Q
	etherIPv6  = 0x86dd
	etherQinQ  = 0x88a8 // IEEE 802.1ad
	etherQinQ1 = 0x9100 // of 802.1ad before it was one
	etherQinQ2 = 0x9200
)

// IP protocol numbers (https://www.iana.org/assignments/protocol-numbers).
const (
	protoHopByHop    = 0
	protoIPv4        = 4
	protoTCP         = 6
	protoUDP         = 17
	protoIPv6        = 41
	protoGRE         = 47
	protoEtherIP     = 97
	protoMPLS        = 137
	protoRouting     = 43
	protoFragment    = 44
	protoAH          = 51
	protoDestination = 60
	protoMobility    = 135
	protoHIP         = 139
	protoShim6       = 140
)

const (
	minIPv4 = 20
	minIPv6 = 40
	minTCP  = 20
	// needTCP is how much of a TCP header must have been captured: all before
	// its checksum.
	needTCP = 16
	// maxJumbo bounds the packets whose length only the frame tells. Linux
	// makes none above 512 KiB.
	maxJumbo = 1 << 20
)

// A Decoder takes frames apart, in the order of the capture. It remembers
// fragments of IP packets, within limits, until it can put them together. The
// zero value is ready for use.
type Decoder struct {
	fragments fragments
}

// Decode takes f apart, and looks into tunnels. Only where it returns TCP is s
// set, all of it. A packet that came in fragments is that of the frame that
// completes it.
func (d *Decoder) Decode(f *capture.Frame, s *Segment) Kind {
	k := decode(f, s)
	if k == TCP {
		return TCP
	}
	switch k {
	case NotIP, NotTCP, Fragment, UnknownLink:
		return d.dig(f, s)
	}
	return k
}

// decode takes a frame of the ordinary kinds apart.
func decode(f *capture.Frame, s *Segment) Kind {
	b := f.Data
	if f.Link == capture.LinkEthernet {
		if len(b) < 14 {
			return tooShort(f)
		}
		switch typ := binary.BigEndian.Uint16(b[12:]); typ {
		case etherIPv4:
			return ipv4(f, 14, s)
		case etherIPv6:
			return ipv6(f, 14, s)
		default:
			return ether(f, typ, 14, s)
		}
	}
	switch f.Link {
	case capture.LinkRaw, capture.LinkRaw12, capture.LinkRaw14, capture.LinkIPv4, capture.LinkIPv6:
		return raw(f, s)
	case capture.LinkSLL: // protocol type in the last two of 16 octets
		if len(b) < 16 {
			return tooShort(f)
		}
		return ether(f, binary.BigEndian.Uint16(b[14:]), 16, s)
	case capture.LinkSLL2: // protocol type in the first two of 20 octets
		if len(b) < 20 {
			return tooShort(f)
		}
		return ether(f, binary.BigEndian.Uint16(b), 20, s)
	case capture.LinkNull, capture.LinkLoop:
		return loopback(f, s)
	}
	return UnknownLink
}

// tooShort is the Kind of a frame that ends inside of a header: the capture
// cut it, or it never was longer.
func tooShort(f *capture.Frame) Kind {
	if len(f.Data) < f.Len {
		return CutShort
	}
	return Malformed
}

// ether goes on behind an EtherType and any VLAN tags.
func ether(f *capture.Frame, typ uint16, off int, s *Segment) Kind {
	for {
		switch typ {
		case etherIPv4:
			return ipv4(f, off, s)
		case etherIPv6:
			return ipv6(f, off, s)
		case etherVLAN, etherQinQ, etherQinQ1, etherQinQ2:
			if len(f.Data) < off+4 {
				return tooShort(f)
			}
			typ = binary.BigEndian.Uint16(f.Data[off+2:])
			off += 4
		default:
			return NotIP
		}
	}
}

// raw is an IP packet without a link layer.
func raw(f *capture.Frame, s *Segment) Kind {
	if len(f.Data) == 0 {
		return tooShort(f)
	}
	switch f.Data[0] >> 4 {
	case 4:
		return ipv4(f, 0, s)
	case 6:
		return ipv6(f, 0, s)
	}
	return Malformed
}

// loopback has an address family of four octets in front: in the order of the
// host that captured (NULL), which cannot be known, or of the network (LOOP).
// AF_INET is 2 everywhere.
func loopback(f *capture.Frame, s *Segment) Kind {
	if len(f.Data) < 4 {
		return tooShort(f)
	}
	family := binary.BigEndian.Uint32(f.Data)
	if le := binary.LittleEndian.Uint32(f.Data); f.Link == capture.LinkNull && le < family {
		family = le
	}
	switch family {
	case 2:
		return ipv4(f, 4, s)
	case 10, 23, 24, 28, 30: // Linux, Windows, NetBSD and OpenBSD, FreeBSD, Darwin
		return ipv6(f, 4, s)
	}
	return NotIP
}
