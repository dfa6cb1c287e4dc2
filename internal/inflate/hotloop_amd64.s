#include "go_asm.h"
#include "textflag.h"

// The registers of the state:
//
//	R8   the next byte of input         R9   the last place where a round may begin to read
//	DI   the next byte of output        R10  the last place where a round may begin to write
//	R11  the first byte that a match may reach
//	SI   the bit buffer                 DX   the number of bits in it, in its lowest byte
//	R12  the table of literals and lengths; that of distances lies behind it
//	AX   an entry
//
// R13 is the repeats, and BX and CX become the length, or the end, and the distance of a match.
//
// An entry's lowest byte is the length of its code and of its extra bits, so shifts and BZHI, which use
// no more than a byte, take the entry as it is. So does subtracting it from DX.

// REFILL loads the bit buffer to at least 56 bits. It uses AX.
#define REFILL \
	MOVQ  (R8), AX; \
	SHLXQ DX, AX, AX; \
	ORQ   AX, SI; \
	MOVL  DX, AX; \
	XORL  $63, AX; \
	SHRL  $3, AX; \
	ANDL  $7, AX; \
	ADDQ  AX, R8; \
	ORL   $56, DX

// NEXT looks the next entry up.
#define NEXT \
	MOVL SI, AX; \
	ANDL $(1<<const_litLenRoot-1), AX; \
	MOVL (R12)(AX*4), AX

// LITERAL takes a literal. It uses BX.
#define LITERAL \
	MOVL  AX, BX; \
	SHRXQ AX, SI, SI; \
	SUBL  AX, DX; \
	SHRL  $const_valueShift, BX; \
	MOVB  BX, (DI); \
	INCQ  DI

// VALUE takes the value of an entry to OUT. It uses TMP.
// The code's length is in the six bits that a shift looks at, as neither flag beside it is set.
#define VALUE(OUT, TMP) \
	BZHIQ AX, SI, OUT; \
	MOVL  AX, TMP; \
	SHRL  $const_codeLenShift, TMP; \
	SHRXQ TMP, OUT, OUT; \
	SHRXQ AX, SI, SI; \
	SUBL  AX, DX; \
	SHRL  $const_valueShift, AX; \
	ADDQ  AX, OUT

// func hotLoop(s *hotState)
TEXT ·hotLoop(SB), NOSPLIT, $0-8
	MOVQ s+0(FP), R13
	MOVQ hotState_in(R13), R9
	MOVQ hotState_ip(R13), R8
	ADDQ R9, R8
	ADDQ hotState_inStop(R13), R9
	MOVQ hotState_buf(R13), R10
	MOVQ hotState_p(R13), DI
	ADDQ R10, DI
	MOVQ hotState_floor(R13), R11
	ADDQ R10, R11
	ADDQ hotState_outStop(R13), R10
	MOVQ hotState_bits(R13), SI
	MOVQ hotState_nbits(R13), DX
	MOVQ hotState_codes(R13), R12
	MOVQ hotState_repeats(R13), R13
	REFILL
	NEXT

	PCALIGN $32
round:
	CMPQ R8, R9
	JHI  pause
	CMPQ DI, R10
	JHI  pause
	TESTL $const_flagLiteral, AX
	JZ   other
	LITERAL
	NEXT
	TESTL $const_flagLiteral, AX
	JZ   other
	LITERAL
	NEXT
	TESTL $const_flagLiteral, AX
	JZ   other
	LITERAL
	REFILL
	NEXT
	JMP round

other:
	TESTL $(const_flagLiteral|const_flagLink|const_flagEnd|const_flagInvalid), AX
	JNZ  special

length:
	VALUE(BX, CX)
	CMPB DX, $(const_maxCodeLen+13)
	JCS  more

distance:
	MOVL SI, AX
	ANDL $(1<<const_distRoot-1), AX
	MOVL codes_dist(R12)(AX*4), AX
	TESTL $(const_flagLink|const_flagInvalid), AX
	JNZ  specialDistance

match:
	VALUE(CX, R15)
	MOVQ DI, R15
	SUBQ CX, R15
	CMPQ R15, R11
	JCS  farDistance
	ADDQ DI, BX // the end of the match

	// The next entry is on its way while the match is copied, whose length is hard to foresee.
	REFILL
	NEXT
	CMPQ CX, $const_nearDist
	JCS  near

far:
	MOVOU (R15), X0
	MOVOU X0, (DI)
	MOVOU 16(R15), X0
	MOVOU X0, 16(DI)
	ADDQ  $32, R15
	ADDQ  $32, DI
	CMPQ  DI, BX
	JCS   far
	MOVQ  BX, DI
	JMP   round

near:
	MOVOU  (R15), X0
	SHLL   $5, CX
	MOVOU  repeat_order(R13)(CX*1), X1 // PSHUFB itself would need it aligned
	PSHUFB X1, X0
	MOVQ   repeat_stride(R13)(CX*1), CX

repeating:
	MOVOU X0, (DI)
	ADDQ  CX, DI
	CMPQ  DI, BX
	JCS   repeating
	MOVQ  BX, DI
	JMP   round

more:
	REFILL
	JMP distance

special:
	TESTL $const_flagLink, AX
	JZ   linked
	MOVL AX, BX
	SHRL $const_valueShift, BX
	MOVQ SI, CX
	SHRQ $const_litLenRoot, CX
	BZHIQ AX, CX, CX
	ADDL CX, BX
	ANDL $(const_litLenTableSize-1), BX
	MOVL (R12)(BX*4), AX

linked:
	TESTL $(const_flagLiteral|const_flagEnd|const_flagInvalid), AX
	JZ   length
	TESTL $const_flagLiteral, AX
	JZ   ending
	LITERAL
	REFILL
	NEXT
	JMP  round

ending:
	TESTL $const_flagEnd, AX
	JZ   badLength
	SHRXQ AX, SI, SI
	SUBL  AX, DX
	ANDL  $const_lenMask, AX
	MOVQ  $const_hotEnded, BX
	JMP   done

specialDistance:
	TESTL $const_flagLink, AX
	JZ    linkedDistance
	MOVL  AX, R15
	SHRL  $const_valueShift, R15
	MOVQ  SI, CX
	SHRQ  $const_distRoot, CX
	BZHIQ AX, CX, CX
	ADDL  CX, R15
	ANDL  $(const_distTableSize-1), R15
	MOVL  codes_dist(R12)(R15*4), AX

linkedDistance:
	TESTL $const_flagInvalid, AX
	JZ    match
	MOVQ  $const_hotBadDistance, BX
	JMP   done

badLength:
	MOVQ $const_hotBadLength, BX
	JMP  done

farDistance:
	MOVQ $const_hotFarDistance, BX
	JMP  done

pause:
	XORL BX, BX

done:
	MOVQ  s+0(FP), R13
	ANDL  $63, DX
	BZHIQ DX, SI, SI // what lies behind is not the hot loop's
	MOVQ  SI, hotState_bits(R13)
	MOVQ  DX, hotState_nbits(R13)
	MOVQ  BX, hotState_end(R13)
	MOVQ  AX, hotState_ended(R13)
	SUBQ  hotState_in(R13), R8
	MOVQ  R8, hotState_ip(R13)
	SUBQ  hotState_buf(R13), DI
	MOVQ  DI, hotState_p(R13)
	RET
