package nvme_test

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/ulp/nvme"
)

func ExampleParseCommand() {
	capsule := nvme.Command{Opcode: nvme.OpRead, Flags: nvme.PSDTSGL << 6, CID: 5, NSID: 1,
		SGL: nvme.SGL{Address: 0x7f1200000000, Length: 4096, Key: 0xcafe01, ID: nvme.SGLKeyedInvalidate},
		CDW: [6]uint32{0x800, 0, 7}}.Append(nil)

	c, _, err := nvme.ParseCommand(capsule)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s of %d blocks from %d, to STag 0x%08x\n", c.Title(false), c.Blocks(), c.SLBA(), c.SGL.Key)
	// Output: Read of 8 blocks from 2048, to STag 0x00cafe01
}
