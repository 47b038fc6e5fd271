package capture

import (
	"math"
	"math/bits"
)

// A clock turns the timestamps of a pcapng interface into nanoseconds since
// 1970 (draft-ietf-opsawg-pcapng, section 4.2: if_tsresol and if_tsoffset).
type clock struct {
	resol  uint8 // as in the option: 10^-resol s, or 2^-(resol&0x7f) s
	offset int64 // s, to be added

	// The ordinary case is ns = ts*mul + add, for ts up to max.
	fast bool
	mul  uint64
	max  uint64
	add  int64
}

// newClock returns the clock for the values of the two options.
func newClock(resol uint8, offset int64) clock {
	c := clock{resol: resol, offset: offset}
	const century = 100 * 366 * 24 * 60 * 60
	if resol <= 9 && -century < offset && offset < century {
		c.fast = true
		c.mul = pow10(9 - resol)
		c.max = 1 << 62 / c.mul // the sum stays below 2^63
		c.add = offset * 1e9
	}
	return c
}

// ns returns the time of a timestamp, in whole nanoseconds. One that is too
// late for an int64 is taken as before 1970, since some writers put negative
// numbers there; otherwise it becomes the nearest that int64 can hold.
func (c *clock) ns(ts uint64) int64 {
	if c.fast && ts <= c.max {
		return int64(ts*c.mul) + c.add
	}
	sec, ns := c.split(ts)
	t := joinTime(sec, c.offset, ns)
	if t == math.MaxInt64 && int64(ts) < 0 && c.offset > math.MinInt64 {
		sec, ns := c.split(-ts)
		if back := joinTime(sec, -c.offset, ns); math.MinInt64 < back && back < math.MaxInt64 {
			return -back
		}
	}
	return t
}

// split returns a timestamp as seconds and nanoseconds.
func (c *clock) split(ts uint64) (sec, ns uint64) {
	n := c.resol & 0x7f
	if c.resol&0x80 != 0 { // units of 2^-n s
		rest := ts
		if n < 64 {
			sec = ts >> n
			rest = ts & (1<<n - 1)
		}
		hi, lo := bits.Mul64(rest, 1e9)
		if n < 64 {
			return sec, hi<<(64-n) | lo>>n
		}
		return sec, hi >> (n - 64)
	}
	switch { // units of 10^-n s
	case n <= 9:
		unit := pow10(n)
		return ts / unit, ts % unit * pow10(9-n)
	case n <= 19:
		unit := pow10(n)
		return ts / unit, ts % unit / pow10(n-9)
	case n <= 28:
		return 0, ts / pow10(n-9)
	}
	return 0, 0
}

// pow10 returns 10^n, for n up to 19.
func pow10(n uint8) uint64 {
	v := uint64(1)
	for range n {
		v *= 10
	}
	return v
}

// joinTime returns sec+offset seconds and ns nanoseconds in nanoseconds, or
// the nearest that int64 can hold.
func joinTime(sec uint64, offset int64, ns uint64) int64 {
	var past uint64 // seconds before 1970
	if offset >= 0 {
		var carry uint64
		if sec, carry = bits.Add64(sec, uint64(offset), 0); carry != 0 {
			return math.MaxInt64
		}
	} else if back := -uint64(offset); sec >= back {
		sec -= back
	} else {
		past = back - sec
		sec = 0
	}
	if past > 0 {
		hi, lo := bits.Mul64(past, 1e9)
		lo, borrow := bits.Sub64(lo, ns, 0)
		if hi != borrow || lo > 1<<63 {
			return math.MinInt64
		}
		return -int64(lo)
	}
	hi, lo := bits.Mul64(sec, 1e9)
	lo, carry := bits.Add64(lo, ns, 0)
	if hi+carry != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}
