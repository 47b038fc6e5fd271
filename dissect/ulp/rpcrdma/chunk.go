package rpcrdma

import (
	"encoding/binary"
	"iter"
)

// Octets of the parts of chunk lists (RFC 8166, section 4.1.2).
const (
	segmentLen   = 16
	readEntryLen = 4 + 4 + segmentLen // one, position, segment
)

// A Segment is memory that a requester offers: an RDMA segment (RFC 8166,
// section 3.4.3).
type Segment struct {
	Handle uint32 // STag
	Length uint32 // octets; in a reply, how many of them were used
	Offset uint64 // tagged offset
}

// ParseSegment parses the segment at the start of b and returns its length.
func ParseSegment(b []byte) (s Segment, n int, err error) {
	if len(b) < segmentLen {
		return Segment{}, 0, ErrShort
	}
	return Segment{
		Handle: binary.BigEndian.Uint32(b),
		Length: binary.BigEndian.Uint32(b[4:]),
		Offset: binary.BigEndian.Uint64(b[8:]),
	}, segmentLen, nil
}

// Append appends the segment to b.
func (s Segment) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, s.Handle)
	b = binary.BigEndian.AppendUint32(b, s.Length)
	return binary.BigEndian.AppendUint64(b, s.Offset)
}

// Holds says that the n octets from tagged offset to on lie in the segment.
func (s Segment) Holds(stag uint32, to, n uint64) bool {
	return stag == s.Handle && to >= s.Offset && to-s.Offset <= uint64(s.Length) && n <= uint64(s.Length)-(to-s.Offset)
}

// A ReadSegment is a segment of a Read chunk (RFC 8166, section 3.4.5).
type ReadSegment struct {
	Position uint32 // of the data in the Payload stream, in octets; 0: the stream itself
	Segment
}

// A ReadList is an encoded Read list (RFC 8166, section 4.3.1): its entries
// without the word that ends it. It aliases what was parsed.
type ReadList []byte

// Len returns the number of segments.
func (l ReadList) Len() int { return len(l) / readEntryLen }

// All yields the segments in order.
func (l ReadList) All() iter.Seq[ReadSegment] {
	return func(yield func(ReadSegment) bool) {
		for b := l; len(b) >= readEntryLen; b = b[readEntryLen:] {
			s, _, _ := ParseSegment(b[8:])
			if !yield(ReadSegment{Position: binary.BigEndian.Uint32(b[4:]), Segment: s}) {
				return
			}
		}
	}
}

// At returns how many octets the Read chunk at a position holds, and whether
// there is one.
func (l ReadList) At(position uint32) (octets uint64, ok bool) {
	for s := range l.All() {
		if s.Position == position {
			octets, ok = octets+uint64(s.Length), true
		}
	}
	return octets, ok
}

// Octets returns how many octets the list offers.
func (l ReadList) Octets() (n uint64) {
	for s := range l.All() {
		n += uint64(s.Length)
	}
	return n
}

// AppendReadList appends an encoded Read list of the segments to b, without the
// word that ends it.
func AppendReadList(b []byte, segments ...ReadSegment) []byte {
	for _, s := range segments {
		b = binary.BigEndian.AppendUint32(b, 1)
		b = binary.BigEndian.AppendUint32(b, s.Position)
		b = s.Append(b)
	}
	return b
}

// A WriteChunk is an encoded Write chunk or Reply chunk (RFC 8166, section
// 3.4.6): its segments without their count. It aliases what was parsed.
type WriteChunk []byte

// Len returns the number of segments.
func (c WriteChunk) Len() int { return len(c) / segmentLen }

// All yields the segments in order.
func (c WriteChunk) All() iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		for b := c; len(b) >= segmentLen; b = b[segmentLen:] {
			s, _, _ := ParseSegment(b)
			if !yield(s) {
				return
			}
		}
	}
}

// Octets returns how many octets the chunk offers, or in a reply, holds.
func (c WriteChunk) Octets() (n uint64) {
	for s := range c.All() {
		n += uint64(s.Length)
	}
	return n
}

// AppendWriteChunk appends an encoded Write chunk of the segments to b, without
// their count.
func AppendWriteChunk(b []byte, segments ...Segment) []byte {
	for _, s := range segments {
		b = s.Append(b)
	}
	return b
}

// A WriteList is an encoded Write list (RFC 8166, section 4.3.2): its chunks
// without the word that ends it. It aliases what was parsed.
type WriteList []byte

// All yields the chunks in order.
func (l WriteList) All() iter.Seq[WriteChunk] {
	return func(yield func(WriteChunk) bool) {
		for b := l; len(b) >= 8; {
			c, n, _ := parseCounted(b[4:])
			if !yield(c) {
				return
			}
			b = b[4+n:]
		}
	}
}

// Len returns the number of chunks.
func (l WriteList) Len() (n int) {
	for range l.All() {
		n++
	}
	return n
}

// Octets returns how many octets the list offers, or in a reply, holds.
func (l WriteList) Octets() (n uint64) {
	for c := range l.All() {
		n += c.Octets()
	}
	return n
}

// AppendWriteList appends an encoded Write list of the chunks to b, without the
// word that ends it.
func AppendWriteList(b []byte, chunks ...WriteChunk) []byte {
	for _, c := range chunks {
		b = binary.BigEndian.AppendUint32(b, 1)
		b = binary.BigEndian.AppendUint32(b, uint32(c.Len()))
		b = append(b, c...)
	}
	return b
}

// parseCounted parses a count and as many segments. Where b ends within them it
// returns those that are whole, and ErrShort.
func parseCounted(b []byte) (c WriteChunk, n int, err error) {
	if len(b) < 4 {
		return nil, 0, ErrShort
	}
	count := uint64(binary.BigEndian.Uint32(b))
	whole := uint64(len(b)-4) / segmentLen
	if count > whole {
		return WriteChunk(b[4 : 4+whole*segmentLen]), len(b), ErrShort
	}
	n = 4 + int(count)*segmentLen
	return WriteChunk(b[4:n]), n, nil
}
