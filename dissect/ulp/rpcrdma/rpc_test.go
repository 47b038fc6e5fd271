package rpcrdma

import (
	"errors"
	"reflect"
	"testing"
)

func TestCall(t *testing.T) {
	// RFC 5531, section 9: NFSv3 READ, AUTH_SYS of a machine "l", uid and gid 0.
	wire := octets(t, "56e2f98d 00000000 00000002 000186a3 00000003 00000006"+
		"00000001 00000018 00000000 00000001 6c000000 00000000 00000000 00000000"+
		"00000000 00000000")
	want := Call{XID: 0x56e2f98d, Program: ProgramNFS, Version: 3, Procedure: 6, Cred: Auth{Flavor: AuthSys, Body: wire[32:56]}, Verf: Auth{Body: []byte{}}}
	m, n, err := ParseCall(append(wire, 0xAA))
	if err != nil || n != len(wire) || !reflect.DeepEqual(m, want) {
		t.Errorf("%d octets, %v: %+v", n, err, m)
	}
	if got := m.Append(nil); string(got) != string(wire) {
		t.Errorf("appended % x", got)
	}
	for i := range wire {
		if _, _, err := ParseCall(wire[:i]); !errors.Is(err, ErrShort) {
			t.Errorf("cut to %d octets: %v", i, err)
		}
	}
	// A call whose credentials are cut still says what it calls.
	if m, _, _ := ParseCall(wire[:30]); Name(m.Program, m.Version, m.Procedure) != "nfs3.read" {
		t.Errorf("%+v", m)
	}
	for _, c := range []struct {
		wire string
		off  int
	}{
		{"00000001 00000001 00000002 000186a3", 4},
		{"00000001 00000000 00000003 000186a3", 8},
		{"00000001 00000000 00000002 000186a3 00000003 00000006 00000001 00000191", 28}, // RFC 5531: no more than 400
	} {
		var f *FormatError
		if _, _, err := ParseCall(octets(t, c.wire)); !errors.As(err, &f) || f.Off != c.off {
			t.Errorf("%s: %v", c.wire, err)
		}
	}
}

func TestReply(t *testing.T) {
	for _, c := range []struct {
		wire, status string
		want         Reply
	}{
		{"00000007 00000001 00000000 00000000 00000000 00000000", "SUCCESS", Reply{}},
		{"00000007 00000001 00000000 00000006 00000004 01020304 00000005", "SYSTEM_ERR", Reply{Verf: Auth{AuthGSS, []byte{1, 2, 3, 4}}, Stat: 5}},
		{"00000007 00000001 00000000 00000000 00000000 00000002 00000003 00000004", "PROG_MISMATCH", Reply{Stat: 2, Low: 3, High: 4}},
		{"00000007 00000001 00000001 00000000 00000002 00000002", "RPC_MISMATCH", Reply{Denied: true, Low: 2, High: 2}},
		{"00000007 00000001 00000001 00000001 00000005", "AUTH_TOOWEAK", Reply{Denied: true, Stat: 1, AuthStat: 5}},
		{"00000007 00000001 00000001 00000001 0000000e", "RPCSEC_GSS_CTXPROBLEM", Reply{Denied: true, Stat: 1, AuthStat: 14}},
		{"00000007 00000001 00000000 00000000 00000000 00000009", "unknown", Reply{Stat: 9}},
	} {
		wire := octets(t, c.wire)
		m, n, err := ParseReply(append(wire, 0xAA))
		if err != nil || n != len(wire) || m.Status() != c.status {
			t.Errorf("%s: %d octets, %v, %s", c.wire, n, err, m.Status())
		}
		if got := m.Append(nil); string(got) != string(wire) {
			t.Errorf("appended % x", got)
		}
		c.want.XID = 7
		if len(m.Verf.Body) == 0 {
			m.Verf.Body = nil
		}
		if !reflect.DeepEqual(m, c.want) {
			t.Errorf("%+v\nwant %+v", m, c.want)
		}
		for i := range wire {
			if _, _, err := ParseReply(wire[:i]); !errors.Is(err, ErrShort) {
				t.Errorf("cut to %d octets: %v", i, err)
			}
		}
	}
	if _, _, err := ParseReply(octets(t, "00000007 00000001 00000002")); err == nil {
		t.Error("a reply that is neither accepted nor denied")
	}
}

func TestGSS(t *testing.T) {
	// RFC 2203, section 5: version 1, data, sequence 9, integrity, a handle.
	a := Auth{Flavor: AuthGSS, Body: octets(t, "00000001 00000000 00000009 00000002 00000004 01020304")}
	if g, ok := a.GSS(); !ok || g != (GSS{Proc: 0, Seq: 9, Service: GSSIntegrity}) {
		t.Errorf("%+v, %v", g, ok)
	}
	if _, ok := (&Auth{Flavor: AuthSys, Body: a.Body}).GSS(); ok {
		t.Error("AUTH_SYS taken for RPCSEC_GSS")
	}
}

func TestArgsAndResults(t *testing.T) {
	// RFC 1813, section 3.3.6: READ.
	args := octets(t, "00000008 0100010000000000 0000000000001000 00010000")
	v, whole := Args(nil, ProgramNFS, 3, 6, args, Chunks{})
	if !whole || len(v) != 3 || v[1].Name != "offset" || v[1].Num != 4096 || v[2].Name != "count" || v[2].Num != 65536 {
		t.Errorf("%v, %v", v, whole)
	}
	if v, whole := Args(nil, ProgramNFS, 3, 6, args[:16], Chunks{}); whole || len(v) != 1 {
		t.Errorf("cut: %v, %v", v, whole)
	}
	for _, c := range []struct {
		program, version, proc uint32
		wire, name             string
		ok                     bool
	}{
		{ProgramNFS, 3, 6, "00000046 00000000", "NFS3ERR_STALE", false},
		{ProgramNFS, 3, 6, "00000000 00000000 00000000 00000001 00000000", "NFS3_OK", true},
		{ProgramMount, 3, 1, "0000000d", "MNT3ERR_ACCES", false},
		{ProgramNLM, 4, 2, "00000004 01020304 00000003", "NLM4_BLOCKED", true},
		{ProgramNLM, 4, 2, "00000004 01020304 00000001", "NLM4_DENIED", false},
		{ProgramNFS, 3, 6, "000003e7 00000000", "", false},
	} {
		s, has, _, whole := Results(nil, c.program, c.version, c.proc, octets(t, c.wire), Chunks{})
		if !has || !whole || s.Name != c.name || s.OK != c.ok {
			t.Errorf("%s: %+v, %v, %v", c.wire, s, has, whole)
		}
	}
	// The data of a READ of 100000 octets is in the Write chunk.
	res := octets(t, "00000000 00000000 000186a0 00000001 000186a0")
	writes := WriteList(AppendWriteList(nil, AppendWriteChunk(nil, Segment{Length: 100000})))
	if _, _, v, whole := Results(nil, ProgramNFS, 3, 6, res, Chunks{Writes: writes}); !whole || len(v) != 3 {
		t.Errorf("%v, %v", v, whole)
	}
	if _, _, _, whole := Results(nil, ProgramNFS, 3, 6, res, Chunks{}); whole {
		t.Error("data that is nowhere is whole")
	}
}
