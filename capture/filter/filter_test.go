package filter

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"golang.org/x/net/bpf"

	"github.com/iwdump/iwdump/capture"
)

// expressions are held against libpcap, one by one.
var expressions = []string{
	"", "tcp", "udp", "icmp", "icmp6", "ip", "ip6", "arp", "sctp", "not tcp", "! ip",
	"host 10.0.0.1", "src host 10.0.0.2", "dst 10.0.0.1", "src or dst 10.0.0.1", "src and dst host 10.0.0.1",
	"ip host 10.0.0.1", "arp host 10.0.0.1", "host fd00::1", "src fd00::2", "ip6 host fd00::1", "dst host fd00::1",
	"net 10", "net 10.0.0", "net 10.0.0.0/30", "src net 10.0.0.0/31", "net 10.0.0.0 mask 255.255.255.252", "net fd00::/64", "dst net fd00::/126", "net 0.0.0.0/0",
	"port 80", "tcp port 4420", "udp port 53", "src port 4420", "tcp dst port 4420", "portrange 80-4420", "tcp src portrange 80-90", "src and dst port 80", "port 80 or 443 or 4420", "sctp port 80",
	"tcp and port 4420 and host 10.0.0.1", "tcp or udp and port 80", "tcp or (udp and port 80)", "not (tcp port 80 or udp)", "not port 80 and not port 443", "host 10.0.0.1 or 10.0.0.2 and tcp", "tcp && (port 80 || port 53)",
	"tcp[tcpflags] & tcp-syn != 0", "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "tcp[13] = 2", "tcp[13]==0x10", "tcp[0:2] = 80", "tcp[4:4] > 1000000", "tcp[((tcp[12] & 0xf0) >> 2)] = 0x17", "ip[0] & 0xf > 5", "ip[8] < 64", "ip[2:2] > 100",
	"ip[6:2] & 0x1fff != 0", "udp[4:2] >= 20", "icmp[icmptype] = icmp-echo", "icmp[0] = 8 or icmp[0] = 0", "ip6[6] = 6", "ip6[40:2] = 80", "icmp6[0] = 128", "not tcp[13] & 2 != 0", "ether[0] & 1 = 0", "ether[12:2] = 0x0800",
	"ip[8] + ip[9] > 80", "ip[2:2] - 20 = 20", "(ip[8] - 1) * 2 = 126", "ip[9] ^ 6 = 0", "ip[2:2] % 4 = 0", "ip[2:2] / 10 > 10", "ip[8] << 1 = 128", "1 + 1 = 2", "len = 60", "60 < len",
	"len > 100", "len <= 60", "less 100", "greater 100", "ip proto 6", "ip6 proto 17", "proto 17", "ip proto 1", "ether proto 0x0806", "ether proto 0x86dd",
	"vlan", "vlan 5", "vlan and tcp", "vlan 5 and host 10.0.0.1", "vlan and vlan", "vlan and vlan 7 and port 80", "not vlan", "(vlan and tcp) or tcp",
}

func TestAgainstLibpcap(t *testing.T) {
	if _, err := exec.LookPath("tcpdump"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("tcpdump is not installed")
		}
		t.Skip("tcpdump is not installed, so there is nothing to compare with")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, link := range []capture.LinkType{capture.LinkEthernet, capture.LinkSLL, capture.LinkSLL2, capture.LinkRaw} {
		t.Run(link.String(), func(t *testing.T) {
			whole := packets(r, link, 2000)
			cut := slices.Clone(whole)
			for i := range cut {
				if r.IntN(3) == 0 {
					cut[i].Data = cut[i].Data[:1+r.IntN(len(cut[i].Data))]
				}
			}
			matched := 0
			for _, expr := range expressions {
				matched += compareWith(t, link, whole, expr)
			}
			// What the optimiser leaves out matters where a frame is cut.
			for _, expr := range expressions {
				matched += compareWith(t, link, cut, expr, "-O")
			}
			for range 60 {
				matched += compareWith(t, link, cut, random(r, 0), "-O")
			}
			if matched < 10000 {
				t.Errorf("only %d frames matched", matched)
			}
		})
	}
}

