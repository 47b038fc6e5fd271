package mpa

import (
	"encoding/binary"

	"github.com/iwdump/iwdump/internal/crc32c"
)

const (
	// MarkerSpacing is the distance from the start of one Marker to the start
	// of the next, in octets of the stream (RFC 5044, section 4.3).
	MarkerSpacing = 512
	// MarkerLen is the length of a Marker (RFC 5044, section 4.2).
	MarkerLen = 4
	// MinLength is the smallest ULPDU_Length that a DDP segment can have.
	MinLength = 14
	// MaxLength is the largest ULPDU_Length that a sender may use (RFC 5044,
	// section 3).
	MaxLength = 64768
	// Residue is what CRC32C gives over covered octets and their CRC field.
	Residue = 0x48674BC7

	crcLen = 4
)

// CRC32C returns the checksum of RFC 5044, section 4.4, over b. On the wire
// its least significant octet comes first.
func CRC32C(b []byte) uint32 { return crc32c.Update(0, b) }

// size returns the octets of an FPDU with the given ULPDU_Length: length
// field, ULPDU, PAD and CRC, without Markers (RFC 5044, section 4.1).
func size(length int) int { return (2+length+3)&^3 + crcLen }

// wireSize returns how many octets of the stream n octets of FPDU take that
// start off octets behind a Marker position, Markers included. A Marker right
// behind the last octet belongs to the next FPDU.
func wireSize(off uint64, n int) int {
	before := int(-off & (MarkerSpacing - 1)) // octets in front of the first Marker
	if n <= before {
		return n
	}
	return n + MarkerLen*(1+(n-before-1)/(MarkerSpacing-MarkerLen))
}

// A Writer makes one direction of an MPA stream, from behind its startup
// frame. Its zero value uses neither Markers nor CRCs.
type Writer struct {
	Markers bool
	CRC     bool
	// Off is how many octets have been written: Markers stand where it is a
	// multiple of MarkerSpacing.
	Off uint64
}

// Append appends the FPDU that carries ulpdu to b (RFC 5044, section 4). A
// ulpdu longer than 65535 octets is cut: its length field can say no more.
func (w *Writer) Append(b, ulpdu []byte) []byte {
	ulpdu = ulpdu[:min(len(ulpdu), 0xFFFF)]
	from := len(b)
	start := w.Off // of ULPDU_Length
	if w.Markers && w.Off%MarkerSpacing == 0 {
		start += MarkerLen
	}
	put := func(p []byte) {
		for len(p) > 0 {
			n := len(p)
			if w.Markers {
				at := w.Off % MarkerSpacing
				if at == 0 {
					ptr := uint16(0)
					if w.Off > start {
						ptr = uint16(w.Off - start)
					}
					b = append(b, 0, 0, byte(ptr>>8), byte(ptr))
					w.Off += MarkerLen
					at = MarkerLen
				}
				n = min(n, MarkerSpacing-int(at))
			}
			b = append(b, p[:n]...)
			w.Off += uint64(n)
			p = p[n:]
		}
	}
	put([]byte{byte(len(ulpdu) >> 8), byte(len(ulpdu))})
	put(ulpdu)
	put(make([]byte, size(len(ulpdu))-2-len(ulpdu)-crcLen))
	if w.Markers && w.Off%MarkerSpacing == 0 {
		// A Marker between PAD and CRC is covered by the CRC.
		ptr := uint16(w.Off - start)
		b = append(b, 0, 0, byte(ptr>>8), byte(ptr))
		w.Off += MarkerLen
	}
	var crc uint32
	if w.CRC {
		crc = CRC32C(b[from:])
	}
	w.Off += crcLen
	return binary.LittleEndian.AppendUint32(b, crc)
}
