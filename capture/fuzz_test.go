package capture_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/iwdump/iwdump/capture"
)

// checkRead reads data and holds the result against what must be so of any
// input, whatever the size of the blocks.
func checkRead(t *testing.T, data []byte) {
	o := capture.Options{MaxFrame: 1 << 20}
	r := readBytes(t, data, o)
	number, octets := uint64(0), 0
	for _, f := range r.frames {
		if f.Number <= number {
			t.Fatalf("frame %d comes after frame %d", f.Number, number)
		}
		number = f.Number
		if len(f.Data) > f.Len || len(f.Data) > o.MaxFrame {
			t.Fatalf("frame %d has %d octets of %d", f.Number, len(f.Data), f.Len)
		}
		octets += len(f.Data)
	}
	if octets > len(data) {
		t.Fatalf("%d octets of frames in a file of %d", octets, len(data))
	}
	for _, e := range r.errs {
		if e.Offset < 0 || e.Offset > int64(len(data)) {
			t.Fatalf("%v: outside of the file", e)
		}
	}
	o.BlockSize = 64
	small := readBytes(t, data, o)
	diffFrames(t, small.frames, r.frames)
	if len(small.errs) != len(r.errs) || !slices.Equal(small.after, r.after) {
		t.Fatalf("errors %v after %v frames; in small blocks %v after %v", r.errs, r.after, small.errs, small.after)
	}
	for i, e := range r.errs {
		if *e != *small.errs[i] {
			t.Fatalf("%v; in small blocks %v", e, small.errs[i])
		}
	}
}

func FuzzPcap(f *testing.F) {
	f.Add(pcapFile(3))
	f.Add(append(pcapFile(2), pcapFile(1)...))
	damaged := pcapFile(5)
	clear(damaged[24+116 : 24+126])
	f.Add(damaged)
	for _, o := range orders {
		for _, magic := range []uint32{0xa1b2c3d4, 0xa1b2cd34} {
			w := pcapHeader(o.order, magic, 65535, 1)
			f.Add(w.u32(1, 2, 3, 4).bytes(make([]byte, 20)...).b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 4 && [4]byte(data) == [4]byte{0x0a, 0x0d, 0x0d, 0x0a} {
			return
		}
		checkRead(t, data)
	})
}

func FuzzPcapng(f *testing.F) {
	f.Add(pcapngFile(3))
	f.Add(pcapngFile(5)[:500])
	for _, o := range orders {
		w := &builder{order: o.order}
		w.section(1, 0).iface(1, 4, func(w *builder) { w.option(9, 0x83).option(14, 0, 0, 0, 0, 0, 0, 0, 1) })
		w.packet(0, 1, 5, 1, 2, 3)
		w.block(3, func(w *builder) { w.u32(1500).bytes(1, 2, 3, 4) })
		w.block(2, func(w *builder) { w.u16(0, 3).u32(0, 3000, 1, 70).bytes(7, 0, 0, 0) })
		w.block(0xbad, func(w *builder) { w.u32(1) })
		w.section(1, 2).packet(0, 0, 0)
		f.Add(w.b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkRead(t, slices.Concat([]byte{0x0a, 0x0d, 0x0d, 0x0a}, data[min(4, len(data)):]))
	})
}

// Compressed data that lies: no panic, and no more memory than a window.
func FuzzCompressed(f *testing.F) {
	for _, p := range packers {
		f.Add(p.pack(f, pcapFile(50)))
	}
	f.Add(binary.LittleEndian.AppendUint32([]byte{0x50, 0x2a, 0x4d, 0x18}, 1<<31))
	f.Fuzz(func(t *testing.T, data []byte) {
		src := capture.Open([]string{"-"}, bytes.NewReader(data), capture.Options{})
		defer src.Close()
		for range 100 {
			b, err := src.Next()
			if err == nil {
				b.Release()
			}
		}
	})
}
