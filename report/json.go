package report

import (
	_ "embed"
	"encoding/hex"
	"strconv"
	"time"
	"unicode/utf8"
)

// Schema is the name and version of the JSON that is written. Fields may be
// added to it, but none changes its meaning.
const Schema = "iwdump/1"

// SchemaJSON is the JSON Schema of a line.
//
//go:embed schema.json
var SchemaJSON []byte

// object appends the fields of a JSON object.
type object struct {
	b     []byte
	first bool
}

func (o *object) open() {
	o.b = append(o.b, '{')
	o.first = true
}

func (o *object) close() {
	o.b = append(o.b, '}')
	o.first = false
}

// key appends a name; names are ours and need no escape.
func (o *object) key(name string) {
	if !o.first {
		o.b = append(o.b, ',')
	}
	o.first = false
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

// word appends a string that is ours and needs no escape.
func (o *object) word(name, v string) {
	o.key(name)
	o.b = append(o.b, '"')
	o.b = append(o.b, v...)
	o.b = append(o.b, '"')
}

func (o *object) text(name, v string) {
	o.key(name)
	o.b = appendString(o.b, v)
}

func (o *object) int(name string, v int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) uint(name string, v uint64) {
	o.key(name)
	o.b = strconv.AppendUint(o.b, v, 10)
}

func (o *object) bool(name string, v bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, v)
}

// stag appends a 32-bit value in hex, to the upper of 64 bits in to.
func (o *object) stag(name string, v uint32) {
	o.key(name)
	o.b = append(o.b, '"')
	o.b = appendHex(o.b, uint64(v), 8)
	o.b = append(o.b, '"')
}

func (o *object) to(name string, v uint64) {
	o.key(name)
	o.b = append(o.b, '"')
	o.b = appendHex(o.b, v, 16)
	o.b = append(o.b, '"')
}

func (o *object) hex(name string, v []byte) {
	o.key(name)
	o.b = append(o.b, '"')
	o.b = hex.AppendEncode(o.b, v)
	o.b = append(o.b, '"')
}

// nested appends the name of an object and opens it.
func (o *object) nested(name string) {
	o.key(name)
	o.open()
}

const hexDigits = "0123456789abcdef"

func appendHex(b []byte, v uint64, digits int) []byte {
	b = append(b, '0', 'x')
	for i := 4 * (digits - 1); i >= 0; i -= 4 {
		b = append(b, hexDigits[v>>i&0xF])
	}
	return b
}

// appendString appends s as a JSON string. What is no UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20 || r == 0x7F:
			b = append(b, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&0xF])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// clock appends times as RFC 3339 in UTC with nine decimals. It keeps the text
// of the last second.
type clock struct {
	second int64
	text   []byte
}

func (c *clock) append(b []byte, ns int64) []byte {
	second := ns / 1e9
	frac := ns % 1e9
	if frac < 0 {
		second, frac = second-1, frac+1e9
	}
	if c.text == nil || second != c.second {
		c.second = second
		c.text = time.Unix(second, 0).UTC().AppendFormat(c.text[:0], "2006-01-02T15:04:05.")
	}
	b = append(b, c.text...)
	var d [9]byte
	for i := len(d) - 1; i >= 0; i-- {
		d[i] = byte('0' + frac%10)
		frac /= 10
	}
	b = append(b, d[:]...)
	return append(b, 'Z')
}
