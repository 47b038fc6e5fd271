// Package decode is the way from frames to records: it joins packet,
// reassembly, dissect and qp, connection by connection.
package decode

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/packet"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/reassembly"
)

// Options say what to decode. The zero value is the ordinary case.
type Options struct {
	Workers     int  // goroutines that decode; 0 is one per CPU
	Messages    bool // hand out Message records
	FPDUs       bool // hand out FPDU records
	Operations  bool // hand out Operation records
	KeepPayload int  // octets of each message's payload to hand out
	NoRecovery  bool // leave streams whose startup was not seen alone
	Upper       Upper
	Describe    qp.Describe // of messages of an upper layer
	// Begin is called once, before the first record, with the link types of
	// the first frames and the time of the first; with nothing where there is
	// no frame. It may be nil.
	Begin func(links []capture.LinkType, first int64)
	// Stop is asked after each block, when its records have been handed out,
	// whether to end; nil never ends.
	Stop func() bool
	// IdleTimeout is how long, in ns of the capture, a connection may be idle
	// before it is ended, 0 for ever.
	IdleTimeout int64
}

// Stats is what the whole capture amounts to.
type Stats struct {
	Frames         uint64
	Octets         uint64 // captured
	FirstTime      int64  // ns since 1970-01-01 UTC, where Frames > 0
	LastTime       int64
	TCPConnections uint64
	OtherFrames    uint64 // frames that are not TCP
	TooDeep        uint64 // of them, those with too many headers around one another
	UnknownLinks   []UnknownLink
	Fragments      packet.FragmentCounts
	LinkTypes      []capture.LinkType
	QPs            uint64
	Messages       uint64
	FPDUs          uint64
	CRCBad         uint64
	Lost           uint64           // frames that a live source had no room for
	Damage         []*capture.Error // in the order met
}

// tick is the time of the capture, in ns, after which idle connections are
// looked for again.
const tick = 1e9

// generation is how many octets of the capture, from one Expire of an Assembler
// to the next, its memory stays valid for behind them. It does not depend on
// blocks, so that what an Assembler still remembers does not either.
const generation = 64 << 10

// Run decodes everything that src has and hands the records to sink, in the
// order of the frames that complete them, whatever the number of workers. It
// returns an error only where src cannot go on; what is damaged in the capture
// is in Stats.
func Run(src capture.Source, sink qp.Sink, o Options) (Stats, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	r := &run{src: src, o: o, out: &numberer{sink: sink}}
	r.out.stats = &r.stats
	decodeAll := r.parallel
	if o.Workers == 1 {
		decodeAll = r.single
	}
	stats, err := decodeAll()
	stats.Fragments = r.dec.FragmentCounts()
	return stats, err
}

// run is one call of Run.
type run struct {
	src   capture.Source
	o     Options
	out   *numberer
	stats Stats
	dec   packet.Decoder
	next  int64 // when to look for idle connections
	kept  retained
	begun bool
	stop  atomic.Bool // no more blocks are wanted
}

// frame counts a frame, and says whether it holds a TCP segment.
func (r *run) frame(f *capture.Frame, s *packet.Segment) bool {
	st := &r.stats
	if st.Frames == 0 {
		st.FirstTime, r.next = f.Time, f.Time+tick
	}
	st.Frames++
	st.Octets += uint64(len(f.Data))
	st.FirstTime = min(st.FirstTime, f.Time)
	st.LastTime = max(st.LastTime, f.Time)
	if n := len(st.LinkTypes); n == 0 || st.LinkTypes[n-1] != f.Link && !slices.Contains(st.LinkTypes, f.Link) {
		st.LinkTypes = append(st.LinkTypes, f.Link)
	}
	if k := r.dec.Decode(f, s); k != packet.TCP {
		st.other(f, k)
		return false
	}
	return true
}

// block returns the next block, nil at the end. Damage is noted.
func (r *run) block() (*capture.Block, error) {
	for {
		if r.stop.Load() {
			return nil, nil
		}
		b, err := r.src.Next()
		if err == nil {
			if len(b.Frames) > 0 {
				r.begin(b.Frames)
			}
			return b, nil
		}
		var damage *capture.Error
		switch {
		case errors.Is(err, io.EOF) && !errors.As(err, &damage):
			return nil, nil
		case errors.As(err, &damage):
			r.stats.Damage = append(r.stats.Damage, damage)
		default:
			return nil, err
		}
	}
}

// ask asks whether to go on.
func (r *run) ask() {
	if r.o.Stop != nil && r.o.Stop() {
		r.stop.Store(true)
	}
}

// begin tells what the capture begins with.
func (r *run) begin(frames []capture.Frame) {
	if r.begun || r.o.Begin == nil {
		return
	}
	r.begun = true
	var links []capture.LinkType
	first := int64(0)
	for i := range frames {
		if i == 0 {
			first = frames[i].Time
		}
		if !slices.Contains(links, frames[i].Link) {
			links = append(links, frames[i].Link)
		}
	}
	r.o.Begin(links, first)
}

// ages says that a frame begins a new generation.
func (r *run) ages(f *capture.Frame) bool {
	return (r.stats.Octets-uint64(len(f.Data)))/generation != r.stats.Octets/generation
}

// retained is blocks that are done, but whose memory still serves.
type retained struct {
	blocks []*capture.Block
	ends   []uint64 // octets of the capture up to the end of each
}

// add takes a block that is done, the end of which is at end, and gives those
// back that are two generations old.
func (k *retained) add(b *capture.Block, end uint64) {
	k.blocks, k.ends = append(k.blocks, b), append(k.ends, end)
	n := 0
	for n < len(k.ends) && k.ends[n]+2*generation <= end {
		k.blocks[n].Release()
		n++
	}
	k.blocks, k.ends = slices.Delete(k.blocks, 0, n), slices.Delete(k.ends, 0, n)
}

// release gives all back.
func (k *retained) release() {
	for _, b := range k.blocks {
		b.Release()
	}
	*k = retained{}
}

// single decodes in this goroutine and hands records out as they come.
func (r *run) single() (Stats, error) {
	w := newWorker(r.out, r.o)
	var seg packet.Segment
	var failed error
	for {
		b, err := r.block()
		if b == nil {
			failed = err
			break
		}
		if e := r.lost(b); e != nil {
			w.lose(e.At.Time, b.Lost)
			r.out.Event(e)
		}
		if at, ok := r.idle(b); ok {
			w.asm.Tick(at)
		}
		for i := range b.Frames {
			f := &b.Frames[i]
			is := r.frame(f, &seg)
			if r.ages(f) {
				w.asm.Expire()
			}
			if !is {
				continue
			}
			at := reassembly.Stamp{Frame: f.Number, Time: f.Time}
			if f.Time >= r.next {
				r.next = f.Time + tick
				w.asm.Tick(at)
			}
			w.asm.Segment(&seg, at)
		}
		r.kept.add(b, r.stats.Octets)
		r.ask()
	}
	r.begin(nil)
	w.captureEnd = r.stats.LastTime
	w.asm.Flush()
	r.kept.release()
	r.stats.TCPConnections = w.asm.Connections()
	return r.stats, failed
}
