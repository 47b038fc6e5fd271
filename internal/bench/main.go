// Command bench measures iwdump as a whole program, on inputs that it makes,
// against the least that such a program must do. See docs/performance.md.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	if len(os.Args) == 3 && (os.Args[1] == "floor" || os.Args[1] == "touch") {
		if err := floor(os.Args[2], os.Args[1] == "floor"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	program := flag.String("iwdump", "bin/iwdump", "the program to measure")
	dir := flag.String("dir", "bench", "where inputs are made")
	megabytes := flag.Int64("mb", 1000, "size of the inputs in MB")
	runs := flag.Int("runs", 5, "runs of each command; the median counts")
	only := flag.String("only", "", "only these inputs, by letter")
	grow := flag.Bool("growth", false, "how cost grows, instead of the inputs")
	path := flag.String("make", "", "make the input that -only names as this file, and do no more")
	flag.Parse()
	b := &bench{program: *program, dir: *dir, runs: *runs, mb: *megabytes, grow: *grow}
	ins := inputs(*megabytes)
	if *grow {
		ins = growth(*megabytes)
	}
	if *path != "" {
		if err := makeInput(*path, ins, *only); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := b.run(ins, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// inputs are those of docs/performance.md, by letter.
func inputs(mb int64) []input {
	size := mb * 1e6
	return []input{
		{name: "a", about: "1448-octet segments: Writes, Reads, Sends; CRC", size: size, mss: 1448, crc: true},
		{name: "b", about: "the same at 9000", size: size, mss: 8948, crc: true},
		{name: "c", about: "small messages, dozens an FPDU train", size: size / 5, mss: 1448, crc: true, small: true},
		{name: "d", about: "a with Markers", size: size, mss: 1448, crc: true, markers: true},
		{name: "e", about: "a without CRC", size: size, mss: 1448},
		{name: "f", about: "a with 2 % of the segments missing", size: size, mss: 1448, crc: true, loss: 2},
		{name: "g", about: "a over 20,000 connections", size: size, mss: 1448, crc: true, conns: 20000},
		{name: "h", about: "other TCP traffic", size: size, mss: 1448, other: true, conns: 100},
		{name: "i", about: "a real capture of NVMe-oF, over and over with other addresses", size: size, real: "testdata/pcaps/nvme-rdma-read4k.pcap"},
		{name: "j", about: "other TCP traffic, captured midway", size: size, mss: 1448, other: true, conns: 100, midway: true},
		{name: "w", about: "a over 64 connections, for workers", size: size, mss: 1448, crc: true, conns: 64},
		{name: "s", about: "a slice of a, for tshark", size: 40e6, mss: 1448, crc: true, slice: true},
	}
}

// growth are inputs that differ in one thing only, three sizes each.
func growth(mb int64) []input {
	size := mb * 1e6 / 4
	var ins []input
	add := func(about string, in input) {
		in.name, in.about = fmt.Sprint(len(ins)+1), about
		in.mss, in.crc = 1448, true
		if in.size == 0 {
			in.size = size
		}
		ins = append(ins, in)
	}
	for _, n := range []int64{1, 2, 4} {
		add(fmt.Sprintf("packets: %d MB", n*size/1e6), input{size: n * size})
	}
	for _, n := range []int{100, 1000, 10000} {
		add(fmt.Sprintf("connections: %d", n), input{conns: n})
	}
	for _, n := range []int{16, 256, 4096} {
		add(fmt.Sprintf("outstanding Reads: %d", n), input{small: true, depth: n})
	}
	for _, n := range []int{4, 40, 400} {
		add(fmt.Sprintf("one segment in ten late by %d frames", n), input{late: n})
	}
	return ins
}

type bench struct {
	program, dir string
	runs         int
	mb           int64
	grow         bool
}

// makeInput makes one of the inputs, and prints its truth.
func makeInput(path string, ins []input, name string) error {
	for _, in := range ins {
		if in.name == name {
			t, err := generate(path, in)
			if err != nil {
				return err
			}
			return json.NewEncoder(os.Stdout).Encode(t)
		}
	}
	return fmt.Errorf("there is no input %q", name)
}

// generate makes an input in a process of its own: what a program is told to
// have used at most includes what its parent had used when it started it.
func (b *bench) generate(path string, in input) (t truth, err error) {
	cmd := exec.Command(self(), "-make", path, "-only", in.name, "-mb", fmt.Sprint(b.mb), fmt.Sprintf("-growth=%t", b.grow))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return t, fmt.Errorf("making %s: %w", path, err)
	}
	return t, json.Unmarshal(out, &t)
}

func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// command is something to measure.
type command struct {
	name string
	args []string
	only string // letters of the inputs that it is for; empty: all but the slice
}

func (b *bench) commands() []command {
	self := self()
	cs := []command{
		{name: "cat", args: []string{"cat", "FILE"}},
		{name: "floor: read, CRC", args: []string{self, "floor", "FILE"}},
		{name: "touch: read, headers", args: []string{self, "touch", "FILE"}},
		{name: "read -q", args: []string{b.program, "read", "-q", "--workers", "1", "FILE"}},
		{name: "read -q, 2 workers", args: []string{b.program, "read", "-q", "--workers", "2", "FILE"}},
		{name: "latency -q", args: []string{b.program, "latency", "-q", "--workers", "1", "FILE"}, only: "abcdefgi"},
		{name: "check", args: []string{b.program, "check", "--workers", "1", "FILE"}, only: "abcdefgi"},
		{name: "read --json", args: []string{b.program, "read", "--json", "--workers", "1", "FILE"}, only: "abcdefgi"},
		{name: "read -q --no-recovery", args: []string{b.program, "read", "-q", "--workers", "1", "--no-recovery", "FILE"}, only: "j"},
	}
	if _, err := exec.LookPath("tcpdump"); err == nil {
		cs = append(cs, command{name: "tcpdump -w", args: []string{"tcpdump", "-r", "FILE", "-w", "/dev/null"}, only: "abh"})
	}
	if _, err := exec.LookPath("tshark"); err == nil {
		cs = append(cs, command{name: "tshark -T fields", args: []string{"tshark", "-o", "tcp.try_heuristic_first:TRUE", "-r", "FILE", "-T", "fields",
			"-e", "frame.number", "-e", "iwarp_rdma.opcode", "-e", "iwarp_ddp.stag", "-e", "iwarp_mpa.ulpdulength"}, only: "s"})
	}
	return cs
}

// result is what a command took.
type result struct {
	wall time.Duration // median
	rss  int64         // largest, octets
}

func (b *bench) run(ins []input, only string) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	commit, _ := exec.Command("git", "describe", "--tags", "--always", "--dirty").Output()
	cpu := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(info)) {
			if name, ok := strings.CutPrefix(line, "model name"); ok {
				cpu = strings.TrimSpace(strings.TrimLeft(name, "\t :"))
				break
			}
		}
	}
	fmt.Printf("commit %s, %s, %d CPUs, %s/%s, %s; median of %d runs, interleaved; files in the page cache\n\n",
		bytes.TrimSpace(commit), cpu, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), b.runs)
	if b.grow {
		fmt.Printf("| input | frames | QPs | ns a frame | peak MiB |\n|---|---:|---:|---:|---:|\n")
	}
	measure := b.measure
	if b.grow {
		measure = b.line
	}
	for _, in := range ins {
		if only != "" && !strings.Contains(only, in.name) {
			continue
		}
		if err := measure(in); err != nil {
			return fmt.Errorf("input %s: %w", in.name, err)
		}
	}
	return nil
}

