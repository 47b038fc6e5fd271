// Package capture reads frames from packet captures: pcap, pcapng and snoop
// files, plain or compressed, one or several, and standard input. It also
// appends pcap and pcapng.
//
// The formats are those of draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng
// (https://ietf-opsawg-wg.github.io/draft-ietf-opsawg-pcap/) and, for snoop, RFC 1761. Compression
// (gzip, zstd, lz4, xz) and format are recognised by content, never by name.
//
// Frames are handed out in blocks so that no frame is copied: a frame's octets
// lie in the block's buffer and stay there until the block is released.
//
// # Damage
//
// A Source that meets damage hands out the frames before it, then an *Error
// that names file, frame and offset, then the frames behind it. Behind a
// pcapng block whose length can be trusted that is the next block; otherwise
// the reader looks for the next place where records go on: in pcapng a block
// whose two lengths agree, in pcap two headers in a row that make sense and
// are close in time. What lies between is lost, and the Error says how much.
//
// # Security
//
// Captures may come from anyone. Memory is allocated for octets that are
// there, never for a length that is merely claimed, and a frame is limited by
// Options.MaxFrame. Decompression is streaming, with windows of up to
// 128 MiB.
package capture
