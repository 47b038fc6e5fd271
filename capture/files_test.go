package capture_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/iwdump/iwdump/capture"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func writeFile(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Several files are one capture: numbers run on, and what cannot be read is
// said in its place.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	names := []string{
		writeFile(t, dir, "1.pcap", pcapFile(2)),
		filepath.Join(dir, "missing.pcap"),
		writeFile(t, dir, "2.pcapng", pcapngFile(2)),
		dir,
		writeFile(t, dir, "empty", nil),
		writeFile(t, dir, "cut.pcap", pcapFile(2)[:24+116+20]),
		"-",
		writeFile(t, dir, "3.pcap", pcapFile(1)),
	}
	stdin := bytes.NewReader(pcapFile(1))
	f := capture.Open(names, stdin, capture.Options{})
	defer f.Close()
	r := read(t, f)

	var numbers, ifaces []int
	for _, f := range r.frames {
		numbers = append(numbers, int(f.Number))
		ifaces = append(ifaces, int(f.Iface))
	}
	if want := []int{1, 2, 3, 4, 5, 6, 7}; !slices.Equal(numbers, want) {
		t.Errorf("frame numbers %v, want %v", numbers, want)
	}
	if want := []int{0, 0, 1, 1, 2, 3, 4}; !slices.Equal(ifaces, want) {
		t.Errorf("interfaces %v, want %v", ifaces, want)
	}
	want := []string{
		names[1] + ": opening it: " + syscall.ENOENT.Error(),
		names[3] + ": opening it: " + syscall.EISDIR.Error(),
		names[4] + ": the file is empty, without even a header",
		names[5] + ": frame 6 at offset 140: the file ends inside a record, 20 octets into it",
	}
	var got []string
	for _, e := range r.errs {
		got = append(got, e.Error())
	}
	if !slices.Equal(got, want) {
		t.Errorf("errors\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := []int{2, 4, 4, 5}; !slices.Equal(r.after, want) {
		t.Errorf("errors after %v frames, want %v", r.after, want)
	}
	if len(r.errs) > 0 && !errors.Is(r.errs[0], fs.ErrNotExist) {
		t.Errorf("%v is not ErrNotExist", r.errs[0])
	}
	if got := f.Names(); got[0] != names[0] || got[6] != "standard input" {
		t.Errorf("names %q", got)
	}
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	names := []string{
		writeFile(t, dir, "1.pcap", pcapFile(100)),
		writeFile(t, dir, "2.pcap.gz", gzipped(t, pcapFile(100))),
		writeFile(t, dir, "3", []byte("this is no capture")),
	}
	var size int64
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	f := capture.Open(names, nil, capture.Options{})
	defer f.Close()
	if done, total := f.Progress(); done != 0 || total != size {
		t.Errorf("at the start %d of %d, want 0 of %d", done, total, size)
	}
	var last int64
	for {
		b, err := f.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			b.Release()
		}
		done, _ := f.Progress()
		if done < last || done > size {
			t.Errorf("%d octets after %d of %d", done, last, size)
		}
		last = done
	}
	if done, _ := f.Progress(); done != size {
		t.Errorf("at the end %d of %d", done, size)
	}

	f = capture.Open([]string{"-"}, bytes.NewReader(nil), capture.Options{})
	defer f.Close()
	if _, total := f.Progress(); total != -1 {
		t.Errorf("total of a pipe is %d", total)
	}
}

// What came through a pipe is handed out though the pipe stays open.
func TestPipe(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		cut  int // in the middle of frame 3
	}{
		{"pcap", pcapFile(3), 24 + 2*116 + 50},
		{"pcapng", pcapngFile(3), 60 + 2*132 + 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			f := capture.Open([]string{"-"}, r, capture.Options{})
			defer f.Close()
			got := make(chan []capture.Frame)
			go func() {
				defer close(got)
				for {
					b, err := f.Next()
					if err != nil {
						if err != io.EOF {
							t.Error(err)
						}
						return
					}
					got <- b.Frames // kept, so never released
				}
			}()
			receive := func() []capture.Frame {
				select {
				case frames := <-got:
					return frames
				case <-time.After(10 * time.Second):
					t.Fatal("Next waits for more")
					return nil
				}
			}
			w.Write(c.data[:c.cut])
			var frames []capture.Frame
			for len(frames) < 2 {
				frames = append(frames, receive()...)
			}
			diffFrames(t, frames, testFrames(1, 2))
			w.Write(c.data[c.cut:])
			diffFrames(t, receive(), testFrames(3, 3))
			w.Close()
			if more := receive(); more != nil {
				t.Errorf("more frames: %v", more)
			}
		})
	}
}

