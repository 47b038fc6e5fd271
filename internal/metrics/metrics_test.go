package metrics_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/internal/metrics"
	"github.com/iwdump/iwdump/qp"
)

// scrape returns what Prometheus would be told, our own part.
func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d", w.Code)
	}
	var b strings.Builder
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "iwdump_") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func run(t *testing.T, sink qp.Sink, name string) decode.Stats {
	t.Helper()
	src := capture.Open([]string{"../../testdata/pcaps/" + name}, nil, capture.Options{})
	defer src.Close()
	stats, err := decode.Run(src, sink, decode.Options{Messages: true, Operations: true})
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// One CRC is wrong in this capture, for which the responder terminates (its README).
func TestMetrics(t *testing.T) {
	m := metrics.New(metrics.Options{Capture: func() (a, b, c uint64) { return 7, 9, 2 }})
	stats := run(t, m, "siw/crc-race-zerocopy-1.pcap.gz")
	text := scrape(t, m)
	for _, want := range []string{
		"iwdump_open_qps 0\n",
		"iwdump_capture_frames_total 7\n", "iwdump_capture_received_frames_total 9\n", "iwdump_capture_dropped_frames_total 2\n",
		`iwdump_messages_total{op="mpa_request"} 1` + "\n",
		`iwdump_messages_total{op="terminate"} 1` + "\n",
		"iwdump_crc_errors_total 1\n",
		`iwdump_events_total{kind="crc_mismatch",severity="error"} 1` + "\n",
		`iwdump_operation_latency_seconds_bucket{op="rdma_read",le="+Inf"} `,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if stats.CRCBad != 1 {
		t.Errorf("%d bad CRCs", stats.CRCBad)
	}
	if strings.Contains(text, "iwdump_qp_") {
		t.Error("QPs are told apart unasked")
	}
}

// QPs have metrics while they are open, and none afterwards.
func TestQPs(t *testing.T) {
	m := metrics.New(metrics.Options{QPs: true})
	during := ""
	run(t, &spy{m, func() { during = scrape(t, m) }}, "siw/iwt-allops.pcap.gz")
	if !strings.Contains(during, `iwdump_qp_octets_total{a="`) || !strings.Contains(during, "iwdump_open_qps 1\n") {
		t.Errorf("%s", during)
	}
	if after := scrape(t, m); strings.Contains(after, "iwdump_qp_octets_total{") || strings.Contains(after, "iwdump_qp_operations_total{") {
		t.Errorf("%s", after)
	}
}

// A spy calls look in front of the end of a QP.
type spy struct {
	*metrics.Metrics
	look func()
}

func (s *spy) QP(q *qp.Summary) { s.look(); s.Metrics.QP(q) }

// However many QPs there are, the number of series stays.
func TestCardinality(t *testing.T) {
	m := metrics.New(metrics.Options{})
	series := 0
	for i := range 3 {
		for n := range 500 {
			c := &qp.Conn{Number: 1000*i + n + 1}
			m.Message(&qp.Message{Conn: c, Op: 3})
			m.Event(&qp.Event{Conn: c, Kind: "crc_mismatch", Severity: qp.Error})
			m.Operation(&qp.Operation{Conn: c, Kind: qp.KindRead, Latency: int64(n) * 1000})
			if n%2 == 0 {
				m.QP(&qp.Summary{Conn: c})
			}
		}
		n := strings.Count(scrape(t, m), "\n")
		if i > 0 && n != series {
			t.Errorf("%d series, then %d", series, n)
		}
		series = n
	}
	// Nor do kinds of events make many.
	for i := range 1000 {
		m.Event(&qp.Event{Kind: strings.Repeat("x", i+1)})
	}
	if n := strings.Count(scrape(t, m), "\n"); n > series+64 {
		t.Errorf("%d series", n)
	}
}

func TestAddress(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"9100", "127.0.0.1:9100"}, {":9100", "127.0.0.1:9100"}, {"0.0.0.0:9100", "0.0.0.0:9100"}, {"[::1]:9100", "[::1]:9100"},
		{"localhost:0", "localhost:0"}, {"70000", ""}, {"host", ""}, {"", ""}, {"host:http", ""},
	} {
		got, err := metrics.Address(c.in)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q: %q, %v", c.in, got, err)
		}
	}
}
