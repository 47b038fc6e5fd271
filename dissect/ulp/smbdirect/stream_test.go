package smbdirect_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/dissect/ulp/smbdirect"
	"github.com/iwdump/iwdump/internal/ulptest"
)

// Of a real session: the client's log says that it found neither IPC$ nor the
// share.
func TestSession(t *testing.T) {
	want := "smbdirect.negotiate, smb2.negotiate, smb2.session_setup STATUS_MORE_PROCESSING_REQUIRED, smb2.session_setup, " +
		"smb2.tree_connect STATUS_BAD_NETWORK_NAME, smb2.tree_connect STATUS_BAD_NETWORK_NAME, smb2.logoff"
	for _, name := range []string{"smbdirect", "smbdirect-rw"} {
		for _, keep := range []int{4096, 256} {
			t.Run(fmt.Sprint(name, keep), func(t *testing.T) {
				qps := ulptest.Run(t, pcaps+name+".pcap.gz", keep, smbdirect.Protocol())
				if len(qps) != 1 || qps[0].Name != "smbdirect" || qps[0].Doubt {
					t.Fatalf("%d QPs, %q", len(qps), qps[0].Name)
				}
				r := qps[0]
				if got := names(r.Commands); got != want {
					t.Errorf("%s\nwant %s", got, want)
				}
				for _, e := range r.Events {
					if e.Kind != ulp.CommandFailed || e.Command != "smb2.tree_connect" {
						t.Errorf("%s: %s", e.Kind, e.Detail)
					}
				}
				if f := r.Summary.Get("dialect"); f == nil || f.Text != "3.1.1" {
					t.Errorf("dialect %+v", f)
				}
			})
		}
	}
}

func names(commands []*ulp.Command) string {
	var s []string
	for _, c := range commands {
		s = append(s, strings.TrimSpace(c.Name+" "+c.Result))
	}
	return strings.Join(s, ", ")
}

// peer sends messages to a decoder, one a microsecond.
type peer struct {
	ulptest.Result
	dec ulp.Decoder
	n   int
	d   ulp.Description
}

func newPeer() *peer {
	p := &peer{}
	p.dec = smbdirect.Protocol().New(&p.Result)
	return p
}

func (p *peer) message(m ulp.Message) ulp.Evidence {
	p.n++
	at := mpa.Stamp{Time: int64(p.n) * 1000, Frame: uint64(p.n)}
	m.N, m.First, m.Last, m.Complete = p.n, at, at, true
	if m.Size == 0 {
		m.Size = uint64(len(m.Payload))
	}
	p.d.Reset()
	return p.dec.Message(&m, &p.d)
}

func (p *peer) send(side ulp.Side, granted uint16, data []byte) ulp.Evidence {
	return p.message(ulp.Message{Side: side, Op: rdmap.OpSend, Payload: smbdirect.Transfer{CreditsRequested: 10, CreditsGranted: granted}.Append(nil, data)})
}

// negotiate begins, with credits for each side.
func (p *peer) negotiate(credits uint16) {
	p.message(ulp.Message{Op: rdmap.OpSend, Payload: smbdirect.NegotiateRequest{MinVersion: 0x100, MaxVersion: 0x100, CreditsRequested: 10,
		PreferredSendSize: 1024, MaxReceiveSize: 1024, MaxFragmentedSize: 131072}.Append(nil)})
	p.message(ulp.Message{Side: 1, Op: rdmap.OpSend, Payload: smbdirect.NegotiateResponse{MinVersion: 0x100, MaxVersion: 0x100, Version: 0x100, CreditsRequested: 10,
		CreditsGranted: credits, MaxReadWriteSize: 1 << 20, PreferredSendSize: 1024, MaxReceiveSize: 1024, MaxFragmentedSize: 131072}.Append(nil)})
	p.send(0, credits, nil)
}

func header(c smbdirect.Command, id uint64) smbdirect.Header {
	return smbdirect.Header{CreditCharge: 1, Credits: 1, Command: c, MessageID: id, SessionID: 1, TreeID: 5}
}

