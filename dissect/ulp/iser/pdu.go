package iser

import (
	"encoding/binary"
	"fmt"
)

// BHSLen is the length of a Basic Header Segment (RFC 7143, section 11.2.1).
const BHSLen = 48

// Opcodes of iSCSI (RFC 7143, section 11.2.1.2).
const (
	OpNOPOut         = 0x00
	OpSCSICommand    = 0x01
	OpTaskRequest    = 0x02
	OpLoginRequest   = 0x03
	OpTextRequest    = 0x04
	OpDataOut        = 0x05
	OpLogoutRequest  = 0x06
	OpSNACK          = 0x10
	OpNOPIn          = 0x20
	OpSCSIResponse   = 0x21
	OpTaskResponse   = 0x22
	OpLoginResponse  = 0x23
	OpTextResponse   = 0x24
	OpDataIn         = 0x25
	OpLogoutResponse = 0x26
	OpR2T            = 0x31
	OpAsync          = 0x32
	OpReject         = 0x3F
)

// NoTag is the task tag that stands for none.
const NoTag = 0xFFFFFFFF

// An Opcode is an iSCSI opcode, without the bit for immediate delivery.
type Opcode uint8

var opcodes = map[Opcode]string{
	OpNOPOut: "NOP-Out", OpSCSICommand: "SCSI Command", OpTaskRequest: "Task Management Function Request", OpLoginRequest: "Login Request",
	OpTextRequest: "Text Request", OpDataOut: "SCSI Data-Out", OpLogoutRequest: "Logout Request", OpSNACK: "SNACK Request",
	OpNOPIn: "NOP-In", OpSCSIResponse: "SCSI Response", OpTaskResponse: "Task Management Function Response", OpLoginResponse: "Login Response",
	OpTextResponse: "Text Response", OpDataIn: "SCSI Data-In", OpLogoutResponse: "Logout Response", OpR2T: "Ready To Transfer",
	OpAsync: "Asynchronous Message", OpReject: "Reject",
}

// String is the name of the opcode.
func (o Opcode) String() string {
	if name, ok := opcodes[o]; ok {
		return name
	}
	return fmt.Sprintf("opcode 0x%02x", uint8(o))
}

// Known says that RFC 7143 has it.
func (o Opcode) Known() bool { _, ok := opcodes[o]; return ok }

// Target says that targets send it.
func (o Opcode) Target() bool { return o&0x20 != 0 }

// A BHS is a Basic Header Segment: what all PDUs have, and the rest of its
// octets.
type BHS struct {
	Immediate bool
	Opcode    Opcode
	Flags     uint8   // octet 1
	Specific  [2]byte // octets 2 and 3
	AHSLen    int     // octets of additional headers
	DataLen   int     // octets of data, without padding
	LUN       uint64
	ITT       uint32
	Rest      [28]byte // octets 20 to 47
}

// ParseBHS parses the segment at the start of b, and returns its length.
func ParseBHS(b []byte) (h BHS, n int, err error) {
	if len(b) < BHSLen {
		return BHS{}, 0, ErrShort
	}
	be := binary.BigEndian
	h = BHS{Immediate: b[0]&0x40 != 0, Opcode: Opcode(b[0] & 0x3F), Flags: b[1], Specific: [2]byte{b[2], b[3]}, AHSLen: 4 * int(b[4]),
		DataLen: int(b[5])<<16 | int(b[6])<<8 | int(b[7]), LUN: be.Uint64(b[8:]), ITT: be.Uint32(b[16:])}
	copy(h.Rest[:], b[20:])
	return h, BHSLen, nil
}

// Append appends the segment to b.
func (h BHS) Append(b []byte) []byte {
	first := byte(h.Opcode)
	if h.Immediate {
		first |= 0x40
	}
	b = append(b, first, h.Flags, h.Specific[0], h.Specific[1], byte(h.AHSLen/4), byte(h.DataLen>>16), byte(h.DataLen>>8), byte(h.DataLen))
	b = binary.BigEndian.AppendUint64(b, h.LUN)
	b = binary.BigEndian.AppendUint32(b, h.ITT)
	return append(b, h.Rest[:]...)
}

// word is the 32-bit word at an octet of the segment, 20 to 44.
func (h *BHS) word(at int) uint32 { return binary.BigEndian.Uint32(h.Rest[at-20:]) }

// put sets the word at an octet of the segment.
func (h *BHS) put(at int, v uint32) { binary.BigEndian.PutUint32(h.Rest[at-20:], v) }

// Of a SCSI Command (RFC 7143, section 11.3).

// Reads says that the command reads data.
func (h *BHS) Reads() bool { return h.Flags&0x40 != 0 }

