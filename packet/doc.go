// Package packet takes one frame apart down to its TCP segment: link layer,
// VLAN tags, tunnels, IPv4 (RFC 791) or IPv6 (RFC 8200), TCP (RFC 9293). It
// copies nothing and keeps nothing, but for packets in fragments while some of
// them are missing.
//
// Lengths on the wire come from the IP header, since the capture may hold less
// than was sent (a snaplen, a switch that mirrors only the first octets) or
// more (the padding and the check sequence of Ethernet). Where it claims more
// than the frame had, it is believed unless its own checksum is wrong.
package packet
