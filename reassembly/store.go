package reassembly

import "sort"

// A piece is what one segment brought ahead of its turn, or a part of that.
type piece struct {
	off  uint64 // position of its first octet
	data []byte // the captured octets, copied
	cut  uint64 // octets behind data that the capture cut off
	Stamp
	mark  mark
	again bool // octets of it were sent again since
}

func (p *piece) end() uint64 { return p.off + uint64(len(p.data)) + p.cut }

// pieceOverhead is what a piece costs beside its octets.
const pieceOverhead = 64

func (p *piece) cost() int { return cap(p.data) + pieceOverhead }

const pageSize = 32

// A page is a run of pieces in ascending order: p[lo:hi].
type page struct {
	lo, hi int
	p      [pageSize]piece
}

// A store holds pieces that do not overlap, in ascending order: a list of
// pages, none empty. To find, insert or take out one of n pieces moves at most
// a page of pieces and n/16 page pointers, whatever the order of arrival.
type store struct {
	pages []*page
	n     int // pieces
	cost  int // of all pieces
}

// pagePool keeps pages for later.
type pagePool struct {
	free  []*page
	moved uint64 // pieces moved within and between pages, for tests
}

const maxFreePages = 256

func (pp *pagePool) get() *page {
	if l := len(pp.free); l > 0 {
		g := pp.free[l-1]
		pp.free = pp.free[:l-1]
		return g
	}
	return new(page)
}

func (pp *pagePool) put(g *page) {
	clear(g.p[g.lo:g.hi])
	g.lo, g.hi = 0, 0
	if len(pp.free) < maxFreePages {
		pp.free = append(pp.free, g)
	}
}

// first returns the first piece. The store must not be empty.
func (s *store) first() *piece {
	g := s.pages[0]
	return &g.p[g.lo]
}

// locate returns the place of the first piece that ends behind pos, or the
// place behind all.
func (s *store) locate(pos uint64) (pi, i int) {
	last := len(s.pages) - 1
	if last < 0 {
		return 0, 0
	}
	if g := s.pages[last]; g.p[g.hi-1].end() <= pos {
		return last, g.hi
	}
	pi = sort.Search(last, func(k int) bool {
		g := s.pages[k]
		return g.p[g.hi-1].end() > pos
	})
	g := s.pages[pi]
	i = g.lo + sort.Search(g.hi-g.lo, func(k int) bool { return g.p[g.lo+k].end() > pos })
	return pi, i
}

// at returns the first piece that ends behind pos, or nil.
func (s *store) at(pos uint64) *piece {
	if s.n == 0 {
		return nil
	}
	pi, i := s.locate(pos)
	if g := s.pages[pi]; i < g.hi {
		return &g.p[i]
	}
	return nil
}

// insert adds a piece that overlaps none.
func (s *store) insert(p piece, pool *pagePool) {
	s.n++
	s.cost += p.cost()
	pi, i := s.locate(p.off)
	if len(s.pages) == 0 {
		s.pages = append(s.pages, pool.get())
	}
	g := s.pages[pi]
	if g.lo == 0 && g.hi == pageSize {
		g, i = s.split(pi, i, pool)
	}
	if g.hi == pageSize || (g.lo > 0 && i == g.lo) {
		copy(g.p[g.lo-1:], g.p[g.lo:i])
		pool.moved += uint64(i - g.lo)
		g.lo--
		i--
	} else {
		copy(g.p[i+1:g.hi+1], g.p[i:g.hi])
		pool.moved += uint64(g.hi - i)
		g.hi++
	}
	g.p[i] = p
}

// split makes room at place i of the full page pi. It returns the page and
// place to use then. At either end of the store the new page starts empty, so
// that pages fill up where pieces come in or against the order.
func (s *store) split(pi, i int, pool *pagePool) (*page, int) {
	g, n := s.pages[pi], pool.get()
	switch {
	case i == pageSize && pi == len(s.pages)-1:
		s.pages = append(s.pages, n)
		return n, 0
	case i == 0 && pi == 0:
		s.pages = append(s.pages, nil)
		copy(s.pages[1:], s.pages)
		s.pages[0] = n
		n.lo, n.hi = pageSize, pageSize
		return n, pageSize
	}
	const half = pageSize / 2
	s.pages = append(s.pages, nil)
	copy(s.pages[pi+2:], s.pages[pi+1:])
	s.pages[pi+1] = n
	n.hi = copy(n.p[:], g.p[half:])
	clear(g.p[half:])
	g.hi = half
	pool.moved += half
	if i <= half {
		return g, i
	}
	return n, i - half
}

// pop takes the first piece out. The store must not be empty.
func (s *store) pop(pool *pagePool) piece {
	g := s.pages[0]
	p := g.p[g.lo]
	g.p[g.lo] = piece{}
	g.lo++
	s.n--
	s.cost -= p.cost()
	if g.lo == g.hi {
		copy(s.pages, s.pages[1:])
		s.pages[len(s.pages)-1] = nil
		s.pages = s.pages[:len(s.pages)-1]
		g.lo, g.hi = 0, 0
		pool.put(g)
	}
	return p
}
