package capture

import (
	"encoding/binary"
)

// AppendPcapHeader appends the header of a little-endian pcap file with
// timestamps in nanoseconds. A snaplen of 0 is written as 262144.
func AppendPcapHeader(b []byte, link LinkType, snaplen uint32) []byte {
	if snaplen == 0 {
		snaplen = classicSnaplen
	}
	b = append(b, 0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0)
	b = binary.LittleEndian.AppendUint64(b, 0) // time zone, accuracy: never used
	b = binary.LittleEndian.AppendUint32(b, snaplen)
	return binary.LittleEndian.AppendUint32(b, uint32(link))
}

// AppendPcapRecord appends f as a record of such a file. The format holds
// times from 1970 to 2106.
func AppendPcapRecord(b []byte, f *Frame) []byte {
	at := max(f.Time, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(at/1e9))
	b = binary.LittleEndian.AppendUint32(b, uint32(at%1e9))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.Data)))
	b = binary.LittleEndian.AppendUint32(b, uint32(max(f.Len, len(f.Data))))
	return append(b, f.Data...)
}

// Options of pcapng blocks that are written.
const (
	ngOptUserAppl = 4 // of a section: the program that wrote it
	ngOptIfName   = 2 // of an interface
)

// AppendSectionHeader appends the Section Header Block that begins a
// little-endian pcapng file. application is the name of the program that
// writes it, and may be empty.
func AppendSectionHeader(b []byte, application string) []byte {
	b, start := beginBlock(b, ngSection)
	b = binary.LittleEndian.AppendUint32(b, ngByteOrder)
	b = append(b, 1, 0, 0, 0)                           // version 1.0
	b = binary.LittleEndian.AppendUint64(b, ^uint64(0)) // length: not known
	if application != "" {
		b = appendOption(b, ngOptUserAppl, application)
		b = append(b, 0, 0, 0, 0)
	}
	return endBlock(b, start)
}

// AppendInterface appends an Interface Description Block with timestamps in
// nanoseconds. The interfaces of a section are numbered 0, 1, … in the order
// in which they are appended. A snaplen of 0 is no limit; name may be empty.
func AppendInterface(b []byte, link LinkType, snaplen uint32, name string) []byte {
	b, start := beginBlock(b, ngInterface)
	b = binary.LittleEndian.AppendUint16(b, uint16(link))
	b = append(b, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, snaplen)
	if name != "" {
		b = appendOption(b, ngOptIfName, name)
	}
	b = appendOption(b, ngOptTSResol, "\x09")
	b = append(b, 0, 0, 0, 0)
	return endBlock(b, start)
}

// AppendEnhancedPacket appends f as an Enhanced Packet Block of the given
// interface of the section. A time before 1970 cannot be written and becomes
// 1970.
func AppendEnhancedPacket(b []byte, iface uint32, f *Frame) []byte {
	at := uint64(max(f.Time, 0))
	b, start := beginBlock(b, ngEnhanced)
	b = binary.LittleEndian.AppendUint32(b, iface)
	b = binary.LittleEndian.AppendUint32(b, uint32(at>>32))
	b = binary.LittleEndian.AppendUint32(b, uint32(at))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(f.Data)))
	b = binary.LittleEndian.AppendUint32(b, uint32(max(f.Len, len(f.Data))))
	b = append(b, f.Data...)
	b = appendPadding(b, len(f.Data))
	return endBlock(b, start)
}

// beginBlock appends the start of a block; endBlock fills in its length.
func beginBlock(b []byte, typ uint32) (_ []byte, start int) {
	start = len(b)
	b = binary.LittleEndian.AppendUint32(b, typ)
	return append(b, 0, 0, 0, 0), start
}

func endBlock(b []byte, start int) []byte {
	length := uint32(len(b) - start + 4)
	binary.LittleEndian.PutUint32(b[start+4:], length)
	return binary.LittleEndian.AppendUint32(b, length)
}

// appendOption appends an option. A value longer than an option can be is cut.
func appendOption(b []byte, code uint16, value string) []byte {
	value = value[:min(len(value), 0xffff)]
	b = binary.LittleEndian.AppendUint16(b, code)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(value)))
	b = append(b, value...)
	return appendPadding(b, len(value))
}

// appendPadding pads n octets to a multiple of four.
func appendPadding(b []byte, n int) []byte {
	return append(b, "\x00\x00\x00"[:-n&3]...)
}
