package decode_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/internal/decode"
	"github.com/iwdump/iwdump/qp"
)

const pcaps = "../../testdata/pcaps"

// records keeps what decode.Run hands out.
type records struct {
	fpdus    []qp.FPDU
	messages []qp.Message
	ops      []qp.Operation
	events   []qp.Event
	qps      []qp.Summary
}

func (r *records) FPDU(f *qp.FPDU)           { r.fpdus = append(r.fpdus, *f) }
func (r *records) Message(m *qp.Message)     { r.messages = append(r.messages, *m) }
func (r *records) Operation(o *qp.Operation) { r.ops = append(r.ops, *o) }
func (r *records) Event(e *qp.Event)         { r.events = append(r.events, *e) }
func (r *records) QP(s *qp.Summary)          { r.qps = append(r.qps, *s) }

func run(t testing.TB, o decode.Options, names ...string) (*records, decode.Stats) {
	t.Helper()
	src := capture.Open(names, nil, capture.Options{})
	defer src.Close()
	r := &records{}
	o.Messages, o.FPDUs, o.Operations = true, true, true
	stats, err := decode.Run(src, r, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(stats.Damage) > 0 {
		t.Fatalf("damage: %v", stats.Damage)
	}
	return r, stats
}

// truth is what was put on the wire of a synthetic capture.
type truth struct {
	Options map[string]any
	Conns   []struct{ Initiator, Responder int }
	FPDUs   []struct {
		Conn        int
		From        string
		TCPSeq      uint32 `json:"tcp_seq"`
		ULPDULength int    `json:"ulpdu_length"`
		Op          string
		Last        bool
		STag        *uint32
		TO          uint64
		Queue       uint32
		MSN         *uint32
		MO          uint32
		Markers     int
		CRCGood     bool `json:"crc_good"`
		Captured    string
	}
	Messages []struct {
		From string
		Op   string
		Size uint64
	}
}

func readTruth(t *testing.T, name string) (tr truth) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

type place struct {
	src, dst int
	seq      uint32
}

// Every FPDU that was captured whole is found, none that is not there, and
// what is said of each is right.
func TestSynthetic(t *testing.T) {
	names, err := filepath.Glob(pcaps + "/synthetic/*.pcap.gz")
	if err != nil || len(names) < 20 {
		t.Fatalf("%d captures, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".pcap.gz"), func(t *testing.T) {
			tr := readTruth(t, strings.TrimSuffix(name, ".pcap.gz")+".truth.json.gz")
			r, _ := run(t, decode.Options{}, name)
			want := map[place][]int{} // a port can be used again, with the same numbers
			for i, f := range tr.FPDUs {
				c := tr.Conns[f.Conn]
				p := place{c.Initiator, c.Responder, f.TCPSeq}
				if f.From == "responder" {
					p.src, p.dst = p.dst, p.src
				}
				want[p] = append(want[p], i)
			}
			found := map[place]bool{}
			for i := range r.fpdus {
				f := &r.fpdus[i]
				p := place{int(f.Conn.Ends[f.Side].Port()), int(f.Conn.Ends[f.Side.Other()].Port()), f.Seq}
				n := -1
				for _, k := range want[p] {
					if tr.FPDUs[k].ULPDULength == f.Length {
						n = k
						break
					}
				}
				if n < 0 {
					t.Errorf("FPDU at %+v of %d octets, found by %v, is not there", p, f.Length, f.Found)
					continue
				}
				w := tr.FPDUs[n]
				same := f.Op.String() == w.Op && f.Header.Last == w.Last
				if w.STag != nil {
					same = same && f.Header.STag == *w.STag && f.Header.TO == w.TO
				}
				if w.MSN != nil {
					same = same && f.Header.MSN == *w.MSN && f.Header.MO == w.MO && f.Header.QN == w.Queue
				}
				if f.Complete {
					same = same && f.Markers == w.Markers
				}
				if !same {
					t.Errorf("FPDU at %+v is %+v, want %+v", p, f, w)
				}
				if f.CRC == mpa.CRCBad && w.CRCGood || f.CRC == mpa.CRCOK && !w.CRCGood {
					t.Errorf("FPDU at %+v: CRC %v, want good: %v", p, f.CRC, w.CRCGood)
				}
				if f.Complete && w.Captured == "full" {
					found[p] = true
				}
			}
			missed := 0
			for p, ks := range want {
				full := false
				for _, k := range ks {
					full = full || tr.FPDUs[k].Captured == "full"
				}
				if full && !found[p] {
					missed++
				}
			}
			if missed > 0 {
				t.Errorf("%d of %d FPDUs were captured and not found", missed, len(want))
			}
			opt := tr.Options
			if opt["none"] == true && len(r.qps) > 0 {
				t.Errorf("%d QPs in other traffic", len(r.qps))
			}
			for _, s := range r.qps {
				for side, c := range s.Stream {
					if c.Octets != c.Framed+c.Skipped+c.Missing {
						t.Errorf("QP %d side %d: %+v does not add up", s.Conn.Number, side, c)
					}
				}
			}
			if opt["gaps"] == true || opt["lock"] == true {
				return
			}
			wantMessages, messages := map[string]int{}, map[string]int{}
			for _, m := range tr.Messages {
				wantMessages[fmt.Sprintf("%v %v %d", m.From, m.Op, m.Size)]++
			}
			for _, m := range r.messages {
				if m.Startup == nil && (m.Complete || opt["snaplen"] != nil) {
					messages[fmt.Sprintf("%v %v %d", m.From, m.Op, m.Size)]++
				}
			}
			if d := cmp.Diff(wantMessages, messages); d != "" {
				t.Errorf("messages (-want +got)\n%s", d)
			}
			for _, e := range r.events {
				switch e.Kind {
				case "skipped", "resync", "ddp_violation", "tcp_gap":
					t.Errorf("event %s: %s", e.Kind, e.Detail)
				}
			}
		})
	}
}

