package ulp

import "github.com/iwdump/iwdump/dissect/mpa"

// Evidence says how far a startup frame or message speaks for a protocol.
type Evidence int8

const (
	Against Evidence = -1 // it cannot be of this protocol
	None    Evidence = 0  // it can be, as it can be anything
	Weak    Evidence = 1  // it looks like it
	Strong  Evidence = 2  // it would be a rare chance if it were not
)

// sure is the sum from which on a protocol is named. No single message gives
// as much.
const sure = 4

// A Protocol is an upper layer protocol. All functions are to be cheap, and to
// allocate nothing: they see what is of any protocol.
type Protocol struct {
	Name  string // as in JSON and --ulp: "nvme"
	Title string // "NVMe over RDMA"
	Ports []uint16
	// Private judges the private data of a startup frame.
	Private func(*Startup) Evidence
	// Judge judges a Send without knowing what came before.
	Judge func(*Message) Evidence
	// New returns a Decoder for a QP that hands to h what it finds.
	New func(h Handler) Decoder
}

// A Decoder follows one QP. It is for one goroutine. Messages of a side come in
// its order.
//
// It has to stand anything: messages of another protocol, QPs that it sees from
// the middle on, payloads that are cut short anywhere.
type Decoder interface {
	// Startup takes a startup frame, and says in d what its private data is.
	// d is nil where nobody wants to know.
	Startup(s *Startup, d *Description) Evidence
	// Message takes a message, of any op, and says in d what it is. d is nil
	// where nobody wants to know. The evidence counts for Sends alone. For
	// these, it is what Judge says, or better: a reply to a request that was
	// seen is Strong, one that fits nothing is Against.
	Message(m *Message, d *Description) Evidence
	// Lost tells that messages of a side may be missing here.
	Lost(side Side)
	// End takes the end of the QP, or of the capture.
	End(at mpa.Stamp)
	// Summary adds what can be said of the QP as a whole.
	Summary(f *Fields)
}

// A Handler takes what a Decoder finds. What it is given is valid during the
// call.
type Handler interface {
	Command(*Command)
	Event(*Event)
}
