package capture_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

func pack(t testing.TB, w io.WriteCloser, err error, data []byte) {
	t.Helper()
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func gzipped(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	pack(t, gzip.NewWriter(&b), nil, data)
	return b.Bytes()
}

var packers = []struct {
	name string
	pack func(t testing.TB, data []byte) []byte
}{
	{"gzip", gzipped},
	{"zstd", func(t testing.TB, data []byte) []byte {
		var b bytes.Buffer
		w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		pack(t, w, err, data)
		return b.Bytes()
	}},
	{"lz4", func(t testing.TB, data []byte) []byte {
		var b bytes.Buffer
		pack(t, lz4.NewWriter(&b), nil, data)
		return b.Bytes()
	}},
	{"lz4 legacy", func(t testing.TB, data []byte) []byte {
		var b bytes.Buffer
		w := lz4.NewWriter(&b)
		err := w.Apply(lz4.LegacyOption(true))
		pack(t, w, err, data)
		return b.Bytes()
	}},
	{"xz", func(t testing.TB, data []byte) []byte {
		var b bytes.Buffer
		w, err := xz.NewWriter(&b)
		pack(t, w, err, data)
		return b.Bytes()
	}},
}

func TestCompressed(t *testing.T) {
	for _, p := range packers {
		t.Run(p.name, func(t *testing.T) {
			for _, data := range [][]byte{pcapFile(1000), pcapngFile(1000)} {
				diffFrames(t, readClean(t, p.pack(t, data)), testFrames(1, 1000))
			}
		})
	}
}

// A compressed file may consist of several parts, as made by cat or by
// parallel compressors.
func TestCompressedParts(t *testing.T) {
	data := pcapFile(1000)
	skippable := []byte{0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3}
	for _, p := range packers {
		if p.name == "lz4 legacy" {
			continue // has no end mark
		}
		t.Run(p.name, func(t *testing.T) {
			parts := append(p.pack(t, data[:5000]), p.pack(t, data[5000:])...)
			diffFrames(t, readClean(t, parts), testFrames(1, 1000))
			if p.name == "zstd" || p.name == "lz4" {
				diffFrames(t, readClean(t, append(skippable, parts...)), testFrames(1, 1000))
			}
		})
	}
}

// A compressed file cut anywhere: what can be had is had, and the cut is said.
func TestCompressedCut(t *testing.T) {
	for _, p := range packers {
		if p.name == "lz4 legacy" {
			continue
		}
		packed := p.pack(t, pcapFile(1000))
		for n := 6; n < len(packed); n += 1 + len(packed)/50 {
			r := readBytes(t, packed[:n], capture.Options{})
			diffFrames(t, r.frames, testFrames(1, len(r.frames)))
			if len(r.errs) != 1 || !r.errs[0].Cut || !errors.Is(r.errs[0], io.ErrUnexpectedEOF) {
				t.Errorf("%s cut at %d of %d: errors %v", p.name, n, len(packed), r.errs)
			}
		}
	}
}

// Bit errors in compressed data end in an error, not in silence.
func TestCompressedDamage(t *testing.T) {
	for _, p := range packers {
		if p.name == "lz4 legacy" {
			continue // has no checksum
		}
		packed := p.pack(t, pcapFile(1000))
		packed[len(packed)/2] ^= 0x10
		r := readBytes(t, packed, capture.Options{})
		if len(r.errs) == 0 {
			t.Errorf("%s: %d frames and no error", p.name, len(r.frames))
		}
	}
}

func TestNotACapture(t *testing.T) {
	tar := make([]byte, 1024)
	copy(tar, "capture.pcap")
	copy(tar[257:], "ustar")
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "the file is empty, without even a header"},
		{"one octet", []byte{0xd4}, "not a capture: it is too short, 1 of 4 octets"},
		{"text", []byte("No.  Time  Source\n1  0.000  192.0.2.1 → 192.0.2.2\n"), "not a capture: it seems to be text"},
		{"text cut inside of a rune", []byte(strings.Repeat("→", 171))[:512], "not a capture: it seems to be text"},
		{"zip", []byte("PK\x03\x04 and so on"), "not a capture: it seems to be a zip archive; unpack it first"},
		{"tar", tar, "not a capture: it seems to be a tar archive; unpack it first"},
		{"tar, compressed", gzipped(t, tar), "not a capture: it seems to be a tar archive; unpack it first"},
		{"gzip twice", gzipped(t, gzipped(t, pcapFile(1))), "not a capture: it seems to be compressed twice (gzip inside); decompress it first"},
		{"bzip2", []byte("BZh91AY&SY"), "not a capture: it seems to be bzip2 data; decompress it first"},
		{"snoop", []byte("snoop\x00\x00\x00\x00\x00\x00\x01"), "not a capture: it seems to be a snoop capture of another version than 2; convert it to pcapng first"},
		{"zeros", make([]byte, 1000), "not a capture: it begins with zeros"},
		{"unknown", []byte{0xde, 0xad, 0xbe, 0xef, 0}, "not a capture that can be read here: it begins with de ad be ef"},
	} {
		r := readBytes(t, c.data, capture.Options{})
		if len(r.frames) != 0 || len(r.errs) != 1 || r.errs[0].Msg != c.want || r.errs[0].Cut {
			t.Errorf("%s: %v, want %q", c.name, r.errs, c.want)
		}
	}
}

// A dictionary that is merely claimed is not allocated, in any block of an xz
// file.
func TestXZDictionary(t *testing.T) {
	const (
		headerLen = 12
		sizeAt    = headerLen // of the block header
	)
	good := packers[4].pack(t, pcapFile(1000))
	size := (int(good[sizeAt]) + 1) * 4
	i := bytes.Index(good[sizeAt:sizeAt+size], []byte{0x21, 1}) // LZMA2, one octet of properties
	if i < 0 {
		t.Fatal("no LZMA2 filter in the block header")
	}
	bad := slices.Clone(good)
	bad[sizeAt+i+2] = 40 // 4 GiB
	end := sizeAt + size - 4
	binary.LittleEndian.PutUint32(bad[end:], crc32.ChecksumIEEE(bad[sizeAt:end]))
	for _, c := range []struct {
		data   []byte
		frames int
	}{{bad, 0}, {slices.Concat(good, bad), 1000}} {
		r := readBytes(t, c.data, capture.Options{})
		if len(r.frames) != c.frames || len(r.errs) != 1 || !strings.Contains(r.errs[0].Error(), "a dictionary of more than 128 MiB is asked for") {
			t.Errorf("%d frames, errors %v", len(r.frames), r.errs)
		}
	}
}