// What the endpoints of the real captures say that they did.
func TestReal(t *testing.T) {
	type counts map[string]int
	rping := func(n int) counts { // n iterations: four Sends, a Read and a Write each
		return counts{"mpa_request": 1, "mpa_reply": 1, "send": 4 * n, "rdma_read_request": n, "rdma_read_response": n, "rdma_write": n}
	}
	with := func(c counts, more counts) counts {
		c = maps.Clone(c)
		for k, v := range more {
			c[k] += v
		}
		return c
	}
	// ten Reads, Writes and Sends, the last of them with Solicited Event
	mixed := counts{"mpa_request": 1, "mpa_reply": 1, "rdma_read_request": 10, "rdma_read_response": 10, "rdma_write": 10, "send": 9, "send_se": 1}
	for _, tt := range []struct {
		name string
		want counts
	}{
		{"rping-mtu1500-s64.pcap", rping(10)},
		{"siw/rping-mtu1500-s4096.pcap.gz", rping(10)},
		{"siw/rping-nano.pcap.gz", rping(5)},
		{"siw/vlan-rping.pcap.gz", rping(5)},
		{"siw/param-gso-rping.pcap.gz", rping(10)},
		{"siw/snap128-rping.pcap.gz", rping(10)},
		{"siw/param-p2p-rping.pcap.gz", with(rping(10), counts{"rdma_write": 1})},
		{"siw/verbs-mixed.pcap.gz", mixed},
		{"siw/param-mpav1-crc.pcap.gz", mixed},
		{"siw/param-p2p-rtr-read.pcap.gz", with(mixed, counts{"rdma_read_request": 1, "rdma_read_response": 1})},
		// send:0,send:5,sendse:100,sendse:0,write:0,write:1,write:5000,read:0,read:1,read:7,
		// read:5000,readro:64,sendinv:12,read:3000*4,write:3000*8,sendse:4096
		{"siw/iwt-allops.pcap.gz", counts{"mpa_request": 1, "mpa_reply": 1, "send": 2, "send_se": 3, "send_inv": 1, "rdma_write": 11,
			"rdma_read_request": 9, "rdma_read_response": 9}},
		{"siw/iwt-reads16.pcap.gz", counts{"mpa_request": 1, "mpa_reply": 1, "rdma_read_request": 48, "rdma_read_response": 48}},
		{"siw/iwt-reject.pcap.gz", counts{"mpa_request": 1, "mpa_reply": 1}},
		{"siw/mpa-raw-v3.pcap.gz", counts{"mpa_request": 1}},
		{"siw/nvme-tcp-read4k.pcap.gz", counts{}},
		{"siw/iwt-term-sendtoolong.pcap.gz", counts{"mpa_request": 1, "mpa_reply": 1, "send": 3, "terminate": 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := run(t, decode.Options{}, filepath.Join(pcaps, tt.name))
			got := counts{}
			for _, m := range r.messages {
				got[m.Op.String()]++
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// 16 Reads at a time, as often as its side asked for.
func TestOutstanding(t *testing.T) {
	r, _ := run(t, decode.Options{}, filepath.Join(pcaps, "siw/iwt-reads16.pcap.gz"))
	if len(r.qps) != 1 || max(r.qps[0].MaxDepth[0], r.qps[0].MaxDepth[1]) != 16 {
		t.Errorf("%+v", r.qps)
	}
	closes := 0
	for _, o := range r.ops {
		if o.Kind == qp.KindClose {
			closes++
			if o.Status != qp.StatusOK || o.Latency <= 0 || o.End.Frame <= o.Start.Frame {
				t.Errorf("%+v", o)
			}
		}
	}
	if closes != 1 {
		t.Errorf("%d closes", closes)
	}
}

// Captures of a clean link, from the start: no octet is left over, no rule of
// DDP is broken, no CRC is wrong, and all that was asked is answered.
func TestRealClean(t *testing.T) {
	names, err := filepath.Glob(pcaps + "/siw/*.pcap.gz")
	if err != nil || len(names) < 30 {
		t.Fatalf("%d captures, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			r, _ := run(t, decode.Options{}, name)
			for _, e := range r.events {
				switch e.Kind {
				case "skipped", "resync", "ddp_violation", "rdmap_violation", "marker_mismatch", "tcp_gap", "unanswered":
					t.Errorf("event %s: %s", e.Kind, e.Detail)
				case "crc_mismatch":
					if !strings.HasPrefix(filepath.Base(name), "crc-race") {
						t.Errorf("event %s: %s", e.Kind, e.Detail)
					}
				}
			}
			for _, s := range r.qps {
				for side, c := range s.Stream {
					if c.Octets != c.Framed || c.Skipped+c.Missing > 0 && !strings.HasPrefix(filepath.Base(name), "snap128") {
						if !strings.HasPrefix(filepath.Base(name), "snap128") {
							t.Errorf("QP %d side %d: %+v", s.Conn.Number, side, c)
						}
					}
				}
			}
		})
	}
}
