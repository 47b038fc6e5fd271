package reassembly

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/iwdump/iwdump/packet"
)

// wire makes up what a capture point sees of one direction of a connection,
// A's: segments cut anywhere, some sent again with other boundaries, some
// overtaken, some captured twice, some not captured at all, and the
// acknowledgements of a receiver.
type wire struct {
	isn     uint32
	octets  []byte
	packets []pkt
	first   []int  // for each octet the packet that captured it first, -1 for none
	late    []bool // the capture lacks its first transmission: when another comes, it may have been given up
}

func octetsOf(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32()) | 1 // not 0, which stands for a gap
	}
	return b
}

// drawWire draws a wire. Packets are at most reach places away from where they
// were sent.
func drawWire(t *rapid.T, reach int) *wire {
	size := rapid.SampledFrom([]int{1, 7, 100, 1448}).Draw(t, "size")
	w := &wire{isn: uint32(rapid.Uint64().Draw(t, "isn")), octets: octetsOf(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 60*size).Draw(t, "octets"))}
	base := w.isn + 1
	w.late = make([]bool, len(w.octets))
	lossy := rapid.IntRange(0, 30).Draw(t, "loss")
	chance := func(percent int, label string) bool { return rapid.IntRange(1, 100).Draw(t, label) <= percent }

	type sent struct {
		pkt
		captured bool
		place    int
	}
	var sents []sent
	segment := func(from, to int) {
		sents = append(sents, sent{pkt: pkt{from: A, flags: ack, seq: base + uint32(from), ack: 5001, data: string(w.octets[from:to])}, captured: !chance(lossy, "lost")})
	}
	for at, count := 0, 0; at < len(w.octets); count++ {
		to := min(len(w.octets), at+rapid.IntRange(1, size).Draw(t, "len"))
		segment(at, to)
		for o := at; o < to; o++ {
			w.late[o] = !sents[len(sents)-1].captured
		}
		at = to
		if chance(10, "again") { // with other boundaries
			from := rapid.IntRange(0, at-1).Draw(t, "from")
			segment(from, rapid.IntRange(from+1, min(at, from+2*size)).Draw(t, "to"))
		}
		if chance(30, "ack") {
			sents = append(sents, sent{pkt: pkt{from: B, flags: ack, seq: 5001, ack: base + uint32(at)}, captured: true})
		}
	}
	// All octets were received in the end. The FIN tells a missing last octet
	// from a missing FIN.
	sents = append(sents, sent{pkt: pkt{from: A, flags: ack | fin, seq: base + uint32(len(w.octets)), ack: 5001}, captured: true})
	sents = append(sents, sent{pkt: pkt{from: B, flags: ack, seq: 5001, ack: base + uint32(len(w.octets))}, captured: true})

	// Disorder, within reach.
	for i := range sents {
		sents[i].place = i
		if chance(20, "overtaken") {
			sents[i].place += rapid.IntRange(1, reach).Draw(t, "by")
		}
	}
	slices.SortStableFunc(sents, func(x, y sent) int { return cmp.Compare(x.place, y.place) })
	w.first = slices.Repeat([]int{-1}, len(w.octets))
	for _, s := range sents {
		if !s.captured {
			continue
		}
		w.packets = append(w.packets, s.pkt)
		for k := range len(s.data) {
			if o := int(s.seq-base) + k; w.first[o] < 0 {
				w.first[o] = len(w.packets) - 1
			}
		}
	}
	return w
}

// TestProperty: whatever a capture lost, doubled and mixed up, each octet comes
// once, in its place, with the stamp of the packet that brought it first; what
// is missing is exactly what was not captured; and all is accounted for.
func TestProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWire(t, 3)
		synSeen := rapid.Bool().Draw(t, "syn")
		var p *tape
		a := New(Config{}, func(c *Conn) Stream { p = &tape{t: t, conn: c}; return p })
		var frame uint64
		now := int64(1e18)
		blocks := rapid.Bool().Draw(t, "blocks")
		var total uint64
		send := func(q pkt, frame uint64) {
			s := q.segment()
			now += rapid.Int64Range(0, 100000).Draw(t, "ns")
			if blocks && frame%5 == 0 {
				a.Expire()
			}
			if q.from == A {
				total += uint64(s.Len)
			}
			a.Segment(&s, Stamp{frame, now})
		}
		open := handshake()
		if !synSeen {
			open = []pkt{{from: B, flags: ack, seq: 5001, ack: w.isn + 1}}
		} else {
			open[0].seq, open[1].ack, open[2].seq = w.isn, w.isn+1, w.isn+1
		}
		const offset = 1000
		for _, q := range open {
			send(q, frame)
			frame++
		}
		for i, q := range w.packets {
			send(q, uint64(i)+offset)
		}
		a.Flush()

		side := A
		if !synSeen {
			side = B // who was seen first is side A
		}
		if p == nil {
			if synSeen || slices.ContainsFunc(w.first, func(i int) bool { return i >= 0 }) {
				t.Fatal("no stream")
			}
			return
		}
		from := 0
		if !synSeen { // offset 0 is what was seen first
			from = slices.IndexFunc(w.first, func(i int) bool { return i >= 0 })
			if from < 0 {
				return
			}
			if w.first[from] == 0 && len(p.data[side]) < len(w.octets)-from {
				t.Fatalf("%d octets, want %d", len(p.data[side]), len(w.octets)-from)
			}
			// What lies in front of what was seen first, and in front of what
			// was acknowledged then, may be early.
			from = len(w.octets) - len(p.data[side])
			if from < 0 {
				t.Fatalf("%d octets more than there are", -from)
			}
		}
		if got, want := len(p.data[side]), len(w.octets)-from; got != want {
			t.Fatalf("%d octets, want %d", got, want)
		}
		for i, b := range p.data[side] {
			o := from + i
			switch first := w.first[o]; {
			case first < 0 && b != 0:
				t.Fatalf("octet %d was not captured, and is %#x", o, b)
			case first >= 0 && b == 0 && w.late[o]:
			case first >= 0 && b == 0:
				t.Fatalf("octet %d was captured by packet %d, and is missing", o, first)
			case first >= 0 && (b != w.octets[o] || p.stamps[side][i].Frame != uint64(first)+offset):
				t.Fatalf("octet %d is %#x of frame %d, want %#x of %d", o, b, p.stamps[side][i].Frame, w.octets[o], uint64(first)+offset)
			}
		}
		for _, g := range p.gaps[side] {
			if g.Cause != GapLost {
				t.Fatalf("gap %+v was acknowledged", g)
			}
		}
		if got := carried(p.counts[side]); got != total {
			t.Fatalf("%d octets accounted for, want %d: %+v", got, total, p.counts[side])
		}
		if got := p.acked[side.Other()]; got != uint64(len(p.data[side])) {
			t.Fatalf("%d octets told to be acknowledged, want %d", got, len(p.data[side]))
		}
	})
}

