package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf8"
)

// headSize is how many octets are looked at to say what a file is.
const headSize = 512

// recognise sets the format of the file by its first octets.
func (r *reader) recognise() error {
	for r.w < headSize && r.err == nil {
		if r.w >= 4 && r.setFormat() {
			return nil
		}
		r.fill(headSize)
	}
	if r.w >= 4 && r.setFormat() {
		return nil
	}
	if r.err != nil && r.err != io.EOF {
		return r.error(0, "reading it")
	}
	e := r.error(0, describe(r.buf.data[:r.w]))
	e.Cut = false
	return e
}

func (r *reader) setFormat() bool {
	count, maxFrame := &r.files.count, r.files.opts.MaxFrame
	magic := [4]byte(r.buf.data)
	if _, ok := pcapMagics[magic]; ok {
		r.format = &pcap{count: count, maxFrame: maxFrame}
	} else if binary.LittleEndian.Uint32(magic[:]) == ngSection {
		r.format = &pcapng{count: count, maxFrame: maxFrame}
	}
	if isSnoop(r.buf.data[:r.w]) {
		r.format = &snoop{count: count, maxFrame: maxFrame}
	}
	return r.format != nil
}

// signatures are the first octets of files that people take for a capture.
var signatures = []struct{ magic, is string }{
	{"PK\x03\x04", "a zip archive; unpack it first"},
	{"PK\x05\x06", "an empty zip archive"},
	{magicGzip, "compressed twice (gzip inside); decompress it first"},
	{magicZstd, "compressed twice (zstd inside); decompress it first"},
	{magicLZ4, "compressed twice (lz4 inside); decompress it first"},
	{magicXZ, "compressed twice (xz inside); decompress it first"},
	{"BZh", "bzip2 data; decompress it first"},
	{"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it first"},
	{"Rar!", "a RAR archive; unpack it first"},
	{magicSnoop, "a snoop capture of another version than 2; convert it to pcapng first"},
	{"GMBU", "a Microsoft Network Monitor capture; convert it to pcapng first"},
	{"RTSS", "a Microsoft Network Monitor capture; convert it to pcapng first"},
	{"XCP\x00", "a NetXray capture; convert it to pcapng first"},
	{"TRSNIFF data    \x1a", "a Sniffer capture; convert it to pcapng first"},
	{"\x13\x00\x00\x00", "an ETL trace or the like; convert it to pcapng first"},
	{"\x7fELF", "an ELF program"},
	{"MZ", "a Windows program"},
	{"%PDF", "a PDF document"},
	{"\x89PNG", "a PNG image"},
	{"PAR1", "a Parquet file"},
	{"\xff\xfe", "UTF-16 text"},
}

// describe says what a file that is no capture seems to be.
func describe(head []byte) string {
	if len(head) == 0 {
		return "the file is empty, without even a header"
	}
	if len(head) < 4 {
		return fmt.Sprintf("not a capture: it is too short, %d of 4 octets", len(head))
	}
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.magic)) {
			return "not a capture: it seems to be " + s.is
		}
	}
	if len(head) >= 262 && string(head[257:262]) == "ustar" {
		return "not a capture: it seems to be a tar archive; unpack it first"
	}
	if isText(head) {
		return "not a capture: it seems to be text"
	}
	if len(bytes.Trim(head, "\x00")) == 0 {
		return "not a capture: it begins with zeros"
	}
	return fmt.Sprintf("not a capture that can be read here: it begins with % x", head[:4])
}

// isText says whether head is the start of a text in UTF-8.
func isText(head []byte) bool {
	for len(head) > 0 {
		c, n := utf8.DecodeRune(head)
		if c == utf8.RuneError && n <= 1 {
			return !utf8.FullRune(head) // cut inside of a rune
		}
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b {
			return false
		}
		head = head[n:]
	}
	return true
}
