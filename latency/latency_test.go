package latency

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Against a sorted list of the same durations.
func TestPercentiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) int64 {
			return int64(math.Exp(rapid.Float64Range(0, math.Log(Longest)).Draw(t, "log")))
		}), 1, 500).Draw(t, "values")
		parts := rapid.IntRange(1, 4).Draw(t, "parts")
		fine := rapid.Bool().Draw(t, "fine")
		var d Dist
		bound := CoarseError
		ds := make([]Dist, parts)
		if fine {
			d, bound = Fine(), FineError
			for i := range ds {
				ds[i] = Fine()
			}
		}
		for i, v := range values {
			ds[i%parts].Record(v)
		}
		for i := range ds {
			d.Merge(&ds[i])
		}
		slices.Sort(values)
		if d.Count() != uint64(len(values)) || d.Min() != values[0] || d.Max() != values[len(values)-1] {
			t.Fatalf("count %d, min %d, max %d of %v", d.Count(), d.Min(), d.Max(), values)
		}
		var sum float64
		for _, v := range values {
			sum += float64(v)
		}
		if mean := sum / float64(len(values)); math.Abs(float64(d.Mean())-mean) > 1+mean*1e-9 {
			t.Fatalf("mean %d, want %f", d.Mean(), mean)
		}
		for _, p := range []float64{50, 90, 99, 99.9, 100} {
			want := values[max(1, int(math.Ceil(p/100*float64(len(values)))))-1]
			got := d.Percentile(p)
			if diff := math.Abs(float64(got - want)); diff > 1+float64(want)*bound {
				t.Fatalf("percentile %v is %d, want %d", p, got, want)
			}
		}
	})
}

func TestStdDev(t *testing.T) {
	var d Dist
	for _, v := range []int64{2, 4, 4, 4, 5, 5, 7, 9} { // the usual example: mean 5, deviation 2
		d.Record(v)
	}
	if d.Mean() != 5 || d.StdDev() != 2 {
		t.Errorf("mean %d, deviation %d", d.Mean(), d.StdDev())
	}
}

// The buckets are those of the HdrHistogram library.
func TestHistogram(t *testing.T) {
	for _, d := range []Dist{{}, Fine()} {
		for v := int64(1); v < Longest; v = v*9/8 + 1 {
			d.Record(v)
		}
		h := d.Histogram()
		if uint64(h.TotalCount()) != d.Count() {
			t.Errorf("%d values, want %d", h.TotalCount(), d.Count())
		}
		n := 0
		d.Buckets(func(low, high int64, _ uint64) bool {
			n++
			if !h.ValuesAreEquivalent(low, high) || high < Longest && h.ValuesAreEquivalent(high, high+1) {
				t.Errorf("%d to %d is no bucket of the library", low, high)
			}
			return true
		})
		if n < 50 {
			t.Errorf("%d buckets", n)
		}
	}
}

func TestEmpty(t *testing.T) {
	var d, e Dist
	d.Merge(&e)
	if d.Count() != 0 || d.Percentile(99) != 0 || d.Mean() != 0 || d.StdDev() != 0 {
		t.Errorf("%+v", d)
	}
}
