package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdump/iwdump/finding"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/report"
)

// errFound says that check found errors. They have been told.
var errFound = errors.New("errors were found")

// checkOptions are the flags of check.
type checkOptions struct {
	input
	severity string
	json     bool
}

func checkCommand() *cobra.Command {
	o := &checkOptions{}
	cmd := &cobra.Command{
		Use:   "check FILE...",
		Short: "Tell what is wrong or odd in a capture",
		Long: strings.TrimSpace(`
Tells what is wrong or odd in a capture, most severe first: what was found and
where, what it means, and what to look at next. Each kind is told once for a QP,
with how often it occurred. docs/findings.md explains all kinds.

Exit status: 0 no errors were found; 1 errors were found, or not all of the
input could be read; 2 wrong usage.`),
		Example: `  iwdump check capture.pcap
  iwdump check --severity info capture.pcap
  iwdump check --json capture.pcap | jq -r .id | sort | uniq -c`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, files []string) error { return o.run(cmd, files) },
	}
	f := cmd.Flags()
	f.StringVar(&o.severity, "severity", "warning", "tell findings of this severity and above: info, warning, error")
	f.BoolVar(&o.json, "json", false, "print JSON Lines (see 'iwdump schema')")
	o.input.flags(cmd)
	return cmd
}

func (o *checkOptions) run(cmd *cobra.Command, files []string) error {
	if err := o.prepare(); err != nil {
		return err
	}
	least := qp.Info
	for ; least.String() != o.severity; least++ {
		if least == qp.Error {
			return fmt.Errorf("--severity %q is none of info, warning, error", o.severity)
		}
	}
	c := finding.New()
	stats, readErr := o.decode(cmd, files, c, decode.Options{Messages: true, Operations: true, Describe: qp.DescribeNone})
	c.Damage(stats.Damage)
	found := c.Findings(least)
	var err error
	if o.json {
		err = report.WriteFindingsJSON(cmd.OutOrStdout(), found)
	} else {
		when, _ := cmd.Flags().GetString("color")
		color, errColor := useColor(when, cmd.OutOrStdout())
		if errColor != nil {
			return errColor
		}
		err = report.WriteFindings(cmd.OutOrStdout(), found, &stats, color, terminalWidth(cmd.OutOrStdout()))
	}
	if err != nil {
		return err
	}
	if n := c.Dropped(); n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "iwdump: %d occurrences had no room among the findings\n", n)
	}
	if err := o.damage(&stats, readErr); err != nil {
		return err
	}
	if len(found) > 0 && found[0].Severity == qp.Error {
		return errFound
	}
	return nil
}
