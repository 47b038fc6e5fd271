package report

import (
	"slices"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/qp"
)

// Limits on the FPDUs that are kept until the message that they belong to is
// complete. What is above them is counted, not shown.
const (
	maxStreamFPDUs = 1 << 10 // of a direction
	maxStoreFPDUs  = 1 << 16 // of all: about 12 MB
)

// An fpduStore keeps FPDUs whose message is not complete yet.
type fpduStore struct {
	sides map[fpduKey][]qp.FPDU
	n     int
}

type fpduKey struct {
	conn *qp.Conn
	side qp.Side
}

// add keeps an FPDU, without its octets. Where there is no room for it in its
// direction the oldest goes: its message may never come.
func (s *fpduStore) add(f *qp.FPDU) {
	if s.sides == nil {
		s.sides = map[fpduKey][]qp.FPDU{}
	}
	k := fpduKey{f.Conn, f.Side}
	list := s.sides[k]
	switch {
	case len(list) >= maxStreamFPDUs:
		list = slices.Delete(list, 0, len(list)-maxStreamFPDUs+1)
	case s.n >= maxStoreFPDUs:
		return
	default:
		s.n++
	}
	list = append(list, *f)
	list[len(list)-1].ULPDU = nil // valid during the call only
	s.sides[k] = list
}

// take returns the FPDUs of a message in the order in which they came, and how
// many of it are not there, and forgets them.
func (s *fpduStore) take(m *qp.Message) (fpdus []qp.FPDU, left int) {
	k := fpduKey{m.Conn, m.Side}
	list := s.sides[k]
	keep := list[:0]
	for i := range list {
		if f := &list[i]; f.Off >= m.Off && f.Off < m.End && sameMessage(f, m) {
			fpdus = append(fpdus, *f)
		} else {
			keep = append(keep, *f)
		}
	}
	s.n -= len(list) - len(keep)
	if len(keep) == 0 {
		delete(s.sides, k)
	} else {
		clear(list[len(keep):])
		s.sides[k] = keep
	}
	return fpdus, max(0, m.FPDUs-len(fpdus))
}

// forget forgets the FPDUs of a connection.
func (s *fpduStore) forget(c *qp.Conn) {
	for side := range qp.Side(2) {
		k := fpduKey{c, side}
		s.n -= len(s.sides[k])
		delete(s.sides, k)
	}
}

// sameMessage says that an FPDU between the first and the last of a message is
// of it, and not of another that was open at the same time.
func sameMessage(f *qp.FPDU, m *qp.Message) bool {
	switch {
	case f.Op != m.Op || f.Header.Tagged != m.Header.Tagged:
		return false
	case f.Header.Tagged:
		return f.Header.STag == m.Header.STag
	}
	return f.Header.QN == m.Header.QN && f.Header.MSN == m.Header.MSN
}

const crcLen = 4 // RFC 5044, section 4.4

// fpduTree appends the fields of an FPDU (RFC 5044, section 4). Octets are
// counted from ULPDU_Length on, Markers left out.
func (t *Text) fpduTree(f *qp.FPDU) {
	t.line(0, -1, 0, "FPDU at TCP sequence number %d (RFC 5044, section 4), frames %d to %d, found by %s", f.Seq, f.First.Frame, f.Last.Frame, f.Found)
	t.line(1, 0, 2, "ULPDU_Length: %d", f.Length)
	t.headerTree(1, 2, &f.Header)
	if n := f.Length - f.Header.Len(); n > 0 {
		t.line(1, 2+f.Header.Len(), n, "Behind the DDP header: %s", count(uint64(n), "octet"))
	}
	end := 2 + f.Length
	if pad := -end & 3; pad > 0 {
		t.line(1, end, pad, "PAD: %s", count(uint64(pad), "octet"))
		end += pad
	}
	switch f.CRC {
	case mpa.CRCOK:
		t.line(1, end, crcLen, "CRC32c: 0x%08x, ok", f.CRCWire)
	case mpa.CRCBad:
		t.line(1, end, crcLen, "CRC32c: 0x%08x, BAD, should be 0x%08x", f.CRCWire, f.CRCCalc)
	case mpa.CRCOff:
		t.line(1, end, crcLen, "CRC32c: not in use")
	default:
		t.line(1, end, crcLen, "CRC32c: not checked, since not every octet was captured")
	}
	if f.Markers > 0 {
		t.line(1, -1, 0, "Markers: %d of 4 octets each, wherever the stream's position calls for one", f.Markers)
	}
}
