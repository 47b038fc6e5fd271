package save

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/iwdump/iwdump/capture"
)

// Options say what to write, and where to.
type Options struct {
	Name       string           // of the file; where there are several, a number and the time are put into it
	Link       capture.LinkType // of all frames
	Snaplen    int              // octets
	Interfaces []string         // names, by Iface of the frames
	RotateSize int64            // octets after which the next file begins; 0 is never
	RotateTime time.Duration    // time of the capture after which it does; 0 is never
	Files      int              // files that are kept, older ones are removed; 0 is all
	OnlyIWARP  bool             // only connections that Found tells
}

// flushSize is how many octets are gathered at most before they are written.
const flushSize = 1 << 20

// A Writer writes files. Its methods but Found are for one goroutine.
type Writer struct {
	o     Options
	file  *os.File
	names []string // of the files that are kept, oldest first
	count int      // files so far
	size  int64    // of the current file, what is in buf included
	first int64    // time of the first frame of the current file
	begun bool     // it has a frame
	buf   []byte
	hold  *hold // nil where all is written
	err   error

	Frames uint64 // written so far
}

// Create creates the first file.
func Create(o Options) (*Writer, error) {
	w := &Writer{o: o}
	if o.OnlyIWARP {
		w.hold = newHold(w.frame)
	}
	if !w.rotates() {
		return w, w.open(o.Name)
	}
	// The name tells the time of the first frame: the file waits for it. That
	// it can be made is seen now.
	dir := filepath.Dir(o.Name)
	probe, err := os.CreateTemp(dir, ".iwdump-*")
	if err != nil {
		return nil, fmt.Errorf("writing to %s: %w", dir, err)
	}
	probe.Close()
	os.Remove(probe.Name())
	return w, nil
}

func (w *Writer) rotates() bool { return w.o.RotateSize > 0 || w.o.RotateTime > 0 }

func (w *Writer) open(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w.file, w.names = f, append(w.names, name)
	w.count++
	w.size, w.begun = 0, false
	start := len(w.buf)
	w.buf = capture.AppendSectionHeader(w.buf, "iwdump")
	for _, name := range w.o.Interfaces {
		w.buf = capture.AppendInterface(w.buf, w.o.Link, uint32(w.o.Snaplen), name)
	}
	w.size += int64(len(w.buf) - start)
	if n := len(w.names) - w.o.Files; w.o.Files > 0 && n > 0 {
		for _, old := range w.names[:n] {
			os.Remove(old)
		}
		w.names = append([]string(nil), w.names[n:]...)
	}
	if w.o.Files == 0 {
		w.names = nil // nobody asks for them
	}
	return w.flush()
}

// name returns the name of a file whose first frame is of that time.
func (w *Writer) name(at int64) string {
	ext := filepath.Ext(w.o.Name)
	base := strings.TrimSuffix(w.o.Name, ext)
	return fmt.Sprintf("%s_%05d_%s%s", base, w.count+1, time.Unix(0, at).UTC().Format("20060102T150405Z"), ext)
}

// Block writes the frames of a block. An error is final.
func (w *Writer) Block(b *capture.Block) error {
	if w.hold != nil {
		w.hold.settle()
	}
	for i := range b.Frames {
		if w.err != nil {
			return w.err
		}
		if w.hold != nil {
			w.hold.frame(&b.Frames[i])
		} else {
			w.frame(&b.Frames[i])
		}
	}
	return w.flush()
}

// frame writes a frame.
func (w *Writer) frame(f *capture.Frame) {
	if w.err != nil {
		return
	}
	const head = 32 // of an Enhanced Packet Block, both lengths included
	length := int64(len(f.Data)+3)&^3 + head
	if w.rotates() && (w.file == nil || w.begun &&
		(w.o.RotateSize > 0 && w.size+length > w.o.RotateSize || w.o.RotateTime > 0 && f.Time-w.first >= int64(w.o.RotateTime))) {
		if w.err = w.close(); w.err == nil {
			w.err = w.open(w.name(f.Time))
		}
		if w.err != nil {
			return
		}
	}
	if !w.begun {
		w.begun, w.first = true, f.Time
	}
	iface := f.Iface
	if int(iface) >= len(w.o.Interfaces) {
		iface = 0
	}
	w.buf = capture.AppendEnhancedPacket(w.buf, iface, f)
	w.size += length
	w.Frames++
	if len(w.buf) >= flushSize {
		w.flush()
	}
}

// flush writes whole blocks.
func (w *Writer) flush() error {
	if w.err == nil && len(w.buf) > 0 && w.file != nil {
		_, w.err = w.file.Write(w.buf)
		w.buf = w.buf[:0]
	}
	return w.err
}

func (w *Writer) close() error {
	if w.file == nil {
		return w.err
	}
	err := w.flush()
	if e := w.file.Close(); err == nil {
		err = e
	}
	w.file = nil
	return err
}

// Close writes what is left. What waits to be found iWARP is not.
func (w *Writer) Close() error {
	if w.hold != nil {
		w.hold.settle()
	}
	return w.close()
}
