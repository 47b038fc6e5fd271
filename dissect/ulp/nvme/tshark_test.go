package nvme_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/ulp/nvme"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/internal/tshark"
	"github.com/iwdump/iwdump/qp"
)

const pcaps = "../../../testdata/pcaps/"

// capsule is what a Send carries.
type capsule struct {
	response bool
	wire     []byte
}

// capsules reads the Sends of a capture, by QP.
type capsules struct{ byQP map[*qp.Conn][]capsule }

func (c *capsules) Message(m *qp.Message) {
	if m.Op.IsSend() {
		c.byQP[m.Conn] = append(c.byQP[m.Conn], capsule{m.From == qp.Responder, bytes.Clone(m.Payload)})
	}
}
func (c *capsules) FPDU(*qp.FPDU)           {}
func (c *capsules) Operation(*qp.Operation) {}
func (c *capsules) Event(*qp.Event)         {}
func (c *capsules) QP(*qp.Summary)          {}

// pdu puts a capsule into a PDU of NVMe/TCP (NVMe TCP Transport 1.0): a common
// header of 8 octets, the entry, data.
func (c capsule) pdu() []byte {
	kind, entry, offset := byte(4), nvme.CommandLen, byte(0)
	if c.response {
		kind, entry = 5, nvme.CompletionLen
	}
	if len(c.wire) > entry {
		offset = byte(8 + entry)
	}
	b := []byte{kind, 0, byte(8 + entry), offset}
	b = binary.LittleEndian.AppendUint32(b, uint32(8+len(c.wire)))
	return append(b, c.wire...)
}

// initialize is the exchange that opens a connection of NVMe/TCP: ICReq and
// ICResp, 128 octets each.
func initialize(c *tshark.Conversation) {
	for kind := range 2 {
		b := make([]byte, 128)
		copy(b, []byte{byte(kind), 0, 128, 0, 128})
		c.Send(kind == 1, b)
	}
}

var fields = []string{"nvme.cmd.opc", "nvme.cmd.cid", "nvme.cmd.nsid", "nvme.cmd.sgl1.addr", "nvme.cmd.sgl1.len", "nvme.cmd.sgl1.key", "nvme.cmd.slba", "nvme.cmd.nlb",
	"nvme.cmd.identify.dword10.cns", "nvme.cmd.get_logpage.dword10.id", "nvme.cmd.set_features.dword10.fid",
	"nvme.fabrics.cmd.opc", "nvme.fabrics.cmd.cid", "nvme.fabrics.cmd.fctype", "nvme.fabrics.cmd.connect.qid", "nvme.fabrics.cmd.connect.sqsize", "nvme.fabrics.cmd.connect.kato",
	"nvme.fabrics.cmd.connect.data.subnqn", "nvme.fabrics.cmd.connect.data.hostnqn", "nvme.fabrics.cmd.prop_get_set.offset"}

// said is what this package says of a command, in the order of fields.
func said(b []byte, admin bool) []string {
	c, n, err := nvme.ParseCommand(b)
	if err != nil {
		return nil
	}
	col := make([]string, len(fields))
	set := func(name, format string, v any) {
		for i, f := range fields {
			if f == name {
				col[i] = fmt.Sprintf(format, v)
			}
		}
	}
	if !c.Fabrics() || c.FCType() == nvme.Connect {
		set("nvme.cmd.sgl1.addr", "%d", c.SGL.Address)
		set("nvme.cmd.sgl1.len", "%d", c.SGL.Length)
		if c.SGL.Keyed() {
			set("nvme.cmd.sgl1.key", "%d", c.SGL.Key)
		}
	}
	if c.Fabrics() {
		set("nvme.fabrics.cmd.opc", "%d", c.Opcode)
		set("nvme.fabrics.cmd.cid", "%d", c.CID)
		set("nvme.fabrics.cmd.fctype", "%d", c.FCType())
		switch c.FCType() {
		case nvme.Connect:
			k := c.Connect()
			set("nvme.fabrics.cmd.connect.qid", "%d", k.QID)
			set("nvme.fabrics.cmd.connect.sqsize", "%d", k.SQSize)
			set("nvme.fabrics.cmd.connect.kato", "%d", k.KATO)
			if d, _, err := nvme.ParseConnectData(b[n:]); err == nil {
				set("nvme.fabrics.cmd.connect.data.subnqn", "%s", d.SubNQN)
				set("nvme.fabrics.cmd.connect.data.hostnqn", "%s", d.HostNQN)
			}
		case nvme.PropertyGet, nvme.PropertySet:
			set("nvme.fabrics.cmd.prop_get_set.offset", "%d", c.Property().Offset)
		}
		return col
	}
	set("nvme.cmd.opc", "%d", c.Opcode)
	set("nvme.cmd.cid", "%d", c.CID)
	set("nvme.cmd.nsid", "%d", c.NSID)
	switch {
	case admin && c.Opcode == nvme.OpIdentify:
		set("nvme.cmd.identify.dword10.cns", "%d", c.CDW[0]&0xFF)
	case admin && c.Opcode == nvme.OpGetLogPage:
		set("nvme.cmd.get_logpage.dword10.id", "%d", c.CDW[0]&0xFF)
	case admin && c.Opcode == nvme.OpSetFeatures:
		set("nvme.cmd.set_features.dword10.fid", "%d", c.CDW[0]&0xFF)
	case !admin && (c.Opcode == nvme.OpRead || c.Opcode == nvme.OpWrite):
		set("nvme.cmd.slba", "%d", c.SLBA())
		set("nvme.cmd.nlb", "%d", c.Blocks())
	}
	return col
}

// plain is a value of tshark with numbers in decimal.
func plain(field, s string) string {
	if field == "nvme.fabrics.cmd.opc" && s != "" {
		s = "0x" + s
	}
	if v, err := strconv.ParseUint(s, 0, 64); err == nil {
		return strconv.FormatUint(v, 10)
	}
	return s
}

// The capsules of real sessions, put on NVMe/TCP, are to tshark what they are
// to this package.
func TestAgainstTshark(t *testing.T) {
	tshark.Need(t)
	for _, name := range []string{"nvme-rdma-read4k.pcap", "siw/nvme-rdma-write4k.pcap.gz"} {
		src := capture.Open([]string{pcaps + name}, nil, capture.Options{})
		all := &capsules{map[*qp.Conn][]capsule{}}
		if _, err := decode.Run(src, all, decode.Options{Workers: 1, Messages: true, KeepPayload: 8192}); err != nil {
			t.Fatal(err)
		}
		src.Close()
		if len(all.byQP) != 2 {
			t.Fatalf("%s has %d QPs", name, len(all.byQP))
		}
		for conn, cs := range all.byQP {
			talk := &tshark.Conversation{Port: 4420}
			initialize(talk)
			var want [][]string
			for i, c := range cs {
				talk.Send(c.response, c.pdu())
				if !c.response {
					if want = append(want, said(c.wire, conn.Number == 1)); want[len(want)-1] == nil {
						t.Errorf("%s: Send %d is no command", name, i)
					}
				}
			}
			got := talk.Fields(t, "nvme-tcp.type == 4", fields...)
			for _, row := range got {
				for i := range row {
					row[i] = plain(fields[i], row[i])
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, QP %d (-here +tshark)\n%s", name, conn.Number, d)
			}
		}
	}
}