// However the octets come: one by one, in halves, with the end or an error in
// the same read.
func TestReaders(t *testing.T) {
	for _, c := range []struct {
		name string
		wrap func(io.Reader) io.Reader
	}{
		{"one octet", iotest.OneByteReader},
		{"half", iotest.HalfReader},
		{"end with data", iotest.DataErrReader},
		{"both", func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) }},
	} {
		for _, data := range [][]byte{pcapFile(50), pcapngFile(50), gzipped(t, pcapFile(50))} {
			f := capture.Open([]string{"-"}, c.wrap(bytes.NewReader(data)), capture.Options{})
			r := read(t, f)
			f.Close()
			if len(r.errs) > 0 {
				t.Errorf("%s: %v", c.name, r.errs)
			}
			diffFrames(t, r.frames, testFrames(1, 50))
		}
	}
}

// An error of the input comes behind the frames before it.
func TestReadError(t *testing.T) {
	broken := errors.New("the disk is on fire")
	data := pcapFile(2)
	for _, n := range []int{0, 3, 20, 24, 140, 150, len(data)} {
		in := io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(broken))
		f := capture.Open([]string{"-"}, in, capture.Options{})
		r := read(t, f)
		f.Close()
		diffFrames(t, r.frames, testFrames(1, max(n-24, 0)/116))
		if len(r.errs) != 1 || !errors.Is(r.errs[0], broken) || r.errs[0].Cut {
			t.Errorf("after %d octets: errors %v", n, r.errs)
		}
	}
}

// A frame larger than a block, and one larger than is allowed.
func TestLargeFrames(t *testing.T) {
	big := capture.Frame{Data: bytes.Repeat([]byte{7}, 200_000), Len: 200_000, Time: 1e9}
	small := capture.Frame{Data: []byte{1}, Len: 1, Time: 2e9}
	ng := capture.AppendSectionHeader(nil, "")
	ng = capture.AppendInterface(ng, capture.LinkEthernet, 0, "")
	old := capture.AppendPcapHeader(nil, capture.LinkEthernet, 0)
	for _, f := range []*capture.Frame{&small, &big, &small, &big, &small} {
		ng = capture.AppendEnhancedPacket(ng, 0, f)
		old = capture.AppendPcapRecord(old, f)
	}
	for _, data := range [][]byte{old, ng} {
		r := readBytes(t, data, capture.Options{BlockSize: 4096})
		if len(r.errs) > 0 || len(r.frames) != 5 || !bytes.Equal(r.frames[3].Data, big.Data) {
			t.Errorf("%d frames, errors %v", len(r.frames), r.errs)
		}
		r = readBytes(t, data, capture.Options{BlockSize: 4096, MaxFrame: 100_000})
		if len(r.errs) == 0 || len(r.frames) < 2 || r.frames[0].Len != 1 || r.frames[len(r.frames)-1].Len != 1 {
			t.Errorf("limited: %d frames, errors %v", len(r.frames), r.errs)
		}
	}
}

// A length that is only claimed is not allocated.
func TestClaimedLength(t *testing.T) {
	old := pcapHeader(orders[0].order, 0xa1b2c3d4, 1<<31-1, 1)
	old.u32(1, 0, 15<<20, 15<<20).bytes(1, 2, 3)
	ng := &builder{order: orders[0].order}
	ng.section(1, 0).iface(1, 0, nil).u32(6, 15<<20, 0, 0, 0, 14<<20, 14<<20).bytes(1, 2, 3)
	for _, data := range [][]byte{old.b, ng.b} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := readBytes(t, data, capture.Options{})
		runtime.ReadMemStats(&after)
		if len(r.errs) != 1 || !r.errs[0].Cut {
			t.Errorf("errors %v", r.errs)
		}
		allocated := after.TotalAlloc - before.TotalAlloc
		if allocated > 2<<20 {
			t.Errorf("%d octets allocated", allocated)
		}
	}
}

