package reassembly

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/iwdump/iwdump/packet"
)

// TestStore holds the store against a sorted slice.
func TestStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s store
		var pool pagePool
		var model []piece
		for range rapid.IntRange(0, 600).Draw(t, "steps") {
			if len(model) > 0 && rapid.IntRange(0, 4).Draw(t, "pop") == 0 {
				if got := s.pop(&pool); got.off != model[0].off {
					t.Fatalf("popped %d, want %d", got.off, model[0].off)
				}
				model = model[1:]
			}
			off := uint64(rapid.IntRange(0, 2000).Draw(t, "off"))
			i, found := slices.BinarySearchFunc(model, off, func(p piece, off uint64) int { return int(p.off) - int(off) })
			var want *piece // the first that ends behind off, each being one octet
			if i < len(model) {
				want = &model[i]
			}
			if got := s.at(off); (got == nil) != (want == nil) || got != nil && got.off != want.off {
				t.Fatalf("at %d: %v, want %v", off, got, want)
			}
			if !found {
				p := piece{off: off, cut: 1}
				s.insert(p, &pool)
				model = slices.Insert(model, i, p)
			}
			if s.n != len(model) || s.cost != len(model)*pieceOverhead {
				t.Fatalf("%d pieces that cost %d, want %d", s.n, s.cost, len(model))
			}
		}
		for len(model) > 0 {
			if got, want := s.first().off, model[0].off; got != want {
				t.Fatalf("first is %d, want %d", got, want)
			}
			s.pop(&pool)
			model = model[1:]
		}
		if len(s.pages) != 0 {
			t.Fatalf("%d pages for nothing", len(s.pages))
		}
	})
}

func TestBuffers(t *testing.T) {
	var p buffers
	for n := 1; n < 70000; n += 1 + n/50 {
		b := p.get(n)
		if len(b) != n || n > 64 && cap(b) >= n+n/2+1 {
			t.Fatalf("%d octets in a buffer of %d, length %d", n, cap(b), len(b))
		}
		p.put(b)
		if again := p.get(n); &again[0] != &b[0] {
			t.Fatalf("the buffer for %d octets is not used again", n)
		} else {
			p.put(again)
		}
	}
	if p.pooled > maxPooled {
		t.Errorf("%d octets are kept", p.pooled)
	}
	p.put(nil)
	p.put(make([]byte, 100))
	huge := p.get(3 << 20)
	p.put(huge)
	if len(huge) != 3<<20 || p.pooled > maxPooled {
		t.Errorf("a huge buffer of %d, %d kept", len(huge), p.pooled)
	}
}

// TestStorms: single octets in the worst orders, and segments that overlap them
// all, cost a bounded number of moves each, and never more memory than allowed.
func TestStorms(t *testing.T) {
	const n = 1 << 15
	perm := rand.New(rand.NewPCG(1, 2)).Perm(n)
	orders := map[string]func(i int) int{
		"ahead":     func(i int) int { return i },
		"backward":  func(i int) int { return n - 1 - i },
		"odd":       func(i int) int { return (2*i)%n + (2*i)/n },
		"shuffled":  func(i int) int { return perm[i] },
		"outermost": func(i int) int { return []int{i / 2, n - 1 - i/2}[i&1] },
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			var p *tape
			a := New(Config{}, func(c *Conn) Stream { p = &tape{t: t, conn: c}; return p })
			send := func(q pkt, frame int) {
				s := q.segment()
				a.Segment(&s, Stamp{Frame: uint64(frame), Time: int64(frame)})
				if limit := a.config.MaxHeld; a.Held() > limit {
					t.Fatalf("%d octets held", a.Held())
				}
			}
			for i, q := range handshake() {
				send(q, i)
			}
			for i := range n {
				send(pkt{from: A, flags: ack, seq: uint32(1002 + 2*order(i)), ack: 5001, data: "x"}, i+4)
			}
			moves := a.pages.moved
			if moves > n*2*pageSize {
				t.Errorf("%d pieces moved for %d", moves, n)
			}
			big := make([]byte, 2*n)
			for i := range 4 {
				s := pkt{from: A, flags: ack, seq: uint32(1002), ack: 5001}.segment()
				s.Payload, s.Len = big[:2*n-2], 2*n-2
				a.Segment(&s, Stamp{Frame: uint64(n + i + 10), Time: int64(n + i + 10)})
				if a.Held() > a.config.MaxHeld {
					t.Fatalf("%d octets held", a.Held())
				}
			}
			a.Flush()
			if got := carried(p.counts[A]); got != n+4*(2*n-2) {
				t.Errorf("%d octets accounted for, want %d", got, n+4*(2*n-2))
			}
		})
	}
}

// TestCutStorm: a segment of which nothing was captured costs next to nothing,
// whatever it claims to overlap.
func TestCutStorm(t *testing.T) {
	var p *tape
	a := New(Config{}, func(c *Conn) Stream { p = &tape{t: t, conn: c}; return p })
	for i, q := range handshake() {
		s := q.segment()
		a.Segment(&s, Stamp{uint64(i), int64(i)})
	}
	for i := range 10000 {
		s := pkt{from: A, flags: ack, seq: uint32(1003 + 2*i), ack: 5001, data: "x"}.segment()
		a.Segment(&s, Stamp{uint64(i), int64(i)})
	}
	c, _ := a.find(&packet.Flow{Src: hostA, Dst: hostB})
	for i := range 1000 {
		s := pkt{from: A, flags: ack, seq: 1002, ack: 5001, len: 60000}.segment()
		a.Segment(&s, Stamp{uint64(i), int64(i)})
	}
	if n := c.dirs[A].wait.store.n; n > 10002 {
		t.Errorf("%d pieces held of 10000 that were captured", n)
	}
	a.Flush()
}

// TestTotalLimit: who has held for longest gives way.
func TestTotalLimit(t *testing.T) {
	const limit = 64 << 10
	var tapes []*tape
	a := New(Config{MaxHeldTotal: limit}, func(c *Conn) Stream {
		p := &tape{t: t, conn: c}
		tapes = append(tapes, p)
		return p
	})
	for i := range 1000 {
		for j, q := range handshake(
			pkt{from: B, flags: ack, seq: 5001, ack: 1001},
			pkt{from: A, flags: ack, seq: 1101, ack: 5001, data: string(make([]byte, 1000))}) {
			s := q.segment()
			if q.from == A {
				s.Flow.Src.Port = uint16(i + 1)
			} else {
				s.Flow.Dst.Port = uint16(i + 1)
			}
			a.Segment(&s, Stamp{Frame: uint64(5*i + j), Time: int64(5*i + j)})
			if a.Held() > limit {
				t.Fatalf("%d octets held", a.Held())
			}
		}
	}
	given := 0
	for i, p := range tapes {
		if len(p.gaps[A]) > 0 {
			if given++; i != given-1 {
				t.Fatalf("connection %d gave way before %d", i, given-1)
			}
		}
	}
	if given < 900 {
		t.Errorf("%d gave way", given)
	}
	a.Flush()
}
