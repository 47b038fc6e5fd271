package packet_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/packet"
)

func udp(port uint16, payload ...[]byte) []byte {
	body := join(payload...)
	n := 8 + len(body)
	return join([]byte{0xc0, 0, byte(port >> 8), byte(port), byte(n >> 8), byte(n), 0, 0}, body)
}

var (
	inner = ethernet(0x0800, ipv4(6, tcpHeader(0x18, nil), payload))
	llc   = []byte{0xaa, 0xaa, 3, 0, 0, 0, 8, 0}
)

// clothes is what is put around one segment: the headers as their
// specifications draw them.
var clothes = []struct {
	name string
	link capture.LinkType
	data []byte
}{
	{"IP in IP", capture.LinkRaw, ipv4(4, packet4)},
	{"6in4", capture.LinkRaw, ipv4(41, packet6)},
	{"4in6", capture.LinkEthernet, ethernet(0x86dd, ipv6(4, packet4))},
	{"IP in IP in IP", capture.LinkEthernet, ethernet(0x0800, ipv4(4, ipv4(4, packet4)))},
	{"IP behind a destination option", capture.LinkRaw, ipv6(60, []byte{4, 0, 1, 4, 0, 0, 0, 0}, packet4)},
	{"GRE", capture.LinkRaw, ipv4(47, []byte{0, 0, 8, 0}, packet4)},
	{"GRE with checksum, key and sequence", capture.LinkRaw, ipv4(47, []byte{0xb0, 0, 0x86, 0xdd, 1, 2, 0, 0, 0, 0, 0, 9, 0, 0, 0, 1}, packet6)},
	{"GRE with routing", capture.LinkRaw, ipv4(47, []byte{0x40, 0, 8, 0, 0, 0, 0, 0, 0, 2, 0, 4, 10, 0, 0, 1, 0, 0, 0, 0}, packet4)},
	{"GRE bridging", capture.LinkRaw, ipv4(47, []byte{0, 0, 0x65, 0x58}, inner)},
	{"GRE version 1, PPP", capture.LinkRaw, ipv4(47, []byte{0x30, 0x81, 0x88, 0x0b, 0, 9, 0, 1, 0, 0, 0, 5, 0, 0, 0, 4}, []byte{0xff, 3, 0, 0x21}, packet4)},
	{"ERSPAN I", capture.LinkRaw, ipv4(47, []byte{0, 0, 0x88, 0xbe}, inner)},
	{"ERSPAN II", capture.LinkRaw, ipv4(47, []byte{0x10, 0, 0x88, 0xbe, 0, 0, 0, 7}, []byte{0x10, 0x64, 0, 1, 0, 0, 0, 3}, inner)},
	{"ERSPAN III", capture.LinkRaw, ipv4(47, []byte{0x10, 0, 0x22, 0xeb, 0, 0, 0, 7}, []byte{0x20, 0x64, 0, 1, 1, 2, 3, 4, 0, 0, 0, 0}, inner)},
	{"ERSPAN III, platform part", capture.LinkRaw, ipv4(47, []byte{0x10, 0, 0x22, 0xeb, 0, 0, 0, 7}, []byte{0x20, 0x64, 0, 1, 1, 2, 3, 4, 0, 0, 0, 1}, make([]byte, 8), inner)},
	{"ERSPAN III of IP", capture.LinkRaw, ipv4(47, []byte{0x10, 0, 0x22, 0xeb, 0, 0, 0, 7}, []byte{0x20, 0x64, 0, 1, 1, 2, 3, 4, 0, 0, 0x08, 0}, packet4)},
	{"VXLAN", capture.LinkRaw, ipv4(17, udp(4789, []byte{8, 0, 0, 0, 0, 0, 5, 0}, inner))},
	{"VXLAN over IPv6, old port", capture.LinkRaw, ipv6(17, udp(8472, []byte{8, 0, 0, 0, 0, 0, 5, 0}, inner))},
	{"VXLAN-GPE of IPv4", capture.LinkRaw, ipv4(17, udp(4790, []byte{0x0c, 0, 0, 1, 0, 0, 5, 0}, packet4))},
	{"VXLAN of VLAN", capture.LinkRaw, ipv4(17, udp(4789, []byte{8, 0, 0, 0, 0, 0, 5, 0}, ethernet(0x8100, []byte{0, 5, 8, 0}, packet4)))},
	{"Geneve", capture.LinkRaw, ipv4(17, udp(6081, []byte{0, 0, 0x65, 0x58, 0, 0, 9, 0}, inner))},
	{"Geneve with options", capture.LinkRaw, ipv4(17, udp(6081, []byte{2, 0, 0x65, 0x58, 0, 0, 9, 0, 1, 2, 3, 1, 0, 0, 0, 0}, inner))},
	{"GTP-U", capture.LinkRaw, ipv4(17, udp(2152, []byte{0x30, 0xff, 0, byte(len(packet4)), 0, 0, 0, 1}, packet4))},
	{"GTP-U with an extension", capture.LinkRaw, ipv4(17, udp(2152, []byte{0x34, 0xff, 0, byte(len(packet4) + 8), 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0}, packet4))},
	{"MPLS", capture.LinkEthernet, ethernet(0x8847, []byte{0, 1, 0x01, 64}, packet4)},
	{"MPLS, three labels", capture.LinkEthernet, ethernet(0x8847, []byte{0, 1, 0, 64, 0, 2, 0, 64, 0, 3, 1, 64}, packet6)},
	{"Ethernet over MPLS", capture.LinkEthernet, ethernet(0x8847, []byte{0, 1, 1, 64}, inner)},
	{"Ethernet over MPLS, control word", capture.LinkEthernet, ethernet(0x8847, []byte{0, 1, 1, 64, 0, 0, 0, 0}, inner)},
	{"MPLS in UDP", capture.LinkRaw, ipv4(17, udp(6635, []byte{0, 1, 1, 64}, packet4))},
	{"GRE in UDP", capture.LinkRaw, ipv4(17, udp(4754, []byte{0, 0, 8, 0}, packet4))},
	{"EtherIP", capture.LinkRaw, ipv4(97, []byte{0x30, 0}, inner)},
	{"PPPoE", capture.LinkEthernet, ethernet(0x8864, []byte{0x11, 0, 0, 5, 0, byte(len(packet4) + 2), 0, 0x21}, packet4)},
	{"PPPoE, VLAN, trailer", capture.LinkEthernet, join(ethernet(0x8100, []byte{0, 5, 0x88, 0x64, 0x11, 0, 0, 5, 0, byte(len(packet6) + 2), 0, 0x57}, packet6), make([]byte, 4))},
	{"SNAP", capture.LinkEthernet, ethernet(uint16(8+len(packet4)), llc, packet4)},
	{"PPP", capture.LinkPPP, join([]byte{0xff, 3, 0, 0x21}, packet4)},
	{"PPP, compressed", capture.LinkPPPHDLC, join([]byte{0x21}, packet4)},
	{"PPP with direction", capture.LinkPPPDir, join([]byte{1, 0xff, 3, 0, 0x57}, packet6)},
	{"C HDLC", capture.LinkCHDLC, join([]byte{0x0f, 0, 8, 0}, packet4)},
	{"FDDI", capture.LinkFDDI, join([]byte{0x50}, make([]byte, 12), llc, packet4)},
	{"RFC 1483", capture.LinkATM, join(llc, packet4)},
	{"IP over FC", capture.LinkIPoverFC, join(make([]byte, 16), llc, packet4)},
	{"IPoIB", capture.LinkIPoIB, join(make([]byte, 40), []byte{8, 0, 0, 0}, packet4)},
	{"IEEE 1394", capture.LinkIEEE1394, join(make([]byte, 16), []byte{8, 0}, packet4)},
	{"pflog", capture.LinkPFLog, join([]byte{61, 2, 0, 0}, make([]byte, 60), packet4)},
	{"802.11", capture.Link80211, join([]byte{0x08, 0x01}, make([]byte, 22), llc, packet4)},
	{"802.11 QoS, four addresses", capture.Link80211, join([]byte{0x88, 0x03}, make([]byte, 28), []byte{0, 0}, llc, packet4)},
	{"radiotap", capture.LinkRadiotap, join([]byte{0, 0, 9, 0, 2, 0, 0, 0, 0x10}, []byte{0x08, 0x02}, make([]byte, 22), llc, packet4, []byte{1, 2, 3, 4})},
	{"Prism", capture.LinkPrism, join([]byte{0x44, 0, 0, 0, 144, 0, 0, 0}, make([]byte, 136), []byte{0x08, 0x02}, make([]byte, 22), llc, packet4)},
	{"AVS", capture.LinkAVS, join([]byte{0x80, 0x21, 0x10, 1, 0, 0, 0, 64}, make([]byte, 56), []byte{0x08, 0x02}, make([]byte, 22), llc, packet4)},
	{"PPI", capture.LinkPPI, join([]byte{0, 0, 8, 0, 1, 0, 0, 0}, inner)},
	{"pktap", capture.LinkPktap, join([]byte{108, 0, 0, 0, 1, 0, 0, 0, 12, 0, 0, 0}, make([]byte, 96), packet4)},
	{"nflog", capture.LinkNFLog, join([]byte{2, 0, 0, 0, 8, 0, 1, 0, 8, 0, 1, 0, 5, 0, 10, 0, 0, 0, 0, 0, byte(4 + len(packet4)), 0, 9, 0}, packet4)},
	{"nflog, big-endian", capture.LinkNFLog, join([]byte{10, 0, 0, 0, 0, 8, 0, 1, 8, 0, 1, 0, 0, byte(4 + len(packet6)), 0, 9}, packet6)},
	{"netANALYZER", capture.LinkNetAnalyzer, join(make([]byte, 4), inner)},
	{"netANALYZER with preamble", capture.LinkNetAnalyzerT, join(make([]byte, 12), inner)},
	{"mPacket", capture.LinkMPacket, join([]byte{0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0xd5}, inner)},
	{"VN-tag", capture.LinkEthernet, ethernet(0x8926, []byte{0, 1, 0, 2, 8, 0}, packet4)},
	{"mirrored twice", capture.LinkEthernet, ethernet(0x0800, ipv4(47, []byte{0x10, 0, 0x88, 0xbe, 0, 0, 0, 7}, make([]byte, 8),
		ethernet(0x0800, ipv4(17, udp(4789, []byte{8, 0, 0, 0, 0, 0, 5, 0}, inner)))))},
}

