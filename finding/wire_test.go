package finding_test

import (
	"io"
	"net"
	"slices"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/ddp"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/finding"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
)

// talk is a connection, packet by packet, 10 µs apart. Side 0 is the initiator.
type talk struct {
	frames []capture.Frame
	time   int64
	next   [2]uint32
	mpa    [2]mpa.Writer
	msn    [2][4]uint32
}

// Next hands all of it out as one block.
func (t *talk) Next() (*capture.Block, error) {
	if len(t.frames) == 0 {
		return nil, io.EOF
	}
	b := &capture.Block{Frames: t.frames}
	t.frames = nil
	return b, nil
}

func (t *talk) frame(ls ...gopacket.SerializableLayer) {
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, ls...); err != nil {
		panic(err)
	}
	t.time += 10_000
	t.frames = append(t.frames, capture.Frame{Data: b.Bytes(), Len: len(b.Bytes()), Time: t.time, Number: uint64(len(t.frames) + 1), Link: capture.LinkEthernet})
}

func (t *talk) segment(side int, seq uint32, payload []byte, change ...func(*layers.TCP)) {
	mac := net.HardwareAddr{2, 0, 0, 0, 0, 1}
	ips := [2]net.IP{{10, 0, 0, 1}, {10, 0, 0, 2}}
	ports := [2]layers.TCPPort{40000, 5445}
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolTCP, SrcIP: ips[side], DstIP: ips[1-side]}
	tcp := &layers.TCP{SrcPort: ports[side], DstPort: ports[1-side], Seq: seq, Ack: t.next[1-side], ACK: true, Window: 0xFFFF}
	for _, f := range change {
		f(tcp)
	}
	if err := tcp.SetNetworkLayerForChecksum(ip); err != nil {
		panic(err)
	}
	t.frame(&layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: layers.EthernetTypeIPv4}, ip, tcp, gopacket.Payload(payload))
}

func (t *talk) data(side int, b []byte) {
	t.segment(side, t.next[side], b)
	t.next[side] += uint32(len(b))
}

// open is the handshake of TCP.
func (t *talk) open() {
	t.next = [2]uint32{1000, 2000}
	t.segment(0, 999, nil, func(s *layers.TCP) { s.SYN, s.ACK = true, false })
	t.segment(1, 1999, nil, func(s *layers.TCP) { s.SYN = true })
	t.segment(0, 1000, nil)
}

// start is that of MPA. What is not said of both sides is the same.
func (t *talk) start(request, reply mpa.Startup) {
	t.open()
	reply.Reply = true
	t.data(0, request.Append(nil))
	t.data(1, reply.Append(nil))
	crc := request.CRC || reply.CRC
	t.mpa = [2]mpa.Writer{{CRC: crc, Markers: reply.Markers}, {CRC: crc, Markers: request.Markers}}
}

func octet(op rdmap.Op) uint8 { return rdmap.Control{Version: 1, Op: op}.Octet() }

func (t *talk) ulpdu(side int, h ddp.Header, payload []byte) []byte {
	return t.mpa[side].Append(nil, append(h.Append(nil), payload...))
}

func (t *talk) untagged(side int, op rdmap.Op, invalidate uint32, payload []byte) {
	q := op.Queue()
	t.msn[side][q]++
	t.data(side, t.ulpdu(side, ddp.Header{Last: true, Version: 1, ULPControl: octet(op), ULPWord: invalidate, QN: q, MSN: t.msn[side][q]}, payload))
}

func (t *talk) send(side int) { t.untagged(side, rdmap.OpSend, 0, make([]byte, 16)) }

func (t *talk) tagged(side int, op rdmap.Op, stag uint32, n int) {
	t.data(side, t.ulpdu(side, ddp.Header{Tagged: true, Last: true, Version: 1, ULPControl: octet(op), STag: stag}, make([]byte, n)))
}

func (t *talk) read() {
	t.untagged(0, rdmap.OpReadRequest, 0, rdmap.ReadRequest{SinkSTag: 5, Size: 8, SrcSTag: 6}.Append(nil))
}

// Startup frames that several cases use.
var (
	plain   = mpa.Startup{Revision: 1, CRC: true}
	private = func(b ...byte) mpa.Startup { return mpa.Startup{Revision: 1, CRC: true, Private: b} }
	v2      = func(ird, ord uint16) mpa.Startup {
		return mpa.Startup{Revision: 2, Enhanced: true, CRC: true, IRD: ird, ORD: ord}
	}
	peer = mpa.Startup{Revision: 2, Enhanced: true, CRC: true, IRD: 1, ORD: 1, PeerToPeer: true, SendRTR: true}
)

