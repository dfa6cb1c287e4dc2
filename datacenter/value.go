package datacenter

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"lorefs/datacenter/internal/form"
	"lorefs/internal/shown"
	"lorefs/internal/wtf8"
)

// Value is the value of an attribute, independent of a file.
type Value struct {
	typ  Type
	bits uint32 // of all types but String
	text string // of a String
}

// IntValue returns a value of type Int.
func IntValue(v int32) Value { return Value{typ: Int, bits: uint32(v)} }

// FloatValue returns a value of type Float.
func FloatValue(v float32) Value { return Value{typ: Float, bits: math.Float32bits(v)} }

// BoolValue returns a value of type Bool.
func BoolValue(v bool) Value { return Value{typ: Bool, bits: uint32(form.Bit(v))} }

// BitsValue returns a value of any type but String from its [Value.Bits].
func BitsValue(t Type, bits uint32) Value { return Value{typ: t, bits: bits} }

// StringValue returns a value of type String. s is WTF-8. Errors match [ErrValue] or
// [ErrTooLarge].
func StringValue(s string) (Value, error) {
	if err := checkText(s); err != nil {
		return Value{}, err
	}
	return Value{typ: String, text: s}, nil
}

// Int returns the value of an Int.
func (v Value) Int() int32 { return int32(v.bits) }

// Float returns the value of a Float.
func (v Value) Float() float32 { return math.Float32frombits(v.bits) }

// Bool returns the value of a Bool.
func (v Value) Bool() bool { return v.bits != 0 }

// Bits returns the 32 bits that a file stores for any type but String. For a float they are
// more exact than Float, since processors may change the bits of a NaN.
func (v Value) Bits() uint32 { return v.bits }

// CheckName returns an error if nodes and attributes can't have the name. Errors match
// [ErrValue] or [ErrTooLarge].
func CheckName(name string) error {
	if len(name) >= form.MaxElements {
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

// checkText returns an error if a text can't be stored.
func checkText(s string) error {
	if strings.IndexByte(s, 0) >= 0 {
		return fmt.Errorf("%w: a text with a NUL in it", ErrValue)
	}
	// A text has no more units than bytes, and at most three bytes for each unit.
	const most = 3 * form.MaxString
	if len(s) > most || len(s) >= form.MaxString && len(wtf8.AppendUTF16(nil, s))/form.CharSize >= form.MaxString {
		return fmt.Errorf("a text of %d characters or more: %w", form.MaxString, ErrTooLarge)
	}
	if !utf8.ValidString(s) && string(wtf8.Append(nil, wtf8.AppendUTF16(nil, s))) != s {
		return fmt.Errorf("%w: a text that is not UTF-8", ErrValue)
	}
	return nil
}

// ParseValue parses the text of a value of type t. It accepts any usual spelling of a
// number: 256.000000 is the float 256. Errors match [ErrValue] or [ErrTooLarge].
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

// valueError returns an error about a text. It shows no more of the text than fits in a
// line.
func valueError(text, want string) error {
	const most = 60
	if len(text) > most {
		text = text[:most] + "…"
	}
	return fmt.Errorf("%w: %s is not %s", ErrValue, shown.Quote(text), want)
}

// ParseFloat parses the bits of a float like [ParseValue], but accepts no space around it.
// It refuses 0x1p4 and 1_0, which Go's parser accepts, since other tools do not read them.
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

// InferValue parses a text of unknown type. It picks the type whose spelling of the value
// is exactly this text: 7 is an int, 0.5 a float, true a bool. 007 is a string, since an
// int would be spelled 7.
func InferValue(text string) (Value, error) {
	for _, t := range []Type{Int, Bool, Float} {
		if v, err := ParseValue(t, text); err == nil && v.Text() == text {
			return v, nil
		}
	}
	return StringValue(text)
}

// Type returns the type of the value. The type of no value is 0.
func (v Value) Type() Type { return v.typ }

// Text returns the value as [Attribute.AppendText] spells it.
func (v Value) Text() string {
	if v.typ == String {
		return v.text
	}
	var buf [maxNumber]byte
	return string(AppendNumber(buf[:0], v.typ, v.bits))
}

// ParseType is the inverse of [Type.String].
func ParseType(s string) (Type, error) {
	for t, name := range form.TypeNames {
		if name != "" && s == name {
			return Type(t), nil
		}
	}
	return 0, fmt.Errorf("%w: %s is no type: want int, float, string or bool", ErrValue, shown.Quote(s))
}

// Compare compares the values of a key. The order is: none, int, float, string, bool;
// numbers by value, NaN first; strings by their UTF-16 units.
func (v Value) Compare(w Value) int {
	if v.typ != String || w.typ != String {
		none := func(Address) []byte { return nil }
		return form.CompareValues(form.NewAttribute(0, v.typ, v.bits), v.typ != 0, form.NewAttribute(0, w.typ, w.bits), w.typ != 0, none)
	}
	return form.CompareUnits(wtf8.AppendUTF16(nil, v.text), wtf8.AppendUTF16(nil, w.text))
}
