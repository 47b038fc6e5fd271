// Package decode is the way from frames to records: it joins packet,
// reassembly, dissect and qp, connection by connection.
package decode

import (
	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/qp"
)

// Options say what to decode. The zero value is the ordinary case.
type Options struct {
	Workers     int  // goroutines that decode; 0 is one per CPU
	FPDUs       bool // hand out FPDU records
	Operations  bool // hand out Operation records
	KeepPayload int  // octets of each message's payload to hand out
	NoRecovery  bool // leave streams whose startup was not seen alone
}

// Stats is what the whole capture amounts to.
type Stats struct {
	Frames         uint64
	Octets         uint64 // captured
	FirstTime      int64  // ns since 1970-01-01 UTC, where Frames > 0
	LastTime       int64
	TCPConnections uint64
	OtherFrames    uint64 // frames that are not TCP
	LinkTypes      []capture.LinkType
	QPs            uint64
	Messages       uint64
	FPDUs          uint64
	CRCBad         uint64
	Damage         []*capture.Error // in the order met
}

// Run decodes everything that src has and hands the records to sink, in the
// order of the frames that complete them, whatever the number of workers.
func Run(src capture.Source, sink qp.Sink, o Options) (Stats, error) {
	panic("not yet")
}
