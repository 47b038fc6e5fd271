package packet_test

import (
	"encoding/binary"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/packet"
	"pgregory.net/rapid"
)

// setChecksum fills in the checksum of the TCP segment at off of a packet with
// addresses at addrs, octet pair by octet pair (RFC 1071).
func setChecksum(data []byte, addrs []byte, off int) {
	tcp := data[off:]
	tcp[16], tcp[17] = 0, 0
	sum := uint64(6) + uint64(len(tcp))
	for _, b := range [][]byte{addrs, tcp} {
		for i, v := range b {
			if i%2 == 0 {
				sum += uint64(v) << 8
			} else {
				sum += uint64(v)
			}
		}
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(tcp[16:], ^uint16(sum))
}

// Any payload, any addresses: right as computed, wrong with any one bit off.
func TestChecksum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "payload")
		header := tcpHeader(rapid.Byte().Draw(t, "flags")&^2, make([]byte, 4*rapid.IntRange(0, 10).Draw(t, "options")))
		var data []byte
		var off int
		if rapid.Bool().Draw(t, "IPv6") {
			data, off = ipv6(6, header, body), 40
			copy(data[8:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "addresses"))
			setChecksum(data, data[8:40], off)
		} else {
			data, off = ipv4(6, header, body), 20
			copy(data[12:], rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(t, "addresses"))
			setChecksum(data, data[12:20], off)
		}
		s, k := decode(frame(capture.LinkRaw, data))
		if k != packet.TCP || s.Checksum() != packet.SumOK {
			t.Fatalf("%v, verdict %d", k, s.Checksum())
		}
		at := off + rapid.IntRange(0, len(data)-off-1).Draw(t, "at")
		if at == off+12 {
			return // the data offset
		}
		data[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if s, k := decode(frame(capture.LinkRaw, data)); k != packet.TCP || s.Checksum() != packet.SumBad {
			t.Fatalf("with a bit error: %v, verdict %d", k, s.Checksum())
		}
	})
}

// With a routing header that has hops left the pseudo header holds a
// destination other than the packet's (RFC 8200, section 8.1).
func TestChecksumRouting(t *testing.T) {
	data := ipv6(43, []byte{6, 0, 4, 0, 0, 0, 0, 0}, segment)
	setChecksum(data, data[8:40], 48)
	if s, _ := decode(frame(capture.LinkRaw, data)); s.Checksum() != packet.SumOK {
		t.Errorf("no hops left: verdict %d", s.Checksum())
	}
	data[43] = 1
	if s, _ := decode(frame(capture.LinkRaw, data)); s.Checksum() != packet.SumUnknown {
		t.Errorf("one hop left: verdict %d", s.Checksum())
	}
}

// A host that leaves the checksum to its hardware puts the sum of the pseudo
// header into the field, as one does that merges packets it received.
func TestChecksumOffload(t *testing.T) {
	data := []byte{
		0x45, 0, 0, 44, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
		0x10, 0x01, 0x20, 0x02, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0,
		'd', 'a', 't', 'a',
	}
	// 0a00 + 0001 + 0a00 + 0002 + 0006 (protocol) + 0018 (length of TCP) = 1421
	data[36], data[37] = 0x14, 0x21
	s, k := decode(frame(capture.LinkRaw, data))
	if k != packet.TCP || s.Checksum() != packet.SumUnknown {
		t.Errorf("%v, verdict %d, want unknown", k, s.Checksum())
	}
	data[37]++
	if s, _ := decode(frame(capture.LinkRaw, data)); s.Checksum() != packet.SumBad {
		t.Errorf("verdict %d, want bad", s.Checksum())
	}
}
