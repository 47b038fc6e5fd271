package capture_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/capture"
)

// A small file as it lies on the disk, and what it holds.
func TestPcapngOctets(t *testing.T) {
	data := []byte{
		0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0, 28, // section header, big-endian
		0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 28,

		0, 0, 0, 1, 0, 0, 0, 32, // interface: Ethernet, snaplen 96
		0, 1, 0, 0, 0, 0, 0, 96,
		0, 9, 0, 1, 9, 0, 0, 0, // in nanoseconds
		0, 0, 0, 0, 0, 0, 0, 32,

		0, 0, 0, 6, 0, 0, 0, 40, // packet of interface 0
		0, 0, 0, 0, 0x17, 0x97, 0x9c, 0xfe, 0x36, 0x2a, 0x00, 0x15,
		0, 0, 0, 3, 0, 0, 0, 9, // 3 octets of 9
		0xaa, 0xbb, 0xcc, 0,
		0, 0, 0, 0, // end of no options
		0, 0, 0, 40,
	}
	diffFrames(t, readClean(t, data), []capture.Frame{{
		Data: []byte{0xaa, 0xbb, 0xcc}, Len: 9, Time: 0x17979cfe362a0015,
		Number: 1, Link: capture.LinkEthernet,
	}})
}

// block appends a block with its lengths around body.
func (w *builder) block(typ uint32, body func(w *builder)) *builder {
	inner := &builder{order: w.order}
	if body != nil {
		body(inner)
	}
	for len(inner.b)%4 != 0 {
		inner.b = append(inner.b, 0)
	}
	n := uint32(len(inner.b) + 12)
	return w.u32(typ, n).bytes(inner.b...).u32(n)
}

func (w *builder) option(code uint16, value ...byte) *builder {
	w.u16(code, uint16(len(value))).bytes(value...)
	return w.bytes(make([]byte, -len(value)&3)...)
}

func (w *builder) section(major, minor uint16) *builder {
	return w.block(0x0a0d0d0a, func(w *builder) { w.u32(0x1a2b3c4d).u16(major, minor).u64(math.MaxUint64) })
}

func (w *builder) iface(link uint16, snaplen uint32, options func(w *builder)) *builder {
	return w.block(1, func(w *builder) {
		w.u16(link, 0).u32(snaplen)
		if options != nil {
			options(w)
			w.option(0)
		}
	})
}

func (w *builder) packet(iface uint32, ts uint64, wire uint32, data ...byte) *builder {
	return w.block(6, func(w *builder) {
		w.u32(iface, uint32(ts>>32), uint32(ts), uint32(len(data)), wire).bytes(data...)
	})
}

