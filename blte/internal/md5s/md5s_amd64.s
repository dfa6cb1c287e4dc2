#include "textflag.h"

// Y0 to Y3 are the words a, b, c and d of eight lanes. Y4 to Y6 are scratch registers, Y7 is all
// ones. The 16 words of the block of each lane lie on the stack, word i of all lanes at 32*i(SP).
// R9 is the constants, R12 counts blocks.

// TRANSPOSE takes four words at off of each lane to the stack. Lane i and lane i+4 share a
// register at first, so that the words come out in the order of the lanes.
#define TRANSPOSE(off) \
	VMOVDQU     off(AX), X8                   \
	VINSERTI128 $1, off(SI), Y8, Y8           \
	VMOVDQU     off(BX), X9                   \
	VINSERTI128 $1, off(DI), Y9, Y9           \
	VMOVDQU     off(CX), X10                  \
	VINSERTI128 $1, off(R10), Y10, Y10        \
	VMOVDQU     off(DX), X11                  \
	VINSERTI128 $1, off(R11), Y11, Y11        \
	VPUNPCKLDQ  Y9, Y8, Y12                   \
	VPUNPCKHDQ  Y9, Y8, Y13                   \
	VPUNPCKLDQ  Y11, Y10, Y14                 \
	VPUNPCKHDQ  Y11, Y10, Y15                 \
	VPUNPCKLQDQ Y14, Y12, Y8                  \
	VPUNPCKHQDQ Y14, Y12, Y9                  \
	VPUNPCKLQDQ Y15, Y13, Y10                 \
	VPUNPCKHQDQ Y15, Y13, Y11                 \
	VMOVDQU     Y8, (8*off)(SP)               \
	VMOVDQU     Y9, (8*off+32)(SP)            \
	VMOVDQU     Y10, (8*off+64)(SP)           \
	VMOVDQU     Y11, (8*off+96)(SP)

// STEP ends a step whose function is in Y4: a = b + ((a + Y4 + word + sine) <<< shift).
#define STEP(a, b, sine, word, shift) \
	VPBROADCASTD (4*sine)(R9), Y5             \
	VPADDD       (32*word)(SP), Y5, Y5        \
	VPADDD       Y5, a, a                     \
	VPADDD       Y4, a, a                     \
	ROTATE(a, shift)                          \
	VPADDD       b, a, a

#define STEP1(a, b, c, d, sine, word, shift) \
	F1(b, c, d)                               \
	STEP(a, b, sine, word, shift)

#define STEP2(a, b, c, d, sine, word, shift) \
	F2(b, c, d)                               \
	STEP(a, b, sine, word, shift)

#define STEP3(a, b, c, d, sine, word, shift) \
	F3(b, c, d)                               \
	STEP(a, b, sine, word, shift)

#define STEP4(a, b, c, d, sine, word, shift) \
	F4(b, c, d)                               \
	STEP(a, b, sine, word, shift)

// The words of four steps follow one another at a distance of 1, 5, 3 or 7.
#define ROUND1(sine, w0, w1, w2, w3) \
	STEP1(Y0, Y1, Y2, Y3, sine, w0, 7)        \
	STEP1(Y3, Y0, Y1, Y2, (sine+1), w1, 12)   \
	STEP1(Y2, Y3, Y0, Y1, (sine+2), w2, 17)   \
	STEP1(Y1, Y2, Y3, Y0, (sine+3), w3, 22)

#define ROUND2(sine, w0, w1, w2, w3) \
	STEP2(Y0, Y1, Y2, Y3, sine, w0, 5)        \
	STEP2(Y3, Y0, Y1, Y2, (sine+1), w1, 9)    \
	STEP2(Y2, Y3, Y0, Y1, (sine+2), w2, 14)   \
	STEP2(Y1, Y2, Y3, Y0, (sine+3), w3, 20)

#define ROUND3(sine, w0, w1, w2, w3) \
	STEP3(Y0, Y1, Y2, Y3, sine, w0, 4)        \
	STEP3(Y3, Y0, Y1, Y2, (sine+1), w1, 11)   \
	STEP3(Y2, Y3, Y0, Y1, (sine+2), w2, 16)   \
	STEP3(Y1, Y2, Y3, Y0, (sine+3), w3, 23)

#define ROUND4(sine, w0, w1, w2, w3) \
	STEP4(Y0, Y1, Y2, Y3, sine, w0, 6)        \
	STEP4(Y3, Y0, Y1, Y2, (sine+1), w1, 10)   \
	STEP4(Y2, Y3, Y0, Y1, (sine+2), w2, 15)   \
	STEP4(Y1, Y2, Y3, Y0, (sine+3), w3, 21)

