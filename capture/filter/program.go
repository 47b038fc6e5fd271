package filter

import (
	"errors"
	"fmt"

	"golang.org/x/net/bpf"

	"github.com/iwdump/iwdump/capture"
)

// maxInstructions is how many the Linux kernel takes (BPF_MAXINSNS).
const maxInstructions = 4096

// Options say where a program will run. The zero value is for frames of a file.
type Options struct {
	// Stripped says that the outer VLAN tag is not in the frame, but beside it,
	// as on a socket of Linux.
	Stripped bool
	// Cooked says that frames begin with their network header, and that their
	// Ethernet type is beside them, as on such a socket of Linux for any
	// interface. The link type is then of no matter.
	Cooked bool
}

// Compile compiles an expression for frames of a link type. An empty one takes
// all. What is wrong with it is an *Error. The program returns the most that a
// frame can have, or 0 for what does not match.
func Compile(expr string, link capture.LinkType, o Options) ([]bpf.Instruction, error) {
	p := &parser{expr: expr, stripped: o.Stripped}
	ok := o.Cooked
	if p.layout.cooked = o.Cooked; !ok {
		p.layout, ok = layoutOf(link)
	}
	if !ok {
		return nil, fmt.Errorf("capture filter %q: there are none for frames of link type %v", expr, link)
	}
	n, err := p.parse()
	if err != nil {
		return nil, err
	}
	if n == nil {
		n = truth(true)
	}
	c := new(compiler)
	yes, no := new(label), new(label)
	c.condition(n, yes, no)
	c.place(yes)
	c.emit(bpf.RetConstant{Val: most})
	c.place(no)
	c.emit(bpf.RetConstant{Val: 0})
	if c.err != nil {
		return nil, fmt.Errorf("capture filter %q: %w", expr, c.err)
	}
	return c.link()
}

const most = 262144 // octets of a frame, as tcpdump has it

// A label is a place in a program that is jumped to.
type label struct{ at int }

// step is an instruction, or a jump whose ends are labels.
type step struct {
	ins     bpf.Instruction
	yes, no *label // of a jump
	long    bool   // it takes jumps of their own to get there
}

// compiler makes steps of conditions.
type compiler struct {
	steps []step
	used  int // scratch memory
	err   error
}

func (c *compiler) emit(i bpf.Instruction) { c.steps = append(c.steps, step{ins: i}) }
func (c *compiler) jump(i bpf.Instruction, yes, no *label) {
	c.steps = append(c.steps, step{ins: i, yes: yes, no: no})
}
func (c *compiler) place(l *label) { l.at = len(c.steps) }

// condition makes the steps that go to yes where n holds, else to no.
func (c *compiler) condition(n node, yes, no *label) {
	switch n := n.(type) {
	case and:
		then := new(label)
		c.condition(n.a, then, no)
		c.place(then)
		c.condition(n.b, yes, no)
	case or:
		orElse := new(label)
		c.condition(n.a, yes, orElse)
		c.place(orElse)
		c.condition(n.b, yes, no)
	case not:
		c.condition(n.a, no, yes)
	case truth:
		if !n {
			yes = no
		}
		c.jump(bpf.Jump{}, yes, yes)
	case compare:
		c.compare(&n, yes, no)
	case relation:
		c.relation(&n, yes, no)
	case beside:
		c.emit(bpf.LoadExtension{Num: bpf.ExtProto})
		c.jump(bpf.JumpIf{Cond: bpf.JumpEqual, Val: n.etherType}, yes, no)
	case tagged:
		c.emit(bpf.LoadExtension{Num: bpf.ExtVLANTagPresent})
		if n.id >= 0 {
			then := new(label)
			c.jump(bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0}, no, then)
			c.place(then)
			c.emit(bpf.LoadExtension{Num: bpf.ExtVLANTag})
			c.emit(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xFFF})
			c.jump(bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(n.id)}, yes, no)
			return
		}
		c.jump(bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0}, no, yes)
	}
}

func (c *compiler) compare(n *compare, yes, no *label) {
	c.load(n.at, n.net, n.off, n.size)
	if n.there {
		c.jump(bpf.Jump{}, yes, yes)
		return
	}
	if full := ^uint32(0) >> (32 - 8*n.size); n.mask != 0 && n.mask != full {
		c.emit(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: n.mask})
	}
	test := bpf.JumpEqual
	if n.more {
		test = bpf.JumpGreaterOrEqual
	}
	c.jump(bpf.JumpIf{Cond: test, Val: n.value}, yes, no)
}

// load loads octets at a fixed offset.
func (c *compiler) load(at place, net, off uint32, size int) {
	switch at {
	case frame:
		c.emit(bpf.LoadAbsolute{Off: off, Size: size})
	case network:
		c.emit(bpf.LoadAbsolute{Off: net + off, Size: size})
	case transport:
		c.emit(bpf.LoadMemShift{Off: net})
		c.emit(bpf.LoadIndirect{Off: net + off, Size: size})
	}
}

