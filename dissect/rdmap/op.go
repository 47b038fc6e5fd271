package rdmap

// An Op is what a message is: one of the RDMAP opcodes (RFC 5040, section 4.1;
// RFC 7306, section 4), or a startup frame of MPA, which precedes them.
type Op uint8

const (
	Write         Op = 0x0
	ReadRequestOp Op = 0x1
	ReadResponse  Op = 0x2
	Send          Op = 0x3
	SendInv       Op = 0x4
	SendSE        Op = 0x5
	SendSEInv     Op = 0x6
	TerminateOp   Op = 0x7
	ImmediateOp   Op = 0x8 // RFC 7306, section 6
	ImmediateSE   Op = 0x9
	AtomicReqOp   Op = 0xA // RFC 7306, section 5
	AtomicRspOp   Op = 0xB
	MPARequest    Op = 0x10
	MPAReply      Op = 0x11

	// Ops is the number of values, for arrays indexed by Op.
	Ops = 0x12
)
