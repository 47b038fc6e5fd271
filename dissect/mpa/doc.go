// Package mpa reads and writes Marker PDU Aligned Framing for TCP (RFC 5044,
// with the enhanced connection setup of RFC 6581): the startup frames, and the
// framed PDUs (FPDUs) that follow them.
//
// [ParseStartup] and [Writer] are the simple part. A [Framer] turns one
// direction of a TCP stream into FPDUs as the octets come, and finds its way
// again where octets are missing. A [Session] joins two Framers: it sees the
// startup frames of both directions, and sets the Framers by them.
//
// # Finding FPDUs without knowing where they start
//
// After a hole over a header, and in a stream whose startup was not captured,
// a Framer looks for headers in the octets at hand. It weighs what it finds in
// bits of evidence: n bits mean that random octets look like that once in 2^n
// places. The two control octets of a tagged header are worth 14 bits, an
// untagged header about 60 and more (queue number, zero words), a right CRC32c
// 32, a Marker that points to the header 28, a next header that continues the
// message (STag and tagged offset, or MSN and message offset) 30 and more. The
// bits of the FPDUs of a chain, each where the length of the one before says
// it must be, add up.
//
//   - In a stream that is known to be iWARP, a header needs a right CRC (46
//     bits with its control octets), or a Marker that points to it (42), or 40
//     bits of other evidence. In a hole of 64 KiB there are 2^14 places to
//     start at: less than one false FPDU in 2^26 holes.
//   - A stream whose startup was not seen must prove that it is iWARP: a chain
//     of at least three headers worth 72 bits, or two right CRCs, and the chain
//     must go on without a break to the end of the octets at hand. At one
//     place an octet, a petabyte (2^50) of random octets makes one such chain
//     with a chance of 2^-22.
//     Data that holds FPDUs, a capture of iWARP that is copied, say, has such
//     chains too, but they break: where one broke in the octets at hand, the
//     next must be at least 4 KiB long, and where two did, longer than any
//     FPDU. So what can be mistaken is a file with more than 4 KiB of FPDUs in
//     a row, of which the start of the TCP connection was not captured.
//   - Headers in front of a proven one are accepted where their length leads
//     exactly to it (14 bits for the length, 14 or more for the header).
//
// Where a stream whose startup was not seen has Markers is a guess until FPDUs
// of 1024 octets in a row agree with it. In a stream with Markers and a hole
// every few hundred octets that may never be: then the header of an FPDU with a
// hole can be read with a Marker in it. Nothing short of a capture with fewer
// holes helps.
//
// The work is bounded: at most [MaxHold] octets are held for a search, they are
// searched again only when a quarter more have come, each search reads them a
// fixed number of times, and the octets covered by trial CRCs are limited to a
// multiple of what is held. A stream without a startup that shows no chain in
// its first octets is given up.
package mpa
