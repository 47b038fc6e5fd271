package filter

import "github.com/iwdump/iwdump/capture"

// Ethernet types.
const (
	typeIP   = 0x0800
	typeARP  = 0x0806
	typeRARP = 0x8035
	typeIPv6 = 0x86DD
	typeVLAN = 0x8100
	typeQinQ = 0x88A8
	typeOld  = 0x9100
)

// A layout is where the headers of a frame are.
type layout struct {
	link    capture.LinkType
	typeAt  uint32 // of the Ethernet type
	network uint32 // of the network header
	cooked  bool   // the type is beside the frame
}

// layoutOf returns false for a link type that is not known here.
func layoutOf(link capture.LinkType) (layout, bool) {
	switch link {
	case capture.LinkEthernet:
		return layout{link: link, typeAt: 12, network: 14}, true
	case capture.LinkSLL:
		return layout{link: link, typeAt: 14, network: 16}, true
	case capture.LinkSLL2:
		return layout{link: link, typeAt: 0, network: 20}, true
	case capture.LinkRaw, capture.LinkRaw12, capture.LinkRaw14, capture.LinkIPv4, capture.LinkIPv6:
		return layout{link: link, typeAt: 0, network: 0}, true
	case capture.LinkNull, capture.LinkLoop:
		return layout{link: link, typeAt: 0, network: 4}, true
	}
	return layout{}, false
}

// carries is the condition that the network header is of an Ethernet type.
func (l *layout) carries(etherType uint32) node {
	if l.cooked {
		return beside{etherType}
	}
	switch l.link {
	case capture.LinkRaw, capture.LinkRaw12, capture.LinkRaw14, capture.LinkIPv4, capture.LinkIPv6:
		switch etherType {
		case typeIP:
			return compare{at: frame, size: 1, mask: 0xF0, value: 0x40}
		case typeIPv6:
			return compare{at: frame, size: 1, mask: 0xF0, value: 0x60}
		}
		return truth(false)
	case capture.LinkNull, capture.LinkLoop:
		// The family as the system that captured numbers it, in its order of
		// octets.
		var families []uint32
		switch etherType {
		case typeIP:
			families = []uint32{2}
		case typeIPv6:
			families = []uint32{10, 24, 28, 30}
		}
		n := node(truth(false))
		for _, f := range families {
			n = either(compare{at: frame, size: 4, value: f}, compare{at: frame, size: 4, value: f << 24}, n)
		}
		return n
	}
	return compare{at: frame, off: l.typeAt, size: 2, value: etherType}
}
