package rpcrdma_test

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/ulp/rpcrdma"
)

// The payload of a Send: an NFSv3 READ of 4096 octets that are to be written to
// the memory that the client lends.
func Example() {
	memory := rpcrdma.Segment{Handle: 0x00eed901, Length: 4096, Offset: 0x1000}
	call := rpcrdma.Call{XID: 7, Program: rpcrdma.ProgramNFS, Version: 3, Procedure: 6}
	args := []byte{0, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 16, 0}
	header := rpcrdma.Header{XID: 7, Version: rpcrdma.Version, Credits: 32,
		Writes: rpcrdma.AppendWriteList(nil, rpcrdma.AppendWriteChunk(nil, memory))}
	payload := append(call.Append(header.Append(nil)), args...)

	h, n, err := rpcrdma.ParseHeader(payload)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, k, err := rpcrdma.ParseCall(payload[n:])
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rpcrdma.Name(c.Program, c.Version, c.Procedure), h.Proc, h.Credits, "credits")
	values, _ := rpcrdma.Args(nil, c.Program, c.Version, c.Procedure, payload[n+k:], rpcrdma.Chunks{Base: k, Reads: h.Reads})
	for _, v := range values[1:] {
		fmt.Println(v.Name, v.Num)
	}
	for chunk := range h.Writes.All() {
		for s := range chunk.All() {
			fmt.Printf("STag 0x%08x, TO 0x%x, %d octets\n", s.Handle, s.Offset, s.Length)
		}
	}
	// Output:
	// nfs3.read RDMA_MSG 32 credits
	// offset 8192
	// count 4096
	// STag 0x00eed901, TO 0x1000, 4096 octets
}
