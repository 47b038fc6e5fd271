// Package crc32c computes the CRC of MPA (RFC 5044, section 4.4: CRC32c, the
// polynomial of Castagnoli), at the rate at which the processor can take octets.
//
// hash/crc32 runs three chains of CRC32 instructions side by side over pieces
// of fixed sizes, and one chain over what is left, which at the size of an FPDU
// is almost a third. Here the three chains share whatever there is. Where there
// are no such instructions, or on other processors than amd64, hash/crc32 does
// the work.
package crc32c

import "hash/crc32"

var table = crc32.MakeTable(crc32.Castagnoli)

// Update returns the CRC of octets, of which crc is that of those before p.
func Update(crc uint32, p []byte) uint32 {
	if !fast || len(p) == 0 {
		return crc32.Update(crc, table, p)
	}
	return update(crc, p)
}
