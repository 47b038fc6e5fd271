package capture_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"pgregory.net/rapid"
)

// The octets of an Enhanced Packet Block (draft-ietf-opsawg-pcapng, section
// 4.3).
func TestAppendEnhancedPacket(t *testing.T) {
	f := capture.Frame{Data: []byte{0xaa, 0xbb, 0xcc, 0xdd, 0xee}, Len: 1514, Time: 0x17979cfe362a0015}
	got := capture.AppendEnhancedPacket([]byte{0xff}, 2, &f)
	want := []byte{
		0xff,
		6, 0, 0, 0, 40, 0, 0, 0,
		2, 0, 0, 0, 0xfe, 0x9c, 0x97, 0x17, 0x15, 0x00, 0x2a, 0x36,
		5, 0, 0, 0, 0xea, 0x05, 0, 0,
		0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0, 0, 0,
		40, 0, 0, 0,
	}
	if !bytes.Equal(got, want) {
		t.Errorf("% x\nwant\n% x", got, want)
	}
}

func TestAppendSectionHeader(t *testing.T) {
	got := capture.AppendSectionHeader(nil, "iwdump")
	want := []byte{
		0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0,
		0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		4, 0, 6, 0, 'i', 'w', 'd', 'u', 'm', 'p', 0, 0, 0, 0, 0, 0,
		44, 0, 0, 0,
	}
	if !bytes.Equal(got, want) {
		t.Errorf("% x\nwant\n% x", got, want)
	}
}

func drawFrames(t *rapid.T, maxTime int64) []capture.Frame {
	frames := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) capture.Frame {
		data := rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "data")
		return capture.Frame{
			Data: data,
			Len:  len(data) + rapid.IntRange(0, 9000).Draw(t, "cut"),
			Time: rapid.Int64Range(0, maxTime).Draw(t, "time"),
		}
	}), 0, 20).Draw(t, "frames")
	for i := range frames {
		frames[i].Number = uint64(i + 1)
	}
	return frames
}

func TestPcapRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		frames := drawFrames(rt, math.MaxUint32*1e9)
		link := capture.LinkType(rapid.Uint16().Draw(rt, "link"))
		b := capture.AppendPcapHeader(nil, link, 0)
		for i := range frames {
			frames[i].Link = link
			b = capture.AppendPcapRecord(b, &frames[i])
		}
		diffFrames(t, readClean(t, b), frames)
	})
}

func TestPcapngRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		frames := drawFrames(rt, math.MaxInt64)
		links := rapid.SliceOfN(rapid.Uint16(), 1, 5).Draw(rt, "links")
		b := capture.AppendSectionHeader(nil, rapid.StringN(0, 20, 20).Draw(rt, "application"))
		for i, link := range links {
			name := rapid.StringN(0, 20, 20).Draw(rt, "name")
			b = capture.AppendInterface(b, capture.LinkType(link), uint32(i), name)
		}
		for i := range frames {
			f := &frames[i]
			f.Iface = uint32(rapid.IntRange(0, len(links)-1).Draw(rt, "iface"))
			f.Link = capture.LinkType(links[f.Iface])
			b = capture.AppendEnhancedPacket(b, f.Iface, f)
		}
		diffFrames(t, readClean(t, b), frames)
	})
}
