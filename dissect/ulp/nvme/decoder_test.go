package nvme_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/dissect/ulp/nvme"
	"github.com/iwdump/iwdump/internal/ulptest"
)

// queue is a queue pair: messages go to its decoder, one a millisecond.
type queue struct {
	ulptest.Result
	dec ulp.Decoder
	n   int
	d   ulp.Description
}

func newQueue(qid uint16) *queue {
	q := &queue{}
	q.dec = nvme.NewDecoder(&q.Result)
	for _, s := range []ulp.Startup{{Private: nvme.Request{QID: qid, HRQSize: 32, HSQSize: 31}.Append(nil)}, {Side: 1, Reply: true, Private: nvme.Accept{CRQSize: 32}.Append(nil)}} {
		q.dec.Startup(&s, &q.d)
	}
	return q
}

func (q *queue) message(m ulp.Message) (string, ulp.Evidence) {
	q.n++
	at := mpa.Stamp{Time: int64(q.n) * 1e6, Frame: uint64(q.n)}
	m.N, m.First, m.Last, m.Complete = q.n, at, at, true
	if m.Payload != nil {
		m.Size = uint64(len(m.Payload))
	}
	q.d.Reset()
	e := q.dec.Message(&m, &q.d)
	return string(q.d.Text), e
}

func (q *queue) ask(c nvme.Command, data ...byte) (string, ulp.Evidence) {
	c.Flags |= nvme.PSDTSGL << 6
	if c.SGL.ID == 0 {
		c.SGL.ID = nvme.SGLKeyed
	}
	return q.message(ulp.Message{Op: rdmap.OpSend, Payload: append(c.Append(nil), data...)})
}

func (q *queue) answer(c nvme.Completion) (string, ulp.Evidence) {
	return q.message(ulp.Message{Side: 1, Op: rdmap.OpSend, Payload: c.Append(nil)})
}

