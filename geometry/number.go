package geometry

import (
	"math"
	"strconv"
)

// wholeFloat is the bound below which float32 holds all whole numbers exactly. Above it,
// and for fractions, strconv finds the shortest text.
const wholeFloat = 1 << 24

// appendFloat32 appends the shortest JSON number that reads back as the same bits. v is
// finite.
func appendFloat32(dst []byte, v float32) []byte {
	if i, ok := whole(float64(v)); ok {
		return appendInt(dst, i)
	}
	return strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
}

// appendFloat64 is appendFloat32 for differences of positions.
func appendFloat64(dst []byte, v float64) []byte {
	if i, ok := whole(v); ok {
		return appendInt(dst, i)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// whole returns v as an integer. Negative zero is none, since it would lose its sign.
func whole(v float64) (int, bool) {
	i := int(v)
	return i, v < wholeFloat && v > -wholeFloat && float64(i) == v && (i != 0 || !math.Signbit(v))
}

// appendInt is strconv.AppendInt, made fast for small numbers.
func appendInt(dst []byte, v int) []byte {
	if v < 0 {
		dst, v = append(dst, '-'), -v
	}
	switch {
	case v < 10:
		return append(dst, byte('0'+v))
	case v < 100:
		return append(dst, byte('0'+v/10), byte('0'+v%10))
	case v < 1000:
		return append(dst, byte('0'+v/100), byte('0'+v/10%10), byte('0'+v%10))
	case v < 10000:
		return append(dst, byte('0'+v/1000), byte('0'+v/100%10), byte('0'+v/10%10), byte('0'+v%10))
	case v < 100000:
		return append(dst, byte('0'+v/10000), byte('0'+v/1000%10), byte('0'+v/100%10), byte('0'+v/10%10), byte('0'+v%10))
	}
	return strconv.AppendInt(dst, int64(v), 10)
}

// appendPair appends [a,b].
func appendPair(dst []byte, a, b int) []byte {
	dst = append(dst, '[')
	dst = appendInt(dst, a)
	dst = append(dst, ',')
	dst = appendInt(dst, b)
	return append(dst, ']')
}
