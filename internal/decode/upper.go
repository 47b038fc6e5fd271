package decode

import (
	"fmt"
	"strings"

	"github.com/iwdump/iwdump/dissect/ddp"
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/dissect/ulp/iser"
	"github.com/iwdump/iwdump/dissect/ulp/nvme"
	"github.com/iwdump/iwdump/dissect/ulp/rpcrdma"
	"github.com/iwdump/iwdump/dissect/ulp/smbdirect"
)

// upperProtocols are the upper layer protocols that are known.
var upperProtocols = []ulp.Protocol{nvme.Protocol(), rpcrdma.Protocol(), smbdirect.Protocol(), iser.Protocol()}

// Upper says which upper layer protocols are looked for. The zero value is
// none.
type Upper struct {
	protocols []ulp.Protocol
	forced    bool
}

// AutoUpper looks for all that are known.
func AutoUpper() Upper { return Upper{protocols: upperProtocols} }

// ParseUpper returns what "auto", "none" or the name of a protocol stands for.
func ParseUpper(text string) (Upper, error) {
	names := []string{"auto", "none"}
	switch text {
	case "auto":
		return AutoUpper(), nil
	case "none":
		return Upper{}, nil
	}
	for i := range upperProtocols {
		if upperProtocols[i].Name == text {
			return Upper{protocols: upperProtocols[i : i+1], forced: true}, nil
		}
		names = append(names, upperProtocols[i].Name)
	}
	return Upper{}, fmt.Errorf("%q is none of %s", text, strings.Join(names, ", "))
}

// taggedFlag is T of the first octet (RFC 5041, section 4.1).
const taggedFlag = 0x80

// Keep is how many octets of an FPDU are gathered for the upper layer, where
// they do not stand together in a segment. It makes direction an mpa.Keeper.
func (d *direction) Keep(first []byte) int {
	send, tagged := d.wanted()
	switch {
	case first[0]&taggedFlag == 0 && send > 0:
		return ddp.UntaggedLen + send
	case tagged > 0:
		return ddp.TaggedLen + tagged
	}
	return 0
}

// wanted is how much of payloads the upper layer wants.
func (d *direction) wanted() (send, tagged int) {
	switch {
	case len(d.s.w.o.Upper.protocols) == 0:
		return 0, 0
	case d.s.qp == nil:
		return ulp.KeepSend, 0
	}
	return d.s.qp.Keep()
}

// keep has the messages of a direction gathered as far as they are wanted.
func (d *direction) keep() {
	if send, tagged := d.wanted(); send != d.kept[0] || tagged != d.kept[1] {
		d.kept = [2]int{send, tagged}
		base := keepHeaders + d.s.w.o.KeepPayload
		d.ddp.Keep(max(base, send), max(base, tagged))
	}
}
