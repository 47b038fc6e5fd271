package packet

import (
	"encoding/binary"

	"github.com/iwdump/iwdump/capture"
)

// EtherTypes of what is around IP.
const (
	etherERSPAN3       = 0x22eb // ERSPAN type III, in GRE
	etherBridging      = 0x6558 // an Ethernet frame, in GRE and Geneve
	etherMPLS          = 0x8847
	etherMPLSMulticast = 0x8848
	etherPPPoE         = 0x8864 // a session (RFC 2516)
	etherPPP           = 0x880b // in GRE
	etherERSPAN        = 0x88be // ERSPAN types I and II, in GRE
	etherVNTag         = 0x8926 // IEEE 802.1BR
)

// UDP ports of tunnels
// (https://www.iana.org/assignments/service-names-port-numbers).
const (
	portGTPU     = 2152
	portVXLAN    = 4789
	portVXLANGPE = 4790
	portGREinUDP = 4754 // RFC 8086
	portGeneve   = 6081
	portMPLS     = 6635 // RFC 7510
	portVXLANOld = 8472 // Linux, before there was a number
)

// udp goes on behind a UDP header, if its destination is that of a tunnel.
func (g *digger) udp() {
	if !g.has(8) {
		return
	}
	port := g.u16(2)
	if n := int(g.u16(4)); n >= 8 {
		g.cut(n)
	}
	g.pass(8, aStop)
	g.stop = NotTCP
	switch port {
	case portVXLAN, portVXLANOld, portVXLANGPE:
		g.vxlan(port == portVXLANGPE)
	case portGeneve:
		g.geneve()
	case portGTPU:
		g.gtpu()
	case portGREinUDP:
		g.next = aGRE
	case portMPLS:
		g.next = anMPLS
	}
}

// vxlan goes on behind a VXLAN header (RFC 7348, section 5; with its generic
// extension draft-ietf-nvo3-vxlan-gpe, section 3).
func (g *digger) vxlan(generic bool) {
	if !g.has(8) {
		return
	}
	flags := g.f.Data[0]
	if flags&0x08 == 0 { // no network identifier: something else on that port
		g.end(NotTCP)
		return
	}
	if !generic || flags&0x04 == 0 {
		g.passLink(8, capture.LinkEthernet)
		return
	}
	switch g.f.Data[3] { // next protocol
	case 1, 2:
		g.pass(8, anIP)
	case 3:
		g.passLink(8, capture.LinkEthernet)
	case 5:
		g.pass(8, anMPLS)
	default:
		g.end(NotTCP)
	}
}

// geneve goes on behind a Geneve header (RFC 8926, section 3.4).
func (g *digger) geneve() {
	if !g.has(8) {
		return
	}
	if g.f.Data[0]>>6 != 0 { // version
		g.end(NotTCP)
		return
	}
	typ := g.u16(2)
	if typ <= 1500 {
		g.end(NotTCP)
		return
	}
	g.passEther(8+4*int(g.f.Data[0]&0x3f), typ)
}

// gtpu goes on behind a GTP-U header (3GPP TS 29.281, section 5.1).
func (g *digger) gtpu() {
	if !g.has(8) {
		return
	}
	const user = 0xff // G-PDU
	flags := g.f.Data[0]
	if flags&0xf0 != 0x30 || g.f.Data[1] != user { // version 1, GTP and not GTP'
		g.end(NotTCP)
		return
	}
	g.cut(8 + int(g.u16(2)))
	n := 8
	if flags&0x07 != 0 { // sequence number, N-PDU number or extension header
		n = 12
		for flags&0x04 != 0 {
			if !g.has(n) {
				return
			}
			if g.f.Data[n-1] == 0 { // no more extension headers
				break
			}
			if !g.has(n + 1) {
				return
			}
			size := 4 * int(g.f.Data[n])
			if size == 0 {
				g.end(Malformed)
				return
			}
			n += size
		}
	}
	g.pass(n, anIP)
}

