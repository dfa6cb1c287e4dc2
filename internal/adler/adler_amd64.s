#include "textflag.h"

// weights has for each byte of a block the number of bytes from it to the end of the block.
DATA weights<>+0(SB)/8, $0x191a1b1c1d1e1f20
DATA weights<>+8(SB)/8, $0x1112131415161718
DATA weights<>+16(SB)/8, $0x090a0b0c0d0e0f10
DATA weights<>+24(SB)/8, $0x0102030405060708
GLOBL weights<>(SB), RODATA|NOPTR, $32

// func sums(p *byte, blocks int) (bytes, before, weighed uint64)
//
// Y0 is the sum of the bytes, Y1 the sum of Y0 before each block, and Y2 the sum of the weighed
// bytes. Y5 is zero, Y6 has a 1 in each word, Y7 is the weights.
TEXT ·sums(SB), NOSPLIT, $0-40
	MOVQ     p+0(FP), AX
	MOVQ     blocks+8(FP), CX
	VMOVDQU  weights<>(SB), Y7
	VPCMPEQW Y6, Y6, Y6
	VPSRLW   $15, Y6, Y6
	VPXOR    Y0, Y0, Y0
	VPXOR    Y1, Y1, Y1
	VPXOR    Y2, Y2, Y2
	VPXOR    Y5, Y5, Y5

next:
	VMOVDQU    (AX), Y3
	VPADDQ     Y0, Y1, Y1
	VPSADBW    Y5, Y3, Y4
	VPADDQ     Y4, Y0, Y0
	VPMADDUBSW Y7, Y3, Y3
	VPMADDWD   Y6, Y3, Y3
	VPADDD     Y3, Y2, Y2
	ADDQ       $32, AX
	DECQ       CX
	JNZ        next

	VEXTRACTI128 $1, Y0, X3
	VPADDQ       X3, X0, X0
	VPSRLDQ      $8, X0, X3
	VPADDQ       X3, X0, X0
	VMOVQ        X0, DX
	MOVQ         DX, bytes+16(FP)
	VEXTRACTI128 $1, Y1, X3
	VPADDQ       X3, X1, X1
	VPSRLDQ      $8, X1, X3
	VPADDQ       X3, X1, X1
	VMOVQ        X1, DX
	MOVQ         DX, before+24(FP)
	VEXTRACTI128 $1, Y2, X3
	VPADDD       X3, X2, X2
	VPSRLDQ      $8, X2, X3
	VPADDD       X3, X2, X2
	VPSRLDQ      $4, X2, X3
	VPADDD       X3, X2, X2
	VMOVD        X2, DX
	MOVQ         DX, weighed+32(FP)
	VZEROUPPER
	RET
