// Package reassembly puts the TCP segments of many connections back in order.
package reassembly

import "github.com/iwdump/iwdump/packet"

// A Stamp says which frame brought an octet, and when.
type Stamp struct {
	Frame uint64
	Time  int64 // nanoseconds since 1970-01-01 UTC
}

// A Side is one end of a connection.
type Side uint8

const (
	A Side = iota // who sent the first segment that was seen
	B
)

// Other returns the other end.
func (s Side) Other() Side { return s ^ 1 }

// A Chunk is a run of octets that one side sent, in order and for the first
// time. Data aliases the captured frame (or the assembler's store, for octets
// that came out of order) and is valid during the call.
type Chunk struct {
	Data []byte
	Off  uint64 // of Data[0], from the first octet of this direction
	Seq  uint32 // of Data[0], as in the TCP header
	Stamp
	// Retransmitted says that a segment before this one had carried some of
	// the same sequence numbers.
	Retransmitted bool

	dir *direction
	seg *packet.Segment // nil for octets from the store
}

// GapCause says why octets are missing.
type GapCause uint8

const (
	GapLost  GapCause = iota // the peer acknowledged them: the capture lost them
	GapCut                   // the capture kept only the head of the packet (snaplen)
	GapNever                 // they never came: limits or idleness ended the wait, or the connection ended
)

// A Gap is a run of octets that will not come. It stands in the place of a
// Chunk.
type Gap struct {
	Off   uint64
	Seq   uint32
	Len   uint64
	Cause GapCause
	Stamp        // of the segment that made it certain
}

// A Stream receives what the two sides of one connection sent.
type Stream interface {
	// Data takes octets in order. It returns how many it accepts: less than
	// len(c.Data) only where c.Damaged() tells that the receiver threw the
	// segment away; the rest counts as not seen, and its retransmission is
	// awaited.
	Data(side Side, c *Chunk) int
	// Gap tells that octets will not come.
	Gap(side Side, g *Gap)
	// Ack tells that side acknowledged all octets of the other side below
	// off. It is called once per advance, before the data of that segment.
	Ack(side Side, off uint64, at Stamp)
	// Event tells of what TCP did that is neither data nor gap.
	Event(side Side, e *Event)
	// End tells that no more will come. It is called once.
	End(e End)
}