// In all of them there is the same segment. Cut anywhere, there is that
// segment, with less of its payload, or no more than its outer headers.
func TestClothes(t *testing.T) {
	for _, c := range clothes {
		s, k := decode(frame(c.link, c.data))
		if k != packet.TCP || s.Seq != 0x01020304 || s.Len != len(payload) || !bytes.Equal(s.Payload, payload) ||
			s.Flow.Src.Port != 40000 || s.Flow.Dst.Port != 4420 {
			t.Errorf("%s: %v, %+v", c.name, k, s)
			continue
		}
		if a := s.Flow.Src.AddrPort().Addr().String(); a != "192.0.2.1" && a != "2001:db8::1" {
			t.Errorf("%s: from %s", c.name, a)
		}
		at := bytes.LastIndex(c.data, []byte{0x9c, 0x40, 0x11, 0x44})
		for n := range len(c.data) {
			f := &capture.Frame{Data: c.data[:n:n], Len: len(c.data), Link: c.link}
			s, k := decode(f)
			switch {
			case n < at+16 && k != packet.CutShort:
				t.Errorf("%s cut at %d: %v", c.name, n, k)
			case n >= at+16 && (k != packet.TCP || s.Len != len(payload)):
				t.Errorf("%s cut at %d: %v, %d octets", c.name, n, k, s.Len)
			}
		}
	}
}

