package ulp

// A Keeper is a Decoder that says how many octets it needs.
type Keeper interface {
	// KeepSend and KeepTagged are how many octets of the payload of Sends, and
	// of RDMA Writes and Read Responses, it wants from here on.
	KeepSend() int
	KeepTagged() int
}

// What is kept of payloads.
const (
	KeepSend   = 4096 // of a Send, where a decoder does not say
	keepTagged = 1024 // until a protocol is named
	mostKept   = 64 << 10
)

// Keep is how many octets of the payload of Sends, and of RDMA Writes and Read
// Responses, are of use from here on.
func (s *Stream) Keep() (send, tagged int) {
	switch {
	case s.over:
		return 0, 0
	case s.named != nil:
		if k, ok := s.named.dec.(Keeper); ok {
			return min(k.KeepSend(), mostKept), min(k.KeepTagged(), mostKept)
		}
		return KeepSend, 0
	case len(s.cands) == 0:
		return KeepSend, 0
	}
	return KeepSend, keepTagged
}
