package capture_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/capture"
)

// A small file as it lies on the disk, and what it holds.
func TestPcapOctets(t *testing.T) {
	data := []byte{
		0xd4, 0xc3, 0xb2, 0xa1, // microseconds, little-endian
		2, 0, 4, 0, // version 2.4
		0, 0, 0, 0, 0, 0, 0, 0,
		0x60, 0, 0, 0, // snaplen 96
		1, 0, 0, 0x28, // Ethernet; frame check sequence of two 16-bit words present
		0x15, 0xcd, 0x5b, 0x07, // 123456789 s
		0x40, 0xe2, 0x01, 0x00, // 123456 µs
		3, 0, 0, 0, // captured
		9, 0, 0, 0, // on the wire
		0xaa, 0xbb, 0xcc,
	}
	diffFrames(t, readClean(t, data), []capture.Frame{{
		Data: []byte{0xaa, 0xbb, 0xcc}, Len: 9, Time: 123456789_123456000,
		Number: 1, Link: capture.LinkEthernet,
	}})
}

func pcapHeader(order binary.AppendByteOrder, magic, snaplen, link uint32) *builder {
	w := &builder{order: order}
	return w.u32(magic).u16(2, 4).u32(0, 0, snaplen, link)
}

func TestPcapKinds(t *testing.T) {
	for _, c := range []struct {
		name  string
		magic uint32
		extra int   // octets behind the 16 of a record header
		unit  int64 // ns
	}{
		{"microseconds", 0xa1b2c3d4, 0, 1000},
		{"nanoseconds", 0xa1b23c4d, 0, 1},
		{"modified", 0xa1b2cd34, 8, 1000},
	} {
		for _, o := range orders {
			t.Run(c.name+" "+o.name, func(t *testing.T) {
				w := pcapHeader(o.order, c.magic, 65535, 276)
				w.u32(7, 999999, 2, 2).bytes(make([]byte, c.extra)...).bytes(1, 2)
				w.u32(0xffffffff, 1, 0, 60).bytes(make([]byte, c.extra)...)
				diffFrames(t, readClean(t, w.b), []capture.Frame{
					{Data: []byte{1, 2}, Len: 2, Time: 7e9 + 999999*c.unit, Number: 1, Link: capture.LinkSLL2},
					{Data: []byte{}, Len: 60, Time: 0xffffffff*1e9 + c.unit, Number: 2, Link: capture.LinkSLL2},
				})
			})
		}
	}
}

// Versions before 2.3 had the two lengths the other way round; of 2.3 both
// kinds exist.
func TestPcapOldVersions(t *testing.T) {
	for _, minor := range []uint16{2, 3} {
		w := (&builder{order: binary.LittleEndian}).u32(0xa1b2c3d4).u16(2, minor).u32(0, 0, 68, 1)
		w.u32(1, 0, 100, 2).bytes(1, 2)
		diffFrames(t, readClean(t, w.b), []capture.Frame{
			{Data: []byte{1, 2}, Len: 100, Time: 1e9, Number: 1, Link: capture.LinkEthernet},
		})
	}
}

// Some writers leave the length on the wire zero, or write frames longer than
// their own snaplen.
func TestPcapCarelessWriters(t *testing.T) {
	w := pcapHeader(binary.LittleEndian, 0xa1b2c3d4, 4, 1)
	w.u32(1, 0, 6, 0).bytes(1, 2, 3, 4, 5, 6)
	diffFrames(t, readClean(t, w.b), []capture.Frame{
		{Data: []byte{1, 2, 3, 4, 5, 6}, Len: 6, Time: 1e9, Number: 1, Link: capture.LinkEthernet},
	})
}

func TestPcapHeaderOnly(t *testing.T) {
	if got := readClean(t, pcapHeader(binary.BigEndian, 0xa1b2c3d4, 0, 1).b); len(got) != 0 {
		t.Errorf("%d frames in a file without any", len(got))
	}
}

// Files joined end to end: the second header is not taken for a frame.
func TestPcapJoined(t *testing.T) {
	a := pcapHeader(binary.LittleEndian, 0xa1b2c3d4, 96, 1).u32(1, 0, 1, 1).bytes(1).b
	b := pcapHeader(binary.LittleEndian, 0xa1b2c3d4, 96, 101).u32(2, 0, 1, 1).bytes(2).b
	diffFrames(t, readClean(t, append(a, b...)), []capture.Frame{
		{Data: []byte{1}, Len: 1, Time: 1e9, Number: 1, Link: capture.LinkEthernet},
		{Data: []byte{2}, Len: 1, Time: 2e9, Number: 2, Link: capture.LinkRaw, Iface: 1},
	})
}

