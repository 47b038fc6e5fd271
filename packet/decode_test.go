package packet_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/packet"
)

func frame(link capture.LinkType, data []byte) *capture.Frame {
	return &capture.Frame{Data: data, Len: len(data), Link: link}
}

func decode(f *capture.Frame) (packet.Segment, packet.Kind) {
	var (
		d packet.Decoder
		s packet.Segment
	)
	k := d.Decode(f, &s)
	return s, k
}

// The first frames of two captures of Linux soft-iWARP, rping-mtu1500-s64 and
// iwt-ipv6, and what they hold.
var synOctets = []struct {
	name   string
	octets string
	src    string
	dst    string
	seq    uint32
	window uint16
	id     uint16
	mss    uint16
	shift  int8
}{
	{
		name: "IPv4",
		octets: "52540077000252540077000108004500003cb5fe4000400670210a4d00010a4d" +
			"0002b2601c0638d77e6200000000a002faf06b920000020405b40402080ad9ad" +
			"6d910000000001030308",
		src: "10.77.0.1:45664", dst: "10.77.0.2:7174",
		seq: 953646690, window: 64240, id: 0xb5fe, mss: 1460, shift: 8,
	},
	{
		name: "IPv6",
		octets: "52540077000252540077000186dd600e23d800280640fd770000000000000000" +
			"000000000001fd77000000000000000000000000000288831b58126eea830000" +
			"0000a002fd2015af0000020405a00402080af64ca3360000000001030308",
		src: "[fd77::1]:34947", dst: "[fd77::2]:7000",
		seq: 309258883, window: 64800, mss: 1440, shift: 8,
	},
}

func TestDecodeOctets(t *testing.T) {
	for _, c := range synOctets {
		data, err := hex.DecodeString(c.octets)
		if err != nil {
			t.Fatal(err)
		}
		s, k := decode(frame(capture.LinkEthernet, data))
		if k != packet.TCP {
			t.Fatalf("%s: %v", c.name, k)
		}
		if src, dst := s.Flow.Src.AddrPort().String(), s.Flow.Dst.AddrPort().String(); src != c.src || dst != c.dst {
			t.Errorf("%s: from %s to %s", c.name, src, dst)
		}
		if got := s.Flow.Reverse().Src.AddrPort().String(); got != c.dst {
			t.Errorf("%s: the other direction is from %s", c.name, got)
		}
		if s.Seq != c.seq || s.Ack != 0 || s.Window != c.window || s.IPID != c.id || s.Flags != packet.SYN {
			t.Errorf("%s: %+v", c.name, s)
		}
		if s.MSS != c.mss || s.WScale != c.shift || s.Len != 0 || len(s.Payload) != 0 {
			t.Errorf("%s: MSS %d, shift %d, %d octets", c.name, s.MSS, s.WScale, s.Len)
		}
		if got := s.Checksum(); got != packet.SumOK {
			t.Errorf("%s: checksum verdict %d", c.name, got)
		}
		data[50] ^= 1
		if s, _ := decode(frame(capture.LinkEthernet, data)); s.Checksum() != packet.SumBad {
			t.Errorf("%s: a bit error goes unnoticed", c.name)
		}
	}
}

var (
	payload = []byte("payload!")
	segment = join(tcpHeader(0x18, nil), payload)
	packet4 = ipv4(6, segment)
	packet6 = ipv6(6, segment)
)

// checkSegment holds what was decoded against tcpHeader and payload.
func checkSegment(t *testing.T, f *capture.Frame, v6 bool) {
	t.Helper()
	s, k := decode(f)
	if k != packet.TCP {
		t.Errorf("kind %v", k)
		return
	}
	src, dst := "192.0.2.1:40000", "198.51.100.2:4420"
	if v6 {
		src, dst = "[2001:db8::1]:40000", "[2001:db8::2]:4420"
	}
	if got := s.Flow.Src.AddrPort().String(); got != src {
		t.Errorf("source %s, want %s", got, src)
	}
	if got := s.Flow.Dst.AddrPort().String(); got != dst {
		t.Errorf("destination %s, want %s", got, dst)
	}
	if s.Seq != 0x01020304 || s.Ack != 0x05060708 || s.Window != 0x0a0b || s.Flags != packet.PSH|packet.ACK {
		t.Errorf("header %+v", s)
	}
	if s.MSS != 0 || s.WScale != -1 {
		t.Errorf("MSS %d, shift %d without options", s.MSS, s.WScale)
	}
	if s.Len != len(payload) || !bytes.Equal(s.Payload, payload) {
		t.Errorf("payload %q of %d", s.Payload, s.Len)
	}
	id := uint16(0x1234)
	if v6 {
		id = 0
	}
	if s.IPID != id {
		t.Errorf("identification %#x, want %#x", s.IPID, id)
	}
}

