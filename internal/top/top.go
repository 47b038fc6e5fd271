// Package top is a screen that shows the QPs of a live capture as they are: who
// moves most, how long reads take, what goes wrong.
package top

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/iwdump/iwdump/internal/monitor"
	"github.com/iwdump/iwdump/qp"
)

// Keep is how many messages of each QP the Monitor should keep.
const Keep = 48

// refresh is how often rates are taken and the screen is drawn.
const refresh = time.Second

// Options say what is shown, and how.
type Options struct {
	Monitor *monitor.Monitor
	Title   string                            // what is captured on
	Counts  func() (received, dropped uint64) // of frames
	Color   bool
	ASCII   bool
}

// A tick ends a window.
type tick time.Time

func next() tea.Cmd { return tea.Tick(refresh, func(t time.Time) tea.Msg { return tick(t) }) }

// A Model is what the screen shows. It is a tea.Model.
type Model struct {
	o             Options
	width, height int
	start, last   time.Time
	length        time.Duration // of the last window

	order  int // of monitor.Orders
	cursor int // of all QPs
	from   int // the first that is shown
	paused bool
	shown  shown
	chosen *qp.Conn // whose messages are shown, nil for the table
	ended  bool     // the chosen QP has
}

// shown is what the screen shows, as of the last refresh.
type shown struct {
	at                time.Time
	rows              []monitor.Row
	all               int
	open              int
	ever              uint64
	total             monitor.Totals
	messages, ops     float64 // a second
	payload           float64
	received, dropped uint64
	now               monitor.Totals // of the last window
	recent            []monitor.Recent
}

// New returns a Model.
func New(o Options, now time.Time) *Model {
	m := &Model{o: o, width: 80, height: 24, start: now, last: now}
	m.look(now)
	return m
}

// Init starts the clock.
func (m *Model) Init() tea.Cmd { return next() }

// Update takes a key, a new size, or the time.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tick:
		m.turn(time.Time(msg))
		return m, next()
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 1), max(msg.Height, 1)
		m.rows()
	case tea.KeyPressMsg:
		if m.key(msg.String()) {
			return m, tea.Quit
		}
	}
	return m, nil
}

// key takes a key, and says that it ends the program.
func (m *Model) key(key string) bool {
	page := max(1, m.lines()-1)
	switch key {
	case "q", "ctrl+c":
		return true
	case "s", "right":
		m.order = (m.order + 1) % len(monitor.Orders)
	case "S", "left":
		m.order = (m.order + len(monitor.Orders) - 1) % len(monitor.Orders)
	case "p", "space":
		if m.paused = !m.paused; !m.paused {
			m.look(m.last)
		}
		return false
	case "up", "k":
		m.cursor--
	case "down", "j":
		m.cursor++
	case "pgup":
		m.cursor -= page
	case "pgdown":
		m.cursor += page
	case "home", "g":
		m.cursor = 0
	case "end", "G":
		m.cursor = m.shown.all - 1
	case "enter":
		if i := m.cursor - m.from; m.chosen == nil && i >= 0 && i < len(m.shown.rows) {
			m.chosen, m.ended = m.shown.rows[i].Conn, false
			m.messages()
		} else {
			m.chosen = nil
		}
		return false
	case "esc", "backspace":
		m.chosen = nil
		return false
	default:
		return false
	}
	m.rows()
	return false
}

// turn ends a window.
func (m *Model) turn(now time.Time) {
	m.length, m.last = max(now.Sub(m.last), time.Millisecond), now
	m.o.Monitor.Turn()
	since := m.o.Monitor.Since()
	if m.paused {
		return
	}
	sec := m.length.Seconds()
	m.shown.messages = float64(since.Sum()) / sec
	m.shown.ops = float64(since.Operations()) / sec
	m.shown.payload = float64(since.Payload) / sec
	m.shown.now = since
	m.look(now)
}

// look takes what is shown.
func (m *Model) look(now time.Time) {
	s := &m.shown
	s.at = now
	s.open, s.ever = m.o.Monitor.Open()
	s.total = m.o.Monitor.Totals()
	if m.o.Counts != nil {
		s.received, s.dropped = m.o.Counts()
	}
	m.rows()
	m.messages()
}

// rows takes the QPs that there is room for. Keys may move among them while
// the screen is paused, so that is not asked here.
func (m *Model) rows() {
	n := m.lines()
	take := func() { m.shown.rows, m.shown.all = m.o.Monitor.Rows(monitor.Orders[m.order].Order, m.from, n) }
	take()
	was := m.from
	m.cursor = max(0, min(m.cursor, m.shown.all-1))
	m.from = max(0, min(m.from, m.cursor, m.shown.all-n))
	m.from = max(m.from, m.cursor-n+1)
	if m.from != was {
		take()
	}
}

// messages takes the latest messages of the chosen QP.
func (m *Model) messages() {
	if m.chosen == nil {
		return
	}
	list, ok := m.o.Monitor.Recent(m.chosen)
	if m.ended = !ok; ok {
		m.shown.recent = list
	}
}