// compareWith holds an expression against tcpdump, and returns how many frames
// matched.
func compareWith(t *testing.T, link capture.LinkType, frames []capture.Frame, expr string, flags ...string) (matched int) {
	name := filepath.Join(t.TempDir(), "x.pcap")
	file := capture.AppendPcapHeader(nil, link, 65535)
	for i := range frames {
		file = capture.AppendPcapRecord(file, &frames[i])
	}
	if err := os.WriteFile(name, file, 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := Compile(expr, link, Options{})
	var theirs, stderr bytes.Buffer
	cmd := exec.Command("tcpdump", append(flags, "--time-stamp-precision=nano", "-r", name, "-w", "-", expr)...)
	cmd.Stdout, cmd.Stderr = &theirs, &stderr
	if failed := cmd.Run(); failed != nil {
		if err == nil && link == capture.LinkEthernet && !bytes.Contains(stderr.Bytes(), []byte("rejects all")) {
			t.Errorf("%q is taken, though libpcap says %s", expr, stderr.String())
		}
		return 0
	}
	if err != nil {
		if link == capture.LinkEthernet {
			t.Errorf("%q: %v", expr, err)
		}
		return 0
	}
	if _, err := bpf.Assemble(program); err != nil {
		t.Errorf("%q: %v", expr, err)
	}
	ours := capture.AppendPcapHeader(nil, link, 65535)
	for i := range frames {
		if Match(program, frames[i].Data, frames[i].Len) {
			matched++
			ours = capture.AppendPcapRecord(ours, &frames[i])
		}
	}
	if at := differs(ours, theirs.Bytes()); at >= 0 {
		t.Errorf("%q %v: another verdict than that of libpcap on the record at octet %d", expr, flags, at)
	}
	return matched
}

// differs returns where the records of two captures differ first, -1 for
// nowhere. tcpdump writes a header of its own.
func differs(a, b []byte) int {
	const header = 24
	if len(b) < header {
		b = make([]byte, header)
	}
	a, b = a[header:], b[header:]
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// random makes an expression of what is in expressions.
func random(r *rand.Rand, depth int) string {
	simple := func() string {
		for {
			if e := expressions[1+r.IntN(len(expressions)-1)]; !bytes.Contains([]byte(e), []byte("vlan")) {
				return e
			}
		}
	}
	switch n := r.IntN(6); {
	case depth > 3 || n == 0:
		return "(" + simple() + ")"
	case n == 1:
		return "not (" + random(r, depth+1) + ")"
	case n < 4:
		return "(" + random(r, depth+1) + ") and (" + random(r, depth+1) + ")"
	}
	return "(" + random(r, depth+1) + ") or (" + random(r, depth+1) + ")"
}

// packets makes frames of all kinds.
func packets(r *rand.Rand, link capture.LinkType, n int) (frames []capture.Frame) {
	pick := func(vs ...string) net.IP { return net.ParseIP(vs[r.IntN(len(vs))]) }
	ports := []uint16{53, 80, 90, 443, 4420, 40000}
	for range n {
		var ls []gopacket.SerializableLayer
		etherType := layers.EthernetTypeIPv4
		var network gopacket.NetworkLayer
		proto := []layers.IPProtocol{layers.IPProtocolTCP, layers.IPProtocolTCP, layers.IPProtocolUDP, layers.IPProtocolICMPv4, layers.IPProtocolSCTP, 47}[r.IntN(6)]
		switch r.IntN(10) {
		case 0:
			etherType = layers.EthernetTypeARP
			ls = append(ls, &layers.ARP{AddrType: 1, Protocol: layers.EthernetTypeIPv4, HwAddressSize: 6, ProtAddressSize: 4, Operation: 1,
				SourceHwAddress: make([]byte, 6), SourceProtAddress: pick("10.0.0.1", "10.0.0.2").To4(), DstHwAddress: make([]byte, 6), DstProtAddress: pick("10.0.0.1", "10.0.0.3").To4()})
		case 1, 2, 3:
			etherType = layers.EthernetTypeIPv6
			if proto == layers.IPProtocolICMPv4 {
				proto = layers.IPProtocolICMPv6
			}
			ip := &layers.IPv6{Version: 6, NextHeader: proto, HopLimit: uint8(r.IntN(128)), SrcIP: pick("fd00::1", "fd00::2", "fd01::9"), DstIP: pick("fd00::1", "fd00::3")}
			ls, network = append(ls, ip), ip
			if r.IntN(6) == 0 {
				ip.NextHeader = layers.IPProtocolIPv6Fragment
				ls = append(ls, gopacket.Payload{byte(proto), 0, 0, byte(r.IntN(2)) * 8, 0, 0, 0, 1})
			}
		default:
			ip := &layers.IPv4{Version: 4, TTL: uint8(r.IntN(128)), Protocol: proto, Id: uint16(r.Uint32()), SrcIP: pick("10.0.0.1", "10.0.0.2", "11.0.0.9"), DstIP: pick("10.0.0.1", "10.0.0.3", "192.168.1.1")}
			if r.IntN(5) == 0 {
				ip.FragOffset = uint16(r.IntN(3))
			}
			if r.IntN(5) == 0 {
				ip.Options = []layers.IPv4Option{{OptionType: 7, OptionLength: 7, OptionData: make([]byte, 5)}}
			}
			ls, network = append(ls, ip), ip
		}
		if etherType != layers.EthernetTypeARP {
			src, dst := ports[r.IntN(len(ports))], ports[r.IntN(len(ports))]
			switch proto {
			case layers.IPProtocolTCP:
				tcp := &layers.TCP{SrcPort: layers.TCPPort(src), DstPort: layers.TCPPort(dst), Seq: r.Uint32(), SYN: r.IntN(2) == 0, ACK: r.IntN(2) == 0, FIN: r.IntN(3) == 0, Window: 100}
				if r.IntN(2) == 0 {
					tcp.Options = []layers.TCPOption{{OptionType: 2, OptionLength: 4, OptionData: []byte{5, 0xb4}}}
				}
				tcp.SetNetworkLayerForChecksum(network)
				ls = append(ls, tcp)
			case layers.IPProtocolUDP:
				udp := &layers.UDP{SrcPort: layers.UDPPort(src), DstPort: layers.UDPPort(dst)}
				udp.SetNetworkLayerForChecksum(network)
				ls = append(ls, udp)
			case layers.IPProtocolICMPv4, layers.IPProtocolICMPv6:
				ls = append(ls, gopacket.Payload{[]byte{0, 3, 8, 128}[r.IntN(4)], 0, 0, 0})
			case layers.IPProtocolSCTP:
				ls = append(ls, gopacket.Payload{byte(src >> 8), byte(src), byte(dst >> 8), byte(dst)})
			}
		}
		payload := make([]byte, r.IntN(120))
		for i := range payload {
			payload[i] = byte(r.Uint32())
		}
		if len(payload) > 0 && r.IntN(2) == 0 {
			payload[0] = 0x17
		}
		ls = append(ls, gopacket.Payload(payload))
		var head []gopacket.SerializableLayer
		switch link {
		case capture.LinkEthernet:
			eth := &layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: []byte{byte(r.IntN(4)), 0, 0, 0, 0, 1}, EthernetType: etherType}
			head = append(head, eth)
			for tags := r.IntN(8) - 5; tags > 0; tags-- {
				outer := layers.EthernetTypeDot1Q
				if r.IntN(2) == 0 {
					outer = layers.EthernetTypeQinQ
				}
				head = append(head, &layers.Dot1Q{VLANIdentifier: uint16(5 + r.IntN(3)), Type: etherType})
				if k := len(head); k == 2 {
					eth.EthernetType = outer
				} else {
					head[k-2].(*layers.Dot1Q).Type = outer
				}
			}
		case capture.LinkSLL:
			head = append(head, gopacket.Payload{0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, byte(etherType >> 8), byte(etherType)})
		case capture.LinkSLL2:
			head = append(head, gopacket.Payload{byte(etherType >> 8), byte(etherType), 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0})
		}
		buf := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true}, append(head, ls...)...); err != nil {
			panic(err)
		}
		b := bytes.Clone(buf.Bytes())
		frames = append(frames, capture.Frame{Data: b, Len: len(b), Time: int64(len(frames)) * 1e6, Link: link})
	}
	return frames
}

