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
