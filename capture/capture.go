package capture

import (
	"errors"
	"fmt"
	"io"
)

// A Frame is one captured frame. Data aliases the memory of its Block.
type Frame struct {
	Data   []byte   // the octets captured
	Len    int      // octets on the wire, at least len(Data)
	Time   int64    // nanoseconds since 1970-01-01 UTC; held to what int64 can say
	Number uint64   // 1, 2, … over all inputs
	Link   LinkType // what Data begins with
	Iface  uint32   // interface, 0, 1, … over all inputs
}

// A Block is a run of frames in the order of the capture. Its frames are valid
// until Release. Several blocks may be held at once, and released in any order
// and by any goroutine.
type Block struct {
	Frames []Frame

	// Of a live Source.
	Now  int64  // the time, in ns, up to which all has been handed out; 0 where that is not told
	Lost uint64 // frames that were lost in front of this block

	buf     *buffer
	release func(*Block)
}

// Release gives the memory of the block back. The block and its frames must
// not be used afterwards.
func (b *Block) Release() {
	if b.release != nil {
		b.release(b)
	}
}

// A Source hands out a capture block by block. It is for one goroutine.
type Source interface {
	// Next returns the next block of at least one frame (a live Source returns
	// one without frames to tell the time, or a loss), or an error: io.EOF
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
	msg := e.Msg
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	switch {
	case e.Frame > 0:
		return fmt.Sprintf("%s: frame %d at offset %d: %s", e.File, e.Frame, e.Offset, msg)
	case e.Offset > 0:
		return fmt.Sprintf("%s: offset %d: %s", e.File, e.Offset, msg)
	}
	return fmt.Sprintf("%s: %s", e.File, msg)
}

func (e *Error) Unwrap() error { return e.Err }

// isCut says whether err means that the input ended too early.
func isCut(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }
