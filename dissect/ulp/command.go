package ulp

import (
	"github.com/iwdump/iwdump/dissect/mpa"
	"github.com/iwdump/iwdump/dissect/rdmap"
)

// A Status says how a Command ended.
type Status uint8

const (
	OK         Status = iota
	Unanswered        // no reply came before the QP ended
	Failed            // the reply says that it failed
)

// A Part is an RDMA message that moved data of a command.
type Part struct {
	N           int // of the message
	Op          rdmap.Op
	Size        uint64 // octets; of a Read Request those it asks for
	First, Last mpa.Stamp
}

// A Command is a request of the upper layer with its reply.
type Command struct {
	Name    string    // protocol and command in lower case: "nvme.read", "nfs4.write", "smb2.create", "iscsi.read"
	Side    Side      // who asked
	Request int       // N of the message that asks
	Reply   int       // N of the message that answers, 0 where none does
	Start   mpa.Stamp // of the first octet of the request
	Sent    mpa.Stamp // of its last octet
	Back    mpa.Stamp // of the first octet of the reply
	End     mpa.Stamp // of its last octet; of the last that was seen where there is none
	Status  Status
	// Result is the status that the reply carries in words, "" where it says
	// nothing but success.
	Result string
	Size   uint64 // octets of data that the command moves, by its own words
	Moved  uint64 // octets that RDMA Writes and Read Responses carried for it
	Depth  int    // commands of the same side that are outstanding, this one included
	// Parts are the messages that moved its data, in order: no more than
	// MaxParts of them. PartCount is how many there were.
	Parts     []Part
	PartCount int
	// DataFirst and DataLast are the first and last octet of all parts, where
	// PartCount is not 0.
	DataFirst, DataLast mpa.Stamp
	Fields              Fields // what it asked for
}

// MaxParts is how many parts of a command are listed.
const MaxParts = 64

// A Split is where the time of a command went, in ns; together they are the
// time from Start to End.
type Split struct {
	Request int64 // from the first octet of the request to its last
	Data    int64 // from the first octet of the first part to the last of the last
	Server  int64 // the rest, in which nothing of the command was under way
	Reply   int64 // from the first octet of the reply to its last
}

// Split says where the time of an answered command went.
func (c *Command) Split() Split {
	s := Split{Request: c.Sent.Time - c.Start.Time, Reply: c.End.Time - c.Back.Time}
	if c.PartCount > 0 {
		from, to := max(c.DataFirst.Time, c.Sent.Time), min(c.DataLast.Time, c.Back.Time)
		s.Data = max(0, to-from)
	}
	s.Server = c.End.Time - c.Start.Time - s.Request - s.Data - s.Reply
	return s
}

// Clone returns a copy that shares no memory.
func (c *Command) Clone() *Command {
	d := new(Command)
	c.CopyTo(d)
	return d
}

// CopyTo makes d a copy that shares no memory, in the memory that d has.
func (c *Command) CopyTo(d *Command) {
	parts, list := d.Parts[:0], d.Fields.List[:0]
	*d = *c
	d.Parts = append(parts, c.Parts...)
	d.Fields.List = append(list, c.Fields.List...)
}

// A Severity of an Event.
type Severity uint8

const (
	Info Severity = iota
	Warning
	Error
)

// Kinds of Events. What they are to people, docs/findings.md says.
const (
	CommandUnanswered = "command_unanswered" // by Tracker
	CommandFailed     = "command_failed"     // by Tracker; Value is the status
	CreditsExhausted  = "credits_exhausted"  // Wait is how long nothing could be sent
	DataLength        = "data_length"        // Value moved, Limit asked
	KeepAliveMissed   = "keep_alive_missed"  // Wait since the last sign of life
	QueueFull         = "queue_full"         // Value outstanding, Limit of the queue
	CommandAborted    = "command_aborted"
	ProtocolViolation = "ulp_violation" // what the protocol forbids
	ProtocolError     = "ulp_error"     // what a peer complains of, such as RDMA_ERROR or Reject
)

// An Event is something worth telling.
type Event struct {
	Kind     string
	Severity Severity
	Side     Side // whose message it concerns
	N        int  // of that message, 0 for none
	At       mpa.Stamp
	Detail   string // a sentence
	Command  string // as in Command.Name, where it concerns one
	Value    uint64 // by Kind, where HasValue
	Limit    uint64
	HasValue bool
	Wait     int64 // ns, 0 for none
}
