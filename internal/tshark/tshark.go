// Package tshark holds what the dissectors of upper layers say against another
// program: it writes messages as they go over plain TCP, and asks tshark for
// their fields. It is for tests.
package tshark

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/iwdump/iwdump/capture"
)

// Need skips a test where there is no tshark. In continuous integration, where
// CI is set, it fails it.
func Need(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("tshark"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("tshark is not installed")
		}
		t.Skip("tshark is not installed, so there is nothing to compare with")
	}
}

// A Conversation is a TCP connection from a client to a port of a server.
type Conversation struct {
	Port uint16 // of the server

	pcap []byte
	seq  [2]uint32
	time int64
}

// segment is how many octets a packet carries at most.
const segment = 32000

// Send adds octets that the client sends, or the server where fromServer.
func (c *Conversation) Send(fromServer bool, b []byte) {
	for {
		n := min(len(b), segment)
		c.packet(fromServer, b[:n])
		if b = b[n:]; len(b) == 0 {
			return
		}
	}
}

func (c *Conversation) packet(fromServer bool, b []byte) {
	if c.pcap == nil {
		c.pcap = capture.AppendPcapHeader(nil, capture.LinkEthernet, 1<<18)
	}
	be := binary.BigEndian
	me, src, dst := 0, uint16(40000), c.Port
	client, server := []byte{10, 0, 0, 1}, []byte{10, 0, 0, 2}
	if fromServer {
		me, src, dst = 1, dst, src
		client, server = server, client
	}
	p := append(make([]byte, 12), 0x08, 0x00)
	p = append(p, 0x45, 0)
	p = be.AppendUint16(p, uint16(40+len(b)))
	p = append(p, 0, 0, 0x40, 0, 64, 6, 0, 0)
	p = append(p, client...)
	p = append(p, server...)
	p = be.AppendUint16(p, src)
	p = be.AppendUint16(p, dst)
	p = be.AppendUint32(p, c.seq[me]+1)
	p = be.AppendUint32(p, c.seq[1-me]+1)
	p = append(p, 0x50, 0x18, 0xFF, 0xFF, 0, 0, 0, 0)
	p = append(p, b...)
	c.seq[me] += uint32(len(b))
	c.time += 1e6
	c.pcap = capture.AppendPcapRecord(c.pcap, &capture.Frame{Time: c.time, Len: len(p), Data: p})
}

// Fields is what tshark says of the frames that a display filter selects: a row
// a frame, a column a field; values of the same field are joined by ";".
func (c *Conversation) Fields(t testing.TB, filter string, fields ...string) [][]string {
	t.Helper()
	args := []string{"-T", "fields", "-E", "aggregator=;", "-Y", filter}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	var rows [][]string
	for line := range strings.Lines(c.run(t, args...)) {
		rows = append(rows, strings.Split(strings.TrimRight(line, "\n"), "\t"))
	}
	return rows
}

// Text is what tshark -V says.
func (c *Conversation) Text(t testing.TB) string { return c.run(t, "-V") }

func (c *Conversation) run(t testing.TB, args ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "conversation.pcap")
	if err := os.WriteFile(name, c.pcap, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("tshark", append([]string{"-r", name}, args...)...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark %s: %v: %s", strings.Join(args, " "), err, complaint.String())
	}
	return string(out)
}

// values is what tshark says of all fields, which takes it a second.
var values = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("tshark", "-G", "values").Output()
	return string(out), err
})

// Values is the names that tshark has for the values of a field.
func Values(t testing.TB, field string) map[uint64]string {
	t.Helper()
	Need(t)
	out, err := values()
	if err != nil {
		t.Fatalf("tshark -G values: %v", err)
	}
	names := map[uint64]string{}
	for line := range strings.Lines(out) {
		c := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(c) != 4 || c[0] != "V" || c[1] != field {
			continue
		}
		v, err := strconv.ParseUint(c[2], 0, 64)
		if err != nil {
			t.Fatalf("tshark -G values: %q: %v", line, err)
		}
		names[v] = c[3]
	}
	if len(names) == 0 {
		t.Fatalf("tshark has no names for %s", field)
	}
	return names
}
