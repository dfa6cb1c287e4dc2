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

// countedBits bounds the numbers whose digits are counted: they have fewer bits.
const countedBits = 59

// digits returns how many bytes appendInt appends.
func digits(v int) int {
	sign := int64(v) >> 63 // -1 or 0
	size := uint64((int64(v) ^ sign) - sign)
	return int(int64((size+digitsAt[bits.Len64(size)])>>countedBits) - sign)
}

// digitsAt has an element for each number of bits. Its sum with a number of so many bits has the number
// of digits from bit countedBits on: the first number that has one more digit carries there.
var digitsAt = func() (all [countedBits + 1]uint64) {
	all[0] = 1 << countedBits // 0 has a digit, too
	digits, next := uint64(1), uint64(10)
	for n := 1; n < len(all); n++ {
		all[n] = digits << countedBits
		if next < 1<<n {
			digits++
			all[n] = digits<<countedBits - next
			next *= 10
		}
	}
	return all
}()
