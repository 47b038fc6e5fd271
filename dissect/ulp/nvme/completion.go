package nvme

import "encoding/binary"

// CompletionLen is the length of a completion queue entry.
const CompletionLen = 16

// A Completion is a completion queue entry (NVM Express 2.0, section 3.3.3.2).
type Completion struct {
	Result uint64 // DW0 and DW1
	SQHD   uint16
	SQID   uint16 // reserved over fabrics; controllers write 0 or the queue
	CID    uint16
	Status Status
}

// ParseCompletion parses the entry at the start of b, and returns its length.
func ParseCompletion(b []byte) (c Completion, n int, err error) {
	if len(b) < CompletionLen {
		return Completion{}, 0, ErrShort
	}
	le := binary.LittleEndian
	return Completion{Result: le.Uint64(b), SQHD: le.Uint16(b[8:]), SQID: le.Uint16(b[10:]), CID: le.Uint16(b[12:]), Status: Status(le.Uint16(b[14:]))}, CompletionLen, nil
}

// Append appends the entry to b.
func (c Completion) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint64(b, c.Result)
	b = le.AppendUint16(b, c.SQHD)
	b = le.AppendUint16(b, c.SQID)
	b = le.AppendUint16(b, c.CID)
	return le.AppendUint16(b, uint16(c.Status))
}
