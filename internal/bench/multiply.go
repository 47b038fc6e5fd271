package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
)

// multiply writes a real capture again and again, each time with addresses of
// its own, until it is as large as asked for. What one copy holds is counted by
// the decoder itself, so that this is a check of the whole against its parts.
func multiply(w *bufio.Writer, in input) (truth, error) {
	src := capture.Open([]string{in.real}, nil, capture.Options{})
	defer src.Close()
	var one truth
	stats, err := decode.Run(src, nothing{}, decode.Options{})
	if err != nil {
		return truth{}, err
	}
	one.QPs, one.FPDUs, one.Messages = stats.QPs, stats.FPDUs, stats.Messages

	again := capture.Open([]string{in.real}, nil, capture.Options{})
	defer again.Close()
	var frames []capture.Frame
	for {
		b, err := again.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return truth{}, err
		}
		for _, f := range b.Frames {
			f.Data = append([]byte(nil), f.Data...)
			frames = append(frames, f)
		}
		b.Release()
	}
	var t truth
	w.Write(capture.AppendPcapHeader(nil, frames[0].Link, 262144))
	t.Octets = 24
	span := frames[len(frames)-1].Time - frames[0].Time + 1e6
	var rec []byte
	for k := uint16(1); t.Octets < uint64(in.size); k++ {
		for i := range frames {
			f := &frames[i]
			f.Time += span
			rehost(f.Data, k)
			rec = capture.AppendPcapRecord(rec[:0], f)
			w.Write(rec)
			t.Frames++
			t.Octets += uint64(len(rec))
			rehost(f.Data, -k)
		}
		t.QPs, t.FPDUs, t.Messages = t.QPs+one.QPs, t.FPDUs+one.FPDUs, t.Messages+one.Messages
	}
	return t, w.Flush()
}

// rehost adds k to the first half of both IPv4 addresses of an Ethernet frame,
// and corrects the checksums (RFC 1624). Other frames stay as they are.
func rehost(b []byte, k uint16) {
	const ip, minimum = 14, 14 + 20 + 20
	if len(b) < minimum || binary.BigEndian.Uint16(b[12:]) != 0x0800 || b[ip+9] != 6 {
		return
	}
	tcp := ip + int(b[ip]&0xF)*4
	for _, at := range []int{ip + 12, ip + 16} {
		before := binary.BigEndian.Uint16(b[at:])
		binary.BigEndian.PutUint16(b[at:], before+k)
		for _, sum := range []int{ip + 10, tcp + 16} {
			if sum+2 > len(b) {
				continue
			}
			n := uint32(^binary.BigEndian.Uint16(b[sum:])) + uint32(^before) + uint32(before+k)
			n = n>>16 + n&0xFFFF
			binary.BigEndian.PutUint16(b[sum:], ^uint16(n>>16+n))
		}
	}
}

// nothing takes records and forgets them.
type nothing struct{}

func (nothing) Message(*qp.Message)     {}
func (nothing) FPDU(*qp.FPDU)           {}
func (nothing) Operation(*qp.Operation) {}
func (nothing) Event(*qp.Event)         {}
func (nothing) QP(*qp.Summary)          {}
