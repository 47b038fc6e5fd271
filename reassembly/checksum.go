package reassembly

import "github.com/iwdump/iwdump/packet"

// sums is what is known of the TCP checksums of one side.
type sums struct {
	good, bad uint16 // verified
	largest   int    // payload of the largest segment whose checksum was right
}

const (
	// learnSegments is how many segments of a side are verified unasked, at
	// first and after one that was damaged.
	learnSegments = 4
	maxSums       = 1 << 15
	// usualMSS is what fits an Ethernet frame behind IPv4.
	usualMSS = 1460
)

// note adds a verdict on a segment with n payload octets, of a side whose
// maximum segment size is mss (0: not known). It tells whether that segment was
// damaged: its checksum is wrong, others are right, and wrong ones are rare.
// Packets that were captured on their way out of a host have no right
// checksums; those that a receiving host has merged (GRO) have none either, and
// are mostly larger than any on the wire.
func (u *sums) note(v packet.Sum, n, mss int) (damaged bool) {
	switch v {
	case packet.SumOK:
		u.good++
		u.largest = max(u.largest, n)
	case packet.SumBad:
		damaged = u.good > 0 && u.bad <= u.good/4 && n <= max(u.largest, mss, usualMSS)
		u.bad++
	}
	if u.good >= maxSums || u.bad >= maxSums {
		u.good /= 2
		u.bad /= 2
	}
	return damaged
}

type verdict uint8

const (
	verdictNone verdict = iota
	verdictGood
	verdictDamaged
)

// damaged says whether s, the segment in hand, which the side of d sent, was
// thrown away by its receiver.
func (d *direction) damaged(s *packet.Segment) bool { return d.conn.damaged(d.side, s) }

func (c *Conn) damaged(side Side, s *packet.Segment) bool {
	a := c.a
	if a.verdict == verdictNone {
		a.verdict = verdictGood
		mss := int(c.ends[side.Other()].mss)
		if c.ends[side].sums.note(a.checksum(s), s.Len, mss) {
			a.verdict = verdictDamaged
			c.ends[side].learned = 0 // so that bad ones are not all that is verified
		}
	}
	return a.verdict == verdictDamaged
}
