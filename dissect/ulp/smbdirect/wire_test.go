package smbdirect

import (
	"bytes"
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

// short demands that every head of b is too short for f.
func short(t *testing.T, b []byte, f func([]byte) error) {
	t.Helper()
	for i := range b {
		if err := f(b[:i]); !errors.Is(err, ErrShort) {
			t.Errorf("cut to %d octets: %v", i, err)
		}
	}
}

// MS-SMBD, section 4.1, has these examples of a negotiation and of transfers.
func TestNegotiateRequest(t *testing.T) {
	wire := octets(t, "0001 0001 0000 0a00 00040000 00040000 00000200")
	want := NegotiateRequest{MinVersion: 0x100, MaxVersion: 0x100, CreditsRequested: 10, PreferredSendSize: 1024, MaxReceiveSize: 1024, MaxFragmentedSize: 131072}
	r, n, err := ParseNegotiateRequest(append(wire, 1))
	if err != nil || n != RequestLen || r != want || !bytes.Equal(r.Append(nil), wire) {
		t.Errorf("%+v, %d, %v", r, n, err)
	}
	short(t, wire, func(b []byte) error { _, _, err := ParseNegotiateRequest(b); return err })
	wire[1] = 2
	var f *FormatError
	if _, _, err := ParseNegotiateRequest(wire); !errors.As(err, &f) {
		t.Errorf("version 2.0: %v", err)
	}
}

func TestNegotiateResponse(t *testing.T) {
	wire := octets(t, "0001 0001 0001 0000 0a00 0a00 00000000 00001000 00040000 00040000 00000200")
	want := NegotiateResponse{MinVersion: 0x100, MaxVersion: 0x100, Version: 0x100, CreditsRequested: 10, CreditsGranted: 10,
		MaxReadWriteSize: 1 << 20, PreferredSendSize: 1024, MaxReceiveSize: 1024, MaxFragmentedSize: 131072}
	r, n, err := ParseNegotiateResponse(append(wire, 1))
	if err != nil || n != ResponseLen || r != want || !bytes.Equal(r.Append(nil), wire) {
		t.Errorf("%+v, %d, %v", r, n, err)
	}
	short(t, wire, func(b []byte) error { _, _, err := ParseNegotiateResponse(b); return err })
}

func TestTransfer(t *testing.T) {
	for _, c := range []struct {
		name, wire string
		want       Transfer
		data       string
	}{
		{"credits alone", "0a00 0100 0000 0000 00000000 00000000 00000000", Transfer{CreditsRequested: 10, CreditsGranted: 1}, ""},
		{"keep-alive", "0a00 0000 0100 0000 00000000 00000000 00000000", Transfer{CreditsRequested: 10, Flags: FlagResponseRequested}, ""},
		{"data", "0a00 0000 0000 0000 00000000 18000000 04000000 00000000 fe534d42", Transfer{CreditsRequested: 10, DataOffset: 24, DataLength: 4}, "\xfeSMB"},
		{"first fragment", "0a00 0000 0000 0000 00040000 18000000 04000000 00000000 fe534d42", Transfer{CreditsRequested: 10, Remaining: 1024, DataOffset: 24, DataLength: 4}, "\xfeSMB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wire := octets(t, c.wire)
			x, data, err := ParseTransfer(append(wire, 0xAA))
			if err != nil || x != c.want || string(data) != c.data || x.Size() != uint64(len(wire)) {
				t.Errorf("%+v, %q, %v", x, data, err)
			}
			if got := x.Append(nil, data); !bytes.Equal(got, wire) {
				t.Errorf("appended % x", got)
			}
			short(t, wire[:min(len(wire), DataOffset+1)][:min(len(wire), DataOffset)], func(b []byte) error { _, _, err := ParseTransfer(b); return err })
		})
	}
	for name, wire := range map[string]string{
		"data at 25":                          "0a00 0000 0000 0000 00000000 19000000 04000000 00000000 00fe534d42",
		"data in the header":                  "0a00 0000 0000 0000 00000000 10000000 04000000 00000000 fe534d42",
		"rest of a message that is not there": "0a00 0000 0000 0000 01000000 00000000 00000000",
	} {
		var f *FormatError
		if _, _, err := ParseTransfer(octets(t, wire)); !errors.As(err, &f) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Data that is cut is what there is of it.
	if x, data, err := ParseTransfer(octets(t, "0a00 0000 0000 0000 00000000 18000000 ffffffff 00000000 fe534d42")); err != nil || len(data) != 4 || x.DataLength != 1<<32-1 {
		t.Errorf("%+v, %d octets, %v", x, len(data), err)
	}
}

func TestDescriptor(t *testing.T) {
	wire := octets(t, "0010000000000000 02a50000 00000100")
	d, n, err := ParseDescriptor(wire)
	if err != nil || n != 16 || d != (Descriptor{Offset: 4096, Token: 0xa502, Length: 65536}) || !bytes.Equal(d.Append(nil), wire) {
		t.Errorf("%+v, %v", d, err)
	}
	short(t, wire, func(b []byte) error { _, _, err := ParseDescriptor(b); return err })
	l := Descriptors(append(bytes.Clone(wire), wire...))
	if l.Len() != 2 || l.Octets() != 131072 {
		t.Errorf("%d descriptors, %d octets", l.Len(), l.Octets())
	}
	for _, c := range []struct {
		stag  uint32
		to, n uint64
		want  bool
	}{{0xa502, 4096, 65536, true}, {0x02a50000, 4096, 1, true}, {0xa502, 4097, 65536, false}, {0xa502, 4095, 1, false}, {0xa503, 4096, 1, false}} {
		if d.Holds(c.stag, c.to, c.n) != c.want {
			t.Errorf("%+v", c)
		}
	}
}

func TestPrivateData(t *testing.T) {
	for _, c := range []struct {
		wire string
		want PrivateData
		ok   bool
	}{
		{"00000010 00000020", PrivateData{IRD: 16, ORD: 32}, true},
		{"20000000 01000000", PrivateData{IRD: 32, ORD: 1, LittleEndian: true}, true},
		{"00000000 00000000", PrivateData{}, false},
		{"f6ab0e18 01010303", PrivateData{}, false},
		{"00000010", PrivateData{}, false},
		{"00000010 00000020 00", PrivateData{}, false},
	} {
		wire := octets(t, c.wire)
		p, ok := ParsePrivateData(wire)
		if ok != c.ok || ok && (p != c.want || !bytes.Equal(p.Append(nil), wire)) {
			t.Errorf("%s: %+v, %v", c.wire, p, ok)
		}
	}
}

// MS-SMB2, sections 2.2.1.1 and 2.2.1.2.
var smb2Headers = []struct {
	name, wire string
	want       Header
}{
	{"request", "fe534d42 4000 0100 00000000 0800 0a00 08000000 00000000 0700000000000000 fffe0000 05000000 0100000000000000 000102030405060708090a0b0c0d0e0f",
		Header{CreditCharge: 1, Command: Read, Credits: 10, Flags: FlagSigned, MessageID: 7, reserved: 0xfeff, TreeID: 5, SessionID: 1,
			Signature: [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}},
	{"interim response", "fe534d42 4000 0100 03010000 0f00 0100 03000000 00000000 0800000000000000 0900000000000000 0100000000000000 00000000000000000000000000000000",
		Header{CreditCharge: 1, Status: 0x103, Command: ChangeNotify, Credits: 1, Flags: FlagResponse | FlagAsync, MessageID: 8, AsyncID: 9, SessionID: 1}},
}

func TestSMB2Header(t *testing.T) {
	for _, c := range smb2Headers {
		wire := octets(t, c.wire)
		h, n, err := ParseHeader(append(wire, 1))
		if err != nil || n != HeaderLen || !reflect.DeepEqual(h, c.want) || !bytes.Equal(h.Append(nil), wire) {
			t.Errorf("%s: %+v, %v", c.name, h, err)
		}
		short(t, wire, func(b []byte) error { _, _, err := ParseHeader(b); return err })
	}
	if h := smb2Headers[1].want; !h.Pending() || !h.Response() || StatusName(h.Status) != "STATUS_PENDING" {
		t.Errorf("%+v", h)
	}
	wire := octets(t, smb2Headers[0].wire)
	wire[0] = 0xFD
	var f *FormatError
	if _, _, err := ParseHeader(wire); !errors.As(err, &f) {
		t.Errorf("encrypted: %v", err)
	}
	wire[0], wire[4] = 0xFE, 63
	if _, _, err := ParseHeader(wire); !errors.As(err, &f) || f.Off != 4 {
		t.Errorf("structure size: %v", err)
	}
}

func TestTransforms(t *testing.T) {
	// MS-SMB2, section 2.2.41.
	wire := octets(t, "fd534d42 000102030405060708090a0b0c0d0e0f 101112131415161718191a1b00000000 b4000000 0000 0100 0100000000000000")
	e, n, err := ParseEncrypted(wire)
	if err != nil || n != EncryptedLen || e.OriginalSize != 180 || e.Flags != 1 || e.SessionID != 1 || !bytes.Equal(e.Append(nil), wire) || FormOf(wire) != FormEncrypted {
		t.Errorf("%+v, %v", e, err)
	}
	short(t, wire, func(b []byte) error { _, _, err := ParseEncrypted(b); return err })
	// MS-SMB2, section 2.2.42.1.
	wire = octets(t, "fc534d42 00100000 0300 0000 50000000")
	c, n, err := ParseCompressed(wire)
	if err != nil || n != CompressedLen || c != (Compressed{OriginalSize: 4096, Algorithm: 3, Offset: 80}) || c.AlgorithmName() != "LZ77+Huffman" || !bytes.Equal(c.Append(nil), wire) || FormOf(wire) != FormCompressed {
		t.Errorf("%+v, %v", c, err)
	}
	short(t, wire, func(b []byte) error { _, _, err := ParseCompressed(b); return err })
	for s, want := range map[string]Form{"": FormUnknown, "fe534d": FormUnknown, "fe534d42": FormPlain, "ff534d42": FormSMB1, "fe534d43": FormUnknown, "00534d42": FormUnknown} {
		if got := FormOf(octets(t, s)); got != want {
			t.Errorf("%s is %v", s, got)
		}
	}
}

func TestReassembler(t *testing.T) {
	var r Reassembler
	add := func(remaining, length uint32, data string) (Message, bool) {
		return r.Add(&Transfer{Remaining: remaining, DataOffset: 24, DataLength: length}, []byte(data))
	}
	if m, done := add(0, 3, "abc"); !done || string(m.Data) != "abc" || m.Fragments != 1 || m.Size != 3 {
		t.Errorf("%+v", m)
	}
	add(5, 3, "abc")
	if n, k := r.Waiting(); n != 5 || k != 1 {
		t.Errorf("%d octets to come behind %d fragments", n, k)
	}
	add(2, 3, "def")
	if _, done := r.Add(&Transfer{}, nil); done {
		t.Error("credits end a message")
	}
	if m, done := add(0, 2, "gh"); !done || string(m.Data) != "abcdefgh" || m.Fragments != 3 || m.Size != 8 || m.Broken {
		t.Errorf("%+v", m)
	}
	// What is missing in the middle ends what is kept.
	add(5, 3, "ab")
	if m, done := add(0, 5, "defgh"); !done || string(m.Data) != "ab" || m.Size != 8 {
		t.Errorf("%+v", m)
	}
	// A fragment that does not continue the one before begins anew.
	add(500, 3, "abc")
	if m, done := add(0, 3, "xyz"); !done || string(m.Data) != "xyz" || !m.Broken || m.Size != 3 {
		t.Errorf("%+v", m)
	}
	// No more is kept than MaxKept.
	big := strings.Repeat("x", 1500)
	add(1500*9, 1500, big)
	for i := 8; i >= 0; i-- {
		m, done := add(uint32(1500*i), 1500, big)
		if done != (i == 0) || done && (len(m.Data) != MaxKept || m.Size != 15000 || m.Fragments != 10) || cap(r.kept) > 4*MaxKept {
			t.Errorf("%d octets of %d, %d fragments", len(m.Data), m.Size, m.Fragments)
		}
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	wire := Transfer{CreditsRequested: 1}.Append(nil, octets(t, smb2Headers[0].wire))
	var r Reassembler
	if n := testing.AllocsPerRun(100, func() {
		x, data, err := ParseTransfer(wire)
		m, done := r.Add(&x, data)
		h, _, err2 := ParseHeader(m.Data)
		if err != nil || err2 != nil || !done || h.MessageID != 7 {
			t.Error(err, err2)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