// pcapFile is a file of n frames of 100 octets, one a second, each filled with
// the low octet of its number.
func pcapFile(n int) []byte {
	b := capture.AppendPcapHeader(nil, capture.LinkEthernet, 0)
	for i := range n {
		b = capture.AppendPcapRecord(b, testFrame(i+1))
	}
	return b
}

func testFrame(n int) *capture.Frame {
	data := make([]byte, 100)
	for i := range data {
		data[i] = byte(n)
	}
	return &capture.Frame{
		Data: data, Len: 1500, Time: 1_700_000_000e9 + int64(n)*1e9,
		Number: uint64(n), Link: capture.LinkEthernet,
	}
}

func testFrames(from, to int) []capture.Frame {
	var f []capture.Frame
	for n := from; n <= to; n++ {
		f = append(f, *testFrame(n))
	}
	return f
}

// Damage in a record header: the frames before it come, then the error, then
// the frames behind it.
func TestPcapDamage(t *testing.T) {
	const record = 116
	at := func(n int) int { return 24 + (n-1)*record } // of frame n
	for _, c := range []struct {
		name   string
		damage func(b []byte) []byte
		before int // last frame before the error
		behind int // first frame behind it
		msg    string
	}{
		{"length far too large", func(b []byte) []byte {
			b[at(5)+11] = 0x7f
			return b
		}, 4, 6, "the record header claims 2130706532 captured octets, more than 262144; 116 octets were passed over"},
		{"length somewhat too large", func(b []byte) []byte {
			// The frame swallows the two behind it and half of another.
			binary.LittleEndian.PutUint32(b[at(5)+8:], 100+2*record+50)
			return b
		}, 5, 9, "the record header claims"},
		{"zeros", func(b []byte) []byte {
			clear(b[at(5) : at(7)+30])
			return b
		}, 4, 8, "the record header is all zeros; 348 octets were passed over"},
		{"octets put in", func(b []byte) []byte {
			return append(b[:at(5):at(5)], append([]byte(strings.Repeat("garbage ", 9)), b[at(5):]...)...)
		}, 4, 5, "the record header claims"},
		{"length beyond the end", func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[at(5)+8:], 200_000)
			return b
		}, 4, 6, "the record is longer than the rest of the file; 116 octets were passed over"},
	} {
		for _, size := range []int{0, 64, 500} {
			r := readBytes(t, c.damage(pcapFile(20)), capture.Options{BlockSize: size})
			if len(r.errs) != 1 {
				t.Errorf("%s: errors %v, want one", c.name, r.errs)
				continue
			}
			e := r.errs[0]
			if r.after[0] != c.before || e.Frame != uint64(c.before+1) || e.Offset != int64(at(c.before+1)) && c.name != "length somewhat too large" || e.Cut {
				t.Errorf("%s: after %d frames: %+v", c.name, r.after[0], e)
			}
			if !strings.HasPrefix(e.Msg, c.msg) {
				t.Errorf("%s: %q, want %q", c.name, e.Msg, c.msg)
			}
			got, want := r.frames[c.before:], testFrames(c.behind, 20)
			for i := range want { // the damaged one has a number of its own
				want[i].Number = uint64(c.before + 2 + i)
			}
			diffFrames(t, got, want)
		}
	}
}

// Garbage to the end of the file: nothing is made up of it.
func TestPcapGarbageBehind(t *testing.T) {
	data := append(pcapFile(3), strings.Repeat("no record is in here. ", 1000)...)
	r := readBytes(t, data, capture.Options{})
	diffFrames(t, r.frames, testFrames(1, 3))
	if len(r.errs) != 1 || !strings.HasSuffix(r.errs[0].Msg, "; nothing behind it could be read") {
		t.Errorf("errors %v", r.errs)
	}
}

// A file cut at every octet: the frames before come, and the cut is said
// unless it falls between two.
func TestPcapCut(t *testing.T) {
	data := pcapFile(3)
	for n := 1; n < len(data); n++ {
		r := readBytes(t, data[:n], capture.Options{})
		whole := max(n-24, 0) / 116
		diffFrames(t, r.frames, testFrames(1, whole))
		if n < 4 {
			if len(r.errs) != 1 {
				t.Errorf("cut at %d: errors %v", n, r.errs)
			}
			continue
		}
		if n >= 24 && (n-24)%116 == 0 {
			if len(r.errs) != 0 {
				t.Errorf("cut at %d: errors %v", n, r.errs)
			}
			continue
		}
		want := int64(0)
		if n >= 24 {
			want = int64(24 + whole*116)
		}
		if len(r.errs) != 1 || !r.errs[0].Cut || r.errs[0].Frame != uint64(whole+1) || r.errs[0].Offset != want {
			t.Errorf("cut at %d: errors %v", n, r.errs)
		}
	}
}
