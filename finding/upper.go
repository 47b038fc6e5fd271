package finding

import (
	"github.com/iwdump/iwdump/dissect/ulp"
	"github.com/iwdump/iwdump/qp"
)

// upperIDs are the findings that the events of upper layers make.
var upperIDs = map[string]string{
	ulp.CommandUnanswered: "command-unanswered",
	ulp.CommandFailed:     "command-failed",
	ulp.CommandAborted:    "command-aborted",
	ulp.CreditsExhausted:  "credits-exhausted",
	ulp.DataLength:        "data-length",
	ulp.KeepAliveMissed:   "keep-alive-missed",
	ulp.QueueFull:         "queue-full",
	ulp.ProtocolViolation: "ulp-violation",
	ulp.ProtocolError:     "ulp-error",
}

// upper turns an event of an upper layer into a finding, and says whether it is
// one. Where occurrences differ in severity, the worst counts.
func (c *Collector) upper(e *qp.Event, from string) bool {
	id := upperIDs[e.Kind]
	if id == "" {
		return false
	}
	f := c.add(id, e.Conn, from, e.At, e.N, "%s", e.Detail)
	if f.Count <= 1 || e.Severity > f.Severity {
		f.Severity = e.Severity
	}
	return true
}

var upperKinds = []Kind{
	{"command-unanswered", qp.Warning, "A command of the upper layer (NVMe, NFS, SMB, iSCSI) was never answered.",
		"See what the other end did after it: whether it moved the data, and what it answered next."},
	{"command-failed", qp.Warning, "A command of the upper layer was answered with a status other than success.",
		"Look the status up in the log of the end that gave it. Some failures belong to the normal start: a feature or a log page that is not supported, a unit attention."},
	{"command-aborted", qp.Warning, "The host gave up: it asked to abort a command, or reset the controller, the target or the unit.",
		"Look for the command that took too long, and at what the other end did meanwhile; latency --by command shows the slowest."},
	{"credits-exhausted", qp.Warning, "All credits that the peer had granted were in use, so that nothing more could be sent.",
		"If the wait is long, raise the credits (slots, receive buffers) of the end that grants them, or find out why it answers slowly."},
	{"data-length", qp.Warning, "The data that was moved for a command is not as long as the command says.",
		"Look at the RDMA Writes and Reads of the command: read -v lists what belongs to it."},
	{"keep-alive-missed", qp.Warning, "The host was silent for longer than the keep alive timeout of the controller, which may end the association for it.",
		"Look at the load of the host and for pauses in the capture at that time. A controller with traffic based keep alive counts the I/O of other queues too: then this is harmless."},
	{"queue-full", qp.Info, "As many commands were outstanding as the queue takes: the host had to wait before it could send more.",
		"A larger queue, or more queues, let more be under way, if the target is not the limit."},
	{"ulp-violation", qp.Warning, "A message breaks a rule of the upper layer protocol.",
		"Look at the message with read -v, and at the software of the end that sent it."},
	{"ulp-error", qp.Error, "An end complains of the upper layer protocol of its peer, or refuses it.",
		"Look at the message with read -v: versions, sizes and settings of both ends must fit."},
}
