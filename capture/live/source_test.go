//go:build linux && !libpcap

package live_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/capture/live"
	"github.com/iwdump/iwdump/internal/vethtest"
)

const pcaps = "../../testdata/pcaps/"

// open opens a Source that is closed with the test.
func open(t *testing.T, o live.Options, names ...string) *live.Source {
	t.Helper()
	s, err := live.Open(names, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// all stops a Source and returns what it had, and what ended it.
func all(t *testing.T, s *live.Source) (frames []capture.Frame, lost uint64, err error) {
	t.Helper()
	s.Stop()
	for {
		b, err := s.Next()
		if err != nil {
			return frames, lost, err
		}
		frames = append(frames, b.Frames...) // never released: the frames are used
		lost += b.Lost
	}
}

// What is sent comes out, octet for octet: VLAN tags, which the kernel takes
// out of the frame, included.
func TestFrames(t *testing.T) {
	for _, name := range []string{"siw/iwt-allops.pcap.gz", "siw/iwt-ipv6.pcap.gz", "siw/vlan-rping.pcap.gz", "synthetic/vlan-qinq-v6.pcap.gz"} {
		t.Run(name, func(t *testing.T) {
			n := vethtest.New(t)
			sent := vethtest.Frames(t, pcaps+name)
			before := time.Now().UnixNano()
			s := open(t, live.Options{}, vethtest.Far)
			n.Send(sent)
			got, lost, err := all(t, s)
			if err != io.EOF || lost != 0 {
				t.Errorf("%v, %d lost", err, lost)
			}
			if len(got) != len(sent) {
				t.Fatalf("%d frames, sent %d", len(got), len(sent))
			}
			last := before - int64(time.Minute) // the clock may be set
			for i, f := range got {
				if !bytes.Equal(f.Data, sent[i]) || f.Len != len(sent[i]) {
					t.Fatalf("frame %d:\n% x, length %d; sent\n% x", i+1, f.Data, f.Len, sent[i])
				}
				if f.Number != uint64(i+1) || f.Link != capture.LinkEthernet || f.Iface != 0 || f.Time < last {
					t.Fatalf("frame %d: number %d, link %v, interface %d, time %d behind %d", i+1, f.Number, f.Link, f.Iface, f.Time, last)
				}
				last = f.Time
			}
			if c := s.Counts(); c.Received != uint64(len(sent)) || c.Dropped != 0 {
				t.Errorf("%+v, sent %d", c, len(sent))
			}
		})
	}
}

func TestSnaplen(t *testing.T) {
	n := vethtest.New(t)
	sent := vethtest.Frames(t, pcaps+"siw/iwt-allops.pcap.gz")
	s := open(t, live.Options{Snaplen: 80}, vethtest.Far)
	n.Send(sent)
	got, _, _ := all(t, s)
	if len(got) != len(sent) {
		t.Fatalf("%d frames, sent %d", len(got), len(sent))
	}
	for i, f := range got {
		if want := sent[i][:min(80, len(sent[i]))]; !bytes.Equal(f.Data, want) || f.Len != len(sent[i]) {
			t.Fatalf("frame %d: % x, length %d; want % x, %d", i+1, f.Data, f.Len, want, len(sent[i]))
		}
	}
}

// Cooked frames have an SLL2 header: of each of the two interfaces, the one
// that sends (packet type 4) and the one that receives.
func TestAny(t *testing.T) {
	n := vethtest.New(t)
	for _, name := range []string{"siw/iwt-allops.pcap.gz", "siw/vlan-rping.pcap.gz"} {
		sent := vethtest.Frames(t, pcaps+name)
		s := open(t, live.Options{}, live.Any)
		n.Send(sent)
		got, _, _ := all(t, s)
		next := map[uint32]int{}
		for i, f := range got {
			if f.Link != capture.LinkSLL2 || len(f.Data) < 20 {
				t.Fatalf("frame %d: %v, %d octets", i+1, f.Link, len(f.Data))
			}
			index := binary.BigEndian.Uint32(f.Data[4:])
			want := sent[next[index]]
			next[index]++
			if f.Data[0] != want[12] || f.Data[1] != want[13] || !bytes.Equal(f.Data[20:], want[14:]) || f.Len != len(want)+6 {
				t.Fatalf("frame %d of interface %d:\n% x, sent\n% x", i+1, index, f.Data, want)
			}
			// ARPHRD_ETHER, an address of 6 octets: the sender's.
			if binary.BigEndian.Uint16(f.Data[8:]) != 1 || f.Data[11] != 6 || !bytes.Equal(f.Data[12:18], want[6:12]) {
				t.Fatalf("frame %d: % x", i+1, f.Data[:20])
			}
		}
		if len(next) != 2 || len(got) != 2*len(sent) {
			t.Fatalf("%d frames by interface %v, sent %d", len(got), next, len(sent))
		}
	}
}

// Several interfaces are told apart, and others left out.
func TestSeveral(t *testing.T) {
	n := vethtest.New(t)
	n.Run("ip", "link", "add", "other0", "type", "veth", "peer", "name", "other1")
	n.Run("ip", "link", "set", "other0", "addrgenmode", "none", "up")
	n.Run("ip", "link", "set", "other1", "addrgenmode", "none", "up")
	sent := vethtest.Frames(t, pcaps+"siw/iwt-allops.pcap.gz")
	s := open(t, live.Options{}, vethtest.Far, "other0")
	n.Send(sent)
	got, _, _ := all(t, s)
	if len(got) != len(sent) {
		t.Fatalf("%d frames, sent %d", len(got), len(sent))
	}
	s = open(t, live.Options{}, vethtest.Far, vethtest.Near)
	n.Send(sent)
	got, _, _ = all(t, s)
	var by [2]int
	for _, f := range got {
		by[f.Iface]++
	}
	if by != [2]int{len(sent), len(sent)} {
		t.Fatalf("frames by interface: %v, sent %d", by, len(sent))
	}
}

// A frame on the loopback interface passes it twice, and is captured once.
func TestLoopback(t *testing.T) {
	n := vethtest.New(t)
	n.Run("ip", "link", "set", "lo", "up")
	for _, name := range []string{"lo", live.Any} {
		s := open(t, live.Options{}, name)
		n.Run("sh", "-c", "echo x > /dev/udp/127.0.0.1/9 2>/dev/null || bash -c 'echo x > /dev/udp/127.0.0.1/9'")
		got, _, _ := all(t, s)
		// The datagram, and the ICMP message that nobody listens.
		if len(got) != 2 {
			t.Errorf("%s: %d frames, want 2", name, len(got))
		}
	}
}

// Of what does not fit into the ring nothing is lost silently.
func TestOverload(t *testing.T) {
	n := vethtest.New(t)
	s := open(t, live.Options{Ring: live.MinRing}, vethtest.Far)
	frame := make([]byte, 1400)
	copy(frame, "\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x88\xb5") // an EtherType for experiments
	const sent = 3000
	var frames [][]byte
	for i := range sent {
		f := bytes.Clone(frame)
		binary.BigEndian.PutUint32(f[14:], uint32(i))
		frames = append(frames, f)
	}
	n.Send(frames) // eight times what the ring holds, and nobody reads
	var first []byte
	b, err := s.Next()
	if err != nil {
		t.Fatal(err)
	}
	count, lost := len(b.Frames), b.Lost
	for i := range b.Frames {
		first = append(first, b.Frames[i].Data[14:18]...)
	}
	n.Send(frames[:1]) // where there is room again
	got, more, _ := all(t, s)
	count, lost = count+len(got), lost+more
	if uint64(count)+lost != sent+1 || lost == 0 || binary.BigEndian.Uint32(first) != 0 {
		t.Errorf("%d frames and %d lost, sent %d", count, lost, sent+1)
	}
	if c := s.Counts(); c.Received != sent+1 || c.Dropped != lost {
		t.Errorf("%+v, sent %d, %d lost", c, sent+1, lost)
	}
}

func TestVanished(t *testing.T) {
	n := vethtest.New(t)
	sent := vethtest.Frames(t, pcaps+"siw/iwt-allops.pcap.gz")
	s := open(t, live.Options{}, vethtest.Far)
	n.Send(sent)
	n.Run("ip", "link", "del", vethtest.Near)
	count := 0
	for {
		b, err := s.Next()
		if err != nil {
			var gone *live.GoneError
			if !errors.As(err, &gone) || gone.Interface != vethtest.Far {
				t.Errorf("%v", err)
			}
			break
		}
		count += len(b.Frames)
	}
	if count != len(sent) {
		t.Errorf("%d frames, sent %d", count, len(sent))
	}
}

// An interface that is only down comes back.
func TestDown(t *testing.T) {
	n := vethtest.New(t)
	sent := vethtest.Frames(t, pcaps+"siw/iwt-allops.pcap.gz")
	s := open(t, live.Options{}, vethtest.Far)
	n.Run("ip", "link", "set", vethtest.Far, "down")
	if b, err := s.Next(); err != nil || len(b.Frames) > 0 {
		t.Fatal(b, err)
	}
	n.Run("ip", "link", "set", vethtest.Far, "up")
	n.Send(sent)
	if got, _, err := all(t, s); len(got) != len(sent) || err != io.EOF {
		t.Errorf("%d frames, sent %d: %v", len(got), len(sent), err)
	}
}

func TestOpenErrors(t *testing.T) {
	n := vethtest.New(t)
	n.Run("ip", "link", "add", "down0", "type", "veth", "peer", "name", "down1")
	for _, c := range []struct {
		names []string
		o     live.Options
		want  string
	}{
		{nil, live.Options{}, "no interface"},
		{[]string{"nothere0"}, live.Options{}, "interface nothere0: no such device"},
		{[]string{"a-name-that-is-too-long"}, live.Options{}, "no name of an interface"},
		{[]string{"down0"}, live.Options{}, "is down"},
		{[]string{vethtest.Far, vethtest.Far}, live.Options{}, "twice"},
		{[]string{vethtest.Far, live.Any}, live.Options{}, "give it alone"},
		{[]string{vethtest.Far}, live.Options{Snaplen: -1}, "snaplen"},
		{[]string{vethtest.Far}, live.Options{Ring: 1}, "ring"},
	} {
		s, err := live.Open(c.names, c.o)
		if err == nil {
			s.Close()
			t.Errorf("%v %+v: no error", c.names, c.o)
		} else if !bytes.Contains([]byte(err.Error()), []byte(c.want)) {
			t.Errorf("%v %+v: %v, want %q", c.names, c.o, err, c.want)
		}
	}
}

func TestPermissionError(t *testing.T) {
	err := &live.PermissionError{Program: "/opt/my tools/iwdump", Err: os.ErrPermission}
	for _, want := range []string{"CAP_NET_RAW", "setcap cap_net_raw=eip '/opt/my tools/iwdump'"} {
		if !bytes.Contains([]byte(err.Error()), []byte(want)) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
}
