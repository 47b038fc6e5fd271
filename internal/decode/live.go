package decode

import (
	"fmt"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/reassembly"
)

// lossTime is how long, in ns, holes that are found after a loss may come from
// it: an Assembler waits for 10 s, and looks once a second.
const lossTime = 12e9

// A loss is what a live source lost lately.
type loss struct {
	time   int64 // of the last
	frames uint64
}

// lose notes a loss.
func (w *worker) lose(at int64, frames uint64) {
	if w.loss.frames > 0 && at-w.loss.time > lossTime {
		w.loss = loss{}
	}
	w.loss.time = at
	w.loss.frames += frames
}

// blame says of a hole that it may come from the loss.
func (l *loss) blame(e *qp.Event) {
	if l.frames == 0 || e.At.Time-l.time > lossTime {
		return
	}
	e.Detail += fmt.Sprintf("; the capture dropped %s shortly before, so this may be its doing", count(l.frames))
	e.Fields = append(e.Fields, qp.Field{Name: "capture_drops", Num: int64(l.frames)})
}

// lost counts what was lost in front of a block, and returns the event that
// tells it, nil for none.
func (r *run) lost(b *capture.Block) *qp.Event {
	if b.Lost == 0 {
		return nil
	}
	r.stats.Lost += b.Lost
	at := mpa.Stamp{Frame: r.stats.Frames, Time: r.stats.LastTime}
	if len(b.Frames) > 0 {
		at = mpa.Stamp{Frame: b.Frames[0].Number, Time: b.Frames[0].Time}
	} else if b.Now > 0 {
		at.Time = max(at.Time, b.Now)
	}
	return &qp.Event{Severity: qp.Warning, Kind: "capture_drop", At: at,
		Detail: fmt.Sprintf("the kernel dropped %s here for want of room: use a larger ring (-B), a filter (-f) or a smaller snaplen (-s)", count(b.Lost)),
		Fields: []qp.Field{{Name: "frames", Num: int64(b.Lost)}}}
}

// idle says whether the time that a block without frames tells is one to look
// for idle connections. Where there are frames, they tell it.
func (r *run) idle(b *capture.Block) (reassembly.Stamp, bool) {
	if len(b.Frames) > 0 || r.stats.Frames == 0 || b.Now < r.next {
		return reassembly.Stamp{}, false
	}
	r.next = b.Now + tick
	return reassembly.Stamp{Frame: r.stats.Frames, Time: b.Now}, true
}

func count(frames uint64) string {
	if frames == 1 {
		return "1 frame"
	}
	return fmt.Sprintf("%d frames", frames)
}
