#include "textflag.h"

// Y0 is the sum of all bytes, in four lanes of 64 bits. Y1 is the sum of Y0 before each 64 bytes. Y2
// sums each byte times the number of bytes of its 64 from it on, in eight lanes of 32 bits. Y3 is
// zeros, Y4 is ones, and Y5 and Y6 are those numbers of bytes.

// func sums(p *byte, n int, factors *[96]int8, s *[3]uint64)
TEXT ·sums(SB), NOSPLIT, $0-32
	MOVQ    p+0(FP), SI
	MOVQ    n+8(FP), CX
	MOVQ    factors+16(FP), BX
	MOVQ    s+24(FP), DI
	VPXOR   Y0, Y0, Y0
	VPXOR   Y1, Y1, Y1
	VPXOR   Y2, Y2, Y2
	VPXOR   Y3, Y3, Y3
	VMOVDQU 64(BX), Y4
	VMOVDQU (BX), Y5
	VMOVDQU 32(BX), Y6

loop:
	VMOVDQU    (SI), Y7
	VMOVDQU    32(SI), Y8
	VPADDQ     Y0, Y1, Y1
	VPSADBW    Y3, Y7, Y9
	VPSADBW    Y3, Y8, Y10
	VPADDQ     Y9, Y0, Y0
	VPADDQ     Y10, Y0, Y0
	VPMADDUBSW Y5, Y7, Y7
	VPMADDUBSW Y6, Y8, Y8
	VPMADDWD   Y4, Y7, Y7
	VPMADDWD   Y4, Y8, Y8
	VPADDD     Y7, Y2, Y2
	VPADDD     Y8, Y2, Y2
	ADDQ       $64, SI
	DECQ       CX
	JNZ        loop

	// The lanes of Y2 become wide, and each sum one.
	VPUNPCKLDQ   Y3, Y2, Y7
	VPUNPCKHDQ   Y3, Y2, Y8
	VPADDQ       Y7, Y8, Y2
	VEXTRACTI128 $1, Y0, X7
	VEXTRACTI128 $1, Y1, X8
	VEXTRACTI128 $1, Y2, X9
	VPADDQ       X7, X0, X0
	VPADDQ       X8, X1, X1
	VPADDQ       X9, X2, X2
	VPSRLDQ      $8, X0, X7
	VPSRLDQ      $8, X1, X8
	VPSRLDQ      $8, X2, X9
	VPADDQ       X7, X0, X0
	VPADDQ       X8, X1, X1
	VPADDQ       X9, X2, X2
	VMOVQ        X0, (DI)
	VMOVQ        X1, 8(DI)
	VMOVQ        X2, 16(DI)
	VZEROUPPER
	RET
