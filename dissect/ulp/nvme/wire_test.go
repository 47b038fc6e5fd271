package nvme_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/dissect/ulp/nvme"
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
		if _, err := parse(b[:n]); err != nvme.ErrShort {
			t.Errorf("%d of %d octets: %v", n, len(b), err)
		}
	}
	if n, err := parse(append(bytes.Clone(b), 1)); err != nil || n != len(b) {
		t.Errorf("%d, %v", n, err)
	}
}

var commands = []struct {
	name  string
	wire  string
	want  nvme.Command
	admin bool
	title string
}{
	{"Read of 8 blocks, keyed SGL to be invalidated", `
		02 40 34 12  01 00 00 00  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
		00 00 00 00 12 7f 00 00  00 10 00  01 fe ca 00  4f
		00 08 00 00 00 00 00 00  07 00 00 00  00 00 00 00 00 00 00 00 00 00 00 00`,
		nvme.Command{Opcode: nvme.OpRead, Flags: 0x40, CID: 0x1234, NSID: 1,
			SGL: nvme.SGL{Address: 0x7f1200000000, Length: 4096, Key: 0x00cafe01, ID: nvme.SGLKeyedInvalidate}, CDW: [6]uint32{0x800, 0, 7}}, false, "Read"},
	{"Connect of queue 1, data in the capsule", `
		7f 40 05 00  01 00 00 00  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
		00 00 00 00 00 00 00 00  00 04 00 00  00 00 00  01
		00 00 01 00 0f 00 04 00  88 13 00 00  00 00 00 00 00 00 00 00 00 00 00 00`,
		nvme.Command{Opcode: nvme.OpFabrics, Flags: 0x40, CID: 5, NSID: 1,
			SGL: nvme.SGL{Length: 1024, ID: nvme.SGLOffset}, CDW: [6]uint32{0x10000, 0x4000f, 5000}}, false, "Connect"},
	{"Identify, second of a fused pair, no data pointer", `
		06 42 ff ff  ff ff ff ff  01 02 03 04 05 06 07 08  11 12 13 14 15 16 17 18
		00 00 00 00 00 00 00 00  00 00 00  00 00 00 00  40
		01 00 00 00 21 00 00 00  31 00 00 00  41 00 00 00 51 00 00 00 61 00 00 00`,
		nvme.Command{Opcode: nvme.OpIdentify, Flags: 0x42, CID: 0xFFFF, NSID: 0xFFFFFFFF, CDW2: 0x04030201, CDW3: 0x08070605, MPTR: 0x1817161514131211,
			SGL: nvme.SGL{ID: nvme.SGLKeyed}, CDW: [6]uint32{1, 0x21, 0x31, 0x41, 0x51, 0x61}}, true, "Identify"},
}

