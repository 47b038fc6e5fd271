package mpa

import (
	"encoding/binary"
	"hash/crc32"
)

// Use says whether a direction of a stream uses Markers, or CRCs.
type Use uint8

const (
	Unknown Use = iota // to be found from the data
	On
	Off
)

// A Protocol judges what is in a ULPDU, for a Framer that has to tell an FPDU
// from any other octets. Package rdmap has one for DDP.
type Protocol interface {
	// Control tells the bits that are the same in the first two octets of
	// every ULPDU: those of mask, and their value.
	Control() (mask, value uint16)
	// Evidence weighs a candidate: ulpdu is the start of its ULPDU, two octets
	// or more, and length its ULPDU_Length. It returns 0 where this is none,
	// else in how many bits it differs from random octets.
	Evidence(ulpdu []byte, length int) int
	// Follows weighs b as the FPDU directly behind a, in bits; less than 0
	// where it can't be.
	Follows(a []byte, alen int, b []byte, blen int) int
}

// A Keeper is a Protocol that wants more of some ULPDUs than Config.Keep.
type Keeper interface {
	// Keep says how many octets of the ULPDU that starts with first, two
	// octets, are to be handed out at least, where captured.
	Keep(first []byte) int
}

// A Handler takes what a Framer finds. What it is given is valid during the
// call.
type Handler interface {
	FPDU(*FPDU)
	Notice(*Notice)
}

// NoticeKind says what a Notice is about.
type NoticeKind uint8

const (
	// NoticeLost: the chain of FPDUs is broken at Off.
	NoticeLost NoticeKind = iota
	// NoticeResync: it goes on at Off, behind Len octets that could not be
	// framed (or were not captured). It comes in front of the FPDU at Off.
	NoticeResync
	// NoticeSkipped: Len captured octets from Off could not be framed.
	NoticeSkipped
	// NoticeMarker: the Marker at Off says Got where Want is right.
	NoticeMarker
)

// A Notice is what a Framer has to tell besides FPDUs.
type Notice struct {
	Kind      NoticeKind
	Off       uint64
	Seq       uint32
	Len       uint64
	Stamp     Stamp
	Found     Found  // NoticeResync
	Want, Got uint16 // NoticeMarker
	// Header is, of NoticeLost, the octets found where a header must be; nil
	// where they were not captured.
	Header []byte
}

// A Chunk is a run of octets of one direction, in order.
type Chunk struct {
	Data []byte
	Stamp
	Retrans bool // some of it had been sent before
	// Doubt tells whether the receiver threw the octets away; nil where it
	// took them.
	Doubt Doubt
}

// A Doubt tells of a chunk whether its receiver threw it away since its TCP
// checksum is wrong. It is asked only where the octets look damaged.
type Doubt interface{ Damaged() bool }

// Config says what is known of a direction.
type Config struct {
	Protocol Protocol
	Markers  Use
	CRC      Use
	// Start says that an FPDU (or the Marker in front of it) starts at the
	// first octet. Without it the Framer searches.
	Start bool
	// IWARP says that the stream is iWARP for certain, though its startup was
	// not seen: less proof is asked for.
	IWARP bool
	// Keep is how many octets of each ULPDU are handed out at least, where
	// captured. 0 is 72: all headers of RFC 5040, 5041 and 7306.
	Keep int
	// Off and Seq are the offset and the sequence number of the first octet.
	Off uint64
	Seq uint32
	// Budget limits what is held while the Framer searches, together with
	// other Framers. nil is a limit of its own.
	Budget *Budget
}

const defaultKeep = 72

// Counts says what became of the octets of a direction.
type Counts struct {
	Framed  uint64 // captured, part of an FPDU
	Skipped uint64 // captured, not part of an FPDU
	Missing uint64 // not captured
}

