package iser_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/dissect/ulp/iser"
)

func octets(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// cut says that a parser takes b, and nothing shorter.
func cut(t *testing.T, b []byte, parse func([]byte) (int, error)) {
	t.Helper()
	for n := range b {
		if _, err := parse(b[:n]); err != iser.ErrShort {
			t.Errorf("%d of %d octets: %v", n, len(b), err)
		}
	}
	if n, err := parse(append(bytes.Clone(b), 1)); err != nil || n != len(b) {
		t.Errorf("%d, %v", n, err)
	}
}

func TestHeader(t *testing.T) {
	for _, tt := range []struct {
		name, wire string
		want       iser.Header
	}{
		{"control-type, Read STag", "14 00 00 00  00 00 00 00  00 00 00 00 00 00 00 00  00 00 07 01  00 00 7f 33 00 00 00 00",
			iser.Header{Opcode: iser.Control, RSV: true, ReadSTag: 0x701, ReadBase: 0x7f3300000000}},
		{"control-type, both STags", "1c 00 00 00  01 02 03 04  11 12 13 14 15 16 17 18  21 22 23 24  31 32 33 34 35 36 37 38",
			iser.Header{Opcode: iser.Control, WSV: true, RSV: true, WriteSTag: 0x01020304, WriteBase: 0x1112131415161718, ReadSTag: 0x21222324, ReadBase: 0x3132333435363738}},
		{"Hello", "20 aa 00 10" + strings.Repeat("00", 24), iser.Header{Opcode: iser.Hello, MaxVer: 10, Ver: 10, Depth: 16}},
		{"HelloReply that rejects", "31 a9 01 00" + strings.Repeat("00", 24), iser.Header{Opcode: iser.HelloReply, Reject: true, MaxVer: 10, Ver: 9, Depth: 256}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := octets(t, tt.wire)
			cut(t, b, func(b []byte) (int, error) { _, n, err := iser.ParseHeader(b); return n, err })
			got, _, _ := iser.ParseHeader(b)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if d := cmp.Diff(b, tt.want.Append(nil)); d != "" {
				t.Errorf("Append (-want +got)\n%s", d)
			}
		})
	}
	if _, _, err := iser.ParseHeader(bytes.Repeat([]byte{0x40}, iser.HeaderLen)); err == nil || err == iser.ErrShort {
		t.Errorf("opcode 4: %v", err)
	}
}

func TestBHS(t *testing.T) {
	// SCSI Command, READ(10) of 8 blocks from LBA 0x800, ITT 0x11, 4096 octets.
	b := octets(t, `
		01 c1 00 00  00 00 00 00  00 01 00 00 00 00 00 00  00 00 00 11
		00 00 10 00  00 00 00 05  00 00 00 07  28 00 00 00 08 00 00 00 08 00 00 00 00 00 00 00`)
	cut(t, b, func(b []byte) (int, error) { _, n, err := iser.ParseBHS(b); return n, err })
	h, _, _ := iser.ParseBHS(b)
	if h.Opcode != iser.OpSCSICommand || h.Immediate || h.ITT != 0x11 || h.LUN != 1<<48 || !h.Reads() || h.Writes() || h.ExpectedLength() != 4096 || h.CmdSN() != 5 {
		t.Errorf("%+v", h)
	}
	if d := cmp.Diff(iser.CDB{Title: "READ(10)", Name: "iscsi.read", Known: true, LBA: 0x800, Blocks: 8, HasLBA: true}, iser.ParseCDB(h.CDB())); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if d := cmp.Diff(b, h.Append(nil)); d != "" {
		t.Errorf("Append (-want +got)\n%s", d)
	}

	// SCSI Response: CHECK CONDITION, underflow of 32 octets, 98 octets of data.
	h, _, _ = iser.ParseBHS(octets(t, `
		21 82 00 02  00 00 00 62  00 00 00 00 00 00 00 00  0a 00 00 00
		00 00 00 00  3b 74 73 4a  00 00 00 0a  00 00 00 49  00 00 00 00  00 00 00 00  00 00 00 20`))
	n, under, over := h.Residual()
	if h.Opcode != iser.OpSCSIResponse || !h.Opcode.Target() || h.Response() != 0 || h.SCSIStatus() != iser.CheckCondition || h.DataLen != 98 || n != 32 || !under || over || h.MaxCmdSN() != 0x49 {
		t.Errorf("%+v", h)
	}

	// Login Request for immediate delivery, with an additional header.
	h, _, _ = iser.ParseBHS(octets(t, "43 87 00 00 02 01 02 03"+strings.Repeat("00", 40)))
	if h.Opcode != iser.OpLoginRequest || !h.Immediate || h.AHSLen != 8 || h.DataLen != 0x010203 || h.Opcode.String() != "Login Request" {
		t.Errorf("%+v", h)
	}
	h, _, _ = iser.ParseBHS(octets(t, "23 00"+strings.Repeat("00", 34)+"02 01"+strings.Repeat("00", 10)))
	if s, name := h.LoginStatus(); s != 0x0201 || name != "authentication failure" {
		t.Errorf("%04x %s", s, name)
	}
}

