package protocol

import (
	"encoding/binary"
	"math"

	"lorefs/internal/wtf8"
)

// Value is what one field holds:
//
//	bool               bool; a byte if it is neither 0 nor 1 in the packet
//	byte               byte
//	int16 to uint64    int16, uint16, int32, uint32, int64, uint64
//	float, double      float32, float64
//	angle              Angle
//	vec3, vec3fa       Vec3, Vec3FA
//	skillid, skillid32 SkillID
//	customize          Customize
//	string             string, in WTF-8: a lone surrogate is three bytes
//	bytes              []byte
//	object             Object
//	array, T[n]        []Value, of Objects or of the values of array<T>
type Value any

// Object is the fields of a packet, an object or an element, in the order of the
// definition. Encoding sets missing fields to their default, or zero.
type Object []Member

// Member is a field of an [Object].
type Member struct {
	Name  string
	Value Value
}

// Get returns the value of a field, nil if it is not there.
func (o Object) Get(name string) Value {
	for i := range o {
		if o[i].Name == name {
			return o[i].Value
		}
	}
	return nil
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

// Decode reads a packet, header included. It keeps no part of it.
func (t *Table) Decode(packet []byte) (*Message, error) {
	w, err := t.walk(packet)
	if err != nil {
		return nil, err
	}
	defer w.release()
	m := &Message{Code: binary.LittleEndian.Uint16(packet[2:])}
	if !w.plain {
		m.Layout = w.layout()
	}
	if n := binary.LittleEndian.Uint16(packet); int(n) != len(packet) {
		m.Length = &n
	}
	if t.opts.Padded {
		copy(m.Padding[:], packet[headerSize:])
	}
	m.Data = decoder{packet}.object(t.body.root, 0)
	return m, nil
}

// decoder reads a packet that a walker has accepted.
type decoder struct{ p []byte }

func (d decoder) u16(off int) int { return int(binary.LittleEndian.Uint16(d.p[off:])) }

func (d decoder) object(m *member, base int) Object {
	o := make(Object, len(m.members))
	for i, sub := range m.members {
		o[i] = Member{Name: sub.name, Value: d.value(sub, base)}
	}
	return o
}

func (d decoder) value(m *member, base int) Value {
	switch m.typ {
	case TypeObject:
		return d.object(m, base)
	case TypeString:
		off := d.u16(base + m.at)
		return string(wtf8.Append(nil, d.p[off:off+textLen(d.p[off:])-2]))
	case TypeBytes:
		n := d.u16(base + m.countAt)
		b := make([]byte, n)
		if n > 0 {
			copy(b, d.p[d.u16(base+m.at):])
		}
		return b
	case TypeArray:
		return d.array(m, base)
	case TypeFixed:
		list := make([]Value, m.n)
		for i := range list {
			list[i] = d.value(m.item, base+m.at+i*m.item.stride)
		}
		return list
	}
	return decodeScalar(m.typ, d.p[base+m.at:])
}

func (d decoder) array(m *member, base int) []Value {
	list := make([]Value, d.u16(base+m.countAt))
	here := d.u16(base + m.at)
	for i := range list {
		if m.elem.bare {
			list[i] = d.value(m.elem.root.members[0], here)
		} else {
			list[i] = d.object(m.elem.root, here)
		}
		here = d.u16(here + 2)
	}
	return list
}

// decodeScalar reads the value at the beginning of p.
func decodeScalar(typ Type, p []byte) Value {
	le := binary.LittleEndian
	switch typ {
	case TypeBool:
		if p[0] > 1 {
			return p[0]
		}
		return p[0] == 1
	case TypeByte:
		return p[0]
	case TypeInt16:
		return int16(le.Uint16(p))
	case TypeUint16:
		return le.Uint16(p)
	case TypeInt32:
		return int32(le.Uint32(p))
	case TypeUint32:
		return le.Uint32(p)
	case TypeInt64:
		return int64(le.Uint64(p))
	case TypeUint64:
		return le.Uint64(p)
	case TypeFloat:
		return math.Float32frombits(le.Uint32(p))
	case TypeDouble:
		return math.Float64frombits(le.Uint64(p))
	case TypeAngle:
		return Angle(le.Uint16(p))
	case TypeVec3:
		return Vec3(decodeFloats(p))
	case TypeVec3FA:
		return Vec3FA(decodeFloats(p))
	case TypeSkillID:
		return skill64.unpack(le.Uint64(p))
	case TypeSkillID32:
		return skill32.unpack(uint64(le.Uint32(p)))
	case TypeCustomize:
		return Customize(p[:8])
	}
	panic("BUG: decodeScalar of " + typ.String())
}

func decodeFloats(p []byte) (f [3]float32) {
	for i := range f {
		f[i] = math.Float32frombits(binary.LittleEndian.Uint32(p[4*i:]))
	}
	return f
}
