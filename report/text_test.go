package report

import (
	"strings"
	"testing"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/qp"
)

func listing(t testing.TB, o TextOptions, write func(*Text)) string {
	t.Helper()
	var out strings.Builder
	x := NewText(&out, o)
	x.Start(first)
	write(x)
	check(t, x.Flush())
	return out.String()
}

func TestTextMessages(t *testing.T) {
	for _, c := range []struct{ name, octets, want string }{
		{"send", sendPad1, "Send                              3  MSN 2"},
		{"read request", readRequestV, "RDMA Read Request                28  sink 0x00000501+0x7f0000001000  source 0x00000a02+0x10000  reads 4096"},
		{"immediate", immediateV, "Immediate Data                    8  data 0011223344556677"},
		{"atomic", atomicReqV, "Atomic Request                   52  cmp_swap 0x00000a02+0x20008  id 0x00000012  data 0x1111"},
		{"terminate", terminateV, "Terminate                        52  RDMAP, Remote Protection Error, Access rights violation"},
	} {
		got := listing(t, TextOptions{}, func(x *Text) { x.Message(message(t, c.octets)) })
		if want := "    12  0.004512345  QP 1   I>R  " + c.want + "\n"; got != want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, want)
		}
	}
	got := listing(t, TextOptions{}, func(x *Text) { x.Message(startupMessage(t, mpaReqV2)) })
	want := "     4  0.002221000  QP 1   I>R  MPA Request                      32  rev 2  CRC  IRD 32  ORD 32  peer-to-peer, RTR Write Read\n"
	if got != want {
		t.Errorf("startup:\n got %q\nwant %q", got, want)
	}
}

// What a message is beside its fields.
func TestTextMarks(t *testing.T) {
	for _, c := range []struct {
		name  string
		ascii bool
		set   func(*qp.Message)
		want  string
	}{
		{"answer", false, func(m *qp.Message) { m.Answers, m.Latency = 2, 83_400 }, "  83.4µs → #2\n"},
		{"answer, ASCII", true, func(m *qp.Message) { m.Answers, m.Latency = 2, 83_400 }, "  83.4us -> #2\n"},
		{"FPDUs", false, func(m *qp.Message) { m.FPDUs = 3 }, "  3 FPDUs\n"},
		{"bad CRC", false, func(m *qp.Message) { m.CRC = mpa.CRCBad }, "  [CRC BAD]\n"},
		{"incomplete", false, func(m *qp.Message) { m.Complete = false }, "  [incomplete in the capture]\n"},
		{"again", false, func(m *qp.Message) { m.Retrans = true }, "  [retransmitted]\n"},
		{"RTR", false, func(m *qp.Message) { m.RTR = true }, "  [ready to receive]\n"},
	} {
		m := message(t, sendPad1)
		c.set(m)
		if got := listing(t, TextOptions{ASCII: c.ascii}, func(x *Text) { x.Message(m) }); !strings.HasSuffix(got, "MSN 2"+c.want) {
			t.Errorf("%s: %q, want %q at its end", c.name, got, c.want)
		}
	}
}

// An event stands in the columns of its frame, and what it tells cannot reach
// the terminal as an escape sequence.
func TestTextEvents(t *testing.T) {
	at := mpa.Stamp{Frame: 12, Time: first + 4_512345}
	event := func(e qp.Event) string {
		e.Conn, e.At = conn, at
		return listing(t, TextOptions{}, func(x *Text) { x.Event(&e) })
	}
	const head = "    12  0.004512345  QP 1   "
	for _, c := range []struct {
		e    qp.Event
		want string
	}{
		{qp.Event{Severity: qp.Error, Kind: "crc_mismatch", HasSide: true, From: qp.Responder, Detail: "wrong"}, "R>I  !! crc mismatch: wrong\n"},
		{qp.Event{Severity: qp.Warning, Kind: "tcp_gap", HasSide: true, From: qp.RoleB, Detail: "5 octets"}, "B>A  !  ~~~~ tcp gap: 5 octets\n"},
		{qp.Event{Severity: qp.Info, Kind: "resync", Detail: "found"}, "     -- resync: found\n"},
		{qp.Event{Severity: qp.Info, Kind: "resync", Detail: "a\x1b[31m\r\nb\xff\u202e"}, `     -- resync: a\x1b[31m\r\nb\xff\u202e` + "\n"},
	} {
		if got := event(c.e); got != head+c.want {
			t.Errorf("got %q, want %q", got, head+c.want)
		}
	}
	e := qp.Event{Kind: "unanswered", Detail: "for 12µs → é", At: at, Conn: conn}
	if got := listing(t, TextOptions{ASCII: true}, func(x *Text) { x.Event(&e) }); !strings.HasSuffix(got, `for 12us \u2192 \u00e9`+"\n") {
		t.Errorf("ASCII: %q", got)
	}
}

// Columns grow and do not shrink, so that lines stay aligned.
func TestTextColumns(t *testing.T) {
	got := listing(t, TextOptions{}, func(x *Text) {
		for _, n := range []int{7, 12345, 7} {
			m := message(t, sendPad1)
			m.Conn = &qp.Conn{Number: n}
			x.Message(m)
		}
	})
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if a, b := strings.Index(lines[1], "I>R"), strings.Index(lines[2], "I>R"); a != b {
		t.Errorf("columns %d and %d in\n%s", a, b, got)
	}
}

func TestTextDump(t *testing.T) {
	m := message(t, sendPad1)
	m.Payload = append(octetsOf(t, "00010203"), "Hello, iWARP\x7f!"...)
	m.Size = uint64(len(m.Payload)) + 5
	want := "        0000  00 01 02 03 48 65 6c 6c  6f 2c 20 69 57 41 52 50  ....Hello, iWARP\n" +
		"        0010  7f 21" + strings.Repeat(" ", 45) + ".!\n"
	for dots, ascii := range map[string]bool{"…": false, "...": true} {
		got := listing(t, TextOptions{Dump: true, ASCII: ascii}, func(x *Text) { x.Message(m) })
		if _, dump, _ := strings.Cut(got, "\n"); dump != want+"        "+dots+" 5 more octets are not kept\n" {
			t.Errorf("got\n%s\nwant\n%s", dump, want)
		}
	}
}

func TestTextColor(t *testing.T) {
	plain := listing(t, TextOptions{}, func(x *Text) { x.Message(message(t, terminateV)) })
	coloured := listing(t, TextOptions{Color: true}, func(x *Text) { x.Message(message(t, terminateV)) })
	if strings.Contains(plain, "\x1b") || !strings.Contains(coloured, colorRed+"Terminate") || strings.Count(coloured, "\x1b[3") > strings.Count(coloured, colorReset) {
		t.Errorf("%q and %q", plain, coloured)
	}
}

// FPDUs have lines where lines are wanted.
func TestTextFPDU(t *testing.T) {
	f := fpdu(t, sendPad3, message(t, sendPad3))
	f.Found, f.Markers = mpa.FoundMarker, 1
	want := "    12  0.004512345  QP 1   I>R    FPDU seq 4026464814  length 19  Send  queue 0  MSN 4  MO 0  last  markers 1  CRC ok  found by marker\n"
	if got := listing(t, TextOptions{FPDUs: true}, func(x *Text) { x.FPDU(f) }); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := listing(t, TextOptions{Tree: true}, func(x *Text) { x.FPDU(f) }); got != "" {
		t.Errorf("not wanted: %q", got)
	}
}