// A READ is RDMA Writes into its buffers, a WRITE is RDMA Reads from them
// (MS-SMBD, section 3.1.4.2). A token can stand in the buffer descriptor in
// either order.
func TestReadWrite(t *testing.T) {
	for _, stag := range []uint32{0x0000a502, 0x02a50000} {
		p := newPeer()
		p.negotiate(10)
		b1 := smbdirect.Descriptor{Offset: 0x1000, Token: 0xa502, Length: 65536}
		b2 := smbdirect.Descriptor{Offset: 0x90000, Token: 0xa502, Length: 4096}
		r, w := header(smbdirect.Read, 7), header(smbdirect.Write, 8)
		p.send(0, 0, readWrite(r, 8192, 69632, smbdirect.ChannelRDMAV1Invalidate, b1, b2))
		if got, want := string(p.d.Text), "SMB2 READ Request offset 8192 length 69632 mid 7"; got != want || p.d.Command != "smb2.read" {
			t.Errorf("%q, want %q", got, want)
		}
		p.message(ulp.Message{Side: 1, Op: rdmap.OpWrite, STag: stag, TO: 0x1000, Size: 65536})
		p.message(ulp.Message{Side: 1, Op: rdmap.OpWrite, STag: stag, TO: 0x90000, Size: 4096})
		if got, want := string(p.d.Text), "data of smb2.read (#4)"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		p.message(ulp.Message{Side: 1, Op: rdmap.OpWrite, STag: stag, TO: 0x80000, Size: 100}) // of nobody
		p.send(1, 1, readResponse(r, 69632))
		p.send(0, 0, readWrite(w, 0, 65536, smbdirect.ChannelRDMAV1, b1))
		p.message(ulp.Message{Side: 1, Op: rdmap.OpReadRequest, STag: stag, TO: 0x1000, ReadSize: 65536, Size: 28})
		p.message(ulp.Message{Side: 0, Op: rdmap.OpReadResponse, Answers: p.n, Size: 65536})
		p.send(1, 1, writeResponse(w, 65536))
		p.dec.End(mpa.Stamp{Time: 1e6})
		if got := names(p.Commands); got != "smbdirect.negotiate, smb2.read, smb2.write" {
			t.Fatal(got)
		}
		for i, want := range []struct {
			size, moved uint64
			parts       int
		}{{69632, 69632, 2}, {65536, 65536, 2}} {
			if c := p.Commands[i+1]; c.Size != want.size || c.Moved != want.moved || c.PartCount != want.parts || c.Status != ulp.OK {
				t.Errorf("%+v", c)
			}
		}
		if len(p.Events) != 0 {
			t.Errorf("%+v", p.Events)
		}
	}
}

func TestDataLength(t *testing.T) {
	p := newPeer()
	r := header(smbdirect.Read, 7)
	p.send(0, 1, readWrite(r, 0, 4096, smbdirect.ChannelRDMAV1, smbdirect.Descriptor{Offset: 0x1000, Token: 1, Length: 4096}))
	p.message(ulp.Message{Side: 1, Op: rdmap.OpWrite, STag: 1, TO: 0x1000, Size: 1000})
	p.send(1, 1, readResponse(r, 4096))
	if len(p.Events) != 1 || p.Events[0].Kind != ulp.DataLength || p.Events[0].Value != 1000 || p.Events[0].Limit != 4096 {
		t.Errorf("%+v", p.Events)
	}
}

