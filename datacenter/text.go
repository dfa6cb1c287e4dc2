package datacenter

import (
	"fmt"
	"math"
	"strconv"
)

// maxNumber is enough room for the text of any value but a string.
const maxNumber = 32

// canonicalNaN is the NaN that .NET computes, so the text NaN means this one. Other NaNs
// are spelled with their bits: otherwise they could not be read back.
const canonicalNaN = 0xffc00000

func appendInt(dst []byte, v int32) []byte { return strconv.AppendInt(dst, int64(v), 10) }

func appendBool(dst []byte, v bool) []byte { return strconv.AppendBool(dst, v) }

// appendFloat appends the shortest text that reads back as the same bits, spelled as by
// .NET and so by novadrop: fixed for decimal exponents from -4 to 8, otherwise scientific,
// as in 1E-05 and 1.5E+09.
func appendFloat(dst []byte, bits uint32) []byte {
	v := float64(math.Float32frombits(bits))
	switch {
	case v != v:
		if bits == canonicalNaN {
			return append(dst, "NaN"...)
		}
		return fmt.Appendf(dst, "NaN(0x%08X)", bits)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	case v == 0:
		return strconv.AppendFloat(dst, v, 'f', -1, 32)
	}
	if a := math.Abs(v); a >= 1e-4 && a < 1e8 {
		return strconv.AppendFloat(dst, v, 'f', -1, 32)
	}
	return appendExtreme(dst, v)
}

// appendExtreme is for numbers whose spelling depends on the decimal exponent.
func appendExtreme(dst []byte, v float64) []byte {
	const maxFixed, minFixed = 8, -4
	var buf [maxNumber]byte
	sci := strconv.AppendFloat(buf[:0], v, 'E', -1, 32) // d.dddE±dd
	e := len(sci) - 1
	for sci[e] != 'E' {
		e--
	}
	exp, err := strconv.Atoi(string(sci[e+1:]))
	if err != nil {
		panic(fmt.Sprintf("datacenter: BUG: %q: %v", sci, err))
	}
	if exp >= minFixed && exp <= maxFixed {
		return strconv.AppendFloat(dst, v, 'f', -1, 32)
	}
	return append(dst, sci...)
}
