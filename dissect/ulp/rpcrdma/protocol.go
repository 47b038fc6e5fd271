package rpcrdma

import (
	"encoding/binary"

	"github.com/iwdump/iwdump/dissect/ulp"
)

// Port is that of NFS over RPC-over-RDMA (RFC 8166, section 5).
const Port = 20049

// Protocol is how a [ulp.Stream] recognises RPC-over-RDMA and follows it.
func Protocol() ulp.Protocol {
	return ulp.Protocol{
		Name:    "rpcrdma",
		Title:   "RPC-over-RDMA",
		Ports:   []uint16{Port},
		Private: private,
		Judge:   judge,
		New:     func(h ulp.Handler) ulp.Decoder { return newDecoder(h) },
	}
}

// private judges private data. A peer can do without (RFC 8797, section 5.1).
func private(s *ulp.Startup) ulp.Evidence {
	if _, ok := ParsePrivateData(s.Private); ok {
		return ulp.Strong
	}
	return ulp.None
}

// maxCredits is more credits than any peer asks for or grants.
const maxCredits = 1 << 20

// judge judges a Send by itself.
func judge(m *ulp.Message) ulp.Evidence {
	if m.Size == 0 {
		return ulp.None // a ready-to-receive message (RFC 6581, section 5)
	}
	h, n, err := ParseHeader(m.Payload)
	switch {
	case err == nil:
	case err == ErrShort && !m.Whole() && len(m.Payload) >= fixedLen:
		// Cut, as far as it can be seen it is one.
		if h.Credits == 0 || h.Credits > maxCredits {
			return ulp.Against
		}
		return ulp.Weak
	case len(m.Payload) < fixedLen && !m.Whole():
		return ulp.None
	default:
		return ulp.Against
	}
	if h.Credits > maxCredits {
		return ulp.Against
	}
	switch h.Proc {
	case ProcMsg, ProcMsgP:
		return judgeBody(&h, m.Payload[n:], m.Whole())
	case ProcNoMsg:
		// RFC 8166, section 4.2.4: one of them must be there.
		if len(h.Reads)+len(h.Writes) == 0 && !h.HasReply || m.Size != uint64(n) {
			return ulp.Against
		}
		return ulp.Weak
	}
	if m.Size != uint64(n) {
		return ulp.Against
	}
	return ulp.None // RDMA_DONE and RDMA_ERROR are a few small numbers, as many messages are
}

// judgeBody judges the RPC message behind a header.
func judgeBody(h *Header, b []byte, whole bool) ulp.Evidence {
	if len(b) < 12 {
		if whole {
			return ulp.Against
		}
		return ulp.Weak
	}
	word := binary.BigEndian.Uint32(b[8:])
	call, ok := IsCall(b)
	if binary.BigEndian.Uint32(b) != h.XID || !ok || call && word != RPCVersion || !call && word > 1 {
		return ulp.Against
	}
	return ulp.Strong
}