// A Framer turns one direction of a stream into FPDUs. It is a state machine
// over slices: it gathers headers, runs the CRC as octets come, and keeps no
// payload but while it searches.
type Framer struct {
	h        Handler
	p        Protocol
	markers  Use
	crc      Use
	iwarp    bool
	found    Found
	inferred bool // markers or crc were found from the data
	guessed  bool // markers were found so, and may be wrong
	proof    int  // octets of FPDUs in a row that agree with the guess
	keep     int
	keeper   Keeper // nil: keep holds for all
	mode     mode

	off   uint64 // of the next octet
	seq   uint32 // of offset 0
	phase uint64 // a Marker stands where (off-phase)%512 is 0

	cur     partial
	head    []byte // first octets of the current FPDU, Markers taken out
	bad     bool   // pending holds an FPDU with a wrong CRC
	trusted bool   // its length is right, whatever follows
	pending FPDU   // not handed out until the header behind it is seen
	pendULP []byte // its ULPDU
	misses  int    // FPDUs whose CRC was wrong while it is not known whether CRCs are used
	out     FPDU
	note    Notice

	search, spare search
	budget        *Budget
	origin        uint64 // where the first FPDU starts, where fromStart
	fromStart     bool
	mask, control uint16 // of Protocol.Control
	counts        Counts
}

type mode uint8

const (
	framing mode = iota
	searching
	given // up: this is not iWARP
)

// partial is what is known of an FPDU that is not complete. It is copied where
// a chunk may have to be given back.
type partial struct {
	start   uint64 // of ULPDU_Length
	lead    bool   // a Marker stands directly before it
	need    int    // octets without Markers; 0 until the length is known
	length  int
	got     int // of them, those behind us
	nhead   int // gathered
	keep    int // of length field and ULPDU, to be gathered
	crc     uint32
	field   [crcLen]byte
	marker  [MarkerLen]byte
	markers int
	missing int // octets, Markers included
	wire    int // octets behind us, Markers included
	retrans bool
	first   Stamp
}

// NewFramer returns a Framer that hands what it finds to h.
func NewFramer(h Handler, c Config) *Framer {
	f := &Framer{h: h, p: c.Protocol, markers: c.Markers, crc: c.CRC, iwarp: c.IWARP || c.Start,
		keep: c.Keep, off: c.Off, seq: c.Seq - uint32(c.Off), found: FoundStart,
		budget: c.Budget, origin: c.Off, fromStart: c.Start}
	if f.budget == nil {
		f.budget = new(Budget)
	}
	if f.keep <= 0 {
		f.keep = defaultKeep
	}
	f.head = make([]byte, 2+f.keep)
	f.keeper, _ = c.Protocol.(Keeper)
	f.mask, f.control = f.p.Control()
	if c.Start {
		f.phase = c.Off % MarkerSpacing
		f.search.phased = true
		f.search.align, f.search.aligned = c.Off%4, true
		if c.Markers == Unknown {
			f.startSearch()
		}
	} else {
		f.startSearch()
	}
	return f
}

// Learn sets what a startup frame says of the direction.
func (f *Framer) Learn(markers, crc Use) {
	if f.markers == Unknown || f.mode != framing {
		f.markers = markers
	}
	if f.crc == Unknown || f.mode != framing {
		f.crc = crc
	}
	f.search.next = 0
	f.trySearch(false)
	if f.mode == searching && f.fromStart && f.off == f.origin && f.markers != Unknown {
		f.mode = framing // nothing has come yet
	}
}

// Recognised tells that the stream is iWARP for certain: less proof is asked
// for, and a stream that was given up is searched again.
func (f *Framer) Recognised() {
	f.iwarp = true
	if f.mode == given {
		f.startSearch()
	}
	f.search.next = 0
}

// Counts tells what became of the octets so far. Octets of an FPDU that is not
// complete, and octets that are held for a search, are in none of them yet;
// after Flush all are.
func (f *Framer) Counts() Counts { return f.counts }

// Uses tells whether the direction uses Markers and CRCs, as far as is known.
func (f *Framer) Uses() (markers, crc Use, inferred bool) { return f.markers, f.crc, f.inferred }

// Locked says that the Framer knows where FPDUs start.
func (f *Framer) Locked() bool { return f.mode == framing }

