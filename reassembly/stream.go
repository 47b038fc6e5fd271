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
// time. Data aliases the captured frame, or the store of an Assembler, and is
// valid during the call.
type Chunk struct {
	Data []byte
	Off  uint64 // of Data[0], from the first octet of this direction
	Seq  uint32 // of Data[0], as in the TCP header
	Stamp
	// Retransmitted says that these octets had been sent before, though the
	// capture lacks that or they were not taken, or that they were sent again
	// while they were held.
	Retransmitted bool

	dir *direction
	seg *packet.Segment // nil for octets from the store, which were checked
}

// Damaged says that the receiver threw the segment away: its TCP checksum is
// wrong, in a direction where those of others are right. Where checksums are
// not filled in, as on a sender with offload, or where the receiving host put
// segments together, they tell nothing.
func (c *Chunk) Damaged() bool { return c.seg != nil && c.dir.damaged(c.seg) }

// GapCause says why octets are missing.
type GapCause uint8

const (
	GapLost  GapCause = iota // the peer acknowledged them: the capture lost them
	GapCut                   // the capture kept only the head of the packet
	GapNever                 // they never came: the wait ended by a limit, by idleness or with the connection
)

// A Gap is a run of octets that will not come. It stands in the place of a
// Chunk.
type Gap struct {
	Off   uint64
	Seq   uint32
	Len   uint64
	Cause GapCause
	Stamp // of the segment that made it certain
}

// EventKind says what an Event is.
type EventKind uint8

const (
	Retransmission  EventKind = iota // Len octets of the segment at Seq had been sent before
	Duplicate                        // the same packet was captured twice
	OutOfOrder                       // the segment at Seq came later than what follows it: Len octets fill a hole
	OverlapConflict                  // a second copy of Len octets from Seq on differs from the first, which counts
	ResetSent                        // an RST
	FinSent                          // a FIN
	SynRetry                         // a SYN came again
	ZeroWindow                       // the window of the side is closed
	WindowOpen                       // it is open again, after Time ns
	Dropped                          // Len octets from Seq on have a wrong checksum: the receiver threw them away
	Late                             // Len octets of the segment at Seq came after they had been given up as a Gap
)

// An Event is what TCP did that is neither data nor a gap.
type Event struct {
	Kind EventKind
	Seq  uint32
	Len  uint64
	// Time, in ns: WindowOpen: how long it was closed. Retransmission and
	// Duplicate: since the first copy, 0 where that is not remembered.
	// OutOfOrder, Unseen: since what follows was seen.
	Time int64
	// Unseen says of a Retransmission that the capture does not hold the
	// transmission before it.
	Unseen bool
	At     Stamp
}

// EndKind says how a connection ended.
type EndKind uint8

const (
	EndOpen     EndKind = iota // it did not: the capture did
	EndClosed                  // FIN from both sides
	EndReset                   // RST
	EndIdle                    // nothing came for Config.IdleTimeout
	EndReplaced                // a new connection uses the same addresses and ports
	EndEvicted                 // more connections were open than Config allows
)

// An End is the end of a connection.
type End struct {
	Kind EndKind
	// By is the side that sent the first FIN, or the RST, where HasBy.
	By    Side
	HasBy bool
	Fin   [2]bool // sides that sent a FIN
	At    Stamp   // of the last segment
}

// A Stream receives what the two sides of one connection send. What it is given
// is valid during the call. Its methods must not call the Assembler.
type Stream interface {
	// Data takes octets in order. It returns how many it accepts: less than
	// len(c.Data) only where c.Damaged() says that the receiver threw the
	// segment away; the rest counts as not seen, and is awaited again.
	Data(side Side, c *Chunk) int
	// Gap tells that octets will not come.
	Gap(side Side, g *Gap)
	// Ack tells that side acknowledged all octets of the other side below
	// off. It comes before the data of the same segment, and after all octets
	// below off were handed on as Data or Gap: where they are captured later
	// than the acknowledgement, the call is late, but at is still its stamp.
	Ack(side Side, off uint64, at Stamp)
	// Event tells what else TCP did.
	Event(side Side, e *Event)
	// End tells that no more will come. It is called once.
	End(e *End)
}

// ignored stands in for a Stream that wants no more.
type ignored struct{}

func (ignored) Data(_ Side, c *Chunk) int { return len(c.Data) }
func (ignored) Gap(Side, *Gap)            {}
func (ignored) Ack(Side, uint64, Stamp)   {}
func (ignored) Event(Side, *Event)        {}
func (ignored) End(*End)                  {}
