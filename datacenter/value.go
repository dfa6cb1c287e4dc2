package datacenter

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"lorefs/internal/shown"
	"lorefs/internal/wtf8"
)

// Value is what an attribute holds, apart from any file.
type Value struct {
	typ  Type
	bits uint32 // of all types but String
	text string // of a String
}

// IntValue is the value of an Int.
func IntValue(v int32) Value { return Value{typ: Int, bits: uint32(v)} }

// FloatValue is the value of a Float.
func FloatValue(v float32) Value { return Value{typ: Float, bits: math.Float32bits(v)} }

// BoolValue is the value of a Bool.
func BoolValue(v bool) Value { return Value{typ: Bool, bits: uint32(bit(v))} }

// BitsValue is a value of any type but String by its [Value.Bits].
func BitsValue(t Type, bits uint32) Value { return Value{typ: t, bits: bits} }

// StringValue is the value of a String, s being WTF-8. Errors match [ErrValue]
// or [ErrTooLarge].
func StringValue(s string) (Value, error) {
	if err := checkText(s); err != nil {
		return Value{}, err
	}
	return Value{typ: String, text: s}, nil
}

// Int is the value of an Int.
func (v Value) Int() int32 { return int32(v.bits) }

// Float is the value of a Float.
func (v Value) Float() float32 { return math.Float32frombits(v.bits) }

// Bool is the value of a Bool.
func (v Value) Bool() bool { return v.bits != 0 }

// Bits are the 32 bits that a file stores of all types but a String: for floats they say
// more than Float, since processors may change those of a NaN.
func (v Value) Bits() uint32 { return v.bits }

// stored is an attribute with the value, as it is stored, but for its name and what it
// has of a string.
func (v Value) stored() StoredAttribute { return Attribute{typ: v.typ, bits: v.bits}.raw() }

// CheckName tells whether nodes and attributes may have a name. Errors match
// [ErrValue] or [ErrTooLarge].
func CheckName(name string) error {
	if len(name) >= maxElements {
		return fmt.Errorf("a name of %d bytes: %w", len(name), ErrTooLarge)
	}
	if err := checkText(name); err != nil {
		return err
	}
	if name == RootName {
		return fmt.Errorf("%w: only the root is called %s", ErrValue, RootName)
	}
	return nil
}

// checkText tells whether a text can be stored.
func checkText(s string) error {
	if strings.IndexByte(s, 0) >= 0 {
		return fmt.Errorf("%w: a text with a NUL in it", ErrValue)
	}
	// No text has more units than bytes, nor three times as many bytes as units.
	const most = 3 * maxString
	if len(s) > most || len(s) >= maxString && len(wtf8.AppendUTF16(nil, s))/charSize >= maxString {
		return fmt.Errorf("a text of %d characters or more: %w", maxString, ErrTooLarge)
	}
	if !utf8.ValidString(s) && string(wtf8.Append(nil, wtf8.AppendUTF16(nil, s))) != s {
		return fmt.Errorf("%w: a text that is not UTF-8", ErrValue)
	}
	return nil
}

// ParseValue reads a value of type t from its text. Of a number any usual
// spelling will do: 256.000000 is the float 256. Errors match [ErrValue] or
// [ErrTooLarge].
func ParseValue(t Type, text string) (Value, error) {
	if t == String {
		return StringValue(text)
	}
	s := strings.TrimSpace(text)
	switch t {
	case Int:
		if i, err := strconv.ParseInt(s, 10, 32); err == nil {
			return IntValue(int32(i)), nil
		}
		return Value{}, valueError(text, "an int: a whole number from -2147483648 to 2147483647")
	case Float:
		if bits, ok := ParseFloat(s); ok {
			return Value{typ: Float, bits: bits}, nil
		}
		return Value{}, valueError(text, "a float")
	case Bool:
		switch s {
		case "true", "1":
			return BoolValue(true), nil
		case "false", "0":
			return BoolValue(false), nil
		}
		return Value{}, valueError(text, "a bool: true or false")
	}
	return Value{}, fmt.Errorf("%w: %v is no type", ErrValue, t)
}

// valueError says what is wrong with a text, of which it shows no more than a
// line can hold.
func valueError(text, want string) error {
	const most = 60
	if len(text) > most {
		text = text[:most] + "…"
	}
	return fmt.Errorf("%w: %s is not %s", ErrValue, shown.Quote(text), want)
}

// ParseFloat reads the bits of a float as [ParseValue] does, but takes no space around
// it. Other tools know no 0x1p4 or 1_0, which Go's parser reads.
func ParseFloat(s string) (bits uint32, ok bool) {
	if payload, found := strings.CutPrefix(s, "NaN(0x"); found {
		payload, found = strings.CutSuffix(payload, ")")
		n, err := strconv.ParseUint(payload, 16, 32)
		isNaN := math.IsNaN(float64(math.Float32frombits(uint32(n))))
		return uint32(n), found && err == nil && isNaN
	}
	f, err := strconv.ParseFloat(s, 32)
	if err != nil || strings.ContainsAny(s, "_xX") {
		return 0, false
	}
	if math.IsNaN(f) {
		return canonicalNaN, true
	}
	return math.Float32bits(float32(f)), true
}

// InferValue gives a text of unknown type the type that spells it exactly like
// that: 7 is an int, 0.5 a float, true a bool; and 007 a string, since as an int
// it would be another text.
func InferValue(text string) (Value, error) {
	for _, t := range []Type{Int, Bool, Float} {
		if v, err := ParseValue(t, text); err == nil && v.Text() == text {
			return v, nil
		}
	}
	return StringValue(text)
}

// Type is the type of the value; 0 is that of no value.
func (v Value) Type() Type { return v.typ }

// Text is the value as [Attribute.AppendText] spells it.
func (v Value) Text() string {
	if v.typ == String {
		return v.text
	}
	var buf [maxNumber]byte
	switch v.typ {
	case Float:
		return string(appendFloat(buf[:0], v.bits))
	case Bool:
		return string(appendBool(buf[:0], v.bits != 0))
	}
	return string(appendInt(buf[:0], int32(v.bits)))
}

// ParseType is the inverse of [Type.String].
func ParseType(s string) (Type, error) {
	for t, name := range typeNames {
		if name != "" && s == name {
			return Type(t), nil
		}
	}
	return 0, fmt.Errorf("%w: %s is no type: want int, float, string or bool", ErrValue, shown.Quote(s))
}