// Push takes the next octets. It returns how many it accepts: less than
// len(c.Data) only where c.Doubt says that they are damaged; the rest, when it
// comes again, is to be pushed in their place.
func (f *Framer) Push(c *Chunk) int {
	switch f.mode {
	case given:
		f.off += uint64(len(c.Data))
		f.counts.Skipped += uint64(len(c.Data))
		return len(c.Data)
	case searching:
		f.hold(c)
		f.trySearch(false)
		return len(c.Data)
	}
	saved, savedOff := f.cur, f.off // to go back to, where an FPDU is under way
	boundary := 0                   // octets of c in front of the current FPDU
	badAt := -1                     // where in c the pending FPDU starts
	for b := c.Data; len(b) > 0; {
		if f.cur.wire == 0 {
			boundary = len(c.Data) - len(b)
			n := 0
			if f.markers == Off {
				n = f.whole(b, c)
			} else {
				n = f.wholeMarked(b, c)
			}
			if n > 0 {
				b = b[n:]
				continue
			}
		}
		n, ok := f.step(b, c)
		b = b[n:]
		if ok {
			continue
		}
		// The current FPDU is damaged, or this is none.
		began := f.off-uint64(f.cur.wire) >= savedOff
		if c.Doubt != nil && c.Doubt.Damaged() {
			return f.giveBack(began, boundary, saved, savedOff)
		}
		switch known := f.cur.need > 0; {
		case known && !f.guessed:
			if badAt = -1; began {
				badAt = boundary
			}
			f.deferBad(len(b) == 0)
			continue
		case known && began:
			// The guess may be wrong as well as the FPDU.
			f.off -= uint64(f.cur.wire)
			f.cur = partial{}
			b = c.Data[boundary:]
		case known:
			f.swallow(c.Stamp)
		}
		if f.bad && !f.trusted && badAt >= 0 {
			// Neither the CRC nor what follows speaks for its length: what
			// it swallowed is searched again.
			f.off -= uint64(f.cur.wire + f.pending.Lead + f.pending.Wire)
			f.bad, f.cur = false, partial{}
			b = c.Data[badAt:]
		}
		f.lose(c.Stamp, false)
		f.hold(&Chunk{Data: b, Stamp: c.Stamp, Retrans: c.Retrans})
		f.trySearch(false)
		return len(c.Data)
	}
	if f.cur.wire > 0 && f.crc == On && c.Doubt != nil && c.Doubt.Damaged() {
		began := f.off-uint64(f.cur.wire) >= savedOff
		return f.giveBack(began, boundary, saved, savedOff)
	}
	return len(c.Data)
}

// giveBack forgets the current FPDU, or what this chunk added to it.
func (f *Framer) giveBack(began bool, boundary int, saved partial, savedOff uint64) int {
	f.off = savedOff
	if !began {
		f.cur = saved
		return 0
	}
	f.off += uint64(boundary)
	f.cur = partial{}
	return boundary
}

// whole takes an FPDU that lies in b as a whole, without Markers, and is good.
// It returns 0 for all else.
func (f *Framer) whole(b []byte, c *Chunk) int {
	if len(b) < 2 {
		return 0
	}
	length := int(binary.BigEndian.Uint16(b))
	n := size(length)
	if length < MinLength || length > MaxLength || len(b) < n {
		return 0
	}
	ulpdu := b[2 : 2+length : 2+length]
	if !f.good(b[:n], ulpdu, length) {
		return 0
	}
	f.take(c, 0, n, length, ulpdu, 0)
	return n
}

// good verifies an FPDU, from the Marker directly in front of it, if there is
// one, to its CRC.
func (f *Framer) good(b, ulpdu []byte, length int) bool {
	o := &f.out
	wire := binary.LittleEndian.Uint32(b[len(b)-crcLen:])
	switch f.crc {
	case On:
		calc := crc32.Update(0, castagnoli, b[:len(b)-crcLen])
		if calc != wire {
			return false
		}
		o.CRC, o.CRCWire, o.CRCCalc = CRCOK, wire, calc
		return true
	case Off:
		o.CRC, o.CRCWire, o.CRCCalc = CRCOff, wire, 0
		return f.p.Evidence(ulpdu, length) > 0
	}
	return false
}

