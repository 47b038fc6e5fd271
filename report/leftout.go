package report

import "github.com/iwdump/iwdump/internal/decode"

// leftOut writes what the summary says of frames that could have held
// something, and of packets in fragments.
func (j *JSON) leftOut(s *decode.Stats) {
	o := &j.o
	if len(s.UnknownLinks) > 0 {
		o.nested("unknown_links")
		for _, u := range s.UnknownLinks {
			o.uint(u.Link.String(), u.Frames)
		}
		o.close()
	}
	if s.TooDeep > 0 {
		o.uint("too_deep", s.TooDeep)
	}
	if f := s.Fragments; f.Fragments > 0 {
		o.nested("fragments")
		o.uint("frames", f.Fragments)
		o.uint("reassembled", f.Reassembled)
		o.uint("dropped", f.Dropped)
		o.uint("pending", f.Pending)
		o.close()
	}
}
