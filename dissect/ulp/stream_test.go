package ulp_test

import (
	"testing"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
)

// toy is a protocol: its messages begin with its letter, then "?" with an id
// for a request, "!" with the id for a reply; anything else speaks against it.
// Its private data is its letter.
func toy(letter byte, ports ...uint16) ulp.Protocol {
	judge := func(m *ulp.Message) ulp.Evidence {
		switch {
		case len(m.Payload) != 3 || m.Payload[0] != letter && m.Payload[0] != '*':
			return ulp.Against
		case m.Payload[1] == '?':
			return ulp.Weak
		}
		return ulp.None
	}
	return ulp.Protocol{Name: string(letter), Title: "toy", Ports: ports, Judge: judge,
		Private: func(s *ulp.Startup) ulp.Evidence {
			switch {
			case len(s.Private) == 0:
				return ulp.None
			case s.Private[0] == letter:
				return ulp.Strong
			}
			return ulp.Against
		},
		New: func(h ulp.Handler) ulp.Decoder {
			return &toyDecoder{judge: judge, letter: letter, t: ulp.NewTracker(h)}
		}}
}

type toyDecoder struct {
	judge    func(*ulp.Message) ulp.Evidence
	letter   byte
	t        *ulp.Tracker
	startups int
}

func (d *toyDecoder) Startup(s *ulp.Startup, x *ulp.Description) ulp.Evidence {
	d.startups++
	if len(s.Private) == 0 || s.Private[0] != d.letter {
		return ulp.None
	}
	return ulp.Strong
}

func (d *toyDecoder) Message(m *ulp.Message, x *ulp.Description) ulp.Evidence {
	e := d.judge(m)
	if e < 0 || !m.IsSend() {
		return e
	}
	if x != nil {
		x.Sayf("%c %c", d.letter, m.Payload[1])
	}
	if m.Payload[1] == '?' {
		d.t.Begin(uint64(m.Payload[2]), "toy.ask", m)
		return e
	}
	if p := d.t.Find(m.Side.Other(), uint64(m.Payload[2])); p != nil {
		d.t.Finish(p, m, ulp.OK, "")
		return ulp.Strong
	}
	return e
}

func (d *toyDecoder) Lost(s ulp.Side)  { d.t.Lost(s) }
func (d *toyDecoder) End(at mpa.Stamp) { d.t.End(at) }
func (d *toyDecoder) Summary(f *ulp.Fields) {
	f.Uint("startups", "Startups", uint64(d.startups))
}

// said shows a stream the messages in texts, the requests from side 0, and
// returns what it said of each, with "?" where in doubt.
func said(s *ulp.Stream, texts ...string) (all []string) {
	var d ulp.Description
	for i, text := range texts {
		d.Reset()
		side := ulp.Side(0)
		if len(text) > 1 && text[1] == '!' {
			side = 1
		}
		s.Message(&ulp.Message{N: i + 1, Side: side, Op: rdmap.OpSend, Size: uint64(len(text)), Payload: []byte(text), Complete: true, First: at(int64(i + 1)), Last: at(int64(i + 1))}, &d)
		what := string(d.Text)
		if d.Protocol == "" && what != "" || d.Protocol != "" && d.Protocol != what[:1] {
			what = "mislabelled " + what
		}
		if d.Doubt {
			what += " in doubt"
		}
		all = append(all, what)
	}
	return all
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("message %d: %q, want %q", i+1, got[i], want[i])
		}
	}
}

// A protocol is named when several messages agree; what it found until then is
// told then, and nothing before.
func TestRecognition(t *testing.T) {
	var l log
	s := ulp.NewStream(&l, ulp.Config{Protocols: []ulp.Protocol{toy('a'), toy('b')}})
	same(t, said(s, "b?1", "b!9", "b!1"), "b ? in doubt", "b ! in doubt", "b ! in doubt")
	if name, doubt := s.Name(); name != "b" || !doubt || len(l.commands) != 0 {
		t.Errorf("%q, doubt %v, %d commands", name, doubt, len(l.commands))
	}
	same(t, said(s, "b?2", "b!2"), "b ?", "b !")
	if name, doubt := s.Name(); name != "b" || doubt || len(l.commands) != 2 {
		t.Errorf("%q, doubt %v, %d commands", name, doubt, len(l.commands))
	}
}

// Private data and a first message are enough.
func TestRecognitionPrivate(t *testing.T) {
	var l log
	s := ulp.NewStream(&l, ulp.Config{Protocols: []ulp.Protocol{toy('a'), toy('b')}})
	for reply := range 2 {
		s.Startup(&ulp.Startup{N: reply + 1, Side: ulp.Side(reply), Reply: reply == 1, Private: []byte("b")[:1-reply]}, nil)
	}
	same(t, said(s, "b?1", "b?2"), "b ? in doubt", "b ?")
	var f ulp.Fields
	if s.Summary(&f); f.Get("startups").Num != 2 {
		t.Errorf("%d startup frames were shown", f.Get("startups").Num)
	}
}

