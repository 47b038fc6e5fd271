package crc32c

import (
	"hash/crc32"

	"golang.org/x/sys/cpu"
)

var fast = cpu.X86.HasSSE42 && cpu.X86.HasPCLMULQDQ

const (
	leastWords = 8   // in a chain; below that joining them costs more than it saves
	mostWords  = 256 // in a chain
)

// powers[n] is x^(64n-33) modulo the polynomial, its bits reflected as those of
// a CRC are. Multiplied by that, and taken as 64 more octets to a CRC of zero,
// which multiplies by x^33, a CRC is as it would be with n words of zeros
// behind what it covers.
var powers = func() (p [2*mostWords + 1]uint32) {
	p[1] = 1 // x^31
	for n := 2; n < len(p); n++ {
		p[n] = ^crc32.Update(^p[n-1], table, make([]byte, 8))
	}
	return p
}()

func update(crc uint32, p []byte) uint32 {
	crc = ^crc
	for len(p) >= 3*8*mostWords {
		crc = chains(crc, &p[0], mostWords, powers[2*mostWords], powers[mostWords])
		p = p[3*8*mostWords:]
	}
	if n := len(p) / (3 * 8); n >= leastWords {
		crc = chains(crc, &p[0], n, powers[2*n], powers[n])
		p = p[3*8*n:]
	}
	if len(p) > 0 {
		crc = chain(crc, &p[0], len(p))
	}
	return ^crc
}

// chains takes 3n words of eight octets: n words each in three chains, which
// are joined by the powers for 2n and for n words.
//
//go:noescape
func chains(crc uint32, p *byte, n int, power2n, powern uint32) uint32

// chain takes n octets, in one chain.
//
//go:noescape
func chain(crc uint32, p *byte, n int) uint32
