package packet

import (
	"encoding/binary"

	"github.com/iwdump/iwdump/capture"
)

// What follows is for frames that hold something around their TCP segment, or
// only a part of it. Few do, so it begins again from the start of the frame.
//
// The headers are read here and not by gopacket/layers since that, as of
// 1.1.19, panics on short ones, writes to standard output (GTPv1U), and refuses
// frames that the capture cut (PPPoE, GTPv1U, 802.11). The tests compare with
// it.

// maxLayers bounds the headers that are around one another.
const maxLayers = 32

// A layer is what a header says comes behind it.
type layer uint8

const (
	aLink   layer = iota // a frame of capture.Frame.Link
	anEther              // what an EtherType says
	anIP                 // IPv4 or IPv6, as its first octet says
	anLLC                // IEEE 802.2
	aPPP                 // RFC 1661
	aGRE                 // RFC 2784
	anMPLS               // RFC 3032
	aUDP                 // RFC 768
	a80211               // IEEE 802.11
	aStop                // nothing that is of interest: stop says what
)

// A digger is on its way through the headers of a frame.
type digger struct {
	d    *Decoder
	f    capture.Frame // what is left of the frame: Data as captured, Len as sent
	next layer
	typ  uint16 // the EtherType, where next is anEther
	stop Kind
}

// dig takes a frame apart header by header.
func (d *Decoder) dig(f *capture.Frame, s *Segment) Kind {
	g := digger{d: d, f: *f}
	for range maxLayers {
		switch g.next {
		case aLink:
			g.link()
		case anEther:
			g.ether()
		case anIP:
			if g.ip(s) {
				return TCP
			}
		case anLLC:
			g.llc()
		case aPPP:
			g.ppp()
		case aGRE:
			g.gre()
		case anMPLS:
			g.mpls()
		case aUDP:
			g.udp()
		case a80211:
			g.wifi()
		case aStop:
			return g.stop
		}
	}
	return TooDeep
}

func (g *digger) end(k Kind) { g.next, g.stop = aStop, k }

// has says that n octets were captured; where they were not, it ends.
func (g *digger) has(n int) bool {
	if len(g.f.Data) < n {
		g.end(tooShort(&g.f))
		return false
	}
	return true
}

// pass goes on behind the next n octets, with what is there. Fewer may have
// been captured.
func (g *digger) pass(n int, next layer) {
	if n > g.f.Len {
		g.end(Malformed)
		return
	}
	g.f.Data = g.f.Data[min(n, len(g.f.Data)):]
	g.f.Len -= n
	g.next = next
}

// passEther is pass, with what an EtherType says behind.
func (g *digger) passEther(n int, typ uint16) {
	g.typ = typ
	g.pass(n, anEther)
}

// passLink is pass, with a frame of another link type behind.
func (g *digger) passLink(n int, link capture.LinkType) {
	g.f.Link = link
	g.pass(n, aLink)
}

// cut says that there are n octets left, if there were more: the rest is
// padding, or the trailer of an outer layer.
func (g *digger) cut(n int) {
	if n < g.f.Len {
		g.f.Len = n
		g.f.Data = g.f.Data[:min(n, len(g.f.Data))]
	}
}

func (g *digger) u16(off int) uint16 { return binary.BigEndian.Uint16(g.f.Data[off:]) }

// ether goes on with what an EtherType says.
func (g *digger) ether() {
	switch g.typ {
	case etherIPv4, etherIPv6:
		g.next = anIP
	case etherVLAN, etherQinQ, etherQinQ1, etherQinQ2:
		if g.has(4) {
			g.passEther(4, g.u16(2))
		}
	case etherMPLS, etherMPLSMulticast:
		g.next = anMPLS
	case etherPPPoE:
		g.pppoe()
	case etherPPP:
		g.next = aPPP
	case etherBridging:
		g.passLink(0, capture.LinkEthernet)
	case etherERSPAN3:
		g.erspan3()
	case etherVNTag:
		if g.has(6) {
			g.passEther(6, g.u16(4))
		}
	default:
		if g.typ <= 1500 { // a length (IEEE 802.3, section 3.2.6)
			g.cut(int(g.typ))
			g.next = anLLC
			return
		}
		g.end(NotIP)
	}
}

// ip goes on behind an IP header, unless there is a TCP segment: then s is set.
func (g *digger) ip(s *Segment) bool {
	if !g.has(1) {
		return false
	}
	switch k := raw(&g.f, s); k {
	case TCP:
		return true
	case NotTCP:
		g.inside()
	case Fragment:
		if whole, ok := g.d.fragments.add(&g.f); ok {
			g.f = whole
		} else {
			g.end(Fragment)
		}
	default:
		g.end(k)
	}
	return false
}

// inside goes on with what an IP packet holds. Its headers have been checked.
func (g *digger) inside() {
	h, ok := parseIP(&g.f)
	if !ok {
		g.end(Malformed)
		return
	}
	g.cut(h.end)
	switch h.proto {
	case protoIPv4, protoIPv6:
		g.pass(h.off, anIP)
	case protoUDP:
		g.pass(h.off, aUDP)
	case protoGRE:
		g.pass(h.off, aGRE)
	case protoMPLS: // RFC 4023
		g.pass(h.off, anMPLS)
	case protoEtherIP: // RFC 3378: two octets
		g.passLink(h.off+2, capture.LinkEthernet)
	default:
		g.end(NotTCP)
	}
}

// llc goes on behind the headers of IEEE 802.2 and SNAP (RFC 1042).
func (g *digger) llc() {
	switch {
	case !g.has(3):
	case g.f.Data[0] == 0x06 && g.f.Data[1] == 0x06: // the SAP of IP
		g.pass(3, anIP)
	case g.f.Data[0]|1 != 0xab || g.f.Data[1]|1 != 0xab || g.f.Data[2] != 3:
		g.end(NotIP)
	case g.has(8):
		if typ := g.u16(6); typ > 1500 { // else a loop of lengths
			g.passEther(8, typ)
			return
		}
		g.end(NotIP)
	}
}
