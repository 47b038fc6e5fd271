package reassembly

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/iwdump/iwdump/packet"
)

// feed sends n segments of size octets over conns connections by turns, in
// trains of train, each acknowledged.
type feed struct {
	a    *Assembler
	s    packet.Segment
	ack  packet.Segment
	seq  []uint32
	n    int
	size int
}

func newFeed(conns, size int, s Stream) *feed {
	f := &feed{a: New(Config{}, func(*Conn) Stream { return s }), seq: make([]uint32, conns), size: size}
	f.a.checksum = func(*packet.Segment) packet.Sum { return packet.SumOK }
	f.s = pkt{from: A, flags: ack, ack: 5001}.segment()
	f.s.Payload, f.s.Len = make([]byte, size), size
	f.ack = pkt{from: B, flags: ack, seq: 5001}.segment()
	f.a.Expire()
	for i := range f.seq {
		f.seq[i] = 1001
		for _, q := range handshake() {
			s := q.segment()
			f.on(&s, i)
			f.a.Segment(&s, f.stamp())
		}
	}
	return f
}

// on makes s a segment of connection i.
func (f *feed) on(s *packet.Segment, i int) {
	e := &s.Flow.Src
	if *e == hostB || s.Flow.Src.Port == hostB.Port {
		e = &s.Flow.Dst
	}
	e.Port = uint16(20000 + i%10000)
	e.Addr[14] = byte(i / 10000)
}

func (f *feed) stamp() Stamp {
	f.n++
	return Stamp{uint64(f.n), int64(f.n) * 1000}
}

// data sends the next segment of connection i, after skipping some octets.
func (f *feed) data(i, skip int) {
	f.on(&f.s, i)
	f.s.Seq = f.seq[i] + uint32(skip)
	f.seq[i] += uint32(skip + f.size)
	f.a.Segment(&f.s, f.stamp())
}

func (f *feed) acknowledge(i int) {
	f.on(&f.ack, i)
	f.ack.Ack = f.seq[i]
	f.a.Segment(&f.ack, f.stamp())
}

// TestNoAllocation holds the ordinary ways of a segment to no allocation.
func TestNoAllocation(t *testing.T) {
	for _, tt := range []struct {
		name string
		step func(f *feed, i int)
	}{
		{"in order", func(f *feed, i int) { f.data(i%10, 0); f.acknowledge(i % 10) }},
		{"in blocks", func(f *feed, i int) {
			f.data(i%10, 0)
			if i%50 == 0 {
				f.a.Expire()
			}
		}},
		{"sent again", func(f *feed, i int) { f.data(0, 0); f.seq[0] -= uint32(f.size); f.data(0, 0) }},
		{"cut", func(f *feed, i int) {
			f.s.Payload = f.s.Payload[:60]
			f.data(0, 0)
			f.s.Payload = f.s.Payload[:f.size]
		}},
		{"a hole now and then", func(f *feed, i int) {
			skip := 0
			if i%40 == 0 {
				skip = f.size
			}
			f.data(0, skip)
			f.acknowledge(0)
		}},
	} {
		var d dull
		f := newFeed(10, 1448, &d)
		i := 0
		step := func() { i++; tt.step(f, i) }
		for range 3000 { // pools fill up
			step()
		}
		if n := testing.AllocsPerRun(2000, step); n != 0 {
			t.Errorf("%s: %v allocations a segment", tt.name, n)
		}
		if d.data < 3000 {
			t.Errorf("%s: only %d chunks came out", tt.name, d.data)
		}
	}
}

// TestMemoryPerConnection: an open connection in order costs under 2 KiB.
func TestMemoryPerConnection(t *testing.T) {
	const conns = 20000
	var d dull
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f := newFeed(conns, 100, &d)
	for i := range conns {
		f.data(i, 0)
		f.acknowledge(i)
	}
	if all, half := f.a.Open(); all != conns || half != 0 {
		t.Fatalf("%d connections, %d without an octet", all, half)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	per := float64(after.HeapAlloc-before.HeapAlloc) / conns
	t.Logf("%.0f octets a connection", per)
	if per > 2048 {
		t.Errorf("%.0f octets a connection", per)
	}
	f.a.Flush()
	runtime.KeepAlive(f)
}

func BenchmarkInOrder(b *testing.B) {
	for _, size := range []int{1448, 9000} {
		for _, conns := range []int{1, 100, 20000} {
			b.Run(fmt.Sprintf("%d/conns=%d", size, conns), func(b *testing.B) {
				var d dull
				f := newFeed(conns, size, &d)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				k := 0
				for i := 0; b.Loop(); i++ {
					k += 7919
					f.data(k%conns, 0)
					if i&1 != 0 {
						f.acknowledge(k % conns)
					}
					if i%700 == 0 {
						f.a.Expire()
					}
				}
			})
		}
	}
}

func BenchmarkHoles(b *testing.B) {
	var d dull
	f := newFeed(1, 1448, &d)
	b.SetBytes(1448)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		skip := 0
		if i%50 == 0 {
			skip = 1448
		}
		f.data(0, skip)
		if i&1 != 0 {
			f.acknowledge(0)
		}
	}
}

// BenchmarkReorder exchanges each two segments.
func BenchmarkReorder(b *testing.B) {
	var d dull
	f := newFeed(1, 1448, &d)
	b.SetBytes(2 * 1448)
	b.ReportAllocs()
	for b.Loop() {
		f.data(0, 1448)
		f.seq[0] -= 2 * 1448
		f.data(0, 0)
		f.seq[0] += 1448
		f.acknowledge(0)
	}
}

func BenchmarkIgnored(b *testing.B) {
	f := newFeed(1, 1448, nil)
	f.a.open = func(*Conn) Stream { return nil }
	b.SetBytes(1448)
	for b.Loop() {
		f.data(0, 0)
	}
}

func BenchmarkTable(b *testing.B) {
	const conns = 20000
	h := NewHasher()
	var tb table
	m := map[packet.Flow]*Conn{}
	flows := make([]packet.Flow, conns)
	for i := range flows {
		flows[i] = packet.Flow{Src: hostA, Dst: hostB}
		flows[i].Src.Port, flows[i].Src.Addr[14] = uint16(i%10000), byte(i/10000)
		c := &Conn{Flow: flows[i], hash: h.Hash(&flows[i])}
		tb.insert(c)
		m[flows[i]] = c
		m[flows[i].Reverse()] = c
	}
	b.Run("table", func(b *testing.B) {
		for i := 0; b.Loop(); i += 7919 {
			f := &flows[i%conns]
			if c, _ := tb.find(h.Hash(f), f); c == nil {
				b.Fatal()
			}
		}
	})
	b.Run("map", func(b *testing.B) {
		for i := 0; b.Loop(); i += 7919 {
			if m[flows[i%conns]] == nil {
				b.Fatal()
			}
		}
	})
	b.Run("hash", func(b *testing.B) {
		var x uint64
		for b.Loop() {
			x += h.Hash(&flows[0])
		}
		sink = x
	})
}

var sink uint64
