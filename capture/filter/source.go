package filter

import (
	"golang.org/x/net/bpf"

	"github.com/iwdump/iwdump/capture"
)

// source hands on the frames that match.
type source struct {
	capture.Source
	expr     string
	programs map[capture.LinkType][]bpf.Instruction
}

// Source returns a Source of the frames of s that match an expression. They keep
// their numbers. For a link type that has no filters, Next returns an error.
func Source(s capture.Source, expr string) capture.Source {
	return &source{Source: s, expr: expr, programs: map[capture.LinkType][]bpf.Instruction{}}
}

func (s *source) Next() (*capture.Block, error) {
	b, err := s.Source.Next()
	if b == nil {
		return b, err
	}
	kept := b.Frames[:0]
	for i := range b.Frames {
		f := &b.Frames[i]
		program, ok := s.programs[f.Link]
		if !ok {
			var err error
			if program, err = Compile(s.expr, f.Link, Options{}); err != nil {
				b.Release()
				return nil, err
			}
			s.programs[f.Link] = program
		}
		if Match(program, f.Data, f.Len) {
			kept = append(kept, *f)
		}
	}
	b.Frames = kept
	return b, err
}
