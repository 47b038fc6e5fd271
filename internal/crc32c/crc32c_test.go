package crc32c

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// The examples of RFC 3720, appendix B.4.
func TestKnown(t *testing.T) {
	up, down := make([]byte, 32), make([]byte, 32)
	ones := make([]byte, 32)
	for i := range up {
		up[i], down[i], ones[i] = byte(i), byte(31-i), 0xFF
	}
	for _, tt := range []struct {
		b    []byte
		want uint32
	}{
		{make([]byte, 32), 0x8A9136AA},
		{ones, 0x62A8AB43},
		{up, 0x46DD794E},
		{down, 0x113FDB5C},
		{[]byte("123456789"), 0xE3069283},
		{nil, 0},
	} {
		if got := Update(0, tt.b); got != tt.want {
			t.Errorf("% x: 0x%08x, want 0x%08x", tt.b, got, tt.want)
		}
	}
}

// Every length and alignment, in one piece and in two, against hash/crc32.
func TestAgainstStandard(t *testing.T) {
	b := make([]byte, 16<<10)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	check := func(at, n int) {
		p := b[at : at+n]
		start := r.Uint32()
		want := crc32.Update(start, table, p)
		if got := Update(start, p); got != want {
			t.Fatalf("%d octets at %d: 0x%08x, want 0x%08x", n, at, got, want)
		}
		cut := r.IntN(n + 1)
		if got := Update(Update(start, p[:cut]), p[cut:]); got != want {
			t.Fatalf("%d octets at %d in two pieces, cut at %d: 0x%08x, want 0x%08x", n, at, cut, got, want)
		}
	}
	for n := range 7000 {
		check(r.IntN(64), n)
	}
	for range 1000 {
		n := r.IntN(len(b))
		check(r.IntN(len(b)-n), n)
	}
}

func BenchmarkUpdate(b *testing.B) {
	p := make([]byte, 70000)
	for _, n := range []int{20, 64, 256, 1428, 4096, 8928, 65000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				Update(0, p[6:6+n])
			}
		})
		b.Run(fmt.Sprint(n, "/standard"), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				crc32.Update(0, table, p[6:6+n])
			}
		})
	}
}

func FuzzUpdate(f *testing.F) {
	f.Add(uint32(0), make([]byte, 200))
	f.Fuzz(func(t *testing.T, start uint32, p []byte) {
		if got, want := Update(start, p), crc32.Update(start, table, p); got != want {
			t.Errorf("0x%08x, want 0x%08x", got, want)
		}
	})
}
