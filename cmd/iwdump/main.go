// Command iwdump turns captures of iWARP traffic into RDMAP messages,
// latencies and findings.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
