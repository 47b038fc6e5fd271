package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/capture/live"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/internal/metrics"
	"github.com/iwdump/iwdump/internal/monitor"
	"github.com/iwdump/iwdump/internal/save"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/report"
)

// exitNow is the exit status when a second signal ends the program at once, as
// shells have it for SIGINT.
const exitNow = 130

// A session is one run of live.
type session struct {
	o      *liveOptions
	cmd    *cobra.Command
	stderr io.Writer
	src    *live.Source
	saved  *save.Writer     // nil without -w
	watch  *monitor.Monitor // nil where nobody looks
	offer  *metrics.Metrics // nil without --metrics
	frames atomic.Uint64    // decoded so far
	ends   []func()         // in reverse order, at the end
}

// failf tells what ended the capture, or kept it from beginning, and is the
// error that says so.
func (s *session) failf(format string, a ...any) error {
	fmt.Fprintf(s.stderr, "iwdump: "+format+"\n", a...)
	return errInput
}

func (o *liveOptions) runLive(cmd *cobra.Command, names []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.checkTop(cmd); err != nil {
		return err
	}
	show, err := o.output(cmd)
	if err != nil {
		return err
	}
	s := &session{o: o, cmd: cmd, stderr: cmd.ErrOrStderr()}
	defer func() {
		for i := len(s.ends) - 1; i >= 0; i-- {
			s.ends[i]()
		}
	}()
	if err := s.open(names); err != nil {
		return err
	}
	return s.run(show)
}

// open opens the interfaces, and what is written to.
func (s *session) open(names []string) (err error) {
	o := s.o
	s.src, err = live.Open(names, live.Options{Snaplen: o.snaplen, Ring: o.ring << 10, NoPromisc: o.noPromisc, Filter: o.capture})
	if err != nil {
		return s.failf("%v", err)
	}
	s.ends = append(s.ends, func() { s.src.Close() })
	if o.metrics != "" {
		l, err := net.Listen("tcp", o.metrics)
		if err != nil {
			return s.failf("--metrics: %v", err)
		}
		s.offer = metrics.New(metrics.Options{QPs: o.metricsQPs, Capture: func() (frames, received, dropped uint64) {
			c := s.src.Counts()
			return s.frames.Load(), c.Received, c.Dropped
		}})
		s.ends = append(s.ends, s.offer.Serve(l))
		fmt.Fprintf(s.stderr, "iwdump: metrics at http://%s/metrics\n", l.Addr())
	}
	if o.user != "" {
		if err := dropPrivileges(o.user); err != nil {
			return s.failf("-Z %s: %v", o.user, err)
		}
	}
	if o.write != "" {
		s.saved, err = save.Create(save.Options{Name: o.write, Link: s.src.Link(), Snaplen: o.snaplen, Interfaces: names,
			RotateSize: o.rotateOctets, RotateTime: o.rotateTime, Files: o.keepFiles, OnlyIWARP: o.onlyIWARP})
		if err != nil {
			return s.failf("%v", err)
		}
	}
	s.listen()
	fmt.Fprintf(s.stderr, "iwdump: listening on %s, link type %v, %d octets of each frame\n", join(names), s.src.Link(), o.snaplen)
	return nil
}