func (b *bench) measure(in input) error {
	path := filepath.Join(b.dir, in.name+".pcap")
	t, err := b.generate(path, in)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	if err := b.check(path, in, t); err != nil {
		return err
	}
	var cs []command
	for _, c := range b.commands() {
		if c.only == "" && !in.slice || strings.Contains(c.only, in.name) || in.slice && c.name == "read -q" {
			cs = append(cs, c)
		}
	}
	walls := make([][]time.Duration, len(cs))
	results := make([]result, len(cs))
	for range b.runs {
		for i, c := range cs {
			wall, rss, err := once(c.args, path)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			walls[i] = append(walls[i], wall)
			results[i].rss = max(results[i].rss, rss)
		}
	}
	fmt.Printf("(%s) %s: %.0f MB, %d frames, %d QPs, %d FPDUs, %d messages\n\n", in.name, in.about, float64(t.Octets)/1e6, t.Frames, t.QPs, t.FPDUs, t.Messages)
	fmt.Printf("| command | GB/s | ns a frame | M FPDUs/s | M messages/s | peak MiB | × floor | × touch |\n|---|---:|---:|---:|---:|---:|---:|---:|\n")
	ref := map[string]time.Duration{}
	for i, c := range cs {
		slices.Sort(walls[i])
		results[i].wall = walls[i][len(walls[i])/2]
		ref[c.name] = results[i].wall
	}
	ratio := func(d, ref time.Duration) string {
		if ref == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f", float64(d)/float64(ref))
	}
	for i, c := range cs {
		s := results[i].wall.Seconds()
		fmt.Printf("| %s | %.2f | %.0f | %.2f | %.2f | %.0f | %s | %s |\n", c.name, float64(t.Octets)/1e9/s, 1e9*s/float64(t.Frames),
			float64(t.FPDUs)/1e6/s, float64(t.Messages)/1e6/s, float64(results[i].rss)/(1<<20),
			ratio(results[i].wall, ref["floor: read, CRC"]), ratio(results[i].wall, ref["touch: read, headers"]))
	}
	fmt.Println()
	return nil
}

