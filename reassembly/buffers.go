package reassembly

import "math/bits"

// buffers hands out and takes back the memory for octets that are held. Sizes
// are rounded up to two steps per power of two: at most a third is wasted.
type buffers struct {
	free   [2*(maxClassBits-minClassBits) + 1][][]byte
	pooled int // octets in free
}

const (
	minClassBits = 6 // 64 octets
	maxClassBits = 20
	maxPooled    = 1 << 20 // octets that are kept for later
)

// class returns the class of buffers for n octets, and their size. Segments
// above the largest class have buffers of their own, class -1.
func class(n int) (class, size int) {
	if n <= 1<<minClassBits {
		return 0, 1 << minClassBits
	}
	if n > 1<<maxClassBits {
		return -1, n
	}
	b := bits.Len(uint(n - 1)) // 1<<(b-1) < n <= 1<<b
	if size := 3 << (b - 2); n <= size {
		return 2*(b-minClassBits) - 1, size
	}
	return 2 * (b - minClassBits), 1 << b
}

// get returns a buffer of n octets with any content.
func (p *buffers) get(n int) []byte {
	k, size := class(n)
	if k < 0 {
		return make([]byte, n)
	}
	if l := len(p.free[k]); l > 0 {
		b := p.free[k][l-1]
		p.free[k] = p.free[k][:l-1]
		p.pooled -= size
		return b[:n]
	}
	return make([]byte, n, size)
}

// put takes back a buffer that came from get, or a tail of nothing.
func (p *buffers) put(b []byte) {
	k, size := class(cap(b))
	if k < 0 || cap(b) != size || p.pooled+size > maxPooled {
		return
	}
	p.free[k] = append(p.free[k], b[:0])
	p.pooled += size
}
