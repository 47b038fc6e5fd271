package rdmap

import (
	"encoding/binary"
	"math/bits"

	"github.com/iwdump/iwdump/dissect/ddp"
)

// A Protocol tells an mpa.Framer what an FPDU of RDMAP over DDP looks like. It
// weighs in bits of evidence, as package mpa has them. Octets that are zero are
// worth little: payloads are full of them.
type Protocol struct {
	// Stream, where there is one, is what is known of the direction.
	Stream *ddp.Assembler
}

// Bits of evidence.
const (
	bitsTagged   = 14 // two control octets: 4 of 2^16
	bitsUntagged = 11 // 20 of 2^16
	bitsZeros    = 2  // for a word that must be zero
	bitsLength   = 12 // for a length that must be one of few
	bitsWord     = 24 // for a word that is known, in a world where numbers are small
)

// Control tells the bits that are the same in the first two octets of every
// ULPDU: Rsvd and DV (RFC 5041, section 4.1), RV and Rsv (RFC 5040, section
// 4.1).
func (Protocol) Control() (mask, value uint16) { return 0x3FF0, 0x0140 }

// Evidence weighs the first octets of a ULPDU, two or more, against random
// ones. It returns 0 where they are none.
func (p Protocol) Evidence(u []byte, length int) int {
	if len(u) < 2 || u[0]&0x3F != Version || u[1]&0xF0 != Version<<6 {
		return 0
	}
	op := Op(u[1] & 0xF)
	r := &rules[op]
	if !r.known || r.tagged != (u[0]&0x80 != 0) {
		return 0
	}
	if r.tagged {
		if length < ddp.TaggedLen {
			return 0
		}
		n := bitsTagged
		if len(u) >= ddp.TaggedLen && p.Stream != nil && p.Stream.Knows(binary.BigEndian.Uint32(u[2:])) {
			n += bitsWord
		}
		return n
	}
	n := bitsUntagged
	if length < ddp.UntaggedLen+r.min || r.max > 0 && length > ddp.UntaggedLen+r.max {
		return 0
	}
	if r.max > 0 {
		if u[0]&0x40 == 0 {
			return 0
		}
		n += bitsLength
	}
	if len(u) < ddp.UntaggedLen {
		return n
	}
	word, qn := binary.BigEndian.Uint32(u[2:]), binary.BigEndian.Uint32(u[6:])
	msn, mo := binary.BigEndian.Uint32(u[10:]), binary.BigEndian.Uint32(u[14:])
	if !r.invalidate && word != 0 || qn != r.queue || r.max > 0 && mo != 0 {
		return 0
	}
	n += 2 * bitsZeros
	if qn != 0 {
		n += bitsWord
	}
	if p.Stream != nil {
		if want, ok := p.Stream.Expects(qn); ok {
			// The hole can hide some messages, but not many.
			ahead := msn - want + 1
			if ahead > 1<<16 {
				return 0
			}
			n += bitsWord - bits.Len32(ahead)/2
		}
	}
	if msn == 0 && n < 2*bitsWord {
		return bitsUntagged // zeros all over
	}
	return n + min(8, bits.Len32(msn)/2)
}

// Follows weighs b as the FPDU directly behind a.
func (Protocol) Follows(a []byte, alen int, b []byte, blen int) int {
	ha, _, err := ddp.Parse(a)
	if err != nil {
		return 0
	}
	hb, _, err := ddp.Parse(b)
	if err != nil {
		return 0
	}
	switch {
	case ha.Tagged && hb.Tagged && !ha.Last && ha.ULPControl == hb.ULPControl:
		if ha.STag == hb.STag && ha.TO+uint64(max(0, alen-ddp.TaggedLen)) == hb.TO {
			return 3 * bitsWord
		}
		return -bitsWord
	case ha.Tagged && hb.Tagged && ha.STag == hb.STag:
		return bitsWord
	case !ha.Tagged && !hb.Tagged && ha.QN == hb.QN:
		switch {
		case !ha.Last && hb.MSN == ha.MSN && hb.MO == ha.MO+uint32(max(0, alen-ddp.UntaggedLen)):
			return 2 * bitsWord
		case ha.Last && hb.MSN == ha.MSN+1 && hb.MO == 0:
			return bitsWord
		}
		return -bitsWord
	}
	return 0
}
