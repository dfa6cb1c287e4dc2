package geometry

import (
	"math"
	"math/bits"
	"strconv"
)

// wholeFloat is the bound below which float32 holds all whole numbers exactly. Above it,
// and for fractions, strconv finds the shortest text.
const wholeFloat = 1 << 24

// maxFloat is more than the bytes of any number's shortest text.
const maxFloat = 32

// appendFraction appends the shortest JSON number that reads back as the same v of 32 or 64
// bits.
func appendFraction(dst []byte, v float64, size int) []byte {
	return strconv.AppendFloat(dst, v, 'g', -1, size)
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

// powersOf10 are the smallest numbers of 1 digit, 2 digits and so on.
var powersOf10 = func() (all [20]uint64) {
	power := uint64(1)
	for i := range all {
		all[i] = power
		power *= 10
	}
	return all
}()

// digits returns how many bytes appendInt appends.
func digits(v int) int {
	sign, size := 0, uint64(v)
	if v < 0 {
		sign, size = 1, -size
	}
	size |= 1 // 0 has a digit, too; no other number gets one more
	// 1233/4096 is the logarithm of 2: a number of n bits has n*0.301 digits, or one more.
	n := bits.Len64(size) * 1233 >> 12
	if size >= powersOf10[n] {
		n++
	}
	return sign + n
}