// gopacket finds the same in those that it knows. It takes the last four octets
// of 802.11 frames for their check sequence.
func TestClothesGopacket(t *testing.T) {
	n := 0
	for _, c := range clothes {
		if c.link > 255 || layers.LinkTypeMetadata[c.link].DecodeWith == nil {
			continue
		}
		p := gopacket.NewPacket(c.data, layers.LinkType(c.link), gopacket.Default)
		tcp, _ := p.Layer(layers.LayerTypeTCP).(*layers.TCP)
		if tcp == nil {
			continue
		}
		n++
		if s, _ := decode(frame(c.link, c.data)); s.Seq != tcp.Seq || !bytes.HasPrefix(tcp.Payload, s.Payload) && !bytes.HasPrefix(s.Payload, tcp.Payload) {
			t.Errorf("%s: sequence number %d, %d octets; gopacket has %d, %d", c.name, s.Seq, len(s.Payload), tcp.Seq, len(tcp.Payload))
		}
	}
	if n < 15 {
		t.Errorf("gopacket found TCP in only %d", n)
	}
}

// What is not for us behind a port or a header that could be a tunnel's.
func TestNoClothes(t *testing.T) {
	for _, c := range []struct {
		name string
		link capture.LinkType
		data []byte
		want packet.Kind
	}{
		{"VXLAN port without the flag", capture.LinkRaw, ipv4(17, udp(4789, make([]byte, 8), inner)), packet.NotTCP},
		{"GTP echo", capture.LinkRaw, ipv4(17, udp(2152, []byte{0x32, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0})), packet.NotTCP},
		{"GTP extension of no length", capture.LinkRaw, ipv4(17, udp(2152, []byte{0x34, 0xff, 0, 60, 0, 0, 0, 1, 0, 0, 0, 0x85, 0, 0, 9, 0}, packet4)), packet.Malformed},
		{"Geneve of another version", capture.LinkRaw, ipv4(17, udp(6081, []byte{0x40, 0, 0x65, 0x58, 0, 0, 9, 0}, inner)), packet.NotTCP},
		{"PPPoE discovery", capture.LinkEthernet, ethernet(0x8864, []byte{0x11, 9, 0, 5, 0, 2, 0, 0x21}, packet4), packet.NotIP},
		{"PPP LCP", capture.LinkPPP, []byte{0xff, 3, 0xc0, 0x21, 1, 0, 0, 4}, packet.NotIP},
		{"802.11 encrypted", capture.Link80211, join([]byte{0x08, 0x41}, make([]byte, 22), llc, packet4), packet.NotIP},
		{"802.11 beacon", capture.Link80211, join([]byte{0x80, 0}, make([]byte, 60)), packet.NotIP},
		{"GRE of ARP", capture.LinkRaw, ipv4(47, []byte{0, 0, 8, 6}, make([]byte, 28)), packet.NotIP},
		{"pktap of USB", capture.LinkPktap, join([]byte{12, 0, 0, 0, 1, 0, 0, 0, 189, 0, 0, 0}, make([]byte, 30)), packet.UnknownLink},
		{"pktap of no length", capture.LinkPktap, join([]byte{0, 0, 0, 0, 1, 0, 0, 0, 2, 1, 0, 0}, make([]byte, 30)), packet.Malformed},
	} {
		if _, k := decode(frame(c.link, c.data)); k != c.want {
			t.Errorf("%s: %v, want %v", c.name, k, c.want)
		}
	}
	// Headers in headers, until there is no room for more.
	b := packet4
	for len(b) < 60000 {
		b = ipv4(4, b)
	}
	if _, k := decode(frame(capture.LinkRaw, b)); k != packet.TooDeep {
		t.Errorf("IP in IP in IP …: %v", k)
	}
	// A header that names its own link type as what is inside.
	deep := join(bytes.Repeat([]byte{12, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0, 0}, 1000), packet4)
	if _, k := decode(frame(capture.LinkPktap, deep)); k != packet.TooDeep {
		t.Errorf("pktap in pktap …: %v", k)
	}
}

