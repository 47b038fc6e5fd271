//go:build linux

// Package vethtest gives tests a network of their own: two interfaces joined by
// a cable, in a network namespace that nobody else sees and that goes with the
// test. It needs root and the ip program; without them the test is skipped, or
// fails where the environment says CI.
package vethtest

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/iwdump/iwdump/capture"
)

// Names of the interfaces: what is sent on Near arrives on Far.
const (
	Near = "near0"
	Far  = "far0"
)

// A Net is a namespace. The test's goroutine is in it from New on, and so are
// the programs that it starts.
type Net struct {
	t  testing.TB
	fd int
}

// New makes the namespace. It must be called by the test's own goroutine.
func New(t testing.TB) *Net {
	t.Helper()
	skip := t.Skip
	if os.Getenv("CI") != "" {
		skip = t.Fatal
	}
	if os.Geteuid() != 0 {
		skip("needs root, for a network namespace")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		skip("needs the ip program (package iproute2)")
	}
	// The thread is never unlocked: it ends with the goroutine, and with it
	// the namespace and all in it.
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		skip("needs a network namespace: ", err)
	}
	n := &Net{t: t, fd: -1}
	n.Run("ip", "link", "add", Near, "type", "veth", "peer", "name", Far)
	for _, name := range []string{Near, Far} {
		// Without addresses of its own the kernel sends nothing.
		n.Run("ip", "link", "set", name, "addrgenmode", "none", "mtu", "65535")
		n.Run("ip", "link", "set", name, "up")
	}
	return n
}

// Run runs a program in the namespace.
func (n *Net) Run(name string, args ...string) {
	n.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		n.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// Send sends frames on Near, as they are, and returns when Far has received
// them.
func (n *Net) Send(frames [][]byte) {
	n.t.Helper()
	if n.fd < 0 {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			n.t.Fatal(err)
		}
		n.fd = fd
		n.t.Cleanup(func() { unix.Close(fd) })
		q, err := unix.NewIfreq(Near)
		if err != nil {
			n.t.Fatal(err)
		}
		if err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, q); err != nil {
			n.t.Fatal(err)
		}
		if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: int(q.Uint32())}); err != nil {
			n.t.Fatal(err)
		}
	}
	// The kernel drops what is sent before it has noticed that a link is up.
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && !(n.running(Near) && n.running(Far)); {
		time.Sleep(time.Millisecond)
	}
	before := received()
	defer func() {
		for end := time.Now().Add(time.Minute); before >= 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
			if now := received(); now < 0 || now-before >= len(frames) {
				return
			}
		}
	}()
	for i, f := range frames {
		for {
			_, err := unix.Write(n.fd, f)
			if err == nil {
				break
			}
			if !errors.Is(err, unix.ENOBUFS) && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
				n.t.Fatalf("sending frame %d of %d octets: %v", i+1, len(f), err)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// running says whether an interface can carry frames.
func (n *Net) running(name string) bool {
	q, err := unix.NewIfreq(name)
	if err != nil {
		return false
	}
	return unix.IoctlIfreq(n.fd, unix.SIOCGIFFLAGS, q) == nil && q.Uint16()&unix.IFF_RUNNING != 0
}

// received returns how many frames Far has received, -1 where that is not known.
func received() int {
	table, err := os.ReadFile("/proc/thread-self/net/dev")
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(table)) {
		name, counts, _ := strings.Cut(strings.TrimSpace(line), ":")
		if fields := strings.Fields(counts); name == Far && len(fields) > 1 {
			if n, err := strconv.Atoi(fields[1]); err == nil { // behind the octets
				return n
			}
		}
	}
	return -1
}

// Frames returns the frames of a capture.
func Frames(t testing.TB, name string) (frames [][]byte) {
	t.Helper()
	src := capture.Open([]string{name}, nil, capture.Options{})
	defer src.Close()
	for {
		b, err := src.Next()
		if err == io.EOF {
			return frames
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Frames {
			frames = append(frames, append([]byte(nil), b.Frames[i].Data...))
		}
		b.Release()
	}
}

// Copy returns frames of TCP over IPv4 over Ethernet with another port in
// place of one, and the checksums that go with it (RFC 1624, section 3).
func Copy(t testing.TB, frames [][]byte, from, to uint16) (list [][]byte) {
	t.Helper()
	for i, f := range frames {
		f = append([]byte(nil), f...)
		if len(f) < 34 || f[12] != 8 || f[13] != 0 || f[23] != 6 {
			t.Fatalf("frame %d is not TCP over IPv4", i+1)
		}
		tcp := f[14+4*int(f[14]&0xf):]
		for _, port := range [][]byte{tcp[:2], tcp[2:4]} {
			if binary.BigEndian.Uint16(port) == from {
				binary.BigEndian.PutUint16(port, to)
				sum := uint32(^binary.BigEndian.Uint16(tcp[16:])) + uint32(^from) + uint32(to)
				sum = sum&0xffff + sum>>16
				sum = sum&0xffff + sum>>16
				binary.BigEndian.PutUint16(tcp[16:], ^uint16(sum))
			}
		}
		list = append(list, f)
	}
	return list
}
