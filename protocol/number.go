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
	// At most six digits make no two decimal numbers the same float. So if such a number is
	// this one, it is the shortest, but for zeros at its end.
	const most = 1e6
	if math.Abs(float64(f)) < most {
		if i := int32(f); float32(i) == f && (i != 0 || !math.Signbit(float64(f))) {
			return putInt32(b, n, i)
		}
		for decimals, power := 1, 10.0; decimals <= 3; decimals, power = decimals+1, 10*power {
			if i := int64(math.Round(float64(f) * power)); i != 0 && -most < i && i < most && float32(float64(i)/power) == f {
				return putDecimal(b, n, int32(i), uint32(power), decimals)
			}
		}
	}
	return len(strconv.AppendFloat(b[:n], float64(f), 'g', -1, 32))
}

// putDecimal writes v divided by a power of ten, with as many decimals as that has zeros.
func putDecimal(b []byte, n int, v int32, power uint32, decimals int) int {
	u := uint32(v)
	if v < 0 {
		b[n] = '-'
		n, u = n+1, -u
	}
	n = putUint32(b, n, u/power)
	b[n] = '.'
	n++
	putDigits(b[n:n+decimals], u%power)
	return n + decimals
}

// putDouble writes a finite number, as short as it can be.
func putDouble(b []byte, n int, f float64) int {
	return len(strconv.AppendFloat(b[:n], f, 'g', -1, 64))
}
