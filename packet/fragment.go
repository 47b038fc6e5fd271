package packet

import (
	"bytes"
	"container/list"
	"encoding/binary"
	"slices"

	"github.com/iwdump/iwdump/capture"
)

// An ipHeader is what the headers of an IP packet say, extension headers of IPv6
// included.
type ipHeader struct {
	proto  byte
	off    int // where what they are in front of begins
	end    int // where the packet ends
	key    fragmentKey
	offset int    // of a fragment, in octets
	more   bool   // fragments follow
	header []byte // of the packet without a fragment header
}

// parseIP takes the headers apart with which f begins.
func parseIP(f *capture.Frame) (h ipHeader, ok bool) {
	b := f.Data
	if len(b) < minIPv4 {
		return h, false
	}
	if b[0]>>4 == 4 {
		h.proto, h.off = b[9], int(b[0]&0x0f)*4
		if h.end = int(binary.BigEndian.Uint16(b[2:])); h.end == 0 || h.end > f.Len && badHeader(b, h.off) {
			h.end = f.Len
		}
		h.key = fragmentKey{id: uint32(binary.BigEndian.Uint16(b[4:])), proto: h.proto, version: 4}
		copy(h.key.src[:], b[12:16])
		copy(h.key.dst[:], b[16:20])
		field := binary.BigEndian.Uint16(b[6:])
		h.offset, h.more = int(field&0x1fff)*8, field&0x2000 != 0
		if h.off < minIPv4 || h.off > len(b) || h.off > h.end {
			return h, false
		}
		h.header = b[:h.off]
		return h, true
	}
	return parseIPv6(f)
}

func parseIPv6(f *capture.Frame) (h ipHeader, ok bool) {
	b := f.Data
	if len(b) < minIPv6 {
		return h, false
	}
	h.off, h.proto = minIPv6, b[6]
	if h.end = minIPv6 + int(binary.BigEndian.Uint16(b[4:])); h.end == minIPv6 {
		h.end = f.Len
	}
	h.key = fragmentKey{src: [16]byte(b[8:]), dst: [16]byte(b[24:]), version: 6}
	before := 6 // where the number of what comes next stands
	for {
		var size int
		switch h.proto {
		case protoHopByHop, protoRouting, protoDestination, protoMobility, protoHIP, protoShim6, protoFragment, protoAH:
			if len(b) < h.off+8 || h.end < h.off+8 {
				return h, false
			}
			size = (int(b[h.off+1]) + 1) * 8
		default:
			return h, true
		}
		switch h.proto {
		case protoAH:
			size = (int(b[h.off+1]) + 2) * 4
		case protoFragment:
			size = 8
			field := binary.BigEndian.Uint16(b[h.off+2:])
			if field&0xfff9 == 0 {
				break // it is the whole packet
			}
			h.offset, h.more = int(field&0xfff8), field&1 != 0
			h.key.id = binary.BigEndian.Uint32(b[h.off+4:])
			h.header = slices.Clone(b[:h.off])
			h.header[before] = b[h.off]
			h.proto = b[h.off]
			h.off += 8
			return h, true
		}
		before = h.off
		h.proto = b[h.off]
		h.off += size
	}
}

// Limits on fragments that are remembered. Where one is met the oldest packet
// is given up, and counted.
const (
	maxFragmented     = 1024    // packets of which something is missing
	maxFragmentOctets = 4 << 20 // of all of them, with an overhead for each
	maxPieces         = 256     // fragments of one packet
	fragmentTime      = 30e9    // ns from its first fragment on, as in Linux
	pieceOverhead     = 64
)

// FragmentCounts says what became of the fragments of IP packets.
type FragmentCounts struct {
	Fragments   uint64 // frames that held one
	Reassembled uint64 // packets that were put together
	Dropped     uint64 // packets that were given up: too old, too many, or in contradiction
	Pending     uint64 // packets that still lack something
}

// FragmentCounts returns the counts so far.
func (d *Decoder) FragmentCounts() FragmentCounts {
	c := d.fragments.counts
	c.Pending = uint64(len(d.fragments.packets))
	return c
}

// fragments puts IP packets together from fragments (RFC 791, section 3.2; RFC
// 8200, section 4.5). A fragment that was seen before is ignored. Others that
// overlap make the whole packet be given up in IPv6 (RFC 5722), in IPv4 only if
// they differ, since receivers there do not agree on what to do.
type fragments struct {
	packets map[fragmentKey]*list.Element // of order
	order   list.List                     // of *fragmented, the oldest first
	octets  int
	counts  FragmentCounts
}

type fragmentKey struct {
	src, dst [16]byte
	id       uint32
	proto    byte // 0 in IPv6, where the identification is enough
	version  byte
}

// A fragmented is a packet of which something is missing.
type fragmented struct {
	key    fragmentKey
	start  int64  // time of the first fragment
	header []byte // of the fragment at offset 0, ready for the whole packet
	pieces []piece
	octets int // of pieces, on the wire
	total  int // -1 until the last one was seen
	cost   int
	bad    bool // in contradiction; what comes of it is thrown away
}

// A piece is a fragment: n octets from off on, of which data were captured.
type piece struct {
	off, n int
	data   []byte
}

