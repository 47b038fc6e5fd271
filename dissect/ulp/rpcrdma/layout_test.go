package rpcrdma

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/internal/tshark"
)

// An encoder writes random arguments and results by the XDR of RFC 7531, RFC
// 5662 and RFC 7863, for tshark and the walker to read.
type encoder struct {
	b []byte
	r *rand.Rand
}

func (e *encoder) word(v uint32)   { e.b = binary.BigEndian.AppendUint32(e.b, v) }
func (e *encoder) double(v uint64) { e.b = binary.BigEndian.AppendUint64(e.b, v) }
func (e *encoder) zeros(n int)     { e.b = append(e.b, make([]byte, n)...) }
func (e *encoder) text()           { e.b = appendOpaque(e.b, []byte("name5678901"[:1+e.r.IntN(11)])) }
func (e *encoder) bool() bool {
	v := uint32(e.r.IntN(2))
	e.word(v)
	return v == 1
}

// pick writes one of the values of a union, and returns it.
func (e *encoder) pick(v ...uint32) uint32 {
	x := v[e.r.IntN(len(v))]
	e.word(x)
	return x
}

// times writes a count below n, and as many times what f writes.
func (e *encoder) times(n int, f func()) {
	k := e.r.IntN(n)
	e.word(uint32(k))
	for range k {
		f()
	}
}

// layout writes what a layout says. Where it says that what follows is not
// known, it is no operation for this test, and ok is false.
func (e *encoder) layout(l string) (ok bool) {
	for _, token := range strings.Fields(l) {
		_, kind, _ := strings.Cut(token, ":")
		if !e.kind(kind[0]) {
			return false
		}
	}
	return true
}

func (e *encoder) kind(k byte) bool {
	switch k {
	case 'w':
		e.word(uint32(e.r.IntN(2)))
	case 'd':
		e.double(uint64(e.r.IntN(1 << 20)))
	case 'o', 'D':
		e.text()
	case 'm':
		e.word(0) // an empty bitmap: which attributes it would ask for is not our matter
	case 'a':
		e.word(0)
		e.word(0)
	case 'i', 'n':
		e.zeros(16)
	case 'v':
		e.double(e.r.Uint64())
	case 'T':
		e.zeros(12)
	case 'c':
		e.zeros(20)
	case 't':
		switch e.pick(1, 2, 3, 5) {
		case 5:
			e.text()
		case 3:
			e.zeros(8)
		}
	case 'k': // new_lock_owner, then open_to_lock_owner4 or exist_lock_owner4
		if e.bool() {
			e.layout(":w :i :w :d :o")
		} else {
			e.layout(":i :w")
		}
	case 'h':
		if e.bool() {
			switch e.pick(0, 1, 2, 3) {
			case 2:
				e.double(1)
			case 3:
				e.layout(":v :a")
			default:
				e.layout(":a")
			}
		}
	case 'l':
		// Not CLAIM_DELEG_CUR_FH, of which tshark 4.0 leaves out the stateid.
		switch e.pick(0, 1, 2, 3, 4, 6) {
		case 0, 3:
			e.text()
		case 1:
			e.word(1)
		case 2:
			e.layout(":i :o")
		}
	case 'g':
		switch e.pick(0, 1, 2) {
		case 1:
			e.layout(":i :w :w :w :w :o")
		case 2:
			e.layout(":i :w")
			if e.pick(1, 2) == 1 {
				e.double(99)
			} else {
				e.layout(":w :w")
			}
			e.layout(":w :w :w :o")
		}
	case 'r':
		for range e.r.IntN(3) {
			e.word(1)
			e.layout(":d :o :a")
		}
		e.word(0)
		e.word(1)
	case 's':
		e.times(3, func() { e.pick(0, 1) })
	case 'e':
		e.times(3, func() {
			switch e.pick(0, 1) {
			case 1:
				e.layout(":w :o :w :w")
				e.times(3, func() { e.word(7) })
			}
		})
	case 'p', 'q':
		if e.pick(0, 1) == 1 {
			e.layout(":m :m")
		}
	case 'y':
		if e.bool() {
			e.layout(":o :o :T")
		}
	case 'A':
		e.layout(":w :w :w :w :w :w")
		if e.bool() {
			e.word(128)
		}
	case 'b':
		if e.pick(1, 3) == 1 {
			e.layout(":d :d :i :o")
		}
	case 'I':
		if e.bool() {
			e.zeros(16)
		}
	case 'N':
		e.times(3, func() { e.zeros(16) })
	case '0':
		e.word(0)
	case '?':
		if e.bool() {
			e.double(5)
		}
	case 'Z':
		if e.bool() {
			e.zeros(12)
		}
	default:
		return false
	}
	return true
}

