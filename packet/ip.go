package packet

import (
	"encoding/binary"

	"github.com/iwdump/iwdump/capture"
)

// ipv4 takes the IPv4 header at off apart (RFC 791, section 3.1).
func ipv4(f *capture.Frame, off int, s *Segment) Kind {
	if len(f.Data)-off < minIPv4 {
		return tooShort(f)
	}
	h := f.Data[off:]
	_ = h[minIPv4-1]
	ihl := int(h[0]&0x0f) * 4
	if h[0]>>4 != 4 || ihl < minIPv4 {
		return Malformed
	}
	total := int(binary.BigEndian.Uint16(h[2:]))
	if total == 0 {
		// Segmentation is left to the NIC, or the packet is longer than 64 KiB.
		if total = f.Len - off; total > maxJumbo {
			return Malformed
		}
	}
	if total < ihl {
		return Malformed
	}
	if off+total > f.Len && badHeader(h, ihl) {
		// Longer than the frame was on the wire. A switch that mirrors only the
		// first octets of packets makes such frames, but this is damage.
		total = max(f.Len-off, ihl)
	}
	if binary.BigEndian.Uint16(h[6:])&0x3fff != 0 { // more fragments, or an offset
		return Fragment
	}
	// The IPv4-mapped form (RFC 4291, section 2.5.5.2).
	const prefix = 0x0000_0000_ffff_0000
	src, dst := &s.Flow.Src.Addr, &s.Flow.Dst.Addr
	binary.LittleEndian.PutUint64(src[:8], 0)
	binary.LittleEndian.PutUint64(src[8:], prefix|uint64(binary.LittleEndian.Uint32(h[12:]))<<32)
	binary.LittleEndian.PutUint64(dst[:8], 0)
	binary.LittleEndian.PutUint64(dst[8:], prefix|uint64(binary.LittleEndian.Uint32(h[16:]))<<32)
	s.IPID = binary.BigEndian.Uint16(h[4:])
	s.detours = false
	if h[9] == protoTCP {
		return tcp(f, off+ihl, off+total, s)
	}
	return extensions(f, h[9], off+ihl, off+total, s)
}

// badHeader says whether the checksum of an IPv4 header is there and wrong.
func badHeader(h []byte, ihl int) bool {
	return len(h) >= ihl && (h[10] != 0 || h[11] != 0) && fold(add(0, h[:ihl])) != 0xffff
}

// ipv6 takes the IPv6 header at off apart (RFC 8200, section 3).
func ipv6(f *capture.Frame, off int, s *Segment) Kind {
	if len(f.Data)-off < minIPv6 {
		return tooShort(f)
	}
	h := f.Data[off:]
	if h[0]>>4 != 6 {
		return Malformed
	}
	end := off + minIPv6 + int(binary.BigEndian.Uint16(h[4:]))
	if end == off+minIPv6 {
		// A jumbogram says how long it is; where it is left to the NIC the
		// frame tells.
		if n := jumbo(f.Data[off:]); n > 0 {
			end += n
		} else {
			end = max(end, f.Len)
		}
		if end-off > maxJumbo {
			return Malformed
		}
	}
	s.Flow.Src.Addr = [16]byte(h[8:24])
	s.Flow.Dst.Addr = [16]byte(h[24:40])
	s.IPID = 0
	s.detours = false
	if h[6] == protoTCP {
		return tcp(f, off+minIPv6, end, s)
	}
	return extensions(f, h[6], off+minIPv6, end, s)
}

// jumbo returns the length that the Jumbo Payload option of an IPv6 packet
// gives (RFC 2675, section 2), or 0. Linux puts it first (BIG TCP), and so must
// it be here.
func jumbo(b []byte) int {
	if len(b) < minIPv6+8 || b[6] != protoHopByHop || b[minIPv6+2] != 0xc2 || b[minIPv6+3] != 4 {
		return 0
	}
	return int(min(binary.BigEndian.Uint32(b[minIPv6+4:]), maxJumbo+1))
}

// extensions passes over headers between IP and TCP (RFC 8200, section 4).
// proto is what is at off; the packet ends at end.
func extensions(f *capture.Frame, proto byte, off, end int, s *Segment) Kind {
	for {
		var size int
		switch proto {
		case protoTCP:
			return tcp(f, off, end, s)
		case protoHopByHop, protoRouting, protoDestination, protoMobility, protoHIP, protoShim6,
			protoFragment, protoAH:
			if off+8 > end {
				return Malformed
			}
			if len(f.Data) < off+8 {
				return CutShort
			}
			size = (int(f.Data[off+1]) + 1) * 8
		default:
			return NotTCP
		}
		switch h := f.Data[off:]; proto {
		case protoFragment:
			if binary.BigEndian.Uint16(h[2:])&0xfff9 != 0 { // an offset, or more to come
				return Fragment
			}
			size = 8 // a fragment that is the whole packet (RFC 6946)
		case protoAH: // RFC 4302, section 2.2
			size = (int(h[1]) + 2) * 4
		case protoRouting:
			s.detours = s.detours || h[3] != 0
		}
		proto = f.Data[off]
		off += size
	}
}

// tcp takes the TCP header at off apart (RFC 9293, section 3.1). The packet
// ends at end, and so does the payload.
func tcp(f *capture.Frame, off, end int, s *Segment) Kind {
	if end-off < minTCP {
		return Malformed
	}
	if len(f.Data)-off < needTCP {
		return CutShort
	}
	b := f.Data[off:min(end, len(f.Data))]
	_ = b[needTCP-1]
	hdr := int(b[12]>>4) * 4
	if hdr < minTCP || hdr > end-off {
		return Malformed
	}
	s.Flow.Src.Port = binary.BigEndian.Uint16(b)
	s.Flow.Dst.Port = binary.BigEndian.Uint16(b[2:])
	s.Seq = binary.BigEndian.Uint32(b[4:])
	s.Ack = binary.BigEndian.Uint32(b[8:])
	s.Flags = Flags(b[13])
	s.Window = binary.BigEndian.Uint16(b[14:])
	s.MSS = 0
	s.WScale = -1
	s.tcp = b
	s.tcpLen = end - off
	s.Len = end - off - hdr
	s.Payload = b[min(hdr, len(b)):]
	if s.Flags&SYN != 0 && hdr > minTCP {
		s.options(b[min(minTCP, len(b)):min(hdr, len(b))])
	}
	return TCP
}

// TCP options (RFC 9293, section 3.2; RFC 7323, section 2.2).
const (
	optEnd    = 0
	optNop    = 1
	optMSS    = 2
	optWScale = 3
)

// options takes what matters from the options of a SYN.
func (s *Segment) options(b []byte) {
	for len(b) > 0 {
		switch b[0] {
		case optEnd:
			return
		case optNop:
			b = b[1:]
			continue
		}
		if len(b) < 2 || b[1] < 2 || int(b[1]) > len(b) {
			return
		}
		switch v := b[2:b[1]]; {
		case b[0] == optMSS && len(v) == 2:
			s.MSS = binary.BigEndian.Uint16(v)
		case b[0] == optWScale && len(v) == 1:
			s.WScale = int8(min(v[0], 14)) // RFC 7323, section 2.3
		}
		b = b[b[1]:]
	}
}