// Writes says that the command writes data.
func (h *BHS) Writes() bool { return h.Flags&0x20 != 0 }

// ExpectedLength is the Expected Data Transfer Length of a SCSI Command.
func (h *BHS) ExpectedLength() uint32 { return h.word(20) }

// CDB is the first 16 octets of the CDB of a SCSI Command.
func (h *BHS) CDB() []byte { return h.Rest[12:28] }

// CmdSN is that of a PDU of an initiator.
func (h *BHS) CmdSN() uint32 { return h.word(24) }

// TargetTag is the Target Transfer Tag of NOP, Text and Data PDUs; of a task
// management request the Referenced Task Tag.
func (h *BHS) TargetTag() uint32 { return h.word(20) }

// MaxCmdSN is that of a PDU of a target.
func (h *BHS) MaxCmdSN() uint32 { return h.word(32) }

// Of a SCSI Response (RFC 7143, section 11.4).

// Response is the iSCSI service response, also of other responses: 0 is
// success.
func (h *BHS) Response() uint8 { return h.Specific[0] }

// SCSIStatus is the status of the command, where Response is 0.
func (h *BHS) SCSIStatus() SCSIStatus { return SCSIStatus(h.Specific[1]) }

// Residual is how many octets were left over: less than expected were to be
// moved where under, more where over.
func (h *BHS) Residual() (n uint32, under, over bool) {
	return h.word(44), h.Flags&2 != 0, h.Flags&4 != 0
}

// Of a login response (RFC 7143, section 11.13.5).

var loginStatuses = map[uint16]string{
	0x0000: "success", 0x0101: "target moved temporarily", 0x0102: "target moved permanently", 0x0200: "initiator error",
	0x0201: "authentication failure", 0x0202: "authorization failure", 0x0203: "not found", 0x0204: "target removed", 0x0205: "unsupported version",
	0x0206: "too many connections", 0x0207: "missing parameter", 0x0208: "can't include in session", 0x0209: "session type not supported",
	0x020A: "session does not exist", 0x020B: "invalid during login", 0x0300: "target error", 0x0301: "service unavailable", 0x0302: "out of resources",
}

// LoginStatus is status class and detail of a Login Response, and their name.
func (h *BHS) LoginStatus() (status uint16, name string) {
	status = uint16(h.Rest[16])<<8 | uint16(h.Rest[17])
	name = loginStatuses[status]
	if name == "" {
		name = fmt.Sprintf("status 0x%04x", status)
	}
	return status, name
}

var stages = [4]string{0: "security negotiation", 1: "operational negotiation", 2: "reserved stage", 3: "full feature phase"}

var taskFunctions = map[uint8]string{
	1: "ABORT TASK", 2: "ABORT TASK SET", 3: "CLEAR ACA", 4: "CLEAR TASK SET", 5: "LOGICAL UNIT RESET", 6: "TARGET WARM RESET",
	7: "TARGET COLD RESET", 8: "TASK REASSIGN",
}

// TaskFunction is the function of a task management request (RFC 7143, section
// 11.5.1).
func (h *BHS) TaskFunction() string {
	f := h.Flags & 0x7F
	if name, ok := taskFunctions[f]; ok {
		return name
	}
	return fmt.Sprintf("function %d", f)
}

var taskResponses = map[uint8]string{
	0: "function complete", 1: "task does not exist", 2: "LUN does not exist", 3: "task still allegiant", 4: "task allegiance reassignment not supported",
	5: "function not supported", 6: "function authorization failed", 255: "function rejected",
}

var rejectReasons = map[uint8]string{
	0x02: "data digest error", 0x03: "SNACK reject", 0x04: "protocol error", 0x05: "command not supported", 0x06: "immediate command reject, too many",
	0x07: "task in progress", 0x08: "invalid data acknowledgement", 0x09: "invalid PDU field", 0x0A: "long operation reject", 0x0B: "negotiation reset",
	0x0C: "waiting for logout",
}

var asyncEvents = map[uint8]string{
	0: "SCSI asynchronous event", 1: "target requests logout", 2: "target drops this connection", 3: "target drops all connections of the session",
	4: "target requests parameter negotiation", 5: "all active tasks are terminated by the target", 255: "vendor specific event",
}

var logoutReasons = [4]string{0: "close the session", 1: "close the connection", 2: "remove the connection for recovery", 3: "reserved reason"}

// name looks a code up.
func name(m map[uint8]string, v uint8, what string) string {
	if s, ok := m[v]; ok {
		return s
	}
	return fmt.Sprintf("%s 0x%02x", what, v)
}
