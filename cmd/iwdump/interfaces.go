package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/iwdump/iwdump/internal/netdev"
	"github.com/iwdump/iwdump/report"
)

func interfacesCommand() *cobra.Command {
	var asJSON bool
	var sys string
	cmd := &cobra.Command{
		Use:   "interfaces",
		Short: "List the network interfaces that can be captured on",
		Long: strings.TrimSpace(`
Lists the network interfaces with their state, speed and addresses, the RDMA
device where there is one, and whether a capture on this host sees its traffic:
that of soft-iWARP (siw) it does. Adapters that do iWARP themselves (cxgb4,
irdma, qedr, i40iw) hand their traffic past the kernel: for these mirror the
switch port, and capture where the mirror goes.`),
		Example: `  iwdump interfaces
  iwdump interfaces --json | jq -r 'select(.rdma) | .name'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := netdev.List(sys)
			if err != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "iwdump: listing the interfaces: %v\n", err)
				return errInput
			}
			if asJSON {
				j := report.NewJSON(cmd.OutOrStdout())
				for i := range list {
					j.Interface(&list[i])
				}
				return j.Flush()
			}
			return writeInterfaces(cmd.OutOrStdout(), list)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON Lines (see 'iwdump schema')")
	cmd.Flags().StringVar(&sys, "sysfs", netdev.Sys, "where sysfs is mounted")
	cmd.Flags().MarkHidden("sysfs")
	return cmd
}

func writeInterfaces(out io.Writer, list []netdev.Interface) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tSPEED\tMTU\tMAC\tADDRESSES\tRDMA\tSEEN BY A CAPTURE")
	for i := range list {
		x := &list[i]
		state := x.State
		switch {
		case !x.Up:
			state = "off"
		case state == "" || state == "unknown":
			state = "up"
		}
		rdma, note := []string{}, []string{}
		for k := range x.RDMA {
			d := &x.RDMA[k]
			name := d.Name
			if d.Driver != "" {
				name += " (" + d.Driver + ")"
			}
			rdma = append(rdma, name)
			if n := d.Note(); n != "" {
				note = append(note, n)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", x.Name, state, speed(x.Speed), x.MTU, orDash(x.MAC),
			orDash(strings.Join(x.Addresses, " ")), orDash(strings.Join(rdma, " ")), strings.Join(note, "; "))
	}
	return w.Flush()
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// speed writes a speed in the unit in which it is sold.
func speed(n int64) string {
	switch {
	case n == 0:
		return "-"
	case n%1e9 == 0:
		return fmt.Sprintf("%d Gb/s", n/1e9)
	case n > 1e9:
		return fmt.Sprintf("%.1f Gb/s", float64(n)/1e9)
	}
	return fmt.Sprintf("%d Mb/s", n/1e6)
}
