package capture

import (
	"fmt"
	"io"
)

// A format takes the records of one file format apart.
type format interface {
	// take appends the frames that lie whole at the start of b to blk, and
	// returns how many octets of b it is done with and why it stopped.
	take(b []byte, blk *Block) (n int, s stop)
	// scan looks in b for a place where records go on. It returns how many
	// octets lie before that place, or (found is false) before the first place
	// that needs more octets to tell. last says that b is all there is.
	scan(b []byte, last bool) (n int, found bool)
}

// A stop is why a format took no more. The zero value is a full block.
type stop struct {
	need   int    // octets needed to go on; more than there are
	skip   int64  // octets to pass over to go on
	damage string // what is wrong with the record here; it is skip octets long, or that is not known
	frame  uint64 // number of the frame that is damaged, 0 if it is none
}

// A reader reads one file into buffers and hands out blocks of them.
type reader struct {
	files  *Files
	name   string
	in     *input
	format format // nil until recognised

	buf  *buffer
	r, w int   // buf.data[r:w] has been read and not been taken
	base int64 // offset in the file of buf.data[0], after decompression
	pass int64 // octets to pass over before anything else
	err  error // what ended reading, io.EOF at the end of the file

	blk     *Block // for the next frames
	held    stop   // damage that waits for the frames before it to be handed out
	reports int    // damaged places that were reported
	hidden  int    // damaged places beyond maxReports
	done    bool   // nothing more to be had
}

func newReader(f *Files, name string, in *input) *reader {
	return &reader{files: f, name: name, in: in, buf: f.pool.buffer(0)}
}

func (r *reader) close() {
	r.in.close()
	r.files.pool.drop(r.buf)
	r.buf = nil
}

// next returns the next block of the file, an *Error, or io.EOF.
func (r *reader) next() (*Block, error) {
	for {
		if r.done {
			return nil, r.end()
		}
		if r.pass > 0 {
			if err := r.passOver(); err != nil {
				return nil, err
			}
			continue
		}
		if r.format == nil {
			if err := r.recognise(); err != nil {
				r.done = true
				return nil, err
			}
		}
		s := r.held
		r.held = stop{}
		if s == (stop{}) {
			var b *Block
			if b, s = r.take(); b != nil {
				return b, nil
			}
		}
		var err error
		switch {
		case s.damage != "":
			err = r.damaged(s)
		case s.skip > 0:
			r.pass = s.skip
		case r.err != nil:
			if err = r.tail(); err == io.EOF {
				r.done = true
				continue
			}
		default:
			r.fill(s.need)
		}
		if err != nil {
			if r.reports == maxReports && !r.done {
				r.hidden++
				continue
			}
			r.reports++
			return nil, err
		}
	}
}

// take takes the frames at hand. It returns them, or why there is none.
func (r *reader) take() (*Block, stop) {
	if r.blk == nil {
		r.blk = r.files.pool.block()
	}
	n, s := r.format.take(r.buf.data[r.r:r.w], r.blk)
	r.r += n
	if len(r.blk.Frames) == 0 {
		return nil, s
	}
	if s.damage != "" || s.skip > 0 {
		r.held = s
	}
	b := r.blk
	r.blk = nil
	r.buf.refs.Add(1)
	b.buf = r.buf
	return b, stop{}
}

// fill reads once, into room for need octets from r.r on.
func (r *reader) fill(need int) {
	have := r.w - r.r
	size := r.files.pool.size
	if need > size/2 {
		// Room is made for what is there, not for what is claimed; and as much
		// again, so that it is not moved for the sake of a few octets.
		size = max(size, 2*have)
	}
	short := len(r.buf.data)-r.r < min(need, size)
	small := len(r.buf.data)-r.w < size/4 // not worth a read of its own
	if short || small && r.r > 0 {
		r.move(size)
	}
	for range 100 {
		n, err := r.in.Read(r.buf.data[r.w:])
		r.w += n
		if r.err = err; n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// move brings what has not been taken to the start of a buffer of at least
// size octets.
func (r *reader) move(size int) {
	old, to := r.buf, r.buf
	if old.refs.Load() > 1 || len(old.data) < size {
		to = r.files.pool.buffer(size)
	}
	r.w = copy(to.data, old.data[r.r:r.w])
	r.base += int64(r.r)
	r.r = 0
	if to != old {
		r.files.pool.drop(old)
		r.buf = to
	}
}

// passOver passes over octets that lie in the buffer, or reads more.
func (r *reader) passOver() error {
	n := min(r.pass, int64(r.w-r.r))
	r.r += int(n)
	if r.pass -= n; r.pass == 0 {
		return nil
	}
	if r.err == nil {
		r.fill(1)
		return nil
	}
	r.done = true
	return r.error(0, fmt.Sprintf("the file ends inside a block, %d octets before its end", r.pass))
}

// error returns an Error for the place at hand. Once the input has ended, that
// is its cause.
func (r *reader) error(frame uint64, msg string) *Error {
	e := &Error{File: r.name, Frame: frame, Offset: r.base + int64(r.r), Msg: msg}
	switch {
	case r.err == io.EOF:
		e.Cut = true
	case r.err != nil:
		e.Err = cause(r.err)
		e.Cut = isCut(r.err)
	}
	return e
}

// damaged returns the Error for the damage at hand, and goes behind it.
func (r *reader) damaged(s stop) error {
	e := &Error{File: r.name, Frame: s.frame, Offset: r.base + int64(r.r), Msg: s.damage}
	if s.skip > 0 {
		r.pass = s.skip
		return e
	}
	if r.resync() {
		e.Msg += fmt.Sprintf("; %d octets were passed over", r.base+int64(r.r)-e.Offset)
	} else {
		e.Msg += "; nothing behind it could be read"
		r.done = true
	}
	return e
}

// resync goes to the next place where records go on, if there is one.
func (r *reader) resync() bool {
	r.r++
	for {
		n, found := r.format.scan(r.buf.data[r.r:r.w], r.err != nil)
		r.r += n
		if found || r.err != nil {
			return found
		}
		r.fill(r.w - r.r + 1)
	}
}

// tail deals with what is left at the end of the file: less than a record, or
// a record whose length is wrong and takes it beyond the end.
func (r *reader) tail() error {
	left := r.w - r.r
	if left == 0 && r.err == io.EOF {
		return io.EOF
	}
	msg := "reading on"
	if r.err == io.EOF {
		msg = fmt.Sprintf("the file ends inside a record, %d octets into it", left)
	}
	e := r.error(r.files.count.frames+1, msg)
	if left > 0 && r.resync() {
		r.files.count.frames++
		e.Msg = fmt.Sprintf("the record is longer than the rest of the file; %d octets were passed over", r.base+int64(r.r)-e.Offset)
		e.Cut, e.Err = false, nil
		return e
	}
	r.done = true
	return e
}

// end returns what is left to say when all has been read.
func (r *reader) end() error {
	if n := r.hidden; n > 0 {
		r.hidden = 0
		return &Error{File: r.name, Offset: r.base + int64(r.w), Msg: fmt.Sprintf("%d more damaged places were passed over", n)}
	}
	return io.EOF
}
