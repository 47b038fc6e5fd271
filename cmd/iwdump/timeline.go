package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/report"
)

// timelineOptions are the flags of timeline.
type timelineOptions struct {
	input
	full     bool
	ascii    bool
	width    int
	limit    int
	svg      string
	perfetto string
}

func timelineCommand() *cobra.Command {
	o := &timelineOptions{}
	cmd := &cobra.Command{
		Use:   "timeline FILE...",
		Short: "Draw a ladder diagram of QPs",
		Long: strings.TrimSpace(`
Draws a ladder for each QP: the initiator on the left, the responder on the
right, an arrow for each message, brackets that join requests with their
answers and how long those took. Runs of equal messages and idle stretches are
folded; holes in the capture (~) and what was sent again (dots) are drawn.`),
		Example: `  iwdump timeline --qp 1 capture.pcap
  iwdump timeline --from +1.2s --to +1.3s --full capture.pcap
  iwdump timeline --qp 1 --svg qp1.svg capture.pcap
  iwdump timeline --perfetto trace.json capture.pcap   # open in ui.perfetto.dev`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, files []string) error { return o.run(cmd, files) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.full, "full", false, "fold nothing")
	f.BoolVar(&o.ascii, "ascii", false, "draw with ASCII characters alone")
	f.IntVar(&o.width, "width", 0, "columns (0: those of the terminal)")
	f.IntVar(&o.limit, "limit", 100_000, "keep up to so many messages")
	f.StringVar(&o.svg, "svg", "", "draw to this file, as a picture, instead")
	f.StringVar(&o.perfetto, "perfetto", "", "write a trace for ui.perfetto.dev to this file instead")
	o.input.flags(cmd)
	return cmd
}

func (o *timelineOptions) run(cmd *cobra.Command, files []string) error {
	if err := o.prepare(); err != nil {
		return err
	}
	switch {
	case o.limit < 1:
		return fmt.Errorf("--limit: %d is less than 1", o.limit)
	case o.width < 0:
		return fmt.Errorf("--width: %d is negative", o.width)
	case o.svg != "" && o.perfetto != "":
		return errors.New("--svg and --perfetto exclude each other")
	}
	if o.perfetto != "" {
		p := report.NewPerfetto(o.limit)
		stats, err := o.decode(cmd, files, p, decode.Options{Messages: true, Operations: true, Describe: qp.DescribeNone, Begin: func(_ []capture.LinkType, first int64) { p.Begin(first) }})
		if err := writeFile(o.perfetto, p.Write); err != nil {
			return err
		}
		o.tell(p.Left(), "operations")
		return o.damage(&stats, err)
	}
	l := report.NewLadder(o.limit)
	stats, err := o.decode(cmd, files, l, decode.Options{Messages: true, Describe: qp.DescribeText, Begin: func(_ []capture.LinkType, first int64) { l.Begin(first) }})
	if o.svg != "" {
		if err := writeFile(o.svg, func(w io.Writer) error { return l.WriteSVG(w, o.full) }); err != nil {
			return err
		}
	} else {
		w := report.LadderOptions{Width: o.width, ASCII: o.ascii || asciiOnly(), Full: o.full}
		if w.Width == 0 {
			w.Width = terminalWidth(cmd.OutOrStdout())
		}
		if err := l.Write(cmd.OutOrStdout(), w); err != nil {
			return err
		}
	}
	o.tell(l.Left(), "messages and events")
	return o.damage(&stats, err)
}

// tell says what the limit left out.
func (o *timelineOptions) tell(left uint64, what string) {
	if left > 0 {
		fmt.Fprintf(o.stderr, "iwdump: %d %s are not shown, since --limit is %d\n", left, what, o.limit)
	}
}