// A message in three fragments is a command from the first octet of the first
// to the last of the last.
func TestFragments(t *testing.T) {
	p := newPeer()
	c := header(smbdirect.Create, 9)
	wire := create(c, strings.Repeat("long", 200))
	var parts [][]byte
	for len(wire) > 0 {
		n := min(len(wire), 1000)
		parts, wire = append(parts, wire[:n]), wire[n:]
	}
	left := 0
	for _, f := range parts {
		left += len(f)
	}
	for i, f := range parts {
		left -= len(f)
		p.message(ulp.Message{Op: rdmap.OpSend, Payload: smbdirect.Transfer{CreditsRequested: 10, Remaining: uint32(left)}.Append(nil, f)})
		if i == 0 && string(p.d.Text) != "SMB Direct fragment of 1000 octets, 720 to come" {
			t.Error(string(p.d.Text))
		}
	}
	p.send(1, 1, failure(c, 0xC0000034))
	if len(p.Commands) != 1 || names(p.Commands) != "smb2.create STATUS_OBJECT_NAME_NOT_FOUND" {
		t.Fatalf("%s", names(p.Commands))
	}
	k := p.Commands[0]
	if k.Request != 1 || k.Start.Time != 1000 || k.Sent.Time != int64(len(parts))*1000 || k.Reply != len(parts)+1 || k.Status != ulp.Failed {
		t.Errorf("%+v", k)
	}
	if f := k.Fields.Get("name"); f == nil || f.Text != strings.Repeat("long", 200) {
		t.Errorf("%+v", f)
	}
}

