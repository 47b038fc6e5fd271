package packet_test

import (
	"fmt"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/packet"
)

func ExampleDecoder_Decode() {
	frame := capture.Frame{
		Data: []byte{
			0x45, 0, 0, 44, 0, 1, 0, 0, 64, 6, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2, // IPv4
			0x9c, 0x40, 0x11, 0x44, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x18, 1, 0, 0, 0, 0, 0, // TCP
			'a', 'b', // cut by the snaplen
		},
		Len:  44,
		Link: capture.LinkRaw,
	}
	var (
		d packet.Decoder
		s packet.Segment
	)
	if kind := d.Decode(&frame, &s); kind != packet.TCP {
		fmt.Println(kind)
		return
	}
	fmt.Println(s.Flow.Src.AddrPort(), s.Flow.Dst.AddrPort(), s.Seq)
	fmt.Printf("%d octets, captured %q\n", s.Len, s.Payload)
	// Output:
	// 192.0.2.1:40000 192.0.2.2:4420 1
	// 4 octets, captured "ab"
}
