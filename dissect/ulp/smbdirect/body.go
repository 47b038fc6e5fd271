package smbdirect

import (
	"encoding/binary"
	"unicode/utf16"
)

// Values of Channel in a READ or WRITE (MS-SMB2, sections 2.2.19 and 2.2.21):
// what the buffer descriptors are.
const (
	ChannelNone             = 0
	ChannelRDMAV1           = 1
	ChannelRDMAV1Invalidate = 2 // the server invalidates the first token
	ChannelRDMATransform    = 3
)

// ChannelName is the name of a Channel in MS-SMB2 without "SMB2_CHANNEL_".
func ChannelName(c uint32) string {
	switch c {
	case ChannelNone:
		return "NONE"
	case ChannelRDMAV1:
		return "RDMA_V1"
	case ChannelRDMAV1Invalidate:
		return "RDMA_V1_INVALIDATE"
	case ChannelRDMATransform:
		return "RDMA_TRANSFORM"
	}
	return "unknown"
}

// A FileID is an SMB2_FILEID (MS-SMB2, section 2.2.14.1).
type FileID [fileIDLen]byte

// A Text is UTF-16 text as it stands in a message, little-endian.
type Text []byte

// String is the text in UTF-8. What is not valid becomes U+FFFD.
func (t Text) String() string {
	u := make([]uint16, len(t)/2)
	for i := range u {
		u[i] = binary.LittleEndian.Uint16(t[2*i:])
	}
	return string(utf16.Decode(u))
}

// A Request is what the body of a request says, of what follows by Command.
type Request struct {
	HasFile bool
	File    FileID // where HasFile
	// Name is that of a CREATE, the path of a TREE_CONNECT, the pattern of a
	// QUERY_DIRECTORY. HasName is false where it is not there, or cut.
	Name    Text
	HasName bool

	// Of READ and WRITE. Length is what is asked for or written, of a WRITE with
	// a Channel the RemainingBytes, since its Length is 0.
	Offset      uint64
	Length      uint32
	Channel     uint32
	Descriptors Descriptors // as many as are there
	// DescriptorBytes is the length in octets that they should have.
	DescriptorBytes int

	Class       uint8  // FileInformationClass or FileInfoClass of QUERY_DIRECTORY, QUERY_INFO, SET_INFO
	InfoType    uint8  // of QUERY_INFO, SET_INFO
	CtlCode     uint32 // of IOCTL
	Disposition uint32 // CreateDisposition, of CREATE
	Options     uint32 // CreateOptions, of CREATE
	Access      uint32 // DesiredAccess, of CREATE
	Dialects    int    // of NEGOTIATE, how many are offered
}

// part is octets off to off+n of b, counted from the SMB 2 header; nil where
// they are not all there.
func part(b []byte, off, n int) []byte {
	if off < HeaderLen || n <= 0 || off > len(b) || n > len(b)-off {
		return nil
	}
	return b[off : off+n : off+n]
}

// requestLen is how many octets the fixed part of the body of a request has, up to
// the last field that is read, by Command.
var requestLen = [...]int{
	Negotiate: 8, SessionSetup: 4, Logoff: 4, TreeConnect: 8, TreeDisconnect: 4, Create: 48, Close: 24, Flush: 24,
	Read: 48, Write: 48, Lock: 24, IOCtl: 24, Cancel: 4, Echo: 4, QueryDirectory: 32, ChangeNotify: 24, QueryInfo: 40, SetInfo: 32, OplockBreak: 24,
}

