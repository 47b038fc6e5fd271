package report

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
)

func jsonLine(t testing.TB, write func(*JSON)) string {
	t.Helper()
	var out strings.Builder
	j := NewJSON(&out)
	write(j)
	check(t, j.Flush())
	return out.String()
}

// The lines of the contract, written by hand.
func TestJSONMessages(t *testing.T) {
	const head = `{"record":"message","qp":1,"n":3,"time":"2026-12-01T06:25:19.004512345Z","end_time":"2026-12-01T06:25:19.004512345Z",` +
		`"frame":12,"end_frame":12,"from":"initiator","src":"10.0.0.1:40000","dst":"10.0.0.2:4420",`
	for _, c := range []struct{ name, octets, want string }{
		{"send", sendPad1, `"op":"send","size":3,"fpdus":1,"complete":true,"crc":"ok","queue":0,"msn":2}`},
		{"read request", readRequestV, `"op":"rdma_read_request","size":28,"fpdus":1,"complete":true,"crc":"ok","queue":1,"msn":1,` +
			`"sink_stag":"0x00000501","sink_to":"0x00007f0000001000","src_stag":"0x00000a02","src_to":"0x0000000000010000","read_size":4096}`},
		{"immediate", immediateV, `"op":"immediate","size":8,"fpdus":1,"complete":true,"crc":"ok","queue":0,"msn":11,"immediate":"0011223344556677"}`},
		{"atomic", atomicReqV, `"op":"atomic_request","size":52,"fpdus":1,"complete":true,"crc":"ok","queue":1,"msn":3,` +
			`"atomic":{"op":"cmp_swap","request_id":"0x00000012","stag":"0x00000a02","to":"0x0000000000020008","data":"0x0000000000001111",` +
			`"mask":"0xffffffffffffffff","compare":"0x0000000000002222","compare_mask":"0xffffffffffffffff"}}`},
		// The header that it quotes is that of Read Request 7, on queue 1.
		{"terminate", terminateV, `"op":"terminate","size":52,"fpdus":1,"complete":true,"crc":"ok","queue":2,"msn":1,` +
			`"terminate":{"layer":0,"etype":1,"code":2,"layer_name":"RDMAP","etype_name":"Remote Protection Error","code_name":"Access rights violation",` +
			`"ddp_segment_length":46,"header":{"op":"rdma_read_request","queue":1,"msn":7,"mo":0,` +
			`"sink_stag":"0x00000501","sink_to":"0x0000000000001000","src_stag":"0xbad00002","src_to":"0x0000000000002000","read_size":8192}}}`},
	} {
		got := jsonLine(t, func(j *JSON) { j.Message(message(t, c.octets)) })
		if want := head + c.want + "\n"; got != want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
		}
	}
	got := jsonLine(t, func(j *JSON) { j.Message(startupMessage(t, mpaReqV2)) })
	want := `{"record":"message","qp":1,"n":1,"time":"2026-12-01T06:25:19.002221000Z","end_time":"2026-12-01T06:25:19.002221000Z",` +
		`"frame":4,"end_frame":4,"from":"initiator","src":"10.0.0.1:40000","dst":"10.0.0.2:4420","op":"mpa_request","size":32,"complete":true,` +
		`"mpa":{"revision":2,"markers":false,"crc":true,"reject":false,"enhanced":true,"peer_to_peer":true,"rtr":["write","read"],"ird":32,"ord":32,` +
		`"private_data":"0000010080007f00000000000000000000000000000000000000000000000000"}}` + "\n"
	if got != want {
		t.Errorf("startup:\n got %s\nwant %s", got, want)
	}
}

// What was not captured is absent, not zero.
func TestJSONAbsent(t *testing.T) {
	m := message(t, readRequestV)
	m.Read, m.Complete, m.CRC = nil, false, mpa.CRCUnchecked
	line := jsonLine(t, func(j *JSON) { j.Message(m) })
	for _, field := range []string{"read_size", "sink_stag", "src_stag", "answers_n", "latency_ns", "null"} {
		if strings.Contains(line, field) {
			t.Errorf("%s in %s", field, line)
		}
	}
	if !strings.Contains(line, `"complete":false,"crc":"unchecked"`) {
		t.Error(line)
	}
	line = jsonLine(t, func(j *JSON) {
		j.Operation(&qp.Operation{Conn: conn, Kind: qp.KindRead, First: -1, RequestSpread: -1, Service: -1, ResponseSpread: -1, Request: 3, Status: qp.StatusUnanswered})
	})
	for _, field := range []string{"first_ns", "service_ns", "spread_ns", "response_n", "depth", "announced_by"} {
		if strings.Contains(line, field) {
			t.Errorf("%s in %s", field, line)
		}
	}
	if line := jsonLine(t, func(j *JSON) { j.Summary(&decode.Stats{}) }); strings.Contains(line, "_time") {
		t.Errorf("a capture without frames has no times: %s", line)
	}
}

