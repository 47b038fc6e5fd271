package reassembly

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"github.com/iwdump/iwdump/packet"
)

func TestHashSymmetric(t *testing.T) {
	h := NewHasher()
	f := packet.Flow{Src: hostA, Dst: hostB}
	r := f.Reverse()
	if h.Hash(&f) != h.Hash(&r) {
		t.Error("the directions of a connection have different hashes")
	}
	g := NewHasher()
	if h.Hash(&f) == g.Hash(&f) {
		t.Error("two Hashers agree")
	}
	// Endpoints exchanged between connections must not collide.
	x := packet.Flow{Src: packet.Endpoint{Addr: hostA.Addr, Port: hostB.Port}, Dst: packet.Endpoint{Addr: hostB.Addr, Port: hostA.Port}}
	if h.Hash(&f) == h.Hash(&x) {
		t.Error("exchanged ports collide")
	}
}

// TestHashSpread holds the spread of like connections over few workers and many
// slots close to that of chance.
func TestHashSpread(t *testing.T) {
	h := Hasher{key: [4]uint64{0x9e3779b97f4a7c15, 0xd1b54a32d192ed03, 0x8cb92ba72f3d8dd7, 0xaaaaaaaaaaaaaaab}}
	const n = 1 << 14
	var high, low [256]int
	diff := 0
	var last uint64
	for i := range n {
		f := packet.Flow{Src: hostA, Dst: hostB}
		f.Src.Port = uint16(i)
		k := h.Hash(&f)
		high[k>>56]++
		low[k&255]++
		diff += bits.OnesCount64(k ^ last)
		last = k
	}
	for i := range 256 { // 64 expected, standard deviation 8
		if high[i] < 16 || high[i] > 112 || low[i] < 16 || low[i] > 112 {
			t.Errorf("bucket %d holds %d and %d of %d", i, high[i], low[i], n)
		}
	}
	if mean := float64(diff) / n; mean < 31 || mean > 33 {
		t.Errorf("hashes of neighbours differ in %.1f bits", mean)
	}
}

// TestTable holds the table against a map, with hashes that often collide.
func TestTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tb table
		model := map[packet.Flow]*Conn{}
		for range rapid.IntRange(0, 400).Draw(t, "steps") {
			f := packet.Flow{Src: hostA, Dst: hostB}
			f.Src.Port = uint16(rapid.IntRange(0, 150).Draw(t, "port"))
			hash := uint64(f.Src.Port%7) << 60
			c, _ := tb.find(hash, &f)
			if c != model[f] {
				t.Fatalf("found %p, want %p", c, model[f])
			}
			r := f.Reverse()
			if rc, side := tb.find(hash, &r); rc != c || c != nil && side != B {
				t.Fatalf("the reverse has %p %v, want %p", rc, side, c)
			}
			if c == nil {
				c = &Conn{Flow: f, hash: hash}
				tb.insert(c)
				model[f] = c
			} else if rapid.Bool().Draw(t, "remove") {
				tb.remove(c)
				delete(model, f)
			}
			if tb.n != len(model) {
				t.Fatalf("%d connections, want %d", tb.n, len(model))
			}
		}
		for f, c := range model {
			if got, _ := tb.find(c.hash, &f); got != c {
				t.Fatalf("lost %v", f)
			}
		}
	})
}
