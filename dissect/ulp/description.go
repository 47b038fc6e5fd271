package ulp

import (
	"fmt"
	"strconv"
)

// A Description is what a message is to the upper layer. The Stream resets it
// before each message, and fills in Protocol and Doubt.
type Description struct {
	Protocol string // the Name of the Protocol; empty where nothing is known
	Doubt    bool   // too few messages have agreed so far
	// Command is the name of the command that the message asks for or answers,
	// as in Command.Name; empty where it does neither.
	Command string
	// Text says in a few words what the message is, for a listing: "NVMe Read
	// nsid 1 lba 0x1000 8 blocks cid 12". A message of which a decoder has
	// nothing to say has none.
	Text   []byte
	Fields Fields
	// Answers is the N of the request of the command that the message ends, 0
	// where it ends none, and Latency the time from the first octet of that to
	// the last of this, in ns. The Stream fills them in.
	Answers int
	Latency int64
}

// Reset empties the description and keeps its memory.
func (d *Description) Reset() {
	d.Protocol, d.Doubt, d.Command, d.Text, d.Answers, d.Latency = "", false, "", d.Text[:0], 0, 0
	d.Fields.Reset()
}

// Sayf appends to Text.
func (d *Description) Sayf(format string, a ...any) { d.Text = fmt.Appendf(d.Text, format, a...) }

// Say appends to Text.
func (d *Description) Say(s string) { d.Text = append(d.Text, s...) }

// SayNum appends s and a number to Text.
func (d *Description) SayNum(s string, v uint64) {
	d.Text = strconv.AppendUint(append(d.Text, s...), v, 10)
}

// Clone returns a copy that shares no memory.
func (d *Description) Clone() *Description {
	c := *d
	c.Text = append([]byte(nil), d.Text...)
	c.Fields = d.Fields.Clone()
	return &c
}

func itoa(n int) string { return strconv.Itoa(n) }