func TestLinks(t *testing.T) {
	mac := packet4Ether()[:12]
	sll := func(proto uint16) []byte {
		h := make([]byte, 16)
		binary.BigEndian.PutUint16(h[14:], proto)
		return h
	}
	sll2 := func(proto uint16) []byte {
		h := make([]byte, 20)
		binary.BigEndian.PutUint16(h, proto)
		return h
	}
	for _, c := range []struct {
		name string
		link capture.LinkType
		data []byte
		v6   bool
	}{
		{"Ethernet IPv4", capture.LinkEthernet, ethernet(0x0800, packet4), false},
		{"Ethernet IPv6", capture.LinkEthernet, ethernet(0x86dd, packet6), true},
		{"802.1Q", capture.LinkEthernet, join(mac, []byte{0x81, 0, 0x20, 5, 8, 0}, packet4), false},
		{"802.1ad, 802.1Q", capture.LinkEthernet, join(mac, []byte{0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 0x86, 0xdd}, packet6), true},
		{"0x9100, 0x9200, 802.1Q twice", capture.LinkEthernet, join(mac, []byte{0x91, 0, 0, 5, 0x92, 0, 0, 5, 0x81, 0, 0, 6, 0x81, 0, 0, 6, 8, 0}, packet4), false},
		{"SLL", capture.LinkSLL, join(sll(0x0800), packet4), false},
		{"SLL IPv6", capture.LinkSLL, join(sll(0x86dd), packet6), true},
		{"SLL VLAN", capture.LinkSLL, join(sll(0x8100), []byte{0, 5, 8, 0}, packet4), false},
		{"SLL2", capture.LinkSLL2, join(sll2(0x0800), packet4), false},
		{"SLL2 VLAN", capture.LinkSLL2, join(sll2(0x8100), []byte{0, 5, 0x86, 0xdd}, packet6), true},
		{"raw", capture.LinkRaw, packet4, false},
		{"raw IPv6", capture.LinkRaw, packet6, true},
		{"raw 12", capture.LinkRaw12, packet4, false},
		{"raw 14", capture.LinkRaw14, packet6, true},
		{"IPv4", capture.LinkIPv4, packet4, false},
		{"IPv6", capture.LinkIPv6, packet6, true},
		{"null little-endian", capture.LinkNull, join([]byte{2, 0, 0, 0}, packet4), false},
		{"null big-endian", capture.LinkNull, join([]byte{0, 0, 0, 2}, packet4), false},
		{"null Linux", capture.LinkNull, join([]byte{10, 0, 0, 0}, packet6), true},
		{"null Windows", capture.LinkNull, join([]byte{23, 0, 0, 0}, packet6), true},
		{"null NetBSD", capture.LinkNull, join([]byte{0, 0, 0, 24}, packet6), true},
		{"null FreeBSD", capture.LinkNull, join([]byte{28, 0, 0, 0}, packet6), true},
		{"null Darwin", capture.LinkNull, join([]byte{30, 0, 0, 0}, packet6), true},
		{"loop", capture.LinkLoop, join([]byte{0, 0, 0, 2}, packet4), false},
		{"loop IPv6", capture.LinkLoop, join([]byte{0, 0, 0, 24}, packet6), true},
	} {
		t.Run(c.name, func(t *testing.T) { checkSegment(t, frame(c.link, c.data), c.v6) })
	}
}

func packet4Ether() []byte { return ethernet(0x0800, packet4) }

