package reassembly

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSpread: what a connection's stream is told does not depend on how the
// connections are spread over Assemblers, as long as Expire and Tick are called
// at the same frames.
func TestSpread(t *testing.T) {
	const conns = 40
	run := func(workers int) [conns][]string {
		var logs [conns][]string
		as := make([]*Assembler, workers)
		h := NewHasher()
		for i := range as {
			as[i] = New(Config{Hasher: h}, func(c *Conn) Stream {
				port := c.Flow.Src.Port
				if port == hostB.Port {
					port = c.Flow.Dst.Port
				}
				return &tape{t: t, conn: c, lean: true, log: &logs[port-1]}
			})
		}
		r := rand.New(rand.NewPCG(3, 4))
		var seq [conns]uint32
		now := int64(0)
		for frame := range uint64(30000) {
			at := Stamp{frame + 1, now}
			now += r.Int64N(200000)
			if frame%4000 == 0 {
				for _, a := range as {
					a.Expire()
				}
			}
			if frame%5000 == 0 {
				for _, a := range as {
					a.Tick(at)
				}
			}
			i := r.IntN(conns)
			q := pkt{from: A, flags: ack, seq: seq[i], ack: 1, data: string([]byte{byte(seq[i]), 2, 3}), id: uint16(frame)}
			switch r.IntN(10) {
			case 0: // sent again, with other octets
				q.seq -= uint32(r.IntN(200)) * 3
				q.data = "xyz"
			case 1: // a hole
				q.seq += 3
				seq[i] += 6
			case 2:
				q = pkt{from: B, flags: ack, seq: 1, ack: seq[i]}
			default:
				seq[i] += 3
			}
			s := q.segment()
			if q.from == A {
				s.Flow.Src.Port = uint16(i + 1)
			} else {
				s.Flow.Dst.Port = uint16(i + 1)
			}
			as[h.Hash(&s.Flow)%uint64(workers)].Segment(&s, at)
		}
		for _, a := range as {
			a.Flush()
		}
		return logs
	}
	one, three := run(1), run(3)
	for i := range one {
		if !slices.Equal(one[i], three[i]) {
			k := 0
			for k < min(len(one[i]), len(three[i])) && one[i][k] == three[i][k] {
				k++
			}
			t.Fatalf("connection %d: call %d differs: %q and %q", i, k, one[i][k], three[i][k])
		}
	}
}
