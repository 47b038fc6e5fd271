package capture

import (
	"sync"
	"sync/atomic"
)

// A buffer holds octets of one file. The reader that fills it and each block
// with frames in it hold a reference; with the last one it can be used again.
type buffer struct {
	data []byte
	refs atomic.Int32
}

// A pool keeps buffers and blocks that nobody uses. It grows to as many as
// were ever held at once.
type pool struct {
	size int // of an ordinary buffer

	mu     sync.Mutex
	bufs   []*buffer
	blocks []*Block
}

// buffer returns a buffer of at least n octets with one reference.
func (p *pool) buffer(n int) *buffer {
	var b *buffer
	if n <= p.size {
		p.mu.Lock()
		if k := len(p.bufs); k > 0 {
			b, p.bufs = p.bufs[k-1], p.bufs[:k-1]
		}
		p.mu.Unlock()
	}
	if b == nil {
		b = &buffer{data: make([]byte, max(n, p.size))}
	}
	b.refs.Store(1)
	return b
}

// drop gives up one reference to b.
func (p *pool) drop(b *buffer) {
	// One that was made for a large frame is left to the garbage collector.
	if b.refs.Add(-1) == 0 && len(b.data) == p.size {
		p.mu.Lock()
		p.bufs = append(p.bufs, b)
		p.mu.Unlock()
	}
}

// block returns an empty block.
func (p *pool) block() *Block {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := len(p.blocks); k > 0 {
		b := p.blocks[k-1]
		p.blocks = p.blocks[:k-1]
		return b
	}
	return &Block{release: p.release}
}

// release takes back a block and its reference.
func (p *pool) release(b *Block) {
	if b.buf == nil { // released before
		return
	}
	if len(b.buf.data) != p.size {
		clear(b.Frames) // keep nothing of it alive
	}
	p.drop(b.buf)
	b.buf = nil
	b.Frames = b.Frames[:0]
	p.mu.Lock()
	p.blocks = append(p.blocks, b)
	p.mu.Unlock()
}
