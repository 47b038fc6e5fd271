package smbdirect_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/ulp/smbdirect"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/internal/tshark"
	"github.com/iwdump/iwdump/qp"
)

const pcaps = "../../../testdata/pcaps/siw/"

// messages is a sink for messages alone.
type messages func(*qp.Message)

func (f messages) Message(m *qp.Message)   { f(m) }
func (f messages) FPDU(*qp.FPDU)           {}
func (f messages) Operation(*qp.Operation) {}
func (f messages) Event(*qp.Event)         {}
func (f messages) QP(*qp.Summary)          {}

type smb struct {
	fromServer bool
	wire       []byte
}

// smbs reads the SMB messages of a capture.
func smbs(t *testing.T, name string) (all []smb) {
	t.Helper()
	src := capture.Open([]string{name}, nil, capture.Options{})
	defer src.Close()
	var r [2]smbdirect.Reassembler
	sends := 0
	if _, err := decode.Run(src, messages(func(m *qp.Message) {
		if !m.Op.IsSend() {
			return
		}
		if sends++; sends <= 2 {
			return // the negotiation
		}
		x, data, err := smbdirect.ParseTransfer(m.Payload)
		if err != nil {
			t.Errorf("%s: message %d: %v", name, m.N, err)
			return
		}
		if k, done := r[m.Side].Add(&x, data); done {
			all = append(all, smb{m.From == qp.Responder, bytes.Clone(k.Data)})
		}
	}), decode.Options{Workers: 1, Messages: true, KeepPayload: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	return all
}

// conversation puts SMB messages on TCP, with their lengths in front (MS-SMB2,
// section 2.1).
func conversation(all []smb) *tshark.Conversation {
	c := &tshark.Conversation{Port: 445}
	for _, m := range all {
		c.Send(m.fromServer, append(binary.BigEndian.AppendUint32(nil, uint32(len(m.wire))), m.wire...))
	}
	return c
}

// said is what is said of a message, in the columns of fields.
func said(b []byte) []string {
	col := make([][]string, len(fields))
	add := func(field string, format string, v any) {
		i := slices.Index(fields, field)
		col[i] = append(col[i], fmt.Sprintf(format, v))
	}
	for {
		h, _, err := smbdirect.ParseHeader(b)
		if err != nil {
			break
		}
		add("smb2.cmd", "%d", uint16(h.Command))
		add("smb2.msg_id", "%d", h.MessageID)
		add("smb2.sesid", "0x%016x", h.SessionID)
		if !h.Async() {
			add("smb2.tid", "0x%08x", h.TreeID)
		}
		flag := "0"
		if h.Response() {
			flag = "1"
			add("smb2.nt_status", "0x%08x", h.Status)
			if r, err := smbdirect.ParseResponse(h.Command, b); err == nil && h.Status == 0 {
				switch h.Command {
				case smbdirect.Read:
					if r.InChannel {
						add("smb2.read_remaining", "%d", r.Count)
					} else {
						add("smb2.read_length", "%d", r.Count)
					}
				case smbdirect.Write:
					add("smb2.write.count", "%d", r.Count)
				}
			}
		} else if r, err := smbdirect.ParseRequest(h.Command, b); err == nil {
			switch h.Command {
			case smbdirect.TreeConnect:
				add("smb2.tree", "%s", r.Name.String())
			case smbdirect.Create:
				add("smb2.filename", "%s", r.Name.String())
			case smbdirect.Read, smbdirect.Write:
				add("smb2.file_offset", "%d", r.Offset)
				add("smb2.channel", "0x%08x", r.Channel)
				for d := range r.Descriptors.All() {
					add("smb2.buffer_descriptor.offset", "%d", d.Offset)
					add("smb2.buffer_descriptor.token", "0x%08x", d.Token)
					add("smb2.buffer_descriptor.length", "%d", d.Length)
				}
			}
		}
		add("smb2.flags.response", "%s", flag)
		if h.Next == 0 {
			break
		}
		b = b[h.Next:]
	}
	row := make([]string, len(fields))
	for i := range col {
		row[i] = strings.Join(col[i], ";")
	}
	return row
}

var fields = []string{"smb2.cmd", "smb2.msg_id", "smb2.sesid", "smb2.flags.response", "smb2.nt_status", "smb2.tid", "smb2.file_offset", "smb2.channel",
	"smb2.buffer_descriptor.offset", "smb2.buffer_descriptor.token", "smb2.buffer_descriptor.length", "smb2.read_length", "smb2.read_remaining", "smb2.write.count", "smb2.tree", "smb2.filename"}

func compare(t *testing.T, all []smb) {
	t.Helper()
	rows := conversation(all).Fields(t, "smb2", fields...)
	if len(rows) != len(all) {
		t.Fatalf("%d messages, tshark says %d", len(all), len(rows))
	}
	for i, m := range all {
		got := said(m.wire)
		for k := range got {
			want := rows[i][k]
			switch {
			case fields[k] == "smb2.nt_status" && got[k] == "":
				continue // tshark gives it for requests of no dialect
			case fields[k] == "smb2.tree" || fields[k] == "smb2.filename" || strings.HasPrefix(fields[k], "smb2.read_") || fields[k] == "smb2.channel":
				// tshark repeats them where it knows them from before, and has a
				// channel of SESSION_SETUP.
				if got[k] == "" {
					continue
				}
			}
			if got[k] != want {
				t.Errorf("message %d: %s is %q, tshark says %q", i, fields[k], got[k], want)
			}
		}
	}
}

// The SMB messages of real sessions are what tshark says they are.
func TestCapturesAgainstTshark(t *testing.T) {
	tshark.Need(t)
	for _, name := range []string{"smbdirect", "smbdirect-rw"} {
		t.Run(name, func(t *testing.T) {
			all := smbs(t, pcaps+name+".pcap.gz")
			if len(all) != 12 {
				t.Errorf("%d messages", len(all))
			}
			compare(t, all)
		})
	}
}

func text(s string) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

var le = binary.LittleEndian

// create is a CREATE request (MS-SMB2, section 2.2.13).
func create(h smbdirect.Header, name string) []byte {
	h.Command = smbdirect.Create
	b := le.AppendUint16(h.Append(nil), 57)
	b = append(b, 0, 0, 2, 0, 0, 0)
	b = append(b, make([]byte, 16)...)
	for _, v := range []uint32{0x00120089, 0x80, 7, 1, 0x40} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint16(b, 64+56)
	b = le.AppendUint16(b, uint16(2*len(name)))
	b = append(b, make([]byte, 8)...)
	return append(b, text(name)...)
}

// readWrite is a READ or WRITE request (MS-SMB2, sections 2.2.19 and 2.2.21) whose
// data goes through buffers.
func readWrite(h smbdirect.Header, offset uint64, length uint32, channel uint32, buffers ...smbdirect.Descriptor) []byte {
	b := le.AppendUint16(h.Append(nil), 49)
	file := bytes.Repeat([]byte{7}, 16)
	n := uint16(16 * len(buffers))
	if h.Command == smbdirect.Read {
		b = append(b, 0, 0)
		b = le.AppendUint32(b, length)
		b = le.AppendUint64(b, offset)
		b = append(b, file...)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint32(b, channel)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint16(b, 64+48)
		b = le.AppendUint16(b, n)
	} else {
		b = append(b, 0, 0)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint64(b, offset)
		b = append(b, file...)
		b = le.AppendUint32(b, channel)
		b = le.AppendUint32(b, length)
		b = le.AppendUint16(b, 64+48)
		b = le.AppendUint16(b, n)
		b = le.AppendUint32(b, 0)
	}
	for _, d := range buffers {
		b = d.Append(b)
	}
	return b
}

// readResponse and writeResponse are MS-SMB2, sections 2.2.20 and 2.2.22.
func readResponse(h smbdirect.Header, count uint32) []byte {
	h.Command, h.Flags = smbdirect.Read, h.Flags|smbdirect.FlagResponse
	b := append(le.AppendUint16(h.Append(nil), 17), 80, 0)
	b = le.AppendUint32(b, 0)
	b = le.AppendUint32(b, count)
	return append(b, 0, 0, 0, 0)
}

func writeResponse(h smbdirect.Header, count uint32) []byte {
	h.Command, h.Flags = smbdirect.Write, h.Flags|smbdirect.FlagResponse
	b := append(le.AppendUint16(h.Append(nil), 17), 0, 0)
	b = le.AppendUint32(b, count)
	return append(b, make([]byte, 8)...)
}

// failure is an error response (MS-SMB2, section 2.2.2).
func failure(h smbdirect.Header, status uint32) []byte {
	h.Flags, h.Status = h.Flags|smbdirect.FlagResponse, status
	return append(h.Append(nil), 9, 0, 0, 0, 0, 0, 0, 0, 0)
}

// compound joins commands (MS-SMB2, section 3.2.4.1.4).
func compound(all ...[]byte) (b []byte) {
	for i, c := range all {
		if i < len(all)-1 {
			c = append(bytes.Clone(c), make([]byte, -len(c)&7)...)
			le.PutUint32(c[20:], uint32(len(c)))
		}
		b = append(b, c...)
	}
	return b
}

// The requests that the captures lack.
func TestRequestsAgainstTshark(t *testing.T) {
	tshark.Need(t)
	h := smbdirect.Header{CreditCharge: 1, Credits: 10, SessionID: 0x1122334455, TreeID: 5}
	next := func(c smbdirect.Command) smbdirect.Header { h.MessageID++; h.Command = c; return h }
	b1 := smbdirect.Descriptor{Offset: 0x7f0012345000, Token: 0x0000a502, Length: 65536}
	b2 := smbdirect.Descriptor{Offset: 4096, Token: 0x12345678, Length: 4096}
	var all []smb
	for i := range 2 {
		c, r, w := next(smbdirect.Create), next(smbdirect.Read), next(smbdirect.Write)
		all = append(all, smb{false, create(c, "dir\\file"+fmt.Sprint(i))}, smb{true, failure(c, 0xC0000034)},
			smb{false, readWrite(r, 1<<33, 69632, smbdirect.ChannelRDMAV1, b1, b2)}, smb{true, readResponse(r, 69632)},
			smb{false, readWrite(w, 8192, 65536, smbdirect.ChannelRDMAV1Invalidate, b1)}, smb{true, writeResponse(w, 65536)},
			smb{false, compound(create(next(smbdirect.Create), "a"), readWrite(next(smbdirect.Read), 0, 100, 0))})
	}
	compare(t, all)
}
