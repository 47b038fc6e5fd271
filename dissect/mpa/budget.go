package mpa

// DefaultBudget is the limit of a Budget whose Max is 0.
const DefaultBudget = 16 << 20

// A Budget limits how many octets the searches of many streams hold together.
// Where it is used up, streams that are not known to be iWARP are given up,
// and others search in less. It is not safe for use by several goroutines.
//
// Framers that share a Budget also share the memory that each needs for a
// moment only: a direction that is framed costs a few hundred octets.
type Budget struct {
	Max  int // 0 is DefaultBudget
	held int

	idle []*search
	out  FPDU
	note Notice
}

func (b *Budget) spent() bool {
	if b.Max > 0 {
		return b.held > b.Max
	}
	return b.held > DefaultBudget
}

// maxIdle is how many searches are kept for the next that need one.
const maxIdle = 4

func (b *Budget) search() *search {
	if n := len(b.idle); n > 0 {
		s := b.idle[n-1]
		b.idle = b.idle[:n-1]
		return s
	}
	return new(search)
}

// release takes a search back. Much memory is not kept.
func (b *Budget) release(s *search) {
	const keep = 64 << 10
	if s != nil && cap(s.buf) <= keep && len(b.idle) < maxIdle {
		b.idle = append(b.idle, s)
	}
}