func TestIP(t *testing.T) {
	hop := func(next byte, more ...byte) []byte {
		return join([]byte{next, byte(len(more) / 8)}, []byte{5, 2, 0, 0, 1, 0}, more)
	}
	v4 := func(change func(h []byte)) []byte {
		b := slices.Clone(packet4)
		change(b)
		return b
	}
	for _, c := range []struct {
		name string
		data []byte
		v6   bool
	}{
		{"IPv4 options", ipv4Options(6, []byte{7, 7, 4, 0, 0, 0, 0, 0}, segment), false},
		{"IPv4 padded to an Ethernet frame", join(packet4, make([]byte, 18)), false},
		{"IPv6 with a check sequence behind", join(packet6, []byte{1, 2, 3, 4}), true},
		{"total length 0", v4(func(b []byte) { b[2], b[3] = 0, 0 }), false},
		{"do not fragment", v4(func(b []byte) { b[6] = 0x40 }), false},
		{"reserved bit", v4(func(b []byte) { b[6] = 0x80 }), false},
		{"IPv6 payload length 0", v6Length(packet6, 0), true},
		{"hop-by-hop", ipv6(0, hop(6), segment), true},
		{"hop-by-hop, destination, routing", ipv6(0, hop(60), hop(43, make([]byte, 16)...), hop(6), segment), true},
		{"mobility, HIP, shim6", ipv6(135, hop(139), hop(140), hop(6), segment), true},
		{"whole in one fragment", ipv6(44, []byte{6, 0, 0, 0, 1, 2, 3, 4}, segment), true},
		{"authenticated", ipv6(51, []byte{6, 4, 0, 0}, make([]byte, 20), segment), true},
		{"authenticated IPv4", ipv4(51, []byte{6, 4, 0, 0}, make([]byte, 20), segment), false},
	} {
		t.Run(c.name, func(t *testing.T) { checkSegment(t, frame(capture.LinkRaw, c.data), c.v6) })
	}
}

func v6Length(b []byte, n uint16) []byte {
	b = slices.Clone(b)
	binary.BigEndian.PutUint16(b[4:], n)
	return b
}

// A packet longer than 64 KiB has no length in its header: the frame tells.
func TestBigTCP(t *testing.T) {
	big := make([]byte, 200_000)
	p4, p6 := ipv4(6, tcpHeader(0x10, nil), big), ipv6(6, tcpHeader(0x10, nil), big)
	p4[2], p4[3] = 0, 0
	for _, data := range [][]byte{p4, v6Length(p6, 0)} {
		f := frame(capture.LinkRaw, data)
		if s, k := decode(f); k != packet.TCP || s.Len != len(big) || len(s.Payload) != len(big) {
			t.Errorf("%v with %d of %d octets", k, len(s.Payload), s.Len)
		}
		f.Data = f.Data[:100]
		if s, k := decode(f); k != packet.TCP || s.Len != len(big) || len(s.Payload) > 60 {
			t.Errorf("cut: %v with %d of %d octets", k, len(s.Payload), s.Len)
		}
		f.Len = 1<<31 - 1 // nobody sends that
		if _, k := decode(f); k != packet.Malformed {
			t.Errorf("2 GiB of it: %v", k)
		}
	}
}

