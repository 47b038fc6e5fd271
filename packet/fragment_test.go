package packet_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/packet"
)

// split4 cuts an IPv4 packet without options into fragments of size octets.
func split4(p []byte, size int) [][]byte {
	var all [][]byte
	for off := 20; off < len(p); off += size {
		end := min(off+size, len(p))
		f := join(p[:20], p[off:end])
		binary.BigEndian.PutUint16(f[2:], uint16(len(f)))
		field := uint16(off-20) / 8
		if end < len(p) {
			field |= 0x2000
		}
		binary.BigEndian.PutUint16(f[6:], field)
		all = append(all, f)
	}
	return all
}

// split6 does so with an IPv6 packet without extension headers.
func split6(p []byte, size int) [][]byte {
	var all [][]byte
	for off := 40; off < len(p); off += size {
		end := min(off+size, len(p))
		h := []byte{p[6], 0, 0, 0, 0xca, 0xfe, 0, 1}
		field := uint16(off - 40)
		if end < len(p) {
			field |= 1
		}
		binary.BigEndian.PutUint16(h[2:], field)
		f := join(p[:40], h, p[off:end])
		f[6] = 44
		binary.BigEndian.PutUint16(f[4:], uint16(len(f)-40))
		all = append(all, f)
	}
	return all
}

var big = bytes.Repeat([]byte("0123456789abcdef"), 250)

// Packets in any order, some fragments twice: the frame that completes one has
// it, once.
func TestFragments(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts [][]byte
	}{
		{"IPv4", split4(ipv4(6, tcpHeader(0x18, nil), big), 1480)},
		{"IPv4 in eights", split4(ipv4(6, tcpHeader(0x18, nil), big[:1000]), 8)},
		{"IPv6", split6(ipv6(6, tcpHeader(0x18, nil), big), 1232)},
		{"IPv6 in eights", split6(ipv6(6, tcpHeader(0x18, nil), big[:1000]), 8)},
		{"a tunnel", split4(ipv4(47, []byte{0, 0, 0x65, 0x58}, ethernet(0x0800, ipv4(6, tcpHeader(0x18, nil), big))), 1400)},
	} {
		for seed := range uint64(20) {
			parts := slices.Concat(c.parts, c.parts[:len(c.parts)/2])
			r := rand.New(rand.NewPCG(1, seed))
			if seed > 0 {
				parts = slices.Clone(c.parts)
				r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
				parts = slices.Insert(parts, 1, parts[0])
			}
			var d packet.Decoder
			found := 0
			for i, p := range parts {
				var s packet.Segment
				f := frame(capture.LinkEthernet, ethernet(etherType(p), p, make([]byte, 10)))
				f.Number = uint64(i + 1)
				if d.Decode(f, &s) != packet.TCP {
					continue
				}
				found++
				if s.Seq != 0x01020304 || !bytes.Equal(s.Payload, big[:len(s.Payload)]) || s.Len != len(s.Payload) || s.Len < 1000 {
					t.Fatalf("%s, order %d: %d octets", c.name, seed, s.Len)
				}
			}
			if n := d.FragmentCounts(); found != 1 || n.Reassembled != 1 || n.Dropped != 0 {
				t.Fatalf("%s, order %d: found %d times; %+v", c.name, seed, found, n)
			}
		}
	}
}

func etherType(p []byte) uint16 {
	if p[0]>>4 == 6 {
		return 0x86dd
	}
	return 0x0800
}

// Of fragments that the capture cut there is what came before the first cut,
// and the length is right.
func TestFragmentsCut(t *testing.T) {
	var d packet.Decoder
	var s packet.Segment
	parts := split4(ipv4(6, tcpHeader(0x18, nil), big), 1480)
	for i, p := range parts {
		f := &capture.Frame{Data: p[:100], Len: len(p), Link: capture.LinkRaw}
		if k := d.Decode(f, &s); (k == packet.TCP) != (i == len(parts)-1) {
			t.Fatalf("fragment %d: %v", i, k)
		}
	}
	if s.Len != len(big) || !bytes.Equal(s.Payload, big[:60]) || s.Checksum() != packet.SumUnknown {
		t.Errorf("%d of %d octets", len(s.Payload), s.Len)
	}
}

