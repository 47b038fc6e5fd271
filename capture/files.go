package capture

import (
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

// Options say how to read. The zero value is the ordinary case.
type Options struct {
	BlockSize int // octets read at once; 0 is 512 KiB, of which a few stay in a cache
	// Follow, where it is not nil, is asked at the end of the last file whether
	// to wait for more of it.
	Follow   func() bool
	MaxFrame int // largest frame in octets, larger ones are damage; 0 is 16 MiB
}

const (
	defaultBlockSize = 512 << 10
	minBlockSize     = 64
	defaultMaxFrame  = 16 << 20
	// maxBlockFrames bounds the frames of a block, and so the memory of its
	// Frames: 224 KiB.
	maxBlockFrames = 4096
	// maxReports bounds the errors of one file that are reported one by one.
	maxReports = 100
)

// Files reads several files as one capture, in the order given. It is a
// Source.
type Files struct {
	names []string
	stdin io.Reader
	opts  Options
	pool  pool
	count counters

	next int     // index of the next name to open
	cur  *reader // the file being read, nil between files

	sizes []int64      // of each file, -1 where it is not known
	total int64        // all sizes, -1 where one is not known
	past  int64        // sizes of the files that are done
	read  atomic.Int64 // octets read, before decompression
}

// counters number what runs on over all files.
type counters struct {
	frames uint64 // frames so far, those that were damaged included
	ifaces uint32 // interfaces so far
}

// Open returns the capture that the named files are together; "-" is stdin.
// Files are opened when their turn comes: one that cannot be opened is an
// *Error from Next, and the others are read.
func Open(names []string, stdin io.Reader, o Options) *Files {
	if o.BlockSize <= 0 {
		o.BlockSize = defaultBlockSize
	}
	if o.MaxFrame <= 0 {
		o.MaxFrame = defaultMaxFrame
	}
	o.MaxFrame = min(o.MaxFrame, 1<<30)
	f := &Files{
		names: names,
		stdin: stdin,
		opts:  o,
		pool:  pool{size: max(o.BlockSize, minBlockSize)},
		sizes: make([]int64, len(names)),
	}
	for i, name := range names {
		f.sizes[i] = f.size(name)
		if f.sizes[i] < 0 || f.total < 0 {
			f.total = -1
		} else {
			f.total += f.sizes[i]
		}
	}
	return f
}

// size returns the size of a regular file, or -1.
func (f *Files) size(name string) int64 {
	var (
		info fs.FileInfo
		err  error
	)
	if name != "-" {
		info, err = os.Stat(name)
	} else if file, ok := f.stdin.(interface{ Stat() (fs.FileInfo, error) }); ok {
		info, err = file.Stat()
	}
	if err != nil || info == nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}

// Names returns the files as errors name them, in order.
func (f *Files) Names() []string {
	names := make([]string, len(f.names))
	for i, name := range f.names {
		names[i] = display(name)
	}
	return names
}

func display(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// Progress returns how many octets have been read so far, before
// decompression, and how many there are, or -1 where that is not known. It may
// be called from any goroutine.
func (f *Files) Progress() (read, total int64) { return f.read.Load(), f.total }

// Next returns the next block of frames. See Source. It waits for no more than
// one complete frame, so that what comes through a pipe is handed out as it
// comes.
func (f *Files) Next() (*Block, error) {
	for {
		if f.cur == nil {
			if f.next == len(f.names) {
				return nil, io.EOF
			}
			name := f.names[f.next]
			f.next++
			in, err := f.open(name)
			if err != nil {
				f.done()
				return nil, &Error{File: display(name), Msg: "opening it", Err: err, Cut: isCut(err)}
			}
			f.cur = newReader(f, display(name), in)
		}
		b, err := f.cur.next()
		if err != io.EOF {
			return b, err
		}
		f.cur.close()
		f.cur = nil
		f.done()
	}
}

// done brings the progress to where the file that was just read ends.
func (f *Files) done() {
	if size := f.sizes[f.next-1]; size > 0 {
		f.past += size
	}
	if f.total >= 0 {
		f.read.Store(f.past)
	}
}

// Close closes the file being read. Next must not be called afterwards; blocks
// that were handed out stay valid.
func (f *Files) Close() error {
	f.next = len(f.names)
	if f.cur != nil {
		f.cur.close()
		f.cur = nil
	}
	return nil
}
