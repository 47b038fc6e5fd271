package live

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/capture"
)

// A ringFrame is a frame as the kernel puts it into the ring.
type ringFrame struct {
	data      []byte
	size      int
	sec, nsec uint32
	status    uint32
	tci, tpid uint16
	index     uint32
	kind      byte // PACKET_HOST, PACKET_OUTGOING, …
	proto     uint16
}

// ringBlock makes a block of the ring (linux/if_packet.h).
func ringBlock(frames ...ringFrame) []byte {
	b := make([]byte, blockHeadLen)
	binary.NativeEndian.PutUint32(b[8:], 1) // TP_STATUS_USER
	binary.NativeEndian.PutUint32(b[12:], uint32(len(frames)))
	binary.NativeEndian.PutUint32(b[16:], blockHeadLen)
	for i, f := range frames {
		h := make([]byte, 80) // struct tpacket3_hdr, sockaddr_ll, and room
		if i < len(frames)-1 {
			binary.NativeEndian.PutUint32(h[0:], uint32(80+(len(f.data)+7)&^7))
		}
		binary.NativeEndian.PutUint32(h[4:], f.sec)
		binary.NativeEndian.PutUint32(h[8:], f.nsec)
		binary.NativeEndian.PutUint32(h[12:], uint32(len(f.data)))
		binary.NativeEndian.PutUint32(h[16:], uint32(f.size))
		binary.NativeEndian.PutUint32(h[20:], f.status)
		binary.NativeEndian.PutUint16(h[24:], 80)
		binary.NativeEndian.PutUint32(h[32:], uint32(f.tci))
		binary.NativeEndian.PutUint16(h[36:], f.tpid)
		binary.NativeEndian.PutUint16(h[48:], 17) // AF_PACKET
		binary.BigEndian.PutUint16(h[50:], f.proto)
		binary.NativeEndian.PutUint32(h[52:], f.index)
		binary.NativeEndian.PutUint16(h[56:], 1) // ARPHRD_ETHER
		h[58], h[59] = f.kind, 6
		copy(h[60:], "\x02\x00\x00\x00\x00\x0a")
		b = append(append(b, h...), f.data...)
		b = append(b, make([]byte, -len(f.data)&7)...)
	}
	return b
}

const (
	macs    = "\x02\x00\x00\x00\x00\x0b\x02\x00\x00\x00\x00\x0a"
	ipv4    = "\x08\x00"
	payload = "E..."
)

func parse(p *parser, b []byte) []capture.Frame {
	var blk capture.Block
	p.copy(b, make([]byte, 0, p.size(b)), &blk)
	return blk.Frames
}

