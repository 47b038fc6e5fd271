package packet_test

import (
	"encoding/binary"
)

// What follows builds the octets of packets for tests, header by header.

func join(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// ethernet is a frame of the given EtherType.
func ethernet(typ uint16, payload ...[]byte) []byte {
	h := []byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, byte(typ >> 8), byte(typ)}
	return join(h, join(payload...))
}

// ipv4 is a packet from 192.0.2.1 to 198.51.100.2 without options.
func ipv4(proto byte, payload ...[]byte) []byte {
	return ipv4Options(proto, nil, payload...)
}

func ipv4Options(proto byte, options []byte, payload ...[]byte) []byte {
	body := join(payload...)
	n := 20 + len(options) + len(body)
	h := []byte{
		0x40 | byte((20+len(options))/4), 0, byte(n >> 8), byte(n),
		0x12, 0x34, 0x40, 0, 64, proto, 0, 0,
		192, 0, 2, 1, 198, 51, 100, 2,
	}
	return join(h, options, body)
}

// ipv6 is a packet from 2001:db8::1 to 2001:db8::2.
func ipv6(next byte, payload ...[]byte) []byte {
	body := join(payload...)
	h := make([]byte, 40)
	h[0] = 0x60
	binary.BigEndian.PutUint16(h[4:], uint16(len(body)))
	h[6], h[7] = next, 64
	copy(h[8:], []byte{0x20, 0x01, 0x0d, 0xb8, 15: 1})
	copy(h[24:], []byte{0x20, 0x01, 0x0d, 0xb8, 15: 2})
	return join(h, body)
}

// tcpHeader is from port 40000 to 4420, sequence number 0x01020304,
// acknowledgment 0x05060708, window 0x0a0b.
func tcpHeader(flags byte, options []byte) []byte {
	h := []byte{
		0x9c, 0x40, 0x11, 0x44, 1, 2, 3, 4, 5, 6, 7, 8,
		byte((20+len(options))/4) << 4, flags, 0x0a, 0x0b, 0, 0, 0, 0,
	}
	return join(h, options)
}
