package decode

import (
	"fmt"
	"slices"

	"github.com/iwdump/iwdump/capture"
	"github.com/iwdump/iwdump/packet"
)

// An UnknownLink is a link type of which frames are not taken apart.
type UnknownLink struct {
	Link   capture.LinkType
	Frames uint64
}

// maxUnknownLinks bounds the link types that are counted one by one. The rest
// is counted with the last of them.
const maxUnknownLinks = 64

// other counts a frame that is not TCP.
func (s *Stats) other(f *capture.Frame, k packet.Kind) {
	s.OtherFrames++
	switch k {
	case packet.TooDeep:
		s.TooDeep++
	case packet.UnknownLink:
		i := slices.IndexFunc(s.UnknownLinks, func(u UnknownLink) bool { return u.Link == f.Link })
		if i < 0 && len(s.UnknownLinks) < maxUnknownLinks {
			s.UnknownLinks = append(s.UnknownLinks, UnknownLink{Link: f.Link})
		}
		if i < 0 {
			i = len(s.UnknownLinks) - 1
		}
		s.UnknownLinks[i].Frames++
	}
}

// Notes are sentences on frames that were left out, though there could have
// been something in them.
func (s *Stats) Notes() []string {
	var notes []string
	for _, u := range s.UnknownLinks {
		notes = append(notes, fmt.Sprintf("link type %d (%v) is not known here: %d frames are left out", u.Link, u.Link, u.Frames))
	}
	if f := s.Fragments; f.Dropped+f.Pending > 0 {
		notes = append(notes, fmt.Sprintf("%d IP packets that came in fragments could not be put together: %d contradict themselves or were late or too many, %d lack something",
			f.Dropped+f.Pending, f.Dropped, f.Pending))
	}
	if s.TooDeep > 0 {
		notes = append(notes, fmt.Sprintf("%d frames are left out that have too many headers around one another", s.TooDeep))
	}
	return notes
}
