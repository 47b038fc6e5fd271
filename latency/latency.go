// Package latency has distributions of durations: counts, percentiles and
// moments, that can be merged without loss.
//
// A [Dist] is an HdrHistogram (http://hdrhistogram.org): a duration is told
// apart from others by its highest bits. Its counters are a short list as long
// as few durations differ, so that the thousands of a large capture stay small,
// and arrays behind that. Two precisions are there: [Fine] has three
// significant digits, a zero Dist two.
package latency

import (
	"math"
	"math/bits"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// Longest is the longest duration that is told apart, an hour in ns.
	// Longer ones count as this long.
	Longest = 3600e9

	coarseBits, coarseDigits = 7, 2
	fineBits, fineDigits     = 10, 3
	octaves                  = 42 - coarseBits + 1 // Longest has 42 bits
	maxFew                   = 24                  // counters in the list
)

// Bounds of the relative error of a percentile.
const (
	CoarseError = 1.0 / (2 << coarseBits) // below 0.4 %
	FineError   = 1.0 / (2 << fineBits)   // below 0.05 %
)

// A Dist is a distribution of durations in ns. The zero value is empty, and
// precise to CoarseError.
type Dist struct {
	count    uint64
	min, max int64
	sum      float64
	squares  float64
	fine     bool
	few      []counter // by bucket, while there are no more than maxFew
	many     *arrays   // instead of few
}

// A counter counts the durations of one bucket. Buckets are numbered from the
// shortest durations on.
type counter struct{ bucket, n uint32 }

// Fine returns an empty Dist that is precise to FineError.
func Fine() Dist { return Dist{fine: true} }

func (d *Dist) bits() int {
	if d.fine {
		return fineBits
	}
	return coarseBits
}

// Record adds a duration. Negative ones count as 0.
func (d *Dist) Record(ns int64) {
	ns = max(0, min(ns, Longest))
	if d.count == 0 || ns < d.min {
		d.min = ns
	}
	d.max = max(d.max, ns)
	d.count++
	d.sum += float64(ns)
	d.squares += float64(ns) * float64(ns)
	d.add(ns, 1)
}

// add counts n durations.
func (d *Dist) add(ns int64, n uint32) {
	b := d.bits()
	shift := max(0, bits.Len64(uint64(ns))-b-1)
	bucket := uint32(shift<<b + int(ns>>shift))
	if d.many != nil {
		d.many.add(bucket, n, b)
		return
	}
	i := 0
	for i < len(d.few) && d.few[i].bucket < bucket {
		i++
	}
	switch {
	case i < len(d.few) && d.few[i].bucket == bucket:
		d.few[i].n += n
	case len(d.few) < maxFew:
		d.few = slices.Insert(d.few, i, counter{bucket, n})
	default:
		d.many = new(arrays)
		for _, c := range d.few {
			d.many.add(c.bucket, c.n, b)
		}
		d.few = nil
		d.many.add(bucket, n, b)
	}
}

// arrays are counters by the highest bits of a bucket and the b others.
type arrays [octaves][]uint32

func (a *arrays) add(bucket, n uint32, b int) {
	octave := &a[bucket>>b]
	if *octave == nil {
		*octave = make([]uint32, 1<<b)
	}
	(*octave)[bucket&(1<<b-1)] += n
}

// each calls f for each bucket that is not empty, shortest first: durations
// from low to high, both included.
func (d *Dist) each(f func(low, high int64, n uint32) bool) {
	b := d.bits()
	for _, c := range d.few {
		if !c.each(b, f) {
			return
		}
	}
	if d.many == nil {
		return
	}
	for octave, counts := range d.many {
		for i, n := range counts {
			if c := (counter{uint32(octave<<b + i), n}); n > 0 && !c.each(b, f) {
				return
			}
		}
	}
}

// each calls f for the bucket, and returns what f does.
func (c counter) each(b int, f func(low, high int64, n uint32) bool) bool {
	shift := max(0, int(c.bucket>>b)-1)
	low := int64(int(c.bucket)-shift<<b) << shift
	return f(low, low+1<<shift-1, c.n)
}

// Merge adds all durations of o. Nothing is lost where both have the same
// precision, or o the better one.
func (d *Dist) Merge(o *Dist) {
	if o.count == 0 {
		return
	}
	if d.count == 0 || o.min < d.min {
		d.min = o.min
	}
	d.max = max(d.max, o.max)
	d.count += o.count
	d.sum += o.sum
	d.squares += o.squares
	o.each(func(low, high int64, n uint32) bool {
		d.add(low+(high-low)/2, n)
		return true
	})
}

// Count returns how many durations there are.
func (d *Dist) Count() uint64 { return d.count }

// Min returns the shortest, 0 where there is none.
func (d *Dist) Min() int64 { return d.min }

// Max returns the longest.
func (d *Dist) Max() int64 { return d.max }

// Mean returns the arithmetic mean in ns.
func (d *Dist) Mean() int64 {
	if d.count == 0 {
		return 0
	}
	return int64(math.Round(d.sum / float64(d.count)))
}

// StdDev returns the standard deviation in ns.
func (d *Dist) StdDev() int64 {
	if d.count == 0 {
		return 0
	}
	n := float64(d.count)
	mean := d.sum / n
	return int64(math.Round(math.Sqrt(max(0, d.squares/n-mean*mean))))
}

// Percentile returns the shortest duration that p percent are not longer than.
func (d *Dist) Percentile(p float64) int64 {
	if d.count == 0 {
		return 0
	}
	rank := max(1, uint64(math.Ceil(p/100*float64(d.count))))
	if rank >= d.count {
		return d.max
	}
	value, seen := d.max, uint64(0)
	d.each(func(low, high int64, n uint32) bool {
		seen += uint64(n)
		value = low + (high-low)/2
		return seen < rank
	})
	return min(max(value, d.min), d.max)
}

// Buckets calls f for each range of durations that occurs, shortest first, with
// how many lie in it. It stops where f returns false.
func (d *Dist) Buckets(f func(low, high int64, n uint64) bool) {
	d.each(func(low, high int64, n uint32) bool { return f(low, high, uint64(n)) })
}

// Histogram returns the durations in the form of the HdrHistogram library, for
// its file formats.
func (d *Dist) Histogram() *hdrhistogram.Histogram {
	digits := coarseDigits
	if d.fine {
		digits = fineDigits
	}
	h := hdrhistogram.New(1, Longest, digits)
	d.each(func(low, high int64, n uint32) bool {
		h.RecordValues(low, int64(n))
		return true
	})
	return h
}
