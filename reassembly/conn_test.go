package reassembly

import (
	"slices"
	"testing"

	"github.com/iwdump/iwdump/packet"
)

func TestConnections(t *testing.T) {
	again := func(isnA, isnB uint32, data string) []pkt {
		return []pkt{
			{from: A, flags: syn, seq: isnA, ms: 1},
			{from: B, flags: syn | ack, seq: isnB, ack: isnA + 1},
			{from: A, flags: ack, seq: isnA + 1, ack: isnB + 1, data: data},
		}
	}
	closed := handshake(
		pkt{from: A, flags: ack | fin, seq: 1001, ack: 5001, data: "abc"},
		pkt{from: B, flags: ack | fin, seq: 5001, ack: 1005},
		pkt{from: A, flags: ack, seq: 1005, ack: 5002},
	)
	const closedLog = `
		A 0 "abc" #4
		A FIN 1004+0 #4
		B ack 3 #5
		B FIN 5001+0 #5
		end closed by A`
	runScripts(t, []scriptTest{
		{name: "a SYN of another connection while this one is open", script: slices.Concat(
			handshake(pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"}), again(90000, 70000, "new")), want: `
			A 0 "abc" #4
			end replaced by A
			2: A 0 "new" #7
			2: end open`},
		{name: "the same ports again behind FINs", script: slices.Concat(closed, again(1100, 70000, "new")), want: closedLog + `
			2: A 0 "new" #9
			2: end open`},
		{name: "the same ports again behind an RST", script: slices.Concat(
			handshake(
				pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
				pkt{from: B, flags: rst | ack, seq: 5001, ack: 1004}),
			again(1100, 70000, "new")), want: `
			A 0 "abc" #4
			B ack 3 #5
			B RST 5001+0 #5
			end reset by B
			2: A 0 "new" #8
			2: end open`},
		{name: "what comes late begins no connection", script: slices.Concat(closed, []pkt{
			{from: A, flags: ack, seq: 1005, ack: 5002},
			{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			{from: A, flags: ack | fin, seq: 1004, ack: 5001},
			{from: B, flags: rst, seq: 5002},
			{from: A, flags: syn, seq: 1000},
		}), want: closedLog},
		{name: "octets under way behind an RST", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: B, flags: rst, seq: 5001},
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
			pkt{from: B, flags: rst, seq: 5001},
		), want: `
			A 0 "abc" #4
			B RST 5001+0 #5
			end reset by B`},
		{name: "who sends on has not sent the RST", script: handshake(
			pkt{from: B, flags: ack, seq: 5001, ack: 1001, data: "abc"},
			pkt{from: B, flags: rst, seq: 5004},
			pkt{from: B, flags: ack, seq: 5004, ack: 1001, data: "def"},
		), want: `
			B 0 "abc" #4
			B RST 5004+0 #5
			end reset by B
			2: A 0 "def" #6
			2: end open`},
		{name: "an RST out of the window", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: A, flags: rst, seq: 1<<28 + 1004},
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
		), want: `
			A 0 "abc" #4
			A 3 "def" #6
			end open`},
		{name: "an RST hands on what is held", script: handshake(
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
			pkt{from: A, flags: rst, seq: 1007},
		), want: `
			A RST 1007+0 #5
			A 0 gap 3 never #5
			A 3 "def" #4
			end reset by A`},
		{name: "a connection that is refused carries nothing", script: []pkt{
			{from: A, flags: syn, seq: 1000},
			{from: B, flags: rst | ack, ack: 1001},
		}, want: ``},
		{name: "SYNs sent again are told with the first octets", script: []pkt{
			{from: A, flags: syn, seq: 1000},
			{from: A, flags: syn, seq: 1000, ms: 1000},
			{from: B, flags: syn | ack, seq: 5000, ack: 1001},
			{from: B, flags: syn | ack, seq: 5000, ack: 1001}, // captured twice
			{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
		}, want: `
			A SYN again 1000+0 #2
			A 0 "abc" #5
			end open`},
		{name: "one side alone, closed by Tick", script: []pkt{
			{from: A, flags: syn, seq: 1000},
			{from: A, flags: ack | fin, seq: 1001, ack: 5001, data: "abc"},
			{tick: true, ms: 9999},
			{tick: true, ms: 2},
		}, want: `
			A 0 "abc" #2
			A FIN 1004+0 #2
			end closed by A`},
		{name: "half closed, it goes on", script: handshake(
			pkt{from: A, flags: ack | fin, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1005},
			pkt{tick: true, ms: 60000},
			pkt{from: B, flags: ack, seq: 5001, ack: 1005, data: "def"},
		), want: `
			A 0 "abc" #4
			A FIN 1004+0 #4
			B ack 3 #5
			B 0 "def" #7
			end open by A`},
		{name: "idle", config: Config{IdleTimeout: 60e9}, script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{tick: true, ms: 59999},
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
			pkt{tick: true, ms: 59999},
			pkt{tick: true, ms: 2},
		), want: `
			A 0 "abc" #4
			A 3 "def" #6
			end idle`},
		{name: "another connection, none of whose SYNs was captured", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: B, flags: ack, seq: 5001, ack: 1004, data: "d"},
			pkt{from: A, flags: ack, seq: 3 << 30, ack: 1<<31 + 9000, data: "new"},
		), want: `
			A 0 "abc" #4
			B ack 3 #5
			B 0 "d" #5
			end replaced by A
			2: A 0 "new" #6
			2: end open`},
		{name: "another connection, seen from one side", script: []pkt{
			{from: A, flags: syn, seq: 1000},
			{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			{from: A, flags: ack, seq: 3 << 30, ack: 9, data: "???"},
			{from: A, flags: ack, seq: 3<<30 + 3, ack: 9, data: "???"},
			{from: A, flags: ack, seq: 3<<30 + 6, ack: 9, data: "new"},
		}, want: `
			A 0 "abc" #2
			end replaced by A
			2: A 0 "new" #5
			2: end open`},
		{name: "a SYN-ACK sent again with another number, before any octet", script: []pkt{
			{from: A, flags: syn, seq: 1000},
			{from: B, flags: syn | ack, seq: 5000, ack: 1001},
			{from: B, flags: syn | ack, seq: 6000, ack: 1001, ms: 1000},
			{from: B, flags: ack, seq: 6001, ack: 1001, data: "abc"},
		}, want: `
			B 0 "abc" #4
			end open`},
		{name: "a stray segment", script: handshake(
			pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
			pkt{from: A, flags: ack, seq: 3 << 30, ack: 5001, data: "???"},
			pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"},
		), want: `
			A 0 "abc" #4
			A 3 "def" #6
			end open`},
	})
}

func TestConn(t *testing.T) {
	var c *Conn
	a := New(Config{}, func(got *Conn) Stream { c = got; return &tape{t: t, conn: got} })
	for i, p := range handshake(pkt{from: B, flags: ack, seq: 5001, ack: 1001, data: "abc"}) {
		s := p.segment()
		if p.flags&syn != 0 {
			s.MSS, s.WScale = 1460+uint16(i), int8(7+i)
		}
		a.Segment(&s, Stamp{Frame: uint64(i + 1), Time: int64(i+1) * 1000})
	}
	if c == nil {
		t.Fatal("no connection")
	}
	for side, want := range []struct {
		isn    uint32
		mss    uint16
		wscale int8
		at     Stamp
	}{{1000, 1460, 7, Stamp{1, 1000}}, {5000, 1461, 8, Stamp{2, 2000}}} {
		seen, at, mss := c.SYN(Side(side))
		isn, ok := c.ISN(Side(side))
		if !seen || at != want.at || mss != want.mss || c.WindowScale(Side(side)) != want.wscale || isn != want.isn || !ok || !c.Begins(Side(side)) {
			t.Errorf("%v: SYN %v at %v, MSS %d, scale %d, ISN %d %v", Side(side), seen, at, mss, c.WindowScale(Side(side)), isn, ok)
		}
	}
	if side, ok := c.Opener(); side != A || !ok {
		t.Errorf("opened by %v %v", side, ok)
	}
	if c.Start.Frame != 1 || c.Last.Frame != 4 || c.Flow != (packet.Flow{Src: hostA, Dst: hostB}) {
		t.Errorf("start %v, last %v, flow %v", c.Start, c.Last, c.Flow)
	}
	if n := a.Connections(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// A dull stream counts what it is told.
type dull struct{ data, ends int }

func (d *dull) Data(_ Side, c *Chunk) int { d.data++; return len(c.Data) }
func (d *dull) Gap(Side, *Gap)            {}
func (d *dull) Ack(Side, uint64, Stamp)   {}
func (d *dull) Event(Side, *Event)        {}
func (d *dull) End(*End)                  { d.ends++ }

func TestIgnore(t *testing.T) {
	var d dull
	var c *Conn
	a := New(Config{}, func(got *Conn) Stream { c = got; return &d })
	send := func(frame uint64, p pkt) {
		s := p.segment()
		a.Segment(&s, Stamp{Frame: frame, Time: int64(frame)})
	}
	for i, p := range handshake(pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"}) {
		send(uint64(i), p)
	}
	c.Ignore()
	send(5, pkt{from: A, flags: ack, seq: 1010, ack: 5001, data: "xyz"})
	send(6, pkt{from: A, flags: ack, seq: 1004, ack: 5001, data: "defghi"})
	if c.dirs != nil || a.Held() != 0 || d.data != 1 {
		t.Errorf("an ignored connection keeps %v, %d octets, and was told data %d times", c.dirs != nil, a.Held(), d.data)
	}
	send(7, pkt{from: A, flags: ack | fin, seq: 1013, ack: 5001})
	send(8, pkt{from: B, flags: ack | fin, seq: 5001, ack: 1014})
	if d.ends != 1 {
		t.Errorf("the end was told %d times", d.ends)
	}
	if all, _ := a.Open(); all != 0 {
		t.Errorf("%d connections open", all)
	}

	// A connection for which there is no Stream.
	n := 0
	a = New(Config{}, func(*Conn) Stream { n++; return nil })
	for i, p := range handshake(
		pkt{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
		pkt{from: B, flags: ack, seq: 5001, ack: 1004, data: "abc"},
		pkt{from: A, flags: syn, seq: 77000},
		pkt{from: A, flags: ack, seq: 77001, ack: 1, data: "abc"}) {
		send(uint64(i), p)
	}
	a.Flush()
	if n != 2 || a.Connections() != 2 {
		t.Errorf("asked for %d streams of %d connections", n, a.Connections())
	}
}

// TestIgnoreWithoutStart meets a late SYN on a connection of which neither the
// start was seen nor anything is kept.
func TestIgnoreWithoutStart(t *testing.T) {
	n := 0
	a := New(Config{}, func(*Conn) Stream { n++; return nil })
	for i, p := range []pkt{
		{from: A, flags: ack, seq: 1001, ack: 5001, data: "abc"},
		{from: A, flags: ack, seq: 1004, ack: 5001, data: "def"}, // nothing is kept from here on
		{from: A, flags: syn, seq: 9000},
		{from: A, flags: ack, seq: 9001, ack: 1, data: "abc"},
	} {
		s := p.segment()
		a.Segment(&s, Stamp{Frame: uint64(i + 1), Time: int64(i)})
	}
	a.Flush()
	if n != 2 || a.Connections() != 2 {
		t.Errorf("asked for %d streams of %d connections", n, a.Connections())
	}
}

// TestFloods holds what a flood of connections costs within the limits, and
// apart from those that carry something.
func TestFloods(t *testing.T) {
	var d dull
	a := New(Config{MaxHalfOpen: 100, MaxConns: 1000}, func(*Conn) Stream { return &d })
	s := pkt{from: A, flags: ack, seq: 1, ack: 1, data: "abc"}.segment()
	a.Segment(&s, Stamp{1, 1})
	flood := func(n int, p pkt) {
		for i := range n {
			s := p.segment()
			s.Flow.Src.Addr[0], s.Flow.Src.Addr[1], s.Flow.Src.Addr[2] = 0x20, byte(i), byte(i>>8)
			a.Segment(&s, Stamp{uint64(i + 2), int64(i + 2)})
		}
	}
	flood(5000, pkt{flags: syn, seq: 9})
	if all, half := a.Open(); all != 101 || half != 100 || d.ends != 0 {
		t.Errorf("a flood of SYNs: %d open, %d half, %d ended", all, half, d.ends)
	}
	// The first connection stays in use, and so it stays.
	for i := range 5000 {
		flood(1, pkt{flags: ack, seq: uint32(i), ack: 1, data: "x"})
		s := pkt{from: A, flags: ack, seq: 1, ack: 1, data: "abc"}.segment()
		s.Seq = uint32(4 + 3*i)
		a.Segment(&s, Stamp{uint64(i + 10000), int64(i + 10000)})
	}
	for i := range 5 {
		p := pkt{flags: ack, seq: 7, ack: 1, data: "x"}
		s := p.segment()
		s.Flow.Dst.Port = uint16(i + 1)
		for j := range 1000 {
			s.Flow.Src.Port = uint16(j + 1)
			a.Segment(&s, Stamp{uint64(j + 20000), int64(j + 20000)})
		}
		u := pkt{from: A, flags: ack, seq: uint32(15004 + 3*i), ack: 1, data: "abc"}.segment()
		a.Segment(&u, Stamp{30000, 30000})
	}
	if all, _ := a.Open(); all > 1000 {
		t.Errorf("%d connections open", all)
	}
	if c, _ := a.find(&packet.Flow{Src: hostA, Dst: hostB}); c == nil || c.list != &a.full {
		t.Error("the one connection in use was evicted")
	}
	if len(a.table.slots) > 4096 || a.ended.n > maxEnded {
		t.Errorf("%d slots, %d ended", len(a.table.slots), a.ended.n)
	}
}

// TestFlushOrder holds Flush to the order in which connections began.
func TestFlushOrder(t *testing.T) {
	var ended []uint16
	a := New(Config{}, func(c *Conn) Stream { return &onEnd{func() { ended = append(ended, c.Flow.Src.Port) }} })
	for round := range 2 {
		for i := range 300 {
			port := uint16(i*7919%300 + 1)
			if round > 0 {
				port = uint16(i + 1)
			}
			s := pkt{flags: ack, seq: uint32(1 + round), ack: 1, data: "x"}.segment()
			s.Flow.Src.Port = port
			a.Segment(&s, Stamp{uint64(i), int64(i)})
		}
	}
	a.Flush()
	for i, port := range ended {
		if want := uint16(i*7919%300 + 1); port != want {
			t.Fatalf("connection %d that ended is %d, want %d", i, port, want)
		}
	}
	if len(ended) != 300 {
		t.Errorf("%d ended", len(ended))
	}
}

type onEnd struct{ end func() }

func (o *onEnd) Data(_ Side, c *Chunk) int { return len(c.Data) }
func (o *onEnd) Gap(Side, *Gap)            {}
func (o *onEnd) Ack(Side, uint64, Stamp)   {}
func (o *onEnd) Event(Side, *Event)        {}
func (o *onEnd) End(*End)                  { o.end() }
