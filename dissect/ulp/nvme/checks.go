package nvme

import (
	"fmt"

	"github.com/iwdump/iwdump/dissect/ulp"
)

// blockSize learns the block size of a namespace, and holds the length of the
// data against it.
func (k *Decoder) blockSize(m *ulp.Message, c *Command, p *ulp.Pending) {
	if c.Opcode == OpWriteZeroes || c.Opcode == OpVerify || c.Opcode == OpWriteUncorr || c.SGL.Length == 0 {
		return
	}
	n := uint32(c.Blocks())
	size := c.SGL.Length / n
	known := k.blocks[c.NSID]
	switch {
	case known == 0 && c.SGL.Length%n == 0 && len(k.blocks) < maxNamespaces:
		if k.blocks == nil {
			k.blocks = map[uint32]uint32{}
		}
		k.blocks[c.NSID] = size
	case known != 0 && uint64(known)*uint64(n) != uint64(c.SGL.Length):
		k.event = ulp.Event{Kind: ulp.DataLength, Severity: ulp.Warning, Side: m.Side, N: m.N, At: m.Last, Command: p.Command.Name, HasValue: true,
			Value: uint64(c.SGL.Length), Limit: uint64(known) * uint64(n),
			Detail: fmt.Sprintf("the SGL has %d octets for %d blocks, where others of this namespace have %d a block", c.SGL.Length, n, known)}
		k.h.Event(&k.event)
	}
}

// depth tells where the queue is full.
func (k *Decoder) depth(m *ulp.Message) {
	n := k.t.Outstanding(m.Side)
	if k.sqsize == 0 || n < k.sqsize || k.full || k.lost {
		return
	}
	k.full = true
	k.event = ulp.Event{Kind: ulp.QueueFull, Severity: ulp.Info, Side: m.Side, N: m.N, At: m.Last, HasValue: true, Value: uint64(n), Limit: uint64(k.sqsize),
		Detail: fmt.Sprintf("%d commands are outstanding, as many as queue %d takes", n, k.qid)}
	if n > k.sqsize+1 {
		k.event.Severity = ulp.Warning
	}
	k.h.Event(&k.event)
}

// alive takes a sign of life of the host, and tells where it came later than
// the keep alive timeout allows.
func (k *Decoder) alive(m *ulp.Message) {
	if wait := m.Last.Time - k.lastHost.Time; k.kato > 0 && k.lastHost.Frame > 0 && wait > int64(k.kato)*1e6 && !k.missed && !k.lost {
		k.missed = true
		k.event = ulp.Event{Kind: ulp.KeepAliveMissed, Severity: ulp.Warning, Side: m.Side, N: m.N, At: m.Last, Wait: wait, HasValue: true, Value: uint64(wait), Limit: uint64(k.kato) * 1e6,
			Detail: fmt.Sprintf("the admin queue was silent for %d ms, and the keep alive timeout is %d ms", wait/1e6, k.kato)}
		k.h.Event(&k.event)
	}
	k.lastHost = m.Last
}

// lengths holds the data that was moved against what the command asked for.
func (k *Decoder) lengths(m *ulp.Message, p *ulp.Pending, s Status) {
	c := &p.Command
	if m.HasInvalidate && p.State&stateKeyed == 0 {
		k.tell(ulp.ProtocolViolation, ulp.Warning, m.Side, m.N, m.Last, fmt.Sprintf("the response invalidates 0x%08x, and %s (#%d) has no key", m.Invalidate, c.Name, c.Request))
	}
	if !s.OK() || p.State&stateTransfer == 0 || p.State>>stateLoss != k.losses&lossMask || c.Moved == c.Size {
		return
	}
	k.event = ulp.Event{Kind: ulp.DataLength, Severity: ulp.Warning, Side: m.Side, N: m.N, At: m.Last, Command: c.Name, HasValue: true, Value: c.Moved, Limit: c.Size,
		Detail: fmt.Sprintf("%s (#%d) is for %d octets, and %d were moved", c.Name, c.Request, c.Size, c.Moved)}
	k.h.Event(&k.event)
}
