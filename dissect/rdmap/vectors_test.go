package rdmap

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/dissect/ddp"
)

// vector is one of the byte vectors that the packages below dissect share.
type vector struct {
	Name   string
	Hex    string
	Fields map[string]any
}

// num returns a field that is a number, or a hex string.
func (v *vector) num(name string) (uint64, bool) {
	switch x := v.Fields[name].(type) {
	case float64:
		return uint64(x), true
	case string:
		var n uint64
		if _, err := fmt.Sscanf(x, "0x%x", &n); err == nil {
			return n, true
		}
	}
	return 0, false
}

// vectors returns those that are FPDUs, with their ULPDUs.
func vectors(t testing.TB) (vs []vector, ulpdus [][]byte) {
	b, err := os.ReadFile("../../testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		if _, ok := v.Fields["mpa.ulpdu_length"]; !ok {
			continue
		}
		b, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		// Take the Markers out, the last first.
		ms, _ := v.Fields["mpa.markers"].([]any)
		for i := len(ms) - 1; i >= 0; i-- {
			at := int(ms[i].(map[string]any)["octet_in_hex"].(float64))
			b = append(b[:at:at], b[at+4:]...)
		}
		n := int(binary.BigEndian.Uint16(b))
		vs, ulpdus = append(vs, v), append(ulpdus, b[2:2+n])
	}
	if len(vs) < 50 {
		t.Fatalf("only %d vectors", len(vs))
	}
	return vs, ulpdus
}

// Every vector, both ways: DDP header, RDMAP control, what stands behind it.
func TestVectors(t *testing.T) {
	vs, ulpdus := vectors(t)
	for i, v := range vs {
		u := ulpdus[i]
		t.Run(v.Name, func(t *testing.T) {
			h, n, err := ddp.Parse(u)
			if err != nil {
				t.Fatal(err)
			}
			c := ParseControl(h.ULPControl)
			flag := func(b bool) uint64 {
				if b {
					return 1
				}
				return 0
			}
			for _, f := range []struct {
				name string
				got  uint64
			}{
				{"ddp.T", flag(h.Tagged)}, {"ddp.L", flag(h.Last)}, {"ddp.rsvd", uint64(h.Reserved)}, {"ddp.DV", uint64(h.Version)},
				{"rdmap.RV", uint64(c.Version)}, {"rdmap.rsv", uint64(c.Reserved)}, {"rdmap.opcode", uint64(c.Op)},
				{"ddp.stag", uint64(h.STag)}, {"ddp.to", h.TO}, {"ddp.rsvdulp_or_inval_stag", uint64(h.ULPWord)},
				{"ddp.qn", uint64(h.QN)}, {"ddp.msn", uint64(h.MSN)}, {"ddp.mo", uint64(h.MO)},
			} {
				if want, ok := v.num(f.name); ok && f.got != want {
					t.Errorf("%s is %#x, want %#x", f.name, f.got, want)
				}
			}
			if got := h.Append(nil); string(got) != string(u[:n]) {
				t.Errorf("header: Append gives % x, want % x", got, u[:n])
			}
			if got := c.Octet(); got != u[1] {
				t.Errorf("control octet is %#x, want %#x", got, u[1])
			}
			if v := Check(&h, len(u)-n); v != 0 {
				t.Errorf("Check says %v of a correct segment", v)
			}
			if e := (Protocol{}).Evidence(u, len(u)); e < bitsUntagged {
				t.Errorf("Evidence is %d bits", e)
			}
			for k := range n {
				if _, _, err := ddp.Parse(u[:k]); err != ddp.ErrShort {
					t.Errorf("header cut to %d octets: %v, want ErrShort", k, err)
				}
			}
			body := u[n:]
			back, fields, parse := message(c.Op, body)
			if parse == nil {
				return
			}
			if string(back) != string(body) {
				t.Errorf("Append gives\n% x, want\n% x", back, body)
			}
			for name, got := range fields {
				if want, ok := v.num(name); !ok || got != want {
					t.Errorf("%s is %#x, want %#x (in the vector: %v)", name, got, want, ok)
				}
			}
			least := len(body)
			if c.Op == OpTerminate {
				least = TerminateMin
			}
			for k := range body {
				if err := parse(body[:k]); (err == ErrShort) != (k < least) {
					t.Errorf("cut to %d octets: %v", k, err)
				}
			}
		})
	}
}

