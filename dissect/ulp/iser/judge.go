package iser

import "github.com/iwdump/iwdump/dissect/ulp"

// Port is that of iSCSI.
const Port = 3260

// Protocol is how a [ulp.Stream] recognises iSER and follows it.
func Protocol() ulp.Protocol {
	return ulp.Protocol{
		Name:    "iser",
		Title:   "iSER",
		Ports:   []uint16{Port},
		Private: judgePrivate,
		Judge:   judge,
		New:     func(h ulp.Handler) ulp.Decoder { return NewDecoder(h) },
	}
}

// judgePrivate judges private data, which only Linux has.
func judgePrivate(s *ulp.Startup) ulp.Evidence {
	if b := s.Private; len(b) == PrivateLen && b[0]&0xC0 != 0 && b[0]&0x3F == 0 && b[1] == 0 && b[2] == 0 && b[3] == 0 {
		return ulp.Weak
	}
	return ulp.None
}

// judge judges a Send by itself.
func judge(m *ulp.Message) ulp.Evidence {
	b := m.Payload
	if m.Complete && m.Size < HeaderLen {
		return ulp.Against
	}
	if len(b) < HeaderLen {
		return ulp.None
	}
	h, _, err := ParseHeader(b)
	if err != nil {
		return ulp.Against
	}
	if h.Opcode != Control {
		if m.Complete && m.Size != HeaderLen || b[0]&0xE != 0 || h.Opcode == Hello && b[0]&1 != 0 || h.MaxVer == 0 || !zero(b[4:HeaderLen]) {
			return ulp.Against
		}
		return ulp.Weak
	}
	switch {
	case b[0]&3 != 0 || b[1] != 0 || b[2] != 0 || b[3] != 0,
		!h.WSV && !zero(b[4:16]) || !h.RSV && !zero(b[16:28]),
		m.Complete && m.Size < HeaderLen+BHSLen:
		return ulp.Against
	case len(b) < HeaderLen+BHSLen:
		return ulp.None
	}
	p, _, _ := ParseBHS(b[HeaderLen:])
	size := uint64(HeaderLen + BHSLen + p.AHSLen + p.DataLen)
	switch {
	case !p.Opcode.Known() || b[HeaderLen]&0x80 != 0,
		(h.WSV || h.RSV) && p.Opcode != OpSCSICommand,
		p.Opcode == OpDataIn || p.Opcode == OpR2T || p.Opcode == OpSNACK, // they become RDMA, or have no place here
		m.Complete && (m.Size < size || m.Size > size+3):
		return ulp.Against
	case !m.Complete:
		return ulp.Weak
	}
	return ulp.Strong
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
