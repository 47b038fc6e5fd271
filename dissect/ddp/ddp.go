// Package ddp reads and writes the segment headers of Direct Data Placement
// over Reliable Transports (RFC 5041), and puts segments together into
// messages.
package ddp

import "github.com/iwdump/iwdump/dissect/mpa"

// A Segment is one DDP segment as it came.
type Segment struct {
	Header
	Len      int    // payload octets, captured or not
	Payload  []byte // the first of them, as far as they are at hand; aliased
	Off      uint64 // of its FPDU in its direction of the stream
	Wire     int    // octets of the FPDU in the stream
	First    mpa.Stamp
	Latest   mpa.Stamp // of its last octet
	Complete bool      // every octet was captured
	EndLost  bool      // the packet with its last octet was not: Latest is when that was noticed
	Retrans  bool      // some of it had been sent before
	CRC      mpa.CRC
}

// A Message is a DDP message put together from its segments.
type Message struct {
	Header   Header // of its first segment that was seen
	Size     uint64 // payload octets, all segments together
	Segments int
	Off      uint64 // of its first FPDU in its direction of the stream
	End      uint64 // of the octet behind its last FPDU
	First    mpa.Stamp
	Last     mpa.Stamp // of the last octet of its last segment
	Done     bool      // its last segment (L) came
	Complete bool      // every octet from its first to its last was captured
	EndLost  bool      // the packet with its last octet was not: Last is when that was noticed
	Retrans  bool      // some of it had been sent before
	CRC      mpa.CRC   // the worst of its segments: bad, unchecked, off, ok
	Payload  []byte    // its first octets, as many as the Assembler keeps; valid during the call
}

// ViolationKind says which rule a segment breaks.
type ViolationKind uint8

const (
	BadVersion  ViolationKind = iota // DV is not 1 (RFC 5041, section 4.1)
	MSNGap                           // the MSN is not the next of its queue (section 4.3)
	MSNRepeated                      // the MSN was used before
	MOGap                            // the MO is not where the last segment ended (section 4.3)
	TOGap                            // the TO is not where the last segment ended (section 4.2)
	TOWrap                           // the TO wraps (section 7.1)
	Unfinished                       // a message begins before the one before it ended (section 5.3)
)

// A Violation is a rule of RFC 5041 that a segment breaks.
type Violation struct {
	Kind      ViolationKind
	Header    Header
	Want, Got uint64
	Off       uint64
	At        mpa.Stamp
}

// A Handler takes what an Assembler makes. What it is given is valid during
// the call.
type Handler interface {
	Message(*Message)
	Violation(*Violation)
}
