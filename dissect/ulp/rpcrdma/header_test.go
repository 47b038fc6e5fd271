package rpcrdma

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// octets reads hexadecimal text, in which white space means nothing.
func octets(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const (
	fixed = "41e2f98d 00000001 00000080 " // XID, version, credits
	hloo1 = "00eed901 00001090 bc1c39940a6cc000 "
	hloo2 = "0000a502 00000010 0000000000001000 "
)

var (
	seg1 = Segment{Handle: 0x00eed901, Length: 0x1090, Offset: 0xbc1c39940a6cc000}
	seg2 = Segment{Handle: 0x0000a502, Length: 0x10, Offset: 0x1000}
)

// The forms of RFC 8166, section 4.7.
var headers = []struct {
	name, wire string
	want       Header
}{
	{"no chunks", fixed + "00000000  00000000 00000000 00000000", Header{}},
	{"read list, PHLOO PHLOO", fixed + "00000000  00000001 00000098 " + hloo1 + "00000001 00000098 " + hloo2 + "00000000  00000000 00000000",
		Header{Reads: AppendReadList(nil, ReadSegment{0x98, seg1}, ReadSegment{0x98, seg2})}},
	{"write list, 2 HLOO HLOO and 1 HLOO", fixed + "00000000  00000000  00000001 00000002" + hloo1 + hloo2 + "00000001 00000001" + hloo1 + "00000000  00000000",
		Header{Writes: AppendWriteList(nil, AppendWriteChunk(nil, seg1, seg2), AppendWriteChunk(nil, seg1))}},
	{"reply chunk", fixed + "00000001  00000000 00000000  00000001 00000001" + hloo1, Header{Proc: ProcNoMsg, HasReply: true, Reply: AppendWriteChunk(nil, seg1)}},
	{"empty write chunk", fixed + "00000001  00000000  00000001 00000000 00000000  00000000", Header{Proc: ProcNoMsg, Writes: AppendWriteList(nil, WriteChunk{})}},
	{"RDMA_MSGP", fixed + "00000002 00000008 00000400  00000000 00000000 00000000", Header{Proc: ProcMsgP, Align: 8, Threshold: 1024}},
	{"RDMA_DONE", fixed + "00000003", Header{Proc: ProcDone}},
	{"ERR_VERS", fixed + "00000004 00000001 00000001 00000002", Header{Proc: ProcError, Err: ErrVers, Low: 1, High: 2}},
	{"ERR_CHUNK", fixed + "00000004 00000002", Header{Proc: ProcError, Err: ErrChunk}},
}

func TestHeader(t *testing.T) {
	for _, c := range headers {
		t.Run(c.name, func(t *testing.T) {
			wire := octets(t, c.wire)
			want := c.want
			want.XID, want.Version, want.Credits = 0x41e2f98d, 1, 128
			h, n, err := ParseHeader(append(wire, 0xAA))
			if err != nil || n != len(wire) {
				t.Fatalf("%d octets, %v; want %d", n, err, len(wire))
			}
			if got := h.Append(nil); string(got) != string(wire) {
				t.Errorf("appended % x", got)
			}
			for _, l := range []*[]byte{(*[]byte)(&h.Reads), (*[]byte)(&h.Writes), (*[]byte)(&h.Reply)} {
				if len(*l) == 0 {
					*l = nil
				}
			}
			if len(want.Reply) == 0 {
				want.Reply = nil
			}
			if !reflect.DeepEqual(h, want) {
				t.Errorf("%+v\nwant %+v", h, want)
			}
			for i := range wire {
				if _, _, err := ParseHeader(wire[:i]); !errors.Is(err, ErrShort) {
					t.Errorf("cut to %d octets: %v", i, err)
				}
			}
		})
	}
}

func TestChunkLists(t *testing.T) {
	reads := ReadList(AppendReadList(nil, ReadSegment{0x98, seg1}, ReadSegment{0x98, seg2}, ReadSegment{0, seg2}))
	if n, ok := reads.At(0x98); reads.Len() != 3 || n != 0x10A0 || !ok || reads.Octets() != 0x10B0 {
		t.Errorf("%d segments, %d octets at 0x98, %d in all", reads.Len(), n, reads.Octets())
	}
	if _, ok := reads.At(4); ok {
		t.Error("there is no chunk at 4")
	}
	writes := WriteList(AppendWriteList(nil, AppendWriteChunk(nil, seg1, seg2), nil, AppendWriteChunk(nil, seg2)))
	var got []uint64
	for c := range writes.All() {
		got = append(got, c.Octets())
	}
	if !reflect.DeepEqual(got, []uint64{0x10A0, 0, 0x10}) || writes.Len() != 3 {
		t.Errorf("chunks of %v octets", got)
	}
	for _, c := range []struct {
		stag  uint32
		to, n uint64
		want  bool
	}{
		{0xa502, 0x1000, 0x10, true}, {0xa502, 0x1010, 0, true}, {0xa502, 0x100F, 2, false},
		{0xa502, 0xFFF, 1, false}, {0xa501, 0x1000, 1, false}, {0xa502, 0x1001, 1<<64 - 1, false},
	} {
		if got := seg2.Holds(c.stag, c.to, c.n); got != c.want {
			t.Errorf("%d octets at 0x%x+0x%x: %v", c.n, c.stag, c.to, got)
		}
	}
}

// A cut chunk list gives what is whole of it.
func TestCutHeader(t *testing.T) {
	wire := octets(t, headers[1].wire)
	h, _, err := ParseHeader(wire[:16+24+10])
	if !errors.Is(err, ErrShort) || h.XID != 0x41e2f98d || h.Reads.Len() != 1 {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestBadHeader(t *testing.T) {
	for _, c := range []struct {
		name, wire string
		off        int
	}{
		{"version 2", "41e2f98d 00000002 00000080 00000000 00000000 00000000 00000000", 4},
		{"procedure 5", fixed + "00000005", 12},
		{"a list that is neither there nor not", fixed + "00000000 00000002 00000000 00000000", 16},
		{"error 3", fixed + "00000004 00000003", 16},
	} {
		_, _, err := ParseHeader(octets(t, c.wire))
		var f *FormatError
		if !errors.As(err, &f) || f.Off != c.off {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// A count that no message can hold is not believed.
	b := octets(t, fixed+"00000001 00000000 00000000 00000001 ffffffff"+hloo1)
	if h, _, err := ParseHeader(b); !errors.Is(err, ErrShort) || h.Reply.Len() != 1 {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestPrivateData(t *testing.T) {
	wire := octets(t, "f6ab0e18 01 01 03 ff")
	p, ok := ParsePrivateData(wire)
	want := PrivateData{Version: 1, RemoteInvalidation: true, SendSize: 4096, ReceiveSize: 262144}
	if !ok || p != want {
		t.Errorf("%+v, %v", p, ok)
	}
	if got := p.Append(nil); string(got) != string(wire) {
		t.Errorf("appended % x", got)
	}
	// Section 5.2: something else may stand in front of it.
	if _, ok := ParsePrivateData(append([]byte{0, 0, 0, 1}, wire...)); !ok {
		t.Error("not found behind other octets")
	}
	for _, s := range []string{"", "f6ab0e18 010103", "f6ab0e18 02 01 03 03", "f6ab0e19 01 01 03 03"} {
		if _, ok := ParsePrivateData(octets(t, s)); ok {
			t.Errorf("%q taken for it", s)
		}
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	wire := octets(t, headers[2].wire)
	call := (&Call{XID: 1, Program: ProgramNFS, Version: 3, Procedure: 6, Cred: Auth{Flavor: AuthSys, Body: make([]byte, 24)}}).Append(nil)
	args := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(appendOpaque(nil, []byte("handle")), 4096), 100)
	values := make([]Value, 0, 16)
	var c Compound
	compound := octets(t, read4)
	if n := testing.AllocsPerRun(100, func() {
		if h, _, err := ParseHeader(wire); err != nil || h.Writes.Octets() == 0 {
			t.Error(err)
		}
		if _, _, err := ParseCall(call); err != nil {
			t.Error(err)
		}
		if _, whole := Args(values, ProgramNFS, 3, 6, args, Chunks{}); !whole {
			t.Error("not whole")
		}
		if _, err := c.Parse(compound, Chunks{}); err != nil || c.OpName() != "nfs4.read" {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
