// Package reassembly puts the TCP segments of many connections (RFC 9293) back
// in order, as seen by a passive observer whose capture may have started late,
// lack packets, or hold only the heads of them.
//
// An [Assembler] takes segments as they were captured and gives each
// connection's [Stream] the octets of its two sides, in order and once, each
// with the frame and time that brought it. Octets that come in order are handed
// on without a copy. Octets behind a hole are kept until the hole is filled, or
// given up: when the peer acknowledges them (it has what the capture lacks),
// when too much is kept, or when nothing came for a while.
//
// What is delivered and what is missing add up to the span of sequence numbers
// of a side, always. Memory is bounded by the number of connections and by
// [Config]; it does not depend on how long the capture is.
package reassembly
