// Command iwdump turns captures of iWARP traffic into RDMAP messages,
// latencies and findings.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// Whoever reads what is written may have seen enough: that is no failure.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