// All kinds of blocks, in both orders.
func TestPcapngBlocks(t *testing.T) {
	for _, o := range orders {
		t.Run(o.name, func(t *testing.T) {
			w := &builder{order: o.order}
			w.block(0x0a0d0d0a, func(w *builder) {
				w.u32(0x1a2b3c4d).u16(1, 0).u64(math.MaxUint64)
				w.option(2, []byte("hardware")...).option(1, []byte("a comment")...).option(0)
			})
			w.block(5, func(w *builder) { w.u32(0, 0, 0) })                         // statistics before their interface
			w.iface(1, 0, nil)                                                      // 0: microseconds
			w.block(4, func(w *builder) { w.u16(1, 9).bytes(make([]byte, 12)...) }) // names
			w.iface(276, 5, func(w *builder) {                                      // 1
				w.option(2, []byte("eth0")...).option(9, 3).option(13, 4)
				w.u16(14, 8).u64(uint64(1000)) // if_tsoffset
				w.option(0x8bad, 1, 2, 3)
			})
			w.block(6, func(w *builder) { // with options behind the data
				w.u32(0, 0, 5, 3, 60).bytes(1, 2, 3, 0)
				w.option(2, 0, 0, 0, 1).option(4, 0, 0, 0, 0, 0, 0, 0, 7).option(0)
			})
			w.packet(1, 2500, 2, 8, 9)
			w.block(2, func(w *builder) { // the obsolete Packet Block, 3 drops
				w.u16(1, 3).u32(0, 3000, 1, 70).bytes(7, 0, 0, 0)
			})
			w.block(3, func(w *builder) { w.u32(6).bytes(1, 2, 3, 4, 5, 6) })        // simple: no time
			w.block(10, func(w *builder) { w.u32(1, 4).bytes(1, 2, 3, 4) })          // secrets
			w.block(0x0bad, func(w *builder) { w.u32(32473).bytes(1, 2, 3) })        // custom
			w.block(0x40000bad, func(w *builder) { w.u32(32473) })                   // custom, not to be copied
			w.block(0xdeadbeef, func(w *builder) { w.bytes(make([]byte, 4000)...) }) // nobody knows
			w.block(9, nil)
			w.packet(0, 1<<32|1, 1, 0xff)
			diffFrames(t, readClean(t, w.b), []capture.Frame{
				{Data: []byte{1, 2, 3}, Len: 60, Time: 5000, Number: 1, Link: 1, Iface: 0},
				{Data: []byte{8, 9}, Len: 2, Time: 1002_500000000, Number: 2, Link: 276, Iface: 1},
				{Data: []byte{7}, Len: 70, Time: 1003_000000000, Number: 3, Link: 276, Iface: 1},
				{Data: []byte{1, 2, 3, 4, 5, 6}, Len: 6, Time: 1003_000000000, Number: 4, Link: 1, Iface: 0},
				{Data: []byte{0xff}, Len: 1, Time: (1<<32 | 1) * 1000, Number: 5, Link: 1, Iface: 0},
			})
		})
	}
}

// A simple packet is cut to the snaplen of interface 0.
func TestPcapngSimpleSnaplen(t *testing.T) {
	w := &builder{order: binary.LittleEndian}
	w.section(1, 0).iface(1, 4, nil)
	w.block(3, func(w *builder) { w.u32(1500).bytes(1, 2, 3, 4) })
	w.block(3, func(w *builder) { w.u32(3).bytes(5, 6, 7) })
	diffFrames(t, readClean(t, w.b), []capture.Frame{
		{Data: []byte{1, 2, 3, 4}, Len: 1500, Number: 1, Link: 1},
		{Data: []byte{5, 6, 7}, Len: 3, Number: 2, Link: 1},
	})
}

// Sections of both orders in one file: interfaces are numbered anew in each,
// and over all for the frame.
func TestPcapngSections(t *testing.T) {
	var data []byte
	for i, o := range []int{0, 1, 1, 0} {
		w := &builder{order: orders[o].order}
		w.section(1, uint16(i/2*2)) // 1.0 and 1.2 are the same
		w.iface(uint16(i), 0, nil).iface(uint16(100+i), 0, nil)
		w.packet(1, uint64(i), 1, byte(i))
		data = append(data, w.b...)
	}
	var want []capture.Frame
	for i := range 4 {
		want = append(want, capture.Frame{
			Data: []byte{byte(i)}, Len: 1, Time: int64(i) * 1000, Number: uint64(i + 1),
			Link: capture.LinkType(100 + i), Iface: uint32(2*i + 1),
		})
	}
	diffFrames(t, readClean(t, data), want)
}