// What is said of commands and completions.
func TestDescriptions(t *testing.T) {
	keyed := nvme.SGL{Address: 0x1000, Length: 4096, Key: 7, ID: nvme.SGLKeyed}
	for _, tt := range []struct {
		qid  uint16
		c    nvme.Command
		data int
		want string
		name string
	}{
		{1, nvme.Command{Opcode: nvme.OpRead, CID: 1, NSID: 3, SGL: keyed, CDW: [6]uint32{0x10, 1, 7}}, 0, "NVMe Read nsid 3 lba 0x100000010 8 blocks cid 1", "nvme.read"},
		{1, nvme.Command{Opcode: nvme.OpWrite, CID: 2, NSID: 1, SGL: nvme.SGL{Length: 512, ID: nvme.SGLOffset}}, 512, "NVMe Write nsid 1 lba 0x0 1 block cid 2, 512 octets in the capsule", "nvme.write"},
		{1, nvme.Command{Opcode: nvme.OpCompare, Flags: nvme.FuseFirst, CID: 3, NSID: 1, SGL: keyed}, 0, "NVMe Compare fused first nsid 1 lba 0x0 1 block cid 3", "nvme.compare"},
		{1, nvme.Command{Opcode: nvme.OpFlush, CID: 4, NSID: 0xFFFFFFFF}, 0, "NVMe Flush all namespaces cid 4", "nvme.flush"},
		{1, nvme.Command{Opcode: nvme.OpDSM, CID: 5, NSID: 1, SGL: keyed, CDW: [6]uint32{1, 4}}, 0, "NVMe Dataset Management nsid 1 2 ranges deallocate cid 5", "nvme.dataset_management"},
		{1, nvme.Command{Opcode: nvme.OpWriteZeroes, CID: 6, NSID: 1, CDW: [6]uint32{0, 0, 0xFFFF}}, 0, "NVMe Write Zeroes nsid 1 lba 0x0 65536 blocks cid 6", "nvme.write_zeroes"},
		{1, nvme.Command{Opcode: 0x11, CID: 7, NSID: 1, SGL: keyed}, 0, "NVMe Reservation Acquire nsid 1 cid 7", "nvme.reservation_acquire"},
		{1, nvme.Command{Opcode: 0xC1, CID: 8, NSID: 1}, 0, "NVMe vendor specific command nsid 1 cid 8", "nvme.vendor"},
		{0, nvme.Command{Opcode: nvme.OpIdentify, CID: 9, SGL: keyed, CDW: [6]uint32{1}}, 0, "NVMe Identify Controller cid 9", "nvme.identify"},
		{0, nvme.Command{Opcode: nvme.OpGetLogPage, CID: 10, NSID: 0xFFFFFFFF, SGL: keyed, CDW: [6]uint32{0x70}}, 0, "NVMe Get Log Page Discovery all namespaces cid 10", "nvme.get_log_page"},
		{0, nvme.Command{Opcode: nvme.OpSetFeatures, CID: 11, CDW: [6]uint32{0x0F}}, 0, "NVMe Set Features Keep Alive Timer cid 11", "nvme.set_features"},
		{0, nvme.Command{Opcode: nvme.OpGetFeatures, CID: 12, CDW: [6]uint32{0x7E}}, 0, "NVMe Get Features 0x7e cid 12", "nvme.get_features"},
		{0, nvme.Command{Opcode: nvme.OpAbort, CID: 13, CDW: [6]uint32{0x00050002}}, 0, "NVMe Abort of cid 5 in queue 2 cid 13", "nvme.abort"},
		{0, nvme.Command{Opcode: nvme.OpKeepAlive, CID: 14}, 0, "NVMe Keep Alive cid 14", "nvme.keep_alive"},
		{0, nvme.Command{Opcode: nvme.OpFabrics, CID: 15, NSID: nvme.PropertySet, CDW: [6]uint32{0, 0x14, 0x460001}}, 0, "NVMe Property Set CC = 0x460001 cid 15", "nvme.property_set"},
		{0, nvme.Command{Opcode: nvme.OpFabrics, CID: 16, NSID: nvme.PropertyGet, CDW: [6]uint32{0, 0x99}}, 0, "NVMe Property Get 0x99 cid 16", "nvme.property_get"},
		{1, nvme.Command{Opcode: nvme.OpFabrics, CID: 17, NSID: nvme.AuthSend, SGL: keyed, CDW: [6]uint32{0xE9010100, 64}}, 0, "NVMe Authentication Send cid 17", "nvme.auth_send"},
		{1, nvme.Command{Opcode: nvme.OpFabrics, CID: 18, NSID: nvme.Disconnect}, 0, "NVMe Disconnect cid 18", "nvme.disconnect"},
	} {
		q := newQueue(tt.qid)
		if got, e := q.ask(tt.c, make([]byte, tt.data)...); got != tt.want || e <= 0 || q.d.Command != tt.name {
			t.Errorf("%q (%s), evidence %d, not %q (%s)", got, q.d.Command, e, tt.want, tt.name)
		}
		got, e := q.answer(nvme.Completion{CID: tt.c.CID, Status: nvme.StatusOf(nvme.SCTGeneric, 2) | 0x8000})
		if e != ulp.Strong || !strings.HasSuffix(got, fmt.Sprintf(" cid %d: Invalid Field in Command", tt.c.CID)) {
			t.Errorf("%q, evidence %d", got, e)
		}
		if len(q.Commands) != 1 || q.Commands[0].Name != tt.name || q.Commands[0].Result != "Invalid Field in Command" || q.Commands[0].Status != ulp.Failed {
			t.Errorf("%s: %+v", tt.name, q.Commands)
		}
	}
}

