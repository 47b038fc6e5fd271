#include "textflag.h"

// func chains(crc uint32, p *byte, n int, power2n, powern uint32) uint32
TEXT ·chains(SB), NOSPLIT, $0-36
	MOVL crc+0(FP), AX
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), DX
	XORL BX, BX
	XORL CX, CX
	LEAQ (SI)(DX*8), DI
	LEAQ (DI)(DX*8), R8

	TESTQ $1, DX
	JZ    pairs
	CRC32Q (SI), AX
	CRC32Q (DI), BX
	CRC32Q (R8), CX
	ADDQ $8, SI
	ADDQ $8, DI
	ADDQ $8, R8

pairs:
	SHRQ $1, DX
	JZ   join

loop:
	CRC32Q (SI), AX
	CRC32Q (DI), BX
	CRC32Q (R8), CX
	CRC32Q 8(SI), AX
	CRC32Q 8(DI), BX
	CRC32Q 8(R8), CX
	ADDQ $16, SI
	ADDQ $16, DI
	ADDQ $16, R8
	DECQ DX
	JNZ  loop

join:
	MOVL power2n+24(FP), R9
	MOVL powern+28(FP), R10
	MOVQ AX, X0
	MOVQ R9, X1
	MOVQ BX, X2
	MOVQ R10, X3
	PCLMULQDQ $0, X1, X0
	PCLMULQDQ $0, X3, X2
	PXOR X2, X0
	MOVQ X0, R9
	XORL AX, AX
	CRC32Q R9, AX
	XORL CX, AX
	MOVL AX, ret+32(FP)
	RET

// func chain(crc uint32, p *byte, n int) uint32
TEXT ·chain(SB), NOSPLIT, $0-28
	MOVL crc+0(FP), AX
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), DX
	MOVQ DX, CX
	SHRQ $3, CX
	JZ   rest

words:
	CRC32Q (SI), AX
	ADDQ $8, SI
	DECQ CX
	JNZ  words

rest:
	ANDQ $7, DX
	JZ   done

octets:
	CRC32B (SI), AX
	INCQ SI
	DECQ DX
	JNZ  octets

done:
	MOVL AX, ret+24(FP)
	RET
