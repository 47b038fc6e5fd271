package ddp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/dissect/mpa"
)

// log writes what an Assembler hands out, a line each.
type log struct{ lines []string }

func (l *log) Message(m *Message) {
	at := fmt.Sprintf("q%d msn %d", m.Header.QN, m.Header.MSN)
	if m.Header.Tagged {
		at = fmt.Sprintf("stag %x to %x", m.Header.STag, m.Header.TO)
	}
	l.lines = append(l.lines, fmt.Sprintf("%s: %d octets in %d, done %v, complete %v, %v, %q", at, m.Size, m.Segments, m.Done, m.Complete, m.CRC, m.Payload))
}

func (l *log) Violation(v *Violation) {
	l.lines = append(l.lines, fmt.Sprintf("violation %d: want %d, got %d", v.Kind, v.Want, v.Got))
}

// script feeds an Assembler: "s Q MSN MO TEXT" is a segment of a Send, "w STAG
// TO TEXT" of a Write, "r" the same of a Read Response, a capital letter the
// last segment of its message, "!" octets that were lost.
func script(a *Assembler, text string) {
	off := uint64(0)
	for line := range strings.SplitSeq(text, ",") {
		var kind byte
		var x, y, z uint64
		line = strings.TrimSpace(line)
		if line == "!" {
			a.Lost()
			continue
		}
		body := ""
		kind = line[0]
		s := Segment{Header: Header{Version: 1}, Complete: true, CRC: mpa.CRCOK, Wire: 100, Off: off}
		off += 100
		switch lower := kind | 0x20; lower {
		case 's':
			fmt.Sscanf(line[1:], "%d %d %d %s", &x, &y, &z, &body)
			s.QN, s.MSN, s.MO, s.ULPControl = uint32(x), uint32(y), uint32(z), 0x43
		default:
			fmt.Sscanf(line[1:], "%x %x %s", &x, &y, &body)
			s.Tagged, s.STag, s.TO, s.ULPControl = true, uint32(x), y, 0x40
			if lower == 'r' {
				s.ULPControl = 0x42
			}
		}
		s.Last = kind < 'a'
		s.Payload, s.Len = []byte(body), len(body)
		a.Add(&s)
	}
	a.Flush()
}