// guessProof is how many octets in a row must agree with a guess about Markers
// until it is taken for granted: there would be a Marker among them, or one in a
// wrong place.
const guessProof = 2 * MarkerSpacing

// prove counts an FPDU that agrees with a guess about Markers.
func (f *Framer) prove(o *FPDU) {
	if !o.Complete || o.CRC == CRCUnchecked {
		f.proof = 0
		return
	}
	if f.proof += o.Lead + o.Wire; f.proof >= guessProof {
		f.guessed = false
	}
}

// swallow counts the current FPDU as octets that could not be framed.
func (f *Framer) swallow(at Stamp) {
	n := uint64(f.cur.wire - f.cur.missing)
	f.counts.Skipped += n
	f.counts.Missing += uint64(f.cur.missing)
	f.skipped(f.off-uint64(f.cur.wire), n, at)
	f.cur = partial{}
}

// take hands out an FPDU that lay in c as a whole: n octets, the first lead of
// them the Marker in front of it.
func (f *Framer) take(c *Chunk, lead, n, length int, ulpdu []byte, markers int) {
	if f.bad {
		f.emitBad()
	}
	o := &f.out
	start := f.off + uint64(lead)
	o.Off = start
	o.Seq = f.seq + uint32(start)
	o.Length = length
	o.ULPDU = ulpdu
	o.Wire = n - lead
	o.Lead = lead
	o.Markers = markers
	o.First = c.Stamp
	o.Last = c.Stamp
	o.Complete = true
	o.Retrans = c.Retrans
	o.Found = f.found
	if f.found > FoundChain {
		f.found = FoundChain
	}
	f.off += uint64(n)
	f.counts.Framed += uint64(n)
	if f.guessed {
		f.prove(o)
	}
	f.h.FPDU(o)
}

// wholeMarked is whole for a direction with Markers.
func (f *Framer) wholeMarked(b []byte, c *Chunk) int {
	lead := 0
	if (f.off-f.phase)%MarkerSpacing == 0 {
		lead = MarkerLen
	}
	if f.markers != On || len(b) < lead+2 {
		return 0
	}
	length := int(binary.BigEndian.Uint16(b[lead:]))
	first := int((f.phase - f.off - uint64(lead)) % MarkerSpacing) // distance of the first Marker inside
	n := lead + wireSize((f.off-f.phase)%MarkerSpacing+uint64(lead), size(length))
	if length < MinLength || length > MaxLength || len(b) < n {
		return 0
	}
	b = b[:n]
	markers := lead / MarkerLen
	if lead > 0 && binary.BigEndian.Uint16(b[2:])&^3 != 0 {
		return 0
	}
	for at := first; lead+at < n; at += MarkerSpacing {
		if binary.BigEndian.Uint16(b[lead+at+2:])&^3 != uint16(at) {
			return 0
		}
		markers++
	}
	ulpdu := b[lead+2 : lead+min(first, 2+length)]
	if len(ulpdu) < min(f.keep, length) || f.keeper != nil && len(ulpdu) < min(f.wants(ulpdu), length) {
		ulpdu = f.unmarked(b[lead:], first, length)
	}
	if !f.good(b, ulpdu, length) {
		return 0
	}
	f.take(c, lead, n, length, ulpdu, markers)
	return n
}

// unmarked copies the first octets of the ULPDU of the FPDU in b, Markers left
// out, the first of which is at first.
func (f *Framer) unmarked(b []byte, first, length int) []byte {
	want := 2 + min(f.keep, length)
	if f.keeper != nil && first >= 4 {
		want = 2 + min(f.wants(b[2:4]), length)
	}
	f.grow(want)
	n := copy(f.head[:want], b[:min(first, want)])
	for b = b[first+MarkerLen:]; n < want; b = b[min(len(b), MarkerSpacing):] {
		n += copy(f.head[n:want], b[:min(len(b), MarkerSpacing-MarkerLen)])
	}
	return f.head[2:want]
}

