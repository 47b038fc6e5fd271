package rpcrdma_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp/rpcrdma"
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

// read hands out the messages of a capture, with all of their payloads.
func read(t *testing.T, name string, f func(*qp.Message)) {
	t.Helper()
	src := capture.Open([]string{name}, nil, capture.Options{})
	defer src.Close()
	if _, err := decode.Run(src, messages(f), decode.Options{Workers: 1, Messages: true, KeepPayload: 1 << 20}); err != nil {
		t.Fatal(err)
	}
}

// rpc is an RPC message as it came, with what is said of it.
type rpc struct {
	call     rpcrdma.Call // that it is, or that it answers
	reply    bool
	fromB    bool
	wire     []byte // with the data of chunks put back
	op       string
	ops      []uint32 // of COMPOUND
	status   uint32
	hasState bool
	values   []rpcrdma.Value
	name     string
	whole    bool
}

// rpcs reads the RPC messages of a capture.
func rpcs(t *testing.T, name string) (all []rpc) {
	calls := map[uint32]rpcrdma.Call{}
	memory := map[[2]uint64][]byte{} // what Writes put where
	read(t, name, func(m *qp.Message) {
		if m.Op == rdmap.OpWrite {
			memory[[2]uint64{uint64(m.Header.STag), m.Header.TO}] = slices.Clone(m.Payload)
		}
		if !m.Op.IsSend() {
			return
		}
		h, n, err := rpcrdma.ParseHeader(m.Payload)
		if err != nil {
			t.Errorf("%s: message %d: %v", name, m.N, err)
			return
		}
		body := slices.Clone(m.Payload[n:])
		if h.Proc == rpcrdma.ProcNoMsg {
			body = fetch(memory, h.Reply)
		}
		isCall, ok := rpcrdma.IsCall(body)
		if !ok {
			t.Errorf("%s: message %d: neither call nor reply", name, m.N)
			return
		}
		r := rpc{reply: !isCall, fromB: m.From == qp.Responder, wire: body}
		if isCall {
			r.call, n, err = rpcrdma.ParseCall(body)
			calls[r.call.XID] = r.call
		} else {
			var p rpcrdma.Reply
			p, n, err = rpcrdma.ParseReply(body)
			r.call = calls[p.XID]
		}
		if err != nil {
			t.Errorf("%s: message %d: %v", name, m.N, err)
			return
		}
		r.parse(body[n:], rpcrdma.Chunks{Base: n, Reads: h.Reads, Writes: h.Writes})
		// What was moved in chunks, in its place: of these captures, one READ or
		// WRITE a message, of results the last.
		if r.reply {
			for c := range h.Writes.All() {
				r.wire = append(r.wire, fetch(memory, c)...)
				r.wire = append(r.wire, make([]byte, -len(r.wire)&3)...)
			}
		} else if h.Reads.Len() > 0 {
			var at uint32
			for s := range h.Reads.All() {
				at = s.Position
			}
			data := make([]byte, (h.Reads.Octets()+3)&^3)
			r.wire = slices.Insert(r.wire, int(at), data...)
		}
		all = append(all, r)
	})
	return all
}

func fetch(memory map[[2]uint64][]byte, c rpcrdma.WriteChunk) (b []byte) {
	for s := range c.All() {
		for at, left := s.Offset, uint64(s.Length); left > 0; {
			d := memory[[2]uint64{uint64(s.Handle), at}]
			if len(d) == 0 {
				return b
			}
			b = append(b, d...)
			at += uint64(len(d))
			left -= min(left, uint64(len(d)))
		}
	}
	return b
}

func (r *rpc) parse(b []byte, at rpcrdma.Chunks) {
	c := r.call
	r.op = rpcrdma.Name(c.Program, c.Version, c.Procedure)
	callback := r.op == "nfs4cb.compound"
	switch {
	case r.op == "nfs4.compound" || callback:
		p := rpcrdma.Compound{Callback: callback, Reply: r.reply}
		if _, err := p.Parse(b, at); err != nil {
			return
		}
		r.op, r.whole, r.status, r.hasState = p.OpName(), p.Whole(), p.Status, r.reply
		for _, o := range p.Ops {
			r.ops = append(r.ops, o.Code)
			r.values = append(r.values, o.Values...)
		}
	case r.reply:
		var s rpcrdma.Status
		s, r.hasState, r.values, r.whole = rpcrdma.Results(nil, c.Program, c.Version, c.Procedure, b, at)
		r.status, r.name = s.Code, s.Name
	default:
		r.values, r.whole = rpcrdma.Args(nil, c.Program, c.Version, c.Procedure, b, at)
	}
}

func (r *rpc) value(names ...string) string {
	var s []string
	for _, v := range r.values {
		if slices.Contains(names, v.Name) {
			s = append(s, strconv.FormatUint(v.Num, 10))
		}
	}
	return strings.Join(s, ";")
}

// conversation puts RPC messages on TCP, with their lengths in front (RFC 5531,
// section 11).
func conversation(all []rpc) *tshark.Conversation {
	c := &tshark.Conversation{Port: 2049}
	for _, r := range all {
		c.Send(r.fromB, append(binary.BigEndian.AppendUint32(nil, 1<<31|uint32(len(r.wire))), r.wire...))
	}
	return c
}

