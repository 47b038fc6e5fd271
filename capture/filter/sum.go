package filter

// relation takes two sums with a comparison between them.
func (p *parser) relation() (node, error) {
	var needed []node
	a, err := p.sum(0, &needed)
	if err != nil {
		return nil, err
	}
	op := p.take("<", ">", "<=", ">=", "=", "==", "!=")
	if op == "" {
		return nil, p.fail(p.at(), "%s where a comparison is expected", p.found())
	}
	b, err := p.sum(0, &needed)
	return relation{a: a, b: b, op: op, needed: all(needed...)}, err
}

// levels are the operators of sums, from those that bind least.
var levels = [][]string{{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) sum(level int, needed *[]node) (arith, error) {
	if level == len(levels) {
		return p.operand(needed)
	}
	a, err := p.sum(level+1, needed)
	for err == nil {
		at := p.at()
		op := p.take(levels[level]...)
		if op == "" {
			return a, nil
		}
		var b arith
		if b, err = p.sum(level+1, needed); err != nil {
			break
		}
		if n, ok := b.(number); ok && n == 0 && (op == "/" || op == "%") {
			return nil, p.fail(at, "division by zero")
		} else if ok && n > 31 && (op == "<<" || op == ">>") {
			return nil, p.fail(at, "a shift by %d bits", n)
		}
		a = operation{op, a, b}
	}
	return nil, err
}

var names = map[string]number{
	"tcpflags": 13, "tcp-fin": 1, "tcp-syn": 2, "tcp-rst": 4, "tcp-push": 8, "tcp-ack": 16, "tcp-urg": 32, "tcp-ece": 64, "tcp-cwr": 128,
	"icmptype": 0, "icmpcode": 1, "icmp-echoreply": 0, "icmp-unreach": 3, "icmp-echo": 8, "icmp6type": 0, "icmp6code": 1,
}

// operand takes a number, len, an octet of a header or a sum in parentheses.
func (p *parser) operand(needed *[]node) (arith, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.at(), "more than %d parentheses in one another", maxDepth)
	}
	defer func() { p.depth-- }()
	at := p.at()
	word := p.peek()
	if v, ok := numeral(word); ok {
		p.i++
		return number(v), nil
	}
	if v, ok := names[word]; ok {
		p.i++
		return v, nil
	}
	switch word {
	case "len":
		p.i++
		return length{}, nil
	case "-":
		p.i++
		a, err := p.operand(needed)
		return operation{"-", number(0), a}, err
	case "(":
		p.i++
		a, err := p.sum(0, needed)
		if err == nil && p.take(")") == "" {
			err = p.fail(p.at(), "%s where a closing parenthesis is expected", p.found())
		}
		return a, err
	}
	l := load{size: 1}
	switch word {
	case "ether":
		if p.layout.cooked {
			return nil, p.fail(at, "there are no Ethernet headers on this interface")
		}
		l.at = frame
	case "ip":
		l.at = network
		*needed = append(*needed, p.layout.carries(typeIP))
	case "ip6":
		l.at = network
		*needed = append(*needed, p.layout.carries(typeIPv6))
	case "arp":
		l.at = network
		*needed = append(*needed, p.layout.carries(typeARP))
	case "tcp", "udp", "icmp", "sctp":
		l.at = transport
		*needed = append(*needed, p.overIP(protocols[word]), unfragmented())
	case "icmp6":
		l.at, l.base = network, ip6Header
		*needed = append(*needed, all(p.layout.carries(typeIPv6), compare{at: network, off: ip6Next, size: 1, value: protocols[word]}))
	default:
		return nil, p.fail(at, "%s where a number is expected", p.found())
	}
	p.i++
	if p.take("[") == "" {
		return nil, p.fail(p.at(), "%s where [ is expected", p.found())
	}
	var err error
	if l.index, err = p.sum(0, needed); err != nil {
		return nil, err
	}
	if p.take(":") != "" {
		n, err := p.number("1, 2 or 4")
		if err != nil {
			return nil, err
		}
		if n != 1 && n != 2 && n != 4 {
			return nil, p.fail(at, "%d octets at once: 1, 2 and 4 can be loaded", n)
		}
		l.size = int(n)
	}
	if n, ok := l.index.(number); ok && n > 0xFFFF {
		return nil, p.fail(at, "octet %d: no frame is as long", n)
	}
	if p.take("]") == "" {
		return nil, p.fail(p.at(), "%s where ] is expected", p.found())
	}
	return l, nil
}
