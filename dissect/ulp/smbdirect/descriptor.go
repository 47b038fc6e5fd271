package smbdirect

import (
	"encoding/binary"
	"iter"
	"math/bits"
)

// DescriptorLen is the length in octets of a buffer descriptor (MS-SMBD, section
// 2.2.3.1).
const DescriptorLen = 16

// A Descriptor is memory that a client offers: a buffer descriptor V1 (MS-SMBD,
// section 2.2.3.1).
type Descriptor struct {
	Offset uint64 // tagged offset
	Token  uint32 // STag
	Length uint32 // octets
}

// ParseDescriptor parses the descriptor at the start of b and returns its
// length.
func ParseDescriptor(b []byte) (d Descriptor, n int, err error) {
	if len(b) < DescriptorLen {
		return Descriptor{}, 0, ErrShort
	}
	return Descriptor{
		Offset: binary.LittleEndian.Uint64(b),
		Token:  binary.LittleEndian.Uint32(b[8:]),
		Length: binary.LittleEndian.Uint32(b[12:]),
	}, DescriptorLen, nil
}

// Append appends the descriptor to b.
func (d Descriptor) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, d.Offset)
	b = binary.LittleEndian.AppendUint32(b, d.Token)
	return binary.LittleEndian.AppendUint32(b, d.Length)
}

// Names says that the descriptor is of an STag. Providers whose tokens are in
// network order put them into the descriptor as they are, so that they read
// swapped.
func (d Descriptor) Names(stag uint32) bool {
	return stag == d.Token || stag == bits.ReverseBytes32(d.Token)
}

// Holds says that the n octets from tagged offset to on lie in the memory.
func (d Descriptor) Holds(stag uint32, to, n uint64) bool {
	return d.Names(stag) && to >= d.Offset && to-d.Offset <= uint64(d.Length) && n <= uint64(d.Length)-(to-d.Offset)
}

// Descriptors is the encoded buffer descriptors of a READ or WRITE, as far as
// they are there. It aliases what was parsed.
type Descriptors []byte

// Len returns the number of descriptors.
func (l Descriptors) Len() int { return len(l) / DescriptorLen }

// All yields the descriptors in order.
func (l Descriptors) All() iter.Seq[Descriptor] {
	return func(yield func(Descriptor) bool) {
		for b := l; len(b) >= DescriptorLen; b = b[DescriptorLen:] {
			d, _, _ := ParseDescriptor(b)
			if !yield(d) {
				return
			}
		}
	}
}

// Octets returns how many octets the descriptors offer.
func (l Descriptors) Octets() (n uint64) {
	for d := range l.All() {
		n += uint64(d.Length)
	}
	return n
}
