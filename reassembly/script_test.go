package reassembly

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/packet"
)

// A pkt is one captured segment of a script. Its frame number is its place in
// the script, counted from 1.
type pkt struct {
	from  Side
	flags packet.Flags
	seq   uint32
	ack   uint32 // with packet.ACK
	data  string
	len   int    // octets on the wire, where more than data
	id    uint16 // IPv4 identification
	win0  bool   // the window is closed
	bad   bool   // the TCP checksum is wrong
	ms    int64  // since the packet before, in ms; 0 is 1 µs
	block bool   // begins a block of the capture
	tick  bool   // no packet: Tick
}

const (
	syn = packet.SYN
	fin = packet.FIN
	rst = packet.RST
	ack = packet.ACK
)

var (
	hostA = packet.Endpoint{Addr: [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1}, Port: 40000}
	hostB = packet.Endpoint{Addr: [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 2}, Port: 7174}
)

// A tape is a Stream that writes down what it is told, and holds it against
// what holds for every Stream.
type tape struct {
	t      interface{ Errorf(string, ...any) }
	conn   *Conn
	name   string
	log    *[]string
	next   [2]uint64
	acked  [2]uint64
	missed [2]uint64
	data   [2][]byte  // with zeros for gaps
	stamps [2][]Stamp // of each octet
	gaps   [2][]Gap
	counts [2]Counts // at the end
	ended  bool
	lean   bool // keeps no octets

	refuse func(side Side, c *Chunk) int // how many octets to accept
}

func (p *tape) note(format string, args ...any) {
	if p.log != nil {
		*p.log = append(*p.log, p.name+fmt.Sprintf(format, args...))
	}
}

func (s Side) String() string { return string('A' + rune(s)) }

func (p *tape) Data(side Side, c *Chunk) int {
	if p.ended || c.Off != p.next[side] || len(c.Data) == 0 {
		p.t.Errorf("%v data of %d octets at %d, expected at %d (ended %v)", side, len(c.Data), c.Off, p.next[side], p.ended)
	}
	n := len(c.Data)
	if p.refuse != nil {
		n = p.refuse(side, c)
	}
	again := ""
	if c.Retransmitted {
		again = " again"
	}
	p.note("%v %d %q #%d%s", side, c.Off, c.Data[:n], c.Frame, again)
	p.next[side] += uint64(n)
	if !p.lean {
		p.data[side] = append(p.data[side], c.Data[:n]...)
		for range n {
			p.stamps[side] = append(p.stamps[side], c.Stamp)
		}
	}
	return n
}

func (p *tape) Gap(side Side, g *Gap) {
	if p.ended || g.Off != p.next[side] || g.Len == 0 {
		p.t.Errorf("%v gap of %d octets at %d, expected at %d (ended %v)", side, g.Len, g.Off, p.next[side], p.ended)
	}
	p.note("%v %d gap %d %s #%d", side, g.Off, g.Len, [...]string{"lost", "cut", "never"}[g.Cause], g.Frame)
	p.gaps[side] = append(p.gaps[side], *g)
	p.next[side] += g.Len
	p.missed[side] += g.Len
	if !p.lean {
		p.data[side] = append(p.data[side], make([]byte, g.Len)...)
		p.stamps[side] = append(p.stamps[side], make([]Stamp, g.Len)...)
	}
}

func (p *tape) Ack(side Side, off uint64, at Stamp) {
	if p.ended || off <= p.acked[side] || off > p.next[side.Other()] {
		p.t.Errorf("%v acknowledges %d, after %d, with %d handed on", side, off, p.acked[side], p.next[side.Other()])
	}
	p.acked[side] = off
	p.note("%v ack %d #%d", side, off, at.Frame)
}

var eventNames = [...]string{"again", "duplicate", "out of order", "conflict", "RST", "FIN", "SYN again", "window 0", "window open", "dropped", "late"}

