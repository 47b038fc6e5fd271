//go:build !linux && !libpcap

package live

import (
	"errors"
	"io"

	"github.com/iwdump/iwdump/capture"
)

// errUnsupported says how to get a program that can capture here.
var errUnsupported = errors.New("this program can capture on Linux alone; to capture here, build it with libpcap (needs a C compiler and libpcap or Npcap): CGO_ENABLED=1 go install -tags libpcap github.com/iwdump/iwdump/cmd/iwdump@latest; or pipe: tcpdump -w - tcp | iwdump read -")

// A Source captures. On this system there is none without libpcap.
type Source struct{}

// Open says how to build a program that can capture on this system.
func Open(names []string, o Options) (*Source, error) {
	if err := o.prepare(names); err != nil {
		return nil, err
	}
	return nil, errUnsupported
}

// Names returns the interfaces as they were given.
func (s *Source) Names() []string { return nil }

// Link returns what frames begin with.
func (s *Source) Link() capture.LinkType { return 0 }

// Counts returns what became of the frames so far.
func (s *Source) Counts() Counts { return Counts{} }

// Stop ends the capture.
func (s *Source) Stop() {}

// Close ends the capture at once.
func (s *Source) Close() error { return nil }

// Next returns io.EOF.
func (s *Source) Next() (*capture.Block, error) { return nil, io.EOF }
