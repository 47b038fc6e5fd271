package packet

import (
	"net/netip"
)

// An Endpoint is an address and a port. IPv4 addresses are kept in their
// IPv4-mapped form, so that endpoints are small, comparable values.
type Endpoint struct {
	Addr [16]byte
	Port uint16
}

// AddrPort returns e in the form of net/netip, IPv4 addresses unmapped.
func (e Endpoint) AddrPort() netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16(e.Addr).Unmap(), e.Port)
}

// A Flow names one direction of a TCP connection.
type Flow struct {
	Src, Dst Endpoint
}

// Reverse returns the flow of the other direction.
func (f Flow) Reverse() Flow { return Flow{Src: f.Dst, Dst: f.Src} }

// Flags are the control bits of a TCP header (RFC 9293, section 3.1).
type Flags uint8

const (
	FIN Flags = 1 << iota
	SYN
	RST
	PSH
	ACK
	URG
	ECE
	CWR
)

// A Segment is a TCP segment as it was captured. Payload aliases the frame.
type Segment struct {
	Flow    Flow
	Seq     uint32
	Ack     uint32
	Flags   Flags
	WScale  int8   // shift of a SYN, -1 where there is no such option
	Window  uint16 // as sent, not scaled
	MSS     uint16 // of a SYN, 0 where there is no such option
	IPID    uint16 // IPv4 identification, 0 for IPv6
	Len     int    // payload octets on the wire
	Payload []byte // those of them that were captured: len(Payload) <= Len

	tcp     []byte // TCP header and payload as captured, for Checksum
	tcpLen  int    // the same on the wire
	detours bool   // an IPv6 routing header has hops left: the destination is another
}
