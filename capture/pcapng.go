package capture

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// Block types of draft-ietf-opsawg-pcapng, section 11.1.
const (
	ngInterface  = 0x00000001 // section 4.2
	ngPacket     = 0x00000002 // obsolete, appendix A
	ngSimple     = 0x00000003 // section 4.4
	ngEnhanced   = 0x00000006 // section 4.3
	ngNames      = 0x00000004 // section 4.5
	ngSecrets    = 0x0000000a // section 4.7
	ngCustom     = 0x00000bad // section 4.8
	ngCustomKept = 0x40000bad // the same, not to be copied
	ngSection    = 0x0a0d0d0a // section 4.1; the same in both byte orders

	ngByteOrder = 0x1a2b3c4d // of a section header
)

// Options of an Interface Description Block.
const (
	ngOptEnd      = 0
	ngOptTSResol  = 9
	ngOptTSOffset = 14
)

const (
	ngMinBlock    = 12 // type, length, length again
	ngMinSection  = 28
	ngMinIface    = 20
	ngMinSimple   = 16
	ngMinEnhanced = 32

	// maxSectionIfaces bounds the interfaces that are kept.
	maxSectionIfaces = 1 << 16
	// maxScan is the longest block that a search for the next one believes in.
	maxScan = 1 << 20
)

// An iface is what must be known of an interface.
type iface struct {
	clock   clock
	snaplen uint32
	link    LinkType
}

// pcapng takes a pcapng file apart.
type pcapng struct {
	count    *counters
	maxFrame int

	// Of the section at hand.
	big    bool
	alien  bool    // a version that is not known: pass over its blocks
	base   uint32  // number of its interface 0 over all inputs
	ifaces []iface // by their number in the section

	last int64 // time of the last frame
}

func (p *pcapng) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if p.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (p *pcapng) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if p.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

func (p *pcapng) take(b []byte, blk *Block) (n int, s stop) {
	for len(blk.Frames) < maxBlockFrames {
		h := b[n:]
		if len(h) < ngMinBlock {
			s.need = ngMinBlock
			break
		}
		typ := p.u32(h)
		if typ == ngSection {
			big, ok := sectionOrder(h)
			if !ok {
				s.damage = fmt.Sprintf("a section header without a byte-order magic (% x)", h[8:12])
				break
			}
			p.big = big
		}
		length := p.u32(h[4:])
		isFrame := typ == ngEnhanced || typ == ngSimple || typ == ngPacket
		if s.damage = p.checkLength(typ, length); s.damage != "" {
			if isFrame {
				p.count.frames++
				s.frame = p.count.frames
			}
			break
		}
		if uint64(length) > uint64(len(h)) {
			if p.tooLong(length) {
				s.skip = int64(length)
			} else {
				s.need = int(length)
			}
			break
		}
		h = h[:length]
		if again := p.u32(h[length-4:]); again != length {
			s.damage = fmt.Sprintf("a block with two different lengths, %d and %d", length, again)
			if isFrame {
				p.count.frames++
				s.frame = p.count.frames
			}
			break
		}
		var damage string
		switch {
		case typ == ngSection:
			damage = p.section(h)
		case p.alien:
		case isFrame:
			p.count.frames++
			if damage = p.frame(typ, h, blk); damage != "" {
				s.frame = p.count.frames
			}
		case typ == ngInterface:
			damage = p.iface(h)
		}
		if damage != "" {
			s.damage = damage
			s.skip = int64(length)
			break
		}
		n += int(length)
	}
	return n, s
}

// sectionOrder returns the byte order of the section header h.
func sectionOrder(h []byte) (big, ok bool) {
	switch binary.LittleEndian.Uint32(h[8:]) {
	case ngByteOrder:
		return false, true
	case 0x4d3c2b1a:
		return true, true
	}
	return false, false
}

// checkLength says what is wrong with a block's length, before the block is
// there.
func (p *pcapng) checkLength(typ, length uint32) string {
	least := uint32(ngMinBlock)
	maySkip := false
	switch typ {
	case ngSection:
		least = ngMinSection
	case ngInterface:
		least = ngMinIface
	case ngSimple:
		least = ngMinSimple
	case ngEnhanced, ngPacket:
		least = ngMinEnhanced
	case ngNames, ngSecrets, ngCustom, ngCustomKept:
		maySkip = true
	}
	if length < least {
		return fmt.Sprintf("a block of type %#x with a length of only %d", typ, length)
	}
	if p.tooLong(length) && !maySkip {
		return fmt.Sprintf("a block of type %#x with a length of %d, more than is read", typ, length)
	}
	return ""
}

// tooLong says whether a block is longer than a frame and room for its
// options, so that it is not read as a whole.
func (p *pcapng) tooLong(length uint32) bool {
	return uint64(length) > uint64(p.maxFrame)+64<<10
}

