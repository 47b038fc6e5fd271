package packet

import (
	"encoding/binary"
	"math/bits"
)

// A Sum is the verdict on a checksum.
type Sum uint8

const (
	SumUnknown Sum = iota // the capture does not hold all that it covers, or the host left it to hardware
	SumOK
	SumBad
)

// Checksum verifies the TCP checksum (RFC 9293, section 3.1, with the pseudo
// header of RFC 791 or RFC 8200, section 8.1). It reads the whole segment, so
// it is for where the answer matters. Packets that were captured on the host
// that sent them ordinarily have checksums that are not filled in: where the
// field holds the sum of the pseudo header alone that is seen (SumUnknown),
// else they are SumBad, and bad ones mean something only where others of the
// direction are good.
func (s *Segment) Checksum() Sum {
	if len(s.tcp) < minTCP || len(s.tcp) != s.tcpLen || s.detours {
		return SumUnknown
	}
	// The prefix of an IPv4-mapped address adds 0xffff for each address, which
	// is zero in this arithmetic: the same sum serves IPv4 and IPv6.
	sum := add(0, s.Flow.Src.Addr[:])
	sum = add(sum, s.Flow.Dst.Addr[:])
	var tail [8]byte
	binary.BigEndian.PutUint32(tail[:], uint32(s.tcpLen))
	tail[7] = protoTCP
	sum = add(sum, tail[:])
	pseudo := fold(sum)
	if fold(add(sum, s.tcp)) == 0xffff {
		return SumOK
	}
	if binary.LittleEndian.Uint16(s.tcp[16:]) == pseudo {
		return SumUnknown // left for hardware to fill in, or made so by a merge
	}
	return SumBad
}

// HeaderSum is a sum over the TCP header as it was captured, options and
// checksum included; never zero for one that is whole. Copies of one packet
// have the same.
func (s *Segment) HeaderSum() uint16 {
	return fold(add(0, s.tcp[:max(len(s.tcp)-len(s.Payload), 0)]))
}

// add adds b to a one's complement sum (RFC 1071) of 64-bit words in
// little-endian order, as if b were padded with zeros.
func add(sum uint64, b []byte) uint64 {
	var c uint64
	for len(b) >= 64 {
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b), c)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[8:]), c)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[16:]), c)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[24:]), c)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[32:]), c)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[40:]), c)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[48:]), c)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b[56:]), c)
		b = b[64:]
	}
	for len(b) >= 8 {
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(b), c)
		b = b[8:]
	}
	if len(b) > 0 {
		var last [8]byte
		copy(last[:], b)
		sum, c = bits.Add64(sum, binary.LittleEndian.Uint64(last[:]), c)
	}
	sum, c = bits.Add64(sum, 0, c)
	return sum + c
}

// fold brings a sum of 64-bit words down to 16 bits. The verdict 0xffff does
// not depend on the byte order.
func fold(sum uint64) uint16 {
	sum = sum>>32 + sum&0xffff_ffff
	sum = sum>>32 + sum&0xffff_ffff
	sum = sum>>16 + sum&0xffff
	sum = sum>>16 + sum&0xffff
	return uint16(sum)
}
