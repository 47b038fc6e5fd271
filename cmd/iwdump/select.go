package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/iwdump/iwdump/qp"
)

// A selection hands on the records that are wanted.
type selection struct {
	sink     qp.Sink
	qps      []span // empty: all
	from, to moment
	low      int64 // ns since 1970
	high     int64
	limit    int // messages, 0: all
	messages int
	enough   bool
}

// span is a range of QP numbers.
type span struct{ low, high int }

// A moment is a time that a flag gives.
type moment struct {
	set      bool
	relative bool // to the first frame
	ns       int64
}

func (s *selection) begin(first int64) {
	at := func(m moment, none int64) int64 {
		switch {
		case !m.set:
			return none
		case m.relative:
			return later(first, m.ns)
		}
		return m.ns
	}
	s.low, s.high = at(s.from, math.MinInt64), at(s.to, math.MaxInt64)
}

// wants says that a record of a QP at a time is wanted.
func (s *selection) wants(c *qp.Conn, ns int64) bool {
	return !s.enough && ns >= s.low && ns <= s.high && s.wantsQP(c)
}

func (s *selection) wantsQP(c *qp.Conn) bool {
	if len(s.qps) == 0 {
		return true
	}
	for _, r := range s.qps {
		if c != nil && c.Number >= r.low && c.Number <= r.high {
			return true
		}
	}
	return false
}

func (s *selection) Message(m *qp.Message) {
	if !s.wants(m.Conn, m.Last.Time) {
		return
	}
	s.sink.Message(m)
	s.messages++
	s.enough = s.messages == s.limit
}

func (s *selection) FPDU(f *qp.FPDU) {
	if s.wants(f.Conn, f.Last.Time) {
		s.sink.FPDU(f)
	}
}

func (s *selection) Operation(o *qp.Operation) {
	if s.wants(o.Conn, o.Start.Time) {
		s.sink.Operation(o)
	}
}

func (s *selection) Event(e *qp.Event) {
	if s.wants(e.Conn, e.At.Time) {
		s.sink.Event(e)
	}
}

func (s *selection) QP(q *qp.Summary) {
	if s.wantsQP(q.Conn) {
		s.sink.QP(q)
	}
}

// parseRanges parses numbers and ranges of them, "1,4-7".
func parseRanges(text string) (spans []span, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		var r span
		var errLow, errHigh error
		r.low, errLow = strconv.Atoi(strings.TrimSpace(low))
		r.high, errHigh = strconv.Atoi(strings.TrimSpace(high))
		if errLow != nil || errHigh != nil || r.low < 1 || r.high < r.low {
			return nil, fmt.Errorf("%q is no number of a QP and no range of them", part)
		}
		spans = append(spans, r)
	}
	return spans, nil
}

// parseMoment parses a time: RFC 3339, seconds since 1970, or a duration since
// the first frame that begins with "+". Times that do not fit become the
// earliest or latest that do, so that all frames lie on the right side of them.
func parseMoment(text string) (moment, error) {
	if text == "" {
		return moment{}, nil
	}
	if rest, ok := strings.CutPrefix(text, "+"); ok {
		if ns, ok := parseSeconds(rest); ok {
			return moment{set: true, relative: true, ns: ns}, nil
		}
		if d, err := time.ParseDuration(rest); err == nil && d >= 0 {
			return moment{set: true, relative: true, ns: int64(d)}, nil
		}
		return moment{}, fmt.Errorf("%q is no duration: give +2.5, +300ms or +1m30s", text)
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return moment{set: true, ns: nanoseconds(t)}, nil
	}
	rest, before := strings.CutPrefix(text, "-")
	if ns, ok := parseSeconds(rest); ok {
		if before {
			ns = -ns
		}
		return moment{set: true, ns: ns}, nil
	}
	return moment{}, fmt.Errorf("%q is no time: give 2006-01-02T15:04:05Z, seconds since 1970, or +DURATION since the first frame", text)
}

// parseSeconds parses digits with at most nine decimals into nanoseconds. The
// decimals are not rounded as those of a float64 would be.
func parseSeconds(text string) (ns int64, ok bool) {
	whole, frac, _ := strings.Cut(text, ".")
	if whole == "" || len(frac) > 9 || strings.Trim(whole+frac, "0123456789") != "" {
		return 0, false
	}
	nanos, err := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
	if err != nil {
		return 0, false
	}
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds > (math.MaxInt64-nanos)/1e9 {
		return math.MaxInt64, true
	}
	return seconds*1e9 + nanos, true
}

// nanoseconds is t in nanoseconds since 1970. Time.UnixNano is undefined for
// years before 1678 and after 2262.
func nanoseconds(t time.Time) int64 {
	switch s := t.Unix(); {
	case s >= math.MaxInt64/1_000_000_000:
		return math.MaxInt64
	case s <= math.MinInt64/1_000_000_000:
		return math.MinInt64
	}
	return t.UnixNano()
}

// later is ns and d, which is not negative, or the latest time.
func later(ns, d int64) int64 {
	if ns > math.MaxInt64-d {
		return math.MaxInt64
	}
	return ns + d
}