// wants is how many octets are kept of the ULPDU that starts with first.
func (f *Framer) wants(first []byte) int {
	if len(first) < 2 {
		return f.keep
	}
	return max(f.keep, f.keeper.Keep(first[:2]))
}

// grow makes room for n gathered octets.
func (f *Framer) grow(n int) {
	if n > len(f.head) {
		f.head = append(f.head, make([]byte, n-len(f.head))...)
	}
}

// step takes the next run of octets that are all of one kind, Marker or not,
// and all of one FPDU. It returns their number, and false where the octets
// can't be an FPDU or the CRC is wrong.
func (f *Framer) step(b []byte, c *Chunk) (int, bool) {
	p := &f.cur
	if p.wire == 0 {
		p.first = c.Stamp
		p.start = f.off
	}
	p.retrans = p.retrans || c.Retrans
	if f.markers == On {
		at := int((f.off - f.phase) % MarkerSpacing)
		if at < MarkerLen {
			b = b[:min(len(b), MarkerLen-at)]
			copy(p.marker[at:], b)
			f.update(b)
			if p.got == 0 && p.wire == 0 {
				p.lead = true
			}
			if p.lead && p.got == 0 {
				p.start = f.off - uint64(at) + MarkerLen
			}
			f.advance(len(b))
			if at+len(b) == MarkerLen {
				p.markers++
				return len(b), f.checkMarker(c.Stamp) || !f.guessed
			}
			return len(b), true
		}
		b = b[:min(len(b), MarkerSpacing-at)]
	}
	return f.data(b, c)
}

func (f *Framer) advance(n int) {
	f.off += uint64(n)
	f.cur.wire += n
}

func (f *Framer) update(b []byte) {
	if f.crc != Off {
		f.cur.crc = crc32.Update(f.cur.crc, castagnoli, b)
	}
}

// data takes octets that are no Marker.
func (f *Framer) data(b []byte, c *Chunk) (int, bool) {
	p := &f.cur
	if p.need == 0 {
		n := copy(f.head[p.got:4], b)
		f.update(b[:n])
		p.got += n
		p.nhead += n
		f.advance(n)
		if p.got < 4 {
			return n, true
		}
		p.length = int(binary.BigEndian.Uint16(f.head))
		if p.length < MinLength || p.length > MaxLength || f.p.Evidence(f.head[2:4], p.length) <= 0 {
			return n, false
		}
		if f.bad {
			f.emitBad()
		}
		p.need = size(p.length)
		p.keep = len(f.head)
		if f.keeper != nil {
			p.keep = 2 + f.wants(f.head[2:4])
			f.grow(min(p.keep, 2+p.length))
		}
		return n, true
	}
	if body := p.need - crcLen - p.got; body > 0 {
		b = b[:min(len(b), body)]
		f.update(b)
		if end := min(p.keep, len(f.head), 2+p.length); p.nhead == p.got && p.nhead < end {
			p.nhead += copy(f.head[p.nhead:end], b)
		}
	} else {
		b = b[:min(len(b), p.need-p.got)]
		copy(p.field[crcLen-(p.need-p.got):], b)
	}
	p.got += len(b)
	f.advance(len(b))
	if p.got < p.need {
		return len(b), true
	}
	return len(b), f.finish(c.Stamp)
}

// checkMarker compares the Marker that was just taken with where the current
// FPDU starts, and says whether it points there.
func (f *Framer) checkMarker(at Stamp) bool {
	p := &f.cur
	want := uint16(0)
	if p.got > 0 {
		want = uint16(f.off - MarkerLen - p.start)
	}
	got := binary.BigEndian.Uint16(p.marker[2:]) &^ 3
	if got == want || f.guessed {
		return got == want
	}
	f.note = Notice{Kind: NoticeMarker, Off: f.off - MarkerLen, Seq: f.seq + uint32(f.off-MarkerLen), Len: MarkerLen, Stamp: at, Want: want, Got: got}
	f.h.Notice(&f.note)
	return false
}

