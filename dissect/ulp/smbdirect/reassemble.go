package smbdirect

// MaxKept is how many octets of an upper-layer message a Reassembler keeps where
// it is fragmented: the headers of a few compounded commands.
const MaxKept = 2048

// A Message is an upper-layer message that came in one or more data transfers.
type Message struct {
	Data      []byte // its first octets, as far as they are there; valid until the next Add
	Size      uint64 // octets of all of it
	Fragments int
	Broken    bool // fragments are missing, or do not fit
}

// A Reassembler joins the fragments of the data transfers of one direction
// (MS-SMBD, section 3.1.5.8). Its memory is bounded by MaxKept.
type Reassembler struct {
	kept      []byte
	size      uint64
	fragments int
	remaining uint32
	cut       bool // octets are missing behind what is kept
	broken    bool
}

// Waiting returns how many octets are still to come of the message that has
// begun, and how many fragments it has so far; 0, 0 where none has.
func (r *Reassembler) Waiting() (octets uint32, fragments int) {
	return r.remaining, r.fragments
}

// Reset forgets the message that has begun, as when messages were lost.
func (r *Reassembler) Reset() {
	*r = Reassembler{kept: r.kept[:0]}
}

// Add takes a data transfer and what of its data is there, and says whether it
// ends a message. One without data changes nothing.
func (r *Reassembler) Add(t *Transfer, data []byte) (m Message, done bool) {
	if t.DataLength == 0 {
		return Message{}, false
	}
	if r.fragments == 0 && t.Remaining == 0 {
		return Message{Data: data, Size: uint64(t.DataLength), Fragments: 1}, true
	}
	if r.fragments > 0 && uint64(t.DataLength)+uint64(t.Remaining) != uint64(r.remaining) {
		// The one before was not finished, or some of this one is missing: which
		// of the two, the next header tells, so begin again with this fragment.
		r.Reset()
		r.broken = true
		if t.Remaining == 0 {
			m = Message{Data: data, Size: uint64(t.DataLength), Fragments: 1, Broken: true}
			r.Reset()
			return m, true
		}
	}
	r.fragments++
	r.size += uint64(t.DataLength)
	r.remaining = t.Remaining
	if !r.cut {
		n := min(len(data), MaxKept-len(r.kept))
		r.kept = append(r.kept, data[:n]...)
		r.cut = uint64(n) < uint64(t.DataLength)
	}
	if t.Remaining > 0 {
		return Message{}, false
	}
	m = Message{Data: r.kept, Size: r.size, Fragments: r.fragments, Broken: r.broken}
	r.Reset()
	return m, true
}
