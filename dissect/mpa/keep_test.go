package mpa_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
)

// keeper wants so many octets of ULPDUs whose first octet is 0x41.
type keeper struct {
	rdmap.Protocol
	n int
}

func (k keeper) Keep(first []byte) int {
	if first[0] == 0x41 {
		return k.n
	}
	return 0
}

// kept notes how much of each ULPDU is handed out, and whether it is right.
type kept struct {
	want [][]byte
	got  []int
	bad  string
}

func (k *kept) FPDU(f *mpa.FPDU) {
	if n := len(k.got); n < len(k.want) && !bytes.HasPrefix(k.want[n], f.ULPDU) {
		k.bad = fmt.Sprintf("ULPDU %d is % x", n, f.ULPDU)
	}
	k.got = append(k.got, len(f.ULPDU))
}

func (k *kept) Notice(n *mpa.Notice) { k.bad = fmt.Sprintf("%+v", n) }

// Of FPDUs that come in pieces as much is kept as the protocol wants, of others
// as Config.Keep says.
func TestKeeper(t *testing.T) {
	send := append([]byte{0x41, 0x43}, make([]byte, 598)...)
	write := append([]byte{0xC1, 0x40}, make([]byte, 598)...)
	for i := 18; i < 600; i++ {
		send[i], write[i] = byte(i), byte(i)
	}
	short := send[:40]
	for _, markers := range []bool{false, true} {
		for _, step := range []int{1, 7, 100, 1000} {
			for _, keep := range []int{0, 300, 1000} {
				w := mpa.Writer{Markers: markers, CRC: true}
				k := &kept{want: [][]byte{send, write, short, send}}
				use := mpa.Off
				if markers {
					use = mpa.On
				}
				f := mpa.NewFramer(k, mpa.Config{Protocol: keeper{n: keep}, Markers: use, CRC: mpa.On, Start: true, Keep: 72})
				var b []byte
				for _, u := range k.want {
					b = w.Append(b, u)
				}
				for len(b) > 0 {
					n := min(step, len(b))
					f.Push(&mpa.Chunk{Data: b[:n]})
					b = b[n:]
				}
				name := fmt.Sprintf("markers %v, %d octets at a time, keep %d", markers, step, keep)
				if k.bad != "" || len(k.got) != len(k.want) {
					t.Fatalf("%s: %s, %d FPDUs", name, k.bad, len(k.got))
				}
				for i, u := range k.want {
					least := min(72, len(u))
					if u[0] == 0x41 {
						least = min(max(72, keep), len(u))
					}
					if k.got[i] < least {
						t.Errorf("%s: %d octets of ULPDU %d, not %d", name, k.got[i], i, least)
					}
				}
			}
		}
	}
}
