package rpcrdma

import (
	"bytes"
	"errors"
	"testing"
)

func FuzzHeader(f *testing.F) {
	for _, c := range headers {
		f.Add(octets(f, c.wire))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ParsePrivateData(b)
		h, n, err := ParseHeader(b)
		if 16+len(h.Reads)+len(h.Writes)+len(h.Reply) > len(b)+16 {
			t.Fatalf("chunk lists of %d, %d and %d octets in %d", len(h.Reads), len(h.Writes), len(h.Reply), len(b))
		}
		total := h.Reads.Octets() + h.Writes.Octets() + h.Reply.Octets()
		for range h.Writes.All() {
			total++
		}
		if err != nil {
			return
		}
		if n > len(b) || !bytes.Equal(h.Append(nil), b[:n]) {
			t.Fatalf("% x appended as % x, %d", b, h.Append(nil), total)
		}
		if _, _, err := ParseHeader(b[:n-1]); !errors.Is(err, ErrShort) {
			t.Fatalf("% x cut by one octet: %v", b[:n], err)
		}
	})
}

func FuzzRPC(f *testing.F) {
	f.Add(octets(f, "56e2f98d 00000000 00000002 000186a3 00000003 00000006 00000001 00000004 00000000 00000000 00000000 00000008 0100010000000000 0000000000001000 00010000"))
	f.Add(octets(f, "00000007 00000001 00000000 00000000 00000000 00000002 00000003 00000004"))
	f.Add(octets(f, "00000007 00000001 00000001 00000001 00000005"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, n, err := ParseCall(b); err == nil {
			again, k, err := ParseCall(m.Append(nil))
			if err != nil || k != n || again.XID != m.XID || !bytes.Equal(again.Cred.Body, m.Cred.Body) || !bytes.Equal(again.Verf.Body, m.Verf.Body) {
				t.Fatalf("% x: %+v, %+v, %v", b[:n], m, again, err)
			}
			m.Cred.GSS()
			Args(nil, m.Program, m.Version, m.Procedure, b[n:], Chunks{Base: n})
			Results(nil, m.Program, m.Version, m.Procedure, b[n:], Chunks{Base: n})
		}
		if m, n, err := ParseReply(b); err == nil {
			again, k, err := ParseReply(m.Append(nil))
			if err != nil || k != n || again.Status() != m.Status() || again.Low != m.Low || again.High != m.High {
				t.Fatalf("% x: %+v, %+v, %v", b[:n], m, again, err)
			}
		}
	})
}

func FuzzCompound(f *testing.F) {
	f.Add(octets(f, read4), uint8(0))
	f.Add(octets(f, "00000000 00000000 00000001 00000019 00000000 00000001 000186a0"), uint8(1))
	f.Add(octets(f, "00000000 00000001 00000007 00000001 0000000b 000102030405060708090a0b0c0d0e0f 00000001 00000000 00000000 00000000 00000000"), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, kind uint8) {
		c := Compound{Reply: kind&1 != 0, Callback: kind&2 != 0}
		at := Chunks{Base: int(kind)}
		if len(b) > 40 {
			at.Reads, at.Writes = ReadList(b[:24]), WriteList(b[:40])
		}
		n, err := c.Parse(b, at)
		if n > len(b) || len(c.Ops) > len(b)/4 {
			t.Fatalf("%d octets, %d operations in %d", n, len(c.Ops), len(b))
		}
		for _, o := range c.Ops {
			for _, v := range o.Values {
				if len(v.Data) > len(b) {
					t.Fatalf("%s of %d octets in %d", v.Name, len(v.Data), len(b))
				}
			}
		}
		c.OpName()
		if err != nil || !c.Whole() {
			return
		}
		again := Compound{Reply: c.Reply, Callback: c.Callback}
		wire := c.Append(nil)
		if k, err := again.Parse(wire, at); err != nil || k != len(wire) || !again.Whole() || again.OpName() != c.OpName() {
			t.Fatalf("% x as % x: %v", b[:n], wire, err)
		}
	})
}
