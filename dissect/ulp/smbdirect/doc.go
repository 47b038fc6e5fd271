// Package smbdirect reads and writes SMB Direct (MS-SMBD): the negotiation, the
// data transfers with their credits and fragments, and the buffer descriptors;
// and of the SMB 2 and 3 messages that it carries (MS-SMB2) the headers, the
// commands and what they ask for.
//
// It sees the first octets of the payload of Sends. Where those end within a
// message, what stands in front of that place is returned with [ErrShort].
// Results alias what was parsed.
//
// All integers are little-endian, but those of the private data.
package smbdirect
