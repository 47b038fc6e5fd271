package capture_test

import (
	"encoding/binary"
	"testing"

	"github.com/iwdump/iwdump/capture"
)

// snoopFile is a file as RFC 1761 draws it, of the frames that testFrame makes.
func snoopFile(n int) []byte {
	b := []byte{'s', 'n', 'o', 'o', 'p', 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 4}
	for i := range n {
		f := testFrame(i + 1)
		b = binary.BigEndian.AppendUint32(b, uint32(f.Len))
		b = binary.BigEndian.AppendUint32(b, uint32(len(f.Data)))
		b = binary.BigEndian.AppendUint32(b, uint32(24+len(f.Data)+8))
		b = binary.BigEndian.AppendUint32(b, 7) // cumulative drops
		b = binary.BigEndian.AppendUint32(b, uint32(f.Time/1e9))
		b = binary.BigEndian.AppendUint32(b, uint32(f.Time%1e9/1000))
		b = append(append(b, f.Data...), make([]byte, 8)...)
	}
	return b
}

func TestSnoop(t *testing.T) {
	diffFrames(t, readClean(t, snoopFile(1000)), testFrames(1, 1000))
	diffFrames(t, readClean(t, snoopFile(0)), nil)

	// RFC 1761, section 4: 8 is FDDI, 2 is a token ring, which is not known.
	for typ, want := range map[byte]capture.LinkType{0: capture.LinkEthernet, 8: capture.LinkFDDI, 2: capture.LinkSnoopOther} {
		file := snoopFile(1)
		file[15] = typ
		if got := readClean(t, file)[0].Link; got != want {
			t.Errorf("datalink type %d: %v, want %v", typ, got, want)
		}
	}
}

// Cut or damaged: what is before and behind is read, and it is said.
func TestSnoopDamage(t *testing.T) {
	const record = 24 + 100 + 8
	cut := readBytes(t, snoopFile(5)[:16+4*record+50], capture.Options{})
	diffFrames(t, cut.frames, testFrames(1, 4))
	if len(cut.errs) != 1 || !cut.errs[0].Cut || cut.errs[0].Offset != 16+4*record {
		t.Errorf("cut: %v", cut.errs)
	}
	for at, v := range map[int]byte{4: 0xff, 8: 0xff, 11: 3} { // more than was sent; too long; too short
		file := snoopFile(9)
		file[16+3*record+at] = v
		r := readBytes(t, file, capture.Options{})
		diffFrames(t, r.frames, append(testFrames(1, 3), testFrames(5, 9)...))
		if len(r.errs) != 1 || r.errs[0].Frame != 4 || r.after[0] != 3 {
			t.Errorf("octet %d: %v", at, r.errs)
		}
	}
}

func FuzzSnoop(f *testing.F) {
	f.Add(snoopFile(3))
	f.Add(snoopFile(3)[:200])
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 12 {
			copy(data, "snoop\x00\x00\x00\x00\x00\x00\x02")
			checkRead(t, data)
		}
	})
}
