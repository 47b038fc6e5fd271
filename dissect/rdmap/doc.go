// Package rdmap reads and writes the messages of the Remote Direct Memory
// Access Protocol (RFC 5040) and its extensions (RFC 7306): what stands behind
// the DDP header of a Read Request, a Terminate, Immediate Data, an Atomic
// Request and an Atomic Response. Writes, Read Responses and Sends carry
// nothing but payload.
//
// Check holds a segment against the rules of its opcode. Protocol tells
// package mpa what an FPDU looks like.
package rdmap
