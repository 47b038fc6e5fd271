package finding_test

import (
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/dissect/ulp/iser"
	"github.com/iwdump/iwdump/dissect/ulp/nvme"
)

// The data of a command, in the memory of the host.
const (
	stag = 0x1234
	page = 4096
)

// queue opens an NVMe queue pair of so many entries (counted from 0) with a
// keep alive timeout of a second on the admin queue.
func (t *talk) queue(qid, entries uint16) {
	t.start(mpa.Startup{Revision: 1, Private: nvme.Request{QID: qid, HRQSize: entries + 1, HSQSize: entries}.Append(nil)},
		mpa.Startup{Revision: 1, Private: nvme.Accept{CRQSize: entries + 1}.Append(nil)})
	c := nvme.ConnectCommand{QID: qid, SQSize: entries, KATO: 1000}.Command(0, nvme.SGL{Length: nvme.ConnectDataLen, ID: nvme.SGLOffset})
	t.untagged(0, rdmap.OpSend, 0, nvme.ConnectData{CNTLID: 0xFFFF, SubNQN: "sub", HostNQN: "host"}.Append(c.Append(nil)))
	t.complete(0, 0)
}

// ask sends a command, without data where n is 0.
func (t *talk) ask(opcode uint8, cid uint16, n uint32, cdw ...uint32) {
	c := nvme.Command{Opcode: opcode, Flags: nvme.PSDTSGL << 6, CID: cid, NSID: 1, SGL: nvme.SGL{ID: nvme.SGLKeyed}}
	if n > 0 {
		c.SGL = nvme.SGL{Address: 0, Length: n, Key: stag, ID: nvme.SGLKeyed}
	}
	copy(c.CDW[:], cdw)
	t.untagged(0, rdmap.OpSend, 0, c.Append(nil))
}

func (t *talk) complete(cid uint16, s nvme.Status) {
	t.untagged(1, rdmap.OpSend, 0, nvme.Completion{CID: cid, Status: s}.Append(nil))
}

// eight is CDW10 to 12 of a command for 8 blocks.
var eight = []uint32{0, 0, 7}

// iscsi sends a PDU: of the initiator with its CmdSN, of the target with its
// MaxCmdSN.
func (t *talk) iscsi(side int, op iser.Opcode, itt, sn uint32, change func(*iser.BHS)) {
	b := iser.BHS{Opcode: op, Flags: 0x80, ITT: itt}
	at := 4 // octet 24
	if side == 1 {
		at = 12 // octet 32
	}
	b.Rest[at+3] = byte(sn)
	if change != nil {
		change(&b)
	}
	t.untagged(side, rdmap.OpSend, 0, b.Append(iser.Header{Opcode: iser.Control}.Append(nil)))
}

// login is a login with a window of two commands.
func (t *talk) login() {
	t.start(private(0x80, 0, 0, 0), private(0x80, 0, 0, 0))
	t.iscsi(0, iser.OpLoginRequest, 1, 1, func(b *iser.BHS) { b.Immediate = true })
	t.iscsi(1, iser.OpLoginResponse, 1, 2, func(b *iser.BHS) { b.Flags = 0x87 })
}

