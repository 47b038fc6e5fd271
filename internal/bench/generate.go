package main

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"os"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/ddp"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
)

// truth is what an input holds.
type truth struct {
	Frames   uint64
	Octets   uint64 // of the file
	QPs      uint64
	FPDUs    uint64
	Messages uint64
}

// An input is a capture that is made for the benchmark.
type input struct {
	name    string
	about   string
	size    int64 // octets, about
	mss     int
	small   bool // dozens of FPDUs in a segment
	depth   int  // with small: Reads outstanding at once, 0 for 24
	late    int  // one segment in ten comes so many frames late
	markers bool
	crc     bool
	loss    int // percent of the segments that are left out of the capture
	conns   int
	other   bool   // TCP that is not iWARP
	midway  bool   // without any SYN
	slice   bool   // a small one, for programs that take long
	real    string // a capture to multiply
}

// generate writes the input.
func generate(path string, in input) (truth, error) {
	f, err := os.Create(path)
	if err != nil {
		return truth{}, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	if in.real != "" {
		return multiply(w, in)
	}
	g := &generator{in: in, w: w, r: rand.New(rand.NewPCG(1, 2)), time: 1_800_000_000e9}
	g.payload = make([]byte, 128<<10)
	for i := range g.payload {
		g.payload[i] = byte(g.r.Uint32())
	}
	w.Write(capture.AppendPcapHeader(nil, capture.LinkEthernet, 262144))
	g.t.Octets = 24
	conns := make([]*conn, max(1, in.conns))
	for i := range conns {
		conns[i] = g.open(i)
	}
	for g.t.Octets < uint64(in.size) {
		for _, c := range conns {
			g.turn(c)
		}
	}
	for _, h := range g.held {
		g.record(h.data)
	}
	if in.loss > 0 {
		g.t.FPDUs, g.t.Messages = 0, 0 // what is left of them is not counted here
	}
	return g.t, w.Flush()
}

type generator struct {
	in      input
	w       *bufio.Writer
	r       *rand.Rand
	t       truth
	time    int64
	frame   []byte
	rec     []byte
	payload []byte
	ulpdu   []byte
	held    []held // frames that come late, in order
}

// held is a frame that is written when so many frames were.
type held struct {
	data []byte
	at   uint64
	side int
	seq  uint32
}

// conn is a connection: side 0 is the initiator.
type conn struct {
	addr [2][4]byte
	port [2]uint16
	side [2]struct {
		seq  uint32
		mpa  mpa.Writer
		msn  [4]uint32
		buf  []byte // octets of the stream not yet sent
		sent uint32
	}
}

func (g *generator) open(i int) *conn {
	c := &conn{addr: [2][4]byte{{10, 0, byte(i >> 8), byte(i)}, {10, 1, 0, 1}}, port: [2]uint16{uint16(1024 + i%60000), 4420}}
	for s := range c.side {
		d := &c.side[s]
		d.seq = g.r.Uint32()
		d.mpa = mpa.Writer{Markers: g.in.markers, CRC: g.in.crc}
		for q := range d.msn {
			d.msn[q] = 1
		}
	}
	if !g.in.midway {
		g.send(c, 0, 0x02, nil)
		c.side[0].seq++
		g.send(c, 1, 0x12, nil)
		c.side[1].seq++
		g.send(c, 0, 0x10, nil)
	}
	if !g.in.other {
		g.t.QPs++
		for s := range c.side {
			st := mpa.Startup{Reply: s == 1, Revision: 2, Enhanced: true, CRC: g.in.crc, Markers: g.in.markers, IRD: 32, ORD: 32}
			b := st.Append(nil)
			g.send(c, s, 0x18, b)
			c.side[s].seq += uint32(len(b))
			g.t.Messages++
		}
	}
	return c
}

// turn sends what a pair of ends does in one round: a Write and a Send, a Read
// and its Response.
func (g *generator) turn(c *conn) {
	if g.in.other {
		for range 8 {
			b := g.payload[g.r.IntN(1024):][:g.in.mss]
			b[0], b[1], b[2] = 0x17, 3, 3 // a TLS record, as far as anybody can see
			g.send(c, 0, 0x10, b)
			c.side[0].seq += uint32(len(b))
		}
		g.send(c, 1, 0x10, nil)
		return
	}
	size := 8 * (g.in.mss - 24)
	if g.in.small {
		size = 16
	}
	rounds := 1
	if g.in.small {
		rounds = cmp.Or(g.in.depth, 24)
	}
	for range rounds {
		g.tagged(c, 0, rdmap.OpWrite, 0x11223300, size)
		g.untagged(c, 0, rdmap.OpSend, g.payload[:64])
	}
	g.flush(c, 0)
	g.send(c, 1, 0x10, nil)
	for range rounds {
		r := rdmap.ReadRequest{SinkSTag: 0x44556600, SinkTO: 0x7f0000000000, Size: uint32(size), SrcSTag: 0x778899, SrcTO: 0x1000}
		g.untagged(c, 0, rdmap.OpReadRequest, r.Append(nil))
	}
	g.flush(c, 0)
	for range rounds {
		g.tagged(c, 1, rdmap.OpReadResponse, 0x44556600, size)
	}
	g.flush(c, 1)
	g.send(c, 0, 0x10, nil)
}

// tagged writes a tagged message, each FPDU as large as a segment takes.
func (g *generator) tagged(c *conn, s int, op rdmap.Op, stag uint32, size int) {
	most := g.in.mss - 6 - ddp.TaggedLen
	if g.in.markers {
		most -= 4 * (g.in.mss/512 + 1)
	}
	most &^= 3
	for at := 0; at < size; {
		n := min(most, size-at)
		h := ddp.Header{Tagged: true, Last: at+n == size, Version: 1, ULPControl: rdmap.Control{Version: 1, Op: op}.Octet(), STag: stag, TO: 0x7f0000000000 + uint64(at)}
		g.fpdu(c, s, &h, g.payload[at:at+n])
		at += n
	}
	g.t.Messages++
}

func (g *generator) untagged(c *conn, s int, op rdmap.Op, b []byte) {
	q := op.Queue()
	h := ddp.Header{Last: true, Version: 1, ULPControl: rdmap.Control{Version: 1, Op: op}.Octet(), QN: q, MSN: c.side[s].msn[q]}
	c.side[s].msn[q]++
	g.fpdu(c, s, &h, b)
	g.t.Messages++
}

// fpdu writes an FPDU into the stream, in a segment of its own or in one with
// others.
func (g *generator) fpdu(c *conn, s int, h *ddp.Header, b []byte) {
	d := &c.side[s]
	g.ulpdu = append(h.Append(g.ulpdu[:0]), b...)
	had := len(d.buf)
	d.buf = d.mpa.Append(d.buf, g.ulpdu)
	g.t.FPDUs++
	if len(d.buf) > g.in.mss && had > 0 {
		fresh := len(d.buf) - had
		last := append([]byte(nil), d.buf[had:]...)
		d.buf = d.buf[:had]
		g.flush(c, s)
		d.buf = append(d.buf, last[:fresh]...)
	} else if !g.in.small && len(d.buf) > g.in.mss/2 {
		g.flush(c, s)
	}
}

// flush sends what is left of the stream of a side.
func (g *generator) flush(c *conn, s int) {
	d := &c.side[s]
	if len(d.buf) > 0 {
		g.send(c, s, 0x18, d.buf)
		d.seq += uint32(len(d.buf))
		d.buf = d.buf[:0]
	}
}

// send writes a frame: Ethernet, IPv4, TCP.
func (g *generator) send(c *conn, s int, flags byte, b []byte) {
	g.time += 2000
	if g.in.loss > 0 && len(b) > 100 && g.r.IntN(100) < g.in.loss {
		return
	}
	d, o := &c.side[s], &c.side[1-s]
	n := 14 + 20 + 20 + len(b)
	f := append(g.frame[:0], 2, 0, 0, 0, 0, byte(1+s), 2, 0, 0, 0, 0, byte(2-s), 8, 0)
	f = append(f, 0x45, 0)
	f = binary.BigEndian.AppendUint16(f, uint16(n-14))
	f = append(f, 0, 1, 0x40, 0, 64, 6, 0, 0)
	f = append(f, c.addr[s][:]...)
	f = append(f, c.addr[1-s][:]...)
	f = binary.BigEndian.AppendUint16(f, c.port[s])
	f = binary.BigEndian.AppendUint16(f, c.port[1-s])
	f = binary.BigEndian.AppendUint32(f, d.seq)
	f = binary.BigEndian.AppendUint32(f, g.acknowledged(1-s, o.seq))
	f = append(f, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0)
	f = append(f, b...)
	g.frame = f
	if g.in.late > 0 && len(b) > 100 && g.r.IntN(10) == 0 {
		g.held = append(g.held, held{data: append([]byte(nil), f...), at: g.t.Frames + uint64(g.in.late), side: s, seq: d.seq})
	} else {
		g.record(f)
	}
	for len(g.held) > 0 && g.held[0].at <= g.t.Frames {
		g.record(g.held[0].data)
		g.held = g.held[1:]
	}
}

// acknowledged returns what the peer of side s has got of it, where it sent all
// up to next.
func (g *generator) acknowledged(s int, next uint32) uint32 {
	for _, h := range g.held {
		if h.side == s {
			return h.seq
		}
	}
	return next
}

// record writes a frame into the capture.
func (g *generator) record(f []byte) {
	g.rec = capture.AppendPcapRecord(g.rec[:0], &capture.Frame{Data: f, Len: len(f), Time: g.time})
	g.w.Write(g.rec)
	g.t.Frames++
	g.t.Octets += uint64(len(g.rec))
}
