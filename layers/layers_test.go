package layers_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/google/gopacket"

	"github.com/iwdump/iwdump/dissect/ddp"
	"github.com/iwdump/iwdump/layers"
)

// Every vector without Markers decodes as a packet, and is written back.
func TestVectors(t *testing.T) {
	b, err := os.ReadFile("../testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vs []struct {
		Name   string
		Hex    string
		Fields map[string]any
	}
	if err := json.Unmarshal(b, &vs); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, v := range vs {
		length, ok := v.Fields["mpa.ulpdu_length"].(float64)
		if ms, _ := v.Fields["mpa.markers"].([]any); !ok || len(ms) > 0 {
			continue
		}
		n++
		t.Run(v.Name, func(t *testing.T) {
			data, err := hex.DecodeString(v.Hex)
			if err != nil {
				t.Fatal(err)
			}
			p := gopacket.NewPacket(data, layers.LayerTypeMPA, gopacket.Default)
			if e := p.ErrorLayer(); e != nil {
				t.Fatal(e.Error())
			}
			m := p.Layer(layers.LayerTypeMPA).(*layers.MPA)
			d := p.Layer(layers.LayerTypeDDP).(*layers.DDP)
			r := p.Layer(layers.LayerTypeRDMAP).(*layers.RDMAP)
			if float64(m.Length) != length || m.Valid() != (m.CRC != 0) {
				t.Errorf("length %d, CRC %#x valid: %v", m.Length, m.CRC, m.Valid())
			}
			if float64(r.Op) != v.Fields["rdmap.opcode"] {
				t.Errorf("opcode %d", r.Op)
			}
			buf := gopacket.NewSerializeBuffer()
			opts := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: m.CRC != 0}
			rest := gopacket.Payload(append(append([]byte(nil), r.LayerContents()...), r.LayerPayload()...))
			if err := gopacket.SerializeLayers(buf, opts, m, d, rest); err != nil {
				t.Fatal(err)
			}
			if got := hex.EncodeToString(buf.Bytes()); got != v.Hex {
				t.Errorf("written\n%s, want\n%s", got, v.Hex)
			}
			for i := range data {
				if p := gopacket.NewPacket(data[:i], layers.LayerTypeMPA, gopacket.Default); p.ErrorLayer() == nil {
					t.Errorf("cut to %d octets: no error", i)
				}
			}
		})
	}
	if n < 40 {
		t.Errorf("only %d vectors", n)
	}
}

func ExampleMPA() {
	buf := gopacket.NewSerializeBuffer()
	send := &layers.DDP{Header: ddp.Header{Last: true, Version: ddp.Version, ULPControl: 0x43, MSN: 1}}
	opts := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if err := gopacket.SerializeLayers(buf, opts, &layers.MPA{}, send, gopacket.Payload("hello")); err != nil {
		fmt.Println(err)
		return
	}
	p := gopacket.NewPacket(buf.Bytes(), layers.LayerTypeMPA, gopacket.Default)
	for _, l := range p.Layers() {
		fmt.Println(l.LayerType())
	}
	r := p.Layer(layers.LayerTypeRDMAP).(*layers.RDMAP)
	fmt.Printf("%s: %s\n", r.Op.Title(), r.LayerPayload())
	// Output:
	// MPA
	// DDP
	// RDMAP
	// Payload
	// Send: hello
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x00\x12\x41\x43\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\xe8\xc5\xad\x24"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := gopacket.NewPacket(b, layers.LayerTypeMPA, gopacket.Default)
		for _, l := range p.Layers() {
			if len(l.LayerContents()) > len(b) {
				t.Fatal("a layer is larger than the packet")
			}
		}
	})
}
