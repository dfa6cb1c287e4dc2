package protocol

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"lorefs/internal/shown"
)

// setScalar writes v as a value of typ to p, which has that value's size.
func setScalar(p []byte, typ Type, v Value) error {
	le := binary.LittleEndian
	switch typ {
	case TypeBool:
		return setBool(p, v)
	case TypeFloat, TypeDouble:
		return setFloat(p, typ, v)
	case TypeAngle:
		return setAngle(p, v)
	case TypeVec3, TypeVec3FA:
		return setVec3(p, typ, v)
	case TypeSkillID, TypeSkillID32:
		return setSkill(p, typ, v)
	case TypeCustomize:
		if v.kind != KindCustomize {
			return badValue("want a Customize, got %v", v.kind)
		}
		le.PutUint64(p, v.bits)
		return nil
	}
	bits := 8 * len(p)
	signed := typ == TypeInt16 || typ == TypeInt32 || typ == TypeInt64
	u, err := integer(v, bits, signed)
	if err != nil {
		return err
	}
	switch len(p) {
	case 1:
		p[0] = byte(u)
	case 2:
		le.PutUint16(p, uint16(u))
	case 4:
		le.PutUint32(p, uint32(u))
	case 8:
		le.PutUint64(p, u)
	}
	return nil
}

// integer returns the bits of v, checked against the range of a type.
func integer(v Value, bits int, signed bool) (uint64, error) {
	switch v.kind {
	case KindUint:
		if v.bits > math.MaxInt64 {
			if signed || bits < 64 {
				return 0, badRange(v.bits, bits, signed)
			}
			return v.bits, nil
		}
	case KindInt:
	default:
		return 0, badValue("want an integer, got %v", v.kind)
	}
	i := int64(v.bits)
	lo, hi := int64(0), int64(math.MaxInt64)
	if bits < 64 {
		hi = 1<<bits - 1
	}
	if signed {
		lo, hi = -1<<(bits-1), 1<<(bits-1)-1
	}
	if i < lo || i > hi {
		return 0, badRange(i, bits, signed)
	}
	return v.bits, nil
}

func badRange[T int64 | uint64](n T, bits int, signed bool) error {
	kind := "unsigned"
	if signed {
		kind = "signed"
	}
	return badValue("%d is out of range of %s %d bits", n, kind, bits)
}

func setBool(p []byte, v Value) error {
	if v.kind != KindBool && v.kind != KindUint || v.bits > math.MaxUint8 {
		return badValue("want a bool, got %v", v.kind)
	}
	p[0] = byte(v.bits)
	return nil
}

func setFloat(p []byte, typ Type, v Value) error {
	le := binary.LittleEndian
	switch {
	case v.kind == KindFloat && typ == TypeFloat:
		le.PutUint32(p, uint32(v.bits))
	case v.kind == KindFloat:
		le.PutUint64(p, math.Float64bits(v.Float()))
	case v.kind == KindDouble && typ == TypeDouble:
		le.PutUint64(p, v.bits)
	case v.kind == KindDouble:
		f, err := narrow(v.Float())
		if err != nil {
			return err
		}
		le.PutUint32(p, math.Float32bits(f))
	default:
		return badValue("want a number, got %v", v.kind)
	}
	return nil
}

// narrow returns the float32 nearest to v.
func narrow(v float64) (float32, error) {
	f := float32(v)
	if math.IsInf(float64(f), 0) && !math.IsInf(v, 0) {
		return 0, badValue("%v is out of range of a float", v)
	}
	return f, nil
}

func setAngle(p []byte, v Value) error {
	if v.kind != KindAngle {
		return badValue("want an angle, got %v", v.kind)
	}
	binary.LittleEndian.PutUint16(p, uint16(v.bits))
	return nil
}

func setVec3(p []byte, typ Type, v Value) error {
	want := KindVec3
	if typ == TypeVec3FA {
		want = KindVec3FA
	}
	if v.kind != want {
		return badValue("want a %v, got %v", want, v.kind)
	}
	binary.LittleEndian.PutUint64(p, v.bits)
	binary.LittleEndian.PutUint32(p[8:], v.more)
	return nil
}

