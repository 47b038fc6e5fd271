package top

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/internal/monitor"
	"github.com/iwdump/iwdump/qp"
)

// busy returns a monitor with so many QPs; QP n moves 1000 n octets in n reads.
func busy(qps int) (*monitor.Monitor, []*qp.Conn) {
	m := monitor.New(Keep)
	var conns []*qp.Conn
	for n := 1; n <= qps; n++ {
		conns = append(conns, &qp.Conn{Number: n, Text: [2]string{fmt.Sprintf("192.0.2.1:%d", n), "192.0.2.2:4420"}})
	}
	work(m, conns)
	return m, conns
}

func work(m *monitor.Monitor, conns []*qp.Conn) {
	for _, c := range conns {
		m.Message(&qp.Message{Conn: c, N: 1, Op: rdmap.OpReadResponse, Side: 1, From: qp.Responder, Size: uint64(1000 * c.Number), Answers: 7, Latency: 1_500_000})
		for range c.Number {
			m.Operation(&qp.Operation{Conn: c, Kind: qp.KindRead, Latency: 1_500_000, Depth: 3})
		}
	}
}

func press(m *Model, keys ...string) {
	for _, k := range keys {
		switch k {
		case "enter":
			m.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
		case "esc":
			m.Update(tea.KeyPressMsg{Code: tea.KeyEscape})
		case "end":
			m.Update(tea.KeyPressMsg{Code: tea.KeyEnd})
		case "pgup":
			m.Update(tea.KeyPressMsg{Code: tea.KeyPgUp})
		case "down":
			m.Update(tea.KeyPressMsg{Code: tea.KeyDown})
		default:
			m.Update(tea.KeyPressMsg{Code: rune(k[0]), Text: k})
		}
	}
}

// fits sees that what is drawn fits the screen, and returns it.
func fits(t *testing.T, m *Model) string {
	t.Helper()
	v := m.draw()
	lines := strings.Split(v, "\n")
	if len(lines) > max(m.height, above+below+1) {
		t.Errorf("%d lines on %d", len(lines), m.height)
	}
	for _, l := range lines {
		if n := utf8.RuneCountInString(l); n > m.width {
			t.Errorf("%d columns on %d: %q", n, m.width, l)
		}
	}
	if strings.Contains(v, "\x1b") {
		t.Errorf("escape sequences without colour: %q", v)
	}
	return v
}

var start = time.Unix(1_700_000_000, 0)

// A thousand QPs: the busiest stand first, and all can be reached.
func TestTable(t *testing.T) {
	m := New(Options{Monitor: first(busy(1000)), Title: "eth0", Counts: func() (uint64, uint64) { return 5000, 12 }}, start)
	m.Update(tea.WindowSizeMsg{Width: 140, Height: 30})
	m.Update(tick(start.Add(2 * time.Second)))
	v := fits(t, m)
	// 1000 + 999 + … reads, and as many thousand octets, in 2 s.
	for _, want := range []string{"eth0", "2s", "5000 frames, 12 dropped", "QPs 1000 open of 1000", "250 MB/s", "250250 ops/s", "1 of 1000, by throughput"} {
		if !strings.Contains(v, want) {
			t.Errorf("no %q in\n%s", want, v)
		}
	}
	if !regexp.MustCompile(`(?m)^>   1000     500 kB      500   1\.50ms   1\.50ms   1\.50ms   1\.50ms     3     0     0    0  192\.0\.2\.1:1000 192\.0\.2\.2:4420$`).MatchString(v) {
		t.Errorf("the busiest is not first:\n%s", v)
	}
	press(m, "end")
	if v = fits(t, m); !strings.Contains(v, "\n>      1 ") || !strings.Contains(v, "1000 of 1000") {
		t.Errorf("the last cannot be reached:\n%s", v)
	}
	press(m, "pgup", "g", "down")
	if v = fits(t, m); !strings.Contains(v, "\n>    999 ") {
		t.Errorf("the second cannot be reached:\n%s", v)
	}
	for _, o := range []string{"ops/s", "read p99", "retransmissions", "holes", "number", "throughput"} {
		press(m, "s")
		if v = fits(t, m); !strings.Contains(v, ", by "+o+" ") {
			t.Errorf("not sorted by %s:\n%s", o, v)
		}
	}
}

