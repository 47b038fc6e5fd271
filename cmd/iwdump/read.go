package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/report"
)

// keepDump is how many octets of each message -x shows.
const keepDump = 64 << 10

// readOptions are the flags of read.
type readOptions struct {
	input
	verbose bool
	dump    bool
	fpdus   bool
	json    bool
	quiet   bool
	count   int
	time    string
}

func readCommand() *cobra.Command {
	o := &readOptions{}
	cmd := &cobra.Command{
		Use:   "read FILE...",
		Short: "Show every RDMAP message of a capture",
		Long: strings.TrimSpace(`
Shows every RDMAP message, a line each: the frame that completes it, its time,
its QP, its direction (I the initiator, R the responder; A and B where the
capture does not tell), what it is and how many octets it carries. Answers show
how long they took, and which message they answer. Events stand in their place:
"!!" is an error, "!" a warning, "--" is good to know; "~~~~" is a hole in the
capture, or octets that could not be read.

FILE is a pcap or pcapng file, plain or compressed (gzip, zstd, lz4, xz); "-"
is standard input. Several files are one capture, in the order given.

Exit status: 0 all was read; 1 not all could be read (what could be was shown);
2 wrong usage.`),
		Example: `  iwdump read capture.pcap
  iwdump read -v --qp 3 capture.pcapng
  iwdump read --json --fpdus capture.pcap | jq 'select(.record == "event")'
  iwdump read --from +2s --to +2.5s -t a capture.pcap`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, files []string) error { return o.run(cmd, files) },
	}
	o.show(cmd.Flags())
	cmd.Flags().BoolVar(&o.follow, "follow", false, "at the end of the last file wait for more of it, until Ctrl-C")
	o.input.flags(cmd)
	return cmd
}

// show adds the flags that say what is shown.
func (o *readOptions) show(f *pflag.FlagSet) {
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show every header field below each message")
	f.BoolVarP(&o.dump, "hex", "x", false, "show the payload of each message in hex")
	f.BoolVar(&o.fpdus, "fpdus", false, "show each FPDU too")
	f.BoolVar(&o.json, "json", false, "print JSON Lines (see 'iwdump schema')")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show the summary alone")
	f.IntVarP(&o.count, "count", "c", 0, "stop after so many messages")
	f.StringVarP(&o.time, "time", "t", "r", "times: r relative to the first frame, a absolute, ad with date, d since the line before, e epoch")
}

func needFiles(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("no file is given; \"-\" is standard input")
	}
	return nil
}

func (o *readOptions) run(cmd *cobra.Command, files []string) error {
	if err := o.prepare(); err != nil {
		return err
	}
	if o.count < 0 {
		return fmt.Errorf("--count: %d is negative", o.count)
	}
	o.sel.limit = o.count
	when, _ := cmd.Flags().GetString("color")
	color, err := useColor(when, cmd.OutOrStdout())
	if err != nil {
		return err
	}
	format, err := report.ParseTimeFormat(o.time)
	if err != nil {
		return err
	}
	d := decode.Options{Messages: !o.quiet, FPDUs: (o.fpdus || o.verbose && !o.json) && !o.quiet}
	if o.dump {
		d.KeepPayload = keepDump
	}
	switch {
	case o.json:
		return o.printJSON(cmd, files, d)
	case o.quiet:
		return o.printOverview(cmd, files, d)
	}
	if !o.verbose {
		d.Describe = qp.DescribeText
	}
	t := report.NewText(cmd.OutOrStdout(), report.TextOptions{Time: format, Color: color, ASCII: asciiOnly(), Tree: o.verbose, Dump: o.dump, FPDUs: o.fpdus})
	d.Begin = func(_ []capture.LinkType, first int64) { t.Start(first) }
	// What a block brought is shown before the next is waited for: the input
	// may be a pipe from a program that captures.
	d.Stop = func() bool { return t.Flush() != nil }
	o.listing = true
	stats, err := o.decode(cmd, files, t, d)
	if err := t.Flush(); err != nil {
		return err
	}
	switch {
	case stats.QPs == 0 && stats.Frames > 0:
		fmt.Fprintf(cmd.ErrOrStderr(), "iwdump: no iWARP in %d frames and %d TCP connections\n", stats.Frames, stats.TCPConnections)
	case isTerminal(cmd.ErrOrStderr()):
		fmt.Fprintf(cmd.ErrOrStderr(), "iwdump: %s\n", report.Closing(&stats))
	}
	return o.damage(&stats, err)
}

func (o *readOptions) printJSON(cmd *cobra.Command, files []string, d decode.Options) error {
	j := report.NewJSON(cmd.OutOrStdout())
	d.Operations = true
	d.Begin = func(links []capture.LinkType, _ int64) { j.Capture(o.files.Names(), links) }
	d.Stop = func() bool { return j.Flush() != nil }
	o.listing = true
	var sink qp.Sink = j
	if o.quiet {
		sink = summaries{sink}
		d.Operations = false
	}
	stats, err := o.decode(cmd, files, sink, d)
	j.Summary(&stats)
	if err := j.Flush(); err != nil {
		return err
	}
	return o.damage(&stats, err)
}

// summaries hands on nothing but the summaries of QPs.
type summaries struct{ qp.Sink }

func (summaries) Message(*qp.Message)     {}
func (summaries) FPDU(*qp.FPDU)           {}
func (summaries) Operation(*qp.Operation) {}

// onlyQPs hands on no events either.
type onlyQPs struct{ qp.Sink }

func (onlyQPs) Message(*qp.Message)     {}
func (onlyQPs) FPDU(*qp.FPDU)           {}
func (onlyQPs) Operation(*qp.Operation) {}
func (onlyQPs) Event(*qp.Event)         {}

func (o *readOptions) printOverview(cmd *cobra.Command, files []string, d decode.Options) error {
	v := report.NewOverview()
	stats, err := o.decode(cmd, files, v, d)
	if err := v.Write(cmd.OutOrStdout(), &stats, asciiOnly()); err != nil {
		return err
	}
	return o.damage(&stats, err)
}
