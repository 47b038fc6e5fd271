package filter

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Limits of an expression, for it may come from anyone.
const (
	maxOctets = 16 << 10
	maxDepth  = 100
)

// parser makes conditions of tokens, for one link type.
type parser struct {
	expr     string
	ts       []token
	i        int
	layout   layout
	stripped bool // the kernel took the outer VLAN tag off
	depth    int
	last     qualifiers // what an address or number alone goes with
}

// qualifiers stand in front of an address or number.
type qualifiers struct {
	proto, dir, kind string
}

func (p *parser) fail(at int, format string, args ...any) error {
	return &Error{Expr: p.expr, Column: at + 1, Msg: fmt.Sprintf(format, args...)}
}

func (p *parser) peek() string {
	if p.i < len(p.ts) {
		return p.ts[p.i].text
	}
	return ""
}

func (p *parser) at() int {
	if p.i < len(p.ts) {
		return p.ts[p.i].at
	}
	return len(p.expr)
}

func (p *parser) take(texts ...string) string {
	for _, t := range texts {
		if p.i < len(p.ts) && p.ts[p.i].text == t {
			p.i++
			return t
		}
	}
	return ""
}

func (p *parser) found() string {
	if p.i == len(p.ts) {
		return "the end"
	}
	return strconv.Quote(p.ts[p.i].text)
}

// parse takes the whole expression; nil is all frames.
func (p *parser) parse() (node, error) {
	if len(p.expr) > maxOctets {
		return nil, p.fail(maxOctets, "more than %d octets", maxOctets)
	}
	p.ts = lex(p.expr)
	if len(p.ts) == 0 {
		return nil, nil
	}
	n, err := p.alternatives()
	if err == nil && p.i < len(p.ts) {
		err = p.fail(p.at(), "%s is not expected here", p.found())
	}
	return n, err
}

// alternatives takes terms with and and or between them, which bind alike, from
// left to right.
func (p *parser) alternatives() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.at(), "more than %d parentheses in one another", maxDepth)
	}
	defer func() { p.depth-- }()
	n, err := p.term()
	for err == nil {
		var right node
		switch p.take("and", "&&", "or", "||") {
		case "and", "&&":
			right, err = p.term()
			n = and{n, right}
		case "or", "||":
			right, err = p.term()
			n = or{n, right}
		default:
			return n, nil
		}
	}
	return nil, err
}

func (p *parser) term() (node, error) {
	negated := false
	for p.take("not", "!") != "" {
		negated = !negated
	}
	n, err := p.primary()
	if err == nil && negated {
		n = not{n}
	}
	return n, err
}

// primary takes a condition in parentheses, a relation or a primitive. What a
// parenthesis begins, sums or conditions, is seen only later.
func (p *parser) primary() (node, error) {
	if p.peek() != "(" {
		net := p.layout.network // in front of a tag, as far as this one goes
		n, err := node(nil), error(nil)
		if p.arithmetic() {
			n, err = p.relation()
		} else {
			n, err = p.primitive()
		}
		return placed(n, net), err
	}
	start, last, layout, stripped := p.i, p.last, p.layout, p.stripped
	p.i++
	n, err := p.alternatives()
	if err == nil && p.take(")") == "" {
		err = p.fail(p.at(), "%s where a closing parenthesis is expected", p.found())
	}
	if err == nil && !operator(p.peek()) {
		return n, nil
	}
	reached := p.i
	p.i, p.last, p.layout, p.stripped = start, last, layout, stripped
	if n, other := p.relation(); other == nil {
		return placed(n, p.layout.network), nil
	} else if p.i > reached || err == nil {
		return nil, other
	}
	return nil, err
}

func operator(s string) bool {
	switch s {
	case "<", ">", "<=", ">=", "=", "==", "!=", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>":
		return true
	}
	return false
}

// arithmetic says whether a sum begins here.
func (p *parser) arithmetic() bool {
	next := ""
	if p.i+1 < len(p.ts) {
		next = p.ts[p.i+1].text
	}
	if p.peek() == "len" || next == "[" {
		return true
	}
	_, ok := numeral(p.peek())
	return ok && operator(next) || p.peek() == "-"
}

var protocols = map[string]uint32{"icmp": 1, "tcp": 6, "udp": 17, "sctp": 132, "icmp6": 58}

