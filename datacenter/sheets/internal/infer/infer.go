package infer

import (
	"math"

	"lorefs/datacenter"
)

// Types is the set of types that all values of an attribute may have.
type Types uint8

const (
	mayInt Types = 1 << iota
	mayFloat
	mayBool
	// noValue is set while there was no value.
	noValue

	// Any is the initial set.
	Any = mayInt | mayFloat | mayBool | noValue
)

// Type returns the type of an attribute of which nothing else is known: the narrowest that
// writes each of its values as they stand. Whole numbers among floats are the exception.
func (s Types) Type() datacenter.Type {
	switch {
	case s&noValue != 0:
		return datacenter.String
	case s&mayInt != 0:
		return datacenter.Int
	case s&mayBool != 0:
		return datacenter.Bool
	case s&mayFloat != 0:
		return datacenter.Float
	}
	return datacenter.String
}

// With returns the types of s that a value may have.
func (s Types) With(value []byte) Types {
	s &^= noValue
	if s == 0 {
		return s
	}
	switch string(value) {
	case "true", "false":
		return s & mayBool
	}
	s &^= mayBool
	if n, ok := wholeNumber(value); ok {
		if int64(float32(n)) != n {
			s &^= mayFloat
		}
		return s
	}
	s &^= mayInt
	if s&mayFloat != 0 && !isFloat(value) {
		s &^= mayFloat
	}
	return s
}

// wholeNumber reads an int that is spelled as the data center spells it.
func wholeNumber(text []byte) (int64, bool) {
	digits := text
	if len(text) > 0 && text[0] == '-' {
		digits = text[1:]
	}
	const most = len("2147483648")
	if len(digits) == 0 || len(digits) > most || digits[0] == '0' && len(text) > 1 {
		return 0, false
	}
	n := int64(0)
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	if len(digits) < len(text) {
		n = -n
	}
	return n, n >= math.MinInt32 && n <= math.MaxInt32
}

// isFloat reports whether text is a float as the data center writes it.
func isFloat(text []byte) bool {
	const longest = len("NaN(0x12345678)") // no spelling is longer
	if len(text) > longest {
		return false
	}
	v, err := datacenter.ParseValue(datacenter.Float, string(text))
	return err == nil && v.Text() == string(text)
}

// Number returns the bits of a value that is no string.
func Number(t datacenter.Type, text []byte) (uint32, error) {
	switch t {
	case datacenter.Int:
		if n, ok := wholeNumber(text); ok {
			return uint32(int32(n)), nil
		}
	case datacenter.Float:
		if bits, ok := datacenter.ParseFloat(string(text)); ok {
			return bits, nil
		}
	case datacenter.Bool:
		switch string(text) {
		case "true":
			return 1, nil
		case "false":
			return 0, nil
		}
	}
	v, err := datacenter.ParseValue(t, string(text))
	return v.Bits(), err
}