func TestAssembler(t *testing.T) {
	for _, tt := range []struct {
		name  string
		start bool
		in    string
		want  []string
	}{
		{"single segments", true, "S 0 1 0 ab, S 0 2 0 c, W 7 100 xyz", []string{
			`q0 msn 1: 2 octets in 1, done true, complete true, ok, "ab"`,
			`q0 msn 2: 1 octets in 1, done true, complete true, ok, "c"`,
			`stag 7 to 100: 3 octets in 1, done true, complete true, ok, "xyz"`}},
		{"several segments", true, "s 0 1 0 ab, s 0 1 2 cd, S 0 1 4 e", []string{
			`q0 msn 1: 5 octets in 3, done true, complete true, ok, "abcd"`}}, // 4 are kept
		{"tagged run", true, "w 7 100 ab, w 7 102 cd, W 7 104 e, W 7 200 f", []string{
			`stag 7 to 100: 5 octets in 3, done true, complete true, ok, "abcd"`,
			`stag 7 to 200: 1 octets in 1, done true, complete true, ok, "f"`}},
		{"queues at once", true, "s 0 1 0 ab, S 1 1 0 x, r 9 0 r, S 0 1 2 c, S 2 1 0 t, R 9 1 s", []string{
			`q1 msn 1: 1 octets in 1, done true, complete true, ok, "x"`,
			`q0 msn 1: 3 octets in 2, done true, complete true, ok, "abc"`,
			`q2 msn 1: 1 octets in 1, done true, complete true, ok, "t"`,
			`stag 9 to 0: 2 octets in 2, done true, complete true, ok, "rs"`}},
		{"write and response at once", true, "w 7 0 a, r 8 0 b, W 7 1 c, R 8 1 d", []string{
			`stag 7 to 0: 2 octets in 2, done true, complete true, ok, "ac"`,
			`stag 8 to 0: 2 octets in 2, done true, complete true, ok, "bd"`}},
		{"MSN wraps", false, "S 0 4294967295 0 a, S 0 0 0 b, S 0 1 0 c", []string{
			`q0 msn 4294967295: 1 octets in 1, done true, complete true, ok, "a"`,
			`q0 msn 0: 1 octets in 1, done true, complete true, ok, "b"`,
			`q0 msn 1: 1 octets in 1, done true, complete true, ok, "c"`}},
		{"first MSN of a stream is 1", true, "S 0 2 0 a", []string{
			"violation 1: want 1, got 2",
			`q0 msn 2: 1 octets in 1, done true, complete true, ok, "a"`}},
		{"first MSN of a part is any", false, "S 0 9 0 a, S 0 11 0 b, S 0 11 0 c", []string{
			`q0 msn 9: 1 octets in 1, done true, complete true, ok, "a"`,
			"violation 1: want 10, got 11",
			`q0 msn 11: 1 octets in 1, done true, complete true, ok, "b"`,
			"violation 2: want 12, got 11",
			`q0 msn 11: 1 octets in 1, done true, complete true, ok, "c"`}},
		{"MO jumps", true, "s 0 1 0 ab, S 0 1 3 d", []string{
			"violation 3: want 2, got 3",
			`q0 msn 1: 4 octets in 2, done true, complete false, ok, "ab"`}},
		{"TO jumps", true, "w 7 100 ab, W 7 103 d", []string{
			"violation 4: want 258, got 259",
			`stag 7 to 100: 4 octets in 2, done true, complete false, ok, "ab"`}},
		{"unfinished", true, "s 0 1 0 ab, S 0 2 0 c", []string{
			"violation 6: want 1, got 2",
			`q0 msn 1: 2 octets in 1, done false, complete false, ok, "ab"`,
			`q0 msn 2: 1 octets in 1, done true, complete true, ok, "c"`}},
		{"TO wraps", true, "W 7 fffffffffffffffe abc", []string{
			"violation 5: want 0, got 18446744073709551614",
			`stag 7 to fffffffffffffffe: 3 octets in 1, done true, complete true, ok, "abc"`}},
		// What the capture lacks is no violation.
		{"hole in a message", true, "s 0 1 0 ab, !, S 0 1 4 e, S 0 2 0 f", []string{
			`q0 msn 1: 5 octets in 2, done true, complete false, ok, "ab"`,
			`q0 msn 2: 1 octets in 1, done true, complete true, ok, "f"`}},
		{"hole over messages", true, "S 0 1 0 a, !, S 0 7 0 b, S 0 8 0 c, S 1 5 0 d", []string{
			`q0 msn 1: 1 octets in 1, done true, complete true, ok, "a"`,
			`q0 msn 7: 1 octets in 1, done true, complete true, ok, "b"`,
			`q0 msn 8: 1 octets in 1, done true, complete true, ok, "c"`,
			`q1 msn 5: 1 octets in 1, done true, complete true, ok, "d"`}},
		{"hole over the end of one and the start of the next", true, "s 0 1 0 a, !, s 0 2 5 b, S 0 2 6 c", []string{
			`q0 msn 1: 1 octets in 1, done false, complete false, ok, "a"`,
			`q0 msn 2: 7 octets in 2, done true, complete false, ok, ""`}},
		{"hole in a tagged run", true, "w 7 100 ab, !, W 7 106 gh, W 7 200 z", []string{
			`stag 7 to 100: 8 octets in 2, done true, complete false, ok, "ab"`,
			`stag 7 to 200: 1 octets in 1, done true, complete true, ok, "z"`}},
		{"hole in front of a tagged segment", true, "!, W 7 106 gh", []string{
			`stag 7 to 106: 2 octets in 1, done true, complete false, ok, "gh"`}},
		{"hole over the end of a tagged run", true, "w 7 100 ab, !, w 8 0 x, W 8 1 y", []string{
			`stag 7 to 100: 2 octets in 1, done false, complete false, ok, "ab"`,
			`stag 8 to 0: 2 octets in 2, done true, complete false, ok, "xy"`}},
		{"end of the stream", true, "s 0 1 0 a, w 7 0 b", []string{
			`q0 msn 1: 1 octets in 1, done false, complete false, ok, "a"`,
			`stag 7 to 0: 1 octets in 1, done false, complete false, ok, "b"`}},
		{"no such queue", true, "S 9 5 0 a", []string{
			`q9 msn 5: 1 octets in 1, done true, complete true, ok, "a"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &log{}
			script(NewAssembler(l, Config{Keep: 4, Start: tt.start}), tt.in)
			if d := cmp.Diff(tt.want, l.lines); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// The worst verdict of its segments is that of a message.
func TestWorstCRC(t *testing.T) {
	l := &log{}
	a := NewAssembler(l, Config{Start: true})
	for i, c := range []mpa.CRC{mpa.CRCOK, mpa.CRCBad, mpa.CRCUnchecked} {
		a.Add(&Segment{Header: Header{Version: 1, Tagged: true, STag: 1, TO: uint64(i), Last: i == 2}, Len: 1, CRC: c, Complete: c != mpa.CRCUnchecked})
	}
	want := []string{`stag 1 to 0: 3 octets in 3, done true, complete false, bad, ""`}
	if d := cmp.Diff(want, l.lines); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// Thousands of messages that are never finished are given up, oldest first.
func TestManyOpen(t *testing.T) {
	l := &log{}
	a := NewAssembler(l, Config{Start: true})
	for i := range 10_000 {
		a.Lost() // so that none of them proves that another has ended
		a.Add(&Segment{Header: Header{Version: 1, Tagged: true, STag: uint32(i), ULPControl: byte(0x40 + i%16)}, Len: 1})
		if len(a.runs) > maxRuns {
			t.Fatalf("%d messages are open", len(a.runs))
		}
	}
	a.Flush()
	if len(l.lines) != 10_000 {
		t.Errorf("%d messages", len(l.lines))
	}
}

func TestNoAllocations(t *testing.T) {
	a := NewAssembler(nothing{}, Config{Keep: 52, Start: true})
	msn := uint32(1)
	got := testing.AllocsPerRun(100, func() {
		for range 2 {
			a.Add(&Segment{Header: Header{Version: 1, Tagged: true, STag: 7, TO: 0, ULPControl: 0x40}, Len: 100, Payload: make([]byte, 0)})
			a.Add(&Segment{Header: Header{Version: 1, Tagged: true, STag: 7, TO: 100, Last: true, ULPControl: 0x40}, Len: 100})
			a.Add(&Segment{Header: Header{Version: 1, MSN: msn, ULPControl: 0x43}, Len: 100})
			a.Add(&Segment{Header: Header{Version: 1, MSN: msn, MO: 100, Last: true, ULPControl: 0x43}, Len: 100})
			msn++
		}
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}

type nothing struct{}

func (nothing) Message(*Message)     {}
func (nothing) Violation(*Violation) {}

func FuzzAssembler(f *testing.F) {
	f.Add([]byte("\x41\x43\x00\x00\x00\x01\x00"))
	f.Add([]byte("\x81\x40\x01\x00\x00\x00\x00\xc1\x40\x01\x05\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := &counter{}
		a := NewAssembler(l, Config{Keep: 8, Start: len(b)%2 == 0})
		n := 0
		for ; len(b) >= 7; b = b[7:] {
			if b[0] == 0xFF {
				a.Lost()
			}
			h := Header{Tagged: b[0]&0x80 != 0, Last: b[0]&0x40 != 0, Version: b[0] & 3, ULPControl: b[1], STag: uint32(b[2]), TO: uint64(b[3]) << 56 >> (b[4] & 63),
				QN: uint32(b[2] & 7), MSN: uint32(b[3]), MO: uint32(b[4])}
			a.Add(&Segment{Header: h, Len: int(b[5]), Payload: b[:min(7, int(b[5]))], Complete: b[6] == 0})
			n++
		}
		a.Flush()
		if l.segments != n {
			t.Fatalf("%d segments in messages, %d given", l.segments, n)
		}
	})
}

type counter struct{ segments int }

func (c *counter) Message(m *Message)   { c.segments += m.Segments }
func (c *counter) Violation(*Violation) {}