func (p *tape) Event(side Side, e *Event) {
	if p.ended {
		p.t.Errorf("event behind the end")
	}
	unseen := ""
	if e.Unseen {
		unseen = " unseen"
	}
	p.note("%v %s %d+%d #%d%s", side, eventNames[e.Kind], e.Seq, e.Len, e.At.Frame, unseen)
}

func (p *tape) End(e *End) {
	if p.ended {
		p.t.Errorf("a second end")
	}
	p.ended = true
	for side := range p.counts {
		k := p.conn.Counts(Side(side))
		p.counts[side] = k
		if p.conn.ignored {
			continue
		}
		if k.Octets != p.next[side] || k.Missing != p.missed[side] {
			p.t.Errorf("%v: counts say %d octets, %d missing; handed on were %d, %d missing", Side(side), k.Octets, k.Missing, p.next[side], p.missed[side])
		}
	}
	by := ""
	if e.HasBy {
		by = " by " + e.By.String()
	}
	p.note("end %s%s", [...]string{"open", "closed", "reset", "idle", "replaced", "evicted"}[e.Kind], by)
}

// carried is the sum of all counts of what segments brought.
func carried(k Counts) uint64 {
	return k.Octets - k.Missing + k.Cut + k.Retransmitted + k.Duplicated + k.Late + k.Early + k.Damaged + k.Probes + k.Stray
}

// play runs a script through an Assembler and returns what its streams were
// told. Those of the second connection and later ones begin with its number.
func play(t testing.TB, c Config, refuse func(Side, *Chunk) int, script []pkt) []string {
	t.Helper()
	var log []string
	conns := 0
	a := New(c, func(c *Conn) Stream {
		p := &tape{t: t, conn: c, log: &log, refuse: refuse, lean: true}
		if conns++; conns > 1 {
			p.name = fmt.Sprintf("%d: ", conns)
		}
		return p
	})
	bad := false
	a.checksum = func(*packet.Segment) packet.Sum {
		if bad {
			return packet.SumBad
		}
		return packet.SumOK
	}
	now := int64(1e18)
	for i, p := range script {
		now += max(p.ms*1e6, 1000)
		at := Stamp{Frame: uint64(i + 1), Time: now}
		if p.block {
			a.Expire()
		}
		if p.tick {
			a.Tick(at)
			continue
		}
		s := p.segment()
		bad = p.bad
		a.Segment(&s, at)
	}
	a.Flush()
	if a.Held() != 0 || a.waiting.head != nil {
		t.Errorf("%d octets held behind the end", a.Held())
	}
	return log
}

func (p pkt) segment() packet.Segment {
	s := packet.Segment{Flow: packet.Flow{Src: hostA, Dst: hostB}, Seq: p.seq, Ack: p.ack, Flags: p.flags, WScale: -1,
		Window: 1000, IPID: p.id, Payload: []byte(p.data), Len: max(p.len, len(p.data))}
	if p.from == B {
		s.Flow = s.Flow.Reverse()
	}
	if p.win0 {
		s.Window = 0
	}
	return s
}

type scriptTest struct {
	name   string
	config Config
	refuse func(Side, *Chunk) int
	script []pkt
	want   string // a line each
}

func runScripts(t *testing.T, tests []scriptTest) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := play(t, tt.config, tt.refuse, tt.script)
			var want []string
			for l := range strings.Lines(tt.want) {
				if l = strings.TrimSpace(l); l != "" {
					want = append(want, l)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// handshake opens a connection: A's octets begin at 1001, B's at 5001.
func handshake(rest ...pkt) []pkt {
	return append([]pkt{
		{from: A, flags: syn, seq: 1000},
		{from: B, flags: syn | ack, seq: 5000, ack: 1001},
		{from: A, flags: ack, seq: 1001, ack: 5001},
	}, rest...)
}

// fill returns n pure acknowledgements, which let patience run out.
func idleAcks(n int) []pkt {
	p := make([]pkt, n)
	for i := range p {
		p[i] = pkt{from: A, flags: ack, seq: 1001, ack: 5001}
	}
	return p
}