// primitive takes qualifiers and what they are for.
func (p *parser) primitive() (node, error) {
	at := p.at()
	switch word := p.peek(); word {
	case "":
		return nil, p.fail(at, "the expression ends where a condition is expected")
	case "vlan":
		p.i++
		return p.vlan()
	case "less", "greater":
		p.i++
		n, err := p.number("a length")
		op := ">="
		if word == "less" {
			op = "<="
		}
		return relation{a: length{}, b: number(n), op: op}, err
	}
	var q qualifiers
	q.proto = p.take("ip", "ip6", "arp", "rarp", "tcp", "udp", "sctp", "icmp", "icmp6", "ether")
	q.dir = p.direction()
	q.kind = p.take("host", "net", "port", "portrange", "proto")
	if q == (qualifiers{}) {
		// An address or number alone goes with what was before.
		if !p.value() || p.last == q {
			return nil, p.fail(at, "%s is not known here", p.found())
		}
		q = p.last
	} else if q.kind == "" && q.dir == "" {
		if p.value() && q.proto != "" && (q.proto == "ip" || q.proto == "ip6" || q.proto == "arp" || q.proto == "rarp") {
			// as in ip 10.0.0.1
		} else {
			return p.protocol(q.proto, at)
		}
	}
	p.last = q
	if !p.value() {
		return nil, p.fail(p.at(), "%s where an address or number is expected (names are not looked up)", p.found())
	}
	switch q.kind {
	case "port", "portrange":
		return p.ports(q, at)
	case "proto":
		return p.numbered(q, at)
	}
	return p.addresses(q, at)
}

func (p *parser) direction() string {
	first := p.take("src", "dst")
	if first == "" || p.i+1 >= len(p.ts) {
		return first
	}
	op, second := p.ts[p.i].text, p.ts[p.i+1].text
	if second != "src" && second != "dst" || second == first {
		return first
	}
	switch op {
	case "or", "||":
		p.i += 2
		return "either"
	case "and", "&&":
		p.i += 2
		return "both"
	}
	return first
}

// value says whether an address or number is next.
func (p *parser) value() bool {
	s := p.peek()
	return s != "" && (s[0] >= '0' && s[0] <= '9' || strings.Contains(s, ":") && len(s) > 1)
}

func numeral(s string) (uint32, bool) {
	if s == "" || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	v, err := strconv.ParseUint(s, 0, 32)
	return uint32(v), err == nil
}

func (p *parser) number(what string) (uint32, error) {
	v, ok := numeral(p.peek())
	if !ok {
		return 0, p.fail(p.at(), "%s where %s is expected", p.found(), what)
	}
	p.i++
	return v, nil
}

// protocol is a protocol without more.
func (p *parser) protocol(name string, at int) (node, error) {
	switch name {
	case "ip":
		return p.layout.carries(typeIP), nil
	case "ip6":
		return p.layout.carries(typeIPv6), nil
	case "arp":
		return p.layout.carries(typeARP), nil
	case "rarp":
		return p.layout.carries(typeRARP), nil
	case "icmp":
		return p.overIP(protocols[name]), nil
	case "icmp6":
		return p.overIPv6(protocols[name]), nil
	case "ether":
		return nil, p.fail(at, `"ether" needs proto, or an octet as in ether[0]`)
	}
	return either(p.overIP(protocols[name]), p.overIPv6(protocols[name])), nil
}

// Offsets in the headers of IPv4 (RFC 791, section 3.1) and IPv6 (RFC 8200,
// section 3).
const (
	ip4Fragment, ip4Protocol, ip4Src, ip4Dst = 6, 9, 12, 16
	ip6Next, ip6Src, ip6Dst, ip6Header       = 6, 8, 24, 40
	ip6FragmentHeader                        = 44 // a next header
	arpSrc, arpDst                           = 14, 24
)

func (p *parser) overIP(protocol uint32) node {
	return all(p.layout.carries(typeIP), compare{at: network, off: ip4Protocol, size: 1, value: protocol})
}

