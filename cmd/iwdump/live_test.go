//go:build linux && !libpcap

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/iwdump/iwdump/internal/vethtest"
	"github.com/iwdump/iwdump/report"
)

const pcaps = "../../testdata/pcaps/"

// A process is the program, capturing.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    bytes.Buffer
	mu     sync.Mutex
	err    bytes.Buffer // guarded by mu
	copied chan struct{}
}

// start starts the program and waits until it captures.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command("iwdump", append([]string{"live"}, args...)...), copied: make(chan struct{})}
	p.cmd.Stdout = &p.out
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill() })
	listening := make(chan bool, 1)
	go func() {
		defer close(p.copied)
		r := bufio.NewReader(stderr)
		for {
			line, err := r.ReadString('\n')
			p.mu.Lock()
			p.err.WriteString(line)
			p.mu.Unlock()
			if strings.Contains(line, "listening on") {
				listening <- true
			}
			if err != nil {
				close(listening)
				return
			}
		}
	}()
	if !<-listening {
		p.cmd.Wait()
		t.Fatalf("iwdump live %v: %s", args, p.said())
	}
	return p
}

// said returns what it has said on standard error so far.
func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err.String()
}

// end waits for the end, and returns what was printed and the exit status.
func (p *process) end() (out, err string, status int) {
	p.t.Helper()
	<-p.copied
	p.cmd.Wait()
	return p.out.String(), p.said(), p.cmd.ProcessState.ExitCode()
}

// stop ends it as Ctrl-C does.
func (p *process) stop() (out, err string, status int) {
	p.t.Helper()
	p.cmd.Process.Signal(os.Interrupt)
	return p.end()
}

// readJSON returns what read prints of a file.
func readJSON(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("iwdump", "read", "--json", name).Output()
	if err != nil {
		t.Fatalf("reading %s: %v", name, err)
	}
	return string(out)
}

var durations = regexp.MustCompile(`\d+ ns|\d+(\.\d+)?(ns|µs|ms|s)\b`)

// timeless returns records without what depends on the time, or on the file.
func timeless(t *testing.T, out string, drop ...string) []string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(out) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if v["record"] == "capture" {
			continue
		}
		dropTimes(v)
		for _, name := range append(drop, "start", "end", "latency") {
			delete(v, name)
		}
		if s, ok := v["detail"].(string); ok {
			v["detail"] = durations.ReplaceAllString(s, "T")
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(b))
	}
	return lines
}

// dropTimes drops all times from a record, and what is in it.
func dropTimes(v map[string]any) {
	for name, x := range v {
		if strings.HasSuffix(name, "_ns") || strings.HasSuffix(name, "time") {
			delete(v, name)
		} else if inner, ok := x.(map[string]any); ok {
			dropTimes(inner)
		}
	}
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Fatalf("record %d of %d (want %d):\n%s\nwant\n%s", i+1, len(got), len(want), g, w)
		}
	}
}

// What is captured is what read makes of the capture that is sent.
func TestLive(t *testing.T) {
	for _, name := range []string{"siw/iwt-allops.pcap.gz", "siw/iwt-ipv6.pcap.gz", "siw/vlan-rping.pcap.gz", "siw/iwt-term-readbadkey.pcap.gz",
		"siw/rping-mtu1500-s4096.pcap.gz", "synthetic/vlan-qinq-v6.pcap.gz", "synthetic/not-iwarp.pcap.gz", "synthetic/bad-crc.pcap.gz", "nvme-rdma-read4k.pcap"} {
		for _, args := range [][]string{{}, {"--workers", "1", vethtest.Far}} {
			t.Run(name+strings.Join(args, " "), func(t *testing.T) {
				n := vethtest.New(t)
				args := args
				if len(args) == 0 {
					args = []string{vethtest.Far}
				}
				p := start(t, append([]string{"--json"}, args...)...)
				frames := vethtest.Frames(t, pcaps+name)
				n.Send(frames)
				out, msg, status := p.stop()
				if status != 0 || !strings.Contains(msg, fmt.Sprintf("%d frames received by the filter, 0 dropped by the kernel, 0 dropped by iwdump\n", len(frames))) {
					t.Errorf("status %d, %s", status, msg)
				}
				compare(t, timeless(t, out), timeless(t, readJSON(t, pcaps+name)))
			})
		}
	}
}

