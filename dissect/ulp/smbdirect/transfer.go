package smbdirect

import (
	"encoding/binary"
	"fmt"
)

// Lengths in octets of a data transfer (MS-SMBD, section 2.2.3): of one without
// data, and where data begins.
const (
	TransferLen = 20
	DataOffset  = 24
)

// FlagResponseRequested asks the peer to send something at once (MS-SMBD,
// section 2.2.3).
const FlagResponseRequested = 0x0001

// A Transfer is the header of a data transfer message (MS-SMBD, section 2.2.3).
type Transfer struct {
	CreditsRequested uint16 // in all
	CreditsGranted   uint16 // more than before
	Flags            uint16
	Remaining        uint32 // RemainingDataLength: octets of the upper-layer message that are still to come
	DataOffset       uint32 // from the start of the message; 0 without data
	DataLength       uint32
}

// ParseTransfer parses the message at the start of b; data is what of its data
// is in b, and aliases it. A FormatError says that it is no data transfer.
func ParseTransfer(b []byte) (t Transfer, data []byte, err error) {
	if len(b) < TransferLen {
		return Transfer{}, nil, ErrShort
	}
	le := binary.LittleEndian
	t = Transfer{
		CreditsRequested: le.Uint16(b),
		CreditsGranted:   le.Uint16(b[2:]),
		Flags:            le.Uint16(b[4:]),
		Remaining:        le.Uint32(b[8:]),
		DataOffset:       le.Uint32(b[12:]),
		DataLength:       le.Uint32(b[16:]),
	}
	if t.DataLength == 0 {
		if t.Remaining != 0 {
			return t, nil, &FormatError{Off: 8, Msg: fmt.Sprintf("%d octets remain of a message without data", t.Remaining)}
		}
		return t, nil, nil
	}
	if t.DataOffset < DataOffset || t.DataOffset%8 != 0 {
		return t, nil, &FormatError{Off: 12, Msg: fmt.Sprintf("data offset %d is not a multiple of 8 from 24 on", t.DataOffset)}
	}
	if uint64(t.DataOffset) >= uint64(len(b)) {
		return t, nil, ErrShort
	}
	data = b[t.DataOffset:]
	if uint64(t.DataLength) < uint64(len(data)) {
		data = data[:t.DataLength:t.DataLength]
	}
	return t, data, nil
}

// Size is the length in octets of the whole message.
func (t *Transfer) Size() uint64 {
	if t.DataLength == 0 {
		return TransferLen
	}
	return uint64(t.DataOffset) + uint64(t.DataLength)
}

// Append appends the message to b with its data, whose length and place in t
// are not used: they are the length of data, and 24 octets from the start.
func (t Transfer) Append(b, data []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint16(b, t.CreditsRequested)
	b = le.AppendUint16(b, t.CreditsGranted)
	b = le.AppendUint16(b, t.Flags)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint32(b, t.Remaining)
	if len(data) == 0 {
		b = le.AppendUint32(b, 0)
		return le.AppendUint32(b, 0)
	}
	b = le.AppendUint32(b, DataOffset)
	b = le.AppendUint32(b, uint32(len(data)))
	b = append(b, 0, 0, 0, 0)
	return append(b, data...)
}
