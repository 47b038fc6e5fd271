package top

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/iwdump/iwdump/internal/monitor"
	"github.com/iwdump/iwdump/latency"
	"github.com/iwdump/iwdump/qp"
)

// Lines above and below the table.
const (
	above = 5
	below = 1
)

// lines is how many QPs or messages there is room for.
func (m *Model) lines() int { return max(1, m.height-above-below) }

// Escape sequences (ECMA-48, section 8.3.117).
const (
	bold    = "\x1b[1m"
	reverse = "\x1b[7m"
	red     = "\x1b[31m"
	plain   = "\x1b[0m"
)

// line appends a line that fits the screen, in a style.
func (m *Model) line(b *strings.Builder, style, text string) {
	if utf8.RuneCountInString(text) > m.width {
		text = string([]rune(text)[:m.width])
	}
	if style != "" && m.o.Color {
		text = style + text + plain
	}
	b.WriteString(text)
	b.WriteByte('\n')
}

// View draws the screen.
func (m *Model) View() tea.View {
	v := tea.NewView(m.draw())
	v.AltScreen = true
	return v
}

func (m *Model) draw() string {
	var b strings.Builder
	s := &m.shown
	state := ""
	if m.paused {
		state = "  PAUSED"
	}
	m.line(&b, bold, fmt.Sprintf("iwdump live: %s  %s  %d frames, %d dropped%s", m.o.Title, m.last.Sub(m.start).Round(time.Second), s.received, s.dropped, state))
	t := &s.total
	style := ""
	if t.Errors+t.CRCBad+s.dropped > 0 {
		style = red
	}
	m.line(&b, "", fmt.Sprintf("QPs %d open of %d  %s/s  %.0f ops/s  %.0f messages/s", s.open, s.ever, size(s.payload), s.ops, s.messages))
	m.line(&b, style, fmt.Sprintf("errors %d  bad CRCs %d  retransmissions %d  holes %d", t.Errors, t.CRCBad, t.Retransmissions, t.Holes))
	now, all := &s.now.Ops[qp.KindRead].Latency, &t.Ops[qp.KindRead].Latency
	m.line(&b, "", fmt.Sprintf("reads: now p50 %s p99 %s  since start p50 %s p99 %s", m.percentile(now, 50), m.percentile(now, 99), m.percentile(all, 50), m.percentile(all, 99)))
	if m.chosen != nil {
		m.viewMessages(&b)
	} else {
		m.viewQPs(&b)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// names are the ends of a QP, the initiator first where that is known.
func names(r *monitor.QP) (first, second string) {
	first, second = r.Conn.Text[0], r.Conn.Text[1]
	if r.From[1] == qp.Initiator {
		first, second = second, first
	}
	return first, second
}

// columns are the widths that the numbers of a QP need.
const columns = 2 + 6 + 11 + 9 + 9 + 9 + 9 + 9 + 6 + 6 + 6 + 5

func (m *Model) viewQPs(b *strings.Builder) {
	ends := max(24, m.width-columns-2)
	m.line(b, reverse, fmt.Sprintf("  %6s%11s%9s%9s%9s%9s%9s%6s%6s%6s%5s  %-*s", "QP", "OCTETS/S", "OPS/S", "P50 NOW", "P99 NOW", "P50", "P99", "DEPTH", "RETR", "HOLES", "ERR", ends, "ENDS"))
	sec := max(m.length.Seconds(), 1e-3)
	for i := range m.shown.rows {
		r := &m.shown.rows[i]
		first, second := names(&r.QP)
		mark, style := " ", ""
		if m.from+i == m.cursor {
			mark, style = ">", bold
		}
		m.line(b, style, fmt.Sprintf("%s %6d%11s%9.0f%9s%9s%9s%9s%6d%6d%6d%5d  %s %s", mark, r.Conn.Number, size(float64(r.NewPayload)/sec), float64(r.NewOperations)/sec,
			m.percentile(&r.Now, 50), m.percentile(&r.Now, 99), m.percentile(&r.Reads, 50), m.percentile(&r.Reads, 99),
			r.Depth, r.Retransmissions, r.Holes, r.Errors, first, second))
	}
	for range m.lines() - len(m.shown.rows) {
		b.WriteByte('\n')
	}
	place := "no QPs yet"
	if m.shown.all > 0 {
		place = fmt.Sprintf("%d of %d", m.cursor+1, m.shown.all)
	}
	m.line(b, reverse, fmt.Sprintf(" %s, by %s | s sort  up/down select  enter messages  p pause  q quit", place, monitor.Orders[m.order].Name))
}

func (m *Model) viewMessages(b *strings.Builder) {
	m.line(b, reverse, fmt.Sprintf(" QP %d  %s  %s", m.chosen.Number, m.chosen.Text[0], m.chosen.Text[1]))
	list := m.shown.recent
	list = list[max(0, len(list)-m.lines()):]
	for i := range list {
		r := &list[i]
		text := fmt.Sprintf("%s  #%-7d %c>%c  %-22s %10d", time.Unix(0, r.Time).UTC().Format("15:04:05.000000"), r.N, r.From.Letter(), r.From.Other().Letter(), r.Op, r.Size)
		if r.Answers > 0 {
			text += fmt.Sprintf("  %s to #%d", m.duration(r.Latency), r.Answers)
		}
		style := ""
		if r.BadCRC {
			text, style = text+"  CRC BAD", red
		}
		m.line(b, style, text)
	}
	for range m.lines() - len(list) {
		b.WriteByte('\n')
	}
	state := "its latest messages"
	if m.ended {
		state = "this QP has ended; its last messages"
	}
	m.line(b, reverse, fmt.Sprintf(" %s | esc back  p pause  q quit", state))
}

func (m *Model) percentile(d *latency.Dist, p float64) string {
	if d.Count() == 0 {
		return "-"
	}
	return m.duration(d.Percentile(p))
}

// duration writes a duration with three digits.
func (m *Model) duration(ns int64) string {
	micro := "µs"
	if m.o.ASCII {
		micro = "us"
	}
	for _, u := range [...]struct {
		ns   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, micro}} {
		if v := float64(ns) / u.ns; v >= 1 {
			return digits(v) + u.name
		}
	}
	return fmt.Sprintf("%dns", ns)
}

// size writes octets with three digits.
func size(v float64) string {
	for _, u := range [...]struct {
		n    float64
		name string
	}{{1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}} {
		if v >= u.n {
			return digits(v/u.n) + u.name
		}
	}
	return fmt.Sprintf("%.0f B", v)
}

func digits(v float64) string {
	switch {
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
