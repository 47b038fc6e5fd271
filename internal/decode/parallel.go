package decode

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"sync"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/packet"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/reassembly"
)

// ahead is how many blocks may be under way at once.
const ahead = 4

// A part is what one worker gets of a block, and what it makes of it.
type part struct {
	items []item
	out   recorder
}

// item is a segment, or something that all workers are told.
type item struct {
	kind itemKind
	seg  int32 // of the job, with aSegment
	at   reassembly.Stamp
	lost uint64 // with aLoss
}

type itemKind uint8

const (
	aSegment itemKind = iota
	aTick             // the time of the capture
	anAge             // a generation of its memory begins
	aLoss             // the source lost frames
)

// A job is a block on its way: its parts are done when wg says so.
type job struct {
	block *capture.Block // nil behind the last
	end   uint64         // octets of the capture up to its end
	last  int64          // time of its last frame so far
	lost  *qp.Event      // what was lost in front of it, nil for nothing
	segs  []packet.Segment
	parts []part
	wg    sync.WaitGroup
}

// parallel spreads connections over workers. One goroutine reads frames and
// takes them apart, the workers decode what is theirs of each block, and
// another goroutine puts the records back in the order of the frames that
// brought them, and hands them out.
func (r *run) parallel() (Stats, error) {
	n := r.o.Workers
	spread := newSpreader(n)
	jobs := make(chan *job, ahead)
	queues := make([]chan *job, n)
	workers := make([]*worker, n)
	var running, merging sync.WaitGroup
	for i := range queues {
		queues[i] = make(chan *job, ahead)
		workers[i] = newWorker(nil, r.o)
		running.Go(func() { workers[i].work(i, queues[i]) })
	}
	pool := sync.Pool{New: func() any { return &job{parts: make([]part, n)} }}
	merging.Go(func() { r.merge(jobs, &pool) })

	var failed error
	for last := false; !last; {
		b, err := r.block()
		failed, last = err, b == nil
		if last {
			r.begin(nil)
		}
		j := pool.Get().(*job)
		j.block = b
		if b != nil {
			r.spread(b, j, spread)
		}
		j.end, j.last = r.stats.Octets, r.stats.LastTime
		j.wg.Add(n)
		for _, q := range queues {
			q <- j
		}
		jobs <- j
	}
	for _, q := range queues {
		close(q)
	}
	close(jobs)
	running.Wait()
	merging.Wait()
	for _, w := range workers {
		r.stats.TCPConnections += w.asm.Connections()
	}
	return r.stats, failed
}

// spread gives each worker its segments of a block.
func (r *run) spread(b *capture.Block, j *job, s *spreader) {
	if j.lost = r.lost(b); j.lost != nil {
		j.tell(item{kind: aLoss, at: reassembly.Stamp(j.lost.At), lost: b.Lost})
	}
	if at, ok := r.idle(b); ok {
		j.tell(item{kind: aTick, at: at})
	}
	if len(j.segs) < len(b.Frames) {
		j.segs = make([]packet.Segment, len(b.Frames))
	}
	for i := range b.Frames {
		f, seg := &b.Frames[i], &j.segs[i]
		is := r.frame(f, seg)
		if r.ages(f) {
			j.tell(item{kind: anAge})
		}
		if !is {
			continue
		}
		at := reassembly.Stamp{Frame: f.Number, Time: f.Time}
		if f.Time >= r.next {
			r.next = f.Time + tick
			j.tell(item{kind: aTick, at: at})
		}
		p := &j.parts[s.worker(&seg.Flow)]
		p.items = append(p.items, item{seg: int32(i), at: at})
	}
}

// tell gives all workers an item.
func (j *job) tell(it item) {
	for k := range j.parts {
		j.parts[k].items = append(j.parts[k].items, it)
	}
}

// work decodes the parts that are those of worker i.
func (w *worker) work(i int, queue <-chan *job) {
	for j := range queue {
		p := &j.parts[i]
		w.sink = &p.out
		if j.block == nil {
			p.out.at(math.MaxUint64, false)
			w.captureEnd = j.last
			w.asm.Flush()
			j.wg.Done()
			continue
		}
		for k := range p.items {
			it := &p.items[k]
			p.out.at(it.at.Frame, it.kind == aTick)
			switch it.kind {
			case aSegment:
				w.asm.Segment(&j.segs[it.seg], it.at)
			case aTick:
				w.asm.Tick(it.at)
			case anAge:
				w.asm.Expire()
			case aLoss:
				w.lose(it.at.Time, it.lost)
			}
		}
		j.wg.Done()
	}
}

// merge hands out the records of all workers in the order of one.
func (r *run) merge(jobs <-chan *job, pool *sync.Pool) {
	defer r.kept.release()
	for j := range jobs {
		j.wg.Wait()
		if j.block != nil {
			r.kept.add(j.block, j.end)
		}
		if j.lost != nil {
			r.out.Event(j.lost)
			j.lost = nil
		}
		for {
			first := -1
			for k := range j.parts {
				if o := &j.parts[k].out; o.more() && (first < 0 || o.before(&j.parts[first].out)) {
					first = k
				}
			}
			if first < 0 {
				break
			}
			j.parts[first].out.hand(r.out)
		}
		for k := range j.parts {
			p := &j.parts[k]
			p.items = p.items[:0]
			p.out.reset()
		}
		j.block = nil
		pool.Put(j)
		r.ask()
	}
}

// A spreader chooses the worker of a connection: the same for both directions,
// and not to be foreseen by whoever chooses the addresses.
type spreader struct {
	n          uint64
	seed, stir uint64
}

func newSpreader(n int) *spreader {
	return &spreader{n: uint64(n), seed: rand.Uint64(), stir: rand.Uint64() | 1}
}

func (s *spreader) worker(f *packet.Flow) int {
	h := s.mix(&f.Src) + s.mix(&f.Dst)
	hi, lo := bits.Mul64(h^s.seed, s.stir)
	hi, _ = bits.Mul64(hi^lo, s.n)
	return int(hi)
}

func (s *spreader) mix(e *packet.Endpoint) uint64 {
	a, b := word(e.Addr[:8]), word(e.Addr[8:])
	hi, lo := bits.Mul64(a^s.seed, b^s.stir)
	hi2, lo2 := bits.Mul64(hi^lo^uint64(e.Port)<<32^s.seed, s.stir)
	return hi2 ^ lo2
}

func word(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
