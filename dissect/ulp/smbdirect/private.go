package smbdirect

import (
	"encoding/binary"
)

// PrivateLen is the length in octets of the private data of SMB Direct over
// iWARP (MS-SMBD, section 6, on behavior over iWARP).
const PrivateLen = 8

// maxDepth is the largest number of outstanding RDMA Reads that is taken for
// one.
const maxDepth = 0xFFFF

// A PrivateData is what one end says of itself in its MPA startup frame: how
// many RDMA Reads it can answer and send at a time.
type PrivateData struct {
	IRD, ORD     uint32
	LittleEndian bool // not in network order, as it should be
}

// ParsePrivateData parses the private data of a startup frame; ok is false
// where it is not that of SMB Direct, as far as can be told. Some clients write
// it in the order of their host.
func ParsePrivateData(b []byte) (p PrivateData, ok bool) {
	if len(b) != PrivateLen {
		return PrivateData{}, false
	}
	p.IRD, p.ORD = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	if p.IRD > maxDepth || p.ORD > maxDepth {
		p.LittleEndian = true
		p.IRD, p.ORD = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	}
	return p, p.IRD <= maxDepth && p.ORD <= maxDepth && p.IRD|p.ORD != 0
}

// Append appends the private data to b.
func (p PrivateData) Append(b []byte) []byte {
	if p.LittleEndian {
		b = binary.LittleEndian.AppendUint32(b, p.IRD)
		return binary.LittleEndian.AppendUint32(b, p.ORD)
	}
	b = binary.BigEndian.AppendUint32(b, p.IRD)
	return binary.BigEndian.AppendUint32(b, p.ORD)
}
