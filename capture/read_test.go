package capture_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/iwdump/iwdump/capture"
)

// A result is all that a Source had.
type result struct {
	frames []capture.Frame // with data of their own
	errs   []*capture.Error
	// after[i] is how many frames came before errs[i].
	after []int
}

// read takes everything from s.
func read(t testing.TB, s capture.Source) result {
	t.Helper()
	var r result
	for {
		b, err := s.Next()
		if err == io.EOF {
			return r
		}
		if err != nil {
			e, ok := errors.AsType[*capture.Error](err)
			if !ok {
				t.Fatalf("error is not an *Error: %v", err)
			}
			r.errs = append(r.errs, e)
			r.after = append(r.after, len(r.frames))
			continue
		}
		if len(b.Frames) == 0 {
			t.Fatal("a block without frames")
		}
		for _, f := range b.Frames {
			f.Data = slices.Clone(f.Data)
			r.frames = append(r.frames, f)
		}
		b.Release()
	}
}

// readBytes reads data as standard input.
func readBytes(t testing.TB, data []byte, o capture.Options) result {
	t.Helper()
	f := capture.Open([]string{"-"}, bytes.NewReader(data), o)
	defer f.Close()
	return read(t, f)
}

// readClean reads data, which must be without damage.
func readClean(t testing.TB, data []byte) []capture.Frame {
	t.Helper()
	r := readBytes(t, data, capture.Options{})
	for _, e := range r.errs {
		t.Error(e)
	}
	return r.frames
}

func same(a, b capture.Frame) bool {
	return bytes.Equal(a.Data, b.Data) && a.Len == b.Len && a.Time == b.Time &&
		a.Number == b.Number && a.Link == b.Link && a.Iface == b.Iface
}

func diffFrames(t testing.TB, got, want []capture.Frame) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d frames, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if !same(got[i], want[i]) {
			t.Errorf("frame %d is %+v, want %+v", i, got[i], want[i])
			return
		}
	}
}

// A builder appends numbers in one byte order.
type builder struct {
	order binary.AppendByteOrder
	b     []byte
}

func (w *builder) u16(v ...uint16) *builder {
	for _, v := range v {
		w.b = w.order.AppendUint16(w.b, v)
	}
	return w
}

func (w *builder) u32(v ...uint32) *builder {
	for _, v := range v {
		w.b = w.order.AppendUint32(w.b, v)
	}
	return w
}

func (w *builder) u64(v uint64) *builder {
	w.b = w.order.AppendUint64(w.b, v)
	return w
}

func (w *builder) bytes(v ...byte) *builder {
	w.b = append(w.b, v...)
	return w
}

var orders = []struct {
	name  string
	order binary.AppendByteOrder
}{{"little", binary.LittleEndian}, {"big", binary.BigEndian}}
