package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitOK    = 0
	exitInput = 1 // not all of the input could be read
	exitUsage = 2
)

// errInput says that not all of the input could be read. What was wrong has
// been told.
var errInput = errors.New("not all of the input could be read")

// run runs the program and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitOK // whoever reads has seen enough
	case errors.Is(err, errInput), errors.Is(err, errFound):
		return exitInput
	}
	var failed *os.PathError
	if errors.As(err, &failed) {
		fmt.Fprintf(stderr, "iwdump: %v\n", err)
		return exitInput
	}
	fmt.Fprintf(stderr, "iwdump: %v\nRun 'iwdump --help' for usage.\n", err)
	return exitUsage
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "iwdump",
		Short: "Show the RDMA operations in captures of iWARP traffic",
		Long: strings.TrimSpace(`
iwdump reads captures of iWARP traffic (RDMA over TCP: MPA, DDP and RDMAP) and
shows every RDMAP message of every QP, how long each operation took, and what
went wrong. It works on any port, and on captures that started late, lack
packets, or hold only headers.`),
		Example: `  iwdump read capture.pcap
  iwdump read -q monday.pcapng.gz tuesday.pcapng.gz
  tcpdump -i eth0 -w - tcp | iwdump read --json - | jq 'select(.op == "terminate")'`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.PersistentFlags().String("color", "auto", "when to use colours: auto, always or never")
	root.AddCommand(readCommand(), liveCommand(), interfacesCommand(), qpsCommand(), latencyCommand(), checkCommand(), timelineCommand(), nvmeCommand(), schemaCommand(), versionCommand())
	return root
}
