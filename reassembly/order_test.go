package reassembly

import (
	"strings"
	"testing"
)

func TestOrder(t *testing.T) {
	runScripts(t, []scriptTest{
		{name: "in order, acknowledged, closed", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "hello"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1006, data: "world!"},
			pkt{from: A, flags: ack | fin, seq: 1006, ack: 5007},
			pkt{from: B, flags: ack | fin, seq: 5007, ack: 1007},
			pkt{from: A, flags: ack, seq: 1007, ack: 5008},
		), want: `
			A 0 "hello" #4
			B ack 5 #5
			B 0 "world!" #5
			A ack 6 #6
			A FIN 1006+0 #6
			B FIN 5007+0 #7
			end closed by A`},
		{name: "the last octets are acknowledged behind both FINs", script: handshake(
			pkt{from: A, flags: ack | fin, seq: 1001, ack: 5001, data: "bye"},
			pkt{from: B, flags: ack | fin, seq: 5001, ack: 1005, data: "and you"},
			pkt{from: A, flags: ack, seq: 1005, ack: 5009},
		), want: `
			A 0 "bye" #4
			A FIN 1004+0 #4
			B ack 3 #5
			B 0 "and you" #5
			B FIN 5008+0 #5
			A ack 7 #6
			end closed by A`},
		{name: "octets in the SYN", script: []pkt{
			{from: A, flags: syn, seq: 1000, data: "fast"},
			{from: B, flags: syn | ack, seq: 5000, ack: 1005},
			{from: A, flags: ack, seq: 1005, ack: 5001, data: "er"},
		}, want: `
			A 0 "fast" #1
			B ack 4 #2
			A 4 "er" #3
			end open`},
		{name: "out of order, overtaken by identification", script: handshake(
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def", id: 12},
			pkt{from: A, flags: ack, seq: 1007, ack: 5001, data: "ghi", id: 13},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", id: 11, ms: 50},
			pkt{from: B, flags: ack, seq: 5001, ack: 1010},
		), want: `
			A 0 "abc" #6
			A out of order 1001+3 #6
			A 3 "def" #4
			A 6 "ghi" #5
			B ack 9 #7
			end open`},
		{name: "lost in front of the capture, sent again by identification", script: handshake(
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def", id: 12},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", id: 13},
		), want: `
			A 0 "abc" #5 again
			A again 1001+3 #5 unseen
			A 3 "def" #4
			end open`},
		{name: "sent again by the time, where there is no identification", script: handshake(
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", ms: 200},
		), want: `
			A 0 "abc" #5 again
			A again 1001+3 #5 unseen
			A 3 "def" #4
			end open`},
		{name: "sent again since three acknowledgements ask for it", script: handshake(
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1001},
			pkt{from: B, flags: ack, seq: 5001, ack: 1001},
			pkt{from: B, flags: ack, seq: 5001, ack: 1001},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
		), want: `
			A 0 "abc" #8 again
			A again 1001+3 #8 unseen
			A 3 "def" #4
			end open`},
		{name: "sent again, with more", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abcde"},
			pkt{from: A, flags: ack, seq: 1002, ack: 5001, data: "bcde"},
		), want: `
			A 0 "abc" #4
			A 3 "de" #5
			A again 1001+3 #5
			A again 1002+4 #6
			end open`},
		{name: "held octets sent again count once", script: handshake(
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "defg"},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abcdefgh"},
		), want: `
			A again 1004+3 #5
			A 0 "abc" #6
			A 3 "def" #4 again
			A 6 "g" #5 again
			A 7 "h" #6
			A again 1001+4 #6
			end open`},
		{name: "keep-alives and window probes", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1004, win0: true},
			pkt{from: A, flags: ack, seq: 1003, ack: 5001},
			pkt{from: A, flags: ack, seq: 1003, ack: 5001, data: "\x00"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1004, ms: 5},
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "d"},
		), want: `
			A 0 "abc" #4
			B window 0 5001+0 #5
			B ack 3 #5
			B window open 5001+0 #8
			A 3 "d" #9
			end open`},
		{name: "a keep-alive before any octet", script: handshake(
			pkt{from: A, flags: ack, seq: 1000, ack: 5001, data: "\x00"},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "a"},
		), want: `
			A 0 "a" #5
			end open`},
		{name: "the sequence numbers wrap", script: []pkt{
			{from: A, flags: syn, seq: 0xfffffffd},
			{from: A, flags: ack, seq: 0xfffffffe, data: "abcd", ack: 1},
			{from: A, flags: ack, seq: 6, data: "ij", ack: 1},
			{from: A, flags: ack, seq: 2, data: "efgh", ack: 1},
			{from: B, flags: ack, seq: 1, ack: 8},
			{from: A, flags: ack, seq: 0xfffffffe, data: "abcd", ack: 1},
		}, want: `
			A 0 "abcd" #2
			A 4 "efgh" #4
			A out of order 2+4 #4
			A 8 "ij" #3
			B ack 10 #5
			A again 4294967294+4 #6
			end open`},
	})
}

