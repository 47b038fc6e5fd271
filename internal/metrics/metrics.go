// Package metrics offers what a long run sees to Prometheus. All labels but
// those of QPs, which must be asked for, have a few values each.
package metrics

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/iwdump/iwdump/internal/monitor"
	"github.com/iwdump/iwdump/qp"
)

// maxQPs is how many QPs have metrics of their own at once.
const maxQPs = 10_000

// maxKinds bounds the kinds of events that are told apart.
const maxKinds = 64

// Options say what is offered.
type Options struct {
	QPs     bool                                      // octets and operations by QP, as long as it is open
	Capture func() (frames, received, dropped uint64) // what became of the frames
}

// Metrics takes records and offers what they amount to. It is a qp.Sink for
// one goroutine; it may be asked by others meanwhile.
type Metrics struct {
	o        Options
	registry *prometheus.Registry

	messages, payload, operations *prometheus.CounterVec
	latency                       *prometheus.HistogramVec
	crc, retransmissions, holes   prometheus.Counter
	events                        *prometheus.CounterVec
	qps                           *prometheus.CounterVec
	open                          prometheus.Gauge
	qpPayload, qpOperations       *prometheus.CounterVec

	kinds map[string]bool
	conns map[*qp.Conn]*conn

	stop sync.Once
}

// conn is an open QP. Its labels are nil where it has no metrics of its own.
type conn struct{ labels []string }

// New returns metrics without values.
func New(o Options) *Metrics {
	m := &Metrics{o: o, registry: prometheus.NewRegistry(), kinds: map[string]bool{}, conns: map[*qp.Conn]*conn{}}
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "iwdump_" + name, Help: help}, labels)
		m.registry.MustRegister(v)
		return v
	}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "iwdump_" + name, Help: help})
		m.registry.MustRegister(c)
		return c
	}
	m.messages = vec("messages_total", "RDMAP messages and MPA startup frames.", "op")
	m.payload = vec("message_octets_total", "Octets that messages carry behind their headers.", "op")
	m.operations = vec("operations_total", "Operations that ended, by how they did.", "op", "status")
	m.latency = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "iwdump_operation_latency_seconds", Help: "How long operations took, as seen where the capture is.",
		Buckets: prometheus.ExponentialBuckets(1e-6, 2, 26), // 1 µs to 33 s
	}, []string{"op"})
	m.registry.MustRegister(m.latency)
	m.crc = counter("crc_errors_total", "FPDUs whose CRC is wrong.")
	m.retransmissions = counter("tcp_retransmissions_total", "TCP segments of QPs that were sent again.")
	m.holes = counter("tcp_holes_total", "Holes in the TCP streams of QPs.")
	m.events = vec("events_total", "Events, by kind.", "kind", "severity")
	m.qps = vec("qps_ended_total", "QPs that ended, by how they did.", "state")
	m.open = prometheus.NewGauge(prometheus.GaugeOpts{Name: "iwdump_open_qps", Help: "QPs that are open."})
	m.registry.MustRegister(m.open)
	if o.QPs {
		m.qpPayload = vec("qp_octets_total", "Octets of payload of an open QP.", "qp", "a", "b")
		m.qpOperations = vec("qp_operations_total", "Operations of an open QP.", "qp", "a", "b")
	}
	if o.Capture != nil {
		for i, c := range [...]struct{ name, help string }{
			{"capture_frames_total", "Frames that were decoded."},
			{"capture_received_frames_total", "Frames that passed the capture filter, as the kernel counts them."},
			{"capture_dropped_frames_total", "Frames that the kernel dropped for want of room."},
		} {
			m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "iwdump_" + c.name, Help: c.help}, func() float64 {
				var n [3]uint64
				n[0], n[1], n[2] = o.Capture()
				return float64(n[i])
			}))
		}
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// see notes an open QP.
func (m *Metrics) see(c *qp.Conn) *conn {
	if c == nil {
		return &conn{}
	}
	x := m.conns[c]
	if x == nil {
		if len(m.conns) >= monitor.MaxQPs {
			return &conn{}
		}
		x = &conn{}
		if m.o.QPs && len(m.conns) < maxQPs {
			x.labels = []string{strconv.Itoa(c.Number), c.Text[0], c.Text[1]}
		}
		m.conns[c] = x
		m.open.Set(float64(len(m.conns)))
	}
	return x
}

// Message takes a message.
func (m *Metrics) Message(x *qp.Message) {
	op := x.Op.String()
	m.messages.WithLabelValues(op).Inc()
	m.payload.WithLabelValues(op).Add(float64(x.Size))
	if c := m.see(x.Conn); c.labels != nil && x.HasCRC {
		m.qpPayload.WithLabelValues(c.labels...).Add(float64(x.Size))
	}
}

// FPDU is not needed.
func (m *Metrics) FPDU(*qp.FPDU) {}

// Operation takes an operation.
func (m *Metrics) Operation(o *qp.Operation) {
	m.operations.WithLabelValues(o.Name(), o.Status.String()).Inc()
	if o.Status == qp.StatusOK {
		m.latency.WithLabelValues(o.Name()).Observe(float64(o.Latency) / 1e9)
	}
	if c := m.see(o.Conn); c.labels != nil {
		m.qpOperations.WithLabelValues(c.labels...).Inc()
	}
}

// Event takes an event.
func (m *Metrics) Event(e *qp.Event) {
	m.see(e.Conn)
	switch e.Kind {
	case "crc_mismatch":
		m.crc.Inc()
	case "tcp_retransmission":
		m.retransmissions.Inc()
	case "tcp_gap":
		m.holes.Inc()
	}
	if !m.kinds[e.Kind] {
		if len(m.kinds) >= maxKinds {
			return
		}
		m.kinds[e.Kind] = true
	}
	m.events.WithLabelValues(e.Kind, e.Severity.String()).Inc()
}

// QP takes the end of a QP, and of its own metrics.
func (m *Metrics) QP(s *qp.Summary) {
	c := m.see(s.Conn)
	if c.labels != nil {
		m.qpPayload.DeleteLabelValues(c.labels...)
		m.qpOperations.DeleteLabelValues(c.labels...)
	}
	delete(m.conns, s.Conn)
	m.open.Set(float64(len(m.conns)))
	m.qps.WithLabelValues(s.State.String()).Inc()
}

// Handler answers with the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// Address completes an address: a port alone, with or without a colon, is one
// of the loopback interface.
func Address(text string) (string, error) {
	if _, err := strconv.ParseUint(text, 10, 16); err == nil {
		text = ":" + text
	}
	if strings.HasPrefix(text, ":") {
		text = "127.0.0.1" + text
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return "", fmt.Errorf("%q is no address: give PORT or HOST:PORT", text)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("%q is no port", port)
	}
	return net.JoinHostPort(host, port), nil
}

// Serve answers at /metrics of l until the returned function is called.
func (m *Metrics) Serve(l net.Listener) (stop func()) {
	mux := http.NewServeMux()
	mux.Handle("/metrics", m.Handler())
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14}
	done := make(chan struct{})
	go func() {
		srv.Serve(l)
		close(done)
	}()
	return func() { m.stop.Do(func() { srv.Close(); <-done }) }
}