// inPackets are kinds that no shipped capture has, from packets made by hand.
var inPackets = []struct {
	want string
	do   func(t *talk)
}{
	{"warning slow-reply", func(t *talk) {
		t.open()
		t.data(0, plain.Append(nil))
		t.time += 2e9
		reply := plain
		reply.Reply = true
		t.data(1, reply.Append(nil))
	}},
	{"warning missing-rtr", func(t *talk) {
		t.start(peer, peer)
		t.send(0)
		t.send(1)
	}},
	{"info crc-one-sided", func(t *talk) {
		t.start(plain, mpa.Startup{Revision: 1})
		t.send(0)
	}},
	{"warning depth-zero", func(t *talk) {
		t.start(v2(4, 4), v2(0, 4))
		t.read()
		t.tagged(1, rdmap.OpReadResponse, 5, 8)
	}},
	{"warning depth-exceeded", func(t *talk) {
		t.start(v2(4, 2), v2(2, 4))
		for range 3 {
			t.read()
		}
		for range 3 {
			t.tagged(1, rdmap.OpReadResponse, 5, 8)
		}
	}},
	{"info smbd-private-depth", func(t *talk) {
		t.start(private(0, 0, 0, 16, 0, 0, 0, 16), plain)
		t.send(0)
	}},
	{"warning smbd-private-order", func(t *talk) {
		t.start(private(16, 0, 0, 0, 16, 0, 0, 0), plain)
		t.send(0)
	}},
	{"warning reset", func(t *talk) {
		t.start(plain, plain)
		t.read()
		t.segment(1, t.next[1], nil, func(s *layers.TCP) { s.RST = true })
	}},
	{"error marker-mismatch", func(t *talk) {
		marked := mpa.Startup{Revision: 1, CRC: true, Markers: true}
		t.start(marked, marked)
		b := t.ulpdu(0, ddp.Header{Tagged: true, Last: true, Version: 1, ULPControl: octet(rdmap.OpWrite), STag: 5}, make([]byte, 1000))
		b[mpa.MarkerSpacing+3] ^= 4 // the pointer of the second Marker
		t.data(0, b)
		t.send(0)
	}},
	{"error ddp-violation", func(t *talk) {
		t.start(plain, plain)
		t.send(0)
		t.msn[0][0] += 7
		t.send(0)
	}},
	{"error framing-lost", func(t *talk) {
		t.start(plain, plain)
		t.send(0)
		t.data(0, make([]byte, 64))
		t.send(0)
	}},
	{"warning not-framed", func(t *talk) {
		t.start(plain, plain)
		t.send(0)
		t.data(0, make([]byte, 64))
		t.send(0)
	}},
	{"error rdmap-violation", func(t *talk) {
		t.start(plain, plain)
		t.read()
		t.tagged(1, rdmap.OpReadResponse, 5, 7) // of 8
	}},
	{"warning use-after-invalidate", func(t *talk) {
		t.start(plain, plain)
		t.untagged(1, rdmap.OpSendInv, 9, make([]byte, 16))
		t.tagged(1, rdmap.OpWrite, 9, 8)
	}},
	{"warning overlap-conflict", func(t *talk) {
		t.start(plain, plain)
		seq := t.next[0]
		t.send(0)
		t.segment(0, seq, slices.Repeat([]byte{0xA5}, 40))
		t.send(0)
	}},
	{"warning zero-window", func(t *talk) {
		t.start(plain, plain)
		t.send(0)
		t.segment(1, t.next[1], nil, func(s *layers.TCP) { s.Window = 0 })
		t.time += 300e6
		t.segment(1, t.next[1], nil)
		t.send(0)
	}},
	{"info reads-serialised", func(t *talk) {
		t.start(v2(1, 1), v2(1, 1))
		for range 20 {
			t.read()
			t.tagged(1, rdmap.OpReadResponse, 5, 8)
		}
	}},
	{"info only-startup", func(t *talk) { t.start(plain, plain) }},
	{"warning silent-end", func(t *talk) {
		t.start(plain, plain)
		t.read()
		t.time += 60e9
		mac := net.HardwareAddr{2, 0, 0, 0, 0, 1}
		t.frame(&layers.Ethernet{SrcMAC: mac, DstMAC: mac, EthernetType: layers.EthernetTypeLLC}, gopacket.Payload(make([]byte, 46)))
	}},
}

func TestWire(t *testing.T) {
	for _, tt := range slices.Concat(inPackets, upperPackets) {
		t.Run(tt.want, func(t *testing.T) {
			w := &talk{time: 1_800_000_000e9}
			tt.do(w)
			c := finding.New()
			if _, err := decode.Run(w, c, decode.Options{Upper: decode.AutoUpper(), Messages: true, Operations: true}); err != nil {
				t.Fatal(err)
			}
			if got := list(c.Findings(qp.Info)); !slices.Contains(got, tt.want) {
				t.Errorf("found %q", got)
			}
		})
	}
}
