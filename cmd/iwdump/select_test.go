package main

import (
	"math"
	"slices"
	"testing"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/qp"
)

func TestParseMoment(t *testing.T) {
	for _, c := range []struct {
		text string
		want moment
	}{
		{"", moment{}},
		{"2026-12-01T06:25:19.5Z", moment{set: true, ns: 1796106319_500000000}},
		{"2026-12-01T08:25:19.5+02:00", moment{set: true, ns: 1796106319_500000000}},
		{"1796106319", moment{set: true, ns: 1796106319_000000000}},
		{"1796106319.000000001", moment{set: true, ns: 1796106319_000000001}}, // no float64 holds it
		{"1796106319.", moment{set: true, ns: 1796106319_000000000}},
		{"-1.5", moment{set: true, ns: -1_500000000}},
		{"+2", moment{set: true, relative: true, ns: 2_000000000}},
		{"+0.02", moment{set: true, relative: true, ns: 20_000000}},
		{"+300ms", moment{set: true, relative: true, ns: 300_000000}},
		{"+1m30s", moment{set: true, relative: true, ns: 90_000000000}},
		// What does not fit is as early or as late as can be.
		{"9999-01-01T00:00:00Z", moment{set: true, ns: math.MaxInt64}},
		{"0001-01-01T00:00:00Z", moment{set: true, ns: math.MinInt64}},
		{"99999999999999999999", moment{set: true, ns: math.MaxInt64}},
		{"9223372036.854775807", moment{set: true, ns: math.MaxInt64}},
		{"9223372036.854775808", moment{set: true, ns: math.MaxInt64}},
		{"-99999999999999", moment{set: true, ns: -math.MaxInt64}},
		{"+99999999999999", moment{set: true, relative: true, ns: math.MaxInt64}},
	} {
		if got, err := parseMoment(c.text); err != nil || got != c.want {
			t.Errorf("%q: %+v, %v; want %+v", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"yesterday", "+", "-", ".", ".5", "+NaN", "+Inf", "+1e300", "1e9", "1.+5", "1.-5", "1.2.3", "--1", "+-5s", "1.0000000001", "12:30", " 1"} {
		if got, err := parseMoment(text); err == nil {
			t.Errorf("%q: no error, but %+v", text, got)
		}
	}
}

func TestParseRanges(t *testing.T) {
	for text, want := range map[string][]span{
		"":        nil,
		"3":       {{3, 3}},
		"1,4-7":   {{1, 1}, {4, 7}},
		"2-2":     {{2, 2}},
		" 1 , 2 ": {{1, 1}, {2, 2}},
	} {
		if got, err := parseRanges(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"0", "-1", "3-1", "a", "1,", "1-2-3", "99999999999999999999"} {
		if got, err := parseRanges(text); err == nil {
			t.Errorf("%q: no error, but %v", text, got)
		}
	}
}

// taken counts what comes through a selection.
type taken struct{ messages, fpdus, operations, events, qps int }

func (k *taken) Message(*qp.Message)     { k.messages++ }
func (k *taken) FPDU(*qp.FPDU)           { k.fpdus++ }
func (k *taken) Operation(*qp.Operation) { k.operations++ }
func (k *taken) Event(*qp.Event)         { k.events++ }
func (k *taken) QP(*qp.Summary)          { k.qps++ }

func TestSelection(t *testing.T) {
	const first = 1796106319_000000000
	offer := func(s *selection) taken {
		var k taken
		s.sink = &k
		s.begin(first)
		for n := range 10 { // one of each a second, on QPs 1, 2, 1, 2, …
			c := &qp.Conn{Number: 1 + n%2}
			at := mpa.Stamp{Frame: uint64(n + 1), Time: first + int64(n)*1e9}
			s.Message(&qp.Message{Conn: c, Last: at})
			s.FPDU(&qp.FPDU{Conn: c, FPDU: mpa.FPDU{Last: at}})
			s.Operation(&qp.Operation{Conn: c, Start: at})
			s.Event(&qp.Event{Conn: c, At: at})
		}
		s.QP(&qp.Summary{Conn: &qp.Conn{Number: 1}})
		s.QP(&qp.Summary{Conn: &qp.Conn{Number: 2}})
		return k
	}
	at := func(text string) moment {
		m, err := parseMoment(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		name string
		sel  selection
		want taken
	}{
		{"all", selection{}, taken{10, 10, 10, 10, 2}},
		{"one QP", selection{qps: []span{{2, 2}}}, taken{5, 5, 5, 5, 1}},
		{"no such QP", selection{qps: []span{{3, 9}}}, taken{}},
		{"from, inclusive", selection{from: at("+7")}, taken{3, 3, 3, 3, 2}},
		{"to, inclusive", selection{to: at("+2")}, taken{3, 3, 3, 3, 2}},
		{"between, by date", selection{from: at("2026-12-01T06:25:20Z"), to: at("2026-12-01T06:25:21Z")}, taken{2, 2, 2, 2, 2}},
		{"from the far future", selection{from: at("9999-01-01T00:00:00Z")}, taken{0, 0, 0, 0, 2}},
		{"to the far future", selection{to: at("+99999999999999")}, taken{10, 10, 10, 10, 2}},
		{"count", selection{limit: 4}, taken{4, 3, 3, 3, 2}},
	} {
		if got := offer(&c.sel); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
