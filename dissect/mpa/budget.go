package mpa

// DefaultBudget is the limit of a Budget whose Max is 0.
const DefaultBudget = 16 << 20

// A Budget limits how many octets the searches of many streams hold together.
// Where it is used up, streams that are not known to be iWARP are given up,
// and others search in less. It is not safe for use by several goroutines.
type Budget struct {
	Max  int // 0 is DefaultBudget
	held int
}

func (b *Budget) spent() bool {
	if b.Max > 0 {
		return b.held > b.Max
	}
	return b.held > DefaultBudget
}
