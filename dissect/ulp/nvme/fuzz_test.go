package nvme_test

import (
	"bytes"
	"testing"

	"github.com/iwdump/iwdump/dissect/ulp/nvme"
)

// What is parsed and appended again is the same, and nothing panics.
func FuzzParse(f *testing.F) {
	for _, c := range commands {
		f.Add(octets(f, c.wire))
	}
	f.Add(nvme.Completion{CID: 1, Status: 0x8502}.Append(nil))
	f.Add(nvme.ConnectData{SubNQN: "a", HostNQN: "b"}.Append(nil))
	f.Add(nvme.Request{QID: 1, HRQSize: 2, HSQSize: 3}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, n, err := nvme.ParseCommand(b); err == nil {
			if c.SGL.Keyed() || b[36] == 0 && b[37] == 0 && b[38] == 0 {
				if !bytes.Equal(c.Append(nil), b[:n]) {
					t.Errorf("% x\nappended % x", b[:n], c.Append(nil))
				}
			}
			for _, admin := range []bool{true, false} {
				if c.Title(admin) == "" {
					t.Error("no title")
				}
			}
			if c.Blocks() < 1 || c.Blocks() > 1<<16 || c.SGL.Type() == "" {
				t.Errorf("%+v", c)
			}
		}
		if c, n, err := nvme.ParseCompletion(b); err == nil {
			if !bytes.Equal(c.Append(nil), b[:n]) || c.Status.For(true) == "" || c.Status.For(false) == "" {
				t.Errorf("%+v", c)
			}
		}
		if d, _, err := nvme.ParseConnectData(b); err == nil {
			if e, _, err := nvme.ParseConnectData(d.Append(nil)); err != nil || e != d {
				t.Errorf("%+v, %+v, %v", d, e, err)
			}
		}
		if r, _, err := nvme.ParseRequest(b); err == nil {
			if q, _, err := nvme.ParseRequest(r.Append(nil)); err != nil || q != r {
				t.Errorf("%+v, %+v, %v", r, q, err)
			}
		}
		if r, _, err := nvme.ParseReject(b); err == nil && r.Reason() == "" {
			t.Errorf("%+v", r)
		}
	})
}