// overIPv6 looks behind a fragment header too.
func (p *parser) overIPv6(protocol uint32) node {
	return all(p.layout.carries(typeIPv6), either(
		compare{at: network, off: ip6Next, size: 1, value: protocol},
		all(compare{at: network, off: ip6Next, size: 1, value: ip6FragmentHeader}, compare{at: network, off: ip6Header, size: 1, value: protocol})))
}

// unfragmented is that an IPv4 packet has the header of what it carries.
func unfragmented() node {
	return compare{at: network, off: ip4Fragment, size: 2, mask: 0x1FFF, value: 0}
}

func (p *parser) numbered(q qualifiers, at int) (node, error) {
	if q.dir != "" {
		return nil, p.fail(at, "proto has no direction")
	}
	v, err := p.number("the number of a protocol")
	if err != nil {
		return nil, err
	}
	switch q.proto {
	case "":
		return either(p.overIP(v), p.overIPv6(v)), nil
	case "ip":
		return p.overIP(v), nil
	case "ip6":
		return p.overIPv6(v), nil
	case "ether":
		if v < 0x600 || v > 0xFFFF {
			return nil, p.fail(at, "0x%x is no Ethernet type", v)
		}
		return p.layout.carries(v), nil
	}
	return nil, p.fail(at, "%s has no proto", q.proto)
}

// directed joins the conditions on the two ends.
func directed(dir string, src, dst node) node {
	switch dir {
	case "src":
		return src
	case "dst":
		return dst
	case "both":
		return all(src, dst)
	}
	return either(src, dst)
}

func (p *parser) ports(q qualifiers, at int) (node, error) {
	var carriers []uint32
	switch q.proto {
	case "":
		carriers = []uint32{protocols["tcp"], protocols["udp"], protocols["sctp"]}
	case "tcp", "udp", "sctp":
		carriers = []uint32{protocols[q.proto]}
	default:
		return nil, p.fail(at, "%s has no ports", q.proto)
	}
	text, where := p.peek(), p.at()
	p.i++
	low, high, isRange := strings.Cut(text, "-")
	a, ok := numeral(low)
	b, ok2 := a, true
	if isRange {
		b, ok2 = numeral(high)
	}
	if isRange && q.kind != "portrange" || !ok || !ok2 || a > 0xFFFF || b > 0xFFFF {
		return nil, p.fail(where, "%q is no %s", text, q.kind)
	}
	a, b = min(a, b), max(a, b)
	port := func(place place, off uint32) node {
		if a == b {
			return compare{at: place, off: off, size: 2, value: a}
		}
		return all(compare{at: place, off: off, size: 2, value: a, more: true}, not{compare{at: place, off: off, size: 2, value: b + 1, more: true}})
	}
	// Which of the two comes first matters where a frame is cut short.
	var v4, v6 node
	for i := len(carriers) - 1; i >= 0; i-- {
		n4 := all(compare{at: network, off: ip4Protocol, size: 1, value: carriers[i]}, unfragmented(), directed(q.dir, port(transport, 0), port(transport, 2)))
		n6 := all(compare{at: network, off: ip6Next, size: 1, value: carriers[i]}, directed(q.dir, port(network, ip6Header), port(network, ip6Header+2)))
		if v4 == nil {
			v4, v6 = n4, n6
		} else {
			v4, v6 = or{n4, v4}, or{n6, v6}
		}
	}
	return either(all(p.layout.carries(typeIPv6), v6), all(p.layout.carries(typeIP), v4)), nil
}

