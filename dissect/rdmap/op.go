package rdmap

// An Op is what a message is: one of the RDMAP opcodes (RFC 5040, section 4.1;
// RFC 7306, section 4), or a startup frame of MPA, which precedes them.
type Op uint8

const (
	OpWrite          Op = 0x0
	OpReadRequest    Op = 0x1
	OpReadResponse   Op = 0x2
	OpSend           Op = 0x3
	OpSendInv        Op = 0x4
	OpSendSE         Op = 0x5
	OpSendSEInv      Op = 0x6
	OpTerminate      Op = 0x7
	OpImmediate      Op = 0x8 // RFC 7306, section 6
	OpImmediateSE    Op = 0x9
	OpAtomicRequest  Op = 0xA // RFC 7306, section 5
	OpAtomicResponse Op = 0xB

	OpMPARequest Op = 0x10 // RFC 5044, section 7.1
	OpMPAReply   Op = 0x11

	// Ops is one more than the largest Op, for arrays indexed by Op.
	Ops = 0x12
)

// Queue numbers (RFC 5040, section 4.1; RFC 7306, section 10.2).
const (
	QueueSend      = 0
	QueueRequest   = 1
	QueueTerminate = 2
	QueueAtomic    = 3
)

// rule is what RFC 5040 and 7306 say of the segments of an opcode.
type rule struct {
	name, title string
	known       bool
	tagged      bool
	queue       uint32
	min, max    int  // payload octets; max 0: no limit
	invalidate  bool // RsvdULP carries an STag
}

var rules = [Ops]rule{
	OpWrite:          {name: "rdma_write", title: "RDMA Write", known: true, tagged: true},
	OpReadRequest:    {name: "rdma_read_request", title: "RDMA Read Request", known: true, queue: QueueRequest, min: ReadRequestLen, max: ReadRequestLen},
	OpReadResponse:   {name: "rdma_read_response", title: "RDMA Read Response", known: true, tagged: true},
	OpSend:           {name: "send", title: "Send", known: true},
	OpSendInv:        {name: "send_inv", title: "Send with Invalidate", known: true, invalidate: true},
	OpSendSE:         {name: "send_se", title: "Send with Solicited Event", known: true},
	OpSendSEInv:      {name: "send_se_inv", title: "Send with Solicited Event and Invalidate", known: true, invalidate: true},
	OpTerminate:      {name: "terminate", title: "Terminate", known: true, queue: QueueTerminate, min: TerminateMin, max: TerminateMax},
	OpImmediate:      {name: "immediate", title: "Immediate Data", known: true, min: ImmediateLen, max: ImmediateLen},
	OpImmediateSE:    {name: "immediate_se", title: "Immediate Data with Solicited Event", known: true, min: ImmediateLen, max: ImmediateLen},
	OpAtomicRequest:  {name: "atomic_request", title: "Atomic Request", known: true, queue: QueueRequest, min: AtomicRequestLen, max: AtomicRequestLen},
	OpAtomicResponse: {name: "atomic_response", title: "Atomic Response", known: true, queue: QueueAtomic, min: AtomicResponseLen, max: AtomicResponseLen},
	0xC:              {name: "reserved_12", title: "reserved opcode 12"},
	0xD:              {name: "reserved_13", title: "reserved opcode 13"},
	0xE:              {name: "reserved_14", title: "reserved opcode 14"},
	0xF:              {name: "experimental", title: "experimental opcode 15"},
	OpMPARequest:     {name: "mpa_request", title: "MPA Request"},
	OpMPAReply:       {name: "mpa_reply", title: "MPA Reply"},
}

// String is the name of the operation in lower case, words joined by "_".
func (o Op) String() string {
	if o < Ops {
		return rules[o].name
	}
	return "unknown"
}

// Title is the name that the RFC uses.
func (o Op) Title() string {
	if o < Ops {
		return rules[o].title
	}
	return "unknown"
}

// Known says that the opcode is one of RFC 5040 or 7306.
func (o Op) Known() bool { return o < Ops && rules[o].known }

// Tagged says that the operation uses tagged segments.
func (o Op) Tagged() bool { return o < Ops && rules[o].tagged }

// Queue returns the queue number that untagged segments of it use.
func (o Op) Queue() uint32 {
	if o < Ops {
		return rules[o].queue
	}
	return 0
}

// Invalidates says that its segments carry an Invalidate STag.
func (o Op) Invalidates() bool { return o < Ops && rules[o].invalidate }

// IsSend says that it is one of the four kinds of Send.
func (o Op) IsSend() bool { return o >= OpSend && o <= OpSendSEInv }
