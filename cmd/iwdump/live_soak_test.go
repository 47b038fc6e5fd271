package main

import (
	"encoding/binary"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/internal/metrics"
	"github.com/iwdump/iwdump/internal/monitor"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/report"
)

// A flood is a live source of a simulated time: connections that begin and go
// silent, half-open startups and SYNs that nobody answers. No two are between
// the same ends.
type flood struct {
	t      *testing.T
	whole  []capture.Frame // of a connection that is never closed
	begins []capture.Frame // the same up to its MPA Request
	now    int64
	step   int64
	end    int64
	count  uint32
	number uint64
	each   func(now int64)
	ticked int64
}

func newFlood(t *testing.T) *flood {
	src := capture.Open([]string{"../../testdata/pcaps/siw/iwt-allops.pcap.gz"}, nil, capture.Options{})
	defer src.Close()
	f := &flood{t: t}
	var port uint16
	for {
		b, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range b.Frames {
			from, to := binary.BigEndian.Uint16(x.Data[34:]), binary.BigEndian.Uint16(x.Data[36:])
			if port == 0 {
				port = from
			}
			const fin = 1
			if (from == port || to == port) && x.Data[47]&fin == 0 {
				f.whole = append(f.whole, x)
			}
		}
	}
	f.begins = f.whole[:4]
	return f
}

// Next is one connection, five half-open ones and twenty SYNs.
func (f *flood) Next() (*capture.Block, error) {
	if f.now >= f.end {
		return nil, io.EOF
	}
	f.now += f.step
	b := capture.NewBlock(nil)
	if f.now-f.ticked >= 1e9 {
		f.ticked = f.now
		f.each(f.now)
		b.Now = f.now
		return b, nil
	}
	f.add(b, f.whole)
	for range 5 {
		f.add(b, f.begins)
	}
	for range 20 {
		f.add(b, f.whole[:1])
	}
	return b, nil
}

// add adds frames as those of another initiator. Its address changes so that
// the sum of its halves stays, and with it the checksums (RFC 1071).
func (f *flood) add(b *capture.Block, frames []capture.Frame) {
	f.count++
	for _, x := range frames {
		data := append([]byte(nil), x.Data...)
		for _, at := range [...]int{26, 30} {
			if data[at+3] == frames[0].Data[29] {
				binary.BigEndian.PutUint16(data[at:], binary.BigEndian.Uint16(data[at:])+uint16(f.count))
				binary.BigEndian.PutUint16(data[at+2:], binary.BigEndian.Uint16(data[at+2:])-uint16(f.count))
			}
		}
		for _, at := range [...]int{34, 36} {
			if p := binary.BigEndian.Uint16(data[at:]); p == binary.BigEndian.Uint16(frames[0].Data[34:]) {
				binary.BigEndian.PutUint16(data[at:], p+uint16(f.count>>16))
			}
		}
		f.number++
		b.Frames = append(b.Frames, capture.Frame{Data: data, Len: x.Len, Link: x.Link, Time: f.now + int64(len(b.Frames))*1000, Number: f.number})
	}
}

// heap is what is in use, in octets.
func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// Connections that never end, for an hour of simulated time, do not add to the memory,
// whatever watches them.
func TestSoak(t *testing.T) {
	for _, workers := range []int{1, 2} {
		f := newFlood(t)
		f.now = 1_700_000_000e9
		f.end = f.now + int64(61*time.Minute)
		f.step = 500e6
		begin := f.now
		var open []int
		var sizes []uint64
		watch := monitor.New(48)
		offer := metrics.New(metrics.Options{QPs: true})
		json := report.NewJSON(io.Discard)
		mark := begin
		f.each = func(now int64) {
			watch.Turn()
			watch.Since()
			if now-mark >= int64(10*time.Minute) {
				mark = now
				n, _ := watch.Open()
				open, sizes = append(open, n), append(sizes, heap())
			}
		}
		sink := newHinter(both{watch, both{offer, json}}, func(*qp.Conn) {})
		stats, err := decode.Run(f, sink, decode.Options{Messages: true, Operations: true, Workers: workers, IdleTimeout: int64(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d workers: %d frames, %d connections, %d QPs; open QPs %v; heap %v", workers, stats.Frames, stats.TCPConnections, stats.QPs, open, sizes)
		// The first is taken when connections are evicted as fast as they
		// come.
		for i := range sizes {
			if sizes[i] > sizes[0]+sizes[0]/5+4<<20 {
				t.Errorf("%d workers: heap %v", workers, sizes)
				break
			}
			// A minute has 60 blocks of six, and eviction looks once a second.
			if open[i] > 1000 {
				t.Errorf("%d workers: open QPs %v", workers, open)
				break
			}
		}
		if want := uint64(f.count); stats.TCPConnections != want || len(sizes) < 6 {
			t.Errorf("%d connections of %d, %d sizes", stats.TCPConnections, want, len(sizes))
		}
	}
}