// What is refused says where.
func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		expr   string
		column int
	}{
		{"host example.com", 6}, {"port http", 6}, {"tcp and", 8}, {"tcp port", 9}, {"(tcp", 5}, {"tcp)", 4}, {"wlan", 1}, {"tcp gateway", 5},
		{"port 70000", 6}, {"host 10.0.0.300", 6}, {"net 10.0.0.1/24", 5}, {"tcp[0:3] = 1", 1}, {"ip[1] / 0 = 1", 7}, {"vlan 5000", 6}, {"tcp[0", 6},
		{"icmp port 80", 1}, {"1 << 40 = 2", 3}, {"tcp and $", 9}, {"portrange 1-x", 11}, {"ip host fd00::1", 9},
	} {
		_, err := Compile(tt.expr, capture.LinkEthernet, Options{})
		var e *Error
		if !errors.As(err, &e) || e.Column != tt.column {
			t.Errorf("%q: %v, want it refused at column %d", tt.expr, err, tt.column)
		}
	}
	if _, err := Compile("tcp", 999, Options{}); err == nil {
		t.Error("a link type that is not known is taken")
	}
	if _, err := Compile("port 1"+string(bytes.Repeat([]byte(" or port 1"), 1000)), capture.LinkEthernet, Options{}); err == nil {
		t.Error("a program of many thousand instructions is taken")
	}
	if _, err := Compile(string(bytes.Repeat([]byte("("), 5000)), capture.LinkEthernet, Options{}); err == nil {
		t.Error("five thousand parentheses are taken")
	}
}

