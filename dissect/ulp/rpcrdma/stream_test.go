package rpcrdma_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/dissect/ulp/rpcrdma"
	"github.com/iwdump/iwdump/internal/ulptest"
)

// Of a real session every call is answered, and what RDMA moved for each is
// what it asked for. The truth file of nfs-rdma-v3 says 36 calls, 200006 octets
// read and 100006 written; of those written, "small" went inline.
func TestSession(t *testing.T) {
	for _, c := range []struct {
		name                 string
		commands             int
		read, written, moved uint64
		failed               string
		keep                 int
	}{
		{name: "nfs-rdma-v3", commands: 36, read: 200006, written: 100006, moved: 300006, failed: "nfs3.lookup NFS3ERR_NOENT", keep: 1024},
		{name: "nfs-rdma-v3", commands: 36, read: 200006, written: 100006, moved: 300006, failed: "nfs3.lookup NFS3ERR_NOENT", keep: 256},
		{name: "nfs-rdma-v42", commands: 39, read: 100006, written: 100006, moved: 200006, keep: 1024},
	} {
		t.Run(fmt.Sprint(c.name, c.keep), func(t *testing.T) {
			qps := ulptest.Run(t, pcaps+c.name+".pcap.gz", c.keep, rpcrdma.Protocol())
			if len(qps) != 1 || qps[0].Name != "rpcrdma" || qps[0].Doubt || len(qps[0].Commands) != c.commands {
				t.Fatalf("%d QPs, %+v", len(qps), qps[0].Name)
			}
			var read, written, moved uint64
			var failed []string
			for _, k := range qps[0].Commands {
				if k.Reply == 0 || k.Status == ulp.Unanswered {
					t.Errorf("%s (#%d) has no reply", k.Name, k.Request)
				}
				if k.Status == ulp.Failed {
					failed = append(failed, k.Name+" "+k.Result)
				}
				switch _, op, _ := strings.Cut(k.Name, "."); op {
				case "read":
					read += k.Size
					moved += k.Moved
				case "write":
					written += k.Size
					moved += k.Moved
				}
				if s := k.Split(); s.Request < 0 || s.Data < 0 || s.Server < 0 || s.Reply < 0 || s.Request+s.Data+s.Server+s.Reply != k.End.Time-k.Start.Time {
					t.Errorf("%s (#%d): %+v", k.Name, k.Request, s)
				}
			}
			// "small" and a line feed are written inline: 6 octets.
			if read != c.read || written != c.written || moved != c.moved || strings.Join(failed, ", ") != c.failed {
				t.Errorf("read %d, written %d, moved %d octets, failed %q", read, written, moved, failed)
			}
			for _, e := range qps[0].Events {
				if e.Kind != ulp.CommandFailed {
					t.Errorf("%s: %s", e.Kind, e.Detail)
				}
			}
		})
	}
}

// peer sends messages to a decoder, one a microsecond.
type peer struct {
	ulptest.Result
	dec ulp.Decoder
	n   int
	t   *testing.T
	d   ulp.Description
}