func TestKinds(t *testing.T) {
	change := func(b []byte, at int, v ...byte) []byte {
		b = slices.Clone(b)
		copy(b[at:], v)
		return b
	}
	mac := packet4Ether()[:12]
	for _, c := range []struct {
		name string
		link capture.LinkType
		data []byte
		want packet.Kind
	}{
		{"ARP", capture.LinkEthernet, ethernet(0x0806, make([]byte, 28)), packet.NotIP},
		{"LLC", capture.LinkEthernet, ethernet(38, []byte{0x42, 0x42, 3}, make([]byte, 35)), packet.NotIP},
		{"SNAP", capture.LinkEthernet, ethernet(46, []byte{0xaa, 0xaa, 3, 0, 0, 0x0c, 0x20, 0}, make([]byte, 38)), packet.NotIP},
		{"SLL of 802.3", capture.LinkSLL, join(make([]byte, 14), []byte{0, 4}, make([]byte, 40)), packet.NotIP},
		{"family of AppleTalk", capture.LinkNull, join([]byte{16, 0, 0, 0}, make([]byte, 40)), packet.NotIP},
		{"UDP", capture.LinkRaw, ipv4(17, make([]byte, 8)), packet.NotTCP},
		{"ICMPv6 behind hop-by-hop", capture.LinkRaw, ipv6(0, []byte{58, 0, 5, 2, 0, 0, 1, 0}, make([]byte, 8)), packet.NotTCP},
		{"nothing behind IPv6", capture.LinkRaw, ipv6(59), packet.NotTCP},
		{"first fragment", capture.LinkRaw, change(packet4, 6, 0x20, 0), packet.Fragment},
		{"last fragment", capture.LinkRaw, change(packet4, 6, 0, 1), packet.Fragment},
		{"fragment of UDP", capture.LinkRaw, change(ipv4(17, make([]byte, 8)), 6, 0x20, 0), packet.Fragment},
		{"first IPv6 fragment", capture.LinkRaw, ipv6(44, []byte{6, 0, 0, 1, 1, 2, 3, 4}, segment), packet.Fragment},
		{"last IPv6 fragment", capture.LinkRaw, ipv6(44, []byte{6, 0, 0, 8, 1, 2, 3, 4}, segment), packet.Fragment},
		{"header length 4", capture.LinkRaw, change(packet4, 0, 0x44), packet.Malformed},
		{"header longer than the packet", capture.LinkRaw, change(packet4, 0, 0x4f), packet.Malformed},
		{"total length below the header's", capture.LinkRaw, change(packet4, 2, 0, 19), packet.Malformed},
		{"total length below TCP's", capture.LinkRaw, change(packet4, 2, 0, 39), packet.Malformed},
		{"IPv6 length below TCP's", capture.LinkRaw, v6Length(packet6, 19), packet.Malformed},
		{"IPv6 length below an extension's", capture.LinkRaw, v6Length(ipv6(0, []byte{6, 0, 5, 2, 0, 0, 1, 0}, segment), 7), packet.Malformed},
		{"extension beyond the packet", capture.LinkRaw, ipv6(0, []byte{6, 9, 5, 2, 0, 0, 1, 0}, segment), packet.Malformed},
		{"data offset 4", capture.LinkRaw, change(packet4, 32, 0x40), packet.Malformed},
		{"data offset beyond the packet", capture.LinkRaw, change(packet4, 32, 0xf0), packet.Malformed},
		{"raw version 5", capture.LinkRaw, change(packet4, 0, 0x55), packet.Malformed},
		{"IPv6 where the type says IPv4", capture.LinkEthernet, ethernet(0x0800, packet6), packet.Malformed},
		{"IPv4 where the type says IPv6", capture.LinkEthernet, ethernet(0x86dd, packet4), packet.Malformed},
		{"nothing", capture.LinkEthernet, nil, packet.Malformed},
		{"half an Ethernet header", capture.LinkEthernet, mac, packet.Malformed},
		{"half a VLAN tag", capture.LinkEthernet, join(mac, []byte{0x81, 0, 0}), packet.Malformed},
		{"half an IPv4 header", capture.LinkEthernet, packet4Ether()[:30], packet.Malformed},
		{"USB", 189, make([]byte, 60), packet.UnknownLink},
	} {
		if _, k := decode(frame(c.link, c.data)); k != c.want {
			t.Errorf("%s: %v, want %v", c.name, k, c.want)
		}
	}
}

// Cut at every octet: what was captured of the headers decides, and lengths on
// the wire stay right. A switch that mirrors only the start of a packet leaves
// a frame that does not know it was cut.
func TestCut(t *testing.T) {
	options := []byte{2, 4, 0x05, 0xb4, 1, 3, 3, 9}
	for _, c := range []struct {
		name string
		data []byte
		tcp  int // where its header begins
	}{
		{"IPv4", ethernet(0x0800, ipv4(6, tcpHeader(0x02, options), payload)), 34},
		{"IPv4 options", ethernet(0x0800, ipv4Options(6, make([]byte, 12), tcpHeader(0x02, options), payload)), 46},
		{"IPv6", ethernet(0x86dd, ipv6(6, tcpHeader(0x02, options), payload)), 54},
		{"IPv6 extension", ethernet(0x86dd, ipv6(60, make([]byte, 8), tcpHeader(0x02, options), payload)), 62},
	} {
		if c.name == "IPv6 extension" {
			c.data[54] = 6
		}
		for n := range len(c.data) {
			f := &capture.Frame{Data: c.data[:n:n], Len: len(c.data), Link: capture.LinkEthernet}
			s, k := decode(f)
			if n < c.tcp+16 {
				if k != packet.CutShort {
					t.Errorf("%s cut at %d: %v", c.name, n, k)
				}
				continue
			}
			if k != packet.TCP || s.Len != len(payload) || s.Seq != 0x01020304 {
				t.Errorf("%s cut at %d: %v, %+v", c.name, n, k, s)
			}
			if want := payload[:max(n-c.tcp-28, 0)]; !bytes.Equal(s.Payload, want) {
				t.Errorf("%s cut at %d: payload %q, want %q", c.name, n, s.Payload, want)
			}
			if got, want := s.MSS, uint16(1460); n >= c.tcp+24 && got != want || n < c.tcp+24 && got != 0 {
				t.Errorf("%s cut at %d: MSS %d", c.name, n, got)
			}
			if got := s.WScale; n >= c.tcp+28 && got != 9 || n < c.tcp+28 && got != -1 {
				t.Errorf("%s cut at %d: shift %d", c.name, n, got)
			}
			if s.Checksum() != packet.SumUnknown {
				t.Errorf("%s cut at %d: a verdict on the checksum", c.name, n)
			}
			f.Len = n
			if s2, k := decode(f); k != packet.TCP || s2.Len != s.Len || !bytes.Equal(s2.Payload, s.Payload) {
				t.Errorf("%s mirrored up to %d: %v, %d octets", c.name, n, k, s2.Len)
			}
		}
	}
}