func TestConflicts(t *testing.T) {
	runScripts(t, []scriptTest{
		{name: "against what is held", script: handshake(
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "defghi"},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abcdeXYhi"},
		), want: `
			A 0 "abc" #5
			A 3 "defghi" #4 again
			A conflict 1006+2 #5
			A again 1001+6 #5
			end open`},
		{name: "against what was handed on", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", block: true},
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
			pkt{from: A, flags: ack, seq: 1002, ack: 5001, data: "bXdeYfgh"},
		), want: `
			A 0 "abc" #4
			A 3 "def" #5
			A 6 "fgh" #6
			A conflict 1003+4 #6
			A again 1002+5 #6
			end open`},
		{name: "not against memory that is gone", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", block: true},
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def", block: true},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "Xbc", block: true},
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "Xef"},
		), want: `
			A 0 "abc" #4
			A 3 "def" #5
			A again 1001+3 #6
			A conflict 1004+1 #7
			A again 1004+3 #7
			end open`},
		{name: "not with a damaged second copy, none of which counts", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", block: true},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "Xbcde", bad: true},
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
		), want: `
			A 0 "abc" #4
			A dropped 1001+5 #5
			A 3 "def" #6 again
			A again 1004+3 #6
			end open`},
		{name: "a packet captured twice", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", id: 7, block: true},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", id: 7},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", id: 7, ms: 300},
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc", id: 8},
			pkt{from: A, flags: ack, seq: 1007, ack: 5001, data: "ghi", id: 9},
			pkt{from: A, flags: ack, seq: 1007, ack: 5001, data: "ghi", id: 9},
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def", id: 8},
		), want: `
			A 0 "abc" #4
			A duplicate 1001+3 #5
			A again 1001+3 #6
			A again 1001+3 #7
			A duplicate 1007+3 #9
			A 3 "def" #10
			A out of order 1004+3 #10
			A 6 "ghi" #8
			end open`},
	})
}

// TestRecentIsBounded: a bounded number of segments in the last two blocks is
// remembered, and memory that was given back is not pinned.
func TestRecentIsBounded(t *testing.T) {
	var log []string
	a := New(Config{}, func(c *Conn) Stream { return &tape{t: t, conn: c, log: &log} })
	send := func(i int, q pkt) {
		s := q.segment()
		a.Segment(&s, Stamp{uint64(i), int64(i)})
	}
	a.Expire()
	for i, q := range handshake() {
		send(i, q)
	}
	for i := range 3 * maxRecent / 2 {
		send(i, pkt{from: A, flags: ack, seq: uint32(1001 + i), ack: 5001, data: "x"})
	}
	conflicts := func(seq uint32) int {
		log = nil
		send(0, pkt{from: A, flags: ack, seq: seq, ack: 5001, data: "yy"})
		n := 0
		for _, l := range log {
			if strings.Contains(l, "conflict") {
				n++
			}
		}
		return n
	}
	last := uint32(1000 + 3*maxRecent/2)
	if conflicts(last-5) != 1 {
		t.Error("no conflict with octets just handed on")
	}
	if len(a.recent.ring) != maxRecent {
		t.Errorf("%d segments are remembered", len(a.recent.ring))
	}
	if conflicts(1001) != 0 {
		t.Error("a conflict with octets long forgotten")
	}
	a.Expire()
	if conflicts(last-5) != 1 {
		t.Error("no conflict with octets of the block before")
	}
	a.Expire()
	if conflicts(last-5) != 0 {
		t.Error("a conflict with memory that was given back")
	}
	for i := range a.recent.ring {
		if a.recent.ring[i].data != nil {
			t.Fatalf("entry %d pins memory that was given back", i)
		}
	}
}
