package ulp

// held holds back what a decoder finds, until its protocol is named.
type held struct {
	h        Handler
	open     bool
	commands []*Command
	events   []Event

	reply, request int // of the last command
	latency        int64
}

func (k *held) Command(c *Command) {
	k.reply, k.request, k.latency = c.Reply, c.Request, c.End.Time-c.Start.Time
	if k.open {
		k.h.Command(c)
	} else if len(k.commands) < maxHeld {
		k.commands = append(k.commands, c.Clone())
	}
}

func (k *held) Event(e *Event) {
	if k.open {
		k.h.Event(e)
	} else if len(k.events) < maxHeld {
		k.events = append(k.events, *e)
	}
}

// release hands on what was held back, and all that follows.
func (k *held) release() {
	k.open = true
	for _, c := range k.commands {
		k.h.Command(c)
	}
	for i := range k.events {
		k.h.Event(&k.events[i])
	}
	k.commands, k.events = nil, nil
}