func TestCommand(t *testing.T) {
	for _, tt := range commands {
		t.Run(tt.name, func(t *testing.T) {
			b := octets(t, tt.wire)
			cut(t, b, func(b []byte) (int, error) { _, n, err := nvme.ParseCommand(b); return n, err })
			got, _, _ := nvme.ParseCommand(b)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if d := cmp.Diff(b, tt.want.Append(nil)); d != "" {
				t.Errorf("Append (-want +got)\n%s", d)
			}
			if title := got.Title(tt.admin); title != tt.title {
				t.Errorf("title %q", title)
			}
		})
	}
	c := commands[0].want
	if c.SLBA() != 0x800 || c.Blocks() != 8 || c.PSDT() != nvme.PSDTSGL || !c.SGL.Invalidates() {
		t.Error("fields of the Read")
	}
	if k := commands[1].want.Connect(); k != (nvme.ConnectCommand{QID: 1, SQSize: 15, CAttr: 4, KATO: 5000}) {
		t.Errorf("%+v", k)
	} else if d := cmp.Diff(commands[1].want, k.Command(5, commands[1].want.SGL)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if commands[2].want.Fuse() != nvme.FuseSecond {
		t.Error("fuse")
	}
}

func TestCompletion(t *testing.T) {
	for _, tt := range []struct {
		wire string
		want nvme.Completion
		text string
		dnr  bool
	}{
		{"00000000 00000000 0500 0000 3412 0000", nvme.Completion{SQHD: 5, CID: 0x1234}, "Successful Completion", false},
		// Status field 0x4281, above the phase tag: DNR, media error 0x81.
		{"01000000 02000000 0700 0100 0900 0285", nvme.Completion{Result: 0x200000001, SQHD: 7, SQID: 1, CID: 9, Status: 0x8502}, "Unrecovered Read Error", true},
		{"00000000 00000000 0000 0000 0000 0200", nvme.Completion{Status: nvme.StatusOf(nvme.SCTGeneric, 1)}, "Invalid Command Opcode", false},
		{"00000000 00000000 0000 0000 0000 0603", nvme.Completion{Status: nvme.StatusOf(nvme.SCTSpecific, 0x83)}, "Command Size Limit Exceeded", false},
		{"00000000 00000000 0000 0000 0000 040f", nvme.Completion{Status: nvme.StatusOf(nvme.SCTVendor, 0x82)}, "vendor specific status 0x82", false},
	} {
		b := octets(t, tt.wire)
		cut(t, b, func(b []byte) (int, error) { _, n, err := nvme.ParseCompletion(b); return n, err })
		got, _, _ := nvme.ParseCompletion(b)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		if d := cmp.Diff(b, tt.want.Append(nil)); d != "" {
			t.Errorf("Append (-want +got)\n%s", d)
		}
		if got.Status.String() != tt.text || got.Status.DNR() != tt.dnr || got.Status.OK() != (tt.want.Status == 0) {
			t.Errorf("%v, DNR %v", got.Status, got.Status.DNR())
		}
	}
	// Some codes are others where they answer a Fabrics command.
	if s := nvme.StatusOf(nvme.SCTSpecific, 0x84).For(true); s != "Connect Invalid Host" {
		t.Errorf("%q", s)
	}
}

func TestPrivate(t *testing.T) {
	request := octets(t, "0000 0100 1000 0f00 0200"+strings.Repeat("00", 22))
	cut(t, request, func(b []byte) (int, error) { _, n, err := nvme.ParseRequest(b); return n, err })
	want := nvme.Request{QID: 1, HRQSize: 16, HSQSize: 15, CNTLID: 2}
	if got, _, _ := nvme.ParseRequest(request); got != want || !bytes.Equal(want.Append(nil), request) {
		t.Errorf("%+v", got)
	}
	accept := octets(t, "0000 2000"+strings.Repeat("00", 28))
	cut(t, accept, func(b []byte) (int, error) { _, n, err := nvme.ParseAccept(b); return n, err })
	if got, _, _ := nvme.ParseAccept(accept); got != (nvme.Accept{CRQSize: 32}) || !bytes.Equal(got.Append(nil), accept) {
		t.Errorf("%+v", got)
	}
	reject := octets(t, "0000 0600")
	cut(t, reject, func(b []byte) (int, error) { _, n, err := nvme.ParseReject(b); return n, err })
	if got, _, _ := nvme.ParseReject(reject); got.Reason() != "out of resources" || !bytes.Equal(got.Append(nil), reject) {
		t.Errorf("%+v %s", got, got.Reason())
	}
}

func TestConnectData(t *testing.T) {
	want := nvme.ConnectData{HostID: [16]byte{1, 2, 3}, CNTLID: 0xFFFF, SubNQN: "nqn.2026-12.test:sub", HostNQN: "nqn.2014-08.org.nvmexpress:uuid:1"}
	b := want.Append(nil)
	if len(b) != 1024 || b[16] != 0xFF || b[17] != 0xFF || string(b[256:260]) != "nqn." || string(b[512:516]) != "nqn." {
		t.Errorf("% x", b)
	}
	if got, n, err := nvme.ParseConnectData(b); err != nil || n != 1024 || got != want {
		t.Errorf("%+v, %d, %v", got, n, err)
	}
	if _, _, err := nvme.ParseConnectData(b[:1023]); err != nvme.ErrShort {
		t.Error(err)
	}
	long := nvme.ConnectData{SubNQN: strings.Repeat("x", 300)}
	if got, _, _ := nvme.ParseConnectData(long.Append(nil)); len(got.SubNQN) != 256 || got.HostNQN != "" {
		t.Errorf("%d octets of a name", len(got.SubNQN))
	}
}

func TestProperty(t *testing.T) {
	c, _, _ := nvme.ParseCommand(octets(t, "7f400010 04000000"+strings.Repeat("00", 32)+"01000000 00000000 00000000 00000000 00000000 00000000"))
	if p := c.Property(); !p.Eight || p.Name() != "CAP" || c.Title(true) != "Property Get" {
		t.Errorf("%+v %s", p, c.Title(true))
	}
	c, _, _ = nvme.ParseCommand(octets(t, "7f400010 00000000"+strings.Repeat("00", 32)+"00000000 14000000 61004600 00000000 00000000 00000000"))
	if p := c.Property(); p.Eight || p.Name() != "CC" || p.Value != 0x460061 || c.Title(true) != "Property Set" {
		t.Errorf("%+v %s", p, c.Title(true))
	}
}
