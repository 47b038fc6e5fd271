// Package layers lets programs that use gopacket decode iWARP: an MPA FPDU (RFC
// 5044), the DDP segment in it (RFC 5041), and the RDMAP message in that (RFC
// 5040, RFC 7306) are gopacket layers.
//
// gopacket decodes packets, and an FPDU is found in a stream: give it one FPDU
// at a time, as an mpa.Framer or a reassembler of your own finds them, Markers
// taken out.
//
//	p := gopacket.NewPacket(fpdu, layers.LayerTypeMPA, gopacket.Default)
//	if l, ok := p.Layer(layers.LayerTypeDDP).(*layers.DDP); ok { … }
package layers

import (
	"encoding/binary"
	"fmt"

	"github.com/google/gopacket"

	"github.com/iwdump/iwdump/dissect/ddp"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
)

// Layer types, in the range that gopacket leaves to others.
var (
	LayerTypeMPA   = gopacket.RegisterLayerType(5044, gopacket.LayerTypeMetadata{Name: "MPA", Decoder: gopacket.DecodeFunc(decodeMPA)})
	LayerTypeDDP   = gopacket.RegisterLayerType(5041, gopacket.LayerTypeMetadata{Name: "DDP", Decoder: gopacket.DecodeFunc(decodeDDP)})
	LayerTypeRDMAP = gopacket.RegisterLayerType(5040, gopacket.LayerTypeMetadata{Name: "RDMAP", Decoder: gopacket.DecodeFunc(decodeRDMAP)})
)

// base is what all layers have.
type base struct{ contents, payload []byte }

// LayerContents returns the octets of the layer's header.
func (b *base) LayerContents() []byte { return b.contents }

// LayerPayload returns the octets that it carries.
func (b *base) LayerPayload() []byte { return b.payload }

// MPA is an FPDU without Markers (RFC 5044, section 4.1).
type MPA struct {
	base
	Length uint16 // ULPDU_Length
	Pad    []byte
	CRC    uint32
}

// LayerType returns LayerTypeMPA.
func (m *MPA) LayerType() gopacket.LayerType { return LayerTypeMPA }

// CanDecode returns LayerTypeMPA.
func (m *MPA) CanDecode() gopacket.LayerClass { return LayerTypeMPA }

// NextLayerType returns LayerTypeDDP.
func (m *MPA) NextLayerType() gopacket.LayerType { return LayerTypeDDP }

// DecodeFromBytes decodes the FPDU at the start of data.
func (m *MPA) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	if len(data) < 2 {
		df.SetTruncated()
		return fmt.Errorf("mpa: %d octets hold no FPDU: %w", len(data), mpa.ErrShort)
	}
	m.Length = binary.BigEndian.Uint16(data)
	end := 2 + int(m.Length)
	n := (end+3)&^3 + 4
	if len(data) < n {
		df.SetTruncated()
		return fmt.Errorf("mpa: %d octets of an FPDU of %d: %w", len(data), n, mpa.ErrShort)
	}
	m.contents, m.payload = data[:2], data[2:end]
	m.Pad = data[end : n-4]
	m.CRC = binary.LittleEndian.Uint32(data[n-4:])
	return nil
}

// Valid says that the CRC is right.
func (m *MPA) Valid() bool {
	fpdu := append(append(append([]byte(nil), m.contents...), m.payload...), m.Pad...)
	return mpa.CRC32C(fpdu) == m.CRC
}

// SerializeTo writes the FPDU around what the buffer holds. With FixLengths the
// length is that of what it holds, with ComputeChecksums the CRC is right.
func (m *MPA) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	n := len(b.Bytes())
	if n > mpa.MaxLength {
		return fmt.Errorf("mpa: a ULPDU of %d octets is longer than %d", n, mpa.MaxLength)
	}
	if opts.FixLengths {
		m.Length = uint16(n)
	}
	head, err := b.PrependBytes(2)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint16(head, m.Length)
	pad := -len(b.Bytes()) & 3
	tail, err := b.AppendBytes(pad + 4)
	if err != nil {
		return err
	}
	clear(tail)
	if opts.ComputeChecksums {
		all := b.Bytes()
		m.CRC = mpa.CRC32C(all[:len(all)-4])
	}
	binary.LittleEndian.PutUint32(tail[pad:], m.CRC)
	return nil
}