func (p *parser) addresses(q qualifiers, at int) (node, error) {
	switch q.proto {
	case "", "ip", "ip6", "arp", "rarp":
	default:
		return nil, p.fail(at, "%s has no addresses", q.proto)
	}
	text, where := p.peek(), p.at()
	p.i++
	name, bits, hasBits := strings.Cut(text, "/")
	length := -1
	if hasBits {
		v, ok := numeral(bits)
		if !ok || v > 128 {
			return nil, p.fail(where, "%q has no prefix length", text)
		}
		length = int(v)
	}
	if strings.Contains(name, ":") {
		return p.ipv6(q, name, length, where)
	}
	parts := strings.Split(name, ".")
	var addr uint32
	for _, part := range parts {
		v, ok := numeral(part)
		if !ok || v > 255 || len(parts) > 4 {
			return nil, p.fail(where, "%q is no address", text)
		}
		addr = addr<<8 | v
	}
	missing := 8 * (4 - len(parts))
	addr <<= missing
	mask := ^uint32(0) << missing
	switch {
	case length > 32:
		return nil, p.fail(where, "%q: an IPv4 prefix has up to 32 bits", text)
	case length >= 0:
		mask = ^uint32(0) << (32 - length)
		if length == 0 {
			mask = 0
		}
	case q.kind == "net" && p.peek() == "mask":
		p.i++
		m, err := netip.ParseAddr(p.peek())
		if err != nil || !m.Is4() {
			return nil, p.fail(p.at(), "%s where a mask is expected", p.found())
		}
		p.i++
		b := m.As4()
		mask = uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	}
	if length >= 0 && q.kind != "net" && q.kind != "" || addr&^mask != 0 {
		return nil, p.fail(where, "%q is no %s: it has bits behind its prefix, or is a net", text, q.kind)
	}
	over := func(etherType, src, dst uint32) node {
		// Each end with its own look at the type.
		end := func(off uint32) node {
			return all(p.layout.carries(etherType), compare{at: network, off: off, size: 4, mask: mask, value: addr, there: mask == 0})
		}
		return directed(q.dir, end(src), end(dst))
	}
	switch q.proto {
	case "ip":
		return over(typeIP, ip4Src, ip4Dst), nil
	case "arp":
		return over(typeARP, arpSrc, arpDst), nil
	case "rarp":
		return over(typeRARP, arpSrc, arpDst), nil
	case "ip6":
		return nil, p.fail(where, "%q is no IPv6 address", text)
	}
	return either(over(typeIP, ip4Src, ip4Dst), over(typeARP, arpSrc, arpDst), over(typeRARP, arpSrc, arpDst)), nil
}

func (p *parser) ipv6(q qualifiers, name string, length, where int) (node, error) {
	addr, err := netip.ParseAddr(name)
	if err != nil || !addr.Is6() || addr.Zone() != "" {
		return nil, p.fail(where, "%q is no address", name)
	}
	switch {
	case q.proto != "" && q.proto != "ip6":
		return nil, p.fail(where, "%s has no IPv6 addresses", q.proto)
	case length >= 0 && q.kind == "host":
		return nil, p.fail(where, "%s/%d is a net, no host", name, length)
	case length < 0:
		length = 128
	}
	if addr.Unmap() != addr && length == 128 {
		addr = netip.AddrFrom16(addr.As16())
	}
	if prefix, err := addr.Prefix(length); err != nil || prefix.Addr() != addr {
		return nil, p.fail(where, "%s/%d has bits behind its prefix", name, length)
	}
	b := addr.As16()
	end := func(off uint32) node {
		words := []node{p.layout.carries(typeIPv6)}
		for i := range 4 {
			w := uint32(b[4*i])<<24 | uint32(b[4*i+1])<<16 | uint32(b[4*i+2])<<8 | uint32(b[4*i+3])
			mask := ^uint32(0)
			if n := max(0, length-32*i); n < 32 {
				mask <<= 32 - n
			}
			words = append(words, compare{at: network, off: off + uint32(4*i), size: 4, mask: mask, value: w, there: mask == 0})
		}
		return all(words...)
	}
	return directed(q.dir, end(ip6Src), end(ip6Dst)), nil
}

// vlan takes what follows vlan. What stands behind it in the expression looks
// behind the tag.
func (p *parser) vlan() (node, error) {
	id, where := -1, p.at()
	if v, ok := numeral(p.peek()); ok {
		if v > 0xFFF {
			return nil, p.fail(where, "a VLAN has a number up to 4095, not %d", v)
		}
		p.i++
		id = int(v)
	}
	if p.stripped {
		p.stripped = false
		return tagged{id}, nil
	}
	l := &p.layout
	if l.typeAt == 0 && l.network != 20 {
		return nil, p.fail(where, "frames of this link type have no VLAN tags")
	}
	n := either(l.carries(typeVLAN), l.carries(typeQinQ), l.carries(typeOld))
	if id >= 0 {
		n = all(n, compare{at: frame, off: l.network, size: 2, mask: 0xFFF, value: uint32(id)})
	}
	l.typeAt = l.network + 2
	l.network += 4
	return n, nil
}