// With GRO the kernel joins segments, so that frames are others, but not what
// they carry.
func TestLiveGRO(t *testing.T) {
	ethtool, err := exec.LookPath("ethtool")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("needs ethtool")
	}
	const name = pcaps + "siw/rping-mtu1500-s4096.pcap.gz"
	for _, gro := range []string{"on", "off"} {
		t.Run(gro, func(t *testing.T) {
			n := vethtest.New(t)
			n.Run(ethtool, "-K", vethtest.Far, "gro", gro)
			p := start(t, "--json", vethtest.Far)
			n.Send(vethtest.Frames(t, name))
			out, _, _ := p.stop()
			messages := func(out string) (lines []string) {
				for _, line := range timeless(t, out, "frame", "end_frame") {
					if strings.Contains(line, `"record":"message"`) {
						lines = append(lines, line)
					}
				}
				return lines
			}
			compare(t, messages(out), messages(readJSON(t, name)))
		})
	}
}

// Text and the overview, as a person sees them.
func TestLiveText(t *testing.T) {
	n := vethtest.New(t)
	frames := vethtest.Frames(t, pcaps+"siw/iwt-allops.pcap.gz")
	text, quiet := start(t, vethtest.Far), start(t, "-q", vethtest.Far)
	n.Send(frames)
	out, msg, status := text.stop()
	if want := fmt.Sprintf("iwdump: %d frames, 1 QP, ", len(frames)); status != 0 || !strings.Contains(out, "RDMA Read Request") || !strings.Contains(msg, want) {
		t.Errorf("status %d\n%s%s", status, out, msg)
	}
	out, msg, status = quiet.stop()
	if status != 0 || !strings.Contains(out, "QPs       1: 1 closed") {
		t.Errorf("status %d\n%s%s", status, out, msg)
	}
}

// -c and --duration end it by themselves.
func TestLiveEnds(t *testing.T) {
	n := vethtest.New(t)
	frames := vethtest.Frames(t, pcaps+"siw/iwt-allops.pcap.gz")
	p := start(t, "-c", "3", vethtest.Far)
	n.Send(frames)
	if out, msg, status := p.end(); status != 0 || strings.Count(out, "\n") != 3 {
		t.Errorf("status %d\n%s%s", status, out, msg)
	}
	p = start(t, "--duration", "1s", vethtest.Far)
	if _, msg, status := p.end(); status != 0 || !strings.Contains(msg, "0 frames received") {
		t.Errorf("status %d, %s", status, msg)
	}
}

func TestLiveVanished(t *testing.T) {
	n := vethtest.New(t)
	p := start(t, "-q", vethtest.Far)
	n.Send(vethtest.Frames(t, pcaps+"siw/iwt-allops.pcap.gz"))
	n.Run("ip", "link", "del", vethtest.Near)
	out, msg, status := p.end()
	if status != 1 || !strings.Contains(msg, "interface "+vethtest.Far+" has vanished") || !strings.Contains(out, "QPs       1") {
		t.Errorf("status %d\n%s%s", status, out, msg)
	}
}

