package mpa_test

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
)

// printer prints what a Framer finds.
type printer struct{}

func (printer) FPDU(f *mpa.FPDU) {
	fmt.Printf("FPDU at %d: %d octets of ULPDU, CRC %v, found by %v\n", f.Off, f.Length, f.CRC, f.Found)
}

func (printer) Notice(n *mpa.Notice) {
	if n.Kind == mpa.NoticeResync {
		fmt.Printf("goes on at %d, behind %d octets\n", n.Off, n.Len)
	}
}

// A stream that is seen from its middle on: whether it has CRCs or Markers is
// found from the data.
func ExampleFramer() {
	w := mpa.Writer{CRC: true}
	var stream []byte
	for i := range 4 { // RDMA Writes of 100 octets
		ulpdu := []byte{0xC1, 0x40, 0, 0, 0xA1, 0xB2, 0, 0, 0, 0, 0, 0, byte(i), 0}
		stream = w.Append(stream, append(ulpdu, make([]byte, 100)...))
	}
	f := mpa.NewFramer(printer{}, mpa.Config{Protocol: rdmap.Protocol{}, Off: 50})
	f.Push(&mpa.Chunk{Data: stream[50:], Stamp: mpa.Stamp{Frame: 1}})
	f.Flush(mpa.Stamp{Frame: 1})
	// Output:
	// goes on at 120, behind 70 octets
	// FPDU at 120: 114 octets of ULPDU, CRC ok, found by crc
	// FPDU at 240: 114 octets of ULPDU, CRC ok, found by chain
	// FPDU at 360: 114 octets of ULPDU, CRC ok, found by chain
}

func ExampleParseStartup() {
	frame := []byte("MPA ID Req Frame\x50\x02\x00\x04\x00\x10\x00\x20")
	s, n, err := mpa.ParseStartup(frame)
	fmt.Println(n, err, s.CRC, s.Revision, s.IRD, s.ORD)
	// Output: 24 <nil> true 2 16 32
}
