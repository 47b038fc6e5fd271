package nvme

import (
	"encoding/binary"

	"github.com/iwdump/iwdump/dissect/ulp"
)

// Protocol is how a [ulp.Stream] recognises NVMe over RDMA and follows it.
func Protocol() ulp.Protocol {
	return ulp.Protocol{
		Name:    "nvme",
		Title:   "NVMe over RDMA",
		Ports:   []uint16{4420, 8009},
		Private: judgePrivate,
		Judge:   judge,
		New:     func(h ulp.Handler) ulp.Decoder { return NewDecoder(h) },
	}
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// judgePrivate judges the private data of a startup frame by itself.
func judgePrivate(s *ulp.Startup) ulp.Evidence {
	b := s.Private
	le := binary.LittleEndian
	switch {
	case len(b) == 0:
		return ulp.None
	case s.Reply && s.Reject:
		if len(b) >= RejectLen && le.Uint16(b) == 0 && le.Uint16(b[2:]) >= 1 && le.Uint16(b[2:]) <= 8 && zero(b[4:]) {
			return ulp.Weak
		}
		return ulp.Against
	case len(b) < PrivateLen || le.Uint16(b) != 0:
		return ulp.Against
	case s.Reply:
		if le.Uint16(b[2:]) != 0 && zero(b[4:]) {
			return ulp.Weak
		}
		return ulp.Against
	}
	r, _, _ := ParseRequest(b)
	switch {
	case r.HRQSize == 0 || r.HSQSize == 0 || !zero(b[10:]):
		return ulp.Against
	case r.HRQSize >= r.HSQSize:
		return ulp.Strong
	}
	return ulp.Weak
}

// judge judges a Send by itself. Responses have nothing that speaks for them:
// they can be anything of 16 octets.
func judge(m *ulp.Message) ulp.Evidence {
	b := m.Payload
	if !m.Complete && m.Size < CommandLen || len(b) < leastCommand {
		if m.Size == CompletionLen || !m.Complete {
			return ulp.None
		}
		return ulp.Against
	}
	le := binary.LittleEndian
	sgl, _, _ := ParseSGL(b[24:])
	switch {
	case m.Complete && m.Size < CommandLen:
		return ulp.Against
	case b[1]&0x3C != 0 || b[1]>>6 != PSDTSGL || b[1]&3 == 3:
		return ulp.Against
	case sgl.ID != 0 && !sgl.InCapsule() && sgl.ID != SGLKeyed && sgl.ID != SGLKeyedInvalidate:
		return ulp.Against
	case m.Complete && sgl.InCapsule() && m.Size != CommandLen+sgl.Address+uint64(sgl.Length):
		return ulp.Against
	case m.Complete && !sgl.InCapsule() && m.Size != CommandLen:
		return ulp.Against
	}
	c := Command{Opcode: b[0], NSID: le.Uint32(b[4:])}
	_, io := c.operation(false)
	_, admin := c.operation(true)
	switch {
	case !io && !admin:
		return ulp.Against
	case c.Fabrics() && !zero(b[5:24]):
		return ulp.Against
	case c.Fabrics() && c.FCType() == Connect && sgl.Length == ConnectDataLen && (sgl.InCapsule() || sgl.Key != 0):
		return ulp.Strong
	case !zero(b[8:24]):
		return ulp.None // legal, but little is left that tells
	case sgl.Keyed() && sgl.Length != 0 && sgl.Key == 0:
		return ulp.None
	}
	return ulp.Weak
}

// leastCommand is how many octets of a command are enough to know it by: up to
// its SGL. Captures of 128 octets a packet have a little more.
const leastCommand = 40
