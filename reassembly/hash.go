package reassembly

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/iwdump/iwdump/packet"
)

// A Hasher hashes connections: both directions to the same value. Its key is
// secret, so that nobody can make up addresses and ports that all collide.
type Hasher struct {
	key [4]uint64
}

// NewHasher returns a Hasher with a random key.
func NewHasher() Hasher {
	var h Hasher
	for i := range h.key {
		h.key[i] = rand.Uint64()
	}
	return h
}

// Hash returns the hash of the connection that f is a direction of. All its
// bits are equally good.
func (h *Hasher) Hash(f *packet.Flow) uint64 {
	return h.endpoint(&f.Src) + h.endpoint(&f.Dst)
}

func (h *Hasher) endpoint(e *packet.Endpoint) uint64 {
	x := fold(binary.LittleEndian.Uint64(e.Addr[:])^h.key[0], binary.LittleEndian.Uint64(e.Addr[8:])^h.key[1])
	return fold(x^h.key[2], uint64(e.Port)^h.key[3])
}

// fold multiplies to 128 bits and folds them into 64.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
