package amend

import (
	"math"
	"strconv"

	"lorefs/datacenter"
	"lorefs/internal/shown"
)

// Scale multiplies numbers, and strings that are spelled as numbers: real files have prices in strings. What
// was whole is rounded to the nearest whole number, halves away from 0.
func Scale(by float64) Operation {
	return numbers(func(x float64) float64 { return x * by })
}

// Increase adds to numbers, and rounds as Scale does.
func Increase(by float64) Operation {
	return numbers(func(x float64) float64 { return x + by })
}

// numbers returns the operation that calculates anew from each number. What does not fit in the
// type of the attribute is refused.
func numbers(calculate func(float64) float64) Operation {
	return values(func(v datacenter.Value) (datacenter.Value, error) {
		switch v.Type() {
		case datacenter.Int:
			x := math.Round(calculate(float64(v.Int())))
			if !(x >= math.MinInt32 && x <= math.MaxInt32) { // nor NaN
				return v, refuse("%g does not fit in an int", x)
			}
			return datacenter.IntValue(int32(x)), nil
		case datacenter.Float:
			old := float64(v.Float())
			x := float32(calculate(old))
			if isNumber(old) && !isNumber(float64(x)) {
				return v, refuse("%g does not fit in a float", calculate(old))
			}
			return datacenter.FloatValue(x), nil
		case datacenter.String:
			return spelled(v, calculate)
		}
		return v, refuse("%s %s is no number", v.Type(), v.Text())
	})
}

// mostExact is the greatest whole number up to which a float64 has all of them.
const mostExact = 1 << 53

// spelled calculates anew from a string that is spelled as a number.
func spelled(v datacenter.Value, calculate func(float64) float64) (datacenter.Value, error) {
	old, err := strconv.ParseFloat(v.Text(), 64)
	if err != nil || !isNumber(old) {
		return v, refuse("string %s is no number", shown.Quote(v.Text()))
	}
	x := calculate(old)
	if _, err := strconv.ParseInt(v.Text(), 10, 64); err == nil {
		x = math.Round(x)
	}
	if !isNumber(x) || max(math.Abs(old), math.Abs(x)) > mostExact {
		return v, refuse("%s becomes %g, which is not exact", shown.Quote(v.Text()), x)
	}
	return datacenter.StringValue(strconv.FormatFloat(x, 'f', -1, 64))
}

// isNumber reports whether x is neither infinite nor NaN.
func isNumber(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }
