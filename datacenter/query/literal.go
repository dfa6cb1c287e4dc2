package query

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"strings"

	"lorefs/datacenter"
)

// comparison is one of the six comparisons.
type comparison uint8

const (
	equal comparison = iota
	unequal
	less
	lessEqual
	greater
	greaterEqual
)

var comparisons = map[tokenKind]comparison{
	"=": equal, "!=": unequal, "<": less, "<=": lessEqual, ">": greater, ">=": greaterEqual,
}

// flip returns the comparison with its sides exchanged.
func (c comparison) flip() comparison {
	switch c {
	case less:
		return greater
	case lessEqual:
		return greaterEqual
	case greater:
		return less
	case greaterEqual:
		return lessEqual
	}
	return c
}

// holds reports whether x compares to y in this way. A NaN is unequal to everything.
func holds[T cmp.Ordered](c comparison, x, y T) bool {
	switch c {
	case equal:
		return x == y
	case unequal:
		return x != y
	case less:
		return x < y
	case lessEqual:
		return x <= y
	case greater:
		return x > y
	}
	return x >= y
}

// literal is a value of an expression, in all the forms that comparing needs.
type literal struct {
	text  string
	bytes []byte // the same
	// bare is set for a number without quotes.
	bare     bool
	isNumber bool
	number   float64
	// rounded is the number as a float attribute would hold it.
	rounded float64
}

// newLiteral makes a literal of a text, or of a bare number.
func newLiteral(text string, bare bool) literal {
	l := literal{text: text, bytes: []byte(text), bare: bare}
	l.number, l.isNumber = parseNumber(text)
	l.rounded = float64(float32(l.number))
	if math.IsInf(l.rounded, 0) {
		l.rounded = l.number // no float is equal to what no float can hold
	}
	return l
}

// parseNumber reads a decimal number, with space around it. A too large number is infinite.
func parseNumber(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	for i := range len(s) {
		if !isDigit(s[i]) && strings.IndexByte("+-.eE", s[i]) < 0 {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || math.IsInf(f, 0)
}

// scratch is a buffer for the text of an attribute.
type scratch []byte

// held is an attribute, or a value apart from any file.
type held interface {
	Type() datacenter.Type
	Int() int32
	Float() float32
	Bool() bool
	AppendText(dst []byte) ([]byte, error)
}

// matches reports whether an attribute compares to a literal.
func matches[A held](s *scratch, a A, c comparison, l *literal) (bool, error) {
	switch typ := a.Type(); {
	case typ == datacenter.Int && l.isNumber:
		return holds(c, float64(a.Int()), l.number), nil
	case typ == datacenter.Float && l.isNumber:
		return holds(c, float64(a.Float()), l.rounded), nil
	case typ == datacenter.Bool && l.isNumber:
		one := 0.0
		if a.Bool() {
			one = 1
		}
		return holds(c, one, l.number), nil
	case typ == datacenter.String && (l.bare || c >= less):
		return matchesNumber(s, a, c, l)
	case c >= less:
		return false, nil
	}
	text, err := spelled(s, a)
	return (string(text) == l.text) == (c == equal), err
}

// matchesNumber compares a string as a number. A string that is no number is unequal.
func matchesNumber[A held](s *scratch, a A, c comparison, l *literal) (bool, error) {
	text, err := spelled(s, a)
	if err != nil {
		return false, err
	}
	n, ok := parseNumber(string(text))
	if !ok || !l.isNumber {
		return c == unequal, nil
	}
	return holds(c, n, l.number), nil
}

func (s *scratch) contains(a datacenter.Attribute, l *literal) (bool, error) {
	text, err := spelled(s, a)
	return bytes.Contains(text, l.bytes), err
}

func (s *scratch) startsWith(a datacenter.Attribute, l *literal) (bool, error) {
	text, err := spelled(s, a)
	return bytes.HasPrefix(text, l.bytes), err
}

// spelled returns the text of an attribute, valid until the next call.
func spelled[A held](s *scratch, a A) (text []byte, err error) {
	text, err = a.AppendText((*s)[:0])
	*s = text
	return text, err
}
