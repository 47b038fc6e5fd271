package qp

// A ring is a queue that holds a limited number of elements: at the limit, the
// oldest makes way.
type ring[T any] struct {
	buf   []T
	first int
	n     int
}

// push adds v, and says whether an older element had to go.
func (r *ring[T]) push(v T, limit int) (dropped bool) {
	for r.n >= limit {
		r.first = (r.first + 1) % len(r.buf)
		r.n--
		dropped = true
	}
	if r.n == len(r.buf) {
		buf := make([]T, min(max(4, 2*r.n), limit))
		for i := range r.n {
			buf[i] = *r.at(i)
		}
		r.buf, r.first = buf, 0
	}
	r.buf[(r.first+r.n)%len(r.buf)] = v
	r.n++
	return dropped
}

// at returns the i-th oldest.
func (r *ring[T]) at(i int) *T { return &r.buf[(r.first+i)%len(r.buf)] }

// drop takes away the n oldest.
func (r *ring[T]) drop(n int) {
	if n > 0 {
		r.first = (r.first + n) % len(r.buf)
		r.n -= n
	}
}

// remove takes away the i-th oldest.
func (r *ring[T]) remove(i int) {
	for ; i > 0; i-- {
		*r.at(i) = *r.at(i - 1)
	}
	r.drop(1)
}
