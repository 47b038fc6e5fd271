package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

// maxWindow bounds the memory that a compressed file may ask for. The zstd
// program has the same limit.
const maxWindow = 128 << 20

// An input is the octets of one file, decompressed.
type input struct {
	io.Reader
	closers []func()
}

func (in *input) close() {
	for _, c := range in.closers {
		c()
	}
}

// open opens the named file, or standard input.
func (f *Files) open(name string) (*input, error) {
	in := &input{}
	raw := f.stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, cause(err)
		}
		in.closers = append(in.closers, func() { file.Close() })
		raw = file
		if f.opts.Follow != nil && f.next == len(f.names) {
			raw = &follower{file, f.opts.Follow}
		}
	} else if raw == nil {
		return nil, errors.New("there is no standard input")
	}
	if err := in.decompress(&meter{raw, f}); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// cause strips what the caller says anyway: the operation and the name.
func cause(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

// A meter counts what is read for Progress.
type meter struct {
	io.Reader
	f *Files
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.f.read.Add(int64(n))
	return n, err
}

// Magic numbers of the compressed formats, as their first octets.
const (
	magicGzip = "\x1f\x8b\x08"             // RFC 1952, section 2.3.1
	magicZstd = "\x28\xb5\x2f\xfd"         // RFC 8878, section 3.1.1
	magicLZ4  = "\x04\x22\x4d\x18"         // lz4 frame format 1.6.3
	magicLZ4L = "\x02\x21\x4c\x18"         // the legacy frame of the same
	magicXZ   = "\xfd\x37\x7a\x58\x5a\x00" // xz file format 1.2.1, section 2.1.1.1
)

// passSkippable passes over frames that zstd and lz4 pass over, which may stand
// before the first one that says which of them it is (RFC 8878, section 3.1.2).
func passSkippable(r *bufio.Reader) {
	for {
		head, err := r.Peek(8)
		if err != nil || head[0]&0xf0 != 0x50 || string(head[1:4]) != "\x2a\x4d\x18" {
			return
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		if _, err := io.CopyN(io.Discard, r, 8+size); err != nil {
			return
		}
	}
}

// decompress sets in.Reader to what raw holds once decompressed.
func (in *input) decompress(raw io.Reader) error {
	sniff := bufio.NewReaderSize(raw, 512)
	passSkippable(sniff)
	head, err := sniff.Peek(len(magicXZ))
	if len(head) == 0 && err != nil && err != io.EOF {
		return cause(err)
	}
	head, _ = sniff.Peek(sniff.Buffered())
	// What was peeked, then straight from raw: large reads are not buffered.
	plain := io.MultiReader(bytes.NewReader(head), raw)
	is := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	buffered := func() *bufio.Reader { return bufio.NewReaderSize(plain, 256<<10) }
	switch {
	case is(magicGzip):
		z, err := gzip.NewReader(buffered())
		if err != nil {
			return unpackError("gzip", err)
		}
		in.Reader = unpacked{z, "gzip"}
	case is(magicZstd):
		z, err := zstd.NewReader(buffered(),
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return unpackError("zstd", err)
		}
		in.closers = append(in.closers, z.Close)
		in.Reader = unpacked{z, "zstd"}
	case is(magicLZ4), is(magicLZ4L):
		in.Reader = unpacked{lz4.NewReader(buffered()), "lz4"}
	case is(magicXZ):
		z, err := xz.NewReader(&xzGuard{r: buffered()})
		if err != nil {
			return unpackError("xz", err)
		}
		in.Reader = unpacked{z, "xz"}
	default:
		in.Reader = plain
	}
	return nil
}

// unpacked reads from a decompressor.
type unpacked struct {
	io.Reader
	format string
}

// Read reads at most 64 KiB: some decompressors fill all of p before they
// return, and what comes through a pipe shall not wait for that.
func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p[:min(len(p), 64<<10)])
	if err != nil && err != io.EOF {
		err = unpackError(u.format, err)
	}
	return n, err
}

func unpackError(format string, err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if isCut(err) {
		return fmt.Errorf("the %s data end too early: %w", format, err)
	}
	return fmt.Errorf("decompressing %s: %w", format, err)
}

// xzGuard stands between an xz file and its decoder, which would allocate any
// dictionary that a block header asks for (up to 4 GiB). The decoder reads a
// block header as one octet and then the rest at once; the header's own CRC32
// tells it from other reads of that size (xz file format, section 3.1).
type xzGuard struct {
	r    io.Reader
	size []byte // the octet read by itself just before, or nothing
	one  [1]byte
}

func (g *xzGuard) Read(p []byte) (int, error) {
	size := g.size
	g.size = nil
	if len(size) == 1 && len(p) == (int(size[0])+1)*4-1 {
		n, err := io.ReadFull(g.r, p)
		if err == io.ErrUnexpectedEOF {
			err = nil // the next read says so
		}
		if n == len(p) && xzDictionary(size[0], p) > maxWindow {
			return 0, fmt.Errorf("a dictionary of more than %d MiB is asked for", maxWindow>>20)
		}
		return n, err
	}
	n, err := g.r.Read(p)
	if n == 1 {
		g.one[0] = p[0]
		g.size = g.one[:]
	}
	return n, err
}

// xzDictionary returns the dictionary size that an xz block header asks for,
// or 0 if the octets are no block header. rest is the header behind its first
// octet.
func xzDictionary(first byte, rest []byte) int64 {
	end := len(rest) - 4
	if end < 5 || rest[0]&0x3c != 0 {
		return 0
	}
	sum := crc32.Update(crc32.ChecksumIEEE([]byte{first}), crc32.IEEETable, rest[:end])
	if sum != binary.LittleEndian.Uint32(rest[end:]) {
		return 0
	}
	flags, b := rest[0], rest[1:end]
	for _, present := range []bool{flags&0x40 != 0, flags&0x80 != 0} { // the block's sizes
		if present {
			_, n := binary.Uvarint(b)
			if n <= 0 {
				return 0
			}
			b = b[n:]
		}
	}
	for range flags&3 + 1 { // filters: identifier, size of properties, properties
		id, n := binary.Uvarint(b)
		if n <= 0 {
			return 0
		}
		b = b[n:]
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return 0
		}
		b = b[n:]
		if id == 0x21 && size == 1 { // LZMA2 (section 5.3.1)
			bits := b[0] & 0x3f
			if bits >= 40 {
				return 1<<32 - 1
			}
			return (2 | int64(bits&1)) << (bits/2 + 11)
		}
		b = b[size:]
	}
	return 0
}
