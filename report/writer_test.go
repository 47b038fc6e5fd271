package report

import (
	"errors"
	"testing"
)

// broken fails from its second call on, with another error each time.
type broken struct{ calls int }

func (w *broken) Write(b []byte) (int, error) {
	w.calls++
	if w.calls > 1 {
		return 0, errors.New("write " + string(rune('0'+w.calls)))
	}
	return len(b), nil
}

// The first error stays, and nothing is written behind it.
func TestWriterFirstError(t *testing.T) {
	under := &broken{}
	w := NewWriter(under)
	for range 100 {
		if n, err := w.Write(make([]byte, 10<<10)); n != 10<<10 || err != nil {
			t.Fatalf("Write returned %d, %v", n, err)
		}
	}
	if err := w.Flush(); err == nil || err.Error() != "write 2" {
		t.Errorf("%v, want the first error", err)
	}
	if err := w.Err(); err == nil || err.Error() != "write 2" {
		t.Errorf("%v, want the first error", err)
	}
	if under.calls != 2 {
		t.Errorf("%d calls, want none behind the error", under.calls)
	}
}
