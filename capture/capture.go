// Package capture reads frames from packet captures: pcap and pcapng files,
// plain or compressed, one or several, and standard input.
//
// Frames are handed out in blocks so that no frame is copied: a frame's octets
// lie in the block's buffer and stay there until the block is released.
package capture

import "fmt"

// LinkType says what a frame begins with (the LINKTYPE_ registry of
// https://www.tcpdump.org/linktypes.html).
type LinkType uint16

// A Frame is one captured frame. Data aliases the memory of its Block.
type Frame struct {
	Data   []byte   // the octets captured
	Len    int      // octets on the wire, at least len(Data)
	Time   int64    // nanoseconds since 1970-01-01 UTC
	Number uint64   // 1, 2, … over all inputs
	Link   LinkType // what Data begins with
	Iface  uint32   // interface, 0, 1, … over all inputs
}

// A Block is a run of frames in the order of the capture. Its frames are valid
// until Release.
type Block struct {
	Frames  []Frame
	release func()
}

// Release gives the memory of the block back. The block and its frames must
// not be used afterwards.
func (b *Block) Release() {
	if b.release != nil {
		b.release()
	}
}

// A Source hands out a capture block by block.
type Source interface {
	// Next returns the next block of at least one frame, or an error: io.EOF
	// at the end, an *Error where the input is damaged. After an *Error Next
	// may be called again and goes on behind the damage (with the next file,
	// if nothing behind it can be trusted).
	Next() (*Block, error)
}

// An Error is damage in an input: what was found, and where.
type Error struct {
	File   string // as given by the user; "standard input" for "-"
	Frame  uint64 // number of the frame being read, 0 when none was
	Offset int64  // octets from the start of the file, after decompression
	Msg    string // what was found, lower case
	Cut    bool   // the input ends in the middle of something
	Err    error  // cause, may be nil
}

func (e *Error) Error() string {
	if e.Frame > 0 {
		return fmt.Sprintf("%s: frame %d at offset %d: %s", e.File, e.Frame, e.Offset, e.Msg)
	}
	return fmt.Sprintf("%s: offset %d: %s", e.File, e.Offset, e.Msg)
}

func (e *Error) Unwrap() error { return e.Err }
