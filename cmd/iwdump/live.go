package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/iwdump/iwdump/capture/live"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/internal/metrics"
	"github.com/iwdump/iwdump/internal/netdev"
	"github.com/iwdump/iwdump/qp"
	"github.com/iwdump/iwdump/report"
)

// liveOptions are the flags of live.
type liveOptions struct {
	readOptions
	ring       int // KiB
	snaplen    int
	noPromisc  bool
	user       string
	duration   time.Duration
	idle       time.Duration
	interval   time.Duration
	write      string
	onlyIWARP  bool
	rotateSize string
	rotateTime time.Duration
	keepFiles  int
	sysfs      string
	metrics    string
	metricsQPs bool
	top        bool

	rotateOctets int64
}

func liveCommand() *cobra.Command {
	o := &liveOptions{}
	cmd := &cobra.Command{
		Use:   "live INTERFACE...",
		Short: "Show RDMAP messages as they pass a network interface",
		Long: strings.TrimSpace(`
Captures on network interfaces ("any" is all of them) and shows what 'read'
shows of a file, as it comes; 'iwdump interfaces' lists them. Ctrl-C, SIGTERM or
--duration end it: what has come is decoded, then it says how many frames were
received, dropped by the kernel and dropped by iwdump, and what they amounted
to. A second Ctrl-C ends it at once.

With --top it shows a screen instead, of the QPs that move most: s sorts by
something else, Enter shows the latest messages of a QP, p pauses, q ends.

With -w FILE what is captured is also written, as pcapng; with --rotate-size or
--rotate-time to a file after the other, with a number and the time in its name.

It needs the right to capture: root, or CAP_NET_RAW. Where the ring is full the
kernel drops frames; that is an event of its own (capture_drop), and holes that
are found behind it say so.

Exit status: 0 it ended as asked; 1 it could not capture, or not to the end
(an interface vanished); 2 wrong usage.`),
		Example: `  iwdump live eth0
  iwdump live -f 'tcp port 4420' --json eth0 | jq 'select(.op == "terminate")'
  iwdump live -w nvme.pcapng --only-iwarp --rotate-size 1G --files 10 -q --interval 10s eth0 eth1
  iwdump live --top eth0
  sudo iwdump live -Z nobody any`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no interface is given; 'iwdump interfaces' lists them")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, names []string) error { return o.runLive(cmd, names) },
	}
	f := cmd.Flags()
	o.show(f)
	f.IntVarP(&o.ring, "buffer-size", "B", live.DefaultRing>>10, "KiB of the ring that the kernel fills")
	f.IntVarP(&o.snaplen, "snaplen", "s", live.DefaultSnaplen, "capture so many octets of each frame")
	f.BoolVarP(&o.noPromisc, "no-promisc", "p", false, "do not put the interface into promiscuous mode")
	f.StringVarP(&o.user, "user", "Z", "", "go on as this user once the interface is open")
	f.DurationVar(&o.duration, "duration", 0, "end after this time")
	f.DurationVar(&o.idle, "idle-timeout", time.Hour, "forget connections that are idle for so long (0: never)")
	f.DurationVar(&o.interval, "interval", 0, "tell what happened each such interval, as in 10s")
	f.BoolVar(&o.top, "top", false, "a screen with the busiest QPs, refreshed every second")
	f.StringVar(&o.metrics, "metrics", "", "offer metrics to Prometheus at this PORT or HOST:PORT (a port alone: of 127.0.0.1)")
	f.BoolVar(&o.metricsQPs, "metrics-qps", false, "metrics of each open QP too")
	f.StringVarP(&o.write, "write", "w", "", "write what is captured to this file, as pcapng")
	f.BoolVar(&o.onlyIWARP, "only-iwarp", false, "write only connections that are iWARP")
	f.StringVar(&o.rotateSize, "rotate-size", "", "begin a new file after so many octets, as in 500M or 2G")
	f.DurationVar(&o.rotateTime, "rotate-time", 0, "begin a new file after this time, as in 1h")
	f.IntVar(&o.keepFiles, "files", 0, "keep only the newest so many files (0: all)")
	f.StringVar(&o.sysfs, "sysfs", netdev.Sys, "where sysfs is mounted")
	f.MarkHidden("sysfs")
	o.input.flags(cmd)
	return cmd
}