// finish hands out the FPDU that is complete, and returns false where its CRC
// is wrong.
func (f *Framer) finish(at Stamp) bool {
	p := &f.cur
	o := &f.out
	o.CRCWire = binary.LittleEndian.Uint32(p.field[:])
	o.CRCCalc = p.crc
	o.CRC = f.verdict(o)
	f.fill(o, at)
	if o.CRC == CRCBad {
		return false
	}
	f.emit(o)
	return true
}

// verdict judges the CRC of the current FPDU, and learns from it whether CRCs
// are used at all.
func (f *Framer) verdict(o *FPDU) CRC {
	switch {
	case f.cur.missing > 0 && f.crc == Off:
		o.CRCWire, o.CRCCalc = 0, 0
		return CRCOff
	case f.cur.missing > 0:
		o.CRCWire, o.CRCCalc = 0, 0
		return CRCUnchecked
	case f.crc == Off:
		o.CRCCalc = 0
		return CRCOff
	case o.CRCWire == o.CRCCalc:
		f.crc, f.misses = On, 0
		return CRCOK
	case f.crc == On:
		return CRCBad
	}
	if f.misses++; f.misses >= 3 || o.CRCWire == 0 {
		f.crc = Off
		return CRCOff
	}
	return CRCUnchecked
}

func (f *Framer) fill(o *FPDU, last Stamp) {
	p := &f.cur
	o.Off = p.start
	o.Seq = f.seq + uint32(p.start)
	o.Length = p.length
	o.ULPDU = f.head[2:max(2, min(p.nhead, 2+p.length))]
	o.Lead = 0
	if p.lead {
		o.Lead = MarkerLen
	}
	o.Wire = p.wire - o.Lead
	o.Markers = p.markers
	o.First = p.first
	o.Last = last
	o.Complete = p.missing == 0
	o.Retrans = p.retrans
	o.Found = f.found
}

func (f *Framer) emit(o *FPDU) {
	f.counts.Framed += uint64(f.cur.wire - f.cur.missing)
	f.counts.Missing += uint64(f.cur.missing)
	if f.found > FoundChain {
		f.found = FoundChain
	}
	f.cur = partial{}
	if f.guessed {
		f.prove(o)
	}
	f.h.FPDU(o)
}

// deferBad keeps the FPDU whose CRC is wrong until the header behind it tells
// whether its length can be trusted. One that ends where its segment ends is
// trusted all the same.
func (f *Framer) deferBad(trusted bool) {
	if f.bad {
		f.emitBad()
	}
	f.trusted = trusted
	f.pending = f.out
	f.pendULP = append(f.pendULP[:0], f.out.ULPDU...)
	f.pending.ULPDU = f.pendULP
	f.bad = true
	f.cur = partial{}
}

func (f *Framer) emitBad() {
	f.bad = false
	if f.found > FoundChain {
		f.found = FoundChain
	}
	f.counts.Framed += uint64(f.pending.Lead + f.pending.Wire)
	f.h.FPDU(&f.pending)
}

// Skip takes n octets that are missing.
func (f *Framer) Skip(n uint64, at Stamp) {
	switch f.mode {
	case given:
		f.off += n
		f.counts.Missing += n
		return
	case searching:
		f.holdGap(n)
		return
	}
	for n > 0 && f.mode == framing {
		p := &f.cur
		if p.need == 0 && !f.skipHead(n, at) {
			f.lose(at, true)
			f.holdGap(n)
			return
		}
		k := f.skipRun(n)
		n -= uint64(k)
		p.missing += k
		f.advance(k)
		if p.need > 0 && p.got == p.need {
			f.out.CRCWire, f.out.CRCCalc = 0, 0
			f.finish(at)
		}
	}
}

