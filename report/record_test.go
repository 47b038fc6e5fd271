package report

import (
	"encoding/hex"
	"testing"

	"github.com/iwdump/iwdump/dissect/ddp"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/qp"
)

// What the tests of this package write: one record of each kind, its octets
// those of testdata/vectors.json.

// first is 2026-12-01T06:25:19Z.
const first = 1796106319_000000000

var conn = &qp.Conn{Number: 1, Text: [2]string{"10.0.0.1:40000", "10.0.0.2:4420"}}

func octetsOf(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// message is what an FPDU holds, from its octets: frame 12, 4.512345 ms after
// the first.
func message(t testing.TB, text string) *qp.Message {
	t.Helper()
	b := octetsOf(t, text)
	length := int(b[0])<<8 | int(b[1])
	ulpdu := b[2 : 2+length]
	h, n, err := ddp.Parse(ulpdu)
	if err != nil {
		t.Fatal(err)
	}
	at := mpa.Stamp{Frame: 12, Time: first + 4_512345}
	m := &qp.Message{Conn: conn, N: 3, From: qp.Initiator, First: at, Last: at, Off: 24, End: 24 + uint64(len(b)),
		Op: rdmap.OpOf(&h), Size: uint64(length - n), FPDUs: 1, Complete: true, CRC: mpa.CRCOK, HasCRC: true, Header: h, Payload: ulpdu[n:]}
	body := ulpdu[n:]
	switch m.Op {
	case rdmap.OpReadRequest:
		x, _, err := rdmap.ParseReadRequest(body)
		m.Read = &x
		m.Payload = nil
		check(t, err)
	case rdmap.OpTerminate:
		x, _, err := rdmap.ParseTerminate(body)
		m.Terminate = &x
		check(t, err)
	case rdmap.OpImmediate:
		x, _, err := rdmap.ParseImmediate(body)
		m.Immediate = &x
		check(t, err)
	case rdmap.OpAtomicRequest:
		x, _, err := rdmap.ParseAtomicRequest(body)
		m.AtomicReq = &x
		check(t, err)
	case rdmap.OpAtomicResponse:
		x, _, err := rdmap.ParseAtomicResponse(body)
		m.AtomicRsp = &x
		check(t, err)
	}
	return m
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fpdu is the FPDU of the same octets, with its CRC as it stands there.
func fpdu(t testing.TB, text string, m *qp.Message) *qp.FPDU {
	b := octetsOf(t, text)
	k := b[len(b)-4:]
	return &qp.FPDU{Conn: m.Conn, Side: m.Side, From: m.From, Op: m.Op, Header: m.Header,
		FPDU: mpa.FPDU{Off: m.Off, Seq: 4026464814, Length: int(b[0])<<8 | int(b[1]), Wire: len(b), First: m.First, Last: m.Last,
			Complete: true, CRC: mpa.CRCOK, CRCWire: uint32(k[3])<<24 | uint32(k[2])<<16 | uint32(k[1])<<8 | uint32(k[0])}}
}

func startupMessage(t testing.TB, text string) *qp.Message {
	s, n, err := mpa.ParseStartup(octetsOf(t, text))
	check(t, err)
	at := mpa.Stamp{Frame: 4, Time: first + 2_221000}
	m := &qp.Message{Conn: conn, N: 1, From: qp.Initiator, First: at, Last: at, End: uint64(n), Op: rdmap.OpMPARequest,
		Size: uint64(len(s.Private)), Complete: true, Startup: &s}
	if s.Reply {
		m.Op, m.Side, m.From, m.N = rdmap.OpMPAReply, 1, qp.Responder, 2
	}
	return m
}

// From testdata/vectors.json, by name.
const (
	mpaReqV2     = "4d504120494420526571204672616d65500200248020c0200000010080007f00000000000000000000000000000000000000000000000000"
	sendPad1     = "001541430000000000000000000000020000000001020300ca69f469"
	sendPad3     = "0013414300000000000000000000000400000000010000006ddd2618"
	readRequestV = "002e4141000000000000000100000001000000000000050100007f00000010000000100000000a02000000000001000005392df9"
	immediateV   = "001a414800000000000000000000000b000000000011223344556677bf4f144b"
	atomicReqV   = "0046414a00000000000000010000000300000000000000020000001200000a0200000000000200080000000000001111ffffffffffffffff0000000000002222ffffffffffffffff5dc30688"
	terminateV   = "00464147000000000000000200000001000000000102e000002e41410000000000000001000000070000000000000501000000000000100000002000bad000020000000000002000e977573d"
)
