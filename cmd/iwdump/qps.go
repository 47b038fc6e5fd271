package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/report"
)

// qpsOptions are the flags of qps.
type qpsOptions struct {
	input
	report.QPsOptions
	by   string
	json bool
}

func qpsCommand() *cobra.Command {
	o := &qpsOptions{}
	cmd := &cobra.Command{
		Use:   "qps FILE...",
		Short: "Show a table of all QPs",
		Long: strings.TrimSpace(`
Shows a line for each QP: its ends, what they agreed on at startup (revision,
CRC, Markers, IRD/ORD of both, ready-to-receive message), how it ended and who
ended it, messages and payload of initiator / responder, the latency of its
reads, and how many errors (!!) and warnings (!) there were.`),
		Example: `  iwdump qps capture.pcap
  iwdump qps --sort p99 --top 20 capture.pcap
  iwdump qps --by listener capture.pcap`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, files []string) error { return o.run(cmd, files) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Sort, "sort", "number", "what to sort by: "+strings.Join(report.Orders, ", "))
	f.IntVar(&o.Top, "top", 0, "only so many, the first by --sort")
	f.BoolVar(&o.Wide, "wide", false, "more columns")
	f.StringVar(&o.by, "by", "qp", "what a line is: qp, or listener (all QPs of a responder's address and port)")
	f.BoolVar(&o.json, "json", false, "print the qp records as JSON Lines (see 'iwdump schema')")
	o.input.flags(cmd)
	return cmd
}

func (o *qpsOptions) run(cmd *cobra.Command, files []string) error {
	if err := o.prepare(); err != nil {
		return err
	}
	if !slices.Contains(report.Orders, o.Sort) {
		return fmt.Errorf("--sort %q is none of %s", o.Sort, strings.Join(report.Orders, ", "))
	}
	if o.by != "qp" && o.by != "listener" {
		return fmt.Errorf("--by %q is neither qp nor listener", o.by)
	}
	if o.Top < 0 {
		return fmt.Errorf("--top: %d is negative", o.Top)
	}
	if o.json {
		j := report.NewJSON(cmd.OutOrStdout())
		stats, err := o.decode(cmd, files, onlyQPs{j}, decode.Options{
			Begin: func(links []capture.LinkType, _ int64) { j.Capture(o.files.Names(), links) }})
		j.Summary(&stats)
		if err := j.Flush(); err != nil {
			return err
		}
		return o.damage(&stats, err)
	}
	t := report.NewQPs(o.by == "listener")
	stats, err := o.decode(cmd, files, t, decode.Options{})
	o.ASCII = asciiOnly()
	if err := t.Write(cmd.OutOrStdout(), o.QPsOptions); err != nil {
		return err
	}
	return o.damage(&stats, err)
}
