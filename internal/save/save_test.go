package save

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/iwdump/iwdump/capture"
)

func frame(n uint64, at time.Duration) capture.Frame {
	return capture.Frame{Data: []byte(fmt.Sprintf("%014d\x00\x00", n)), Len: 60, Time: int64(at), Number: n, Link: capture.LinkEthernet}
}

func write(t *testing.T, o Options, frames ...capture.Frame) {
	t.Helper()
	o.Link, o.Interfaces = capture.LinkEthernet, []string{"eth0"}
	w, err := Create(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		b := capture.NewBlock(nil)
		b.Frames = []capture.Frame{f}
		if err := w.Block(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Frames != uint64(len(frames)) {
		t.Errorf("%d frames written of %d", w.Frames, len(frames))
	}
}

// read returns the frames of a file by the number in them.
func read(t *testing.T, name string) (numbers []string) {
	t.Helper()
	src := capture.Open([]string{name}, nil, capture.Options{})
	defer src.Close()
	for {
		b, err := src.Next()
		if err == io.EOF {
			return numbers
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range b.Frames {
			if f.Len != 60 {
				t.Errorf("length %d", f.Len)
			}
			numbers = append(numbers, string(f.Data[12:14]))
		}
		b.Release()
	}
}

func dirNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestRotateTime(t *testing.T) {
	dir := t.TempDir()
	// 2023-11-14T22:13:20Z
	begin := 1_700_000_000 * time.Second
	write(t, Options{Name: filepath.Join(dir, "x.pcapng"), RotateTime: time.Minute},
		frame(1, begin), frame(2, begin+59*time.Second), frame(3, begin+60*time.Second), frame(4, begin+300*time.Second))
	want := []string{"x_00001_20231114T221320Z.pcapng", "x_00002_20231114T221420Z.pcapng", "x_00003_20231114T221820Z.pcapng"}
	if got := dirNames(t, dir); !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	for i, frames := range [][]string{{"01", "02"}, {"03"}, {"04"}} {
		if got := read(t, filepath.Join(dir, want[i])); !slices.Equal(got, frames) {
			t.Errorf("%s: %q, want %q", want[i], got, frames)
		}
	}
}

// No file is larger than asked for, unless one frame alone is; and only the
// newest are kept.
func TestRotateSize(t *testing.T) {
	for _, files := range []int{0, 3} {
		dir := t.TempDir()
		var frames []capture.Frame
		for n := range uint64(50) {
			frames = append(frames, frame(n, time.Second))
		}
		write(t, Options{Name: filepath.Join(dir, "x"), RotateSize: 400, Files: files}, frames...)
		names := dirNames(t, dir)
		if files > 0 && len(names) != files || files == 0 && len(names) < 5 {
			t.Fatalf("%q", names)
		}
		var got []string
		for _, name := range names {
			info, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if info.Size() > 400 {
				t.Errorf("%s has %d octets", name, info.Size())
			}
			got = append(got, read(t, filepath.Join(dir, name))...)
		}
		for i := range got {
			if want := fmt.Sprintf("%02d", 50-len(got)+i); got[i] != want {
				t.Fatalf("%q", got)
			}
		}
		if files == 0 && len(got) != 50 {
			t.Errorf("%d frames", len(got))
		}
	}
}

func TestCreateErrors(t *testing.T) {
	for _, o := range []Options{{Name: "/nonexistent/x"}, {Name: "/nonexistent/x", RotateSize: 1 << 20}} {
		if _, err := Create(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// What is held is bounded, in all and by connection, and found connections are
// written from then on.
func TestHold(t *testing.T) {
	var written []uint64
	h := newHold(func(f *capture.Frame) { written = append(written, f.Number) })
	w := &Writer{hold: h}
	number := uint64(0)
	send := func(port uint16, flags byte, size int) {
		number++
		h.settle()
		h.frame(&capture.Frame{Data: tcp(port, flags, size), Len: 54 + size, Number: number, Link: capture.LinkEthernet})
		h.settle()
		if h.cost > maxHeld || len(h.conns) > maxConns || h.undecided.Len()+h.decided.Len() != len(h.conns) {
			t.Fatalf("%d octets of %d connections", h.cost, len(h.conns))
		}
	}
	found := func(port uint16) {
		w.Found(netip.AddrPortFrom(netip.MustParseAddr("192.0.2.2"), 4420), netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), port))
	}
	const syn, ack = 2, 16
	send(1, syn, 0)
	send(2, syn, 0)
	send(1, ack, 10)
	found(1)
	send(2, ack, 10)
	send(1, ack, 20)
	if want := []uint64{1, 3, 5}; !slices.Equal(written, want) {
		t.Errorf("%v, want %v", written, want)
	}
	// Another connection between the same ends is to be found again.
	written = nil
	send(1, syn, 0)
	if len(written) > 0 {
		t.Errorf("%v", written)
	}
	// More than is held for one, and for all.
	for port := uint16(100); port < 125; port++ {
		for range 400 {
			send(port, ack, 9000)
		}
	}
	for range 600 {
		send(150, ack, 9000)
	}
	if h.decided.Len() < 8 {
		t.Errorf("%d connections are given up", h.decided.Len())
	}
	if len(written) > 0 {
		t.Errorf("%v", written)
	}
	found(150)
	send(150, ack, 1)
	if want := []uint64{number}; !slices.Equal(written, want) {
		t.Errorf("%v, want %v", written, want)
	}
	for port := range uint16(65535) {
		send(port, ack, 0)
	}
}

// tcp is a segment from 192.0.2.1 to port 4420 of 192.0.2.2.
func tcp(port uint16, flags byte, size int) []byte {
	b := []byte("\x02\x00\x00\x00\x00\x0b\x02\x00\x00\x00\x00\x0a\x08\x00" +
		"\x45\x00\x00\x00\x00\x00\x40\x00\x40\x06\x00\x00\xc0\x00\x02\x01\xc0\x00\x02\x02" +
		"\x00\x00\x11\x44\x00\x00\x00\x00\x00\x00\x00\x00\x50\x00\xff\xff\x00\x00\x00\x00")
	total := 40 + size
	b[16], b[17] = byte(total>>8), byte(total)
	b[34], b[35] = byte(port>>8), byte(port)
	b[47] = flags
	return append(b, make([]byte, size)...)
}