// run captures until something ends it.
func (s *session) run(show *output) error {
	o := s.o
	o.sel.sink = show.sink()
	if o.only != nil {
		o.only.sink = o.sel.sink
		o.sel.sink = o.only
	}
	// What is watched is all, and not what is shown alone.
	var all qp.Sink = &o.sel
	if o.interval > 0 || o.top {
		s.watch = monitor.New(o.keep())
		all = both{s.watch, all}
	}
	if s.offer != nil {
		all = both{s.offer, all}
	}
	hints := newHinter(all, func(c *qp.Conn) {
		fmt.Fprintf(s.stderr, "iwdump: %s\n", hint(c, s.src.Names(), o.sysfs))
	})
	var sink qp.Sink = hints
	d := o.decodeOptions()
	d.Begin = func(_ []capture.LinkType, first int64) {
		o.sel.begin(first)
		if show.text != nil {
			show.text.Start(first)
		}
	}
	if show.json != nil {
		show.json.Capture(s.src.Names(), []capture.LinkType{s.src.Link()})
	}
	begun := time.Now()
	d.Stop = func() bool {
		hints.look()
		if now := time.Now(); o.interval > 0 && now.Sub(begun) >= o.interval {
			show.interval(s, s.watch, now, now.Sub(begun))
			begun = now
		}
		if show.flush() != nil || o.sel.enough {
			s.src.Stop()
			return true
		}
		return false
	}
	var src capture.Source = counting{s.src, &s.frames}
	if s.saved != nil {
		src = &saving{Source: src, to: s.saved}
		if o.onlyIWARP {
			sink = newFinder(sink, s.saved)
		}
	}
	var top *screen
	if o.top {
		var err error
		if top, err = s.show(); err != nil {
			return err
		}
	}
	stats, err := decode.Run(src, sink, d)
	if top != nil {
		top.close(s)
	}
	return s.finish(show, &stats, err)
}

// listen stops the capture at a signal, and when its time is over.
func (s *session) listen() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	s.ends = append(s.ends, func() { signal.Stop(signals); close(done) })
	var over <-chan time.Time
	if s.o.duration > 0 {
		over = time.After(s.o.duration)
	}
	go func() {
		for asked := false; ; {
			select {
			case <-signals:
				if asked {
					os.Exit(exitNow)
				}
				asked = true
			case <-over:
			case <-done:
				return
			}
			s.src.Stop()
		}
	}()
}

// finish tells what became of the frames, and what they amount to.
func (s *session) finish(show *output, stats *decode.Stats, err error) error {
	s.src.Close()
	if s.saved != nil {
		if e := s.saved.Close(); e != nil && err == nil {
			err = e
		}
	}
	if e := show.flush(); e != nil {
		return e
	}
	counts := s.src.Counts()
	ours := uint64(0)
	if n := stats.Frames + counts.Dropped; n < counts.Received {
		ours = counts.Received - n
	}
	fmt.Fprintf(s.stderr, "iwdump: %d frames received by the filter, %d dropped by the kernel, %d dropped by iwdump\n", counts.Received, counts.Dropped, ours)
	if s.saved != nil {
		fmt.Fprintf(s.stderr, "iwdump: %d frames written to %s\n", s.saved.Frames, s.o.write)
	}
	if e := show.summary(s, stats); e != nil {
		return e
	}
	s.o.stderr = s.stderr
	if err != nil {
		for _, d := range stats.Damage {
			fmt.Fprintf(s.stderr, "iwdump: %v\n", d)
		}
		return s.failf("%v", err)
	}
	return s.o.damage(stats, nil)
}

// output returns what is shown.
func (o *liveOptions) output(cmd *cobra.Command) (*output, error) {
	when, _ := cmd.Flags().GetString("color")
	color, err := useColor(when, cmd.OutOrStdout())
	if err != nil {
		return nil, err
	}
	format, err := report.ParseTimeFormat(o.time)
	if err != nil {
		return nil, err
	}
	w := cmd.OutOrStdout()
	switch {
	case o.json:
		j := report.NewJSON(w)
		return &output{json: j, quiet: o.quiet, flush: j.Flush}, nil
	case o.quiet:
		return &output{view: report.NewOverview(), flush: func() error { return nil }}, nil
	}
	t := report.NewText(w, report.TextOptions{Time: format, Color: color, ASCII: asciiOnly(), Tree: o.verbose, Dump: o.dump, FPDUs: o.fpdus})
	return &output{text: t, flush: t.Flush}, nil
}

