package datacenter

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"lorefs/internal/wtf8"
)

// maxNumber is enough room for the text of any value but a string.
const maxNumber = 32

// canonicalNaN is the NaN that .NET computes, so the text NaN means this one. Other NaNs
// are spelled with their bits: otherwise they could not be read back.
const canonicalNaN = 0xffc00000

// threeDigits has the digits of each number below 1,000, in bytes from the lowest on.
var threeDigits = func() (digits [1000]uint32) {
	for i := range digits {
		u := uint32(i)
		digits[i] = '0' + u/100 | ('0'+u/10%10)<<8 | ('0'+u%10)<<16
	}
	return digits
}()

// appendThree appends the digits of a number below 1,000, with zeros in front.
func appendThree(dst []byte, u uint32) []byte {
	d := threeDigits[u]
	return append(dst, byte(d), byte(d>>8), byte(d>>16))
}

// appendShort appends a number below 1,000.
func appendShort(dst []byte, u uint32) []byte {
	switch d := threeDigits[u]; {
	case u < 10:
		return append(dst, byte(d>>16))
	case u < 100:
		return append(dst, byte(d>>8), byte(d>>16))
	default:
		return append(dst, byte(d), byte(d>>8), byte(d>>16))
	}
}

func appendInt(dst []byte, v int32) []byte {
	u := uint32(v)
	if v < 0 {
		dst, u = append(dst, '-'), -u
	}
	switch {
	case u < 1e3:
		return appendShort(dst, u)
	case u < 1e6:
		return appendThree(appendShort(dst, u/1e3), u%1e3)
	}
	return strconv.AppendUint(dst, uint64(u), 10)
}

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
	if dst, ok := appendUsual(dst, v); ok {
		return dst
	}
	if a := math.Abs(v); a >= 1e-4 && a < 1e8 {
		return strconv.AppendFloat(dst, v, 'f', -1, 32)
	}
	return appendExtreme(dst, v)
}

// appendUsual appends a float32 that is a whole number or, to its precision, one of at most three digits
// on each side of the point. No two decimals of six digits are the same float32, so none is shorter.
func appendUsual(dst []byte, v float64) (out []byte, ok bool) {
	a := math.Abs(v)
	if a >= 1e3 {
		const exact = 1 << 24 // below it all whole numbers are a float32
		whole := a < exact && a == math.Trunc(a)
		if whole {
			dst = appendInt(dst, int32(v))
		}
		return dst, whole
	}
	u := uint32(a*1e3 + 0.5)
	if u == 0 || u >= 1e6 || float32(float64(u)/1e3) != float32(a) {
		return dst, false
	}
	if v < 0 {
		dst = append(dst, '-')
	}
	dst = appendShort(dst, u/1e3)
	if u %= 1e3; u == 0 {
		return dst, true
	}
	dst = appendThree(append(dst, '.'), u)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst, true
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

// AppendNumber appends the text of a value that has a type, which is any but String.
func AppendNumber(dst []byte, t Type, bits uint32) []byte {
	switch t {
	case Bool:
		return appendBool(dst, bits != 0)
	case Float:
		return appendFloat(dst, bits)
	default:
		return appendInt(dst, int32(bits))
	}
}

// appendJSONNumber is [AppendNumber] for JSON, see [Attribute.AppendJSON].
func appendJSONNumber(dst []byte, t Type, bits uint32) []byte {
	from := len(dst)
	dst = AppendNumber(dst, t, bits)
	if t != Float {
		return dst
	}
	text := dst[from:]
	if last := text[len(text)-1]; last < '0' || last > '9' {
		return wtf8.AppendJSON(dst[:from], string(text))
	}
	if !bytes.ContainsAny(text, ".E") {
		dst = append(dst, ".0"...)
	}
	return dst
}
