package live

import (
	"errors"
	"fmt"

	"golang.org/x/net/bpf"

	"github.com/iwdump/iwdump/capture"
)

// compile compiles a capture filter for what the socket sees: frames that
// begin with their Ethernet header, or with their network header where link is
// LinkSLL2.
func compile(expr string, link capture.LinkType) ([]bpf.Instruction, error) {
	return nil, fmt.Errorf("capture filter %q: this program has no compiler for them; one that is built with libpcap does (-tags libpcap)", expr)
}

// program returns the program of the socket: only the interfaces of the given
// indices (empty is all), then the filter, which keeps snaplen octets.
func program(expr string, link capture.LinkType, snaplen int, only []uint32) ([]bpf.Instruction, error) {
	accept := []bpf.Instruction{bpf.RetConstant{Val: uint32(snaplen)}}
	if expr != "" {
		var err error
		if accept, err = compile(expr, link); err != nil {
			return nil, err
		}
		for i, ins := range accept {
			if ret, ok := ins.(bpf.RetConstant); ok && ret.Val > 0 {
				accept[i] = bpf.RetConstant{Val: uint32(snaplen)}
			}
		}
	}
	if len(only) == 0 {
		return accept, nil
	}
	if len(only) > 200 {
		return nil, errors.New("more than 200 interfaces: capture on \"any\"")
	}
	p := []bpf.Instruction{bpf.LoadExtension{Num: bpf.ExtInterfaceIndex}}
	for i, index := range only {
		// Behind the other comparisons and the refusal.
		p = append(p, bpf.JumpIf{Cond: bpf.JumpEqual, Val: index, SkipTrue: uint8(len(only) - i)})
	}
	p = append(p, bpf.RetConstant{Val: 0})
	return append(p, accept...), nil
}