func first[T, U any](a T, _ U) T { return a }

// Rates are those of the last window, distributions also since the start.
func TestWindow(t *testing.T) {
	w, conns := busy(1)
	m := New(Options{Monitor: w, ASCII: true}, start)
	m.Update(tea.WindowSizeMsg{Width: 140, Height: 30})
	m.Update(tick(start.Add(time.Second)))
	m.Update(tick(start.Add(2 * time.Second)))
	if v := fits(t, m); !strings.Contains(v, "reads: now p50 - p99 -  since start p50 1.50ms p99 1.50ms") || !strings.Contains(v, ">      1        0 B        0        -        -   1.50ms") {
		t.Errorf("%s", v)
	}
	press(m, "p")
	work(w, conns)
	m.Update(tick(start.Add(3 * time.Second)))
	if v := fits(t, m); !strings.Contains(v, "PAUSED") || !strings.Contains(v, "QPs 1 open of 1  0 B/s") {
		t.Errorf("%s", v)
	}
	press(m, "p")
	work(w, conns)
	m.Update(tick(start.Add(4 * time.Second)))
	if v := fits(t, m); strings.Contains(v, "PAUSED") || !strings.Contains(v, "QPs 1 open of 1  1.00 kB/s") {
		t.Errorf("%s", v)
	}
}

// A QP shows its latest messages, and goes on doing so when it has ended.
func TestMessages(t *testing.T) {
	w, conns := busy(3)
	m := New(Options{Monitor: w}, start)
	m.Update(tick(start.Add(time.Second)))
	press(m, "down", "enter")
	v := fits(t, m)
	if !strings.Contains(v, " QP 2  192.0.2.1:2  192.0.2.2:4420") || !regexp.MustCompile(`#1 +R>I  rdma_read_response +2000  1\.50ms to #7`).MatchString(v) {
		t.Errorf("%s", v)
	}
	for i := range 2 * Keep {
		w.Message(&qp.Message{Conn: conns[1], N: i + 2, Op: rdmap.OpSend, Size: 5})
	}
	m.Update(tick(start.Add(2 * time.Second)))
	if v = fits(t, m); !strings.Contains(v, fmt.Sprintf("#%d ", 2*Keep+1)) || strings.Contains(v, "#1 ") {
		t.Errorf("%s", v)
	}
	w.QP(&qp.Summary{Conn: conns[1]})
	m.Update(tick(start.Add(3 * time.Second)))
	if v = fits(t, m); !strings.Contains(v, "has ended") || !strings.Contains(v, fmt.Sprintf("#%d ", 2*Keep+1)) {
		t.Errorf("%s", v)
	}
	press(m, "esc")
	if v = fits(t, m); !strings.Contains(v, "of 2, by throughput") {
		t.Errorf("%s", v)
	}
}

// Any size will do, with QPs and without.
func TestSizes(t *testing.T) {
	for _, n := range []int{0, 1, 100} {
		m := New(Options{Monitor: first(busy(n))}, start)
		for _, size := range [][2]int{{80, 24}, {1, 1}, {40, 7}, {300, 100}, {0, 0}, {20, 3}} {
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			m.Update(tick(start))
			press(m, "down", "end", "enter")
			fits(t, m)
			press(m, "esc", "g")
			fits(t, m)
		}
	}
}

func TestQuit(t *testing.T) {
	m := New(Options{Monitor: first(busy(1))}, start)
	for _, k := range []tea.KeyPressMsg{{Code: 'c', Mod: tea.ModCtrl}, {Code: 'q', Text: "q"}} {
		if _, cmd := m.Update(k); cmd == nil || cmd() != tea.Quit() {
			t.Errorf("%v does not quit", k)
		}
	}
}
