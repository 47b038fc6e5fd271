package qp

import (
	"net/netip"

	"github.com/iwdump/iwdump/dissect/ddp"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/latency"
)

// A Side is one end of a connection: 0 is who was seen first, 1 the other.
type Side uint8

// Other returns the other end.
func (s Side) Other() Side { return s ^ 1 }

// A Role is what an end of a connection is.
type Role uint8

const (
	RoleA     Role = iota // seen first; who started the connection is not known
	RoleB                 // the other
	Initiator             // sent the MPA Request (RFC 5044, section 7.1)
	Responder             // sent the MPA Reply
)

var roleNames = [...]string{"a", "b", "initiator", "responder"}

// String is the role as one lower-case word.
func (r Role) String() string { return roleNames[r] }

// Letter is the role as one letter: A, B, I or R.
func (r Role) Letter() byte { return "ABIR"[r] }

// Other returns the role of the other end.
func (r Role) Other() Role { return r ^ 1 }

// A Conn is what all records of one QP share. All but Number is set before its
// first record and does not change.
type Conn struct {
	// Number is the QP's number in the output: 1, 2, … in the order in which
	// QPs are recognised. Whoever orders the records of all connections sets
	// it, so nothing but the output may read it.
	Number int
	First  uint64            // frame of the first segment
	Ends   [2]netip.AddrPort // by Side
	Text   [2]string         // Ends as text
}

// A Sink takes the records of one or many QPs. A record, and what it points
// to, is valid during the call.
type Sink interface {
	Message(*Message)
	FPDU(*FPDU)
	Operation(*Operation)
	Event(*Event)
	QP(*Summary)
}

// A Message is one RDMAP message or MPA startup frame.
type Message struct {
	Conn     *Conn
	N        int // 1, 2, … within the QP
	Side     Side
	From     Role
	First    mpa.Stamp // of its first octet
	Last     mpa.Stamp // of its last octet
	Off, End uint64    // octets of its direction of the stream that it takes
	Op       rdmap.Op
	Size     uint64 // octets behind the DDP headers; of a startup frame, of private data
	FPDUs    int
	Complete bool // every octet was captured
	Retrans  bool // some of it had been sent before
	RTR      bool // the ready-to-receive message of RFC 6581, section 5
	CRC      mpa.CRC
	HasCRC   bool       // false for startup frames
	Header   ddp.Header // of its first segment

	// By Op, and nil or absent where its octets were not captured.
	Startup   *mpa.Startup
	Read      *rdmap.ReadRequest
	Terminate *rdmap.Terminate
	Immediate *rdmap.Immediate
	AtomicReq *rdmap.AtomicRequest
	AtomicRsp *rdmap.AtomicResponse

	// Answers is the N of the request that this message answers, 0 for none,
	// and Latency the time from that request to this message's last octet.
	Answers int
	Latency int64

	Payload []byte // its first octets, as many as are kept

	// ULP is what it is to the upper layer, nil where nothing is known.
	ULP *ulp.Description
}

// An FPDU is one FPDU of a QP whose DDP header was captured.
type FPDU struct {
	mpa.FPDU
	Conn   *Conn
	Side   Side
	From   Role
	Op     rdmap.Op
	Header ddp.Header
}

// A Measure says what ends the time of an Operation.
type Measure uint8

const (
	MeasureResponse Measure = iota // the peer's RDMAP response
	MeasureAck                     // the TCP ACK of its last octet
	MeasureReply                   // the upper layer's answer
)

var measureNames = [...]string{"response", "ack", "reply"}

// String is the measure as one lower-case word.
func (m Measure) String() string { return measureNames[m] }

// A Status says how an Operation ended.
type Status uint8

const (
	StatusOK Status = iota
	StatusUnanswered
	StatusFailed
)

var statusNames = [...]string{"ok", "unanswered", "failed"}

// String is the status as one lower-case word.
func (s Status) String() string { return statusNames[s] }

// An OpKind is what an Operation is.
type OpKind uint8

const (
	KindWrite OpKind = iota
	KindConnect
	KindClose // from the first FIN to that of the peer
	KindRead
	KindAtomic
	KindSend
	KindSendInv
	KindSendSE
	KindSendSEInv
	KindImmediate
	KindImmediateSE
	KindCommand // of the upper layer

	opKinds
)

var kindNames = [opKinds]string{"rdma_write", "connect", "close", "rdma_read", "atomic", "send", "send_inv", "send_se", "send_se_inv", "immediate", "immediate_se", "command"}

// String is the name of the kind in lower case, words joined by "_".
func (k OpKind) String() string { return kindNames[k] }