// A write by RDMA Read: both parts are its, and the time is split between them.
func TestWrite(t *testing.T) {
	q := newQueue(1)
	q.ask(nvme.Command{Opcode: nvme.OpWrite, CID: 1, NSID: 1, SGL: nvme.SGL{Address: 0x1000, Length: 4096, Key: 7, ID: nvme.SGLKeyedInvalidate}, CDW: [6]uint32{0, 0, 7}})
	if text, _ := q.message(ulp.Message{Side: 1, Op: rdmap.OpReadRequest, STag: 7, TO: 0x1000, ReadSize: 4096, Size: 28}); text != "NVMe Write data cid 1" {
		t.Errorf("%q", text)
	}
	q.message(ulp.Message{Op: rdmap.OpReadResponse, STag: 99, Size: 4096, Answers: 2})
	q.message(ulp.Message{Side: 1, Op: rdmap.OpSendInv, Payload: nvme.Completion{CID: 1}.Append(nil), Invalidate: 7, HasInvalidate: true})
	if len(q.Commands) != 1 || len(q.Events) != 0 {
		t.Fatalf("%+v %+v", q.Commands, q.Events)
	}
	c := q.Commands[0]
	if c.Moved != 4096 || c.PartCount != 2 || c.Split() != (ulp.Split{Data: 1e6, Server: 2e6}) {
		t.Errorf("%+v %+v", c, c.Split())
	}
}

// An Asynchronous Event Request stays outstanding for good, and that is no
// matter.
func TestAsyncEvent(t *testing.T) {
	q := newQueue(0)
	q.ask(nvme.Command{Opcode: nvme.OpAsyncEvent, CID: 1})
	q.ask(nvme.Command{Opcode: nvme.OpKeepAlive, CID: 2})
	q.dec.End(mpa.Stamp{Time: 9e9})
	if len(q.Commands) != 1 || q.Commands[0].Name != "nvme.keep_alive" || q.Commands[0].Status != ulp.Unanswered {
		t.Errorf("%+v", q.Commands)
	}
}

// Seen from the middle on: which queue it is, the commands tell, or SQID.
func TestInfer(t *testing.T) {
	for _, tt := range []struct {
		first nvme.Command
		sqid  uint16
		want  string
	}{
		{nvme.Command{Opcode: nvme.OpKeepAlive}, 0, "NVMe Get Log Page SMART / Health Information cid 2"},
		{nvme.Command{Opcode: nvme.OpFlush, NSID: 1}, 3, "NVMe Read nsid 0 lba 0x2 1 block cid 2"},
		{nvme.Command{Opcode: nvme.OpFlush, NSID: 1}, 0, "NVMe Read nsid 0 lba 0x2 1 block cid 2"},
	} {
		q := &queue{}
		q.dec = nvme.NewDecoder(&q.Result)
		q.ask(tt.first)
		q.answer(nvme.Completion{SQID: tt.sqid})
		if got, _ := q.ask(nvme.Command{Opcode: nvme.OpRead, CID: 2, SGL: nvme.SGL{Length: 512, Key: 1, ID: nvme.SGLKeyed}, CDW: [6]uint32{2}}); got != tt.want {
			t.Errorf("%q, not %q", got, tt.want)
		}
	}
}