// gre goes on behind a GRE header (RFC 2784, RFC 2890; RFC 2637 for version 1).
func (g *digger) gre() {
	if !g.has(4) {
		return
	}
	flags, typ := g.u16(0), g.u16(2)
	n := 4
	if flags&0x8000 != 0 || flags&0x4000 != 0 { // checksum, or routing (RFC 1701)
		n += 4
	}
	if flags&0x2000 != 0 { // key
		n += 4
	}
	sequence := flags&0x1000 != 0
	if sequence {
		n += 4
	}
	if flags&0x0080 != 0 { // acknowledgment, of version 1
		n += 4
	}
	if flags&0x4000 != 0 { // source routes until an empty one
		for {
			if !g.has(n + 4) {
				return
			}
			family, size := g.u16(n), int(g.f.Data[n+3])
			n += 4 + size
			if family == 0 && size == 0 {
				break
			}
		}
	}
	switch {
	case typ == etherERSPAN && !sequence: // type I has no header of its own
		g.passLink(n, capture.LinkEthernet)
	case typ == etherERSPAN: // type II: draft-foschiano-erspan-03, section 4.2
		g.passLink(n+8, capture.LinkEthernet)
	case typ <= 1500:
		g.end(NotTCP)
	default:
		g.passEther(n, typ)
	}
}

// erspan3 goes on behind a header of ERSPAN type III
// (draft-foschiano-erspan-03, section 4.3).
func (g *digger) erspan3() {
	if !g.has(12) {
		return
	}
	n := 12
	if g.f.Data[11]&1 != 0 { // a platform specific part
		n += 8
	}
	switch g.f.Data[10] >> 2 & 0x1f { // frame type
	case 0:
		g.passLink(n, capture.LinkEthernet)
	case 2:
		g.pass(n, anIP)
	default:
		g.end(NotTCP)
	}
}

// mpls goes on behind a stack of labels (RFC 3032, section 2.1). What is
// behind it nobody says: IP, or an Ethernet frame with or without a control
// word (RFC 4448, section 4.6).
func (g *digger) mpls() {
	n := 0
	for {
		if !g.has(n + 4) {
			return
		}
		bottom := g.f.Data[n+2]&1 != 0
		n += 4
		if bottom {
			break
		}
	}
	if !g.has(n + 1) {
		return
	}
	switch g.f.Data[n] >> 4 {
	case 4, 6:
		g.pass(n, anIP)
	case 0:
		if !g.has(n + 4) {
			return
		}
		if binary.BigEndian.Uint16(g.f.Data[n:]) == 0 { // the control word
			n += 4
		}
		g.passLink(n, capture.LinkEthernet)
	default:
		g.passLink(n, capture.LinkEthernet)
	}
}

// pppoe goes on behind a PPPoE session header (RFC 2516, section 4).
func (g *digger) pppoe() {
	if !g.has(6) {
		return
	}
	if g.f.Data[0] != 0x11 || g.f.Data[1] != 0 { // version 1, type 1, session data
		g.end(NotIP)
		return
	}
	g.cut(6 + int(g.u16(4)))
	g.pass(6, aPPP)
}

// ppp goes on behind a PPP header (RFC 1661, section 2; RFC 1662, section 3.1).
func (g *digger) ppp() {
	n := 0
	if len(g.f.Data) >= 1 && g.f.Data[0] == 0xff { // address and control
		if !g.has(2) {
			return
		}
		n = 2
	}
	if !g.has(n + 1) {
		return
	}
	proto := uint16(g.f.Data[n])
	n++
	if proto&1 == 0 { // not compressed to one octet
		if !g.has(n + 1) {
			return
		}
		proto = proto<<8 | uint16(g.f.Data[n])
		n++
	}
	switch proto {
	case 0x0021, 0x0057:
		g.pass(n, anIP)
	case 0x0281, 0x0283:
		g.pass(n, anMPLS)
	default:
		g.end(NotIP)
	}
}
