package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/report"
)

// latencyOptions are the flags of latency.
type latencyOptions struct {
	input
	by       string
	interval time.Duration
	slowest  int
	quiet    bool
	csv      bool
	json     bool
	plot     string
	hdr      string
	guesses  bool
}

func latencyCommand() *cobra.Command {
	o := &latencyOptions{}
	cmd := &cobra.Command{
		Use:   "latency FILE...",
		Short: "Show how long operations took",
		Long: strings.TrimSpace(`
Shows how long operations took, as seen where the capture was taken: a read from
the packet that completes the Read Request to the packet that completes the
Response, an atomic likewise, a Write or Send from its first packet to the TCP
ACK of its last octet. A connect takes from the SYN to the MPA Reply, a close
from the first FIN to the peer's; they are shown where --by says op, and never
among the slowest. A command of the upper layer, as nvme.read, takes from the
first octet of its request to the last of its reply. Percentiles are those of an HdrHistogram with three digits.`),
		Example: `  iwdump latency capture.pcap
  iwdump latency --by op,size --filter 'op == "rdma_read"' capture.pcap
  iwdump latency --slowest 10 capture.pcap
  iwdump latency --interval 1s --csv capture.pcap > latency.csv
  iwdump latency --plot latency.svg --hdr latency.hlog capture.pcap`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, files []string) error { return o.run(cmd, files) },
	}
	f := cmd.Flags()
	f.StringVar(&o.by, "by", "op", "what a line is for: op, command (of the upper layer alone), qp, size, direction, or several, as in op,size")
	f.DurationVar(&o.interval, "interval", 0, "a line for each such interval, as in 1s")
	f.IntVar(&o.slowest, "slowest", 0, "list so many of the slowest operations, and where their time went")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "the table alone, without histograms")
	f.BoolVar(&o.csv, "csv", false, "print CSV, in nanoseconds")
	f.BoolVar(&o.json, "json", false, "print JSON Lines (see 'iwdump schema')")
	f.StringVar(&o.plot, "plot", "", "draw histogram and CDF to this file, .svg or .png")
	f.StringVar(&o.hdr, "hdr", "", "write an HdrHistogram log to this file")
	f.BoolVar(&o.guesses, "guesses", false, "count operations too whose answer may be that of another request, as packets are missing")
	o.input.flags(cmd)
	return cmd
}

func (o *latencyOptions) run(cmd *cobra.Command, files []string) error {
	if err := o.prepare(); err != nil {
		return err
	}
	by, err := report.ParseBy(o.by)
	switch {
	case err != nil:
		return fmt.Errorf("--by: %w", err)
	case o.interval < 0 || o.interval > 0 && o.interval < time.Microsecond:
		return fmt.Errorf("--interval: %v is too short", o.interval)
	case o.slowest < 0 || o.slowest > 100_000:
		return fmt.Errorf("--slowest: %d is not within 0 and 100000", o.slowest)
	case o.csv && o.json:
		return errors.New("--csv and --json exclude each other")
	}
	format := ""
	if o.plot != "" {
		if format, err = report.PlotFormat(o.plot); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	l := report.NewLatencies(by, int64(o.interval), o.slowest)
	if o.guesses {
		l.CountGuesses()
	}
	stats, readErr := o.decode(cmd, files, l, decode.Options{Operations: true, Begin: func(_ []capture.LinkType, first int64) { l.Begin(first) }})
	if o.plot != "" && len(l.Groups()) > 0 {
		if err := writeFile(o.plot, func(w io.Writer) error { return l.WritePlot(w, format) }); err != nil {
			return err
		}
	}
	if o.hdr != "" {
		if err := writeFile(o.hdr, l.WriteHDR); err != nil {
			return err
		}
	}
	if err := o.print(cmd.OutOrStdout(), l); err != nil {
		return err
	}
	return o.damage(&stats, readErr)
}

func (o *latencyOptions) print(w io.Writer, l *report.Latencies) error {
	switch {
	case o.json:
		return l.WriteJSON(w)
	case o.csv:
		return l.WriteCSV(w)
	}
	ascii := asciiOnly()
	if err := l.WriteTable(w, ascii); err != nil {
		return err
	}
	if groups := l.Groups(); !o.quiet && o.interval == 0 && len(groups) <= 16 {
		for _, g := range groups {
			fmt.Fprintln(w)
			if err := g.WriteHistogram(w, terminalWidth(w), ascii); err != nil {
				return err
			}
		}
	}
	if o.slowest > 0 {
		fmt.Fprintln(w)
		return l.WriteSlowest(w, ascii)
	}
	return nil
}

// writeFile writes a file as a whole: where it cannot be, none is left.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Close())
	if err != nil {
		os.Remove(name)
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// terminalWidth returns the columns of the terminal that w is, 80 for all else.
func terminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}
