package packet

import (
	"encoding/binary"

	"github.com/iwdump/iwdump/capture"
)

// link goes on behind the header of a link type
// (https://www.tcpdump.org/linktypes.html).
func (g *digger) link() {
	b := g.f.Data
	switch g.f.Link {
	case capture.LinkEthernet:
		if g.has(14) {
			g.passEther(14, g.u16(12))
		}
	case capture.LinkRaw, capture.LinkRaw12, capture.LinkRaw14, capture.LinkIPv4, capture.LinkIPv6:
		g.next = anIP
	case capture.LinkSLL:
		if g.has(16) {
			g.cooked(16, g.u16(14), g.u16(2))
		}
	case capture.LinkSLL2:
		if g.has(20) {
			g.cooked(20, g.u16(0), g.u16(8))
		}
	case capture.LinkNull, capture.LinkLoop:
		g.loopback()
	case capture.LinkPPP, capture.LinkPPPHDLC, capture.LinkPPPDir:
		g.pass(linkHeader[g.f.Link], aPPP)
	case capture.LinkPPPEther:
		g.pppoe()
	case capture.LinkCHDLC:
		if g.has(4) {
			g.passEther(4, max(g.u16(2), 1501))
		}
	case capture.LinkFDDI, capture.LinkATM, capture.LinkIPoverFC:
		g.pass(linkHeader[g.f.Link], anLLC)
	case capture.LinkIPoIB, capture.LinkIEEE1394:
		n := linkHeader[g.f.Link]
		off := n - 2
		if g.f.Link == capture.LinkIPoIB {
			off = n - 4
		}
		if g.has(n) {
			g.passEther(n, max(g.u16(off), 1501))
		}
	case capture.LinkMPacket, capture.LinkEPON, capture.LinkNetAnalyzer, capture.LinkNetAnalyzerT:
		g.passLink(linkHeader[g.f.Link], capture.LinkEthernet)
	case capture.LinkPFLog: // its length, then padded to four octets
		if g.has(1) {
			g.pass((int(b[0])+3)&^3, anIP)
		}
	case capture.Link80211:
		g.next = a80211
	case capture.LinkRadiotap: // https://www.radiotap.org
		if g.has(4) {
			g.pass(int(binary.LittleEndian.Uint16(b[2:])), a80211)
		}
	case capture.LinkPrism: // Prism, or AVS in its place
		if g.has(8) {
			n := binary.LittleEndian.Uint32(b[4:])
			if b[0] == 0x80 {
				n = binary.BigEndian.Uint32(b[4:])
			}
			g.pass(int(min(n, 1<<16)), a80211)
		}
	case capture.LinkAVS:
		if g.has(8) {
			g.pass(int(min(binary.BigEndian.Uint32(b[4:]), 1<<16)), a80211)
		}
	case capture.LinkPPI:
		if g.has(8) {
			g.inner(int(binary.LittleEndian.Uint16(b[2:])), binary.LittleEndian.Uint32(b[4:]))
		}
	case capture.LinkPktap: // length, type of the next record, link type of the frame
		if g.has(12) {
			g.inner(int(min(binary.LittleEndian.Uint32(b), 1<<16)), binary.LittleEndian.Uint32(b[8:]))
		}
	case capture.LinkNFLog:
		g.nflog()
	default:
		g.end(UnknownLink)
	}
}

// linkHeader is the octets before what is of interest, where they are fixed.
var linkHeader = map[capture.LinkType]int{
	capture.LinkPPPDir:       1,  // direction
	capture.LinkFDDI:         13, // frame control and addresses
	capture.LinkIPoverFC:     16, // RFC 2625, section 3.1
	capture.LinkIPoIB:        44, // global route header, RFC 4391, section 6
	capture.LinkIEEE1394:     18, // addresses and EtherType
	capture.LinkMPacket:      8,  // preamble and start
	capture.LinkEPON:         8,  // preamble
	capture.LinkNetAnalyzer:  4,
	capture.LinkNetAnalyzerT: 12,
}

// inner goes on with a frame of a link type that a header names, behind n
// octets.
func (g *digger) inner(n int, link uint32) {
	if n < 8 || link > 1<<16-1 {
		g.end(Malformed)
		return
	}
	if link == 12 || link == 14 { // DLT_RAW, as systems number it
		link = uint32(capture.LinkRaw)
	}
	g.passLink(n, capture.LinkType(link))
}

// cooked goes on behind a Linux cooked header. Its protocol is an EtherType
// only where the device has such; GRE devices put in their own.
func (g *digger) cooked(n int, typ, arphrd uint16) {
	switch {
	case arphrd == 824 || arphrd == 803: // ARPHRD_NETLINK, ARPHRD_IEEE80211_RADIOTAP
		g.end(NotIP)
	case typ == 4: // LLC without a length in front
		g.pass(n, anLLC)
	case typ <= 1500:
		g.end(NotIP)
	default:
		g.passEther(n, typ)
	}
}

// loopback goes on behind an address family. See the function of that name.
func (g *digger) loopback() {
	if !g.has(5) {
		return
	}
	if v := g.f.Data[4] >> 4; v != 4 && v != 6 {
		g.end(NotIP)
		return
	}
	g.pass(4, anIP)
}

// nflog goes on in the payload of a Netfilter log record: a header of family,
// version and resource, then attributes of length, type and value, padded to
// four octets, in the byte order of the host.
func (g *digger) nflog() {
	const payload = 9
	if !g.has(4) {
		return
	}
	if family := g.f.Data[0]; family != 2 && family != 10 {
		g.end(NotIP)
		return
	}
	for n := 4; ; {
		if !g.has(n + 4) {
			return
		}
		var order binary.ByteOrder = binary.LittleEndian
		if g.f.Data[n] == 0 && g.f.Data[n+1] != 0 { // no attribute is shorter than 4
			order = binary.BigEndian
		}
		size, typ := int(order.Uint16(g.f.Data[n:])), order.Uint16(g.f.Data[n+2:])
		if size < 4 {
			g.end(Malformed)
			return
		}
		if typ&0x7fff == payload {
			g.cut(n + size)
			g.pass(n+4, anIP)
			return
		}
		n += (size + 3) &^ 3
	}
}

// wifi goes on behind the header of an IEEE 802.11 data frame (IEEE 802.11-2020,
// section 9.3.2.1) that is not encrypted.
func (g *digger) wifi() {
	if !g.has(2) {
		return
	}
	control, flags := g.f.Data[0], g.f.Data[1]
	const (
		toDS, fromDS, more, protected, order = 0x01, 0x02, 0x04, 0x40, 0x80
		data, noData, qos                    = 2, 0x40, 0x80
	)
	if control&3 != 0 || control>>2&3 != data || control&noData != 0 || flags&protected != 0 {
		g.end(NotIP)
		return
	}
	n := 24
	if flags&toDS != 0 && flags&fromDS != 0 { // a fourth address
		n += 6
	}
	if !g.has(n) {
		return
	}
	if flags&more != 0 || g.f.Data[22]&0x0f != 0 {
		g.end(NotIP) // a fragment of 802.11
		return
	}
	if control&qos != 0 {
		if !g.has(n + 2) {
			return
		}
		if g.f.Data[n]&0x80 != 0 {
			g.end(NotIP) // several frames in one
			return
		}
		n += 2
		if flags&order != 0 { // HT control
			n += 4
		}
	}
	g.pass(n, anLLC)
}
