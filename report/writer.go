package report

import (
	"bufio"
	"io"
	"maps"
	"slices"
)

// A Writer buffers what is written, and remembers the first error: what comes
// after it is thrown away.
type Writer struct {
	w   *bufio.Writer
	err error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: bufio.NewWriterSize(w, 64<<10)} }

// Write writes b. It does not fail; see Err.
func (w *Writer) Write(b []byte) (int, error) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
	}
	return len(b), nil
}

// Err returns the first error of writing.
func (w *Writer) Err() error { return w.err }

// Flush writes what is buffered, and returns the first error of writing.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
