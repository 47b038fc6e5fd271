package qp_test

import (
	"testing"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/qp"
)

// once fails where a request is told twice.
type once struct {
	nothing
	t    *testing.T
	told map[int]bool
}

func (o *once) Operation(x *qp.Operation) {
	if x.Request == 0 {
		return
	}
	if o.told[x.Request] {
		o.t.Fatalf("%v #%d is told twice", x.Kind, x.Request)
	}
	o.told[x.Request] = true
}

// Any sequence of messages, losses and ACKs: nothing is told twice.
func FuzzQP(f *testing.F) {
	f.Add([]byte{0, 1, 0, 1, 3, 0, 2, 1, 4})
	f.Add([]byte{3, 16, 3, 16, 5, 17, 20, 1, 2, 2, 0, 1, 4})
	f.Fuzz(func(t *testing.T, in []byte) {
		b := &bench{}
		o := &once{t: t, told: map[int]bool{}}
		b.qp = qp.New(&qp.Conn{}, o, qp.Options{Messages: true, Operations: true})
		at := int64(1)
		for _, c := range in[:min(len(in), 4096)] {
			at += int64(c >> 2)
			side := qp.Side(c >> 7)
			stag := uint32(c>>4) & 1
			switch c & 7 {
			case 0, 1:
				b.read(side, at, stag, 0, 8)
			case 2:
				b.response(side.Other(), at, stag, 0, 8+int(c>>6&1))
			case 3:
				b.qp.Lost(side)
				b.off[side] += 100 * uint64(c>>4&3)
				b.msn[side][1] += uint32(c >> 5 & 3)
			case 4:
				b.untagged(side, at, rdmap.OpSend, nil, 8)
			case 5:
				b.qp.Ack(side, b.off[side.Other()], mpa.Stamp{Frame: uint64(at), Time: at})
			case 6:
				b.response(side.Other(), at, stag, 8, 8)
			case 7:
				at += 300_000_000
			}
		}
		b.qp.End(&qp.Ending{At: mpa.Stamp{Time: at}})
	})
}