// What cannot be NVMe is said to be against it.
func TestEvidence(t *testing.T) {
	p := nvme.Protocol()
	command := nvme.Command{Opcode: nvme.OpRead, Flags: nvme.PSDTSGL << 6, NSID: 1, SGL: nvme.SGL{Length: 512, Key: 1, ID: nvme.SGLKeyed}}
	change := func(f func(*nvme.Command)) []byte {
		c := command
		f(&c)
		return c.Append(nil)
	}
	for name, tt := range map[string]struct {
		b    []byte
		want ulp.Evidence
	}{
		"a command":                  {command.Append(nil), ulp.Weak},
		"a Connect":                  {nvme.ConnectCommand{QID: 1}.Command(0, nvme.SGL{Length: 1024, Key: 5, ID: nvme.SGLKeyedInvalidate}).Append(nil), ulp.Strong},
		"16 octets":                  {make([]byte, 16), ulp.None},
		"64 octets of zero":          {make([]byte, 64), ulp.Against},
		"another length":             {make([]byte, 63), ulp.Against},
		"PRPs":                       {change(func(c *nvme.Command) { c.Flags = 0 }), ulp.Against},
		"a reserved flag":            {change(func(c *nvme.Command) { c.Flags |= 4 }), ulp.Against},
		"a reserved fuse":            {change(func(c *nvme.Command) { c.Flags |= 3 }), ulp.Against},
		"an unknown SGL":             {change(func(c *nvme.Command) { c.SGL.ID = 0x55 }), ulp.Against},
		"an unknown opcode":          {change(func(c *nvme.Command) { c.Opcode = 0x33 }), ulp.Against},
		"an unknown Fabrics command": {change(func(c *nvme.Command) { c.Opcode, c.NSID = nvme.OpFabrics, 0x44 }), ulp.Against},
		"octets behind it":           {append(command.Append(nil), 1), ulp.Against},
		"data that is not there":     {change(func(c *nvme.Command) { c.SGL = nvme.SGL{Length: 512, ID: nvme.SGLOffset} }), ulp.Against},
	} {
		m := &ulp.Message{Op: rdmap.OpSend, Size: uint64(len(tt.b)), Payload: tt.b, Complete: true}
		if got := p.Judge(m); got != tt.want {
			t.Errorf("%s: %d, not %d", name, got, tt.want)
		}
	}
	private := nvme.Request{QID: 1, HRQSize: 32, HSQSize: 31}.Append(nil)
	for name, tt := range map[string]struct {
		s    ulp.Startup
		want ulp.Evidence
	}{
		"none":                   {ulp.Startup{}, ulp.None},
		"a request":              {ulp.Startup{Private: private}, ulp.Strong},
		"a request without size": {ulp.Startup{Private: nvme.Request{QID: 1}.Append(nil)}, ulp.Against},
		"zeros":                  {ulp.Startup{Private: make([]byte, 32)}, ulp.Against},
		"octets of something":    {ulp.Startup{Private: []byte("0123456789abcdef0123456789abcdef")}, ulp.Against},
		"an accept":              {ulp.Startup{Reply: true, Private: nvme.Accept{CRQSize: 1}.Append(nil)}, ulp.Weak},
		"a reject":               {ulp.Startup{Reply: true, Reject: true, Private: nvme.Reject{Status: 3}.Append(nil)}, ulp.Weak},
		"a reject of no reason":  {ulp.Startup{Reply: true, Reject: true, Private: nvme.Reject{Status: 9}.Append(nil)}, ulp.Against},
	} {
		if got := p.Private(&tt.s); got != tt.want {
			t.Errorf("%s: %d, not %d", name, got, tt.want)
		}
	}
}

// Cut short anywhere, nothing panics, and nothing is made up.
func TestCut(t *testing.T) {
	whole := nvme.Command{Opcode: nvme.OpRead, Flags: nvme.PSDTSGL << 6, CID: 1, NSID: 1, SGL: nvme.SGL{Length: 512, Key: 1, ID: nvme.SGLKeyed}, CDW: [6]uint32{9, 0, 1}}.Append(nil)
	for n := range whole {
		q := newQueue(1)
		m := &ulp.Message{N: 1, Op: rdmap.OpSend, Size: 64, Payload: whole[:n]}
		q.d.Reset()
		e := q.dec.Message(m, &q.d)
		text := string(q.d.Text)
		switch {
		case e < 0:
			t.Errorf("%d octets are against it", n)
		case n < 40 && text != "":
			t.Errorf("%d octets: %q", n, text)
		case n >= 40 && text != "NVMe Read nsid 1 cid 1":
			t.Errorf("%d octets: %q", n, text)
		}
	}
}
