// Package ddp reads and writes the segment headers of Direct Data Placement
// over Reliable Transports (RFC 5041), and puts segments together into
// messages.
package ddp

import "github.com/iwdump/iwdump/dissect/mpa"

// Lengths of the two headers in octets (RFC 5041, sections 4.2 and 4.3).
const (
	TaggedLen   = 14
	UntaggedLen = 18
)

// A Header is a DDP segment header, tagged or untagged (RFC 5041, section 4).
type Header struct {
	Tagged   bool
	Last     bool
	Reserved uint8 // Rsvd, four bits
	Version  uint8 // DV

	ULPControl uint8 // first octet of RsvdULP: the RDMAP control octet

	STag uint32 // tagged only
	TO   uint64 // tagged only

	ULPWord uint32 // untagged only: RsvdULP octets 1 to 4, the Invalidate STag of RDMAP
	QN      uint32 // untagged only
	MSN     uint32 // untagged only
	MO      uint32 // untagged only
}

// A Segment is one DDP segment as it came.
type Segment struct {
	Header
	Len      int    // payload octets, captured or not
	Payload  []byte // the first of them, as far as they are at hand; aliased
	Off      uint64 // of the FPDU in its direction of the stream
	Wire     int    // octets of the FPDU in the stream
	First    mpa.Stamp
	Last     mpa.Stamp
	Complete bool // every octet was captured
	Retrans  bool // some of it had been sent before
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
	Retrans  bool      // some of it had been sent before
	CRC      mpa.CRC   // the worst of its segments: bad, unchecked, off, ok
	Payload  []byte    // its first octets, as many as the Assembler keeps; valid during the call
}
