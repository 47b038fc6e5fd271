package rpcrdma

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/iwdump/iwdump/internal/tshark"
)

// partOf3 is the procedures of NFSv3 whose layouts say less than there is.
var partOf3 = map[string]bool{
	"SETATTR, reply false": true, "MKNOD, reply false": true, "READDIR, reply true": true, "READDIRPLUS, reply true": true,
	"FSSTAT, reply true": true, "FSINFO, reply true": true, "PATHCONF, reply true": true,
}

// The arguments and results of NFSv3 are well formed to tshark, and are not
// without their last word.
func TestLayouts3AgainstTshark(t *testing.T) {
	tshark.Need(t)
	const rounds = 8
	r := rand.New(rand.NewPCG(8, 0))
	type message struct {
		key string
		cut bool
	}
	c := tshark.Conversation{Port: 2049}
	var all []message
	call := Call{Program: ProgramNFS, Version: 3}
	for code := range nfs3 {
		p := &nfs3[code]
		for i := range 2 * rounds {
			cut := i%2 == 1
			for _, reply := range []bool{false, true} {
				key := fmt.Sprintf("%s, reply %v", p.title, reply)
				e, failed := encoder{r: r}, false
				switch {
				case !reply:
					e.layout(p.args)
				case p.status != statusNone:
					if failed = r.IntN(4) == 0; failed {
						e.word(70)
						e.layout(p.failed)
					} else {
						e.word(0)
						e.layout(p.res)
					}
				}
				wire := (&Reply{XID: call.XID}).Append(nil)
				if !reply {
					call.XID++
					call.Procedure = uint32(code)
					wire = call.Append(nil)
				}
				var whole bool
				if reply {
					_, _, _, whole = Results(nil, ProgramNFS, 3, uint32(code), e.b, Chunks{})
				} else {
					_, whole = Args(nil, ProgramNFS, 3, uint32(code), e.b, Chunks{})
				}
				if !whole {
					t.Errorf("%s: not whole: % x", key, e.b)
				}
				wire = append(wire, e.b...)
				thisCut := cut && len(e.b) > 4 && (!partOf3[key] || failed)
				if thisCut {
					wire = wire[:len(wire)-4]
				}
				c.Send(reply, append(binary.BigEndian.AppendUint32(nil, 1<<31|uint32(len(wire))), wire...))
				if partOf3[key] && !failed {
					key = ""
				}
				all = append(all, message{key, thisCut})
			}
		}
	}
	rows := c.Fields(t, "rpc", "_ws.malformed", "nfs.procedure_v3")
	if len(rows) != len(all) {
		t.Fatalf("%d messages, tshark says %d", len(all), len(rows))
	}
	for i, m := range all {
		if malformed := rows[i][0] != ""; m.key != "" && malformed != m.cut {
			t.Errorf("message %d, %s, cut %v: tshark says %q", i+1, m.key, m.cut, rows[i][0])
		}
	}
	t.Logf("%d messages", len(all))
}