func TestCDB(t *testing.T) {
	for _, tt := range []struct {
		wire string
		want iser.CDB
	}{
		{"08 1f ff ff 00 00", iser.CDB{Title: "READ(6)", Name: "iscsi.read", Known: true, LBA: 0x1fffff, Blocks: 256, HasLBA: true}},
		{"8a 00 01 02 03 04 05 06 07 08 00 00 00 10 00 00", iser.CDB{Title: "WRITE(16)", Name: "iscsi.write", Known: true, LBA: 0x0102030405060708, Blocks: 16, HasLBA: true}},
		{"aa 00 00 00 00 09 00 00 00 03", iser.CDB{Title: "WRITE(12)", Name: "iscsi.write", Known: true, LBA: 9, Blocks: 3, HasLBA: true}},
		{"89 00 00 00 00 00 00 00 00 07 00 00 00 01", iser.CDB{Title: "COMPARE AND WRITE", Name: "iscsi.compare_and_write", Known: true, LBA: 7, Blocks: 1, HasLBA: true}},
		{"00", iser.CDB{Title: "TEST UNIT READY", Name: "iscsi.test_unit_ready", Known: true}},
		{"9e 10", iser.CDB{Title: "READ CAPACITY(16)", Name: "iscsi.read_capacity", Known: true}},
		{"9e 1f", iser.CDB{Title: "SCSI command 0x9e", Name: "iscsi.scsi"}},
		{"c5", iser.CDB{Title: "SCSI command 0xc5", Name: "iscsi.scsi"}},
	} {
		b := make([]byte, 16)
		copy(b, octets(t, tt.wire))
		if d := cmp.Diff(tt.want, iser.ParseCDB(b)); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}

func TestSense(t *testing.T) {
	for _, tt := range []struct{ wire, want string }{
		{"0012 70 00 05 00 00 00 00 0a 00 00 00 00 24 00 00 00 00 00", "ILLEGAL REQUEST, invalid field in CDB (05/24/00)"},
		{"0008 72 06 29 00 00 00 00 00", "UNIT ATTENTION, power on, reset, or bus device reset occurred (06/29/00)"},
		{"0012 f0 00 03 00 00 00 00 0a 00 00 00 00 ee 01 00 00 00 00", "MEDIUM ERROR (03/ee/01)"},
	} {
		if s, ok := iser.ParseSense(octets(t, tt.wire)); !ok || s.String() != tt.want {
			t.Errorf("%q, not %q", s, tt.want)
		}
	}
	for _, wire := range []string{"", "00", "0012", "0002 70 00 05 00 00 00 00 0a 00 00 00 00 24 00", "0004 10 00 00 00"} {
		if s, ok := iser.ParseSense(octets(t, wire)); ok {
			t.Errorf("%s: %v", wire, s)
		}
	}
}

func TestPrivate(t *testing.T) {
	for want, wire := range map[iser.Private]string{{NoZBVA: true}: "80000000", {NoZBVA: true, NoSendInvalidate: true}: "c0000000", {}: "00000000"} {
		b := octets(t, wire)
		cut(t, b, func(b []byte) (int, error) { _, n, err := iser.ParsePrivate(b); return n, err })
		if got, _, _ := iser.ParsePrivate(b); got != want || !bytes.Equal(want.Append(nil), b) {
			t.Errorf("%s: %+v", wire, got)
		}
	}
}