// watches says that sums are asked for while the capture goes on.
func (o *liveOptions) watches() bool { return o.interval > 0 || o.metrics != "" || o.top }

// check checks the flags.
func (o *liveOptions) check() error {
	if err := o.prepare(); err != nil {
		return err
	}
	var err error
	if o.rotateOctets, err = parseSize(o.rotateSize); err != nil {
		return fmt.Errorf("--rotate-size: %w", err)
	}
	if o.metrics != "" {
		if o.metrics, err = metrics.Address(o.metrics); err != nil {
			return fmt.Errorf("--metrics: %w", err)
		}
	}
	rotates := o.rotateOctets > 0 || o.rotateTime > 0
	switch {
	case o.count < 0:
		return fmt.Errorf("--count: %d is negative", o.count)
	case o.duration < 0:
		return fmt.Errorf("--duration: %v is negative", o.duration)
	case o.idle < 0:
		return fmt.Errorf("--idle-timeout: %v is negative", o.idle)
	case o.interval < 0 || o.interval > 0 && o.interval < time.Second:
		return fmt.Errorf("--interval: %v is less than 1s", o.interval)
	case o.rotateTime < 0 || o.rotateTime > 0 && o.rotateTime < time.Second:
		return fmt.Errorf("--rotate-time: %v is less than 1s", o.rotateTime)
	case o.rotateSize != "" && o.rotateOctets < 64<<10:
		return fmt.Errorf("--rotate-size: %s is less than 64K", o.rotateSize)
	case o.keepFiles < 0:
		return fmt.Errorf("--files: %d is negative", o.keepFiles)
	case o.keepFiles > 0 && !rotates:
		return errors.New("--files goes with --rotate-size or --rotate-time")
	case o.write == "" && (rotates || o.onlyIWARP):
		return errors.New("--rotate-size, --rotate-time and --only-iwarp go with -w FILE")
	case o.write == "-":
		return errors.New("-w writes to a file, not to standard output")
	}
	o.sel.limit = o.count
	return nil
}

// parseSize parses octets, with K, M, G or T for powers of 1024.
func parseSize(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	digits, unit := text, int64(1)
	if i := strings.IndexByte("KMGT", text[len(text)-1]&^0x20); i >= 0 {
		digits, unit = text[:len(text)-1], 1<<(10*(i+1))
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err == nil && strings.Trim(digits, "0123456789.") == "" && n*float64(unit) < 1<<60 {
		return int64(n * float64(unit)), nil
	}
	return 0, fmt.Errorf("%q is no size: give octets, or 500M or 2G", text)
}

// output is what is shown of the records.
type output struct {
	text  *report.Text
	json  *report.JSON
	view  *report.Overview
	quiet bool
	flush func() error
}

// decodeOptions are those that the flags ask for.
func (o *liveOptions) decodeOptions() decode.Options {
	d := decode.Options{
		Messages:    true, // for hints too
		FPDUs:       (o.fpdus || o.verbose && !o.json) && !o.quiet,
		Operations:  o.json && !o.quiet || o.watches(),
		Workers:     o.workers,
		NoRecovery:  o.startups,
		IdleTimeout: int64(o.idle),
		Upper:       o.upperLayers,
	}
	switch {
	case o.only != nil: // it may ask for any field
	case o.quiet:
		d.Describe = qp.DescribeNone
	case !o.json && !o.verbose:
		d.Describe = qp.DescribeText
	}
	if o.dump {
		d.KeepPayload = keepDump
	}
	return d
}
