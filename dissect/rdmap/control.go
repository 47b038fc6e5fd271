package rdmap

import "github.com/iwdump/iwdump/dissect/ddp"

// Version is the RV of RFC 5040, section 4.1. That of the RDMA Consortium,
// which came before it, is 0.
const Version = 1

// A Control is the RDMAP control octet, the first octet of RsvdULP (RFC 5040,
// section 4.1).
type Control struct {
	Version  uint8 // RV, two bits
	Reserved uint8 // Rsv, two bits
	Op       Op    // four bits
}

// ParseControl takes the control octet apart.
func ParseControl(c uint8) Control {
	return Control{Version: c >> 6, Reserved: c >> 4 & 3, Op: Op(c & 0xF)}
}

// Octet puts it together.
func (c Control) Octet() uint8 {
	return c.Version<<6 | c.Reserved&3<<4 | uint8(c.Op)&0xF
}

// OpOf returns the opcode of a segment.
func OpOf(h *ddp.Header) Op { return Op(h.ULPControl & 0xF) }

// A Violation is a rule of RFC 5040 or 7306 that a segment breaks.
type Violation uint8

const (
	BadVersion    Violation = 1 << iota // RV is not 1 (RFC 5040, section 4.1)
	UnknownOpcode                       // reserved (RFC 6580, section 3.4)
	WrongModel                          // tagged where the opcode is untagged, or the reverse (RFC 5040, section 4.2)
	WrongQueue                          // not the queue of the opcode
	WrongLength                         // not the length that the opcode demands
	NotLast                             // a message that is one segment goes on, or begins within
)

var violationNames = [...]string{
	"RDMAP version is not 1", "opcode is reserved", "opcode does not go with the kind of DDP header",
	"queue number does not go with the opcode", "length is not that of the opcode", "message of a fixed size is split",
}

// String names the rules that are broken, the first of them.
func (v Violation) String() string {
	for i, name := range violationNames {
		if v&(1<<i) != 0 {
			return name
		}
	}
	return "none"
}

// Check returns the rules that a segment with n octets of payload breaks, 0
// for none.
func Check(h *ddp.Header, n int) (v Violation) {
	c := ParseControl(h.ULPControl)
	if c.Version != Version {
		v |= BadVersion
	}
	r := &rules[c.Op]
	switch {
	case !r.known:
		return v | UnknownOpcode
	case r.tagged != h.Tagged:
		return v | WrongModel
	case r.tagged:
		return v
	}
	if h.QN != r.queue {
		v |= WrongQueue
	}
	if r.max > 0 {
		if n < r.min || n > r.max {
			v |= WrongLength
		}
		if !h.Last || h.MO != 0 {
			v |= NotLast
		}
	}
	return v
}