// message parses and writes back what stands behind the DDP header, with those
// of its fields that the vectors name.
func message(op Op, b []byte) (back []byte, fields map[string]uint64, parse func([]byte) error) {
	switch op {
	case OpReadRequest:
		r, _, _ := ParseReadRequest(b)
		return r.Append(nil), map[string]uint64{"rr.sink_stag": uint64(r.SinkSTag), "rr.sink_to": r.SinkTO, "rr.size": uint64(r.Size),
				"rr.src_stag": uint64(r.SrcSTag), "rr.src_to": r.SrcTO},
			func(b []byte) error { _, _, err := ParseReadRequest(b); return err }
	case OpImmediate, OpImmediateSE:
		r, _, _ := ParseImmediate(b)
		return r.Append(nil), nil, func(b []byte) error { _, _, err := ParseImmediate(b); return err }
	case OpAtomicRequest:
		r, _, _ := ParseAtomicRequest(b)
		return r.Append(nil), nil, func(b []byte) error { _, _, err := ParseAtomicRequest(b); return err }
	case OpAtomicResponse:
		r, _, _ := ParseAtomicResponse(b)
		return r.Append(nil), nil, func(b []byte) error { _, _, err := ParseAtomicResponse(b); return err }
	case OpTerminate:
		r, _, _ := ParseTerminate(b)
		bit := map[bool]uint64{true: 1}
		return r.Append(nil), map[string]uint64{"term.layer": uint64(r.Layer), "term.etype": uint64(r.EType), "term.code": uint64(r.Code),
				"term.M": bit[r.M], "term.D": bit[r.D], "term.R": bit[r.R]},
			func(b []byte) error { _, _, err := ParseTerminate(b); return err }
	}
	return nil, nil, nil
}

// The two Atomic Requests and Responses of the vectors, field by field.
func TestAtomicVectors(t *testing.T) {
	vs, ulpdus := vectors(t)
	for i, v := range vs {
		b := ulpdus[i]
		var got, want any
		switch v.Name {
		case "atomic_req_fetchadd":
			got, _, _ = ParseAtomicRequest(b[18:])
			want = AtomicRequest{Op: FetchAdd, ID: 0x11, STag: 0xa02, TO: 0x20000, Data: 5, CompareMask: 1<<64 - 1}
		case "atomic_req_cmpswap":
			got, _, _ = ParseAtomicRequest(b[18:])
			want = AtomicRequest{Op: CmpSwap, ID: 0x12, STag: 0xa02, TO: 0x20008, Data: 0x1111, Mask: 1<<64 - 1, Compare: 0x2222, CompareMask: 1<<64 - 1}
		case "atomic_rsp_cmpswap":
			got, _, _ = ParseAtomicResponse(b[18:])
			want = AtomicResponse{ID: 0x12, Original: 0x2222}
		case "immediate":
			got, _, _ = ParseImmediate(b[18:])
			want = Immediate{Data: [8]byte{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77}}
		case "term_rdmap_protection":
			got, _, _ = ParseTerminate(b[18:])
			want = Terminate{Layer: 0, EType: 1, Code: 2, M: true, D: true, R: true, SegmentLength: 46, HasHeader: true,
				Header:  ddp.Header{Last: true, Version: 1, ULPControl: 0x41, QN: 1, MSN: 7},
				HasRead: true, Read: ReadRequest{SinkSTag: 0x501, SinkTO: 0x1000, Size: 0x2000, SrcSTag: 0xbad00002, SrcTO: 0x2000}}
		case "term_ddp_tagged":
			got, _, _ = ParseTerminate(b[18:])
			want = Terminate{Layer: 1, EType: 1, M: true, D: true, SegmentLength: 78, HasHeader: true,
				Header: ddp.Header{Tagged: true, Last: true, Version: 1, ULPControl: 0x40, STag: 0xbad00001, TO: 0x1000}}
		default:
			continue
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", v.Name, d)
		}
	}
}

