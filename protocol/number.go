package protocol

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// The functions of this file write a number to b at n, and return where it ends. b has maxNumber
// bytes for it. Most of the JSON of packets are such numbers, so there is no detour by a buffer
// of its own as in [strconv.AppendUint].

// maxNumber is the length of the longest number: that of a double.
const maxNumber = 32

// pairs has the digits of 0 to 99, two each.
var pairs = func() (p [100]uint16) {
	for i := range p {
		p[i] = uint16('0'+i/10) | uint16('0'+i%10)<<8
	}
	return p
}()

// digitsOf has, for each length in bits, what makes the upper half of the sum with a number of
// that length the number of its decimal digits. Numbers of one length have d digits, or one
// less, if they are below 10^(d-1).
var digitsOf = func() (t [33]uint64) {
	for n := range t {
		most := uint64(1)<<n - 1
		t[n] = uint64(len(strconv.FormatUint(most, 10))) << 32
		power := uint64(1)
		for power <= most/10 {
			power *= 10
		}
		if n > 0 && power > 1<<(n-1) {
			t[n] -= power
		}
	}
	return t
}()

func putUint32(b []byte, n int, v uint32) int {
	if v < 10 {
		b[n] = '0' + byte(v)
		return n + 1
	}
	end := n + int((uint64(v)+digitsOf[bits.Len32(v)])>>32)
	putDigits(b[n:end], v)
	return end
}

// putDigits fills b with the decimal digits of v, of which there may be fewer.
func putDigits(b []byte, v uint32) {
	for len(b) >= 2 {
		rest := v / 100
		binary.LittleEndian.PutUint16(b[len(b)-2:], pairs[v-100*rest])
		b, v = b[:len(b)-2], rest
	}
	if len(b) > 0 {
		b[0] = '0' + byte(v)
	}
}

func putInt32(b []byte, n int, v int32) int {
	if v < 0 {
		b[n] = '-'
		return putUint32(b, n+1, -uint32(v))
	}
	return putUint32(b, n, uint32(v))
}

func putUint64(b []byte, n int, v uint64) int {
	if v <= math.MaxUint32 {
		return putUint32(b, n, uint32(v))
	}
	const low = 1e9 // of which there are nine digits
	n = putUint64(b, n, v/low)
	putDigits(b[n:n+9], uint32(v%low))
	return n + 9
}

func putInt64(b []byte, n int, v int64) int {
	if v < 0 {
		b[n] = '-'
		return putUint64(b, n+1, -uint64(v))
	}
	return putUint64(b, n, uint64(v))
}

// putFloat writes a finite float, as short as it can be.
func putFloat(b []byte, n int, f float32) int {
	bits := math.Float32bits(f)
	if i := int32(f); float32(i) == f && -plainMost < i && i < plainMost && bits != negativeZero {
		return putInt32(b, n, i)
	}
	if abs := math.Abs(float64(f)); plainLeast <= abs && abs < plainMost {
		return putFraction(b, n, bits)
	}
	return len(strconv.AppendFloat(b[:n], float64(f), 'g', -1, 32))
}

// Floats from plainLeast up to plainMost are written without an exponent.
const (
	plainLeast, plainMost = 1e-4, 1e6

	negativeZero = 1 << 31
	mantissaBits = 23
	// plainFrom is the exponent, as it is in the bits, of the floats around plainLeast.
	plainFrom = 127 - 14
)

// scale says with how many decimals the floats of an exponent are numbered. A float is a
// mantissa m, of 24 bits, multiplied by 2^e. With so many decimals, 1 to 10 numbers are nearer
// to it than to any other float.
type scale struct {
	decimals int
	// five is 5 to the power of decimals, and power is 10 to it.
	five, power uint64
	// shift is how many bits of 4*m*five are behind the point.
	shift int
}

// scales has two scales for each exponent from plainFrom on: that of its floats, and that of
// the least of them, a power of two. The float below that one is only half as far.
var scales = func() (t [14 + 20][2]scale) {
	for i := range t {
		e := plainFrom + i - 127 - mantissaBits // at most -4
		for k, width := range []float64{1, 0.75} {
			s := scale{five: 1, power: 1}
			for math.Ldexp(width, e)*float64(s.power) < 1 {
				s.decimals, s.five, s.power = s.decimals+1, 5*s.five, 10*s.power
			}
			s.shift = 2 - e - s.decimals
			t[i][k] = s
		}
	}
	return t
}()

// putFraction writes a float that is not whole, from plainLeast up to plainMost: of the shortest
// numbers that are read as it, the nearest. It does so as Raffaello Giulietti's Schubfach, but
// such floats are small enough for whole numbers of 64 bits, which are exact.
func putFraction(b []byte, n int, bits uint32) int {
	m := uint64(bits&(1<<mantissaBits-1) | 1<<mantissaBits)
	below, isPower := uint64(2), 0
	if m == 1<<mantissaBits {
		below, isPower = 1, 1
	}
	s := &scales[bits>>mantissaBits&0xff-plainFrom][isPower]
	// All from low to high is read as this float, as ties go to even mantissas.
	odd := m & 1
	low, v, high := (4*m-below)*s.five+odd, 4*m*s.five, (4*m+2)*s.five-odd
	u, decimals, power := v>>s.shift, s.decimals, s.power
	tens := u / 10
	up := (10*tens+10)<<s.shift <= high
	if up {
		tens++
	}
	if up || (10*tens)<<s.shift >= low {
		// There is one multiple of ten at most, so it is the shortest.
		u, decimals, power = tens, decimals-1, power/10
		for u%10 == 0 {
			u, decimals, power = u/10, decimals-1, power/10
		}
	} else if u<<s.shift < low || isUpper(v-u<<s.shift, s.shift, u&1 == 1 || isPower == 1) {
		u++
	}
	if bits&negativeZero != 0 {
		b[n] = '-'
		n++
	}
	whole := u / power
	n = putUint32(b, n, uint32(whole))
	b[n] = '.'
	n++
	putDigits(b[n:n+decimals], uint32(u-whole*power))
	return n + decimals
}

// isUpper reports whether a number is rounded up whose last bits, those behind the point, are
// rest. half is whether that is so if they are just one half.
func isUpper(rest uint64, bits int, half bool) bool {
	middle := uint64(1) << (bits - 1)
	return rest > middle || rest == middle && half
}

// putDouble writes a finite number, as short as it can be.
func putDouble(b []byte, n int, f float64) int {
	return len(strconv.AppendFloat(b[:n], f, 'g', -1, 64))
}