// add takes the fragment that f is. It returns the packet that it completes.
// f holds it from its IP header on, which has been checked.
func (r *fragments) add(f *capture.Frame) (whole capture.Frame, ok bool) {
	h, ok := parseIP(f)
	if !ok {
		return whole, false
	}
	r.counts.Fragments++
	n := h.end - h.off
	if n <= 0 || h.more && n%8 != 0 || h.offset+n+len(h.header) > 1<<16-1+minIPv6 {
		return whole, false
	}
	r.expire(f.Time)
	e := r.packets[h.key]
	if e == nil {
		e = r.begin(h.key, f)
	}
	p := e.Value.(*fragmented)
	if p.bad {
		return whole, false
	}
	now := piece{off: h.offset, n: n, data: f.Data[min(h.off, len(f.Data)):min(h.end, len(f.Data))]}
	end := now.off + n
	if last := len(p.pieces) - 1; p.total >= 0 && (end > p.total || !h.more && end != p.total) ||
		!h.more && last >= 0 && p.pieces[last].end() > end {
		r.spoil(p)
		return whole, false
	}
	fresh, agrees := p.missing(now)
	overlaps := len(fresh) != 1 || fresh[0].n != n
	if len(fresh) == 0 && agrees && (h.key.version == 4 || p.holds(now)) {
		return whole, false // seen before
	}
	if !agrees || overlaps && h.key.version == 6 || len(p.pieces)+len(fresh) > maxPieces {
		r.spoil(p)
		return whole, false
	}
	if !h.more {
		p.total = end
	}
	if now.off == 0 {
		p.header = slices.Clone(h.header)
	}
	for _, q := range fresh {
		q.data = slices.Clone(q.data)
		at, _ := slices.BinarySearchFunc(p.pieces, q.off, func(q piece, off int) int { return q.off - off })
		p.pieces = slices.Insert(p.pieces, at, q)
		p.octets += q.n
		cost := len(q.data) + pieceOverhead
		p.cost += cost
		r.octets += cost
	}
	if p.total < 0 || p.octets < p.total {
		r.limit()
		return whole, false
	}
	r.remove(e)
	r.counts.Reassembled++
	return p.whole(f, h.key.version), true
}

// begin begins a packet.
func (r *fragments) begin(key fragmentKey, f *capture.Frame) *list.Element {
	if r.packets == nil {
		r.packets = map[fragmentKey]*list.Element{}
	}
	p := &fragmented{key: key, start: f.Time, total: -1, cost: 4 * pieceOverhead}
	e := r.order.PushBack(p)
	r.packets[key] = e
	r.octets += p.cost
	return e
}

// remove forgets a packet.
func (r *fragments) remove(e *list.Element) {
	p := r.order.Remove(e).(*fragmented)
	delete(r.packets, p.key)
	r.octets -= p.cost
}

// drop gives the oldest packet up.
func (r *fragments) drop() {
	e := r.order.Front()
	if !e.Value.(*fragmented).bad { // else it was counted
		r.counts.Dropped++
	}
	r.remove(e)
}

// expire gives up what is too old at time now. Captures may jump in time.
func (r *fragments) expire(now int64) {
	for e := r.order.Front(); e != nil; e = r.order.Front() {
		if start := e.Value.(*fragmented).start; now-start <= fragmentTime && start-now <= fragmentTime {
			return
		}
		r.drop()
	}
}

// limit gives up what is too much.
func (r *fragments) limit() {
	for len(r.packets) > maxFragmented || r.octets > maxFragmentOctets {
		r.drop()
	}
}

func (q *piece) end() int { return q.off + q.n }

// part is what of q lies in [lo, hi).
func (q *piece) part(lo, hi int) piece {
	from, to := min(lo-q.off, len(q.data)), min(hi-q.off, len(q.data))
	return piece{off: lo, n: hi - lo, data: q.data[from:to]}
}

// holds says whether there is a piece of the same extent.
func (p *fragmented) holds(now piece) bool {
	return slices.ContainsFunc(p.pieces, func(q piece) bool { return q.off == now.off && q.n == now.n })
}

// missing returns the parts of now that are not there yet, and whether the
// others are the same as those that are.
func (p *fragmented) missing(now piece) (fresh []piece, agrees bool) {
	at, end := now.off, now.end()
	for i := range p.pieces {
		q := &p.pieces[i]
		if q.end() <= at {
			continue
		}
		if q.off >= end {
			break
		}
		if q.off > at {
			fresh = append(fresh, now.part(at, q.off))
		}
		lo, hi := max(at, q.off), min(end, q.end())
		a, b := q.part(lo, hi).data, now.part(lo, hi).data
		if n := min(len(a), len(b)); !bytes.Equal(a[:n], b[:n]) {
			return nil, false
		}
		at = hi
	}
	if at < end {
		fresh = append(fresh, now.part(at, end))
	}
	return fresh, true
}

// whole is the packet, as a frame in memory of its own. What was captured of it
// ends where the first octet is missing.
func (p *fragmented) whole(f *capture.Frame, version byte) capture.Frame {
	data := make([]byte, 0, len(p.header)+p.octets)
	data = append(data, p.header...)
	for _, q := range p.pieces {
		data = append(data, q.data...)
		if len(q.data) < q.n {
			break
		}
	}
	if n := len(p.header) + p.total; version == 4 {
		binary.BigEndian.PutUint16(data[2:], uint16(n))
		clear(data[6:8])   // flags and offset
		clear(data[10:12]) // the checksum, which was that of a fragment
	} else {
		binary.BigEndian.PutUint16(data[4:], uint16(n-minIPv6))
	}
	w := *f
	w.Data, w.Len, w.Link = data, len(p.header)+p.total, capture.LinkRaw
	return w
}

// spoil gives the octets of p up, but remembers it, so that what is yet to
// come of it is not taken for another packet.
func (r *fragments) spoil(p *fragmented) {
	r.counts.Dropped++
	p.bad = true
	for _, q := range p.pieces {
		n := len(q.data) + pieceOverhead
		p.cost -= n
		r.octets -= n
	}
	p.pieces = nil
	r.limit()
}
