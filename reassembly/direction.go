package reassembly

import (
	"bytes"
	"slices"
	"sort"

	"github.com/iwdump/iwdump/packet"
)

const (
	// window is how far sequence numbers may lie from what is expected and
	// still be of this connection: the largest window (RFC 7323, section 2.3).
	window = 1 << 30
	// maxRuns is how many runs of octets are held for one direction.
	maxRuns = 4096
	// sampled is how many segments of a direction have their checksum
	// verified, to learn whether it means anything.
	sampled = 4
	// duplicateWithin is how soon, in ns, a mirror hands on a packet twice.
	duplicateWithin = 1e6

	// patience is how many segments of a connection may come between an ACK
	// and what it acknowledges.
	patience = 16

	recentLen = 16
)

// direction is what one side sends.
type direction struct {
	started bool
	begins  bool // the first octet is the first of the connection
	syn     bool
	synAck  bool
	fin     bool
	samples uint8
	mss     uint16
	lastID  uint16 // IP identification of the segment that reached lastEnd
	good    uint32 // segments whose checksum was right, of those verified
	bad     uint32
	largest int    // octets of payload of the largest with a right one
	base    uint32 // sequence number of offset 0

	next   uint64 // offset of the next octet to hand on
	seen   uint64 // offset behind the highest octet that came
	acked  uint64 // octets below it were acknowledged by the peer
	thrown uint64 // octets below it had come before in a segment that was thrown away
	finAt  uint64

	doubted  uint64 // Conn.count when an ACK had passed the first hole, 0 where none has
	doubtful uint64 // acked then

	lastEnd  uint64
	lastTime int64
	closedAt int64 // when the window closed, 0 where it is open
	synAt    Stamp

	held      []held
	heldBytes int
	recent    *[recentLen]recent
	nrecent   int

	counts Counts
}

// held is a run of octets that came out of order.
type held struct {
	off   uint64
	n     uint64
	data  []byte // shorter than n where the capture cut the packet
	at    Stamp
	again bool
}

// recent is a run of octets that was handed on lately. Its memory is that of
// the capture, valid for as long as the generation says.
type recent struct {
	off        uint64
	data       []byte
	generation uint64
}

func (d *direction) start(seq uint32, begins bool) {
	d.started, d.base, d.begins = true, seq, begins
}

// offset returns the offset of a sequence number near those expected.
func (d *direction) offset(seq uint32) uint64 {
	off := int64(d.next) + int64(int32(seq-(d.base+uint32(d.next))))
	if off < 0 {
		return 0 // before the first that was seen
	}
	return uint64(off)
}

// near says that a sequence number can belong to the connection now.
func (d *direction) near(seq uint32) bool {
	diff := int32(seq - (d.base + uint32(d.next)))
	return diff < window && int64(diff) >= -int64(min(d.next, window))
}

// take moves on by n octets that were handed on.
func (d *direction) take(n uint64, b []byte, generation uint64) {
	if n == 0 {
		return
	}
	if d.recent == nil {
		d.recent = new([recentLen]recent)
	}
	d.recent[d.nrecent%recentLen] = recent{off: d.next, data: b, generation: generation}
	d.nrecent++
	d.next += n
	d.seen = max(d.seen, d.next)
	d.counts.Octets += n
}

// damaged says that the receiver threw s away (see Chunk.Damaged).
func (d *direction) damaged(s *packet.Segment) bool {
	switch s.Checksum() {
	case packet.SumOK:
		d.good++
		d.largest = max(d.largest, s.Len)
		return false
	case packet.SumBad:
		d.bad++
		// A segment larger than any that was sent was put together by the
		// receiving host, which leaves its checksum as it is.
		return d.good > d.bad && s.Len <= max(d.largest, int(d.mss))
	}
	return false
}

// overlap is the outcome of a comparison with what came before.
type overlap struct {
	conflict bool
	at, len  uint64 // where in the octets compared, and how many
}

// compare holds b, which is at off, against what is known of the same octets:
// those that are held, and those handed on lately that the memory of the
// capture, which is at generation, still has.
func (d *direction) compare(off uint64, b []byte, generation uint64) (o overlap) {
	end := off + uint64(len(b))
	look := func(at uint64, old []byte) {
		from, to := max(at, off), min(at+uint64(len(old)), end)
		if from < to && !bytes.Equal(old[from-at:to-at], b[from-off:to-off]) && !o.conflict {
			o = overlap{conflict: true, at: from - off, len: to - from}
		}
	}
	if d.recent != nil {
		for i := range d.recent {
			if r := &d.recent[i]; r.data != nil && r.generation+1 >= generation && r.off < end {
				look(r.off, r.data)
			}
		}
	}
	for i := d.search(off); i < len(d.held) && d.held[i].off < end; i++ {
		look(d.held[i].off, d.held[i].data)
	}
	return o
}

// search returns the index of the first run held that ends behind off.
func (d *direction) search(off uint64) int {
	if n := len(d.held); n > 0 && d.held[n-1].off+d.held[n-1].n <= off {
		return n // most come at the end
	}
	return sort.Search(len(d.held), func(i int) bool { return d.held[i].off+d.held[i].n > off })
}

// holds says that all octets from from to to were handed on or are held.
func (d *direction) holds(from, to uint64) bool {
	from = max(from, d.next)
	for i := d.search(from); from < to; i++ {
		if i == len(d.held) || d.held[i].off > from {
			return false
		}
		from = d.held[i].off + d.held[i].n
	}
	return true
}

// hold keeps the octets of a segment that are not held yet. b is what was
// captured of n octets at off.
func (d *direction) hold(a *Assembler, off, n uint64, b []byte, again bool, at Stamp) {
	end := off + n
	for i := d.search(off); off < end; i++ {
		to := end
		if i < len(d.held) {
			to = min(to, d.held[i].off)
		}
		if off < to {
			k := min(to-off, uint64(len(b)))
			d.held = slices.Insert(d.held, i, held{off: off, n: to - off, data: bytes.Clone(b[:k]), at: at, again: again})
			d.heldBytes += int(k)
			a.held += int(k)
			i++
			b = b[k:]
			off = to
		}
		if i < len(d.held) && off < end {
			past := d.held[i].off + d.held[i].n - off
			b = b[min(past, uint64(len(b))):]
			off += past
		}
	}
}

// pop takes the first run that is held.
func (d *direction) pop(a *Assembler) held {
	h := d.held[0]
	d.held[0] = held{}
	d.held = d.held[1:]
	d.heldBytes -= len(h.data)
	a.held -= len(h.data)
	if len(d.held) == 0 {
		d.held = nil
	}
	return h
}
