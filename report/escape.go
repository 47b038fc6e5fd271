package report

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// appendSafe appends s so that a terminal takes it as text: control characters,
// what cannot be printed and what is no UTF-8 are written as escapes of Go.
func appendSafe(b []byte, s string) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, `\x`...)
			b = append(b, hexDigits[s[0]>>4], hexDigits[s[0]&0xF])
		case unicode.IsPrint(r):
			b = append(b, s[:n]...)
		default:
			b = appendEscape(b, r)
		}
		s = s[n:]
	}
	return b
}

// appendASCII is appendSafe for a terminal that has no other characters.
func appendASCII(b []byte, s string) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == 'µ': // of durations
			b = append(b, 'u')
		case n > 1:
			b = appendEscape(b, r)
		default:
			b = appendSafe(b, s[:n])
		}
		s = s[n:]
	}
	return b
}

func appendEscape(b []byte, r rune) []byte {
	q := strconv.AppendQuoteRuneToASCII(nil, r)
	return append(b, q[1:len(q)-1]...)
}

// appendDump appends data as a hex dump, 16 octets a line: offset, octets, and
// what of them is printable ASCII.
func appendDump(b []byte, indent string, data []byte) []byte {
	for at := 0; at < len(data); at += 16 {
		line := data[at:min(at+16, len(data))]
		b = append(b, indent...)
		for i := 12; i >= 0; i -= 4 {
			b = append(b, hexDigits[at>>i&0xF])
		}
		b = append(b, ' ')
		for i := range 16 {
			if i == 8 {
				b = append(b, ' ')
			}
			if i < len(line) {
				b = append(b, ' ', hexDigits[line[i]>>4], hexDigits[line[i]&0xF])
			} else {
				b = append(b, "   "...)
			}
		}
		b = append(b, ' ', ' ')
		for _, c := range line {
			if c < 0x20 || c > 0x7E {
				c = '.'
			}
			b = append(b, c)
		}
		b = append(b, '\n')
	}
	return b
}