// ParseRequest parses the body of a request; b begins with its SMB 2 header.
// It is ErrShort where the fields at fixed places are not all there.
func ParseRequest(c Command, b []byte) (r Request, err error) {
	if int(c) >= len(requestLen) {
		return Request{}, nil
	}
	if len(b) < HeaderLen+requestLen[c] {
		return Request{}, ErrShort
	}
	le, body := binary.LittleEndian, b[HeaderLen:]
	file := -1
	name := func(at int) {
		n := int(le.Uint16(body[at+2:]))
		r.Name = Text(part(b, int(le.Uint16(body[at:])), n))
		r.HasName = len(r.Name) == n
	}
	switch c {
	case Negotiate:
		r.Dialects = int(le.Uint16(body[2:]))
	case TreeConnect:
		name(4)
	case Create:
		r.Access = le.Uint32(body[24:])
		r.Disposition = le.Uint32(body[36:])
		r.Options = le.Uint32(body[40:])
		name(44)
	case Close, Flush, Lock, ChangeNotify, OplockBreak:
		file = 8
	case Read:
		file = 16
		r.Length = le.Uint32(body[4:])
		r.Offset = le.Uint64(body[8:])
		r.channel(b, le.Uint32(body[36:]), le.Uint16(body[44:]), le.Uint16(body[46:]))
	case Write:
		file = 16
		r.Length = le.Uint32(body[4:])
		r.Offset = le.Uint64(body[8:])
		r.channel(b, le.Uint32(body[32:]), le.Uint16(body[40:]), le.Uint16(body[42:]))
		if r.Channel != ChannelNone && r.Length == 0 {
			r.Length = le.Uint32(body[36:])
		}
	case IOCtl:
		r.CtlCode = le.Uint32(body[4:])
		file = 8
	case QueryDirectory:
		r.Class = body[2]
		file = 8
		name(24)
	case QueryInfo:
		r.InfoType, r.Class = body[2], body[3]
		file = 24
	case SetInfo:
		r.InfoType, r.Class = body[2], body[3]
		file = 16
	}
	if file >= 0 {
		r.HasFile = true
		copy(r.File[:], body[file:])
	}
	return r, nil
}

func (r *Request) channel(b []byte, channel uint32, off, n uint16) {
	r.Channel = channel
	if channel != ChannelRDMAV1 && channel != ChannelRDMAV1Invalidate {
		return
	}
	r.DescriptorBytes = int(n)
	if int(off) < HeaderLen || int(off) >= len(b) {
		return
	}
	d := b[off:]
	d = d[:min(len(d), int(n))]
	r.Descriptors = Descriptors(d[:len(d)/DescriptorLen*DescriptorLen])
}

// A Response is what the body of a response says, of what follows by Command.
type Response struct {
	HasFile bool
	File    FileID // of CREATE
	Size    uint64 // EndofFile, of CREATE
	// Count is how many octets were read or written, where HasCount: DataLength
	// of READ (DataRemaining, where the data went through the channel), Count of
	// WRITE.
	Count     uint32
	HasCount  bool
	InChannel bool   // of READ: the data went through the channel
	Dialect   uint16 // DialectRevision, of NEGOTIATE
	Share     uint8  // ShareType, of TREE_CONNECT
}

// responseLen is the same of a response.
var responseLen = [...]int{Negotiate: 6, TreeConnect: 3, Create: 80, Read: 16, Write: 8}

// ParseResponse parses the body of a successful response; b begins with its SMB 2
// header. It is ErrShort where the fields at fixed places are not all there.
// Other responses have an error body (MS-SMB2, section 2.2.2), which is not
// parsed.
func ParseResponse(c Command, b []byte) (r Response, err error) {
	le := binary.LittleEndian
	if int(c) >= len(responseLen) {
		return Response{}, nil
	}
	if len(b) < HeaderLen+responseLen[c] {
		return Response{}, ErrShort
	}
	body := b[HeaderLen:]
	switch c {
	case Negotiate:
		r.Dialect = le.Uint16(body[4:])
	case TreeConnect:
		r.Share = body[2]
	case Create:
		r.Size = le.Uint64(body[48:])
		r.HasFile = true
		copy(r.File[:], body[64:])
	case Read:
		r.Count, r.HasCount = le.Uint32(body[4:]), true
		if left := le.Uint32(body[8:]); r.Count == 0 && left > 0 {
			r.Count, r.InChannel = left, true
		}
	case Write:
		r.Count, r.HasCount = le.Uint32(body[4:]), true
	}
	return r, nil
}
