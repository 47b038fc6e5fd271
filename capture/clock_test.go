package capture

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// exactTime is what the draft says, in exact arithmetic: offset seconds plus
// ts units of 10^-n or 2^-n seconds, in whole nanoseconds. ts is negative where
// nothing else makes sense.
func exactTime(ts uint64, resol uint8, offset int64) int64 {
	base := int64(10)
	if resol&0x80 != 0 {
		base = 2
	}
	unit := new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(resol&0x7f)), nil)
	at := func(ts *big.Int) *big.Int {
		ns := new(big.Int).Mul(ts, big.NewInt(1e9))
		ns.Quo(ns, unit)
		off := big.NewInt(offset)
		return ns.Add(ns, off.Mul(off, big.NewInt(1e9)))
	}
	limit := big.NewInt(math.MaxInt64)
	ns := at(new(big.Int).SetUint64(ts))
	if ns.Cmp(limit) >= 0 && int64(ts) < 0 {
		if neg := at(big.NewInt(int64(ts))); neg.CmpAbs(limit) < 0 {
			ns = neg
		}
	}
	switch {
	case ns.IsInt64():
		return ns.Int64()
	case ns.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

func TestClock(t *testing.T) {
	for _, c := range []struct {
		name   string
		resol  uint8
		offset int64
		ts     uint64
		want   int64
	}{
		{"seconds", 0, 0, 1_700_000_000, 1_700_000_000e9},
		{"microseconds", 6, 0, 1_700_000_000_123456, 1_700_000_000_123456000},
		{"nanoseconds", 9, 0, 1_700_000_000_123456789, 1_700_000_000_123456789},
		{"picoseconds", 12, 1_700_000_000, 1_234567, 1_700_000_000_000001234},
		{"10^-19 s", 19, 0, math.MaxUint64, 1_844674407},
		{"10^-20 s", 20, 0, math.MaxUint64, 184467440},
		{"10^-28 s", 28, 0, math.MaxUint64, 1},
		{"10^-29 s", 29, 5, math.MaxUint64, 5e9},
		{"10^-127 s", 127, 0, math.MaxUint64, 0},
		{"2^0 s", 0x80, 0, 1_700_000_000, 1_700_000_000e9},
		{"2^-10 s", 0x8a, 0, 1_700_000_000<<10 | 512, 1_700_000_000_500000000},
		{"2^-32 s", 0xa0, 0, 1_700_000_000<<32 | 1<<30, 1_700_000_000_250000000},
		{"2^-63 s", 0xbf, 0, 1<<63 | 1<<62, 1_500000000},
		{"2^-64 s", 0xc0, 0, 1 << 63, 500000000},
		{"2^-127 s", 0xff, 0, math.MaxUint64, 0},
		{"offset back", 6, -3600, 7200_000000, 3600e9},
		{"before 1970", 6, -3600, 1, -3599_999999000},
		{"offset large, time fits", 0, -10_000_000_000, 11_000_000_000, 1_000_000_000e9},
		{"negative", 6, 0, ^uint64(0), -1000},
		{"negative seconds", 0, 3600, ^uint64(9), 3590e9},
		{"late, but not too late", 12, 0, math.MaxUint64, 18_446_744_073709551},
		{"too late", 0, 0, 1 << 62, math.MaxInt64},
		{"too late either way", 0, 0, 1<<63 | 1<<62, math.MaxInt64},
		{"too early", 0, math.MinInt64, 0, math.MinInt64},
		{"offset too large", 9, math.MaxInt64, 0, math.MaxInt64},
	} {
		clk := newClock(c.resol, c.offset)
		if got := clk.ns(c.ts); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestClockExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		resol := rapid.Uint8().Draw(t, "resol")
		offset := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1<<34, 1<<34)).Draw(t, "offset")
		ts := rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 1<<62)).Draw(t, "ts")
		clk := newClock(resol, offset)
		if got, want := clk.ns(ts), exactTime(ts, resol, offset); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}
