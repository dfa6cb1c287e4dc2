package protocol

import "math"

// Kind says what a [Value] is.
type Kind uint8

// The kinds of values. The comments say which fields have them.
const (
	KindNone      Kind = iota // of a field that is not there
	KindBool                  // bool; an unsigned number if it is neither 0 nor 1 in the packet
	KindInt                   // int16, int32, int64
	KindUint                  // byte, uint16, uint32, uint64
	KindFloat                 // float
	KindDouble                // double
	KindAngle                 // angle
	KindVec3                  // vec3
	KindVec3FA                // vec3fa
	KindSkillID               // skillid, skillid32
	KindCustomize             // customize
	KindText                  // string
	KindBytes                 // bytes
	KindObject                // object, and the elements of arrays
	KindList                  // array, T[n]
)

var kindNames = [...]string{
	"nothing", "bool", "int", "uint", "float", "double", "angle", "vec3", "vec3fa", "skillid", "customize",
	"string", "bytes", "object", "array",
}

func (k Kind) String() string { return kindNames[k] }

// Value is the content of one field. The zero value is that of a field that is not there.
type Value struct {
	kind Kind
	// more has what bits has no room for: the third coordinate, or parts of a skill id.
	more uint32
	bits uint64
	// data is a string in WTF-8, in which a lone surrogate is three bytes, or bytes.
	data []byte
	// parts are the fields of an object, or the elements of a list, without names.
	parts []Member
}

// Object is the fields of a packet, an object or an element, in the order of the
// definition. Encoding sets missing fields to their default, or zero.
type Object []Member

// Member is a field of an [Object].
type Member struct {
	Name  string
	Value Value
}

// Get returns the value of a field, the zero Value if it is not there.
func (o Object) Get(name string) Value {
	for i := range o {
		if o[i].Name == name {
			return o[i].Value
		}
	}
	return Value{}
}

// Value returns the object as a value.
func (o Object) Value() Value { return Value{kind: KindObject, parts: o} }

// Bool returns a bool as a value.
func Bool(b bool) Value {
	if b {
		return Value{kind: KindBool, bits: 1}
	}
	return Value{kind: KindBool}
}

// Int returns an integer as a value. It may be encoded in any field that it fits.
func Int[T ~int | ~int16 | ~int32 | ~int64](n T) Value {
	return Value{kind: KindInt, bits: uint64(int64(n))}
}

// Uint returns an unsigned integer as a value. It may be encoded in any field that it fits.
func Uint[T ~uint8 | ~uint16 | ~uint32 | ~uint64](n T) Value {
	return Value{kind: KindUint, bits: uint64(n)}
}

// Float returns a float as a value. A double can be it, too.
func Float(f float32) Value { return Value{kind: KindFloat, bits: uint64(math.Float32bits(f))} }

// Double returns a double as a value. A float can be it, too, rounded.
func Double(f float64) Value { return Value{kind: KindDouble, bits: math.Float64bits(f)} }

// Text returns a string as a value.
func Text(s string) Value { return Value{kind: KindText, data: []byte(s)} }

// Bytes returns bytes as a value, which keeps them.
func Bytes(b []byte) Value { return Value{kind: KindBytes, data: b} }

// List returns the elements of an array, or the items of T[n], as a value.
func List(list ...Value) Value {
	parts := make([]Member, len(list))
	for i := range list {
		parts[i].Value = list[i]
	}
	return Value{kind: KindList, parts: parts}
}

// Kind returns what the value is. The methods below are for values of their kinds.
func (v Value) Kind() Kind { return v.kind }

// Bool returns a bool, which is true unless it is 0.
func (v Value) Bool() bool { return v.bits != 0 }

// Int returns an integer.
func (v Value) Int() int64 { return int64(v.bits) }

// Uint returns an unsigned integer.
func (v Value) Uint() uint64 { return v.bits }

// Float returns a float or a double.
func (v Value) Float() float64 {
	if v.kind == KindDouble {
		return math.Float64frombits(v.bits)
	}
	return float64(v.float32())
}

func (v Value) float32() float32 { return math.Float32frombits(uint32(v.bits)) }

// Angle returns an angle.
func (v Value) Angle() Angle { return Angle(v.bits) }

// Vec3 returns a vec3, or the numbers of a vec3fa.
func (v Value) Vec3() Vec3 {
	return Vec3{math.Float32frombits(uint32(v.bits)), math.Float32frombits(uint32(v.bits >> 32)), math.Float32frombits(v.more)}
}

// SkillID returns a skill id.
func (v Value) SkillID() SkillID {
	return SkillID{
		ID: uint32(v.bits), Reserved: uint32(v.bits >> 32),
		HuntingZone: uint16(v.more), Type: uint8(v.more >> 16), NPC: v.more>>24 != 0,
	}
}

// Customize returns the look of a character.
func (v Value) Customize() (c Customize) {
	for i := range c {
		c[i] = byte(v.bits >> (8 * i))
	}
	return c
}

// Text returns a string, in WTF-8.
func (v Value) Text() string { return string(v.data) }

// Bytes returns bytes. They are part of the value.
func (v Value) Bytes() []byte { return v.data }

// Object returns an object, which is part of the value.
func (v Value) Object() Object { return v.parts }

// Len returns the number of elements of a list.
func (v Value) Len() int { return len(v.parts) }

// At returns an element of a list.
func (v Value) At(i int) Value { return v.parts[i].Value }

// Value returns the angle as a value.
func (a Angle) Value() Value { return Value{kind: KindAngle, bits: uint64(uint16(a))} }

// Value returns the place as a value.
func (f Vec3) Value() Value { return coordinates(KindVec3, f) }

// Value returns the rotation as a value.
func (f Vec3FA) Value() Value { return coordinates(KindVec3FA, f) }

func coordinates(kind Kind, f [3]float32) Value {
	low, high := math.Float32bits(f[0]), math.Float32bits(f[1])
	return Value{kind: kind, bits: uint64(low) | uint64(high)<<32, more: math.Float32bits(f[2])}
}

// Value returns the skill id as a value.
func (id SkillID) Value() Value {
	v := Value{kind: KindSkillID, bits: uint64(id.ID) | uint64(id.Reserved)<<32, more: uint32(id.HuntingZone) | uint32(id.Type)<<16}
	if id.NPC {
		v.more |= 1 << 24
	}
	return v
}

// Value returns the look as a value.
func (c Customize) Value() Value {
	v := Value{kind: KindCustomize}
	for i, b := range c {
		v.bits |= uint64(b) << (8 * i)
	}
	return v
}

// Message is a packet as values.
type Message struct {
	// Code is the operation code.
	Code uint16
	// Length is the length in the header if that is not the number of bytes, else nil.
	Length *uint16
	// Padding is the counter and the checksum of a padded packet.
	Padding [paddingSize]byte
	Data    Object
	// Layout is nil if the packet lies as it would be written. It fits only these values,
	// in general.
	Layout *Layout
}