// An Operation is a request with its answer, or a transfer with its ACK.
type Operation struct {
	Conn    *Conn
	Kind    OpKind
	Side    Side // who asked
	From    Role
	Start   mpa.Stamp
	End     mpa.Stamp // of the packet that ends it; of the last that was seen where Status is StatusUnanswered
	Latency int64     // ns from Start to End; the age where unanswered
	First   int64     // ns from Start to the first octet of the answer, -1 where there is none
	Measure Measure
	Size    uint64 // octets moved
	Request int    // N of the request, 0 for none
	Answer  int    // N of the answer, 0 for none
	Status  Status
	Retrans bool // the request, or its answer, was sent more than once

	// Of a read: from the first octet of the request to its last; from there
	// to the first octet of the response; from there to the last. -1 where
	// not known. Depth is how many were outstanding, this one included.
	RequestSpread  int64
	Service        int64
	ResponseSpread int64
	Depth          int

	// AnnouncedBy is, of a Write, the N of the Send or Immediate Data that
	// follows it; 0 for none.
	AnnouncedBy int

	// Guess says that the answer may be that of another request, as some
	// packets were not captured. Such operations are in no distribution.
	Guess bool

	// Command is what a KindCommand is to the upper layer, else nil.
	Command *ulp.Command
}

// Name is the name of its kind, or of the command of the upper layer that it
// is.
func (o *Operation) Name() string {
	if o.Command != nil {
		return o.Command.Name
	}
	return o.Kind.String()
}

// Severity of an Event.
type Severity uint8

const (
	Info Severity = iota
	Warning
	Error
)

var severityNames = [...]string{"info", "warning", "error"}

// String is the severity as one lower-case word.
func (s Severity) String() string { return severityNames[s] }

// An Event is something worth telling that is not a message.
type Event struct {
	Severity Severity
	Kind     string // "tcp_gap", "crc_mismatch", …
	Conn     *Conn  // nil for what concerns the capture as a whole
	Side     Side   // whose octets it concerns, where HasSide
	From     Role
	HasSide  bool
	At       mpa.Stamp
	Detail   string // a sentence
	N        int    // of the message it concerns, 0 for none

	Fields []Field // what the kind needs beyond that
}

// A Field is a named value of an Event: text where Text is not empty, else a
// number.
type Field struct {
	Name string
	Text string
	Num  int64
}

// A State says how a QP ended.
type State uint8

const (
	Open State = iota
	Closed
	Reset
	Terminated
	Rejected
)

var stateNames = [...]string{"open", "closed", "reset", "terminated", "rejected"}

// String is the state as one lower-case word.
func (s State) String() string { return stateNames[s] }

// A Stream counts the octets of one direction: Octets = Framed + Skipped +
// Missing, always.
type Stream struct {
	Octets        uint64 // sequence numbers from the first seen to the last
	Framed        uint64 // captured, part of a startup frame or FPDU
	Skipped       uint64 // captured, but not framed
	Missing       uint64 // not captured
	Retransmitted uint64 // sent again; not part of Octets
}

// A Summary is what can be said of a QP at its end, or the capture's.
type Summary struct {
	Conn        *Conn
	Roles       [2]Role   // by Side
	Start       mpa.Stamp // of its first segment
	End         mpa.Stamp // of its last
	State       State
	EndedBy     Role // who sent the first FIN, RST, Terminate or reject, where HasEnded
	HasEnded    bool
	Handshake   bool // both startup frames were seen
	Request     *mpa.Startup
	Reply       *mpa.Startup
	Inferred    bool       // Markers and CRC were found from the data
	CRC         mpa.Use    // whether CRCs are used; Unknown where nothing tells
	Markers     [2]mpa.Use // by Side: whether that side sends them
	RTR         string     // "send", "write", "read"; empty for none
	Messages    [rdmap.Ops]uint64
	Octets      [rdmap.Ops]uint64 // that they carry: the sum of Message.Size
	Sent        [2]uint64         // by Side: messages it sent
	Payload     [2]uint64         // by Side: octets of payload it sent
	FPDUs       [4]uint64         // by mpa.CRC
	Stream      [2]Stream         // by Side
	Limit       [2]int            // by Side: on reads and atomics outstanding, by IRD and ORD; -1 where none is known
	Starts      uint64            // FPDUs that start a TCP segment
	Within      uint64            // FPDUs that start within one
	AboveMSS    uint64            // FPDUs larger than the MSS of the receiver
	LargestFPDU int               // octets
	CaptureEnd  int64             // time of the last frame of the capture, where that ends the QP, in ns
	MaxDepth    [2]int            // by Side: most reads and atomics that it had outstanding
	Guessed     uint64            // operations that are a guess
	Unknown     uint64            // requests and answers of which nothing can be said, as the capture lacks the other
	Events      [3]uint64         // by Severity
	Latency     []Latency         // by operation, those that occurred
	ULP         *UpperLayer       // nil where none was recognised
}

// A Latency is the distribution of the latencies of one kind of operation.
type Latency struct {
	Kind OpKind
	Dist *latency.Dist
}