// Fragments that contradict one another make no packet.
func TestFragmentsBad(t *testing.T) {
	p4 := split4(ipv4(6, tcpHeader(0x18, nil), big), 1480)
	p6 := split6(ipv6(6, tcpHeader(0x18, nil), big), 1232)
	other := slices.Clone(p4[1])
	other[100]++
	short := slices.Clone(p4[1][:800])
	binary.BigEndian.PutUint16(short[2:], 788) // a multiple of eight behind the header
	wide6 := split6(ipv6(6, tcpHeader(0x18, nil), big), 616)
	lastEarly := slices.Clone(p4[1])
	lastEarly[6] = 0
	beyond := slices.Clone(p4[2])
	binary.BigEndian.PutUint16(beyond[6:], 0x1fff)
	odd := slices.Clone(p4[0][:1499])
	binary.BigEndian.PutUint16(odd[2:], 1499)
	for _, c := range []struct {
		name  string
		parts [][]byte
		whole bool
		lost  uint64
	}{
		{"differ", [][]byte{p4[0], p4[1], other, p4[2]}, false, 1},
		{"overlap, the same", [][]byte{p4[0], short, p4[1], p4[2]}, true, 0},
		{"overlap in IPv6", [][]byte{p6[0], wide6[1], p6[1], p6[2], p6[3]}, false, 1},
		{"ends twice", [][]byte{p4[0], p4[2], lastEarly, p4[1]}, false, 1},
		{"goes on behind its end", [][]byte{lastEarly, p4[2], p4[1], p4[0]}, false, 1},
		{"beyond 64 KiB", [][]byte{p4[0], p4[1], beyond}, false, 0},
		{"no multiple of eight", [][]byte{odd, p4[1], p4[2]}, false, 0},
	} {
		var d packet.Decoder
		var s packet.Segment
		whole := false
		for _, p := range c.parts {
			whole = whole || d.Decode(frame(capture.LinkRaw, p), &s) == packet.TCP
		}
		if n := d.FragmentCounts(); whole != c.whole || n.Dropped != c.lost {
			t.Errorf("%s: whole %v, %+v", c.name, whole, n)
		}
	}
}

// What is not completed within 30 s is given up, also where time goes back.
func TestFragmentsTime(t *testing.T) {
	parts := split4(ipv4(6, tcpHeader(0x18, nil), big), 1480)
	for _, c := range []struct {
		after int64
		whole bool
	}{{29e9, true}, {31e9, false}, {-31e9, false}, {-1, true}} {
		var d packet.Decoder
		var s packet.Segment
		kind := packet.Fragment
		for i, p := range parts {
			f := frame(capture.LinkRaw, p)
			f.Time = 1e18
			if i == len(parts)-1 {
				f.Time += c.after
			}
			kind = d.Decode(f, &s)
		}
		if (kind == packet.TCP) != c.whole {
			t.Errorf("after %d ns: %v, %+v", c.after, kind, d.FragmentCounts())
		}
	}
}

// A storm of fragments that never make a packet: memory stays within 8 MiB, and
// each packet that was given up is counted.
func TestFragmentStorm(t *testing.T) {
	var d packet.Decoder
	var s packet.Segment
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	const packets = 20_000
	p := split4(ipv4(6, make([]byte, 60_000)), 1480)
	for i := range packets {
		f := slices.Clone(p[1+i%30])
		binary.BigEndian.PutUint16(f[4:], uint16(i))
		binary.BigEndian.PutUint16(f[12:], uint16(i>>16))
		if k := d.Decode(frame(capture.LinkRaw, f), &s); k != packet.Fragment {
			t.Fatal(k)
		}
	}
	// Of one packet in the smallest fragments, with holes between.
	for off := uint16(0); off < 8190; off += 2 {
		f := slices.Clone(p[0][:28])
		binary.BigEndian.PutUint16(f[2:], 28)
		binary.BigEndian.PutUint16(f[6:], 0x2000|off)
		d.Decode(frame(capture.LinkRaw, f), &s)
	}
	if used := int64(heap()) - int64(before); used > 8<<20 {
		t.Errorf("%d octets in use", used)
	}
	n := d.FragmentCounts()
	if n.Pending > 1024 || n.Dropped+n.Pending < packets || n.Reassembled != 0 {
		t.Errorf("%+v", n)
	}
	runtime.KeepAlive(&d)
}
