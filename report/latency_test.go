package report

import (
	"bytes"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/qp"
)

func latencies(by By) *Latencies {
	l := NewLatencies(by, 0, 10)
	l.Begin(1_000_000_000_000)
	conn := &qp.Conn{Number: 1}
	for i := range int64(1000) {
		at := 1_000_000_000_000 + i*1_000_000
		l.Operation(&qp.Operation{Conn: conn, Kind: qp.KindRead, Request: int(i), Latency: 1000 * (i + 1), Start: mpa.Stamp{Time: at}, End: mpa.Stamp{Time: at + 1000*(i+1)}})
	}
	for _, kind := range []qp.OpKind{qp.KindConnect, qp.KindClose} {
		l.Operation(&qp.Operation{Conn: conn, Kind: kind, Latency: 7_000_000_000})
	}
	return l
}

// The log reads with the library that defines the format.
func TestHDR(t *testing.T) {
	var b bytes.Buffer
	if err := latencies(By{Op: true}).WriteHDR(&b); err != nil {
		t.Fatal(err)
	}
	r := hdrhistogram.NewHistogramLogReader(&b)
	counts := map[string]int64{}
	for {
		h, err := r.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		counts[h.Tag()] = h.TotalCount()
		if h.Tag() != "rdma_read" {
			continue
		}
		if start := h.StartTimeMs(); start != 1_000_000 {
			t.Errorf("starts at %d ms", start)
		}
		for _, p := range []float64{50, 90, 99} {
			// 1 to 1000 µs, to within 0.1 %: three digits
			want := int64(p * 10_000)
			if got := h.ValueAtQuantile(p); got < want || got > want+want/1000+1 {
				t.Errorf("p%v %d ns, want %d", p, got, want)
			}
		}
	}
	if counts["rdma_read"] != 1000 || counts["connect"] != 1 || counts["close"] != 1 {
		t.Errorf("%v", counts)
	}
}

// What it takes to connect and to close is not mixed with I/O.
func TestConnectionApart(t *testing.T) {
	l := latencies(By{QP: true})
	gs := l.Groups()
	if len(gs) != 1 || gs[0].Dist.Count() != 1000 {
		t.Errorf("%d groups", len(gs))
	}
	for _, s := range l.slowest {
		if s.Kind != qp.KindRead {
			t.Errorf("%v is among the slowest", s.Kind)
		}
	}
}