func setSkill(p []byte, typ Type, v Value) error {
	if v.kind != KindSkillID {
		return badValue("want a skillid, got %v", v.kind)
	}
	shape := skill64
	if typ == TypeSkillID32 {
		shape = skill32
	}
	id := v.SkillID()
	raw, ok := shape.pack(id)
	if !ok {
		return badValue("%+v does not fit a %v", id, typ)
	}
	if typ == TypeSkillID32 {
		binary.LittleEndian.PutUint32(p, uint32(raw))
	} else {
		binary.LittleEndian.PutUint64(p, raw)
	}
	return nil
}

// scalarFromText reads a value of typ from the text in a definition, or from a JSON string
// or number. Types of several numbers have no such text, except for skill ids, whose text
// is the raw number.
func scalarFromText(typ Type, s string) (Value, error) {
	size := types[typ].size
	switch typ {
	case TypeBool:
		if s == "true" || s == "false" {
			return Bool(s == "true"), nil
		}
		n, err := strconv.ParseUint(s, 10, 8)
		if err != nil {
			return Value{}, badValue("%s is no bool", shown.Quote(s))
		}
		if n > 1 {
			return Uint(n), nil
		}
		return Bool(n == 1), nil
	case TypeFloat:
		f, err := floatFromText(s)
		return Float(f), err
	case TypeDouble:
		f, err := doubleFromText(s)
		return Double(f), err
	case TypeAngle:
		f, err := strconv.ParseFloat(s, 64)
		if err == nil {
			if a, ok := AngleOf(f); ok {
				return a.Value(), nil
			}
		}
		return Value{}, badValue("%s is no angle of -pi to pi radians", shown.Quote(s))
	case TypeInt16, TypeInt32, TypeInt64:
		n, err := strconv.ParseInt(s, 10, 8*size)
		if err != nil {
			return Value{}, badValue("%s is no %v", shown.Quote(s), typ)
		}
		return Int(n), nil
	}
	n, err := parseUnsigned(s, 8*size)
	if err != nil || typ == TypeVec3 || typ == TypeVec3FA || typ == TypeCustomize {
		return Value{}, badValue("%s is no %v", shown.Quote(s), typ)
	}
	switch typ {
	case TypeSkillID:
		return skill64.unpack(n).Value(), nil
	case TypeSkillID32:
		return skill32.unpack(n).Value(), nil
	}
	return Uint(n), nil
}

// parseUnsigned reads a decimal number, or a hexadecimal one behind 0x.
func parseUnsigned(s string, bits int) (uint64, error) {
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		return strconv.ParseUint(digits, 16, bits)
	}
	return strconv.ParseUint(s, 10, bits)
}

// nanBits reads the text behind "NaN" in the spelling of a NaN.
func nanBits(s string, digits int) (uint64, bool) {
	s, ok := strings.CutPrefix(s, "NaN:")
	if !ok || len(s) != digits {
		return 0, false
	}
	bits, err := strconv.ParseUint(s, 16, 64)
	return bits, err == nil
}

func floatFromText(s string) (float32, error) {
	if bits, ok := nanBits(s, 8); ok {
		if f := math.Float32frombits(uint32(bits)); f != f {
			return f, nil
		}
	}
	switch s {
	case "NaN":
		return math.Float32frombits(nan32), nil
	case "Infinity":
		return float32(math.Inf(1)), nil
	case "-Infinity":
		return float32(math.Inf(-1)), nil
	}
	f, err := strconv.ParseFloat(s, 32)
	if err != nil || math.IsInf(f, 0) || f != f {
		return 0, badValue("%s is no float", shown.Quote(s))
	}
	return float32(f), nil
}

func doubleFromText(s string) (float64, error) {
	if bits, ok := nanBits(s, 16); ok {
		if f := math.Float64frombits(bits); f != f {
			return f, nil
		}
	}
	switch s {
	case "NaN":
		return math.Float64frombits(nan64), nil
	case "Infinity":
		return math.Inf(1), nil
	case "-Infinity":
		return math.Inf(-1), nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || f != f {
		return 0, badValue("%s is no double", shown.Quote(s))
	}
	return f, nil
}
