package smbdirect

import (
	"encoding/binary"
	"fmt"
)

// Lengths of headers in octets (MS-SMB2, sections 2.2.1, 2.2.41 and 2.2.42).
const (
	HeaderLen      = 64
	EncryptedLen   = 52
	CompressedLen  = 16
	protocolIDLen  = 4
	structureSize  = 64
	signatureLen   = 16
	fileIDLen      = 16
	statusPending  = 0x00000103
	maxCommandName = len(commandNames)
)

// A Form says what the upper-layer data of SMB Direct is (MS-SMB2, sections
// 2.2.1, 2.2.41 and 2.2.42).
type Form uint8

const (
	FormUnknown    Form = iota
	FormPlain           // an SMB 2 or 3 message: FE 53 4D 42
	FormEncrypted       // FD 53 4D 42
	FormCompressed      // FC 53 4D 42
	FormSMB1            // FF 53 4D 42, with which some clients begin
)

var formNames = [...]string{"unknown", "plain", "encrypted", "compressed", "smb1"}

// String is the form as one lower-case word.
func (f Form) String() string { return formNames[f] }

// FormOf says what the message at the start of b is.
func FormOf(b []byte) Form {
	if len(b) < protocolIDLen || string(b[1:protocolIDLen]) != "SMB" {
		return FormUnknown
	}
	switch b[0] {
	case 0xFE:
		return FormPlain
	case 0xFD:
		return FormEncrypted
	case 0xFC:
		return FormCompressed
	case 0xFF:
		return FormSMB1
	}
	return FormUnknown
}

// A Command is an SMB 2 command code (MS-SMB2, section 2.2.1.2).
type Command uint16

const (
	Negotiate      Command = 0x00
	SessionSetup   Command = 0x01
	Logoff         Command = 0x02
	TreeConnect    Command = 0x03
	TreeDisconnect Command = 0x04
	Create         Command = 0x05
	Close          Command = 0x06
	Flush          Command = 0x07
	Read           Command = 0x08
	Write          Command = 0x09
	Lock           Command = 0x0A
	IOCtl          Command = 0x0B
	Cancel         Command = 0x0C
	Echo           Command = 0x0D
	QueryDirectory Command = 0x0E
	ChangeNotify   Command = 0x0F
	QueryInfo      Command = 0x10
	SetInfo        Command = 0x11
	OplockBreak    Command = 0x12
	// ServerToClient is SMB2_SERVER_TO_CLIENT_NOTIFICATION.
	ServerToClient Command = 0x13
)

var commandNames = [...][2]string{
	{"NEGOTIATE", "smb2.negotiate"}, {"SESSION_SETUP", "smb2.session_setup"}, {"LOGOFF", "smb2.logoff"},
	{"TREE_CONNECT", "smb2.tree_connect"}, {"TREE_DISCONNECT", "smb2.tree_disconnect"}, {"CREATE", "smb2.create"},
	{"CLOSE", "smb2.close"}, {"FLUSH", "smb2.flush"}, {"READ", "smb2.read"}, {"WRITE", "smb2.write"},
	{"LOCK", "smb2.lock"}, {"IOCTL", "smb2.ioctl"}, {"CANCEL", "smb2.cancel"}, {"ECHO", "smb2.echo"},
	{"QUERY_DIRECTORY", "smb2.query_directory"}, {"CHANGE_NOTIFY", "smb2.change_notify"}, {"QUERY_INFO", "smb2.query_info"},
	{"SET_INFO", "smb2.set_info"}, {"OPLOCK_BREAK", "smb2.oplock_break"}, {"SERVER_TO_CLIENT_NOTIFICATION", "smb2.server_to_client_notification"},
}

// Known says that the command is one of MS-SMB2.
func (c Command) Known() bool { return int(c) < maxCommandName }

// String is the command in MS-SMB2 without "SMB2": "QUERY_INFO".
func (c Command) String() string {
	if c.Known() {
		return commandNames[c][0]
	}
	return "unknown"
}

