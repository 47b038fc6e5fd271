package nvme

import "encoding/binary"

// CommandLen is the length of a submission queue entry.
const CommandLen = 64

// A Command is a submission queue entry (NVM Express 2.0, section 3.3.3.1).
type Command struct {
	Opcode uint8
	Flags  uint8 // FUSE in bits 1:0, PSDT in bits 7:6
	CID    uint16
	NSID   uint32 // of a Fabrics command, its low octet is the command type
	CDW2   uint32
	CDW3   uint32
	MPTR   uint64
	SGL    SGL
	CDW    [6]uint32 // CDW10 to CDW15
}

// Values of PSDT, the upper two bits of Flags.
const (
	PSDTPRP        = 0 // not over fabrics
	PSDTSGL        = 1 // the metadata pointer is an address
	PSDTSGLSegment = 2 // the metadata pointer is an SGL segment
)

// Values of FUSE, the lower two bits of Flags.
const (
	FuseNone   = 0
	FuseFirst  = 1
	FuseSecond = 2
)

// ParseCommand parses the entry at the start of b, and returns its length.
func ParseCommand(b []byte) (c Command, n int, err error) {
	if len(b) < CommandLen {
		return Command{}, 0, ErrShort
	}
	le := binary.LittleEndian
	c = Command{Opcode: b[0], Flags: b[1], CID: le.Uint16(b[2:]), NSID: le.Uint32(b[4:]), CDW2: le.Uint32(b[8:]), CDW3: le.Uint32(b[12:]), MPTR: le.Uint64(b[16:])}
	c.SGL, _, _ = ParseSGL(b[24:])
	for i := range c.CDW {
		c.CDW[i] = le.Uint32(b[40+4*i:])
	}
	return c, CommandLen, nil
}

// Append appends the entry to b.
func (c Command) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, c.Opcode, c.Flags)
	b = le.AppendUint16(b, c.CID)
	b = le.AppendUint32(b, c.NSID)
	b = le.AppendUint32(b, c.CDW2)
	b = le.AppendUint32(b, c.CDW3)
	b = le.AppendUint64(b, c.MPTR)
	b = c.SGL.Append(b)
	for _, w := range c.CDW {
		b = le.AppendUint32(b, w)
	}
	return b
}

// PSDT says what the data pointer is.
func (c *Command) PSDT() uint8 { return c.Flags >> 6 }

// Fuse says whether it is half of a fused operation.
func (c *Command) Fuse() uint8 { return c.Flags & 3 }

// Fabrics says that it is a command of NVMe over Fabrics.
func (c *Command) Fabrics() bool { return c.Opcode == OpFabrics }

// FCType is the type of a Fabrics command.
func (c *Command) FCType() uint8 { return uint8(c.NSID) }

// SLBA is the first logical block of Read, Write and the like (NVM Command Set
// 1.0, section 3.2).
func (c *Command) SLBA() uint64 { return uint64(c.CDW[0]) | uint64(c.CDW[1])<<32 }

// Blocks is how many logical blocks Read, Write and the like are for, 1 to
// 65536.
func (c *Command) Blocks() int { return int(c.CDW[2]&0xFFFF) + 1 }

// SGLLen is the length of an SGL descriptor.
const SGLLen = 16

// Identifiers of SGL descriptors: type in the upper, subtype in the lower half
// (NVM Express 2.0, section 4.1.2).
const (
	SGLOffset          = 0x01 // data block at an offset in the capsule
	SGLLastOffset      = 0x31 // last segment at an offset in the capsule
	SGLKeyed           = 0x40 // keyed data block
	SGLKeyedInvalidate = 0x4F // the same; the key is to be invalidated with the response
)

// An SGL is one SGL descriptor.
type SGL struct {
	Address uint64 // in the capsule an offset behind the entry
	Length  uint32 // octets; a keyed one has 24 bits of it
	Key     uint32 // the STag, of a keyed one
	ID      uint8
}

// ParseSGL parses the descriptor at the start of b, and returns its length.
func ParseSGL(b []byte) (s SGL, n int, err error) {
	if len(b) < SGLLen {
		return SGL{}, 0, ErrShort
	}
	le := binary.LittleEndian
	s = SGL{Address: le.Uint64(b), Length: le.Uint32(b[8:]), ID: b[15]}
	if s.Keyed() {
		s.Length &= 1<<24 - 1
		s.Key = le.Uint32(b[11:])
	}
	return s, SGLLen, nil
}

// Append appends the descriptor to b.
func (s SGL) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, s.Address)
	if s.Keyed() {
		b = append(b, byte(s.Length), byte(s.Length>>8), byte(s.Length>>16))
		b = le.AppendUint32(b, s.Key)
	} else {
		b = le.AppendUint32(b, s.Length)
		b = append(b, 0, 0, 0)
	}
	return append(b, s.ID)
}

// Keyed says that it names a key.
func (s *SGL) Keyed() bool { return s.ID>>4 == SGLKeyed>>4 }

// InCapsule says that its data is in the capsule.
func (s *SGL) InCapsule() bool { return s.ID == SGLOffset }

// Invalidates says that the response is to invalidate the key.
func (s *SGL) Invalidates() bool { return s.ID == SGLKeyedInvalidate }

var sglTypes = [16]string{0: "data block", 1: "bit bucket", 2: "segment", 3: "last segment", 4: "keyed data block", 5: "transport data block", 15: "vendor specific"}

// Type is the kind of descriptor in words.
func (s *SGL) Type() string {
	name := sglTypes[s.ID>>4]
	switch {
	case name == "":
		return "reserved"
	case s.ID>>4 <= 3 && s.ID&0xF == 1:
		return name + " at an offset in the capsule"
	case s.Invalidates():
		return name + ", to be invalidated"
	}
	return name
}