// Damage that leaves the length of the block alone costs that block only.
func TestPcapngBadBlocks(t *testing.T) {
	for _, c := range []struct {
		name  string
		block func(w *builder)
		frame uint64 // the error names
		msg   string
	}{
		{"unknown interface", func(w *builder) { w.packet(7, 0, 1, 1) }, 2,
			"a packet of interface 7, of which the section has no description"},
		{"too many octets claimed", func(w *builder) {
			w.block(6, func(w *builder) { w.u32(0, 0, 0, 9, 9).bytes(1, 2, 3, 4) })
		}, 2, "a packet with 9 captured octets in a block with room for 4"},
		{"absurdly many octets claimed", func(w *builder) {
			w.block(2, func(w *builder) { w.u32(0, 0, 0, math.MaxUint32, 9).bytes(1, 2, 3, 4) })
		}, 2, "a packet with 4294967295 captured octets in a block with room for 4"},
		{"interface option too long", func(w *builder) {
			w.block(1, func(w *builder) { w.u16(1, 0).u32(0).u16(2, 99).bytes(1, 2, 3, 4) })
		}, 0, "interface 1 has an option (code 2) that is longer than its block"},
		{"resolution of two octets", func(w *builder) {
			w.iface(1, 0, func(w *builder) { w.option(9, 6, 6) })
		}, 0, "interface 1 has an option (code 9) of 2 octets"},
		{"unknown version", func(w *builder) {
			w.section(2, 7)
			w.packet(0, 0, 1, 1) // means who knows what
			w.section(1, 0).iface(1, 0, nil).iface(1, 0, nil)
		}, 0, "a section in version 2.7 of pcapng, which is not known; it is passed over"},
	} {
		for _, size := range []int{0, 64} {
			w := &builder{order: binary.BigEndian}
			w.section(1, 0).iface(1, 0, nil).packet(0, 1, 1, 1)
			off := len(w.b)
			c.block(w)
			w.packet(0, 3, 1, 3)
			r := readBytes(t, w.b, capture.Options{BlockSize: size})
			if len(r.errs) != 1 || r.errs[0].Msg != c.msg || r.errs[0].Offset != int64(off) || r.errs[0].Frame != c.frame || r.errs[0].Cut || r.after[0] != 1 {
				t.Errorf("%s: errors %v after %v frames", c.name, r.errs, r.after)
			}
			if len(r.frames) != 2 || r.frames[1].Data[0] != 3 || r.frames[1].Number != max(c.frame+1, 2) {
				t.Errorf("%s: frames %+v", c.name, r.frames)
			}
		}
	}
}

// pcapngFile is a file of n frames of 100 octets, each filled with the low
// octet of its number.
func pcapngFile(n int) []byte {
	b := capture.AppendSectionHeader(nil, "")
	b = capture.AppendInterface(b, capture.LinkEthernet, 0, "")
	for i := range n {
		b = capture.AppendEnhancedPacket(b, 0, testFrame(i+1))
	}
	return b
}

// Where the length of a block is damaged, the next block is looked for.
func TestPcapngDamage(t *testing.T) {
	const (
		start  = 28 + 32 // section and interface
		record = 132
	)
	at := func(n int) int { return start + (n-1)*record } // of frame n
	for _, c := range []struct {
		name   string
		damage func(b []byte) []byte
		behind int // first frame behind the damage; the last before it is 4
		msg    string
	}{
		{"length too large", func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[at(5)+4:], 200)
			return b
		}, 6, "a block with two different lengths, 200 and "},
		{"length far too large", func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[at(5)+4:], 1<<31)
			return b
		}, 6, "a block of type 0x6 with a length of 2147483648, more than is read; 132 octets were passed over"},
		{"length beyond the end", func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[at(5)+4:], 1<<20)
			return b
		}, 6, "the record is longer than the rest of the file; 132 octets were passed over"},
		{"length zero", func(b []byte) []byte {
			clear(b[at(5)+4 : at(5)+8])
			return b
		}, 6, "a block of type 0x6 with a length of only 0; 132 octets were passed over"},
		{"second length", func(b []byte) []byte {
			b[at(6)-1] = 1
			return b
		}, 6, "a block with two different lengths, 132 and 16777348; 132 octets were passed over"},
		{"zeros", func(b []byte) []byte {
			clear(b[at(5) : at(7)+30])
			return b
		}, 8, "a block of type 0x0 with a length of only 0; 396 octets were passed over"},
		{"octets put in", func(b []byte) []byte {
			return append(b[:at(5):at(5)], append([]byte(strings.Repeat("garbage", 9)), b[at(5):]...)...)
		}, 5, "a block of type 0x62726167 with a length of 1734698849, more than is read; 63 octets were passed over"},
	} {
		for _, size := range []int{0, 64, 500} {
			r := readBytes(t, c.damage(pcapngFile(20)), capture.Options{BlockSize: size})
			if len(r.errs) != 1 {
				t.Errorf("%s: errors %v, want one", c.name, r.errs)
				continue
			}
			e := r.errs[0]
			if r.after[0] != 4 || e.Frame != 5 && e.Frame != 0 || e.Offset != int64(at(5)) || e.Cut {
				t.Errorf("%s: after %d frames: %+v", c.name, r.after[0], e)
			}
			if !strings.HasPrefix(e.Msg, c.msg) {
				t.Errorf("%s: %q, want %q", c.name, e.Msg, c.msg)
			}
			want := testFrames(c.behind, 20)
			if len(r.frames) != 4+len(want) {
				t.Errorf("%s: %d frames", c.name, len(r.frames))
				continue
			}
			for i, f := range r.frames[4:] {
				want[i].Number = f.Number
			}
			diffFrames(t, r.frames[4:], want)
		}
	}
}