// Op is the command as one lower-case word with its protocol: "smb2.create".
func (c Command) Op() string {
	if c.Known() {
		return commandNames[c][1]
	}
	return "smb2.unknown"
}

// Flags of the header (MS-SMB2, section 2.2.1.2).
const (
	FlagResponse = 0x00000001 // SMB2_FLAGS_SERVER_TO_REDIR
	FlagAsync    = 0x00000002
	FlagRelated  = 0x00000004
	FlagSigned   = 0x00000008
	FlagPriority = 0x00000070 // three bits
	FlagDFS      = 0x10000000
	FlagReplay   = 0x20000000
)

// Unsolicited is the MessageId of what the server sends of its own accord, such
// as the break of an oplock (MS-SMB2, section 3.3.4.6).
const Unsolicited = 1<<64 - 1

// A Header is an SMB 2 header (MS-SMB2, sections 2.2.1.1 and 2.2.1.2).
type Header struct {
	CreditCharge uint16
	Status       uint32 // of a response; ChannelSequence of a request
	Command      Command
	Credits      uint16 // asked for in a request, granted in a response
	Flags        uint32
	Next         uint32 // octets from this header to that of the next command; 0 in the last
	MessageID    uint64
	AsyncID      uint64 // where FlagAsync
	TreeID       uint32 // where not FlagAsync
	SessionID    uint64
	Signature    [signatureLen]byte

	reserved uint32
}

// Response says that it is a response.
func (h *Header) Response() bool { return h.Flags&FlagResponse != 0 }

// Async says that the command is worked on asynchronously (MS-SMB2, section
// 2.2.1.1).
func (h *Header) Async() bool { return h.Flags&FlagAsync != 0 }

// Pending says that it is the interim response of a command that goes on (MS-SMB2,
// section 3.3.4.4).
func (h *Header) Pending() bool { return h.Response() && h.Async() && h.Status == statusPending }

// ParseHeader parses the header at the start of b and returns its length. A
// FormatError says that it is no SMB 2 header.
func ParseHeader(b []byte) (h Header, n int, err error) {
	if len(b) >= protocolIDLen && FormOf(b) != FormPlain {
		return Header{}, 0, &FormatError{Off: 0, Msg: fmt.Sprintf("% x is not an SMB 2 header", b[:protocolIDLen])}
	}
	if len(b) < HeaderLen {
		return Header{}, 0, ErrShort
	}
	le := binary.LittleEndian
	if v := le.Uint16(b[4:]); v != structureSize {
		return Header{}, 0, &FormatError{Off: 4, Msg: fmt.Sprintf("structure size %d is not 64", v)}
	}
	h = Header{
		CreditCharge: le.Uint16(b[6:]),
		Status:       le.Uint32(b[8:]),
		Command:      Command(le.Uint16(b[12:])),
		Credits:      le.Uint16(b[14:]),
		Flags:        le.Uint32(b[16:]),
		Next:         le.Uint32(b[20:]),
		MessageID:    le.Uint64(b[24:]),
		SessionID:    le.Uint64(b[40:]),
	}
	if h.Async() {
		h.AsyncID = le.Uint64(b[32:])
	} else {
		h.reserved, h.TreeID = le.Uint32(b[32:]), le.Uint32(b[36:])
	}
	copy(h.Signature[:], b[48:])
	return h, HeaderLen, nil
}

// Append appends the header to b.
func (h *Header) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, 0xFE, 'S', 'M', 'B')
	b = le.AppendUint16(b, structureSize)
	b = le.AppendUint16(b, h.CreditCharge)
	b = le.AppendUint32(b, h.Status)
	b = le.AppendUint16(b, uint16(h.Command))
	b = le.AppendUint16(b, h.Credits)
	b = le.AppendUint32(b, h.Flags)
	b = le.AppendUint32(b, h.Next)
	b = le.AppendUint64(b, h.MessageID)
	if h.Async() {
		b = le.AppendUint64(b, h.AsyncID)
	} else {
		b = le.AppendUint32(b, h.reserved)
		b = le.AppendUint32(b, h.TreeID)
	}
	b = le.AppendUint64(b, h.SessionID)
	return append(b, h.Signature[:]...)
}