// Jumps over more than 255 instructions.
func TestFar(t *testing.T) {
	expr := "tcp[13] = 2"
	for i := range 40 {
		expr += fmt.Sprintf(" or port %d", 1000+i)
	}
	program, err := Compile(expr, capture.LinkEthernet, Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := bpf.Assemble(program)
	if err != nil {
		t.Fatal(err)
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) < 500 {
		t.Fatalf("%d instructions", len(raw))
	}
	for _, f := range packets(rand.New(rand.NewPCG(3, 4)), capture.LinkEthernet, 500) {
		n, err := vm.Run(f.Data)
		if err != nil {
			t.Fatal(err)
		}
		if got := Match(program, f.Data, len(f.Data)); got != (n > 0) {
			t.Errorf("% x: %v, the other machine says %d", f.Data, got, n)
		}
	}
}

// The tag that the kernel took off is looked at beside the frame.
func TestStripped(t *testing.T) {
	program, err := Compile("vlan 5 and tcp", capture.LinkEthernet, Options{Stripped: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []bpf.Instruction{
		bpf.LoadExtension{Num: bpf.ExtVLANTagPresent},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 15},
		bpf.LoadExtension{Num: bpf.ExtVLANTag},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xFFF},
	}
	for i, w := range want {
		if i == 1 {
			continue
		}
		if program[i] != w {
			t.Errorf("instruction %d is %v, want %v", i, program[i], w)
		}
	}
	if l, ok := program[5].(bpf.LoadAbsolute); !ok || l.Off != 12 {
		t.Errorf("the Ethernet type is looked for in %v", program[5])
	}
}

func FuzzCompile(f *testing.F) {
	for _, e := range expressions {
		f.Add(e, []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 8, 0, 0x45})
	}
	f.Fuzz(func(t *testing.T, expr string, b []byte) {
		for _, link := range []capture.LinkType{capture.LinkEthernet, capture.LinkSLL2, capture.LinkRaw, capture.LinkNull} {
			program, err := Compile(expr, link, Options{Stripped: len(b)%2 == 0})
			if err != nil {
				continue
			}
			if _, err := bpf.NewVM(program); err != nil {
				t.Errorf("%q: %v", expr, err)
			}
			Match(program, b, len(b))
		}
	})
}
