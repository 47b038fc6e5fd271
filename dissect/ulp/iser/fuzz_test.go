package iser_test

import (
	"bytes"
	"testing"

	"github.com/iwdump/iwdump/dissect/ulp/iser"
)

// What is parsed and appended again is the same, and nothing panics.
func FuzzParse(f *testing.F) {
	f.Add(iser.Header{Opcode: iser.Control, RSV: true, ReadSTag: 1}.Append(nil))
	f.Add(iser.Header{Opcode: iser.Hello, MaxVer: 10, Ver: 10, Depth: 16}.Append(nil))
	f.Add(iser.BHS{Opcode: iser.OpSCSICommand, Flags: 0xc1, ITT: 7}.Append(nil))
	f.Add([]byte{0, 18, 0x70, 0, 5, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x24, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, _, err := iser.ParseHeader(b); err == nil {
			if g, _, err := iser.ParseHeader(h.Append(nil)); err != nil || g != h {
				t.Errorf("%+v, %+v, %v", h, g, err)
			}
		}
		if h, n, err := iser.ParseBHS(b); err == nil {
			want := bytes.Clone(b[:n])
			want[0] &= 0x7F // reserved
			if !bytes.Equal(h.Append(nil), want) {
				t.Errorf("% x\nappended % x", want, h.Append(nil))
			}
			if _, name := h.LoginStatus(); name == "" || h.TaskFunction() == "" || h.Opcode.String() == "" || h.SCSIStatus().String() == "" {
				t.Errorf("%+v", h)
			}
			if c := iser.ParseCDB(h.CDB()); c.Title == "" || c.Name == "" {
				t.Errorf("%+v", c)
			}
		}
		iser.ParseCDB(b)
		if s, ok := iser.ParseSense(b); ok && s.String() == "" {
			t.Errorf("%+v", s)
		}
	})
}
