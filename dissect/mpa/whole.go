package mpa

import (
	"encoding/binary"

	"github.com/iwdump/iwdump/internal/crc32c"
)

// whole takes an FPDU that lies in b as a whole, without Markers, and is good.
// It returns 0 for all else.
func (f *Framer) whole(b []byte, c *Chunk) int {
	if len(b) < 2 {
		return 0
	}
	length := int(binary.BigEndian.Uint16(b))
	n := size(length)
	if length < MinLength || length > MaxLength || len(b) < n {
		return 0
	}
	ulpdu := b[2 : 2+length : 2+length]
	if !f.good(b[:n], ulpdu, length) {
		return 0
	}
	f.take(c, 0, n, length, ulpdu, 0)
	return n
}

// good verifies an FPDU, from the Marker directly in front of it, if there is
// one, to its CRC.
func (f *Framer) good(b, ulpdu []byte, length int) bool {
	o := &f.budget.out
	switch body, field := b[:len(b)-crcLen], b[len(b)-crcLen:]; f.crc {
	case On:
		calc := crc32c.Update(0, body)
		wire := binary.LittleEndian.Uint32(field) // behind the body, which brings it into the cache
		if calc != wire {
			return false
		}
		o.CRC, o.CRCWire, o.CRCCalc = CRCOK, wire, calc
		return true
	case Off:
		o.CRC, o.CRCWire, o.CRCCalc = CRCOff, binary.LittleEndian.Uint32(field), 0
		return f.p.Evidence(ulpdu, length) > 0
	}
	return false
}

// guessProof is how many octets in a row must agree with a guess about Markers
// until it is taken for granted: there would be a Marker among them, or one in a
// wrong place.
const guessProof = 2 * MarkerSpacing

// prove counts an FPDU that agrees with a guess about Markers.
func (f *Framer) prove(o *FPDU) {
	if !o.Complete || o.CRC == CRCUnchecked {
		f.proof = 0
		return
	}
	if f.proof += o.Lead + o.Wire; f.proof >= guessProof {
		f.guessed = false
	}
}

// take hands out an FPDU that lay in c as a whole: n octets, the first lead of
// them the Marker in front of it.
func (f *Framer) take(c *Chunk, lead, n, length int, ulpdu []byte, markers int) {
	if f.bad {
		f.emitBad()
	}
	o := &f.budget.out
	start := f.off + uint64(lead)
	o.Off = start
	o.Seq = f.seq + uint32(start)
	o.Length = length
	o.ULPDU = ulpdu
	o.Wire = n - lead
	o.Lead = lead
	o.Markers = markers
	o.First = c.Stamp
	o.Last = c.Stamp
	o.Complete = true
	o.EndLost = false
	o.Retrans = c.Retrans
	o.Found = f.found
	if f.found > FoundChain {
		f.found = FoundChain
	}
	f.off += uint64(n)
	f.counts.Framed += uint64(n)
	if f.guessed {
		f.prove(o)
	}
	f.h.FPDU(o)
}

// wholeMarked is whole for a direction with Markers.
func (f *Framer) wholeMarked(b []byte, c *Chunk) int {
	lead := 0
	if (f.off-f.phase)%MarkerSpacing == 0 {
		lead = MarkerLen
	}
	if f.markers != On || len(b) < lead+2 {
		return 0
	}
	length := int(binary.BigEndian.Uint16(b[lead:]))
	first := int((f.phase - f.off - uint64(lead)) % MarkerSpacing) // distance of the first Marker inside
	n := lead + wireSize((f.off-f.phase)%MarkerSpacing+uint64(lead), size(length))
	if length < MinLength || length > MaxLength || len(b) < n {
		return 0
	}
	b = b[:n]
	markers := lead / MarkerLen
	if lead > 0 && binary.BigEndian.Uint16(b[2:])&^3 != 0 {
		return 0
	}
	for at := first; lead+at < n; at += MarkerSpacing {
		if binary.BigEndian.Uint16(b[lead+at+2:])&^3 != uint16(at) {
			return 0
		}
		markers++
	}
	ulpdu := b[lead+2 : lead+min(first, 2+length)]
	if len(ulpdu) < min(f.wants(ulpdu), length) {
		ulpdu = f.unmarked(b[lead:], first, length)
	}
	if !f.good(b, ulpdu, length) {
		return 0
	}
	f.take(c, lead, n, length, ulpdu, markers)
	return n
}

// unmarked copies the first octets of the ULPDU of the FPDU in b, Markers left
// out, the first of which is at first.
func (f *Framer) unmarked(b []byte, first, length int) []byte {
	want := 2 + min(f.wants(b[2:max(2, min(4, first))]), length)
	f.grow(want)
	n := copy(f.head[:want], b[:first])
	for b = b[first+MarkerLen:]; n < want; b = b[min(len(b), MarkerSpacing):] {
		n += copy(f.head[n:want], b[:min(len(b), MarkerSpacing-MarkerLen)])
	}
	return f.head[2:want]
}