func TestParseBlock(t *testing.T) {
	const vlanValid, tpidValid = 1 << 4, 1 << 6
	ethernet := []byte(macs + ipv4 + payload)
	for _, c := range []struct {
		name string
		p    parser
		in   []ringFrame
		want []capture.Frame
	}{
		{"plain", parser{link: capture.LinkEthernet},
			[]ringFrame{{data: ethernet, size: 60, sec: 1, nsec: 5}, {data: ethernet, size: 18, sec: 2}},
			[]capture.Frame{{Data: ethernet, Len: 60, Time: 1e9 + 5, Number: 1, Link: capture.LinkEthernet}, {Data: ethernet, Len: 18, Time: 2e9, Number: 2, Link: capture.LinkEthernet}}},
		{"VLAN 7, priority 5", parser{link: capture.LinkEthernet},
			[]ringFrame{{data: ethernet, size: 60, status: vlanValid, tci: 0xa007}},
			[]capture.Frame{{Data: []byte(macs + "\x81\x00\xa0\x07" + ipv4 + payload), Len: 64, Number: 1, Link: capture.LinkEthernet}}},
		{"VLAN 0", parser{link: capture.LinkEthernet}, // a priority tag: 802.1Q, section 9.6
			[]ringFrame{{data: ethernet, size: 60, status: vlanValid}},
			[]capture.Frame{{Data: []byte(macs + "\x81\x00\x00\x00" + ipv4 + payload), Len: 64, Number: 1, Link: capture.LinkEthernet}}},
		{"802.1ad", parser{link: capture.LinkEthernet},
			[]ringFrame{{data: ethernet, size: 60, status: vlanValid | tpidValid, tci: 9, tpid: 0x88a8}},
			[]capture.Frame{{Data: []byte(macs + "\x88\xa8\x00\x09" + ipv4 + payload), Len: 64, Number: 1, Link: capture.LinkEthernet}}},
		{"cut inside the addresses", parser{link: capture.LinkEthernet},
			[]ringFrame{{data: ethernet[:10], size: 60, status: vlanValid, tci: 9}},
			[]capture.Frame{{Data: ethernet[:10], Len: 64, Number: 1, Link: capture.LinkEthernet}}},
		{"cooked", parser{link: capture.LinkSLL2, ifaces: map[uint32]uint32{3: 1}},
			[]ringFrame{{data: []byte(payload), size: 40, index: 3, kind: 4, proto: 0x0800}},
			[]capture.Frame{{Data: []byte("\x08\x00\x00\x00\x00\x00\x00\x03\x00\x01\x04\x06\x02\x00\x00\x00\x00\x0a\x00\x00" + payload), Len: 60, Number: 1, Link: capture.LinkSLL2, Iface: 1}}},
		{"cooked VLAN", parser{link: capture.LinkSLL2},
			[]ringFrame{{data: []byte(payload), size: 40, index: 3, proto: 0x86dd, status: vlanValid, tci: 9}},
			[]capture.Frame{{Data: []byte("\x81\x00\x00\x00\x00\x00\x00\x03\x00\x01\x00\x06\x02\x00\x00\x00\x00\x0a\x00\x00\x00\x09\x86\xdd" + payload), Len: 64, Number: 1, Link: capture.LinkSLL2}}},
		{"loopback", parser{link: capture.LinkEthernet, loopback: 1},
			[]ringFrame{{data: ethernet, size: 18, index: 1, kind: 4}, {data: ethernet, size: 18, index: 1}, {data: ethernet, size: 18, index: 2, kind: 4}},
			[]capture.Frame{{Data: ethernet, Len: 18, Number: 1, Link: capture.LinkEthernet}, {Data: ethernet, Len: 18, Number: 2, Link: capture.LinkEthernet}}},
		{"none", parser{link: capture.LinkEthernet}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, parse(&c.p, ringBlock(c.in...))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSkipped(t *testing.T) {
	p := parser{link: capture.LinkEthernet, loopback: 1}
	parse(&p, ringBlock(ringFrame{data: []byte(macs), index: 1, kind: 4}))
	if p.skipped != 1 || p.number != 0 {
		t.Errorf("%d skipped, %d numbered", p.skipped, p.number)
	}
}

// A block that lies about itself yields the frames before the lie.
func TestParseBad(t *testing.T) {
	good := ringBlock(ringFrame{data: []byte(macs), size: 12}, ringFrame{data: []byte(macs), size: 12})
	for n := range good {
		p := parser{link: capture.LinkEthernet}
		if got := parse(&p, good[:n]); len(got) > 2 {
			t.Errorf("%d frames in %d octets", len(got), n)
		}
	}
	second := bytes.Clone(good)
	binary.NativeEndian.PutUint32(second[blockHeadLen:], 1<<31) // the next frame is far away
	p := parser{link: capture.LinkEthernet}
	if got := parse(&p, second); len(got) != 1 {
		t.Errorf("%d frames", len(got))
	}
}

func FuzzParse(f *testing.F) {
	f.Add(ringBlock(ringFrame{data: []byte(macs + ipv4 + payload), size: 60, status: 1 << 4, tci: 7}), true)
	f.Add(ringBlock(ringFrame{data: []byte(payload), size: 60, proto: 0x800}, ringFrame{}), false)
	f.Fuzz(func(t *testing.T, b []byte, cooked bool) {
		p := parser{link: capture.LinkEthernet}
		if cooked {
			p.link = capture.LinkSLL2
		}
		n := p.size(b)
		total := 0
		for i, x := range parse(&p, b) {
			if x.Len < len(x.Data) || x.Number != uint64(i+1) {
				t.Fatalf("frame %d: %+v", i+1, x)
			}
			total += len(x.Data)
		}
		if total > n {
			t.Fatalf("%d octets, %d expected", total, n)
		}
	})
}

func TestProgram(t *testing.T) {
	p, err := program("", capture.LinkEthernet, 100, []uint32{4, 9})
	if err != nil {
		t.Fatal(err)
	}
	// ld ifidx; jeq 4, accept; jeq 9, accept; ret 0; accept: ret 100
	if len(p) != 5 {
		t.Fatalf("%v", p)
	}
}
