package iser_test

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/ulp/iser"
)

func ExampleParseHeader() {
	send := iser.Header{Opcode: iser.Control, RSV: true, ReadSTag: 0x701, ReadBase: 0x7f3300000000}.Append(nil)
	send = iser.BHS{Opcode: iser.OpSCSICommand, Flags: 0xC1, ITT: 17, Rest: [28]byte{2: 16, 12: 0x28, 16: 8, 20: 8}}.Append(send)

	h, n, err := iser.ParseHeader(send)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, _, err := iser.ParseBHS(send[n:])
	if err != nil {
		fmt.Println(err)
		return
	}
	c := iser.ParseCDB(b.CDB())
	fmt.Printf("%s: %s of %d blocks from %d, to STag 0x%08x\n", b.Opcode, c.Title, c.Blocks, c.LBA, h.ReadSTag)
	// Output: SCSI Command: READ(10) of 8 blocks from 2048, to STag 0x00000701
}