// What is written is what was captured: by ourselves, and by tshark.
func TestLiveWrite(t *testing.T) {
	n := vethtest.New(t)
	const name = pcaps + "siw/vlan-rping.pcap.gz"
	file := filepath.Join(t.TempDir(), "out.pcapng")
	frames := vethtest.Frames(t, name)
	p := start(t, "-w", file, "--json", vethtest.Far)
	n.Send(frames)
	_, msg, status := p.stop()
	if status != 0 || !strings.Contains(msg, fmt.Sprintf("%d frames written to %s", len(frames), file)) {
		t.Errorf("status %d, %s", status, msg)
	}
	got := vethtest.Frames(t, file)
	if len(got) != len(frames) {
		t.Fatalf("%d frames, sent %d", len(got), len(frames))
	}
	for i := range got {
		if !bytes.Equal(got[i], frames[i]) {
			t.Fatalf("frame %d: % x, sent % x", i+1, got[i], frames[i])
		}
	}
	compare(t, timeless(t, readJSON(t, file)), timeless(t, readJSON(t, name)))
	if _, err := exec.LookPath("tshark"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Log("tshark is not there to read it too")
		return
	}
	out, err := exec.Command("tshark", "-r", file, "-T", "fields", "-e", "frame.len", "-e", "frame.interface_name", "-e", "vlan.id").Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(frames) {
		t.Fatalf("tshark sees %d frames of %d", len(lines), len(frames))
	}
	for i, f := range frames {
		want := fmt.Sprintf("%d\t%s\t", len(f), vethtest.Far)
		if f[12] == 0x81 && f[13] == 0 {
			want += fmt.Sprint(int(f[14]&0xf)<<8 | int(f[15]))
		}
		if lines[i] != strings.TrimRight(want, "\t") && lines[i] != want {
			t.Fatalf("tshark on frame %d: %q, want %q", i+1, lines[i], want)
		}
	}
}

// Only the connections that are iWARP are written, from their first frame on.
func TestLiveOnlyIWARP(t *testing.T) {
	n := vethtest.New(t)
	iwarp := vethtest.Frames(t, pcaps+"siw/iwt-allops.pcap.gz")
	other := vethtest.Frames(t, pcaps+"synthetic/not-iwarp.pcap.gz")
	file := filepath.Join(t.TempDir(), "out.pcapng")
	p := start(t, "-w", file, "--only-iwarp", "-q", vethtest.Far)
	half := len(other) / 2
	n.Send(other[:half])
	n.Send(iwarp)
	n.Send(other[half:])
	if _, msg, status := p.stop(); status != 0 {
		t.Errorf("status %d, %s", status, msg)
	}
	got := vethtest.Frames(t, file)
	if len(got) != len(iwarp) {
		t.Fatalf("%d frames, of iWARP are %d", len(got), len(iwarp))
	}
	for i := range got {
		if !bytes.Equal(got[i], iwarp[i]) {
			t.Fatalf("frame %d: % x, sent % x", i+1, got[i], iwarp[i])
		}
	}
}

// Whatever ends the program, what is in the file can be read.
func TestLiveKill(t *testing.T) {
	n := vethtest.New(t)
	frames := vethtest.Frames(t, pcaps+"siw/rping-mtu1500-s4096.pcap.gz")
	file := filepath.Join(t.TempDir(), "out.pcapng")
	p := start(t, "-w", file, "-q", vethtest.Far)
	killed := false
	for i := 0; !killed; i++ {
		n.Send(frames)
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if killed = info.Size() > 100_000; killed {
			n.Send(frames)
			p.cmd.Process.Kill()
		} else if i > 1000 {
			t.Fatal("nothing is written")
		}
	}
	p.end()
	out, _ := exec.Command("iwdump", "read", "-q", file).CombinedOutput()
	if text := string(out); !strings.Contains(text, " frames, ") || strings.Contains(text, "passed over") {
		t.Errorf("%s", text)
	}
}

