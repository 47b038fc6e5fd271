package main

import "testing"

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		ok   bool
	}{
		{"", 0, true}, {"1", 1, true}, {"65536", 65536, true}, {"1K", 1024, true}, {"64k", 65536, true}, {"1.5M", 1572864, true}, {"2G", 2 << 30, true}, {"1T", 1 << 40, true},
		{"K", 0, false}, {"-1", 0, false}, {"1KB", 0, false}, {"x", 0, false}, {"99999999T", 0, false}, {"99999999999999999999", 0, false},
	} {
		got, err := parseSize(c.in)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: %d, %v; want %d", c.in, got, err, c.want)
		}
	}
}
