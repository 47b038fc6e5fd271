package main

import (
	"fmt"
	"time"

	"github.com/iwdump/iwdump/dissect/rdmap"
	"github.com/iwdump/iwdump/internal/netdev"
	"github.com/iwdump/iwdump/qp"
)

// silence is for how long nothing may follow a startup.
const silence = 10 * time.Second

// maxSilent is how many QPs are watched at once.
const maxSilent = 1 << 12

// A hinter sees QPs whose startup is followed by nothing: the sign of an
// adapter that carries on by itself, past the kernel. It tells so once.
type hinter struct {
	qp.Sink
	tell  func(*qp.Conn)
	now   func() time.Time
	begun map[*qp.Conn]time.Time
	told  bool
}

func newHinter(sink qp.Sink, tell func(*qp.Conn)) *hinter {
	return &hinter{Sink: sink, tell: tell, now: time.Now, begun: map[*qp.Conn]time.Time{}}
}

func (h *hinter) Message(m *qp.Message) {
	if !h.told {
		switch {
		case m.Op == rdmap.OpMPAReply && m.Startup != nil && !m.Startup.Reject && len(h.begun) < maxSilent:
			h.begun[m.Conn] = h.now()
		case m.Op != rdmap.OpMPARequest:
			delete(h.begun, m.Conn)
		}
	}
	h.Sink.Message(m)
}

func (h *hinter) QP(s *qp.Summary) {
	if !h.told {
		_, silent := h.begun[s.Conn]
		delete(h.begun, s.Conn)
		// One that was closed may have had nothing to say.
		if silent && s.State == qp.Open {
			h.say(s.Conn)
		}
	}
	h.Sink.QP(s)
}

// look looks for QPs that have been silent for long.
func (h *hinter) look() {
	if h.told {
		return
	}
	now := h.now()
	for c, at := range h.begun {
		if now.Sub(at) >= silence {
			h.say(c)
			return
		}
	}
}

func (h *hinter) say(c *qp.Conn) {
	h.told, h.begun = true, nil
	h.tell(c)
}

// hint is what is told, with the devices of the interfaces that are captured
// on.
func hint(c *qp.Conn, names []string, sys string) string {
	text := fmt.Sprintf("QP %d (%s to %s): nothing follows its startup.", c.Number, c.Text[0], c.Text[1])
	list, _ := netdev.List(sys)
	found := false
	for i := range list {
		for _, name := range names {
			if name != list[i].Name && name != "any" {
				continue
			}
			for k := range list[i].RDMA {
				if d := &list[i].RDMA[k]; d.Visibility == netdev.Offloaded {
					text += fmt.Sprintf(" %s has %s: %s.", list[i].Name, d.Name, d.Note())
					found = true
				}
			}
		}
	}
	if !found {
		text += " Where an adapter does iWARP itself (cxgb4, irdma, qedr), a capture on its host sees no more than that: mirror the switch port instead."
	}
	return text
}
