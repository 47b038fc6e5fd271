// Package rpcrdma reads and writes RPC-over-RDMA version 1 (RFC 8166, with the
// reverse direction of RFC 8167 and the private data of RFC 8797), the RPC
// messages that it carries (RFC 5531), and of those the calls and replies of
// NFS and the protocols around it: NFS version 2 to 4.2 with the operations of
// COMPOUND, their callbacks, MOUNT, NLM and NFSACL.
//
// It sees the first octets of the payload of Sends. Where those end within a
// message, what stands in front of that place is returned with [ErrShort].
// Results alias what was parsed.
//
// All integers are big-endian (XDR, RFC 4506).
package rpcrdma