// A total length beyond the frame is believed unless the header's checksum is
// wrong: the frame is the start of a packet. Otherwise the length is damaged,
// and the frame tells.
func TestTotalLengthBeyondFrame(t *testing.T) {
	data := ipv4Options(6, make([]byte, 4), segment)
	data[2], data[3] = 0x05, 0xdc // 1500
	data[10], data[11] = 0x35, 0xb2
	f := frame(capture.LinkRaw, data)
	if s, k := decode(f); k != packet.TCP || s.Len != len(payload) || !bytes.Equal(s.Payload, payload) {
		t.Errorf("damaged: %v with %d octets", k, s.Len)
	}
	// By hand: 4600 + 05dc + 1234 + 4000 + 4006 + c000 + 0201 + c633 + 6402
	// + 0000 + 0000 is 2ca4c, so ca4e, and the checksum its complement.
	for _, sum := range [][2]byte{{0x35, 0xb1}, {0, 0}} { // right, and not filled in
		copy(data[10:], sum[:])
		if s, k := decode(f); k != packet.TCP || s.Len != 1500-24-20 || !bytes.Equal(s.Payload, payload) {
			t.Errorf("checksum % x: %v with %d octets", sum, k, s.Len)
		}
	}
}

// Options that make no sense are passed over without harm.
func TestTCPOptions(t *testing.T) {
	for _, c := range []struct {
		options []byte
		mss     uint16
		shift   int8
	}{
		{[]byte{1, 1, 1, 3, 3, 0, 2, 4, 0x23, 0x28, 0, 0}, 9000, 0},
		{[]byte{0, 0, 0, 0, 2, 4, 0x23, 0x28}, 0, -1},            // behind the end
		{[]byte{3, 3, 200, 1}, 0, 14},                            // RFC 7323, section 2.3: as 14
		{[]byte{2, 3, 0x23, 1}, 0, -1},                           // MSS of one octet
		{[]byte{2, 0, 0, 0}, 0, -1},                              // length 0
		{[]byte{2, 1, 0, 0}, 0, -1},                              // length 1
		{[]byte{1, 1, 1, 2}, 0, -1},                              // no length
		{[]byte{1, 1, 2, 4}, 0, -1},                              // beyond the header
		{[]byte{254, 4, 0xf9, 0x89, 2, 4, 0x05, 0xb4}, 1460, -1}, // experimental (RFC 6994)
	} {
		s, k := decode(frame(capture.LinkRaw, ipv4(6, tcpHeader(0x12, c.options))))
		if k != packet.TCP || s.MSS != c.mss || s.WScale != c.shift {
			t.Errorf("% x: %v, MSS %d, shift %d", c.options, k, s.MSS, s.WScale)
		}
		// Options of other segments are of no interest.
		if s, _ := decode(frame(capture.LinkRaw, ipv4(6, tcpHeader(0x10, c.options)))); s.MSS != 0 || s.WScale != -1 {
			t.Errorf("% x without SYN: MSS %d, shift %d", c.options, s.MSS, s.WScale)
		}
	}
}

// A Segment that is used again carries nothing over.
func TestReuse(t *testing.T) {
	syn6 := ipv6(43, []byte{6, 0, 4, 1, 0, 0, 0, 0}, tcpHeader(0x02, []byte{2, 4, 5, 0xb4, 3, 3, 7, 0}), payload)
	var (
		d    packet.Decoder
		s, r packet.Segment
	)
	d.Decode(frame(capture.LinkRaw, syn6), &s)
	d.Decode(frame(capture.LinkRaw, packet4), &s)
	d.Decode(frame(capture.LinkRaw, packet4), &r)
	if s.Flow != r.Flow || s.MSS != r.MSS || s.WScale != r.WScale || s.IPID != r.IPID || s.Checksum() != r.Checksum() {
		t.Errorf("%+v\nwant\n%+v", s, r)
	}
}

func TestDecodeAllocs(t *testing.T) {
	f := frame(capture.LinkEthernet, packet4Ether())
	var (
		d packet.Decoder
		s packet.Segment
	)
	n := testing.AllocsPerRun(100, func() {
		d.Decode(f, &s)
		s.Checksum()
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