// DDP is a DDP segment (RFC 5041, section 4).
type DDP struct {
	base
	ddp.Header
}

// LayerType returns LayerTypeDDP.
func (d *DDP) LayerType() gopacket.LayerType { return LayerTypeDDP }

// CanDecode returns LayerTypeDDP.
func (d *DDP) CanDecode() gopacket.LayerClass { return LayerTypeDDP }

// NextLayerType returns LayerTypeRDMAP.
func (d *DDP) NextLayerType() gopacket.LayerType { return LayerTypeRDMAP }

// DecodeFromBytes decodes the segment in data.
func (d *DDP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	h, n, err := ddp.Parse(data)
	if err != nil {
		df.SetTruncated()
		return err
	}
	d.Header, d.contents, d.payload = h, data[:n], data[n:]
	return nil
}

// SerializeTo writes the header in front of what the buffer holds.
func (d *DDP) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	head := d.Header.Append(nil)
	p, err := b.PrependBytes(len(head))
	if err != nil {
		return err
	}
	copy(p, head)
	return nil
}

// RDMAP is what stands behind a DDP header (RFC 5040, section 4; RFC 7306): of
// the headers, that of the operation is set, if its octets are there.
type RDMAP struct {
	base
	rdmap.Control
	Read      *rdmap.ReadRequest
	Terminate *rdmap.Terminate
	Immediate *rdmap.Immediate
	AtomicReq *rdmap.AtomicRequest
	AtomicRsp *rdmap.AtomicResponse
}

// LayerType returns LayerTypeRDMAP.
func (r *RDMAP) LayerType() gopacket.LayerType { return LayerTypeRDMAP }

// NextLayerType returns the type of payload: what it is only the upper layer
// knows.
func (r *RDMAP) NextLayerType() gopacket.LayerType { return gopacket.LayerTypePayload }

func decodeMPA(data []byte, p gopacket.PacketBuilder) error {
	m := &MPA{}
	if err := m.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(m)
	return p.NextDecoder(LayerTypeDDP)
}

func decodeDDP(data []byte, p gopacket.PacketBuilder) error {
	d := &DDP{}
	if err := d.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(d)
	// RDMAP's control octet stands within the DDP header, so that there is
	// such a layer though nothing follows, which gopacket would not decode.
	return rdmapLayer(rdmap.ParseControl(d.ULPControl), d.payload, p)
}

// decodeRDMAP decodes what follows the control octet, which is the first of
// data: for those who have RDMAP without DDP in front.
func decodeRDMAP(data []byte, p gopacket.PacketBuilder) error {
	if len(data) == 0 {
		p.SetTruncated()
		return rdmap.ErrShort
	}
	return rdmapLayer(rdmap.ParseControl(data[0]), data[1:], p)
}

func rdmapLayer(c rdmap.Control, data []byte, p gopacket.PacketBuilder) error {
	r := &RDMAP{Control: c}
	n, err := 0, error(nil)
	switch c.Op {
	case rdmap.OpReadRequest:
		var v rdmap.ReadRequest
		v, n, err = rdmap.ParseReadRequest(data)
		r.Read = &v
	case rdmap.OpTerminate:
		var v rdmap.Terminate
		v, n, err = rdmap.ParseTerminate(data)
		r.Terminate = &v
	case rdmap.OpImmediate, rdmap.OpImmediateSE:
		var v rdmap.Immediate
		v, n, err = rdmap.ParseImmediate(data)
		r.Immediate = &v
	case rdmap.OpAtomicRequest:
		var v rdmap.AtomicRequest
		v, n, err = rdmap.ParseAtomicRequest(data)
		r.AtomicReq = &v
	case rdmap.OpAtomicResponse:
		var v rdmap.AtomicResponse
		v, n, err = rdmap.ParseAtomicResponse(data)
		r.AtomicRsp = &v
	}
	if err != nil {
		p.SetTruncated()
		return fmt.Errorf("%s: %w", c.Op.Title(), err)
	}
	r.contents, r.payload = data[:n], data[n:]
	p.AddLayer(r)
	if len(r.payload) == 0 {
		return nil
	}
	return p.NextDecoder(gopacket.LayerTypePayload)
}
