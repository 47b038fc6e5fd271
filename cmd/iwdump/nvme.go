package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/report"
)

// nvmeOptions are the flags of nvme.
type nvmeOptions struct {
	input
	json bool
}

func nvmeCommand() *cobra.Command {
	o := &nvmeOptions{}
	cmd := &cobra.Command{
		Use:   "nvme FILE...",
		Short: "Show NVMe controllers, queues and namespaces",
		Long: strings.TrimSpace(`
Shows the controllers of NVMe over RDMA: admin and I/O queues are joined by the
controller ID that they connected to, and the names of subsystem and host. For
each queue: its QP, its entries, how many commands were outstanding at most, how
many there were, failed, and had no answer, how much they read and wrote, and how
long they took; then the same for each namespace.`),
		Example: `  iwdump nvme capture.pcap
  iwdump nvme --json capture.pcap | jq '.queues[] | {qid, qp, max_depth}'`,
		Args: needFiles,
		RunE: func(cmd *cobra.Command, files []string) error { return o.run(cmd, files) },
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON Lines (see 'iwdump schema')")
	o.input.flags(cmd)
	return cmd
}

func (o *nvmeOptions) run(cmd *cobra.Command, files []string) error {
	if err := o.prepare(); err != nil {
		return err
	}
	n := report.NewNVMe()
	// With messages, so that QPs have the numbers that read gives them.
	stats, readErr := o.decode(cmd, files, n, decode.Options{Messages: true, Operations: true, Describe: qp.DescribeNone})
	write := func() error { return n.Write(cmd.OutOrStdout(), asciiOnly()) }
	if o.json {
		write = func() error { return n.WriteJSON(cmd.OutOrStdout()) }
	}
	if err := write(); err != nil {
		return err
	}
	return o.damage(&stats, readErr)
}