// A countingReader counts calls.
type countingReader struct {
	io.Reader
	calls int
}

func (r *countingReader) Read(p []byte) (int, error) {
	r.calls++
	return r.Reader.Read(p)
}

// However large records claim to be, what is kept is not moved for the sake of
// a few octets more: reads stay large, and so their number small.
func TestReadsStayLarge(t *testing.T) {
	const size, block = 8 << 20, 64 << 10
	for _, claim := range []uint32{block / 2, block - 100, block, block + 1, 3 * block, 1 << 20} {
		// Packets that claim too much, each followed by a small block that is
		// as it should be.
		one := &builder{order: binary.LittleEndian}
		one.u32(6, claim&^3, 0, 0, 0, 8, 8, 0).block(5, nil)
		w := &builder{order: binary.LittleEndian}
		w.section(1, 0).iface(1, 0, nil).bytes(bytes.Repeat(one.b, size/len(one.b))...)
		in := &countingReader{Reader: bytes.NewReader(w.b)}
		f := capture.Open([]string{"-"}, in, capture.Options{BlockSize: block})
		r := read(t, f)
		f.Close()
		if len(r.errs) < 100 {
			t.Errorf("claims of %d: %d errors", claim, len(r.errs))
		}
		if limit := 10 * size / block; in.calls > limit {
			t.Errorf("claims of %d: %d reads, want at most %d", claim, in.calls, limit)
		}
	}
}

// Many blocks may be held at once, and are released in any order.
func TestBlocksHeld(t *testing.T) {
	for _, data := range [][]byte{pcapFile(500), pcapngFile(500)} {
		f := capture.Open([]string{"-"}, iotest.HalfReader(bytes.NewReader(data)), capture.Options{BlockSize: 700})
		var blocks []*capture.Block
		var frames []capture.Frame
		for {
			b, err := f.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			frames = append(frames, b.Frames...)
			blocks = append(blocks, b)
			if len(blocks)%7 == 0 { // let some memory be used again
				old := blocks[0]
				blocks = blocks[1:]
				for i := range old.Frames {
					n := int(old.Frames[i].Number)
					frames[n-1].Data = slices.Clone(frames[n-1].Data)
				}
				old.Release()
				old.Release() // once too often does no harm
			}
		}
		f.Close()
		diffFrames(t, frames, testFrames(1, 500))
		for _, b := range slices.Backward(blocks) {
			b.Release()
		}
	}
}

// Blocks are released by other goroutines while the source reads on.
func TestReleaseElsewhere(t *testing.T) {
	f := capture.Open([]string{"-"}, bytes.NewReader(pcapFile(5000)), capture.Options{BlockSize: 1000})
	defer f.Close()
	blocks := make(chan *capture.Block, 10)
	done := make(chan int)
	for range 2 {
		go func() {
			n := 0
			for b := range blocks {
				for i := range b.Frames {
					if f := &b.Frames[i]; f.Data[99] != byte(f.Number) {
						t.Errorf("frame %d holds %d", f.Number, f.Data[99])
					}
					n++
				}
				b.Release()
			}
			done <- n
		}()
	}
	for {
		b, err := f.Next()
		if err != nil {
			break
		}
		blocks <- b
	}
	close(blocks)
	if n := <-done + <-done; n != 5000 {
		t.Errorf("%d frames", n)
	}
}

// The steady state allocates nothing.
func TestNextAllocs(t *testing.T) {
	for _, data := range [][]byte{pcapFile(100_000), pcapngFile(100_000)} {
		f := capture.Open([]string{"-"}, bytes.NewReader(data), capture.Options{BlockSize: 32 << 10})
		next := func() {
			b, err := f.Next()
			if err != nil {
				t.Fatal(err)
			}
			b.Release()
		}
		for range 10 {
			next()
		}
		if n := testing.AllocsPerRun(100, next); n != 0 {
			t.Errorf("%v allocations per block", n)
		}
		f.Close()
	}
}

func TestClose(t *testing.T) {
	name := writeFile(t, t.TempDir(), "f.pcap", pcapFile(100))
	f := capture.Open([]string{name, name}, nil, capture.Options{BlockSize: 500})
	b, err := f.Next()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	diffFrames(t, b.Frames[:1], testFrames(1, 1))
	b.Release()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
