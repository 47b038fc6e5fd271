package reassembly

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/iwdump/iwdump/packet"
)

func TestHoles(t *testing.T) {
	runScripts(t, []scriptTest{
		{name: "acknowledged: given up 16 segments later, with the stamp of the ACK", script: slices.Concat(handshake(
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1007},
		), idleAcks(15), []pkt{
			{from: B, flags: ack, seq: 5001, ack: 1007, data: "x"},
		}), want: `
			B 0 "x" #21
			A 0 gap 3 lost #5
			A 3 "def" #4
			B ack 6 #5
			end open`},
		{name: "acknowledged: given up 10 ms later", script: handshake(
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1007},
			pkt{from: A, flags: ack, seq: 1007, ack: 5001, data: "ghi", ms: 10},
		), want: `
			A 0 gap 3 lost #5
			A 3 "def" #4
			A 6 "ghi" #6
			B ack 6 #5
			end open`},
		{name: "acknowledged: not given up before 10 ms", script: handshake(
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def", id: 2},
			pkt{from: B, flags: ack, seq: 5001, ack: 1007},
			pkt{from: A, flags: ack, seq: 1007, ack: 5001, data: "ghi", id: 3, ms: 9},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", id: 1},
		), want: `
			A 0 "abc" #7
			A out of order 1001+3 #7
			A 3 "def" #4
			A 6 "ghi" #6
			B ack 6 #5
			end open`},
		{name: "captured in parts later than its acknowledgement", script: handshake(
			pkt{from: B, flags: ack, seq: 5001, ack: 1007},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "defg"},
		), want: `
			A 0 "abc" #5
			B ack 3 #4
			A 3 "defg" #6
			B ack 6 #4
			end open`},
		{name: "captured later than its acknowledgement", script: handshake(
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1004},
			pkt{from: B, flags: ack, seq: 5001, ack: 1007},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
		), want: `
			A 0 "abc" #7
			A out of order 1001+3 #7
			A 3 "def" #4
			B ack 3 #5
			B ack 6 #6
			end open`},
		{name: "at the tail, it waits for what follows", script: slices.Concat(handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1007},
		), idleAcks(20), []pkt{
			{from: A, flags: ack, seq: 1007, ack: 5001, data: "ghi"},
		}), want: `
			A 0 "abc" #4
			B ack 3 #5
			A 3 gap 3 lost #5
			A 6 "ghi" #26
			B ack 6 #5
			end open`},
		{name: "at the tail, told at the end", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1010},
		), want: `
			A 0 "abc" #4
			B ack 3 #5
			A 3 gap 6 lost #5
			B ack 9 #5
			end open`},
		{name: "all octets of a side are missing", script: handshake(
			pkt{from: B, flags: ack, seq: 5001, ack: 1031},
		), want: `
			A 0 gap 30 lost #4
			B ack 30 #4
			end open`},
		{name: "in front of the FIN, not acknowledged", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: A, flags: ack | fin, seq: 1010, ack: 5001},
		), want: `
			A 0 "abc" #4
			A FIN 1010+0 #5
			A 3 gap 6 never #5
			end open by A`},
		{name: "a FIN that was not captured is no missing octet", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1005},
		), want: `
			A 0 "abc" #4
			B ack 3 #5
			end open`},
		{name: "not acknowledged: given up after 10 s without progress", script: handshake(
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
			pkt{from: A, flags: ack, seq: 1010, ack: 5001, data: "jkl"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1001},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", ms: 9000},
			pkt{from: B, flags: ack, seq: 5001, ack: 1007, ms: 9000},
			pkt{from: B, flags: ack, seq: 5001, ack: 1007, ms: 1100},
		), want: `
			A 0 "abc" #7 again
			A again 1001+3 #7 unseen
			A 3 "def" #4
			B ack 6 #8
			A 6 gap 3 never #9
			A 9 "jkl" #5
			end open`},
		{name: "not acknowledged: given up by Tick", script: handshake(
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1001},
			pkt{tick: true, ms: 9999},
			pkt{tick: true, ms: 2},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abcdef"},
		), want: `
			A 0 gap 3 never #7
			A 3 "def" #4
			A late 1001+3 #8
			A again 1001+3 #8
			end open`},
		{name: "one direction: given up after three segments and 1 s", script: []pkt{
			{from: A, flags: syn, seq: 1000},
			{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			{from: A, flags: ack, seq: 1007, ack: 5001, data: "ghi"},
			{from: A, flags: ack, seq: 1010, ack: 5001, data: "jkl", ms: 1500},
			{from: A, flags: ack, seq: 1013, ack: 5001, data: "mno"},
		}, want: `
			A 0 "abc" #2
			A 3 gap 3 never #5
			A 6 "ghi" #3
			A 9 "jkl" #4
			A 12 "mno" #5
			end open`},
		{name: "given up at the limit of a direction", config: Config{MaxHeld: 3 * (64 + pieceOverhead)}, script: handshake(
			pkt{from: B, flags: ack, seq: 5001, ack: 1001},
			pkt{from: A, flags: ack, seq: 1003, ack: 5001, data: "c"},
			pkt{from: A, flags: ack, seq: 1005, ack: 5001, data: "e"},
			pkt{from: A, flags: ack, seq: 1007, ack: 5001, data: "g"},
			pkt{from: A, flags: ack, seq: 1009, ack: 5001, data: "i"},
		), want: `
			A 0 gap 2 never #8
			A 2 "c" #5
			A 3 gap 1 never #8
			A 4 "e" #6
			A 5 gap 1 never #8
			A 6 "g" #7
			A 7 gap 1 never #8
			A 8 "i" #8
			end open`},
		{name: "absurd acknowledgements", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1004 + 1<<30 + 1},
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1007},
		), want: `
			A 0 "abc" #4
			A 3 "def" #6
			B ack 6 #7
			end open`},
	})
}

