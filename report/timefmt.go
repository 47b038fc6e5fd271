package report

import (
	"fmt"
	"strconv"
	"time"
)

// A TimeFormat says how times are written in the listing.
type TimeFormat uint8

const (
	Relative     TimeFormat = iota // seconds since the first frame
	Absolute                       // time of day, UTC
	AbsoluteDate                   // the same with the date
	Delta                          // seconds since the line before
	Epoch                          // seconds since 1970-01-01
)

// ParseTimeFormat takes the letters that tshark uses for -t.
func ParseTimeFormat(s string) (TimeFormat, error) {
	switch s {
	case "r", "relative":
		return Relative, nil
	case "a", "u", "absolute":
		return Absolute, nil
	case "ad", "ud":
		return AbsoluteDate, nil
	case "d", "dd", "delta":
		return Delta, nil
	case "e", "epoch":
		return Epoch, nil
	}
	return 0, fmt.Errorf("time format %q is none of r (relative), a (absolute), ad (with the date), d (delta), e (epoch)", s)
}

// appendTime appends a time; first is that of the first frame, last that of the
// line before.
func (f TimeFormat) appendTime(b []byte, ns, first, last int64) []byte {
	switch f {
	case Absolute:
		return time.Unix(0, ns).UTC().AppendFormat(b, "15:04:05.000000000")
	case AbsoluteDate:
		return time.Unix(0, ns).UTC().AppendFormat(b, "2006-01-02 15:04:05.000000000")
	case Delta:
		return appendSeconds(b, ns-last)
	case Epoch:
		return appendSeconds(b, ns)
	}
	return appendSeconds(b, ns-first)
}

// appendSeconds appends ns as seconds with nine decimals, right-aligned to
// where the decimal point of most lies.
func appendSeconds(b []byte, ns int64) []byte {
	v := uint64(ns)
	if ns < 0 {
		b = append(b, '-')
		v = -v // as int64 the least of them has no opposite
	}
	b = strconv.AppendUint(b, v/1e9, 10)
	b = append(b, '.')
	var d [9]byte
	frac := v % 1e9
	for i := len(d) - 1; i >= 0; i-- {
		d[i] = byte('0' + frac%10)
		frac /= 10
	}
	return append(b, d[:]...)
}

// appendDuration appends a duration with three digits, or more where they are
// all in front of the point, and a unit.
func appendDuration(b []byte, ns int64, micro string) []byte {
	switch {
	case ns < 0:
		return append(b, '?')
	case ns < 1e3:
		b = strconv.AppendInt(b, ns, 10)
		return append(b, "ns"...)
	}
	// What is rounded up to the next unit, or to one digit more, is written so.
	units := [...]string{micro, "ms", "s"}
	v, unit := float64(ns)/1e3, 0
	for unit < len(units)-1 && v >= 999.5 {
		v, unit = v/1e3, unit+1
	}
	prec := 0
	switch {
	case v < 9.995:
		prec = 2
	case v < 99.95:
		prec = 1
	}
	b = strconv.AppendFloat(b, v, 'f', prec, 64)
	return append(b, units[unit]...)
}
