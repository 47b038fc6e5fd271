package ddp

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is kept of payloads can change, and differ by the kind of message.
func TestKeep(t *testing.T) {
	l := &log{}
	a := NewAssembler(l, Config{Keep: 2, Start: true})
	script(a, "s 0 1 0 abcd, S 0 1 4 efgh, w 7 0 abcd, W 7 4 efgh")
	a.Keep(6, 3)
	script(a, "s 0 2 0 abcd, S 0 2 4 efgh, w 7 0 abcd, W 7 4 efgh")
	want := []string{
		`q0 msn 1: 8 octets in 2, done true, complete true, ok, "ab"`,
		`stag 7 to 0: 8 octets in 2, done true, complete true, ok, "ab"`,
		`q0 msn 2: 8 octets in 2, done true, complete true, ok, "abcdef"`,
		`stag 7 to 0: 8 octets in 2, done true, complete true, ok, "abc"`,
	}
	if d := cmp.Diff(want, l.lines); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