// Big TCP, cut: in IPv6 the jumbo payload option says how long the packet is (RFC
// 2675, section 2), in IPv4 the length is 0 and the frame tells.
func TestBigTCPLengths(t *testing.T) {
	body := make([]byte, 200_000)
	v6 := ipv6(0, []byte{6, 0, 0xc2, 4, 0, 0, 0, 0}, tcpHeader(0x18, nil), body)
	v6[4], v6[5] = 0, 0
	binary.BigEndian.PutUint32(v6[44:], uint32(8+20+len(body)))
	v4 := ipv4(6, tcpHeader(0x18, nil), body)
	v4[2], v4[3] = 0, 0
	for _, data := range [][]byte{v6, v4} {
		s, k := decode(frame(capture.LinkRaw, data))
		if k != packet.TCP || s.Len != len(body) || len(s.Payload) != len(body) {
			t.Errorf("%v, %d octets", k, s.Len)
		}
		f := &capture.Frame{Data: data[:100], Len: len(data), Link: capture.LinkRaw}
		if s, k := decode(f); k != packet.TCP || s.Len != len(body) {
			t.Errorf("cut: %v, %d octets", k, s.Len)
		}
	}
	// Mirrored up to 100 octets: the option still tells.
	if s, k := decode(frame(capture.LinkRaw, v6[:100])); k != packet.TCP || s.Len != len(body) {
		t.Errorf("mirrored: %v, %d octets", k, s.Len)
	}
	binary.BigEndian.PutUint32(v6[44:], 1<<31)
	if _, k := decode(frame(capture.LinkRaw, v6)); k != packet.Malformed {
		t.Errorf("2 GiB: %v", k)
	}
}