func newPeer(t *testing.T) *peer {
	p := &peer{t: t}
	p.dec = rpcrdma.Protocol().New(&p.Result)
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

func (p *peer) send(side ulp.Side, h rpcrdma.Header, body []byte) ulp.Evidence {
	h.Version = 1
	return p.message(ulp.Message{Side: side, Op: rdmap.OpSend, Payload: append(h.Append(nil), body...)})
}

func (p *peer) call(side ulp.Side, xid, program, version, proc uint32, args ...byte) {
	p.send(side, rpcrdma.Header{XID: xid, Credits: 2}, append((&rpcrdma.Call{XID: xid, Program: program, Version: version, Procedure: proc}).Append(nil), args...))
}

func (p *peer) reply(side ulp.Side, xid uint32, results ...byte) {
	p.send(side, rpcrdma.Header{XID: xid, Credits: 2}, append((&rpcrdma.Reply{XID: xid}).Append(nil), results...))
}

func (p *peer) names() string {
	var s []string
	for _, c := range p.Commands {
		s = append(s, strings.TrimSpace(c.Name+" "+c.Result))
	}
	return strings.Join(s, ", ")
}

// Calls in both directions may have the same XID (RFC 8167, section 2.4.1).
func TestReverseDirection(t *testing.T) {
	p := newPeer(t)
	p.call(0, 7, rpcrdma.ProgramNFS, 3, 0)
	p.call(1, 7, 0x40000000, 1, 0)
	p.reply(0, 7)
	p.reply(1, 7)
	p.dec.End(mpa.Stamp{Time: 1e6})
	if p.names() != "nfs4cb.null, nfs3.null" || p.Commands[0].Side != 1 || p.Commands[0].Request != 2 || p.Commands[0].Reply != 3 {
		t.Errorf("%s: %+v", p.names(), p.Commands[0])
	}
}

// A Long Call is in a Position Zero Read chunk, a Long Reply in the Reply chunk
// (RFC 8166, section 3.5.2): both are read as RDMA moves them.
func TestLongMessages(t *testing.T) {
	p := newPeer(t)
	call := (&rpcrdma.Call{XID: 9, Program: rpcrdma.ProgramNFS, Version: 3, Procedure: 17}).Append(nil)
	p.send(0, rpcrdma.Header{XID: 9, Credits: 2, Proc: rpcrdma.ProcNoMsg,
		Reads:    rpcrdma.AppendReadList(nil, rpcrdma.ReadSegment{Segment: rpcrdma.Segment{Handle: 5, Length: 2000, Offset: 100}}),
		HasReply: true, Reply: rpcrdma.AppendWriteChunk(nil, rpcrdma.Segment{Handle: 6, Length: 4000, Offset: 200})}, nil)
	if got := string(p.d.Text); got != "RPC call in a Read chunk of 2000 octets xid 0x00000009" {
		t.Error(got)
	}
	p.message(ulp.Message{Side: 1, Op: rdmap.OpReadRequest, STag: 5, TO: 100, ReadSize: 2000, Size: 28})
	p.message(ulp.Message{Side: 0, Op: rdmap.OpReadResponse, Answers: p.n, Size: 2000, Payload: call})
	results := append((&rpcrdma.Reply{XID: 9}).Append(nil), 0, 0, 0, 70, 0, 0, 0, 0) // NFS3ERR_STALE
	p.message(ulp.Message{Side: 1, Op: rdmap.OpWrite, STag: 6, TO: 200, Size: 36, Payload: results})
	p.send(1, rpcrdma.Header{XID: 9, Credits: 2, Proc: rpcrdma.ProcNoMsg, HasReply: true,
		Reply: rpcrdma.AppendWriteChunk(nil, rpcrdma.Segment{Handle: 6, Length: 36, Offset: 200})}, nil)
	if p.names() != "nfs3.readdirplus NFS3ERR_STALE" || p.Commands[0].Status != ulp.Failed || p.Commands[0].Moved != 2036 || p.Commands[0].PartCount != 3 {
		t.Errorf("%s: %+v", p.names(), p.Commands)
	}
	if got := string(p.d.Text); got != "RPC reply nfs3.readdirplus NFS3ERR_STALE xid 0x00000009" {
		t.Error(got)
	}
}

func TestErrors(t *testing.T) {
	p := newPeer(t)
	p.call(0, 1, rpcrdma.ProgramNFS, 3, 0)
	p.send(1, rpcrdma.Header{XID: 1, Credits: 2, Proc: rpcrdma.ProcError, Err: rpcrdma.ErrChunk}, nil)
	p.call(0, 2, 400122, 1, 3)
	p.send(1, rpcrdma.Header{XID: 2, Credits: 2}, (&rpcrdma.Reply{XID: 2, Stat: 1}).Append(nil))
	p.call(0, 3, rpcrdma.ProgramNFS, 4, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 24)
	p.send(1, rpcrdma.Header{XID: 3, Credits: 2}, (&rpcrdma.Reply{XID: 3, Denied: true, Stat: 1, AuthStat: 5}).Append(nil))
	p.send(0, rpcrdma.Header{XID: 3, Credits: 2, Proc: rpcrdma.ProcDone}, nil)
	p.call(0, 4, rpcrdma.ProgramNFS, 3, 21, 0, 0, 0, 0)
	p.dec.End(mpa.Stamp{Time: 1e6})
	if got, want := p.names(), "nfs3.null RDMA_ERROR ERR_CHUNK, rpc.call PROG_UNAVAIL, nfs4.putrootfh AUTH_TOOWEAK, nfs3.commit"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	var kinds []string
	for _, e := range p.Events {
		kinds = append(kinds, e.Kind)
	}
	if got, want := strings.Join(kinds, " "), "ulp_error command_failed command_failed command_failed ulp_violation command_unanswered"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Two credits, both in use from the second call to the first reply.
func TestCredits(t *testing.T) {
	p := newPeer(t)
	p.call(0, 1, rpcrdma.ProgramNFS, 3, 0) // 1 µs
	p.reply(1, 1)
	p.call(0, 2, rpcrdma.ProgramNFS, 3, 0)
	p.call(0, 3, rpcrdma.ProgramNFS, 3, 0) // 4 µs
	p.message(ulp.Message{Side: 1, Op: rdmap.OpWrite, STag: 99, Size: 1})
	p.reply(1, 2) // 6 µs
	p.reply(1, 3)
	if len(p.Events) != 1 || p.Events[0].Kind != ulp.CreditsExhausted || p.Events[0].Wait != 2000 || p.Events[0].Limit != 2 || p.Events[0].Side != 0 || p.Events[0].N != 4 {
		t.Errorf("%+v", p.Events)
	}
}

// A reply that says that more was written than was.
func TestDataLength(t *testing.T) {
	p := newPeer(t)
	chunk := rpcrdma.Segment{Handle: 6, Length: 4096, Offset: 200}
	args := (&rpcrdma.Call{XID: 1, Program: rpcrdma.ProgramNFS, Version: 3, Procedure: 6}).Append(nil)
	args = append(args, 0, 0, 0, 4, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0)
	p.send(0, rpcrdma.Header{XID: 1, Credits: 2, Writes: rpcrdma.AppendWriteList(nil, rpcrdma.AppendWriteChunk(nil, chunk))}, args)
	p.message(ulp.Message{Side: 1, Op: rdmap.OpWrite, STag: 6, TO: 200, Size: 1000})
	chunk.Length = 1024
	results := append((&rpcrdma.Reply{XID: 1}).Append(nil), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 1, 0, 0, 4, 0)
	p.send(1, rpcrdma.Header{XID: 1, Credits: 2, Writes: rpcrdma.AppendWriteList(nil, rpcrdma.AppendWriteChunk(nil, chunk))}, results)
	if len(p.Events) != 1 || p.Events[0].Kind != ulp.DataLength || p.Events[0].Value != 1000 || p.Events[0].Limit != 1024 {
		t.Errorf("%+v", p.Events)
	}
	if len(p.Commands) != 1 || p.Commands[0].Size != 1024 || p.Commands[0].Moved != 1000 {
		t.Errorf("%+v", p.Commands)
	}
}

func FuzzDecoder(f *testing.F) {
	call := func(h rpcrdma.Header, c rpcrdma.Call, args string) []byte {
		h.XID, h.Version, h.Credits, c.XID = 7, 1, 2, 7
		return append(append(h.Append(nil), c.Append(nil)...), args...)
	}
	reply := func(h rpcrdma.Header, results string) []byte {
		h.XID, h.Version, h.Credits = 7, 1, 2
		return append(append(h.Append(nil), (&rpcrdma.Reply{XID: 7}).Append(nil)...), results...)
	}
	segment := rpcrdma.Segment{Handle: 1, Length: 100, Offset: 1}
	writes := rpcrdma.Header{Writes: rpcrdma.AppendWriteList(nil, rpcrdma.AppendWriteChunk(nil, segment)), HasReply: true, Reply: rpcrdma.AppendWriteChunk(nil, segment)}
	f.Add(call(writes, rpcrdma.Call{Program: rpcrdma.ProgramNFS, Version: 3, Procedure: 6}, "\x00\x00\x00\x04abcd\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x10"), reply(writes, "\x00\x00\x00\x00"), uint16(400))
	f.Add(call(rpcrdma.Header{}, rpcrdma.Call{Program: rpcrdma.ProgramNFS, Version: 4, Procedure: 1}, "\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x18"), reply(rpcrdma.Header{}, "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x18\x00\x00\x00\x00"), uint16(400))
	f.Add(call(rpcrdma.Header{}, rpcrdma.Call{Program: 0x40000000, Version: 1, Procedure: 1}, "\x00\x00\x00\x00"), reply(rpcrdma.Header{}, ""), uint16(60))
	f.Fuzz(func(t *testing.T, a, b []byte, cut uint16) {
		p := newPeer(nil)
		for i, w := range [][]byte{a, b, a, b} {
			m := ulp.Message{Side: ulp.Side(i & 1), Op: rdmap.OpSend, Payload: w[:min(len(w), int(cut))], Size: uint64(len(w))}
			e := p.message(m)
			m.Complete = true
			if j := rpcrdma.Protocol().Judge(&m); j > e || e > ulp.Strong {
				t.Fatalf("Judge says %d, the decoder %d", j, e)
			}
			p.message(ulp.Message{Side: 1, Op: rdmap.OpWrite, STag: 1, TO: 1, Size: 50, Payload: b})
			p.message(ulp.Message{Side: 1, Op: rdmap.OpReadRequest, STag: 1, TO: 2, ReadSize: 50, Size: 28})
			p.message(ulp.Message{Side: 0, Op: rdmap.OpReadResponse, Answers: p.n, Size: 50, Payload: a})
		}
		p.dec.End(mpa.Stamp{})
		p.dec.Summary(&p.Summary)
		for _, c := range p.Commands {
			if c.Name == "" {
				t.Fatalf("%+v", c)
			}
		}
	})
}