// An Encrypted is the header of an encrypted message (MS-SMB2, section 2.2.41).
type Encrypted struct {
	Signature    [signatureLen]byte
	Nonce        [16]byte
	OriginalSize uint32 // octets of what is encrypted
	Flags        uint16 // 1: encrypted; of SMB 3.0, the algorithm
	SessionID    uint64
}

// ParseEncrypted parses the header at the start of b and returns its length.
func ParseEncrypted(b []byte) (e Encrypted, n int, err error) {
	if len(b) >= protocolIDLen && FormOf(b) != FormEncrypted {
		return Encrypted{}, 0, &FormatError{Off: 0, Msg: fmt.Sprintf("% x is not the header of an encrypted message", b[:protocolIDLen])}
	}
	if len(b) < EncryptedLen {
		return Encrypted{}, 0, ErrShort
	}
	copy(e.Signature[:], b[4:])
	copy(e.Nonce[:], b[20:])
	e.OriginalSize = binary.LittleEndian.Uint32(b[36:])
	e.Flags = binary.LittleEndian.Uint16(b[42:])
	e.SessionID = binary.LittleEndian.Uint64(b[44:])
	return e, EncryptedLen, nil
}

// Append appends the header to b.
func (e *Encrypted) Append(b []byte) []byte {
	b = append(b, 0xFD, 'S', 'M', 'B')
	b = append(b, e.Signature[:]...)
	b = append(b, e.Nonce[:]...)
	b = binary.LittleEndian.AppendUint32(b, e.OriginalSize)
	b = append(b, 0, 0)
	b = binary.LittleEndian.AppendUint16(b, e.Flags)
	return binary.LittleEndian.AppendUint64(b, e.SessionID)
}

// A Compressed is the header of a compressed message (MS-SMB2, section 2.2.42).
type Compressed struct {
	OriginalSize uint32 // octets of what is compressed
	Algorithm    uint16
	Flags        uint16 // 1: chained
	Offset       uint32 // octets in front of what is compressed; of chained, a length
}

// ParseCompressed parses the header at the start of b and returns its length.
func ParseCompressed(b []byte) (c Compressed, n int, err error) {
	if len(b) >= protocolIDLen && FormOf(b) != FormCompressed {
		return Compressed{}, 0, &FormatError{Off: 0, Msg: fmt.Sprintf("% x is not the header of a compressed message", b[:protocolIDLen])}
	}
	if len(b) < CompressedLen {
		return Compressed{}, 0, ErrShort
	}
	le := binary.LittleEndian
	return Compressed{OriginalSize: le.Uint32(b[4:]), Algorithm: le.Uint16(b[8:]), Flags: le.Uint16(b[10:]), Offset: le.Uint32(b[12:])}, CompressedLen, nil
}

// Append appends the header to b.
func (c Compressed) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, 0xFC, 'S', 'M', 'B')
	b = le.AppendUint32(b, c.OriginalSize)
	b = le.AppendUint16(b, c.Algorithm)
	b = le.AppendUint16(b, c.Flags)
	return le.AppendUint32(b, c.Offset)
}

var algorithmNames = [...]string{"NONE", "LZNT1", "LZ77", "LZ77+Huffman", "Pattern_V1", "LZ4"}

// AlgorithmName is the name of the algorithm (MS-SMB2, section 2.2.3.1.3).
func (c Compressed) AlgorithmName() string {
	if int(c.Algorithm) < len(algorithmNames) {
		return algorithmNames[c.Algorithm]
	}
	return "unknown"
}
