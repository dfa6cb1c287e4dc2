package protocol

import "fmt"

// Type is the word that begins a line of a definition.
type Type uint8

// The types, with the size of their value in a packet.
const (
	TypeBool      Type = iota + 1 // 1 byte, true unless 0
	TypeByte                      // 1 byte, unsigned
	TypeInt16                     // 2 bytes
	TypeUint16                    // 2 bytes
	TypeInt32                     // 4 bytes
	TypeUint32                    // 4 bytes
	TypeInt64                     // 8 bytes
	TypeUint64                    // 8 bytes
	TypeFloat                     // 4 bytes, IEEE 754
	TypeDouble                    // 8 bytes, IEEE 754
	TypeAngle                     // 2 bytes, see [Angle]
	TypeVec3                      // 12 bytes, see [Vec3]
	TypeVec3FA                    // 12 bytes, see [Vec3FA]
	TypeSkillID                   // 8 bytes, or 4 before patch 74, see [SkillID]
	TypeSkillID32                 // 4 bytes, see [SkillID]
	TypeCustomize                 // 8 bytes, see [Customize]
	TypeFixed                     // T[n]: n values of type T, one behind the other
	TypeObject                    // the fields below it
	TypeString                    // pointer of 2 bytes to UTF-16LE with a NUL
	TypeBytes                     // pointer of 4 bytes to bytes
	TypeArray                     // pointer of 4 bytes to linked elements
	TypeRef                       // the pointer of a string, bytes or array of that name
	TypeCount                     // the count of such a pointer
	TypeOffset                    // the offset of such a pointer
)

var types = [...]struct {
	name string
	size int // of a value; 0 for what has no size of its own
}{
	TypeBool:      {"bool", 1},
	TypeByte:      {"byte", 1},
	TypeInt16:     {"int16", 2},
	TypeUint16:    {"uint16", 2},
	TypeInt32:     {"int32", 4},
	TypeUint32:    {"uint32", 4},
	TypeInt64:     {"int64", 8},
	TypeUint64:    {"uint64", 8},
	TypeFloat:     {"float", 4},
	TypeDouble:    {"double", 8},
	TypeAngle:     {"angle", 2},
	TypeVec3:      {"vec3", 12},
	TypeVec3FA:    {"vec3fa", 12},
	TypeSkillID:   {"skillid", 8},
	TypeSkillID32: {"skillid32", 4},
	TypeCustomize: {"customize", 8},
	TypeFixed:     {"fixed", 0},
	TypeObject:    {"object", 0},
	TypeString:    {"string", 0},
	TypeBytes:     {"bytes", 0},
	TypeArray:     {"array", 0},
	TypeRef:       {"ref", 0},
	TypeCount:     {"count", 2},
	TypeOffset:    {"offset", 2},
}

// typeNames has the types by their names in definitions.
var typeNames = func() map[string]Type {
	m := make(map[string]Type, len(types))
	for t, d := range types {
		if d.name != "" && Type(t) != TypeFixed {
			m[d.name] = Type(t)
		}
	}
	return m
}()

func (t Type) valid() bool { return t > 0 && int(t) < len(types) }

func (t Type) String() string {
	if !t.valid() {
		return fmt.Sprintf("Type(%d)", uint8(t))
	}
	return types[t].name
}

// MarshalText returns the type's name.
func (t Type) MarshalText() ([]byte, error) {
	if !t.valid() {
		return nil, fmt.Errorf("protocol: no such type: %d", uint8(t))
	}
	return []byte(types[t].name), nil
}

// scalar reports whether values of the type have one size and no pointer.
func (t Type) scalar() bool { return t.valid() && t <= TypeCustomize }

// variable reports whether the value lies elsewhere and the field is a pointer to it.
func (t Type) variable() bool { return t == TypeString || t == TypeBytes || t == TypeArray }

// pointer reports whether the line stands for a pointer, or a part of one.
func (t Type) pointer() bool { return t == TypeRef || t == TypeCount || t == TypeOffset }
