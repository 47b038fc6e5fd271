package live

import (
	"encoding/binary"

	"github.com/iwdump/iwdump/capture"
)

// Offsets within a block of the ring (struct tpacket_block_desc, tpacket3_hdr
// and sockaddr_ll of linux/if_packet.h), which are in the host's byte order.
const (
	blockStatus  = 8
	blockFrames  = 12
	blockFirst   = 16
	blockHeadLen = 48

	frameNext    = 0
	frameSec     = 4
	frameNsec    = 8
	frameSnaplen = 12
	frameLen     = 16
	frameStatus  = 20
	frameMAC     = 24
	frameTCI     = 32
	frameTPID    = 36
	frameAddr    = 48 // struct sockaddr_ll

	addrProtocol = 2 // in network byte order
	addrIndex    = 4
	addrHardware = 8
	addrType     = 10
	addrLen      = 11
	addrAddr     = 12

	frameHeadLen = frameAddr + 20
)

// Bits of a status.
const (
	statusKernel    = 0      // the block is to be filled
	statusUser      = 1 << 0 // the block is ours
	statusLosing    = 1 << 2 // frames were dropped since the counters were read
	statusVLAN      = 1 << 4
	statusTPID      = 1 << 6
	outgoing        = 4 // PACKET_OUTGOING
	defaultTPID     = 0x8100
	ethernetAddrs   = 12 // octets in front of where a VLAN tag stands
	sll2Len         = 20
	vlanLen         = 4
	maxFramesABlock = 1 << 16
)

// A parser takes blocks of the ring apart.
type parser struct {
	link     capture.LinkType  // LinkEthernet or LinkSLL2
	loopback uint32            // index of the interface whose frames come twice, 0 for none
	ifaces   map[uint32]uint32 // numbers of the interfaces by their indices
	number   uint64            // of the last frame
	last     int64             // time of the last frame
	skipped  uint64            // second copies
}

// A rawFrame is a frame in the ring.
type rawFrame struct {
	data []byte
	size int // on the wire
	time int64
	addr []byte // struct sockaddr_ll

	tagged    bool
	tpid, tci uint16
}

// extra is how many octets are put into the frame.
func (p *parser) extra(f *rawFrame) int {
	n := 0
	if f.tagged {
		n = vlanLen
	}
	if p.link == capture.LinkSLL2 {
		n += sll2Len
	}
	return n
}

// each calls use with the frames of a block of the ring. It stops where the
// block contradicts itself.
func (p *parser) each(b []byte, use func(*rawFrame)) {
	if len(b) < blockHeadLen {
		return
	}
	count := min(binary.NativeEndian.Uint32(b[blockFrames:]), maxFramesABlock)
	at := uint64(binary.NativeEndian.Uint32(b[blockFirst:]))
	var f rawFrame
	for range count {
		if at+frameHeadLen > uint64(len(b)) {
			return
		}
		h := b[at:]
		mac, snap := uint64(binary.NativeEndian.Uint16(h[frameMAC:])), uint64(binary.NativeEndian.Uint32(h[frameSnaplen:]))
		if mac < frameHeadLen || mac+snap > uint64(len(h)) {
			return
		}
		f = rawFrame{
			data: h[mac : mac+snap],
			size: max(int(binary.NativeEndian.Uint32(h[frameLen:])), int(snap)),
			time: int64(binary.NativeEndian.Uint32(h[frameSec:]))*1e9 + int64(binary.NativeEndian.Uint32(h[frameNsec:])),
			addr: h[frameAddr:frameHeadLen],
		}
		status := binary.NativeEndian.Uint32(h[frameStatus:])
		if f.tci = uint16(binary.NativeEndian.Uint32(h[frameTCI:])); f.tci != 0 || status&statusVLAN != 0 {
			f.tagged, f.tpid = true, defaultTPID
			if t := binary.NativeEndian.Uint16(h[frameTPID:]); status&statusTPID != 0 && t != 0 {
				f.tpid = t
			}
		}
		// A frame on the loopback interface comes twice: as it leaves and as
		// it arrives.
		if p.loopback != 0 && f.addr[addrType] == outgoing && binary.NativeEndian.Uint32(f.addr[addrIndex:]) == p.loopback {
			p.skipped++
		} else {
			use(&f)
		}
		next := uint64(binary.NativeEndian.Uint32(h[frameNext:]))
		if next == 0 {
			return
		}
		at += next
	}
}

// size returns how many octets the frames of a block of the ring take when
// they are copied.
func (p *parser) size(b []byte) (n int) {
	before := p.skipped
	p.each(b, func(f *rawFrame) { n += len(f.data) + p.extra(f) })
	p.skipped = before
	return n
}

// copy appends the frames of a block of the ring to blk, their octets to buf.
// There must be room for size octets.
func (p *parser) copy(b, buf []byte, blk *capture.Block) []byte {
	p.each(b, func(f *rawFrame) {
		extra := p.extra(f)
		if len(buf)+len(f.data)+extra > cap(buf) {
			return
		}
		start := len(buf)
		buf = p.append(buf, f)
		p.number++
		p.last = max(p.last, f.time)
		blk.Frames = append(blk.Frames, capture.Frame{
			Data:   buf[start:len(buf):len(buf)],
			Len:    max(f.size+extra, len(buf)-start),
			Time:   f.time,
			Number: p.number,
			Link:   p.link,
			Iface:  p.ifaces[binary.NativeEndian.Uint32(f.addr[addrIndex:])],
		})
	})
	return buf
}

// append appends a frame as it was on the wire, or cooked.
func (p *parser) append(b []byte, f *rawFrame) []byte {
	tag := func(b []byte, typ uint16) []byte { // a tag's own type comes first, then it, then the inner type
		b = binary.BigEndian.AppendUint16(b, f.tci)
		return binary.BigEndian.AppendUint16(b, typ)
	}
	if p.link == capture.LinkSLL2 {
		proto := binary.BigEndian.Uint16(f.addr[addrProtocol:])
		typ := proto
		if f.tagged {
			typ = f.tpid
		}
		b = binary.BigEndian.AppendUint16(b, typ)
		b = append(b, 0, 0)
		b = binary.BigEndian.AppendUint32(b, binary.NativeEndian.Uint32(f.addr[addrIndex:]))
		b = binary.BigEndian.AppendUint16(b, binary.NativeEndian.Uint16(f.addr[addrHardware:]))
		b = append(b, f.addr[addrType], f.addr[addrLen])
		b = append(b, f.addr[addrAddr:addrAddr+8]...)
		if f.tagged {
			b = tag(b, proto)
		}
		return append(b, f.data...)
	}
	if !f.tagged || len(f.data) < ethernetAddrs {
		return append(b, f.data...)
	}
	b = append(b, f.data[:ethernetAddrs]...)
	b = binary.BigEndian.AppendUint16(b, f.tpid)
	b = binary.BigEndian.AppendUint16(b, f.tci)
	return append(b, f.data[ethernetAddrs:]...)
}