func TestCompoundAsyncCancel(t *testing.T) {
	p := newPeer()
	p.send(0, 1, compound(create(header(smbdirect.Create, 1), "a"), readWrite(header(smbdirect.Read, 2), 0, 100, 0)))
	if got, want := string(p.d.Text), `SMB2 CREATE Request "a" mid 1, SMB2 READ Request offset 0 length 100 mid 2`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.send(1, 1, compound(failure(header(smbdirect.Create, 1), 0xC0000022), failure(header(smbdirect.Read, 2), 0xC0000022)))
	n := header(smbdirect.ChangeNotify, 3)
	p.send(0, 1, append(n.Append(nil), make([]byte, 32)...))
	interim := n
	interim.Flags = smbdirect.FlagAsync
	p.send(1, 1, failure(interim, 0x103))
	if len(p.Commands) != 2 {
		t.Errorf("an interim response ends a command: %s", names(p.Commands))
	}
	stop := n
	stop.Command = smbdirect.Cancel
	p.send(0, 1, append(stop.Append(nil), 4, 0, 0, 0))
	p.send(1, 1, failure(interim, 0xC0000120))
	l := header(smbdirect.Lock, 4)
	p.send(0, 1, append(l.Append(nil), make([]byte, 48)...))
	p.send(0, 1, append((&smbdirect.Header{Command: smbdirect.ChangeNotify, MessageID: 5}).Append(nil), make([]byte, 32)...))
	p.dec.End(mpa.Stamp{Time: 1e6})
	if got, want := names(p.Commands), "smb2.create STATUS_ACCESS_DENIED, smb2.read STATUS_ACCESS_DENIED, smb2.change_notify STATUS_CANCELLED, smb2.lock"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	var kinds []string
	for _, e := range p.Events {
		kinds = append(kinds, e.Kind)
	}
	if got, want := strings.Join(kinds, " "), "command_failed command_failed command_aborted command_failed command_unanswered"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestEncrypted(t *testing.T) {
	p := newPeer()
	if e := p.send(0, 1, append((&smbdirect.Encrypted{OriginalSize: 180, Flags: 1, SessionID: 0x55}).Append(nil), make([]byte, 180)...)); e != ulp.Strong {
		t.Errorf("evidence %d", e)
	}
	if got, want := string(p.d.Text), "SMB3 encrypted 232 octets session 0x0000000000000055"; got != want || p.d.Fields.Get("encrypted") == nil {
		t.Errorf("%q, want %q", got, want)
	}
	p.send(1, 1, append(smbdirect.Compressed{OriginalSize: 4096, Algorithm: 1}.Append(nil), make([]byte, 30)...))
	if got, want := string(p.d.Text), "SMB3 compressed (LZNT1) 46 octets, 4096 uncompressed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Two credits for each side: the client uses its second at 5 µs, and gets one
// back at 7 µs.
func TestCredits(t *testing.T) {
	p := newPeer()
	p.negotiate(3)
	p.send(0, 0, readWrite(header(smbdirect.Read, 1), 0, 10, 0))
	p.send(0, 0, readWrite(header(smbdirect.Read, 2), 0, 10, 0)) // 5 µs
	p.send(1, 0, readResponse(header(smbdirect.Read, 1), 10))
	p.send(1, 1, readResponse(header(smbdirect.Read, 2), 10)) // 7 µs
	if len(p.Events) != 1 || p.Events[0].Kind != ulp.CreditsExhausted || p.Events[0].Side != 0 || p.Events[0].Wait != 2000 || p.Events[0].N != 5 {
		t.Errorf("%+v", p.Events)
	}
	p.send(0, 0, nil)
	p.send(0, 0, nil) // with none
	if k := len(p.Events); k != 2 || p.Events[1].Kind != ulp.ProtocolViolation {
		t.Errorf("%+v", p.Events)
	}
}

func FuzzDecoder(f *testing.F) {
	tr := smbdirect.Transfer{CreditsRequested: 1}
	f.Add(tr.Append(nil, readWrite(header(smbdirect.Read, 1), 0, 10, 1, smbdirect.Descriptor{Length: 10})), tr.Append(nil, readResponse(header(smbdirect.Read, 1), 10)), uint16(300))
	f.Add(smbdirect.Transfer{CreditsRequested: 1, Remaining: 10}.Append(nil, create(header(smbdirect.Create, 1), "abc")), tr.Append(nil, []byte("0123456789")), uint16(64))
	f.Add(tr.Append(nil, compound(create(header(smbdirect.Create, 1), "a"), create(header(smbdirect.Create, 2), "b"))), tr.Append(nil, nil), uint16(1000))
	f.Fuzz(func(t *testing.T, a, b []byte, cut uint16) {
		p := newPeer()
		for i, w := range [][]byte{a, b, a, b} {
			m := ulp.Message{Side: ulp.Side(i & 1), Op: rdmap.OpSend, Payload: w[:min(len(w), int(cut))], Size: uint64(len(w))}
			e := p.message(m)
			if e < ulp.Against || e > ulp.Strong {
				t.Fatalf("evidence %d", e)
			}
			m.Complete = true
			if j := smbdirect.Protocol().Judge(&m); j > e {
				t.Fatalf("Judge says %d, the decoder %d", j, e)
			}
			if len(w) > 12 {
				p.message(ulp.Message{Side: ulp.Side(i & 1), Op: rdmap.OpWrite, STag: uint32(w[8]), TO: uint64(w[0]), Size: 5})
			}
		}
		p.dec.End(mpa.Stamp{})
		p.dec.Summary(&p.Summary)
		for _, c := range p.Commands {
			if s := c.Split(); s.Request < 0 || s.Data < 0 {
				t.Fatalf("%+v", c)
			}
		}
	})
}

func FuzzWire(f *testing.F) {
	f.Add(create(header(smbdirect.Create, 1), "abc"))
	f.Add(readWrite(header(smbdirect.Write, 1), 0, 10, 1, smbdirect.Descriptor{Length: 10}))
	f.Fuzz(func(t *testing.T, b []byte) {
		smbdirect.ParsePrivateData(b)
		if r, n, err := smbdirect.ParseNegotiateRequest(b); err == nil && !bytes.Equal(r.Append(nil)[:4], b[:4]) {
			t.Fatalf("%d: %+v", n, r)
		}
		smbdirect.ParseNegotiateResponse(b)
		if x, data, err := smbdirect.ParseTransfer(b); err == nil && x.DataLength > 0 && x.DataOffset == smbdirect.DataOffset && int(x.DataLength) == len(data) {
			y, again, err := smbdirect.ParseTransfer(x.Append(nil, data))
			if err != nil || y != x || !bytes.Equal(again, data) {
				t.Fatalf("%+v as %+v: %v", x, y, err)
			}
		}
		h, n, err := smbdirect.ParseHeader(b)
		if err != nil {
			return
		}
		if !bytes.Equal(h.Append(nil), b[:n]) {
			t.Fatalf("% x as % x", b[:n], h.Append(nil))
		}
		for c := range smbdirect.Command(30) {
			r, err := smbdirect.ParseRequest(c, b)
			if err == nil && (len(r.Name) > len(b) || len(r.Descriptors) > len(b)) {
				t.Fatalf("%+v", r)
			}
			_ = r.Name.String()
			smbdirect.ParseResponse(c, b)
		}
	})
}