// HASH is the body of both functions below.
#define HASH                                  \
	MOVQ s+0(FP), R8                          \
	MOVQ at+8(FP), R13                        \
	MOVQ sines+16(FP), R9                     \
	MOVQ n+24(FP), R12                        \
	MOVQ 0(R13), AX                           \
	MOVQ 8(R13), BX                           \
	MOVQ 16(R13), CX                          \
	MOVQ 24(R13), DX                          \
	MOVQ 32(R13), SI                          \
	MOVQ 40(R13), DI                          \
	MOVQ 48(R13), R10                         \
	MOVQ 56(R13), R11                         \
	VMOVDQU  0(R8), Y0                        \
	VMOVDQU  32(R8), Y1                       \
	VMOVDQU  64(R8), Y2                       \
	VMOVDQU  96(R8), Y3                       \
	VPCMPEQD Y7, Y7, Y7                       \
block:                                        \
	TRANSPOSE(0)                              \
	TRANSPOSE(16)                             \
	TRANSPOSE(32)                             \
	TRANSPOSE(48)                             \
	ROUND1(0, 0, 1, 2, 3)                     \
	ROUND1(4, 4, 5, 6, 7)                     \
	ROUND1(8, 8, 9, 10, 11)                   \
	ROUND1(12, 12, 13, 14, 15)                \
	ROUND2(16, 1, 6, 11, 0)                   \
	ROUND2(20, 5, 10, 15, 4)                  \
	ROUND2(24, 9, 14, 3, 8)                   \
	ROUND2(28, 13, 2, 7, 12)                  \
	ROUND3(32, 5, 8, 11, 14)                  \
	ROUND3(36, 1, 4, 7, 10)                   \
	ROUND3(40, 13, 0, 3, 6)                   \
	ROUND3(44, 9, 12, 15, 2)                  \
	ROUND4(48, 0, 7, 14, 5)                   \
	ROUND4(52, 12, 3, 10, 1)                  \
	ROUND4(56, 8, 15, 6, 13)                  \
	ROUND4(60, 4, 11, 2, 9)                   \
	VPADDD  0(R8), Y0, Y0                     \
	VPADDD  32(R8), Y1, Y1                    \
	VPADDD  64(R8), Y2, Y2                    \
	VPADDD  96(R8), Y3, Y3                    \
	VMOVDQU Y0, 0(R8)                         \
	VMOVDQU Y1, 32(R8)                        \
	VMOVDQU Y2, 64(R8)                        \
	VMOVDQU Y3, 96(R8)                        \
	ADDQ $64, AX                              \
	ADDQ $64, BX                              \
	ADDQ $64, CX                              \
	ADDQ $64, DX                              \
	ADDQ $64, SI                              \
	ADDQ $64, DI                              \
	ADDQ $64, R10                             \
	ADDQ $64, R11                             \
	DECQ R12                                  \
	JNZ  block                                \
	VZEROUPPER                                \
	RET

// The functions of the four rounds, to Y4, and the rotation by AVX2.
#define F1(b, c, d)                           \
	VPXOR c, d, Y4                            \
	VPAND b, Y4, Y4                           \
	VPXOR d, Y4, Y4

#define F2(b, c, d)                           \
	VPXOR b, c, Y4                            \
	VPAND d, Y4, Y4                           \
	VPXOR c, Y4, Y4

#define F3(b, c, d)                           \
	VPXOR c, d, Y4                            \
	VPXOR b, Y4, Y4

#define F4(b, c, d)                           \
	VPXOR Y7, d, Y4                           \
	VPOR  b, Y4, Y4                           \
	VPXOR c, Y4, Y4

#define ROTATE(a, shift)                      \
	VPSLLD $shift, a, Y6                      \
	VPSRLD $(32-shift), a, a                  \
	VPOR   Y6, a, a

// func hashAVX2(s *state, at *[lanes]*byte, sines *[64]uint32, n int)
TEXT ·hashAVX2(SB), 0, $512-32
	HASH

#undef F1
#undef F2
#undef F3
#undef F4
#undef ROTATE

// The same by AVX-512, which has an instruction for each: bit 4d+2c+b of the number is what becomes of
// the bits d, c and b.
#define F1(b, c, d)                           \
	VMOVDQA    d, Y4                          \
	VPTERNLOGD $0xD8, b, c, Y4

#define F2(b, c, d)                           \
	VMOVDQA    d, Y4                          \
	VPTERNLOGD $0xAC, b, c, Y4

#define F3(b, c, d)                           \
	VMOVDQA    d, Y4                          \
	VPTERNLOGD $0x96, b, c, Y4

#define F4(b, c, d)                           \
	VMOVDQA    d, Y4                          \
	VPTERNLOGD $0x63, b, c, Y4

#define ROTATE(a, shift)                      \
	VPROLD $shift, a, a

// func hashAVX512(s *state, at *[lanes]*byte, sines *[64]uint32, n int)
TEXT ·hashAVX512(SB), 0, $512-32
	HASH
