package report

import (
	"fmt"
	"time"

	"github.com/iwdump/iwdump/internal/monitor"
	"github.com/iwdump/iwdump/qp"
)

// An Interval is what happened in a part of a live capture.
type Interval struct {
	End    time.Time
	Length time.Duration
	Open   int // QPs that are open at its end
	Totals monitor.Totals
}

// Interval writes what happened in an interval.
func (j *JSON) Interval(x *Interval) {
	t := &x.Totals
	o := j.begin("interval")
	j.time("time", x.End.UnixNano())
	o.int("interval_ns", int64(x.Length))
	o.int("open_qps", int64(x.Open))
	o.uint("messages", t.Sum())
	o.uint("payload", t.Payload)
	o.nested("operations")
	for k := range t.Ops {
		op := &t.Ops[k]
		if op.Count == 0 {
			continue
		}
		o.nested(qp.OpKind(k).String())
		o.uint("count", op.Count)
		o.uint("size", op.Size)
		o.int("p50_ns", op.Latency.Percentile(50))
		o.int("p99_ns", op.Latency.Percentile(99))
		o.int("max_ns", op.Latency.Max())
		o.close()
	}
	o.close()
	o.uint("retransmissions", t.Retransmissions)
	o.uint("crc_bad", t.CRCBad)
	o.uint("errors", t.Errors)
	o.uint("dropped", t.Dropped)
	j.end()
}

// AppendText appends the interval as a line.
func (x *Interval) AppendText(b []byte, ascii bool) []byte {
	micro := "µs"
	if ascii {
		micro = "us"
	}
	t := &x.Totals
	sec := max(x.Length.Seconds(), 1e-9)
	b = x.End.AppendFormat(b, "15:04:05")
	b = fmt.Appendf(b, "  %d open QPs  %.0f messages/s  %s/s", x.Open, float64(t.Sum())/sec, octets(uint64(float64(t.Payload)/sec)))
	for k := range t.Ops {
		op := &t.Ops[k]
		if op.Count == 0 || qp.OpKind(k) == qp.KindClose {
			continue
		}
		b = fmt.Appendf(b, "  %s %.0f/s", qp.OpKind(k), float64(op.Count)/sec)
		if op.Latency.Count() > 0 {
			b = append(b, " p50 "...)
			b = appendDuration(b, op.Latency.Percentile(50), micro)
			b = append(b, " p99 "...)
			b = appendDuration(b, op.Latency.Percentile(99), micro)
		}
	}
	for _, c := range [...]struct {
		n    uint64
		what string
	}{{t.Retransmissions, "retransmission"}, {t.CRCBad, "bad CRC"}, {t.Errors, "error"}, {t.Dropped, "dropped frame"}} {
		if c.n > 0 {
			b = append(b, ' ', ' ')
			b = append(b, count(c.n, c.what)...)
		}
	}
	return append(b, '\n')
}

// Line writes what stands in its place in the listing.
func (t *Text) Line(b []byte) { t.w.Write(b) }
