package reassembly_test

import (
	"fmt"

	"github.com/iwdump/iwdump/packet"
	"github.com/iwdump/iwdump/reassembly"
)

// A printer prints what a connection carries.
type printer struct{}

func (printer) Data(side reassembly.Side, c *reassembly.Chunk) int {
	fmt.Printf("side %d, offset %d, frame %d: %q\n", side, c.Off, c.Frame, c.Data)
	return len(c.Data)
}

func (printer) Gap(side reassembly.Side, g *reassembly.Gap) {
	fmt.Printf("side %d, offset %d: %d octets are missing\n", side, g.Off, g.Len)
}

func (printer) Ack(reassembly.Side, uint64, reassembly.Stamp)   {}
func (printer) Event(side reassembly.Side, e *reassembly.Event) {}
func (printer) End(*reassembly.End)                             { fmt.Println("end") }

// Segments come out of order, one comes twice, and one is not captured.
func Example() {
	a := reassembly.New(reassembly.Config{}, func(*reassembly.Conn) reassembly.Stream { return printer{} })
	flow := packet.Flow{Src: packet.Endpoint{Port: 40000}, Dst: packet.Endpoint{Port: 7174}}
	segments := []packet.Segment{
		{Flow: flow, Flags: packet.SYN, Seq: 999},
		{Flow: flow, Flags: packet.ACK, Seq: 1000, Payload: []byte("one, ")},
		{Flow: flow, Flags: packet.ACK, Seq: 1010, Payload: []byte("three, ")},
		{Flow: flow, Flags: packet.ACK, Seq: 1005, Payload: []byte("two, ")},
		{Flow: flow, Flags: packet.ACK, Seq: 1005, Payload: []byte("two, ")},
		{Flow: flow, Flags: packet.ACK, Seq: 1023, Payload: []byte("five.")},
		{Flow: flow.Reverse(), Flags: packet.ACK, Ack: 1028},
	}
	for i := range segments {
		s := &segments[i]
		s.Len, s.Window = len(s.Payload), 1000
		a.Segment(s, reassembly.Stamp{Frame: uint64(i + 1), Time: int64(i) * 1e6})
	}
	a.Flush()
	// Output:
	// side 0, offset 0, frame 2: "one, "
	// side 0, offset 5, frame 4: "two, "
	// side 0, offset 10, frame 3: "three, "
	// side 0, offset 17: 6 octets are missing
	// side 0, offset 23, frame 6: "five."
	// end
}
