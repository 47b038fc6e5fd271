package rpcrdma

import (
	"encoding/binary"
	"fmt"
)

// A cursor reads XDR (RFC 4506). Once b has ended, short is set, it stays where
// it was, and everything read is zero.
type cursor struct {
	b     []byte
	off   int
	short bool
}

// skip passes over n octets.
func (c *cursor) skip(n int) []byte {
	if c.short || n > len(c.b)-c.off {
		c.short = true
		return nil
	}
	s := c.b[c.off : c.off+n : c.off+n]
	c.off += n
	return s
}

func (c *cursor) word() uint32 {
	if s := c.skip(4); s != nil {
		return binary.BigEndian.Uint32(s)
	}
	return 0
}

func (c *cursor) double() uint64 {
	if s := c.skip(8); s != nil {
		return binary.BigEndian.Uint64(s)
	}
	return 0
}

// opaque reads opaque<> or string<> (RFC 4506, sections 4.10 and 4.11).
func (c *cursor) opaque() []byte {
	at := c.off
	n := c.word()
	s := c.padded(n)
	if c.short {
		c.off = at
	}
	return s
}

// padded reads n octets and what rounds them up to 4.
func (c *cursor) padded(n uint32) []byte {
	if uint64(n)+uint64(-n&3) > uint64(len(c.b)-c.off) {
		c.short = true
		return nil
	}
	return c.skip(int(n + -n&3))[:n:n]
}

// optional reads the word of optional-data (RFC 4506, section 4.19).
func (c *cursor) optional() (bool, error) {
	at := c.off
	v := c.word()
	switch {
	case c.short:
		return false, ErrShort
	case v > 1:
		return false, &FormatError{Off: at, Msg: fmt.Sprintf("%d where an item is present (1) or not (0)", v)}
	}
	return v == 1, nil
}
