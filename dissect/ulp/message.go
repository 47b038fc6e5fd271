package ulp

import (
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
)

// A Side is one end of a QP: 0 or 1. Which of them is the client, the content
// tells.
type Side uint8

// Other returns the other end.
func (s Side) Other() Side { return s ^ 1 }

// A Message is one RDMAP message as an upper layer sees it. It, and what it
// points to, is valid during the call.
type Message struct {
	N        int // 1, 2, … within the QP
	Side     Side
	Op       rdmap.Op
	Size     uint64    // octets behind the DDP headers
	Payload  []byte    // its first octets, as many as were captured and are kept
	Complete bool      // every octet was captured; Payload can be shorter even so
	First    mpa.Stamp // of its first octet
	Last     mpa.Stamp // of its last octet
	MSN      uint32    // of a Send

	// Invalidate is the STag that a Send with Invalidate names, where
	// HasInvalidate.
	Invalidate    uint32
	HasInvalidate bool

	// STag and TO are where an RDMA Write or Read Response goes. Those of a
	// Read Request are its source: the buffer of the peer that it reads.
	STag uint32
	TO   uint64
	// ReadSize is what a Read Request asks for.
	ReadSize uint32
	// Answers is the N of the Read Request that a Read Response answers, 0
	// where that is not known.
	Answers int
}

// IsSend says that it is one of the four kinds of Send.
func (m *Message) IsSend() bool { return m.Op.IsSend() }

// Whole says that every octet of it is in Payload.
func (m *Message) Whole() bool { return m.Complete && uint64(len(m.Payload)) == m.Size }

// A Startup is an MPA startup frame as an upper layer sees it (RFC 5044,
// section 7.1).
type Startup struct {
	N           int
	Side        Side
	Reply       bool
	Reject      bool
	Revision    uint8
	Enhanced    bool // IRD and ORD are negotiated as RFC 6581 says
	First, Last mpa.Stamp
	Private     []byte // private data of the upper layer, without IRD and ORD
}
