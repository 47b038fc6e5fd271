package capture

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// The classic file format, draft-ietf-opsawg-pcap: a header of 24 octets, then
// records of a header of 16 octets and the octets of a frame.
const (
	pcapFileHeader     = 24
	pcapRecordHeader   = 16
	pcapModifiedHeader = 24 // with interface, protocol and packet type behind

	// classicSnaplen is the largest snaplen of libpcap. Some writers put
	// frames into a file that are longer than its own snaplen says.
	classicSnaplen = 256 << 10
)

// A pcapKind is what the magic number says.
type pcapKind struct {
	big    bool  // big-endian
	unit   int64 // of the fraction of a second, in ns
	header int   // octets of a record's header
}

var pcapMagics = map[[4]byte]pcapKind{
	{0xd4, 0xc3, 0xb2, 0xa1}: {false, 1000, pcapRecordHeader},
	{0xa1, 0xb2, 0xc3, 0xd4}: {true, 1000, pcapRecordHeader},
	{0x4d, 0x3c, 0xb2, 0xa1}: {false, 1, pcapRecordHeader},
	{0xa1, 0xb2, 0x3c, 0x4d}: {true, 1, pcapRecordHeader},
	// Kuznetzov's modified format, of Linux distributions of the 1990s.
	{0x34, 0xcd, 0xb2, 0xa1}: {false, 1000, pcapModifiedHeader},
	{0xa1, 0xb2, 0xcd, 0x34}: {true, 1000, pcapModifiedHeader},
}

// pcap takes a classic file apart.
type pcap struct {
	count    *counters
	maxFrame int

	started bool // the file header has been taken
	kind    pcapKind
	magic   uint32 // as the file's first octets, little-endian
	old     bool   // a version whose two lengths may be in the other order
	snaplen uint32
	limit   uint32 // largest captured length that makes sense
	link    LinkType
	iface   uint32
	lastSec int64 // of the last good record, -1 before it
}

func (p *pcap) u32(b []byte) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if p.kind.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (p *pcap) u16(b []byte) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if p.kind.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

// header takes the file header b.
func (p *pcap) header(b []byte) {
	p.kind = pcapMagics[[4]byte(b)]
	p.magic = binary.LittleEndian.Uint32(b)
	p.old = p.u16(b[4:]) == 2 && p.u16(b[6:]) <= 3
	p.snaplen = p.u32(b[16:])
	p.limit = min(max(p.snaplen, classicSnaplen), uint32(p.maxFrame))
	// The upper half may hold the length of the frame check sequence.
	p.link = LinkType(p.u32(b[20:]))
	p.iface = p.count.ifaces
	p.count.ifaces++
	p.started = true
	p.lastSec = -1
}

// isHeader says whether b begins with another file header, as it does where
// files were joined end to end. As a record it would be an empty frame.
func (p *pcap) isHeader(b []byte) bool {
	return len(b) >= pcapFileHeader && binary.LittleEndian.Uint32(b) == p.magic &&
		p.u16(b[4:]) == 2 && p.u16(b[6:]) == 4 && p.u32(b[8:]) == 0 && p.u32(b[12:]) == 0
}

func (p *pcap) take(b []byte, blk *Block) (n int, s stop) {
	if !p.started {
		if len(b) < pcapFileHeader {
			return 0, stop{need: pcapFileHeader}
		}
		p.header(b)
		n = pcapFileHeader
	}
	hdr := p.kind.header
	frames := blk.Frames
	for len(frames) < maxBlockFrames {
		h := b[n:]
		if len(h) < hdr {
			s.need = hdr
			break
		}
		sec, frac := p.u32(h), p.u32(h[4:])
		capLen, wireLen := p.u32(h[8:]), p.u32(h[12:])
		if capLen == 0 && wireLen == 0 {
			if sec == 0 && frac == 0 {
				s = stop{damage: "the record header is all zeros", frame: p.count.frames + 1}
				p.count.frames++
				break
			}
			if binary.LittleEndian.Uint32(h) == p.magic {
				if len(h) < pcapFileHeader {
					s.need = pcapFileHeader
					break
				}
				if p.isHeader(h) {
					p.header(h)
					n += pcapFileHeader
					continue
				}
			}
		}
		if capLen > wireLen && p.old {
			capLen, wireLen = wireLen, capLen
		}
		if capLen > p.limit {
			s = stop{
				damage: fmt.Sprintf("the record header claims %d captured octets, more than %d", capLen, p.limit),
				frame:  p.count.frames + 1,
			}
			p.count.frames++
			break
		}
		end := hdr + int(capLen)
		if len(h) < end {
			s.need = end
			break
		}
		p.count.frames++
		p.lastSec = int64(sec)
		frames = append(frames, Frame{})
		f := &frames[len(frames)-1]
		f.Data = h[hdr:end:end]
		f.Len = int(min(max(capLen, wireLen), math.MaxInt32))
		f.Time = int64(sec)*1e9 + int64(frac)*p.kind.unit
		f.Number, f.Link, f.Iface = p.count.frames, p.link, p.iface
		n += end
	}
	blk.Frames = frames
	return n, s
}

// scan looks for two records in a row, or one that ends with the file.
func (p *pcap) scan(b []byte, last bool) (n int, found bool) {
	if !p.started {
		return 0, false
	}
	hdr := p.kind.header
	for n = 0; len(b)-n >= hdr; n++ {
		next, ok := p.plausible(b[n:], p.lastSec)
		if !ok {
			continue
		}
		rest := len(b) - n - next
		switch {
		case rest >= hdr:
			if _, ok := p.plausible(b[n+next:], int64(p.u32(b[n:]))); ok {
				return n, true
			}
		case last && rest == 0:
			return n, true
		case !last:
			return n, false
		}
	}
	return n, false
}

// plausible says whether b begins with a record that is within a day of sec
// (if that is not negative), and returns its length.
func (p *pcap) plausible(b []byte, sec int64) (n int, ok bool) {
	const day = 24 * 60 * 60
	at, frac := int64(p.u32(b)), int64(p.u32(b[4:]))
	capLen, wireLen := p.u32(b[8:]), p.u32(b[12:])
	if frac*p.kind.unit >= 1e9 || capLen == 0 || capLen > wireLen ||
		capLen > min(p.limit, classicSnaplen) || wireLen > 1<<20 {
		return 0, false
	}
	if sec >= 0 && (at < sec-day || at > sec+day) {
		return 0, false
	}
	return p.kind.header + int(capLen), true
}