func (v *output) sink() qp.Sink {
	switch {
	case v.json != nil && v.quiet:
		return summaries{v.json}
	case v.json != nil:
		return v.json
	case v.view != nil:
		return v.view
	}
	return v.text
}

// summary shows what the capture amounts to.
func (v *output) summary(s *session, stats *decode.Stats) error {
	switch {
	case v.json != nil:
		v.json.Summary(stats)
		return v.json.Flush()
	case v.view != nil:
		return v.view.Write(s.cmd.OutOrStdout(), stats, asciiOnly())
	}
	fmt.Fprintf(s.stderr, "iwdump: %s\n", report.Closing(stats))
	return nil
}

// interval shows what happened since the last.
func (v *output) interval(s *session, watch *monitor.Monitor, now time.Time, length time.Duration) {
	open, _ := watch.Open()
	x := &report.Interval{End: now, Length: length, Open: open, Totals: watch.Since()}
	switch {
	case v.json != nil:
		v.json.Interval(x)
	case v.text != nil:
		v.text.Line(x.AppendText([]byte("==  "), asciiOnly()))
	default:
		s.cmd.OutOrStdout().Write(x.AppendText(nil, asciiOnly()))
	}
}

// both hands records to two.
type both struct{ first, second qp.Sink }

func (b both) Message(m *qp.Message)     { b.first.Message(m); b.second.Message(m) }
func (b both) FPDU(x *qp.FPDU)           { b.first.FPDU(x); b.second.FPDU(x) }
func (b both) Operation(o *qp.Operation) { b.first.Operation(o); b.second.Operation(o) }
func (b both) Event(e *qp.Event)         { b.first.Event(e); b.second.Event(e) }
func (b both) QP(s *qp.Summary)          { b.first.QP(s); b.second.QP(s) }

// counting counts the frames that pass it.
type counting struct {
	capture.Source
	frames *atomic.Uint64
}

func (c counting) Next() (*capture.Block, error) {
	b, err := c.Source.Next()
	if err == nil {
		c.frames.Add(uint64(len(b.Frames)))
	}
	return b, err
}

// saving writes what passes it.
type saving struct {
	capture.Source
	to *save.Writer
}

func (s *saving) Next() (*capture.Block, error) {
	b, err := s.Source.Next()
	if err != nil {
		return nil, err
	}
	if err := s.to.Block(b); err != nil {
		b.Release()
		return nil, fmt.Errorf("writing what is captured: %w", err)
	}
	return b, nil
}

// finder tells which connections are iWARP.
type finder struct {
	qp.Sink
	to   *save.Writer
	seen map[*qp.Conn]struct{}
}

func newFinder(sink qp.Sink, to *save.Writer) *finder {
	return &finder{Sink: sink, to: to, seen: map[*qp.Conn]struct{}{}}
}

func (f *finder) see(c *qp.Conn) {
	if c == nil {
		return
	}
	if _, ok := f.seen[c]; !ok {
		f.seen[c] = struct{}{}
		f.to.Found(c.Ends[0], c.Ends[1])
	}
}

func (f *finder) Message(m *qp.Message)     { f.see(m.Conn); f.Sink.Message(m) }
func (f *finder) FPDU(x *qp.FPDU)           { f.see(x.Conn); f.Sink.FPDU(x) }
func (f *finder) Operation(o *qp.Operation) { f.see(o.Conn); f.Sink.Operation(o) }
func (f *finder) Event(e *qp.Event)         { f.see(e.Conn); f.Sink.Event(e) }

func (f *finder) QP(s *qp.Summary) {
	f.see(s.Conn)
	delete(f.seen, s.Conn)
	f.Sink.QP(s)
}

// join names several things in a sentence.
func join(names []string) string {
	switch n := len(names); n {
	case 1:
		return names[0]
	default:
		text := names[0]
		for _, name := range names[1 : n-1] {
			text += ", " + name
		}
		return text + " and " + names[n-1]
	}
}