// A file cut at every octet.
func TestPcapngCut(t *testing.T) {
	const start, record = 28 + 32, 132
	data := pcapngFile(3)
	for n := 4; n < len(data); n++ {
		r := readBytes(t, data[:n], capture.Options{})
		whole := max(n-start, 0) / record
		diffFrames(t, r.frames, testFrames(1, whole))
		if n == 28 || n >= start && (n-start)%record == 0 {
			if len(r.errs) != 0 {
				t.Errorf("cut at %d: errors %v", n, r.errs)
			}
			continue
		}
		if len(r.errs) != 1 || !r.errs[0].Cut || r.errs[0].Frame != uint64(whole+1) || r.errs[0].Offset > int64(n) {
			t.Errorf("cut at %d: errors %v", n, r.errs)
		}
	}
}

// A block of no interest may be longer than anything that is kept in memory.
func TestPcapngLongUnknownBlock(t *testing.T) {
	w := &builder{order: binary.LittleEndian}
	w.section(1, 0).iface(1, 0, nil)
	w.packet(0, 1, 1, 1)
	off := len(w.b)
	w.block(0x0bad, func(w *builder) { w.bytes(make([]byte, 40<<20)...) })
	w.packet(0, 2, 1, 2)
	if got := readClean(t, w.b); len(got) != 2 || got[1].Data[0] != 2 {
		t.Errorf("frames %+v", got)
	}
	r := readBytes(t, w.b[:off+20<<20], capture.Options{})
	if len(r.frames) != 1 || len(r.errs) != 1 || !r.errs[0].Cut {
		t.Errorf("cut inside of the block: %d frames, errors %v", len(r.frames), r.errs)
	}
}

// A million interfaces are not kept.
func TestPcapngInterfaceLimit(t *testing.T) {
	var one builder
	one.order = binary.LittleEndian
	one.iface(1, 0, nil)
	w := &builder{order: binary.LittleEndian}
	w.section(1, 0)
	w.b = append(w.b, bytes.Repeat(one.b, 1<<16+1000)...)
	w.packet(1<<16-1, 1, 1, 1)
	r := readBytes(t, w.b, capture.Options{})
	if len(r.frames) != 1 || r.frames[0].Iface != 1<<16-1 {
		t.Errorf("frames %+v", r.frames)
	}
	// A hundred errors, and one for all the others.
	if len(r.errs) != 101 || r.errs[0].Msg != "more than 65536 interfaces in a section" ||
		r.errs[100].Msg != "900 more damaged places were passed over" {
		t.Errorf("%d errors, the last %v", len(r.errs), r.errs[len(r.errs)-1])
	}
}

// Both formats are read the same whatever the size of the blocks.
func TestBlockSizes(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
	}{{"pcap", pcapFile(300)}, {"pcapng", pcapngFile(300)}} {
		for _, size := range []int{1, 64, 65, 116, 131, 132, 133, 1000, 4096, 1 << 20} {
			t.Run(fmt.Sprintf("%s/%d", c.name, size), func(t *testing.T) {
				r := readBytes(t, c.data, capture.Options{BlockSize: size})
				if len(r.errs) > 0 {
					t.Error(r.errs)
				}
				diffFrames(t, r.frames, testFrames(1, 300))
			})
		}
	}
}
