package rpcrdma

import (
	"errors"
	"testing"
)

// Arguments of COMPOUND (RFC 8881, section 16.2): no tag, minor version 2, three
// operations.
const read4 = "00000000 00000002 00000003 " +
	"00000035 ae690e6b151a11930200000000000000 00000019 00000000 00000000 00000001" + // SEQUENCE
	"00000016 00000008 0100010000000000" + // PUTFH
	"00000019 00000001000000020000000300000004 0000000000001000 00000800" // READ

func value(t *testing.T, o *Operation, name string) Value {
	t.Helper()
	for _, v := range o.Values {
		if v.Name == name {
			return v
		}
	}
	t.Errorf("%s has no %s", o.Name, name)
	return Value{}
}

func TestCompound(t *testing.T) {
	wire := octets(t, read4)
	var c Compound
	n, err := c.Parse(wire, Chunks{})
	if err != nil || n != len(wire) || !c.Whole() || c.Minor != 2 || len(c.Ops) != 3 || c.OpName() != "nfs4.read" {
		t.Fatalf("%d of %d octets, %v: %+v", n, len(wire), err, c)
	}
	if v := value(t, &c.Ops[0], "sequence"); v.Num != 0x19 {
		t.Errorf("sequence %d", v.Num)
	}
	if v := value(t, &c.Ops[1], "fh"); string(v.Data) != "\x01\x00\x01\x00\x00\x00\x00\x00" {
		t.Errorf("file handle % x", v.Data)
	}
	if v := value(t, &c.Ops[2], "offset"); v.Num != 0x1000 {
		t.Errorf("offset %d", v.Num)
	}
	if got := c.Append(nil); string(got) != string(wire) {
		t.Errorf("appended % x", got)
	}
	// Cut, it gives the operations that are there, and its name only where that
	// cannot be another.
	for i := range wire {
		n, err := c.Parse(wire[:i], Chunks{})
		switch {
		case i < 16:
			if !errors.Is(err, ErrShort) {
				t.Errorf("cut to %d octets: %v", i, err)
			}
		case err != nil || n > i || c.Whole():
			t.Errorf("cut to %d octets: %d, %v, whole %v", i, n, err, c.Whole())
		case i < 68 && c.OpName() != "nfs4.compound", i >= 68 && c.OpName() != "nfs4.read":
			t.Errorf("cut to %d octets: %s", i, c.OpName())
		}
	}
}

// The data of a WRITE is in the chunk at its position, and what rounds it up is
// nowhere; behind it GETATTR goes on (RFC 8166, section 3.4.5).
func TestCompoundReadChunk(t *testing.T) {
	wire := octets(t, "00000000 00000002 00000002 "+
		"00000026 00000001000000020000000300000004 0000000000000000 00000002 00000005"+ // WRITE of 5 octets
		"00000009 00000001 0010011a") // GETATTR
	const position = 100 + 48 // of its data, where 100 octets stand in front of the arguments
	var c Compound
	reads := ReadList(AppendReadList(nil, ReadSegment{position, Segment{Length: 5}}))
	n, err := c.Parse(wire, Chunks{Base: 100, Reads: reads})
	if err != nil || n != len(wire) || !c.Whole() || len(c.Ops) != 2 || c.Ops[1].Name != "GETATTR" || c.OpName() != "nfs4.write" {
		t.Fatalf("%d of %d octets, %v: %+v", n, len(wire), err, c.Ops)
	}
	if v := value(t, &c.Ops[0], "length"); v.Num != 5 {
		t.Errorf("length %d", v.Num)
	}
	// With no chunk there, the data is inline, and here missing.
	if _, err := c.Parse(wire, Chunks{Base: 96, Reads: reads}); err != nil || c.Whole() || c.OpName() != "nfs4.write" {
		t.Errorf("%v: %+v", err, c.Ops)
	}
}

// The results of READ are in the first Write chunk that is used (RFC 8166,
// section 4.3.2.2).
func TestCompoundWriteChunk(t *testing.T) {
	wire := octets(t, "00000000 00000000 00000002 "+
		"00000019 00000000 00000001 000186a0"+ // READ: end of file, 100000 octets
		"00000009 00000000 00000001 00000018 00000004 00000001") // GETATTR
	c := Compound{Reply: true}
	used := WriteList(AppendWriteList(nil, AppendWriteChunk(nil, Segment{Length: 65536}, Segment{Length: 34464})))
	n, err := c.Parse(wire, Chunks{Writes: used})
	if err != nil || n != len(wire) || !c.Whole() || len(c.Ops) != 2 {
		t.Fatalf("%d of %d octets, %v: %+v", n, len(wire), err, c.Ops)
	}
	if v := value(t, &c.Ops[0], "length"); v.Num != 100000 {
		t.Errorf("length %d", v.Num)
	}
	unused := WriteList(AppendWriteList(nil, AppendWriteChunk(nil, Segment{})))
	if _, err := c.Parse(wire, Chunks{Writes: unused}); err != nil || c.Whole() || len(c.Ops) != 1 {
		t.Errorf("%v: %+v", err, c.Ops)
	}
}

func TestCompoundUnknown(t *testing.T) {
	var c Compound
	_, err := c.Parse(octets(t, "00000003 6c7320 00 00000002 00000002 00000016 00000004 01020304 000003e7 00000000"), Chunks{})
	if err != nil || string(c.Tag) != "ls " || len(c.Ops) != 2 || c.Ops[1].Name != "" || c.Ops[1].Code != 999 || c.Whole() || c.OpName() != "nfs4.compound" {
		t.Errorf("%v: %+v", err, c)
	}
	// A count of 2^32-1 costs nothing.
	if _, err := c.Parse(octets(t, "00000000 00000002 ffffffff 00000018"), Chunks{}); err != nil || len(c.Ops) != 1 || c.Whole() {
		t.Errorf("%v: %+v", err, c)
	}
	// CB_COMPOUND (RFC 8881, section 20.2): CB_SEQUENCE with no referring calls,
	// CB_RECALL.
	cb := Compound{Callback: true}
	_, err = cb.Parse(octets(t, "00000000 00000001 00000007 00000002 "+
		"0000000b 000102030405060708090a0b0c0d0e0f 00000001 00000000 00000000 00000000 00000000"+
		"00000004 00000001000000020000000300000004 00000000 00000002 abcd0000"), Chunks{})
	if err != nil || !cb.Whole() || cb.Ident != 7 || cb.OpName() != "nfs4cb.recall" {
		t.Errorf("%v: %+v", err, cb)
	}
}