// line measures read -q on an input, and prints a line of a table.
func (b *bench) line(in input) error {
	path := filepath.Join(b.dir, "growth.pcap")
	t, err := b.generate(path, in)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	if err := b.check(path, in, t); err != nil {
		return err
	}
	var walls []time.Duration
	var most int64
	for range b.runs {
		wall, rss, err := once([]string{b.program, "read", "-q", "--workers", "1", "FILE"}, path)
		if err != nil {
			return err
		}
		walls, most = append(walls, wall), max(most, rss)
	}
	slices.Sort(walls)
	fmt.Printf("| %s | %d | %d | %.0f | %.0f |\n", in.about, t.Frames, t.QPs, float64(walls[len(walls)/2].Nanoseconds())/float64(t.Frames), float64(most)/(1<<20))
	return nil
}

// check holds what iwdump counts against what was written.
func (b *bench) check(path string, in input, t truth) error {
	cmd := exec.Command(b.program, "read", "-q", "--json", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var last []byte
	for lines := bufio.NewScanner(out); lines.Scan(); {
		last = append(last[:0], lines.Bytes()...)
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	var s struct {
		Frames, QPs, FPDUs, Messages uint64
		CRCBad                       uint64 `json:"crc_bad"`
	}
	if err := json.Unmarshal(last, &s); err != nil {
		return err
	}
	if s.Frames != t.Frames || s.QPs != t.QPs || s.CRCBad != 0 || in.loss == 0 && (s.FPDUs != t.FPDUs || s.Messages != t.Messages) {
		return fmt.Errorf("iwdump counts %+v, written were %+v", s, t)
	}
	return nil
}

// once runs a command and returns how long it took, and its peak of memory.
func once(args []string, path string) (time.Duration, int64, error) {
	cmd := exec.Command(args[0], slices.Clone(args[1:])...)
	for i := range cmd.Args {
		if cmd.Args[i] == "FILE" {
			cmd.Args[i] = path
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return 0, 0, err
	}
	defer null.Close()
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = null, &stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	wall := time.Since(start)
	return wall, peak(cmd.ProcessState), nil
}