// As another user it can still write; the file is that user's.
func TestLiveUser(t *testing.T) {
	n := vethtest.New(t)
	dir := publicDir(t)
	os.Chown(dir, nobody, nobody)
	file := filepath.Join(dir, "out.pcapng")
	frames := vethtest.Frames(t, pcaps+"siw/iwt-allops.pcap.gz")
	p := start(t, "-Z", "nobody", "-w", file, "-q", vethtest.Far)
	n.Send(frames)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^Uid:\t65534\t65534\t65534\t65534$`).Match(status) || !regexp.MustCompile(`(?m)^CapEff:\t0+$`).Match(status) {
		t.Errorf("%s", status)
	}
	if _, msg, status := p.stop(); status != 0 || !strings.Contains(msg, fmt.Sprintf("%d frames written", len(frames))) {
		t.Errorf("status %d, %s", status, msg)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if uid := info.Sys().(*syscall.Stat_t).Uid; uid != nobody {
		t.Errorf("the file is of user %d", uid)
	}
}

// nobody is the user of that name.
const nobody = 65534

// publicDir is a directory that everybody can read.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "iwdump")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Without the right to capture it says what is needed.
func TestLivePermission(t *testing.T) {
	vethtest.New(t)
	program, err := exec.LookPath("iwdump")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(publicDir(t), "iwdump")
	in, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(copied, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "live", vethtest.Far)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	cmd.Dir = "/"
	var msg bytes.Buffer
	cmd.Stderr = &msg
	cmd.Run()
	if status := cmd.ProcessState.ExitCode(); status != 1 || !strings.Contains(msg.String(), "CAP_NET_RAW") || !strings.Contains(msg.String(), "setcap cap_net_raw=eip "+copied) {
		t.Errorf("status %d, %s", status, msg.String())
	}
}

// A second signal ends it at once, though it has work left.
func TestLiveSecondSignal(t *testing.T) {
	vethtest.New(t)
	p := start(t, vethtest.Far)
	for range 1000 {
		p.cmd.Process.Signal(os.Interrupt)
		select {
		case <-p.copied:
		case <-time.After(time.Millisecond):
			continue
		}
		break
	}
	if _, _, status := p.end(); status != exitNow {
		t.Errorf("status %d", status)
	}
}

// schema returns the schema of a kind of record.
func schema(t *testing.T, record string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(report.SchemaJSON))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json#/$defs/" + record)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// valid returns the records of a kind, which are what the schema says.
func valid(t *testing.T, out, record string) (found []map[string]any) {
	t.Helper()
	s := schema(t, record)
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, `{"record":"`+record+`"`) {
			continue
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(line))
		if err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if err := s.Validate(v); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		found = append(found, v.(map[string]any))
	}
	return found
}

// The intervals together hold what came before the last of them ended.
func TestLiveInterval(t *testing.T) {
	n := vethtest.New(t)
	p := start(t, "--json", "--interval", "1s", "--duration", "4s", vethtest.Far)
	n.Send(vethtest.Frames(t, pcaps+"siw/iwt-allops.pcap.gz"))
	out, msg, status := p.end()
	intervals := valid(t, out, "interval")
	if status != 0 || len(intervals) == 0 {
		t.Fatalf("status %d, %d intervals\n%s%s", status, len(intervals), out, msg)
	}
	sum := int64(0)
	for _, v := range intervals {
		k, _ := v["messages"].(json.Number).Int64()
		sum += k
	}
	if want := int64(strings.Count(out, `{"record":"message"`)); sum != want || want == 0 {
		t.Errorf("%d messages in intervals, %d in all", sum, want)
	}
}

func TestInterfacesJSON(t *testing.T) {
	n := vethtest.New(t)
	n.Run("ip", "addr", "add", "192.0.2.1/24", "dev", vethtest.Far)
	sys := t.TempDir()
	dir := filepath.Join(sys, "class", "infiniband", "cxgb4_0")
	if err := os.MkdirAll(filepath.Join(dir, "device", "net", vethtest.Far), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "node_type"), []byte("4: RNIC\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("iwdump", "interfaces", "--json", "--sysfs", sys).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range valid(t, string(out), "interface") {
		if v["name"] != vethtest.Far {
			continue
		}
		rdma := v["rdma"].([]any)[0].(map[string]any)
		if v["up"] != true || v["addresses"].([]any)[0] != "192.0.2.1/24" || rdma["device"] != "cxgb4_0" || rdma["visibility"] != "offloaded" {
			t.Errorf("%v", v)
		}
		text, err := exec.Command("iwdump", "interfaces", "--sysfs", sys).Output()
		if err != nil || !regexp.MustCompile(`(?m)^far0 .* 192\.0\.2\.1/24 .* cxgb4_0 .*mirror the switch port`).Match(text) {
			t.Errorf("%v\n%s", err, text)
		}
		// A startup that nothing follows is told, with the device to blame.
		frames := vethtest.Frames(t, pcaps+"siw/iwt-allops.pcap.gz")
		var reply struct {
			Frame int `json:"end_frame"`
		}
		for line := range strings.Lines(readJSON(t, pcaps+"siw/iwt-allops.pcap.gz")) {
			if strings.Contains(line, `"op":"mpa_reply"`) && reply.Frame == 0 {
				if err := json.Unmarshal([]byte(line), &reply); err != nil {
					t.Fatal(err)
				}
			}
		}
		p := start(t, "-q", "--sysfs", sys, vethtest.Far)
		n.Send(frames[:reply.Frame])
		if _, msg, _ := p.stop(); !strings.Contains(msg, "nothing follows its startup. far0 has cxgb4_0: the adapter does iWARP itself") {
			t.Errorf("%s", msg)
		}
		p = start(t, "-q", "--sysfs", sys, vethtest.Far)
		n.Send(frames)
		if _, msg, _ := p.stop(); strings.Contains(msg, "nothing follows") {
			t.Errorf("%s", msg)
		}
		return
	}
	t.Errorf("no %s in\n%s", vethtest.Far, out)
}

// Prometheus is told what is captured, at an address that nobody else sees.
func TestLiveMetrics(t *testing.T) {
	n := vethtest.New(t)
	n.Run("ip", "link", "set", "lo", "up")
	p := start(t, "--metrics", "0", "--metrics-qps", "-q", vethtest.Far)
	// The address is told in front of what start waits for.
	address := regexp.MustCompile(`metrics at http://(127\.0\.0\.1:\d+)/metrics`).FindStringSubmatch(p.said())
	if address == nil {
		t.Fatalf("%s", p.said())
	}
	frames := vethtest.Frames(t, pcaps+"siw/iwt-allops.pcap.gz")
	n.Send(frames)
	want := fmt.Sprintf("\niwdump_capture_frames_total %d\n", len(frames))
	for i := 0; ; i++ {
		c, err := net.Dial("tcp", address[1])
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, "GET /metrics HTTP/1.0\r\n\r\n")
		answer, err := io.ReadAll(c)
		c.Close()
		if err != nil {
			t.Fatal(err)
		}
		text := string(answer)
		if strings.Contains(text, want) && strings.Contains(text, `iwdump_messages_total{op="mpa_request"} 1`) && strings.Contains(text, "iwdump_capture_dropped_frames_total 0") {
			break
		}
		if i > 500 {
			t.Fatalf("no %s in\n%s", want, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if _, msg, status := p.stop(); status != 0 {
		t.Errorf("status %d, %s", status, msg)
	}
}

// A thousand QPs at once.
func TestLiveMany(t *testing.T) {
	n := vethtest.New(t)
	p := start(t, "-q", "-B", "65536", vethtest.Far)
	port := uint16(0)
	var frames [][]byte // of one connection
	for _, f := range vethtest.Frames(t, pcaps+"siw/iwt-allops.pcap.gz") {
		src, dst := binary.BigEndian.Uint16(f[34:]), binary.BigEndian.Uint16(f[36:])
		if port == 0 {
			port = src
		}
		if src == port || dst == port {
			frames = append(frames, f)
		}
	}
	frames = frames[:40]
	const qps = 1000
	var all [qps][][]byte
	for i := range all {
		all[i] = vethtest.Copy(t, frames, port, uint16(20000+i))
	}
	for k := range frames {
		for i := range all {
			n.Send(all[i][k : k+1])
		}
	}
	out, msg, status := p.stop()
	if status != 0 || !strings.Contains(out, fmt.Sprintf("QPs       %d: ", qps)) || !strings.Contains(msg, fmt.Sprintf("%d frames received by the filter, 0 dropped by the kernel", qps*len(frames))) {
		t.Errorf("status %d\n%s%s", status, out, msg)
	}
}

// The screen is for terminals.
func TestLiveTop(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"live", "--top", "lo"}, "--top needs a terminal"},
		{[]string{"live", "--top", "--json", "lo"}, "--top excludes --json"},
	} {
		out, err := exec.Command("iwdump", c.args...).CombinedOutput()
		var failed *exec.ExitError
		if !errors.As(err, &failed) || failed.ExitCode() != exitUsage || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v\n%s", c.args, err, out)
		}
	}
}
