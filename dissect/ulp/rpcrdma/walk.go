package rpcrdma

import (
	"strings"
)

// A Value is one argument or result of a procedure: a number, or the octets of
// a name, file handle or identifier, which alias what was parsed.
type Value struct {
	Name string
	Num  uint64
	Data []byte // nil for a number
}

// A walker reads arguments and results by their layouts. A layout is a list of
// name:kind, where kind is one letter:
//
//	w  4 octets, a number          d  8 octets, a number
//	o  opaque<> or string<>        m  array of words (bitmap4)
//	i  stateid4, 16 octets         n  session or device, 16 octets
//	v  verifier, 8 octets          X  file handle of NFSv2, 32 octets
//	T  nfstime4, 12 octets         D  opaque<> that can be in a chunk, its length
//	!  what follows is not known
//
// and the rest structures of their protocols, in walk3.go and walk4.go. What
// has no name is passed over.
type walker struct {
	cursor
	out     []Value
	status  uint32 // of the results that are read
	stopped bool   // at something that cannot be followed

	// Data that is not in the Payload stream but in chunks. Of a call, reads
	// says where; of a reply, the next chunk in writes holds the next data.
	reads  ReadList
	writes WriteList
	reply  bool
	moved  uint64 // octets of it so far, with what would round them up
}

// ok says that all so far could be read.
func (w *walker) ok() bool { return !w.short && !w.stopped }

func (w *walker) number(name string, v uint64) {
	if name != "" && w.ok() {
		w.out = append(w.out, Value{Name: name, Num: v})
	}
}

func (w *walker) octets(name string, b []byte) {
	if name != "" && w.ok() {
		w.out = append(w.out, Value{Name: name, Data: b})
	}
}

// walk reads what a layout says, as far as it can be followed.
func (w *walker) walk(layout string) {
	for layout != "" && w.ok() {
		var token string
		token, layout, _ = strings.Cut(layout, " ")
		name, kind, _ := strings.Cut(token, ":")
		w.value(name, kind[0])
	}
}

func (w *walker) value(name string, kind byte) {
	switch kind {
	case 'w':
		w.number(name, uint64(w.word()))
	case 'd':
		w.number(name, w.double())
	case 'o':
		w.octets(name, w.opaque())
	case 'm':
		w.words()
	case 'i', 'n':
		w.octets(name, w.skip(16))
	case 'v':
		w.octets(name, w.skip(8))
	case 'X':
		w.octets(name, w.skip(32))
	case 'T':
		w.skip(12)
	case 'D':
		w.data(name)
	case '!':
		w.stopped = true
	default:
		if !w.value3(name, kind) && !w.value4(name, kind) {
			w.stopped = true
		}
	}
}

// words passes over an array of words.
func (w *walker) words() {
	n := w.word()
	if uint64(n)*4 > uint64(len(w.b)-w.off) {
		w.short = true
		return
	}
	w.skip(int(n) * 4)
}

// data reads the length of opaque data, and passes over the data where it is in
// the Payload stream and not in a chunk (RFC 8166, sections 3.4.4 to 3.4.6).
func (w *walker) data(name string) {
	n := w.word()
	w.number(name, uint64(n))
	if n == 0 || !w.ok() {
		return
	}
	if w.inChunk() {
		w.moved += uint64(n) + uint64(-n&3)
		return
	}
	w.padded(n)
}

// inChunk says whether the data that would stand here is in a chunk, and uses
// the chunk up.
func (w *walker) inChunk() bool {
	if !w.reply {
		_, ok := w.reads.At(uint32(uint64(w.off) + w.moved))
		return ok
	}
	for len(w.writes) >= 8 {
		c, n, err := parseCounted(w.writes[4:])
		if err != nil {
			w.writes = nil
			break
		}
		w.writes = w.writes[4+n:]
		return c.Octets() > 0
	}
	return false
}

// array reads a count and as many times what one reads.
func (w *walker) array(one func()) (n uint32) {
	n = w.word()
	for i := uint32(0); i < n && w.ok(); i++ {
		one()
	}
	return n
}
