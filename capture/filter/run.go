package filter

import (
	"encoding/binary"

	"golang.org/x/net/bpf"
)

// Match runs a program of Compile over a frame, which had length octets on the
// wire.
func Match(program []bpf.Instruction, frame []byte, length int) bool {
	var a, x uint32
	var scratch [16]uint32
	load := func(off uint64, size int) bool {
		if off+uint64(size) > uint64(len(frame)) {
			return false
		}
		switch b := frame[off:]; size {
		case 1:
			a = uint32(b[0])
		case 2:
			a = uint32(binary.BigEndian.Uint16(b))
		default:
			a = binary.BigEndian.Uint32(b)
		}
		return true
	}
	// All jumps go forward.
	for at := 0; at < len(program); at++ {
		switch i := program[at].(type) {
		case bpf.LoadAbsolute:
			if !load(uint64(i.Off), i.Size) {
				return false
			}
		case bpf.LoadIndirect:
			if !load(uint64(i.Off+x), i.Size) {
				return false
			}
		case bpf.LoadMemShift:
			if uint64(i.Off) >= uint64(len(frame)) {
				return false
			}
			x = 4 * uint32(frame[i.Off]&0xF)
		case bpf.LoadConstant:
			a = i.Val
		case bpf.LoadExtension:
			a = 0
			if i.Num == bpf.ExtLen {
				a = uint32(length)
			}
		case bpf.LoadScratch:
			x = scratch[i.N]
		case bpf.StoreScratch:
			scratch[i.N] = a
		case bpf.TAX:
			x = a
		case bpf.ALUOpConstant:
			a, _ = operate(i.Op, a, i.Val)
		case bpf.ALUOpX:
			var ok bool
			if a, ok = operate(i.Op, a, x); !ok {
				return false
			}
		case bpf.Jump:
			at += int(i.Skip)
		case bpf.JumpIf:
			at += skip(i.Cond, a, i.Val, i.SkipTrue, i.SkipFalse)
		case bpf.JumpIfX:
			at += skip(i.Cond, a, x, i.SkipTrue, i.SkipFalse)
		case bpf.RetConstant:
			return i.Val > 0
		}
	}
	return false
}

func skip(cond bpf.JumpTest, a, b uint32, yes, no uint8) int {
	holds := false
	switch cond {
	case bpf.JumpEqual:
		holds = a == b
	case bpf.JumpGreaterThan:
		holds = a > b
	case bpf.JumpGreaterOrEqual:
		holds = a >= b
	}
	if holds {
		return int(yes)
	}
	return int(no)
}

// operate returns false for a division by zero.
func operate(op bpf.ALUOp, a, b uint32) (uint32, bool) {
	switch op {
	case bpf.ALUOpAdd:
		return a + b, true
	case bpf.ALUOpSub:
		return a - b, true
	case bpf.ALUOpMul:
		return a * b, true
	case bpf.ALUOpDiv, bpf.ALUOpMod:
		if b == 0 {
			return 0, false
		}
		if op == bpf.ALUOpMod {
			return a % b, true
		}
		return a / b, true
	case bpf.ALUOpAnd:
		return a & b, true
	case bpf.ALUOpOr:
		return a | b, true
	case bpf.ALUOpXor:
		return a ^ b, true
	case bpf.ALUOpShiftLeft:
		return a << b, true
	case bpf.ALUOpShiftRight:
		return a >> b, true
	}
	return 0, false
}