// upperPackets are what upper layers tell, from packets made by hand.
var upperPackets = []struct {
	want string
	do   func(t *talk)
}{
	{"warning command-unanswered", func(t *talk) {
		t.queue(1, 15)
		t.ask(nvme.OpRead, 1, page, eight...)
	}},
	{"warning command-failed", func(t *talk) {
		t.queue(1, 15)
		t.ask(nvme.OpRead, 1, page, eight...)
		t.complete(1, nvme.StatusOf(nvme.SCTMedia, 0x81))
	}},
	{"warning data-length", func(t *talk) { // 4095 octets of 4096
		t.queue(1, 15)
		t.ask(nvme.OpRead, 1, page, eight...)
		t.tagged(1, rdmap.OpWrite, stag, page-1)
		t.complete(1, 0)
	}},
	{"warning data-length", func(t *talk) { // another length for as many blocks
		t.queue(1, 15)
		for i := range uint16(2) {
			t.ask(nvme.OpRead, i, page>>i, eight...)
			t.tagged(1, rdmap.OpWrite, stag, page>>i)
			t.complete(i, 0)
		}
	}},
	{"warning keep-alive-missed", func(t *talk) {
		t.queue(0, 31)
		t.ask(nvme.OpKeepAlive, 1, 0)
		t.complete(1, 0)
		t.time += 1_100e6
		t.ask(nvme.OpKeepAlive, 2, 0)
		t.complete(2, 0)
	}},
	{"info queue-full", func(t *talk) {
		t.queue(1, 3)
		for i := range uint16(3) {
			t.ask(nvme.OpFlush, i, 0)
		}
		for i := range uint16(3) {
			t.complete(i, 0)
		}
	}},
	{"warning command-aborted", func(t *talk) { // Abort of CID 7 of queue 1
		t.queue(0, 31)
		t.ask(nvme.OpAbort, 1, 0, 7<<16|1)
		t.complete(1, 0)
	}},
	{"warning command-aborted", func(t *talk) { // CC.EN is set, and cleared
		t.queue(0, 31)
		for i, cc := range []uint32{1, 0} {
			c := nvme.Command{Opcode: nvme.OpFabrics, Flags: nvme.PSDTSGL << 6, CID: uint16(i), NSID: nvme.PropertySet,
				SGL: nvme.SGL{ID: nvme.SGLKeyed}, CDW: [6]uint32{0, 0x14, cc}}
			t.untagged(0, rdmap.OpSend, 0, c.Append(nil))
			t.complete(uint16(i), 0)
		}
	}},
	{"warning ulp-violation", func(t *talk) { // a completion of nothing
		t.queue(1, 15)
		t.complete(9, 0)
	}},
	{"warning ulp-violation", func(t *talk) { // it invalidates a key, and there is none
		t.queue(1, 15)
		t.ask(nvme.OpFlush, 1, 0)
		t.untagged(1, rdmap.OpSendInv, stag, nvme.Completion{CID: 1}.Append(nil))
	}},
	{"error ulp-error", func(t *talk) {
		t.start(mpa.Startup{Revision: 1, Private: nvme.Request{QID: 1, HRQSize: 16, HSQSize: 15}.Append(nil)},
			mpa.Startup{Revision: 1, Reject: true, Private: append(nvme.Reject{Status: 6}.Append(nil), make([]byte, 28)...)})
	}},
	{"warning use-after-invalidate", func(t *talk) {
		t.queue(1, 15)
		t.ask(nvme.OpRead, 1, page, eight...)
		t.tagged(1, rdmap.OpWrite, stag, page)
		t.untagged(1, rdmap.OpSendInv, stag, nvme.Completion{CID: 1}.Append(nil))
		t.tagged(1, rdmap.OpWrite, stag, page)
	}},
	{"info credits-exhausted", func(t *talk) {
		t.login()
		t.iscsi(0, iser.OpSCSICommand, 2, 1, nil)
		t.iscsi(0, iser.OpSCSICommand, 3, 2, nil)
		t.iscsi(1, iser.OpSCSIResponse, 2, 3, nil)
		t.iscsi(1, iser.OpSCSIResponse, 3, 4, nil)
	}},
	{"warning command-aborted", func(t *talk) {
		t.login()
		t.iscsi(0, iser.OpSCSICommand, 2, 1, nil)
		t.iscsi(0, iser.OpTaskRequest, 3, 2, func(b *iser.BHS) { b.Flags, b.Rest[3] = 0x81, 2 })
		t.iscsi(1, iser.OpTaskResponse, 3, 4, nil)
	}},
	{"error ulp-error", func(t *talk) {
		t.login()
		t.iscsi(1, iser.OpReject, iser.NoTag, 4, func(b *iser.BHS) { b.Specific[0] = 4 })
	}},
	{"info command-failed", func(t *talk) { // a unit attention
		t.login()
		t.iscsi(0, iser.OpSCSICommand, 2, 1, nil)
		sense := append([]byte{0, 18}, 0x70, 0, 6, 0, 0, 0, 0, 10, 0, 0, 0, 0, 0x29, 0, 0, 0, 0, 0)
		b := iser.BHS{Opcode: iser.OpSCSIResponse, Flags: 0x80, Specific: [2]byte{0, 2}, ITT: 2, DataLen: len(sense)}
		t.untagged(1, rdmap.OpSend, 0, append(b.Append(iser.Header{Opcode: iser.Control}.Append(nil)), sense...))
	}},
}