// skipHead says whether the chain goes on over n missing octets where the next
// header begins: they are of the Marker in front of it, or the length is known.
func (f *Framer) skipHead(n uint64, at Stamp) bool {
	p := &f.cur
	if f.markers == On && p.got == 0 {
		if in := (f.off - f.phase) % MarkerSpacing; in < MarkerLen && n <= MarkerLen-in {
			if p.wire == 0 {
				p.first = at
			}
			p.lead, p.start = true, f.off-in+MarkerLen
			return true
		}
	}
	if p.got < 2 {
		return false
	}
	p.length = int(binary.BigEndian.Uint16(f.head))
	if p.length < MinLength || p.length > MaxLength {
		return false
	}
	if f.bad {
		f.emitBad()
	}
	p.need = size(p.length)
	return true
}

// skipRun counts up to n missing octets of the current FPDU that are all
// Marker or all not, and returns their number.
func (f *Framer) skipRun(n uint64) int {
	p := &f.cur
	k := int(min(n, uint64(max(0, p.need-p.got))))
	if f.markers == On {
		at := int((f.off - f.phase) % MarkerSpacing)
		if at < MarkerLen {
			k = int(min(n, uint64(MarkerLen-at)))
			if at+k == MarkerLen {
				p.markers++
			}
			return k
		}
		k = min(k, MarkerSpacing-at)
	}
	p.got += k
	return k
}

// lose breaks the chain at the current FPDU, and starts a search with what is
// at hand of it. hole says that the header was not captured.
func (f *Framer) lose(at Stamp, hole bool) {
	if f.bad {
		f.emitBad()
	}
	p := f.cur
	f.cur = partial{}
	f.note = Notice{Kind: NoticeLost, Off: f.off - uint64(p.wire), Seq: f.seq + uint32(f.off-uint64(p.wire)), Stamp: at}
	if p.got > 0 && !hole {
		f.note.Off, f.note.Seq, f.note.Header = p.start, f.seq+uint32(p.start), f.head[:p.nhead]
	}
	lead := p.wire - p.got
	if p.missing > 0 {
		// Some of the Marker in front, which is no longer needed.
		f.counts.Missing += uint64(p.missing)
		f.counts.Skipped += uint64(lead - p.missing)
		lead = 0
	}
	f.off -= uint64(lead + p.got)
	f.h.Notice(&f.note)
	if f.guessed {
		f.markers, f.search.phased = Unknown, false // a stretch that agrees proves little
	}
	f.proof = 0
	f.search.align, f.search.aligned = f.off%4, true // all FPDUs are a multiple of 4 octets long
	f.startSearch()
	if lead+p.got > 0 {
		raw := append(make([]byte, 0, MarkerLen+4), p.marker[:lead]...)
		f.hold(&Chunk{Data: append(raw, f.head[:p.got]...), Stamp: p.first, Retrans: p.retrans})
	}
}

// Flush tells that no more will come. What is not complete is handed out as
// far as it is known.
func (f *Framer) Flush(at Stamp) {
	if f.mode == searching {
		f.trySearch(true)
	}
	if f.mode == searching {
		f.drop(f.search.size())
	}
	if p := &f.cur; f.mode == framing && p.wire > 0 {
		if p.need == 0 {
			f.counts.Skipped += uint64(p.wire)
			f.skipped(f.off-uint64(p.wire), uint64(p.wire), at)
		} else {
			// Its last octets never came: they are not counted as missing, for
			// the stream ends before them.
			f.verdictOpen(at)
		}
		f.cur = partial{}
	}
	if f.bad {
		f.emitBad()
	}
	f.mode = given
}

// verdictOpen hands out an FPDU whose end never came.
func (f *Framer) verdictOpen(at Stamp) {
	o := &f.out
	o.CRC, o.CRCWire, o.CRCCalc = CRCUnchecked, 0, 0
	if f.crc == Off {
		o.CRC = CRCOff
	}
	f.fill(o, at)
	o.Wire = wireSize((o.Off-f.phase)%MarkerSpacing, size(o.Length))
	if f.markers != On {
		o.Wire = size(o.Length)
	}
	o.Complete = false
	f.emit(o)
}

func (f *Framer) skipped(off, n uint64, at Stamp) {
	f.note = Notice{Kind: NoticeSkipped, Off: off, Seq: f.seq + uint32(off), Len: n, Stamp: at}
	f.h.Notice(&f.note)
}