func (c *compiler) relation(n *relation, yes, no *label) {
	if n.needed != nil {
		then := new(label)
		c.condition(n.needed, then, no)
		c.place(then)
	}
	c.pair(n.a, n.b)
	test := bpf.JumpEqual
	switch n.op {
	case "!=":
		yes, no = no, yes
	case ">":
		test = bpf.JumpGreaterThan
	case ">=":
		test = bpf.JumpGreaterOrEqual
	case "<":
		test, yes, no = bpf.JumpGreaterOrEqual, no, yes
	case "<=":
		test, yes, no = bpf.JumpGreaterThan, no, yes
	}
	c.jump(bpf.JumpIfX{Cond: test}, yes, no)
}

// pair leaves a in register A, and b in X.
func (c *compiler) pair(a, b arith) {
	c.sum(b)
	at := c.used
	if c.used++; c.used > 16 {
		c.err, c.used = errors.New("a sum needs too many intermediate values"), 1
	}
	c.emit(bpf.StoreScratch{Src: bpf.RegA, N: at % 16})
	c.sum(a)
	c.emit(bpf.LoadScratch{Dst: bpf.RegX, N: at % 16})
	c.used--
}

var operations = map[string]bpf.ALUOp{"+": bpf.ALUOpAdd, "-": bpf.ALUOpSub, "*": bpf.ALUOpMul, "/": bpf.ALUOpDiv, "%": bpf.ALUOpMod,
	"&": bpf.ALUOpAnd, "|": bpf.ALUOpOr, "^": bpf.ALUOpXor, "<<": bpf.ALUOpShiftLeft, ">>": bpf.ALUOpShiftRight}

// sum leaves a in register A.
func (c *compiler) sum(a arith) {
	switch a := a.(type) {
	case number:
		c.emit(bpf.LoadConstant{Dst: bpf.RegA, Val: uint32(a)})
	case length:
		c.emit(bpf.LoadExtension{Num: bpf.ExtLen})
	case operation:
		if n, ok := a.b.(number); ok {
			c.sum(a.a)
			c.emit(bpf.ALUOpConstant{Op: operations[a.op], Val: uint32(n)})
			return
		}
		c.pair(a.a, a.b)
		c.emit(bpf.ALUOpX{Op: operations[a.op]})
	case load:
		if n, ok := a.index.(number); ok {
			c.load(a.at, a.net, a.base+uint32(n), a.size)
			return
		}
		c.sum(a.index)
		off := a.base
		switch a.at {
		case network:
			off += a.net
		case transport:
			off += a.net
			c.emit(bpf.LoadMemShift{Off: a.net}) // leaves A alone
			c.emit(bpf.ALUOpX{Op: bpf.ALUOpAdd})
		}
		c.emit(bpf.TAX{})
		c.emit(bpf.LoadIndirect{Off: off, Size: a.size})
	}
}

// link makes instructions of the steps. A jump can skip 255 at most; where that
// is not enough, it skips to jumps that can.
func (c *compiler) link() ([]bpf.Instruction, error) {
	at := make([]int, len(c.steps)+1)
	for again := true; again; {
		again = false
		n := 0
		for i := range c.steps {
			at[i] = n
			n++
			if c.steps[i].long {
				n += 2
			}
		}
		at[len(c.steps)] = n
		if n > maxInstructions {
			return nil, fmt.Errorf("a capture filter of %d instructions: the kernel takes %d", n, maxInstructions)
		}
		for i := range c.steps {
			s := &c.steps[i]
			if _, plain := s.ins.(bpf.Jump); s.yes == nil || plain || s.long {
				continue
			}
			if max(at[s.yes.at], at[s.no.at])-at[i]-1 > 255 {
				s.long, again = true, true
			}
		}
	}
	var out []bpf.Instruction
	for i := range c.steps {
		s := &c.steps[i]
		if s.yes == nil {
			out = append(out, s.ins)
			continue
		}
		yes, no := at[s.yes.at]-at[i]-1, at[s.no.at]-at[i]-1
		var far []bpf.Instruction
		if s.long {
			far = []bpf.Instruction{bpf.Jump{Skip: uint32(yes - 1)}, bpf.Jump{Skip: uint32(no - 2)}}
			yes, no = 0, 1
		}
		switch j := s.ins.(type) {
		case bpf.Jump:
			out = append(out, bpf.Jump{Skip: uint32(yes)})
		case bpf.JumpIf:
			j.SkipTrue, j.SkipFalse = uint8(yes), uint8(no)
			out = append(out, j)
		case bpf.JumpIfX:
			j.SkipTrue, j.SkipFalse = uint8(yes), uint8(no)
			out = append(out, j)
		}
		out = append(out, far...)
	}
	return out, nil
}