func TestJSONString(t *testing.T) {
	for text, want := range map[string]string{
		"":             `""`,
		"plain µs →":   `"plain µs →"`,
		`a"b\c`:        `"a\"b\\c"`,
		"\x1b[31m":     `"\u001b[31m"`,
		"a\nb\tc\x00d": `"a\u000ab\u0009c\u0000d"`,
		"\x7f":         `"\u007f"`,
		"a\xffb":       `"a` + "\uFFFD" + `b"`,
		"\xc3":         `"` + "\uFFFD" + `"`,
	} {
		if got := string(appendString(nil, text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// FuzzString holds strings from the wire against encoding/json, and against
// what a terminal may get.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b]0;x\a", "\xff\xfe", "é\u202e\u2028", "\"\\\x00\x7f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := appendString(nil, s)
		var back string
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if want := string([]rune(s)); back != want {
			t.Fatalf("%q came back as %q", s, back)
		}
		for _, r := range string(line) {
			if r < 0x20 || r == 0x7F {
				t.Fatalf("control character in %q", line)
			}
		}
		for _, r := range string(appendSafe(nil, s)) {
			if r < 0x20 || r >= 0x7F && r < 0xA0 || r == '\u202e' || r == '\u2028' {
				t.Fatalf("%q for a terminal: %q", s, appendSafe(nil, s))
			}
		}
		for _, c := range appendASCII(nil, s) {
			if c < 0x20 || c >= 0x7F {
				t.Fatalf("%q for an ASCII terminal: %q", s, appendASCII(nil, s))
			}
		}
	})
}

func TestClock(t *testing.T) {
	var c clock // one for all, so that what it keeps is tried
	for _, ns := range []int64{0, 1, 999999999, 1_000000000, first, first + 1, first + 999999999, first + 1_000000000, first,
		-1, -999999999, -1_000000000, -1_000000001, 1<<63 - 1, -1 << 63} {
		want := time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000000000Z")
		if got := string(c.append(nil, ns)); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}

// No record of the hot path costs an allocation.
func TestJSONAllocs(t *testing.T) {
	j := NewJSON(io.Discard)
	records := map[string]func(){}
	for name, octets := range map[string]string{"send": sendPad1, "read request": readRequestV, "immediate": immediateV, "atomic": atomicReqV} {
		m := message(t, octets)
		records[name] = func() { j.Message(m) }
	}
	m := startupMessage(t, mpaReqV2)
	records["startup"] = func() { j.Message(m) }
	x := fpdu(t, sendPad1, message(t, sendPad1))
	records["fpdu"] = func() { j.FPDU(x) }
	o := &qp.Operation{Conn: conn, Kind: qp.KindRead, First: 1, Answer: 4, Depth: 1}
	records["operation"] = func() { j.Operation(o) }
	e := &qp.Event{Kind: "tcp_gap", Conn: conn, HasSide: true, Detail: "5 octets are missing", At: mpa.Stamp{Frame: 1},
		Fields: []qp.Field{{Name: "length", Num: 5}, {Name: "cause", Text: "lost"}}}
	records["event"] = func() { j.Event(e) }
	for name, write := range records {
		if n := testing.AllocsPerRun(100, write); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkJSONMessage(b *testing.B) {
	for name, octets := range map[string]string{"send": sendPad1, "read_request": readRequestV} {
		b.Run(name, func(b *testing.B) {
			j := NewJSON(io.Discard)
			m := message(b, octets)
			b.ReportAllocs()
			for b.Loop() {
				m.First.Time += 1000
				m.Last.Time = m.First.Time
				j.Message(m)
			}
		})
	}
}

func BenchmarkTextMessage(b *testing.B) {
	for name, octets := range map[string]string{"send": sendPad1, "read_request": readRequestV} {
		b.Run(name, func(b *testing.B) {
			x := NewText(io.Discard, TextOptions{})
			m := message(b, octets)
			b.ReportAllocs()
			for b.Loop() {
				m.First.Time += 1000
				m.Last.Time = m.First.Time
				x.Message(m)
			}
		})
	}
}
