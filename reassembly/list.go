package reassembly

// connList is a doubly linked list of connections. A connection is in one list
// at a time.
type connList struct {
	head, tail *Conn
	n          int
}

// push puts c at the end, out of the list that it was in.
func (l *connList) push(c *Conn) {
	if c.list != nil {
		c.list.remove(c)
	}
	c.list, c.prev, c.next = l, l.tail, nil
	if l.tail != nil {
		l.tail.next = c
	} else {
		l.head = c
	}
	l.tail = c
	l.n++
}

func (l *connList) remove(c *Conn) {
	if c.prev != nil {
		c.prev.next = c.next
	} else {
		l.head = c.next
	}
	if c.next != nil {
		c.next.prev = c.prev
	} else {
		l.tail = c.prev
	}
	c.list, c.prev, c.next = nil, nil, nil
	l.n--
}
