package filter

// A node is a condition.
type node interface{}

type (
	and   struct{ a, b node }
	or    struct{ a, b node }
	not   struct{ a node }
	truth bool

	// compare holds octets of the packet, of which mask takes some, or all where
	// it is 0, against a value.
	compare struct {
		at    place
		net   uint32 // where the network header is
		off   uint32
		size  int
		mask  uint32
		value uint32
		more  bool // at least value, instead of equal
		there bool // nothing but that the octets are there
	}
	// relation compares two sums.
	relation struct {
		a, b   arith
		op     string
		needed node // what the sums take for granted, nil for nothing
	}
	// beside is that the kernel tells of an Ethernet type.
	beside struct{ etherType uint32 }
	// tagged looks at the VLAN tag that the kernel took off, id -1 for any.
	tagged struct{ id int }
)

// A place is where an offset counts from.
type place uint8

const (
	frame     place = iota // the start of the frame
	network                // the IP header
	transport              // what follows an IPv4 header of any length
)

// An arith is a number made of a packet.
type arith interface{}

type (
	number uint32
	length struct{}
	load   struct {
		at    place
		net   uint32
		base  uint32
		index arith
		size  int
	}
	operation struct {
		op   string
		a, b arith
	}
)

func all(ns ...node) node {
	var n node
	for i := len(ns) - 1; i >= 0; i-- {
		if n == nil {
			n = ns[i]
		} else if ns[i] != nil {
			n = and{ns[i], n}
		}
	}
	return n
}

func either(ns ...node) node {
	n := ns[len(ns)-1]
	for i := len(ns) - 2; i >= 0; i-- {
		n = or{ns[i], n}
	}
	return n
}

// placed tells all of n where the network header is.
func placed(n node, net uint32) node {
	switch n := n.(type) {
	case and:
		return and{placed(n.a, net), placed(n.b, net)}
	case or:
		return or{placed(n.a, net), placed(n.b, net)}
	case not:
		return not{placed(n.a, net)}
	case compare:
		n.net = net
		return n
	case relation:
		n.a, n.b = sumPlaced(n.a, net), sumPlaced(n.b, net)
		if n.needed != nil {
			n.needed = placed(n.needed, net)
		}
		return n
	}
	return n
}

func sumPlaced(a arith, net uint32) arith {
	switch a := a.(type) {
	case load:
		a.net, a.index = net, sumPlaced(a.index, net)
		return a
	case operation:
		return operation{a.op, sumPlaced(a.a, net), sumPlaced(a.b, net)}
	}
	return a
}