// A port is a hint, and none by itself.
func TestRecognitionPort(t *testing.T) {
	c := ulp.Config{Protocols: []ulp.Protocol{toy('a', 700), toy('b')}, Ports: [2]uint16{40000, 700}}
	same(t, said(ulp.NewStream(quiet{}, c), "a?1", "a!1"), "a ? in doubt", "a !")
	s := ulp.NewStream(quiet{}, c)
	same(t, said(s, "x?1", "x!1"), "", "")
	if name, _ := s.Name(); name != "" {
		t.Errorf("%q by its port", name)
	}
}

// A message that cannot be of a protocol ends the doubt, and nothing is told.
func TestRecognitionAgainst(t *testing.T) {
	var l log
	s := ulp.NewStream(&l, ulp.Config{Protocols: []ulp.Protocol{toy('a'), toy('b')}})
	same(t, said(s, "b?1", "b!1", "zzzz", "b?2", "b!2", "b?3", "b!3"), "b ? in doubt", "b ! in doubt", "", "", "", "", "")
	if name, _ := s.Name(); name != "" || len(l.commands) != 0 || !s.Idle() {
		t.Errorf("%q, %d commands, idle %v", name, len(l.commands), s.Idle())
	}
	s.End(at(9))
	if len(l.commands)+len(l.events) != 0 {
		t.Error("something is told in the end")
	}
}

// As long as two are equally likely, none is named.
func TestRecognitionTie(t *testing.T) {
	s := ulp.NewStream(quiet{}, ulp.Config{Protocols: []ulp.Protocol{toy('a'), toy('b')}})
	said(s, "*?1", "*!1", "*?2", "*!2", "*?3", "*!3")
	if name, doubt := s.Name(); name == "" || !doubt {
		t.Errorf("%q, doubt %v", name, doubt)
	}
	said(s, "b?4")
	if name, doubt := s.Name(); name != "b" || doubt {
		t.Errorf("%q, doubt %v", name, doubt)
	}
}

// What is forced is believed from the start, whatever comes; and one that was
// named is believed until it makes nothing of many messages.
func TestForced(t *testing.T) {
	s := ulp.NewStream(quiet{}, ulp.Config{Protocols: []ulp.Protocol{toy('a')}, Forced: true})
	same(t, said(s, "a?1", "zz", "a!1"), "a ?", "", "a !")

	s = ulp.NewStream(quiet{}, ulp.Config{Protocols: []ulp.Protocol{toy('a'), toy('b')}})
	said(s, "a?1", "a!1", "a?2", "a!2", "zz", "zz")
	same(t, said(s, "a?3"), "a ?")
	for range 16 {
		said(s, "zz")
	}
	if !s.Idle() {
		t.Error("it is still followed")
	}
}

// Where nothing is recognised, nothing is allocated for a message, and after a
// while nothing is looked at.
func TestUnrecognised(t *testing.T) {
	s := ulp.NewStream(quiet{}, ulp.Config{Protocols: []ulp.Protocol{toy('a'), toy('b')}})
	m := &ulp.Message{N: 1, Op: rdmap.OpSend, Size: 3, Payload: []byte("a!1"), Complete: true}
	w := &ulp.Message{N: 1, Op: rdmap.OpWrite, Size: 3}
	var d ulp.Description
	if n := testing.AllocsPerRun(20, func() {
		s.Message(m, &d)
		s.Message(w, &d)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for range 64 {
		s.Message(m, &d)
	}
	if !s.Idle() {
		t.Error("it still looks")
	}
	if send, tagged := s.Keep(); send != 0 || tagged != 0 {
		t.Errorf("it keeps %d and %d octets", send, tagged)
	}
}

func TestFields(t *testing.T) {
	var f ulp.Fields
	f.Open("a", "A")
	f.OpenList("l", "L")
	f.STag("", "", 0xab)
	f.Close()
	f.Bool("yes", "Yes", true)
	f.Close()
	f.Close() // one too many
	f.Text("b", "B", "x").In(3, 4).As("note")
	want := []struct {
		key   string
		depth uint8
		value string
	}{{"a", 0, ""}, {"l", 1, ""}, {"", 2, "0x000000ab"}, {"yes", 1, "true"}, {"b", 0, "x"}}
	for i, w := range want {
		if g := &f.List[i]; g.Key != w.key || g.Depth != w.depth || g.Value() != w.value {
			t.Errorf("%d: %+v, value %q", i, g, g.Value())
		}
	}
	if f.Get("yes") != nil || f.Get("b").From != 3 {
		t.Error("Get")
	}
	for range 10_000 {
		f.Open("x", "X")
	}
	if len(f.List) > 512 {
		t.Errorf("%d fields", len(f.List))
	}
}