func TestSnaplen(t *testing.T) {
	runScripts(t, []scriptTest{
		{name: "in order", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", len: 100},
			pkt{from: A, flags: ack, seq: 1101, ack: 5001, data: "def"},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", len: 100},
			pkt{from: A, flags: ack, seq: 1104, ack: 5001, len: 10},
		), want: `
			A 0 "abc" #4
			A 3 gap 97 cut #4
			A 100 "def" #5
			A again 1001+100 #6
			A 103 gap 10 cut #7
			end open`},
		{name: "out of order", script: handshake(
			pkt{from: A, flags: ack, seq: 1101, ack: 5001, data: "def", len: 50},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", len: 100},
		), want: `
			A 0 "abc" #5
			A 3 gap 97 cut #5
			A out of order 1001+100 #5
			A 100 "def" #4
			A 103 gap 47 cut #4
			end open`},
		{name: "the tail overlaps what was sent and what is held", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: A, flags: ack, seq: 1010, ack: 5001, data: "jkl"},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "ab", len: 20},
		), want: `
			A 0 "abc" #4
			A 3 gap 6 cut #6
			A 9 "jkl" #5 again
			A 12 gap 8 cut #6
			A again 1001+6 #6
			end open`},
	})
}

func TestStartUnseen(t *testing.T) {
	sixteen := make([]pkt, 15)
	for i := range sixteen {
		sixteen[i] = pkt{from: A, flags: ack, seq: uint32(10 + i), ack: 1, data: string(rune('a' + i))}
	}
	runScripts(t, []scriptTest{
		{name: "all before is acknowledged", script: []pkt{ // the host A is side B here
			{from: B, flags: ack, seq: 1, ack: 10},
			{from: A, flags: ack, seq: 10, ack: 1, data: "abc"},
		}, want: `
			B 0 "abc" #2
			end open`},
		{name: "the first segment was overtaken", script: []pkt{
			{from: A, flags: ack, seq: 13, ack: 1, data: "def", id: 3},
			{from: A, flags: ack, seq: 10, ack: 1, data: "abc", id: 2},
			{from: B, flags: ack, seq: 1, ack: 16},
			{from: A, flags: ack, seq: 16, ack: 1, data: "ghi", id: 4, ms: 20},
		}, want: `
			A out of order 10+3 #2
			A 0 "abc" #2
			A 3 "def" #1
			A 6 "ghi" #4
			B ack 6 #3
			end open`},
		{name: "16 segments", script: append([]pkt{{from: A, flags: ack, seq: 9, ack: 1, data: "_"}}, append(sixteen[:14:14],
			pkt{from: A, flags: ack, seq: 24, ack: 1, data: "o"})...), want: `
			A 0 "_" #1
			A 1 "a" #2
			A 2 "b" #3
			A 3 "c" #4
			A 4 "d" #5
			A 5 "e" #6
			A 6 "f" #7
			A 7 "g" #8
			A 8 "h" #9
			A 9 "i" #10
			A 10 "j" #11
			A 11 "k" #12
			A 12 "l" #13
			A 13 "m" #14
			A 14 "n" #15
			A 15 "o" #16
			end open`},
		{name: "octets from before the start", script: []pkt{
			{from: B, flags: ack, seq: 1, ack: 10},
			{from: A, flags: ack, seq: 10, ack: 1, data: "abc"},
			{from: A, flags: ack, seq: 7, ack: 1, data: "XYZabcd"},
		}, want: `
			B 0 "abc" #2
			B 3 "d" #3
			B again 7+3 #3
			end open`},
		{name: "the SYN is captured behind the first octets", script: []pkt{
			{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			{from: A, flags: syn, seq: 1000},
			{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
		}, want: `
			A 0 "abc" #1
			A 3 "def" #3
			end open`},
	})
	// The SYN of the other side tells where this one begins. It was seen first,
	// so the sides are exchanged.
	got := play(t, Config{}, nil, []pkt{
		{from: B, flags: syn | ack, seq: 5000, ack: 1001},
		{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
		{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
	})
	if want := []string{`B 0 "abc" #3`, "B out of order 1001+3 #3", `B 3 "def" #2`, "end open"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDamaged(t *testing.T) {
	picky := func(side Side, c *Chunk) int {
		if c.Damaged() {
			return 2
		}
		return len(c.Data)
	}
	all := func(bad bool, p ...pkt) []pkt {
		for i := range p {
			p[i].bad = p[i].bad || bad
		}
		return p
	}
	runScripts(t, []scriptTest{
		{name: "in order: the rest is awaited", refuse: picky, script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abXY", bad: true},
			pkt{from: A, flags: ack, seq: 1005, ack: 5001, data: "ef"},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abcd"},
		), want: `
			A 0 "ab" #4
			A dropped 1003+2 #4
			A 2 "cd" #6 again
			A again 1001+2 #6
			A 4 "ef" #5
			end open`},
		{name: "out of order: not held", script: handshake(
			pkt{from: A, flags: ack, seq: 1003, ack: 5001, data: "XY", bad: true},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "ab"},
			pkt{from: A, flags: ack, seq: 1003, ack: 5001, data: "cd"},
		), want: `
			A dropped 1003+2 #4
			A 0 "ab" #5
			A 2 "cd" #6 again
			A again 1003+2 #6
			end open`},
		{name: "it never comes again, and is acknowledged", refuse: picky, script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abXY", bad: true},
			pkt{from: A, flags: ack, seq: 1005, ack: 5001, data: "ef"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1007},
			pkt{from: A, flags: ack, seq: 1007, ack: 5001, data: "gh", ms: 11},
		), want: `
			A 0 "ab" #4
			A dropped 1003+2 #4
			B ack 2 #6
			A 2 gap 2 lost #6
			A 4 "ef" #5
			A 6 "gh" #7
			B ack 6 #6
			end open`},
		{name: "checksums are not filled in: nothing is damaged", refuse: picky, script: all(true, handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abcd"},
			pkt{from: A, flags: ack, seq: 1007, ack: 5001, data: "gh"},
			pkt{from: A, flags: ack, seq: 1005, ack: 5001, data: "ef"},
		)...), want: `
			A 0 "abcd" #4
			A 4 "ef" #6
			A out of order 1005+2 #6
			A 6 "gh" #5
			end open`},
		{name: "the first segment, of a connection whose start was not seen", script: []pkt{
			{from: A, flags: ack, seq: 1004, ack: 5001},
			{from: A, flags: ack, seq: 1001, ack: 5001, data: "XYZ", bad: true},
			{from: A, flags: syn, seq: 1000},
			{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
		}, want: `
			A dropped 1001+3 #2
			A 0 "abc" #4 again
			A again 1001+3 #4
			end open`},
		{name: "partly sent again, partly refused", refuse: picky, script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abcdeXY", bad: true},
			pkt{from: A, flags: ack, seq: 1006, ack: 5001, data: "fg"},
		), want: `
			A 0 "abc" #4
			A 3 "de" #5
			A dropped 1006+2 #5
			A 5 "fg" #6 again
			A again 1006+2 #6
			end open`},
		{name: "an RST and a FIN with wrong checksums", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abcd"},
			pkt{from: A, flags: rst, seq: 1005, bad: true},
			pkt{from: A, flags: ack, seq: 1005, ack: 5001, data: "ef"},
		), want: `
			A 0 "abcd" #4
			A 4 "ef" #6
			end open`},
	})
}

// TestMergedSegments: a receiving host that puts segments together leaves their
// checksums wrong. They are larger than what was sent.
func TestMergedSegments(t *testing.T) {
	var u sums
	for range 4 {
		if u.note(packet.SumOK, 1448, 1460) {
			t.Fatal("a right checksum is damage")
		}
	}
	if u.note(packet.SumBad, 2896, 1460) {
		t.Error("a merged segment is taken for damaged")
	}
	u = sums{}
	u.note(packet.SumOK, 0, 1460)
	if !u.note(packet.SumBad, 1460, 1460) {
		t.Error("a damaged segment behind a good SYN is not told")
	}
	if u.note(packet.SumBad, 1460, 1460) {
		t.Error("most checksums are wrong, and mean nothing")
	}
}

// That one segment in eight is damaged shows with the few that are verified.
func TestOftenDamaged(t *testing.T) {
	script, want := handshake(), ""
	off := 0
	add := func(data string, bad bool) int {
		script = append(script, pkt{from: A, flags: ack, seq: uint32(1001 + off), ack: 5001, data: data, bad: bad})
		return len(script)
	}
	for range 12 {
		for range 6 {
			want += fmt.Sprintf("A %d \"good\" #%d\n", off, add("good", false))
			off += 4
		}
		n := add("baXY", true)
		want += fmt.Sprintf("A %d \"ba\" #%d\nA dropped %d+2 #%d\n", off, n, 1003+off, n)
		n = add("bad!", false)
		want += fmt.Sprintf("A %d \"d!\" #%d again\nA again %d+2 #%d\n", off+2, n, 1001+off, n)
		off += 4
	}
	runScripts(t, []scriptTest{{name: "one in eight", script: script, want: want + "end open",
		refuse: func(_ Side, c *Chunk) int {
			if bytes.Contains(c.Data, []byte("XY")) && c.Damaged() {
				return 2
			}
			return len(c.Data)
		}}})
}
