package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/iwdump/iwdump/capture"
	capturefilter "github.com/iwdump/iwdump/capture/filter"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
)

// An input is what all subcommands that read captures have in common: their
// files, and which records of them are wanted.
type input struct {
	qps      string
	from, to string
	filter   string
	capture  string // filter of frames
	ulp      string
	workers  int
	follow   bool // wait for more at the end
	startups bool // no recovery of streams whose startup was not seen
	listing  bool // records are printed as they come

	upperLayers decode.Upper

	only   *filter // nil: all
	files  *capture.Files
	sel    selection
	stderr io.Writer

	interrupted bool // the input was not read to its end
}

func (in *input) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&in.qps, "qp", "", "only these QPs: numbers and ranges, as in 1,4-7")
	f.StringVar(&in.from, "from", "", "only from this time on: RFC 3339, seconds since 1970, or +DURATION since the first frame")
	f.StringVar(&in.to, "to", "", "only up to this time, in the same forms")
	f.StringVar(&in.filter, "filter", "", "only records for which this holds, by the fields of their JSON, as in 'op == \"rdma_read\" && latency_ns > 1e6'")
	f.StringVarP(&in.capture, "capture-filter", "f", "", "only frames that this matches, in the syntax of tcpdump; they keep their numbers")
	f.StringVar(&in.ulp, "ulp", "auto", ulpHelp)
	f.BoolVar(&in.startups, "no-recovery", false, "leave connections alone whose startup was not captured")
	f.IntVar(&in.workers, "workers", 0, "goroutines that decode (0: one for each CPU)")
}

// decode reads the files and hands the records that are wanted to sink. Damage
// is told on standard error, after what could be read; it makes the error
// errInput.
func (in *input) decode(cmd *cobra.Command, names []string, sink qp.Sink, o decode.Options) (decode.Stats, error) {
	in.stderr = cmd.ErrOrStderr()
	early := watchInterrupts()
	defer early.stop()
	var files capture.Options
	if in.follow {
		files.Follow = func() bool { return !early.came.Load() }
	}
	in.files = capture.Open(names, cmd.InOrStdin(), files)
	defer in.files.Close()
	o.Workers = in.workers
	o.NoRecovery = in.startups
	o.Upper = in.upperLayers
	if in.only != nil {
		in.only.sink = sink
		o.Describe = qp.DescribeAll // it may ask for any field
		sink = in.only
	}
	in.sel.sink = sink
	begin := o.Begin
	o.Begin = func(links []capture.LinkType, first int64) {
		in.sel.begin(first)
		if begin != nil {
			begin(links, first)
		}
	}
	progress := newProgress(in.stderr, in.files)
	if in.listing && isTerminal(cmd.OutOrStdout()) {
		progress.w = nil // it would stand in the middle of the listing
	}
	stop := o.Stop
	o.Stop = func() bool {
		progress.show()
		return in.sel.enough || early.came.Load() || stop != nil && stop()
	}
	src := capture.Source(in.files)
	if in.capture != "" {
		src = capturefilter.Source(src, in.capture)
	}
	stats, err := decode.Run(src, &in.sel, o)
	progress.clear()
	in.interrupted = early.came.Load()
	return stats, err
}

// prepare checks the flags.
func (in *input) prepare() error {
	var err error
	if in.sel.qps, err = parseRanges(in.qps); err != nil {
		return fmt.Errorf("--qp: %w", err)
	}
	if in.sel.from, err = parseMoment(in.from); err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	if in.sel.to, err = parseMoment(in.to); err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	// What is wrong with its words is so for any link type.
	if _, err := capturefilter.Compile(in.capture, capture.LinkEthernet, capturefilter.Options{}); err != nil {
		if e := (*capturefilter.Error)(nil); errors.As(err, &e) {
			return fmt.Errorf("%w\n\t%s\n\t%*s", err, e.Expr, e.Column, "^")
		}
		return err
	}
	if in.filter != "" {
		if in.only, err = newFilter(in.filter); err != nil {
			return err
		}
	}
	if f, t := in.sel.from, in.sel.to; f.set && t.set && f.relative == t.relative && f.ns > t.ns {
		return fmt.Errorf("--from %s is later than --to %s", in.from, in.to)
	}
	if in.upperLayers, err = in.upper(); err != nil {
		return err
	}
	if in.workers < 0 {
		return fmt.Errorf("--workers: %d is negative", in.workers)
	}
	return nil
}

// damage tells what could not be read.
func (in *input) damage(stats *decode.Stats, err error) error {
	for _, d := range stats.Damage {
		fmt.Fprintf(in.stderr, "iwdump: %v\n", d)
	}
	for _, note := range stats.Notes() {
		fmt.Fprintf(in.stderr, "iwdump: %s\n", note)
	}
	if err != nil {
		return err
	}
	if in.interrupted && !in.follow {
		fmt.Fprintf(in.stderr, "iwdump: interrupted behind %d frames\n", stats.Frames)
		return errInput
	}
	if len(stats.Damage) > 0 {
		return errInput
	}
	return nil
}

// progress tells how far a long read is, on a terminal.
type progress struct {
	w     io.Writer
	files *capture.Files
	start time.Time
	last  time.Time
	shown bool
}

func newProgress(w io.Writer, files *capture.Files) *progress {
	p := &progress{files: files, start: time.Now()}
	p.last = p.start
	if f, ok := w.(*os.File); ok && isTerminal(f) {
		p.w = w
	}
	return p
}

func (p *progress) show() {
	if p.w == nil {
		return
	}
	now := time.Now()
	if now.Sub(p.last) < 500*time.Millisecond {
		return
	}
	p.last = now
	read, total := p.files.Progress()
	rate := float64(read) / now.Sub(p.start).Seconds()
	s := fmt.Sprintf("%.1f MB, %.0f MB/s", float64(read)/1e6, rate/1e6)
	if total > 0 && rate > 0 {
		left := time.Duration(float64(total-read) / rate * 1e9).Round(time.Second)
		s = fmt.Sprintf("%3.0f %%  %s, %v left", 100*float64(read)/float64(total), s, max(left, 0))
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", s)
	p.shown = true
}

func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
