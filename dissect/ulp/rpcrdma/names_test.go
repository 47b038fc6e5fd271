package rpcrdma

import (
	"strings"
	"testing"

	"github.com/iwdump/iwdump/internal/tshark"
)

// unlike is where tshark's names are not those of the RFC, which are: RFC 8881,
// section 15.1, and RFC 7530, section 13.1, of NFS4ERR; RFC 1813, section 6.2, of
// NLM4; RFC 7531 and RFC 5662 of operations. What is empty is in no RFC.
var unlike = map[string]string{
	"NFS4ERR_CONN_BINDING_NOT_ENFORCED": "",
	"NFS4ERR_READDIR_NOSPC":             "NFS4ERR_RESTOREFH",
	"NLM4_BIG":                          "NLM4_FBIG",
	"GETDEVLIST":                        "GETDEVICELIST",
	"GETDEVINFO":                        "GETDEVICEINFO",
	"WANT_DELEG":                        "WANT_DELEGATION",
}

// Every name that tshark knows is ours.
func TestNames(t *testing.T) {
	title := func(table []procedure) func(uint64) string {
		return func(v uint64) string {
			if v >= uint64(len(table)) {
				return ""
			}
			return table[v].title
		}
	}
	op := func(callback bool) func(uint64) string {
		return func(v uint64) string {
			if p := operation(callback, uint32(v)); p != nil {
				return p.title
			}
			return ""
		}
	}
	for _, c := range []struct {
		field string
		name  func(uint64) string
		ours  func(string) string // what tshark says, in the words of the RFC
	}{
		{"nfs.status3", func(v uint64) string { return StatusName3(uint32(v)) }, nil},
		{"nfs.nfsstat4", func(v uint64) string { return StatusName4(uint32(v)) }, nil},
		{"mount.status", func(v uint64) string { return mountStatus(uint32(v)) }, func(s string) string {
			switch s {
			case "OK":
				return "MNT3_OK"
			case "ERR_ACCESS":
				return "MNT3ERR_ACCES"
			}
			return "MNT3" + s
		}},
		{"nlm.stat", func(v uint64) string { return nlmStatus(uint32(v)) }, func(s string) string { return "NLM4" + strings.TrimPrefix(s, "NLM") }},
		{"nfs.procedure_v2", title(nfs2), nil},
		{"nfs.procedure_v3", title(nfs3), nil},
		{"nfs.procedure_v4", title(nfs4), nil},
		{"nfs.opcode", op(false), nil},
		{"nfs.cb.operation", op(true), nil},
		{"mount.procedure_v3", title(mount), nil},
		{"nlm.procedure_v4", title(nlm), nil},
		{"nfsacl.procedure_v2", title(nfsacl2), nil},
		{"nfsacl.procedure_v3", title(nfsacl3), nil},
		{"stat.procedure_v1", title(nsm), nil},
		{"portmap.procedure_v2", title(portmap2), nil},
		{"portmap.procedure_v4", title(rpcbind4), nil},
	} {
		t.Run(c.field, func(t *testing.T) {
			for v, want := range tshark.Values(t, c.field) {
				if c.ours != nil {
					want = c.ours(want)
				}
				if w, ok := unlike[want]; ok {
					want = w
				}
				if c.field == "nfs.nfsstat4" && (v == 19 || v == 10057) {
					continue // DQUOT is 69, and DIRDELEG_UNAVAIL 10084, in the RFCs
				}
				if got := c.name(v); got != want {
					t.Errorf("%d is %q, tshark says %q", v, got, want)
				}
			}
		})
	}
}

// Names are words in lower case, and none is used twice within a table.
func TestOpNames(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range [][]procedure{nfs2, nfs3, nfs4, nfs4cb, nfs4ops, nfs4cbops, mount, nlm, nsm, rpcbind4} {
		for _, p := range table {
			if p.op == "" {
				continue
			}
			word := strings.TrimPrefix(strings.ToLower(p.title), "cb_")
			_, name, ok := strings.Cut(p.op, ".")
			if !ok || name != word || seen[p.op] {
				t.Errorf("%s is %s", p.title, p.op)
			}
			seen[p.op] = true
		}
	}
	for _, c := range []struct {
		program, version, proc uint32
		want                   string
	}{
		{100003, 3, 6, "nfs3.read"}, {100003, 4, 1, "nfs4.compound"}, {100003, 4, 2, OpUnknown}, {100005, 3, 1, "mount.mnt"},
		{100021, 4, 2, "nlm.lock"}, {100021, 4, 18, OpUnknown}, {100227, 3, 1, "nfsacl.getacl"}, {0x40000000, 1, 1, "nfs4cb.compound"},
		{100000, 2, 3, "rpcbind.getport"}, {400122, 1, 0, OpUnknown}, {1 << 31, 1, 1, OpUnknown},
	} {
		if got := Name(c.program, c.version, c.proc); got != c.want {
			t.Errorf("%d, %d, %d: %s", c.program, c.version, c.proc, got)
		}
	}
}
