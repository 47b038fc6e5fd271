package live

import (
	"sync"
	"sync/atomic"

	"github.com/iwdump/iwdump/capture"
)

// bufferSize is how much memory frames are copied to at once.
const bufferSize = 256 << 10

// A buffer holds the octets of some blocks.
type buffer struct {
	data []byte
	refs atomic.Int32 // blocks in it, and the pool that fills it
}

// A pool hands out memory for blocks, and takes it back.
type pool struct {
	cur *buffer // being filled, by the Source's goroutine alone

	mu     sync.Mutex
	bufs   []*buffer // nobody's
	frames [][]capture.Frame
}

// maxIdle is how many buffers are kept for later.
const maxIdle = 16

// room returns memory for n octets, with nothing in it.
func (p *pool) room(n int) *buffer {
	if p.cur != nil {
		if cap(p.cur.data)-len(p.cur.data) >= n {
			return p.cur
		}
		p.drop(p.cur)
	}
	p.mu.Lock()
	if k := len(p.bufs); k > 0 && n <= bufferSize {
		p.cur, p.bufs = p.bufs[k-1], p.bufs[:k-1]
	} else {
		p.cur = &buffer{data: make([]byte, 0, max(n, bufferSize))}
	}
	p.mu.Unlock()
	p.cur.data = p.cur.data[:0]
	p.cur.refs.Store(1)
	return p.cur
}

func (p *pool) drop(b *buffer) {
	if b.refs.Add(-1) > 0 || cap(b.data) != bufferSize {
		return
	}
	p.mu.Lock()
	if len(p.bufs) < maxIdle {
		p.bufs = append(p.bufs, b)
	}
	p.mu.Unlock()
}

// block returns a block whose frames lie in buf.
func (p *pool) block(buf *buffer) *capture.Block {
	buf.refs.Add(1)
	var once atomic.Bool
	b := capture.NewBlock(func(b *capture.Block) {
		if once.Swap(true) {
			return
		}
		frames := b.Frames
		b.Frames = nil
		clear(frames)
		p.drop(buf)
		p.mu.Lock()
		if len(p.frames) < maxIdle {
			p.frames = append(p.frames, frames[:0])
		}
		p.mu.Unlock()
	})
	p.mu.Lock()
	if k := len(p.frames); k > 0 {
		b.Frames, p.frames = p.frames[k-1], p.frames[:k-1]
	}
	p.mu.Unlock()
	return b
}
