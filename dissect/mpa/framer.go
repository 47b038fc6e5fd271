package mpa

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
	head    []byte // first octets of the current FPDU, Markers taken out; nil until one is gathered
	bad     bool   // pending holds an FPDU with a wrong CRC
	trusted bool   // its length is right, whatever follows
	pending *FPDU  // not handed out until the header behind it is seen
	pendULP []byte // its ULPDU
	misses  int    // FPDUs whose CRC was wrong while it is not known whether CRCs are used

	search    *search // while searching
	replaying bool    // what was held is framed, and nothing is searched meanwhile
	aligned   bool    // FPDUs start at offsets that are align mod 4
	align     uint64
	phased    bool // phase is known
	budget    *Budget
	origin    uint64 // where the first FPDU starts, where fromStart
	fromStart bool
	mask      uint16 // of Protocol.Control
	control   uint16
	counts    Counts
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
	endLost bool
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
	f.keeper, _ = c.Protocol.(Keeper)
	f.mask, f.control = f.p.Control()
	if c.Start {
		f.phase = c.Off % MarkerSpacing
		f.phased = true
		f.align, f.aligned = c.Off%4, true
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
	f.restart()
	f.trySearch(false)
	if f.mode == searching && f.fromStart && f.off == f.origin && f.markers != Unknown {
		f.mode = framing // nothing has come yet
		f.budget.release(f.search)
		f.search = nil
	}
}

// Recognised tells that the stream is iWARP for certain: less proof is asked
// for, and a stream that was given up is searched again.
func (f *Framer) Recognised() {
	f.iwarp = true
	if f.mode == given {
		f.startSearch()
	}
	f.restart()
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