// The calls and replies of real sessions are what tshark says they are, once
// they are on TCP and what was moved by RDMA is put back.
func TestCapturesAgainstTshark(t *testing.T) {
	tshark.Need(t)
	for _, name := range []string{"nfs-rdma-v3", "nfs-rdma-v42"} {
		t.Run(name, func(t *testing.T) {
			all := rpcs(t, pcaps+name+".pcap.gz")
			// READDIR of NFSv3 and NFSACL are not read to their ends.
			open := func(op string) bool {
				return op == "nfs3.readdirplus" || op == "nfs3.readdir" || strings.HasPrefix(op, "nfsacl")
			}
			rows := conversation(all).Fields(t, "rpc", "rpc.msgtyp", "rpc.xid", "rpc.program", "rpc.programversion", "rpc.procedure",
				"nfs.opcode", "nfs.status3", "nfs.nfsstat4", "nfs.offset3", "nfs.offset4", "nfs.count3", "nfs.count4", "nfs.seqid", "nfs.slotid", "_ws.malformed")
			if len(rows) != len(all) {
				t.Fatalf("%d messages, tshark says %d", len(all), len(rows))
			}
			for i, r := range all {
				if !r.whole && !open(r.op) {
					t.Errorf("message %d, %s, reply %v: not read to its end", i, r.op, r.reply)
				}
				msgtyp, status3, status4, offset, count := "0", "", "", r.value("offset"), r.value("count")
				if r.reply {
					msgtyp = "1"
					switch {
					case r.hasState && len(r.ops) > 0:
						status4 = fmt.Sprint(r.status)
					case r.hasState && r.call.Program == rpcrdma.ProgramNFS:
						status3 = fmt.Sprint(r.status)
					}
				}
				var ops []string
				for _, o := range r.ops {
					ops = append(ops, fmt.Sprint(o))
				}
				row := rows[i]
				row[3], _, _ = strings.Cut(row[3], ";") // it is there twice
				if r.reply && status4 != "" {
					// tshark has the status of the COMPOUND first, then that of each
					// operation.
					row[7], _, _ = strings.Cut(row[7], ";")
				}
				got := []string{msgtyp, fmt.Sprintf("0x%08x", r.call.XID), fmt.Sprint(r.call.Program), fmt.Sprint(r.call.Version), fmt.Sprint(r.call.Procedure),
					strings.Join(ops, ";"), status3, status4}
				if !slices.Equal(got, row[:8]) {
					t.Errorf("message %d, %s: %q\ntshark says %q", i, r.op, got, row[:8])
				}
				switch r.op {
				case "nfs3.read", "nfs3.write":
					if row[8] != offset || row[10] != count {
						t.Errorf("message %d, %s: offset %q, count %q, tshark says %q and %q", i, r.op, offset, count, row[8], row[10])
					}
				case "nfs4.read", "nfs4.write":
					if row[9] != offset || row[11] != count {
						t.Errorf("message %d, %s: offset %q, count %q, tshark says %q and %q", i, r.op, offset, count, row[9], row[11])
					}
				}
				if row[14] != "" {
					t.Errorf("message %d, %s: malformed to tshark: the data was not put back right", i, r.op)
				}
			}
		})
	}
}

// What the truth files of the captures say that the client's mountstats said:
// of v3 four READs of 200006 octets in all, two WRITEs of 100006, two
// READDIRPLUS; of v4.2 two READs of 100006 and two WRITEs of 100006.
func TestWorkload(t *testing.T) {
	for _, c := range []struct {
		name       string
		want       map[string]int
		read, wrot uint64
	}{
		{"nfs-rdma-v3", map[string]int{"nfs3.read": 4, "nfs3.write": 2, "nfs3.readdirplus": 2}, 200006, 100006},
		{"nfs-rdma-v42", map[string]int{"nfs4.read": 2, "nfs4.write": 2, "nfs4.create_session": 1, "nfs4.destroy_session": 1}, 100006, 100006},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls, replies := map[string]int{}, 0
			var read, wrote uint64
			for _, r := range rpcs(t, pcaps+c.name+".pcap.gz") {
				if !r.reply {
					calls[r.op]++
				} else {
					replies++
				}
				for _, v := range r.values {
					switch {
					case r.reply && strings.HasSuffix(r.op, ".read") && v.Name == "length":
						read += v.Num
					case !r.reply && strings.HasSuffix(r.op, ".write") && v.Name == "length":
						wrote += v.Num
					}
				}
			}
			total := 0
			for _, n := range calls {
				total += n
			}
			for op, n := range c.want {
				if calls[op] != n {
					t.Errorf("%d calls of %s, want %d", calls[op], op, n)
				}
			}
			if read != c.read || wrote != c.wrot || replies != total {
				t.Errorf("read %d, wrote %d octets, %d replies of %d calls", read, wrote, replies, total)
			}
			t.Log(calls)
		})
	}
}