// Where both orders make sense, the other is told too.
func TestTerminateOther(t *testing.T) {
	for _, tt := range []struct {
		hex  string
		code string // of the other reading, empty for none
	}{
		{"20060000", "Unexpected OpCode"},
		{"20070000", "Catastrophic error, localized to RDMAP Stream"},
		{"20020000", ""},
		{"02020000", ""},
		{"11000300", ""},
	} {
		b, _ := hex.DecodeString(tt.hex)
		m, _, err := ParseTerminate(b)
		if err != nil {
			t.Fatal(err)
		}
		o, ok := m.Other()
		_, _, code := o.Names()
		if ok != (tt.code != "") || ok && code != tt.code {
			t.Errorf("%s: other reading %v %q, want %q", tt.hex, ok, code, tt.code)
		}
	}
}

// Terminates as Linux soft-iWARP writes them, from errors made on purpose.
func TestTerminateSwapped(t *testing.T) {
	for _, tt := range []struct {
		hex                string
		layer, etype, code string
		swapped            bool
		m, d, r            bool
	}{
		{"10000700 0000", "RDMAP", "Remote Protection Error", "Invalid STag", true, true, true, true},
		{"10010700 0000", "RDMAP", "Remote Protection Error", "Base or bounds violation", true, true, true, true},
		{"11000300 0064", "DDP", "Tagged Buffer Error", "Invalid STag", true, true, true, false},
		{"21020300 0041", "DDP", "Untagged Buffer Error", "Invalid MSN - no buffer available", true, true, true, false},
		{"02020000", "LLP", "MPA Error", "Received MPA CRC does not match the calculated value", true, false, false, false},
		{"21060000", "DDP", "Untagged Buffer Error", "Invalid DDP version", true, false, false, false},
		// In the order of the RFC. The first can be either: siw writes it for
		// RDMAP, Unexpected OpCode.
		{"20060000", "LLP", "MPA Error", "Insufficient IRD resources", false, false, false, false},
		{"20020000", "LLP", "MPA Error", "Received MPA CRC does not match the calculated value", false, false, false, false},
		{"20070000", "LLP", "MPA Error", "No matching RTR option", false, false, false, false},
		{"12028000 0041", "DDP", "Untagged Buffer Error", "Invalid MSN - no buffer available", false, true, false, false},
		{"00000000", "RDMAP", "Local Catastrophic Error", "code 0x00", false, false, false, false},
		{"77770000", "layer 7", "type 7", "code 0x77", false, false, false, false},
	} {
		t.Run(tt.hex, func(t *testing.T) {
			b, err := hex.DecodeString(strings.ReplaceAll(tt.hex, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			m, _, err := ParseTerminate(b)
			if err != nil {
				t.Fatal(err)
			}
			layer, etype, code := m.Names()
			if layer != tt.layer || etype != tt.etype || code != tt.code || m.Swapped != tt.swapped || m.M != tt.m || m.D != tt.d || m.R != tt.r {
				t.Errorf("got %s, %s, %s; %+v", layer, etype, code, m)
			}
			if got := m.Append(nil); hex.EncodeToString(got) != strings.ReplaceAll(tt.hex, " ", "") {
				t.Errorf("Append gives %x", got)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	send := ddp.Header{Version: 1, Last: true, ULPControl: 0x43, MSN: 1}
	with := func(h ddp.Header, f func(*ddp.Header)) ddp.Header { f(&h); return h }
	for _, tt := range []struct {
		name string
		h    ddp.Header
		n    int
		want Violation
	}{
		{"Send", send, 100, 0},
		{"Send, not last", with(send, func(h *ddp.Header) { h.Last = false }), 100, 0},
		{"RV 0", with(send, func(h *ddp.Header) { h.ULPControl = 0x03 }), 100, BadVersion},
		{"opcode 12", with(send, func(h *ddp.Header) { h.ULPControl = 0x4C }), 0, UnknownOpcode},
		{"opcode 15", with(send, func(h *ddp.Header) { h.ULPControl = 0x4F }), 0, UnknownOpcode},
		{"Send, tagged", with(send, func(h *ddp.Header) { h.Tagged = true }), 0, WrongModel},
		{"Write, untagged", with(send, func(h *ddp.Header) { h.ULPControl = 0x40 }), 0, WrongModel},
		{"Send on queue 1", with(send, func(h *ddp.Header) { h.QN = 1 }), 0, WrongQueue},
		{"Read Request of 27", with(send, func(h *ddp.Header) { h.ULPControl, h.QN = 0x41, 1 }), 27, WrongLength},
		{"Read Request, split", with(send, func(h *ddp.Header) { h.ULPControl, h.QN, h.Last = 0x41, 1, false }), 28, NotLast},
		{"Terminate of 3", with(send, func(h *ddp.Header) { h.ULPControl, h.QN = 0x47, 2 }), 3, WrongLength},
		{"Immediate at MO 8", with(send, func(h *ddp.Header) { h.ULPControl, h.MO = 0x48, 8 }), 8, NotLast},
		{"Atomic Response on queue 1", with(send, func(h *ddp.Header) { h.ULPControl, h.QN = 0x4B, 1 }), 12, WrongQueue},
	} {
		if got := Check(&tt.h, tt.n); got != tt.want {
			t.Errorf("%s: %v (%b), want %v", tt.name, got, got, tt.want)
		}
	}
}

func TestEvidenceRejects(t *testing.T) {
	for _, tt := range []struct {
		name   string
		hex    string
		length int
	}{
		{"zeros", "000000000000000000000000000000000000", 18},
		{"reserved bits of DDP", "4543", 18},
		{"DDP version 0", "4043", 18},
		{"RDMAP version 0", "4103", 18},
		{"reserved bits of RDMAP", "4153", 18},
		{"tagged Send", "c143", 18},
		{"untagged Write", "4140", 18},
		{"reserved opcode", "414c", 18},
		{"tagged, too short", "c140", 13},
		{"Read Request of another length", "4141", 47},
		{"Read Request, not last", "0141", 46},
		{"Send with RsvdULP", "41430000000100000000000000010000 0000", 18},
		{"Send on queue 5", "41430000000000000005000000010000 0000", 18},
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(tt.hex, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := (Protocol{}).Evidence(b, tt.length); got > 0 {
			t.Errorf("%s: %d bits, want none", tt.name, got)
		}
	}
}

func TestNames(t *testing.T) {
	// The names of the JSON contract, and of RFC 5040 and 7306.
	for op, want := range map[Op][2]string{
		0: {"rdma_write", "RDMA Write"}, 1: {"rdma_read_request", "RDMA Read Request"}, 2: {"rdma_read_response", "RDMA Read Response"},
		3: {"send", "Send"}, 4: {"send_inv", "Send with Invalidate"}, 5: {"send_se", "Send with Solicited Event"},
		6: {"send_se_inv", "Send with Solicited Event and Invalidate"}, 7: {"terminate", "Terminate"}, 8: {"immediate", "Immediate Data"},
		9: {"immediate_se", "Immediate Data with Solicited Event"}, 10: {"atomic_request", "Atomic Request"}, 11: {"atomic_response", "Atomic Response"},
	} {
		if op.String() != want[0] || op.Title() != want[1] || !op.Known() {
			t.Errorf("opcode %d is %q, %q", op, op.String(), op.Title())
		}
	}
	if Op(200).String() != "unknown" || Op(200).Known() {
		t.Error("opcode 200 is known")
	}
}

func FuzzMessage(f *testing.F) {
	_, ulpdus := vectors(f)
	for _, u := range ulpdus {
		f.Add(u)
	}
	f.Fuzz(func(t *testing.T, u []byte) {
		h, n, err := ddp.Parse(u)
		if err != nil {
			return
		}
		if got := h.Append(nil); string(got) != string(u[:n]) {
			t.Fatalf("header: Append gives % x, want % x", got, u[:n])
		}
		Check(&h, len(u)-n)
		if e := (Protocol{}).Evidence(u, len(u)); e < 0 || e > 200 {
			t.Fatalf("%d bits", e)
		}
		Protocol{}.Follows(u, len(u), u[1:], len(u)-1)
		if m, k, err := ParseTerminate(u[n:]); err == nil {
			if k > len(u)-n {
				t.Fatalf("%d octets of %d", k, len(u)-n)
			}
			m.Names()
		}
		back, _, parse := message(OpOf(&h), u[n:])
		if parse != nil && OpOf(&h) != OpTerminate && OpOf(&h) != OpAtomicRequest && parse(u[n:]) == nil && string(back) != string(u[n:n+len(back)]) {
			t.Fatalf("Append gives % x, want % x", back, u[n:])
		}
	})
}
