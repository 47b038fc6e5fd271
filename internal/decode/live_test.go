package decode_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
)

// blocks is a live source of given blocks.
type blocks struct{ list []*capture.Block }

func (b *blocks) Next() (*capture.Block, error) {
	if len(b.list) == 0 {
		return nil, io.EOF
	}
	next := b.list[0]
	b.list = b.list[1:]
	return next, nil
}

func block(frames ...capture.Frame) *capture.Block {
	b := capture.NewBlock(nil)
	b.Frames = frames
	return b
}

// loadFrames returns the frames of a capture.
func loadFrames(t *testing.T, name string) (frames []capture.Frame) {
	t.Helper()
	src := capture.Open([]string{"../../testdata/pcaps/" + name}, nil, capture.Options{})
	defer src.Close()
	for {
		b, err := src.Next()
		if err == io.EOF {
			return frames
		}
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, b.Frames...)
	}
}

// events keeps what it is told.
type events struct {
	events []qp.Event
	qps    int
	order  []string
}

func (e *events) Message(m *qp.Message)   { e.order = append(e.order, m.Op.String()) }
func (e *events) FPDU(*qp.FPDU)           {}
func (e *events) Operation(*qp.Operation) {}
func (e *events) QP(*qp.Summary)          { e.qps++; e.order = append(e.order, "qp") }
func (e *events) Event(x *qp.Event) {
	c := *x
	c.Fields = slices.Clone(x.Fields)
	e.events = append(e.events, c)
	e.order = append(e.order, x.Kind)
}

// A loss is told in its place, and a hole behind it may be ours; one in front
// of it is not.
func TestLoss(t *testing.T) {
	frames := loadFrames(t, "siw/iwt-allops.pcap.gz")
	hole := 0 // a frame with much payload
	for i := range frames {
		if i > 20 && len(frames[i].Data) > 1000 {
			hole = i
			break
		}
	}
	cut := append(slices.Clone(frames[:hole]), frames[hole+1:]...)
	lost := block(cut[hole:]...)
	lost.Lost = 1
	late := block()
	late.Lost, late.Now = 3, frames[len(frames)-1].Time+1e9
	for _, workers := range []int{1, 2} {
		run := func(list ...*capture.Block) (*events, decode.Stats) {
			e := &events{}
			stats, err := decode.Run(&blocks{list}, e, decode.Options{Messages: true, Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			return e, stats
		}
		e, stats := run(block(cut[:hole]...), lost)
		i := slices.IndexFunc(e.events, func(x qp.Event) bool { return x.Kind == "capture_drop" })
		k := slices.IndexFunc(e.events, func(x qp.Event) bool { return x.Kind == "tcp_gap" })
		if stats.Lost != 1 || i < 0 || k < i {
			t.Fatalf("%d workers: %d lost, %q", workers, stats.Lost, e.order)
		}
		if x := e.events[i]; x.Conn != nil || x.At.Frame != cut[hole].Number || x.At.Time != cut[hole].Time || !slices.Contains(x.Fields, qp.Field{Name: "frames", Num: 1}) {
			t.Errorf("%d workers: %+v", workers, x)
		}
		if x := e.events[k]; !slices.Contains(x.Fields, qp.Field{Name: "capture_drops", Num: 1}) || !strings.Contains(x.Detail, "the capture dropped 1 frame shortly before") {
			t.Errorf("%d workers: %+v", workers, x)
		}
		e, stats = run(block(cut...), late)
		for _, x := range e.events {
			if x.Kind == "tcp_gap" && len(x.Fields) != 3 {
				t.Errorf("%d workers: %+v", workers, x)
			}
			if x.Kind == "capture_drop" && (x.At.Time != late.Now || stats.Lost != 3) {
				t.Errorf("%d workers: %+v, %d lost", workers, x, stats.Lost)
			}
		}
	}
}

// Time passes without frames: idle connections end, at the same place for any
// number of workers.
func TestIdle(t *testing.T) {
	frames := loadFrames(t, "siw/iwt-allops.pcap.gz")[:60]
	last := frames[len(frames)-1].Time
	at := func(after int64) *capture.Block {
		b := block()
		b.Now = last + after
		return b
	}
	for _, workers := range []int{1, 2, 3} {
		e := &events{}
		ended := 0
		asked := 0
		_, err := decode.Run(&blocks{[]*capture.Block{block(), at(-1e9), block(frames...), at(30e9), at(59e9), at(120e9)}}, e,
			decode.Options{Messages: true, Workers: workers, IdleTimeout: 60e9, Stop: func() bool {
				if asked++; e.qps == 0 {
					ended = asked
				}
				return false
			}})
		if err != nil {
			t.Fatal(err)
		}
		// It is there after the fifth block, and gone after the sixth.
		if asked < 6 || ended != 5 || e.qps != 1 {
			t.Errorf("%d workers: asked %d times, QP there until %d, %d QPs", workers, asked, ended, e.qps)
		}
	}
}
