package capture

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The snoop file format of Solaris (RFC 1761): a header of 16 octets, then
// records of a header of 24 octets and the octets of a frame, padded. All is
// big-endian.
const (
	magicSnoop        = "snoop\x00\x00\x00"
	snoopFileHeader   = 16
	snoopRecordHeader = 24
	snoopVersion      = 2
	maxSnoopPad       = 4096 // octets of a record behind its frame
)

// snoopLinks are the datalink types of RFC 1761, section 4, that are known here.
var snoopLinks = map[uint32]LinkType{
	0:  LinkEthernet, // IEEE 802.3
	4:  LinkEthernet,
	8:  LinkFDDI,
	18: LinkATM,   // RFC 3827: IP over ATM
	26: LinkIPoIB, // RFC 3827: IP over InfiniBand
}

// snoop takes a snoop file apart.
type snoop struct {
	count    *counters
	maxFrame int

	started bool
	link    LinkType
	iface   uint32
}

// isSnoop says whether a file begins as one in snoop format does.
func isSnoop(head []byte) bool {
	return len(head) >= 12 && string(head[:8]) == magicSnoop && binary.BigEndian.Uint32(head[8:]) == snoopVersion
}

func (p *snoop) take(b []byte, blk *Block) (n int, s stop) {
	if !p.started {
		if len(b) < snoopFileHeader {
			return 0, stop{need: snoopFileHeader}
		}
		p.started = true
		link, ok := snoopLinks[binary.BigEndian.Uint32(b[12:])]
		if !ok {
			link = LinkSnoopOther
		}
		p.link, p.iface = link, p.count.ifaces
		p.count.ifaces++
		n = snoopFileHeader
	}
	for len(blk.Frames) < maxBlockFrames {
		h := b[n:]
		if len(h) < snoopRecordHeader {
			s.need = snoopRecordHeader
			return n, s
		}
		r, ok := p.record(h)
		if !ok {
			p.count.frames++
			return n, stop{
				damage: fmt.Sprintf("the record header claims %d captured octets of %d in %d octets", r.captured, r.wire, r.size),
				frame:  p.count.frames,
			}
		}
		if len(h) < r.size {
			s.need = r.size
			return n, s
		}
		p.count.frames++
		end := snoopRecordHeader + r.captured
		blk.Frames = append(blk.Frames, Frame{
			Data:   h[snoopRecordHeader:end:end],
			Len:    r.wire,
			Time:   int64(binary.BigEndian.Uint32(h[16:]))*1e9 + int64(binary.BigEndian.Uint32(h[20:]))*1e3,
			Number: p.count.frames,
			Link:   p.link,
			Iface:  p.iface,
		})
		n += r.size
	}
	return n, s
}

// A snoopRecord is the lengths in a record's header: of the frame, and of all.
type snoopRecord struct{ wire, captured, size int }

// record takes the lengths of a record, and says whether they can be right.
func (p *snoop) record(h []byte) (r snoopRecord, ok bool) {
	wire, captured, size := binary.BigEndian.Uint32(h), binary.BigEndian.Uint32(h[4:]), binary.BigEndian.Uint32(h[8:])
	r = snoopRecord{int(min(wire, math.MaxInt32)), int(min(captured, math.MaxInt32)), int(min(size, math.MaxInt32))}
	return r, r.captured <= r.wire && r.captured <= p.maxFrame &&
		r.size >= snoopRecordHeader+r.captured && r.size <= snoopRecordHeader+r.captured+maxSnoopPad
}

// scan looks for two records in a row, or one that ends with the file.
func (p *snoop) scan(b []byte, last bool) (n int, found bool) {
	plausible := func(b []byte) (int, bool) {
		r, ok := p.record(b)
		return r.size, ok && r.captured > 0 && r.wire <= 1<<20 && r.size%4 == 0 && binary.BigEndian.Uint32(b[20:]) < 1e6
	}
	for n = 0; len(b)-n >= snoopRecordHeader; n++ {
		size, ok := plausible(b[n:])
		if !ok {
			continue
		}
		switch rest := len(b) - n - size; {
		case rest >= snoopRecordHeader:
			if _, ok := plausible(b[n+size:]); ok {
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