// notByTshark is what tshark 4.0 itself does not read to the end, or, of
// WRITE_SAME, not as RFC 7863 has it.
var notByTshark = map[string]bool{
	"GET_DIR_DELEGATION, reply false": true,
	"SET_SSV, reply false":            true,
	"SET_SSV, reply true":             true,
	"WRITE_SAME, reply false":         true,
}

// The arguments and results of every operation end where tshark says they do:
// the operations behind them are found by both.
func TestLayoutsAgainstTshark(t *testing.T) {
	tshark.Need(t)
	const rounds = 6
	r := rand.New(rand.NewPCG(7, 0))
	type message struct {
		name  string
		reply bool
		want  string
	}
	var c tshark.Conversation
	c.Port = 2049
	var all []message
	xid := uint32(1)
	for code := range nfs4ops {
		p := &nfs4ops[code]
		if p.op == "" || code == len(nfs4ops)-1 {
			continue
		}
		for range rounds {
			for _, reply := range []bool{false, true} {
				e := encoder{r: r}
				l := p.args
				if reply {
					l = p.res
				}
				if !e.layout(l) {
					continue
				}
				// It, then PUTROOTFH, GETFH or its results, LOOKUPP.
				m := Compound{Reply: reply, Count: 4, Minor: 2, Ops: []Operation{
					{Code: uint32(code), Body: e.b}, {Code: 24}, {Code: 10}, {Code: 16}}}
				if reply {
					m.Ops[2].Body = appendOpaque(nil, []byte("handle78"))
				}
				var wire []byte
				if reply {
					wire = (&Reply{XID: xid}).Append(nil)
				} else {
					xid++
					wire = (&Call{XID: xid, Program: ProgramNFS, Version: 4, Procedure: 1}).Append(nil)
				}
				n := len(wire)
				wire = m.Append(wire)
				got := Compound{Reply: reply}
				if k, err := got.Parse(wire[n:], Chunks{Base: n}); err != nil || !got.Whole() || k != len(wire)-n {
					t.Errorf("%s, reply %v: %d of %d octets, %v: % x", p.title, reply, k, len(wire)-n, err, wire[n:])
				}
				c.Send(reply, append(binary.BigEndian.AppendUint32(nil, 1<<31|uint32(len(wire))), wire...))
				all = append(all, message{p.title, reply, fmt.Sprintf("%d;24;10;16", code)})
			}
		}
	}
	rows := c.Fields(t, "rpc", "nfs.opcode", "_ws.malformed")
	if len(rows) != len(all) {
		t.Fatalf("%d messages, tshark says %d", len(all), len(rows))
	}
	bad := map[string]int{}
	for i, m := range all {
		if key := fmt.Sprintf("%s, reply %v", m.name, m.reply); rows[i][0] != m.want && !notByTshark[key] {
			if bad[key]++; bad[key] == 1 {
				t.Errorf("message %d, %s: operations %s, tshark says %s %s", i+1, key, m.want, rows[i][0], rows[i][1])
			}
		}
	}
	t.Logf("%d messages", len(all))
}
