package rpcrdma

import (
	"bytes"
	"encoding/binary"
)

// Private data of connection setup (RFC 8797, section 4).
const (
	PrivateLen     = 8
	PrivateMagic   = 0xf6ab0e18 // Format Identifier
	PrivateVersion = 1

	flagRemoteInvalidation = 0x01 // R
	sizeUnit               = 1024 // octets, of Send Size and Receive Size (section 4.2)
)

// A PrivateData is what one end says of itself in its MPA startup frame (RFC
// 8797, section 4).
type PrivateData struct {
	Version            uint8
	RemoteInvalidation bool // R: Send with Invalidate is understood
	SendSize           int  // octets, 1024 to 262144: the largest Send that it makes
	ReceiveSize        int  // octets, 1024 to 262144: the largest Send that it takes
}

// ParsePrivateData finds the private data of RPC-over-RDMA in the private data
// of a startup frame. Other octets may stand in front of it (RFC 8797, section
// 5.2). ok is false where it is not there, or is of another version.
func ParsePrivateData(b []byte) (p PrivateData, ok bool) {
	var magic [4]byte
	binary.BigEndian.PutUint32(magic[:], PrivateMagic)
	i := bytes.Index(b, magic[:])
	if i < 0 || len(b)-i < PrivateLen || b[i+4] != PrivateVersion {
		return PrivateData{}, false
	}
	b = b[i:]
	return PrivateData{
		Version:            b[4],
		RemoteInvalidation: b[5]&flagRemoteInvalidation != 0,
		SendSize:           (int(b[6]) + 1) * sizeUnit,
		ReceiveSize:        (int(b[7]) + 1) * sizeUnit,
	}, true
}

// Append appends the private data to b. Sizes are rounded down to 1024 octets.
func (p PrivateData) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, PrivateMagic)
	var flags uint8
	if p.RemoteInvalidation {
		flags = flagRemoteInvalidation
	}
	return append(b, p.Version, flags, sizeField(p.SendSize), sizeField(p.ReceiveSize))
}

func sizeField(n int) uint8 { return uint8(min(max(n/sizeUnit, 1), 256) - 1) }