// TestSegmentation: the same octets, however they are cut and mixed up, make the
// same stream.
func TestSegmentation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		octets := octetsOf(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 2000).Draw(t, "octets"))
		var p *tape
		a := New(Config{}, func(c *Conn) Stream { p = &tape{t: t, conn: c}; return p })
		var script []pkt
		for at := 0; at < len(octets); {
			to := min(len(octets), at+rapid.IntRange(1, 300).Draw(t, "len"))
			script = append(script, pkt{from: A, flags: ack, seq: 1001 + uint32(at), ack: 5001, data: string(octets[at:to])})
			at = to
		}
		order := rapid.Permutation(script).Draw(t, "order")
		for i, q := range handshake(append(order, pkt{from: B, flags: ack, seq: 5001, ack: 1001})...) {
			s := q.segment()
			a.Segment(&s, Stamp{uint64(i), int64(i)})
		}
		a.Flush()
		if string(p.data[A]) != string(octets) {
			t.Fatalf("the octets differ, or %d are missing", p.missed[A])
		}
	})
}

// FuzzAssembler feeds segments of any content. Whatever they say, the streams
// are consistent (see tape), all octets are accounted for, and nothing is held
// behind the end.
func FuzzAssembler(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x12\x01\x00\x00\x01\x10\x00\x01\x01\x03"))
	f.Add([]byte("\x10\x01\x01\x05\x00\x00\x10\x09\x01\x05\x00\x00\x11\x01\x20\x00\x00\x00\x14\x01\x01\x00\x00\x00\x01\x10\x01\x05"))
	f.Add([]byte("\x90\xff\xff\xff\xff\xff\x50\x00\x01\x10\x00\x00\x30\x40\x40\x40\x40\x40"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var tapes []*tape
		a := New(Config{MaxHeld: 2000, MaxHeldTotal: 3000, MaxConns: 3, MaxHalfOpen: 2, IdleTimeout: 60e9}, func(c *Conn) Stream {
			p := &tape{t: t, conn: c, lean: true}
			p.refuse = func(_ Side, k *Chunk) int {
				if k.Damaged() {
					return len(k.Data) / 2
				}
				if k.Data[0] == 0xee {
					c.Ignore()
				}
				return len(k.Data)
			}
			tapes = append(tapes, p)
			return p
		})
		var sum packet.Sum
		a.checksum = func(*packet.Segment) packet.Sum { return sum }
		now := int64(1e18)
		const step = 6
		var total uint64
		for frame := uint64(1); len(b) >= step; b, frame = b[step:], frame+1 {
			k := b[:step]
			at := Stamp{frame, now}
			if k[0]&0x80 != 0 { // time passes, even backwards
				now += int64(int8(k[1])) * 1e8
				if k[2]&1 != 0 {
					a.Tick(at)
				}
				if k[2]&2 != 0 {
					a.Expire()
				}
				continue
			}
			q := pkt{from: Side(k[1] & 1), flags: packet.Flags(k[0] & 0x1f), seq: uint32(int32(int8(k[2]))) << (k[1] >> 1 & 7 * 4), ack: uint32(int32(int8(k[3]))) << (k[1] >> 4 & 7 * 4),
				data: string(b[:min(int(k[4]&0x1f), len(b))]), id: uint16(k[5] & 3), win0: k[5]&4 != 0}
			sum = packet.Sum(k[5] >> 3 & 3 % 3)
			if k[4]&0x20 != 0 {
				q.len = len(q.data) + int(k[5])
			}
			s := q.segment()
			s.Flow.Src.Port += uint16(k[5] >> 6)
			total += uint64(s.Len)
			a.Segment(&s, at)
			if a.Held() > 3000 {
				t.Fatalf("%d octets held", a.Held())
			}
		}
		a.Flush()
		if a.Held() != 0 || a.waiting.head != nil {
			t.Fatalf("%d octets held behind the end", a.Held())
		}
		var got uint64
		for _, p := range tapes {
			if !p.ended {
				t.Fatal("a stream was not ended")
			}
			got += carried(p.counts[A]) + carried(p.counts[B])
		}
		if got > total {
			t.Fatalf("%d octets accounted for of %d", got, total)
		}
	})
}
