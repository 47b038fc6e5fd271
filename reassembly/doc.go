// Package reassembly puts the TCP segments of many connections back in order
// (RFC 9293), as somebody sees them who looks on: some are missing, some come
// twice, some late, some with their tail cut off, and the capture may have
// started after the connection.
//
// An [Assembler] takes segments in the order of the capture and calls a
// [Stream] for each connection: octets in order, each once, with the frame and
// time that first brought it ([Chunk]); what will never come ([Gap]); and what
// TCP did besides ([Event]). For each direction, chunks and gaps follow one
// another without a seam from offset 0 on, so that octets delivered and octets
// missing add up to the length of the direction.
//
// # In order
//
// A segment that continues its direction is handed on as it is: nothing is
// copied or allocated. A segment from beyond a hole is copied and held until
// the hole is filled or given up. The first copy of an octet counts, whatever
// later ones hold.
//
// # Holes
//
// Whether a missing segment is late or will never come, nobody can say at
// once. A hole is given up, and what is held behind it goes on, as soon as one
// of these is true:
//
//   - The other side acknowledged octets behind the hole: it has them, so the
//     capture lost them ([GapLost]). Captures put segments in disorder even
//     against the acknowledgements for them, so this takes effect 16 segments
//     of the connection later, or 10 ms, whichever is first.
//   - Nothing came from the other side ever, so that no acknowledgement is to
//     be hoped for, and three or more segments are held and the hole is 1 s
//     old, or a quarter of the limit for a direction is held ([GapNever]).
//   - The hole is older than Config.HoleTimeout, and nothing was filled in for
//     that long ([GapNever]).
//   - More is held than the limits allow ([GapNever]).
//   - The connection ends ([GapLost] where it was acknowledged, else
//     [GapNever]).
//
// A hole with nothing behind it waits, since what follows may fill it. All
// these are looked at when a segment of the same connection comes, and by
// [Assembler.Tick]; so a connection's output depends on its own segments alone,
// as long as Config.MaxHeldTotal and the limits on connections are not reached
// and Tick and Expire are called at the same frames.
//
// # Connections without their start
//
// Where the SYN was not seen, the first data segment starts the direction. It
// may itself be out of order, so it is held until an acknowledgement shows that
// nothing before it is under way (by the first rule above), or 16 segments are
// held, or 1 s has gone by. Offset 0 is then the first octet that is held.
//
// # Security
//
// Segments are not trusted. Memory is bounded by Config: what is held, with an
// overhead for each run of octets, counts against the limits, and connections
// that have not carried data are kept apart in a limited number. The work for a
// segment is bounded by its captured octets and the logarithm of what is held.
// Endpoints are hashed with a secret key.
package reassembly
