package reassembly

import "github.com/iwdump/iwdump/packet"

// A mark is what a packet and its copies have in common, and a retransmission
// of its octets has not: the identification in IPv4. Where there is none (IPv6,
// or a host that leaves it zero) the TCP header serves, whose timestamps,
// acknowledgment and window may repeat in a retransmission that is quick.
type mark struct {
	ipid uint16
	sum  uint16 // of the TCP header, where ipid is 0
}

const (
	// duplicateTime is how far apart, in ns, two captures of one packet can be.
	duplicateTime = 1e6
	// duplicateTimeSum is the same where there is no identification: less than
	// the round trip that a retransmission takes in nearly all networks.
	duplicateTimeSum = 1e5
)

func markOf(s *packet.Segment) mark {
	if s.IPID != 0 {
		return mark{ipid: s.IPID}
	}
	return mark{sum: s.HeaderSum()}
}

// same says whether two marks, apart ns from one another, are of one packet.
func (m mark) same(o mark, apart int64) bool {
	apart = max(apart, -apart)
	switch {
	case m != o:
		return false
	case m.ipid != 0:
		return apart < duplicateTime
	}
	return m.sum != 0 && apart < duplicateTimeSum
}

// repeats remembers the last segments of a direction that brought nothing new,
// since these too are captured twice.
type repeats struct {
	last [8]repeat
	next int
}

type repeat struct {
	start, end uint64
	mark       mark
	Stamp
}

// repeated looks whether a segment with octets that came before is the copy of
// one that was seen.
func (d *direction) repeated(v *arrival) {
	if v.again == 0 || v.known.same || v.known.differs {
		return
	}
	if d.repeats == nil {
		d.repeats = &repeats{}
	}
	m := markOf(v.s)
	for i := range d.repeats.last {
		if r := &d.repeats.last[i]; r.start == v.start && r.end == v.end && r.mark.same(m, v.at.Time-r.Time) {
			v.known.same, v.known.first = true, r.Stamp
			return
		}
	}
	d.repeats.last[d.repeats.next] = repeat{start: v.start, end: v.end, mark: m, Stamp: v.at}
	d.repeats.next = (d.repeats.next + 1) % len(d.repeats.last)
}