// section begins a section. Its length is of no use: the blocks lead from one
// to the next.
func (p *pcapng) section(h []byte) (damage string) {
	p.base = p.count.ifaces
	p.ifaces = p.ifaces[:0]
	major, minor := p.u16(h[12:]), p.u16(h[14:])
	if p.alien = major != 1; p.alien {
		return fmt.Sprintf("a section in version %d.%d of pcapng, which is not known; it is passed over", major, minor)
	}
	return ""
}

// iface adds an interface to the section.
func (p *pcapng) iface(h []byte) (damage string) {
	if len(p.ifaces) == maxSectionIfaces {
		return fmt.Sprintf("more than %d interfaces in a section", maxSectionIfaces)
	}
	f := iface{link: LinkType(p.u16(h[8:])), snaplen: p.u32(h[12:])}
	resol, offset := uint8(6), int64(0)
	for opts := h[16 : len(h)-4]; len(opts) >= 4; {
		code, length := p.u16(opts), int(p.u16(opts[2:]))
		if code == ngOptEnd {
			break
		}
		padded := (length + 3) &^ 3
		if length > len(opts)-4 {
			damage = fmt.Sprintf("interface %d has an option (code %d) that is longer than its block", len(p.ifaces), code)
			break
		}
		value := opts[4 : 4+length]
		switch {
		case code == ngOptTSResol && length == 1:
			resol = value[0]
		case code == ngOptTSOffset && length == 8:
			hi, lo := p.u32(value), p.u32(value[4:])
			if !p.big {
				hi, lo = lo, hi
			}
			offset = int64(uint64(hi)<<32 | uint64(lo))
		case code == ngOptTSResol || code == ngOptTSOffset:
			damage = fmt.Sprintf("interface %d has an option (code %d) of %d octets", len(p.ifaces), code, length)
		}
		opts = opts[min(4+padded, len(opts)):]
	}
	f.clock = newClock(resol, offset)
	p.ifaces = append(p.ifaces, f)
	p.count.ifaces++
	return damage
}

// frame appends the frame of a packet block.
func (p *pcapng) frame(typ uint32, h []byte, blk *Block) (damage string) {
	var (
		id              uint32
		capLen, wireLen uint32
		data            []byte
		at              int64
	)
	if typ == ngSimple {
		data = h[12 : len(h)-4]
		wireLen = p.u32(h[8:])
	} else {
		id = p.u32(h[8:])
		if typ == ngPacket {
			id = uint32(p.u16(h[8:]))
		}
		data = h[28 : len(h)-4]
		capLen, wireLen = p.u32(h[20:]), p.u32(h[24:])
	}
	if uint64(id) >= uint64(len(p.ifaces)) {
		return fmt.Sprintf("a packet of interface %d, of which the section has no description", id)
	}
	f := &p.ifaces[id]
	if typ == ngSimple {
		// It has no captured length of its own (section 4.4), and no time: the
		// frame before it is as near as can be told.
		capLen = min(wireLen, uint32(len(data)))
		if f.snaplen > 0 {
			capLen = min(capLen, f.snaplen)
		}
		at = p.last
	} else {
		at = f.clock.ns(uint64(p.u32(h[12:]))<<32 | uint64(p.u32(h[16:])))
		p.last = at
	}
	if uint64(capLen) > uint64(len(data)) {
		return fmt.Sprintf("a packet with %d captured octets in a block with room for %d", capLen, len(data))
	}
	blk.Frames = append(blk.Frames, Frame{
		Data:   data[:capLen:capLen],
		Len:    int(min(max(capLen, wireLen), math.MaxInt32)),
		Time:   at,
		Number: p.count.frames,
		Link:   f.link,
		Iface:  p.base + id,
	})
	return ""
}

// scan looks for a block of a known type whose two lengths agree.
func (p *pcapng) scan(b []byte, last bool) (n int, found bool) {
	for n = 0; len(b)-n >= ngMinBlock; n++ {
		h := b[n:]
		big := p.big
		if typ := p.u32(h); typ == ngSection {
			var ok bool
			if big, ok = sectionOrder(h); !ok {
				continue
			}
		} else if typ == 0 || typ > ngSecrets && typ != ngCustom && typ != ngCustomKept {
			continue
		}
		length := binary.LittleEndian.Uint32(h[4:])
		if big {
			length = bits.ReverseBytes32(length)
		}
		if length < ngMinBlock || length > maxScan || length%4 != 0 {
			continue
		}
		if uint64(length) > uint64(len(h)) {
			if last {
				continue
			}
			return n, false
		}
		if [4]byte(h[length-4:]) == [4]byte(h[4:]) {
			return n, true
		}
	}
	return n, false
}
