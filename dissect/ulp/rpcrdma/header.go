package rpcrdma

import (
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	// Version is the rdma_vers of RFC 8166, section 4.2.2.
	Version = 1
	// HeaderMin is the length in octets of a header with no chunks (RFC 8166,
	// section 4.7): what RDMA_MSG and RDMA_NOMSG have at least.
	HeaderMin = 28

	fixedLen = 16
)

// ErrShort says that more octets are needed.
var ErrShort = errors.New("rpcrdma: more octets are needed")

// A FormatError says that octets are not what they should be.
type FormatError struct {
	Off int    // octets from the start of what was parsed
	Msg string // what was found
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("rpcrdma: octet %d: %s", e.Off, e.Msg)
}

// A Proc says how the Payload stream is conveyed (RFC 8166, section 4.2.4).
type Proc uint32

const (
	ProcMsg   Proc = 0 // behind the header
	ProcNoMsg Proc = 1 // in a Position Zero Read chunk, or in the Reply chunk
	ProcMsgP  Proc = 2 // behind the header, with padding; not to be used
	ProcDone  Proc = 3 // none; not to be used
	ProcError Proc = 4 // none
)

var procNames = [...]string{"RDMA_MSG", "RDMA_NOMSG", "RDMA_MSGP", "RDMA_DONE", "RDMA_ERROR"}

// String is the name in RFC 8166.
func (p Proc) String() string {
	if int(p) < len(procNames) {
		return procNames[p]
	}
	return "unknown"
}

// Error codes of RDMA_ERROR (RFC 8166, section 4.5).
const (
	ErrVers  = 1 // with the lowest and highest version that is supported
	ErrChunk = 2
)

// ErrorName is the name in RFC 8166 of an rdma_err.
func ErrorName(code uint32) string {
	switch code {
	case ErrVers:
		return "ERR_VERS"
	case ErrChunk:
		return "ERR_CHUNK"
	}
	return "unknown"
}

// A Header is an RPC-over-RDMA version 1 header (RFC 8166, section 4.1.2).
type Header struct {
	XID     uint32
	Version uint32
	Credits uint32 // asked for in a call, granted in a reply
	Proc    Proc

	// Of RDMA_MSG, RDMA_NOMSG and RDMA_MSGP.
	Reads    ReadList
	Writes   WriteList
	HasReply bool
	Reply    WriteChunk

	Align, Threshold uint32 // of RDMA_MSGP

	// Of RDMA_ERROR.
	Err       uint32 // ErrVers or ErrChunk
	Low, High uint32 // of ErrVers
}

// ParseHeader parses the header at the start of b and returns its length. With
// ErrShort, what stands in front of the end of b is in h. A FormatError says
// that the octets are not such a header: another version, a procedure that is
// not known, or an optional item whose word is neither 0 nor 1.
func ParseHeader(b []byte) (h Header, n int, err error) {
	if len(b) < fixedLen {
		return Header{}, 0, ErrShort
	}
	h = Header{
		XID:     binary.BigEndian.Uint32(b),
		Version: binary.BigEndian.Uint32(b[4:]),
		Credits: binary.BigEndian.Uint32(b[8:]),
		Proc:    Proc(binary.BigEndian.Uint32(b[12:])),
	}
	if h.Version != Version {
		return h, 0, &FormatError{Off: 4, Msg: fmt.Sprintf("version %d is not 1", h.Version)}
	}
	c := cursor{b: b, off: fixedLen}
	switch h.Proc {
	case ProcMsgP:
		h.Align, h.Threshold = c.word(), c.word()
		fallthrough
	case ProcMsg, ProcNoMsg:
		err = h.parseChunks(&c)
	case ProcDone:
	case ProcError:
		h.Err = c.word()
		switch h.Err {
		case ErrVers:
			h.Low, h.High = c.word(), c.word()
		case ErrChunk:
		default:
			if !c.short {
				err = &FormatError{Off: fixedLen, Msg: fmt.Sprintf("rdma_err %d is not known", h.Err)}
			}
		}
	default:
		err = &FormatError{Off: 12, Msg: fmt.Sprintf("rdma_proc %d is not known", h.Proc)}
	}
	if err == nil && c.short {
		err = ErrShort
	}
	if err != nil {
		return h, 0, err
	}
	return h, c.off, nil
}

func (h *Header) parseChunks(c *cursor) error {
	start := c.off
	for {
		at := c.off
		more, err := c.optional()
		if err != nil {
			return err
		}
		if !more {
			h.Reads = ReadList(c.b[start:at])
			break
		}
		if c.skip(readEntryLen - 4); c.short {
			h.Reads = ReadList(c.b[start:at])
			return ErrShort
		}
	}
	start = c.off
	for {
		at := c.off
		more, err := c.optional()
		if err != nil {
			return err
		}
		if !more {
			h.Writes = WriteList(c.b[start:at])
			break
		}
		_, n, err := parseCounted(c.b[c.off:])
		if err != nil {
			h.Writes = WriteList(c.b[start:at])
			return err
		}
		c.off += n
	}
	more, err := c.optional()
	if err != nil || !more {
		return err
	}
	var n int
	h.HasReply = true
	h.Reply, n, err = parseCounted(c.b[c.off:])
	c.off += n
	return err
}

// Append appends the header to b.
func (h *Header) Append(b []byte) []byte {
	word := binary.BigEndian.AppendUint32
	b = word(b, h.XID)
	b = word(b, h.Version)
	b = word(b, h.Credits)
	b = word(b, uint32(h.Proc))
	switch h.Proc {
	case ProcMsgP:
		b = word(b, h.Align)
		b = word(b, h.Threshold)
		fallthrough
	case ProcMsg, ProcNoMsg:
		b = append(b, h.Reads...)
		b = word(b, 0)
		b = append(b, h.Writes...)
		b = word(b, 0)
		if h.HasReply {
			b = word(b, 1)
			b = word(b, uint32(h.Reply.Len()))
			b = append(b, h.Reply...)
		} else {
			b = word(b, 0)
		}
	case ProcError:
		b = word(b, h.Err)
		if h.Err == ErrVers {
			b = word(b, h.Low)
			b = word(b, h.High)
		}
	}
	return b
}
