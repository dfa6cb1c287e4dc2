#include "textflag.h"

// KEY makes the next round key in X0, by FIPS 197 section 5.2, and stores it at off. rcon is the
// constant of the round.
#define KEY(rcon, off) \
	AESKEYGENASSIST $rcon, X0, X1 \
	PSHUFD          $0xff, X1, X1 \
	MOVOU           X0, X2        \
	PSLLO           $4, X2        \
	PXOR            X2, X0        \
	PSLLO           $4, X2        \
	PXOR            X2, X0        \
	PSLLO           $4, X2        \
	PXOR            X2, X0        \
	PXOR            X1, X0        \
	MOVOU           X0, off(BX)

// func expand(key *[16]byte, keys *[176]byte)
TEXT ·expand(SB), NOSPLIT, $0-16
	MOVQ  key+0(FP), AX
	MOVQ  keys+8(FP), BX
	MOVOU (AX), X0
	MOVOU X0, (BX)
	KEY(0x01, 16)
	KEY(0x02, 32)
	KEY(0x04, 48)
	KEY(0x08, 64)
	KEY(0x10, 80)
	KEY(0x20, 96)
	KEY(0x40, 112)
	KEY(0x80, 128)
	KEY(0x1b, 144)
	KEY(0x36, 160)
	RET

// EACH does a step of a round with the key at off to all eight blocks, which are X0 to X7.
#define EACH(step, off) \
	MOVOU off(BX), X8 \
	step  X8, X0      \
	step  X8, X1      \
	step  X8, X2      \
	step  X8, X3      \
	step  X8, X4      \
	step  X8, X5      \
	step  X8, X6      \
	step  X8, X7

// XORTO XORs the block at off with x.
#define XORTO(x, off) \
	MOVOU off(DI), X8 \
	PXOR  X8, x       \
	MOVOU x, off(DI)

// func xorEncrypted(dst, src *byte, groups int, keys *[176]byte)
//
// All blocks of a group are read before any is written.
TEXT ·xorEncrypted(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVQ keys+24(FP), BX
	MOVQ CX, AX
	SHLQ $7, AX
	ADDQ AX, DI
	ADDQ AX, SI

group:
	SUBQ  $128, DI
	SUBQ  $128, SI
	MOVOU (SI), X0
	MOVOU 16(SI), X1
	MOVOU 32(SI), X2
	MOVOU 48(SI), X3
	MOVOU 64(SI), X4
	MOVOU 80(SI), X5
	MOVOU 96(SI), X6
	MOVOU 112(SI), X7
	EACH(PXOR, 0)
	EACH(AESENC, 16)
	EACH(AESENC, 32)
	EACH(AESENC, 48)
	EACH(AESENC, 64)
	EACH(AESENC, 80)
	EACH(AESENC, 96)
	EACH(AESENC, 112)
	EACH(AESENC, 128)
	EACH(AESENC, 144)
	EACH(AESENCLAST, 160)
	XORTO(X0, 0)
	XORTO(X1, 16)
	XORTO(X2, 32)
	XORTO(X3, 48)
	XORTO(X4, 64)
	XORTO(X5, 80)
	XORTO(X6, 96)
	XORTO(X7, 112)
	DECQ CX
	JNZ  group
	RET

// func chain(p *byte, n int, prev *[16]byte, keys *[176]byte)
//
// X0 is the state, and X1 to X11 are the keys. Each block waits for the one before it, so the loop
// takes as long as its ten steps of X0. The plain text joins the last key beforehand, and so does the
// first key of the next block: X0 begins and ends as a block XORed with that.
TEXT ·chain(SB), NOSPLIT, $0-32
	MOVQ p+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ prev+16(FP), AX
	MOVQ keys+24(FP), BX
	MOVOU (BX), X1
	MOVOU 16(BX), X2
	MOVOU 32(BX), X3
	MOVOU 48(BX), X4
	MOVOU 64(BX), X5
	MOVOU 80(BX), X6
	MOVOU 96(BX), X7
	MOVOU 112(BX), X8
	MOVOU 128(BX), X9
	MOVOU 144(BX), X10
	MOVOU 160(BX), X11
	PXOR  X1, X11
	MOVOU (AX), X0
	PXOR  X1, X0

block:
	MOVOU (DI), X12
	PXOR  X11, X12
	AESENC X2, X0
	AESENC X3, X0
	AESENC X4, X0
	AESENC X5, X0
	AESENC X6, X0
	AESENC X7, X0
	AESENC X8, X0
	AESENC X9, X0
	AESENC X10, X0
	AESENCLAST X12, X0
	MOVOU X0, X13
	PXOR  X1, X13
	MOVOU X13, (DI)
	ADDQ  $16, DI
	DECQ  CX
	JNZ   block
	MOVOU X13, (AX)
	RET
