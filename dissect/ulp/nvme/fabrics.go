package nvme

import (
	"bytes"
	"encoding/binary"
)

// A ConnectCommand is what a Connect has of its own (NVMe over Fabrics 1.1,
// section 3.3).
type ConnectCommand struct {
	RecFmt uint16
	QID    uint16
	SQSize uint16 // entries of the queue, counted from 0
	CAttr  uint8  // bit 2: SQ flow control is off
	KATO   uint32 // keep alive timeout, ms; 0: none. Of the admin queue
}

// Connect returns what a Connect command has of its own.
func (c *Command) Connect() ConnectCommand {
	return ConnectCommand{RecFmt: uint16(c.CDW[0]), QID: uint16(c.CDW[0] >> 16), SQSize: uint16(c.CDW[1]), CAttr: uint8(c.CDW[1] >> 16), KATO: c.CDW[2]}
}

// Command returns the command words of a Connect.
func (k ConnectCommand) Command(cid uint16, sgl SGL) Command {
	return Command{Opcode: OpFabrics, Flags: PSDTSGL << 6, CID: cid, NSID: Connect, SGL: sgl,
		CDW: [6]uint32{uint32(k.RecFmt) | uint32(k.QID)<<16, uint32(k.SQSize) | uint32(k.CAttr)<<16, k.KATO}}
}

// Lengths of the data of a Connect, and of a name in it.
const (
	ConnectDataLen = 1024
	NQNLen         = 256
)

// ConnectData is the data of a Connect (NVMe over Fabrics 1.1).
type ConnectData struct {
	HostID  [16]byte
	CNTLID  uint16 // 0xFFFF: any
	SubNQN  string
	HostNQN string
}

// connectNames is up to where octets of the data matter.
const connectNames = 512 + NQNLen

// ParseConnectData parses the data at the start of b, and returns its length.
// A name ends at its first octet of zero.
func ParseConnectData(b []byte) (d ConnectData, n int, err error) {
	if len(b) < ConnectDataLen {
		return ConnectData{}, 0, ErrShort
	}
	return parseConnectData(b), ConnectDataLen, nil
}

// parseConnectData parses the first connectNames octets.
func parseConnectData(b []byte) (d ConnectData) {
	copy(d.HostID[:], b)
	d.CNTLID = binary.LittleEndian.Uint16(b[16:])
	d.SubNQN = nqn(b[256 : 256+NQNLen])
	d.HostNQN = nqn(b[512 : 512+NQNLen])
	return d
}

func nqn(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// Append appends the data to b. A name that is too long is cut.
func (d ConnectData) Append(b []byte) []byte {
	var out [ConnectDataLen]byte
	copy(out[:], d.HostID[:])
	binary.LittleEndian.PutUint16(out[16:], d.CNTLID)
	copy(out[256:256+NQNLen], d.SubNQN)
	copy(out[512:512+NQNLen], d.HostNQN)
	return append(b, out[:]...)
}

// A Property is what Property Get and Set have of their own (NVMe over Fabrics
// 1.1, sections 3.5 and 3.6).
type Property struct {
	Eight  bool // it has 8 octets, not 4
	Offset uint32
	Value  uint64 // of Set
}

// Property returns what a Property Get or Set has of its own.
func (c *Command) Property() Property {
	return Property{Eight: c.CDW[0]&7 == 1, Offset: c.CDW[1], Value: uint64(c.CDW[2]) | uint64(c.CDW[3])<<32}
}

// Name is the abbreviation of the property, "" where it has none.
func (p Property) Name() string { return properties[p.Offset] }
