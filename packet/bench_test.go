package packet_test

import (
	"fmt"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/packet"
)

// Decode of the ordinary packet, and of one behind VLAN tags.
func BenchmarkDecode(b *testing.B) {
	v4 := ethernet(0x0800, ipv4(6, tcpHeader(0x10, nil), make([]byte, 1448)))
	v6 := ethernet(0x86dd, ipv6(6, tcpHeader(0x10, nil), make([]byte, 1448)))
	qinq := append(append([]byte{}, v4[:12]...), 0x88, 0xa8, 0, 1, 0x81, 0x00, 0, 2)
	qinq = append(qinq, v4[12:]...)
	for _, c := range []struct {
		name string
		data []byte
	}{{"IPv4", v4}, {"IPv6", v6}, {"QinQ", qinq}} {
		b.Run(c.name, func(b *testing.B) {
			f := capture.Frame{Data: c.data, Len: len(c.data), Link: capture.LinkEthernet}
			var (
				d packet.Decoder
				s packet.Segment
			)
			b.ReportAllocs()
			for b.Loop() {
				if d.Decode(&f, &s) != packet.TCP {
					b.Fatal("not TCP")
				}
			}
		})
	}
}

func BenchmarkChecksum(b *testing.B) {
	for _, n := range []int{0, 64, 1448, 8948} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			data := ethernet(0x0800, ipv4(6, tcpHeader(0x10, nil), make([]byte, n)))
			f := capture.Frame{Data: data, Len: len(data), Link: capture.LinkEthernet}
			var (
				d packet.Decoder
				s packet.Segment
			)
			if d.Decode(&f, &s) != packet.TCP {
				b.Fatal("not TCP")
			}
			b.SetBytes(int64(n + 20))
			b.ReportAllocs()
			for b.Loop() {
				if s.Checksum() == packet.SumUnknown {
					b.Fatal("not known")
				}
			}
		})
	}
}
