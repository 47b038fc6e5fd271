package packet_test

import (
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/packet"
)

func FuzzDecode(f *testing.F) {
	add := func(link capture.LinkType, data []byte) { f.Add(uint16(link), len(data)+9, data) }
	add(capture.LinkEthernet, ethernet(0x0800, packet4))
	add(capture.LinkEthernet, ethernet(0x86dd, packet6))
	add(capture.LinkEthernet, ethernet(0x8100, []byte{0, 1, 0x88, 0xa8, 0, 2, 8, 0}, packet4))
	add(capture.LinkSLL, join(make([]byte, 14), []byte{8, 0}, packet4))
	add(capture.LinkSLL2, join([]byte{0x86, 0xdd}, make([]byte, 18), packet6))
	add(capture.LinkNull, join([]byte{0, 0, 0, 30}, packet6))
	add(capture.LinkRaw, ipv6(0, []byte{60, 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0, 0, 0, 0, 0, 51, 0, 0, 0, 0, 0, 0, 0, 6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, segment))
	for _, c := range clothes {
		add(c.link, c.data)
	}
	add(capture.LinkRaw, ipv4Options(6, make([]byte, 40), tcpHeader(2, []byte{2, 4, 1, 1, 3, 3, 1, 0}), payload))
	f.Fuzz(func(t *testing.T, link uint16, wire int, data []byte) {
		frame := capture.Frame{Data: data, Len: max(wire, len(data)), Link: capture.LinkType(link)}
		var (
			d packet.Decoder
			s packet.Segment
		)
		kind := d.Decode(&frame, &s)
		_ = kind.String()
		if kind != packet.TCP {
			return
		}
		if s.Len < 0 || s.Len > 1<<20 || len(s.Payload) > s.Len {
			t.Fatalf("%d of %d octets", len(s.Payload), s.Len)
		}
		// The payload lies within the frame, behind 20 octets of IP and 20 of
		// TCP. (One frame by itself is no whole packet in fragments.)
		if n := len(s.Payload); n > 0 && (n+40 > len(data) || &s.Payload[0] != &data[cap(data)-cap(s.Payload)]) {
			t.Fatalf("payload of %d octets in a frame of %d", n, len(data))
		}
		if s.Flags&packet.SYN == 0 && (s.MSS != 0 || s.WScale != -1) || s.WScale < -1 || s.WScale > 14 {
			t.Fatalf("MSS %d, shift %d with flags %#x", s.MSS, s.WScale, s.Flags)
		}
		if sum := s.Checksum(); sum != packet.SumUnknown && len(s.Payload) < s.Len {
			t.Fatal("a verdict on a checksum of which octets are missing")
		}
		if s.Flow.Reverse().Reverse() != s.Flow {
			t.Fatal("the reverse of the reverse is another flow")
		}
	})
}
