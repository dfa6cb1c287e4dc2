package protocol

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"lorefs/internal/shown"
)

// MaxJSON is the longest JSON of a packet, in bytes. [Table.AppendJSON] writes less.
const MaxJSON = 16 << 20

// ParseJSON reads what [Table.AppendJSON] writes, also if people have edited it. A missing
// member is zero or the definition's default, 64-bit integers may be numbers, and a skill
// id may be its raw number. An unknown member is an error, and so is one that occurs twice.
func (t *Table) ParseJSON(data []byte) (*Message, error) {
	if len(data) > MaxJSON {
		return nil, badValue("%d bytes of JSON: want at most %d", len(data), MaxJSON)
	}
	text, err := newJSON(data)
	if err != nil {
		return nil, err
	}
	m := &Message{}
	err = text.members(func(name string, v jsonText) error {
		return inField(t.parsePart(m, name, v), name)
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// parsePart reads one member of the outermost object.
func (t *Table) parsePart(m *Message, name string, v jsonText) (err error) {
	switch name {
	case "code":
		m.Code, err = v.uint16()
	case "length":
		var n uint16
		n, err = v.uint16()
		m.Length = &n
	case "padding":
		var b []byte
		if b, err = v.hex(); err == nil && len(b) != paddingSize || !t.opts.Padded {
			return badValue("want %d bytes, for a packet that is padded", paddingSize)
		}
		copy(m.Padding[:], b)
	case "guessed": // a remark, not part of the packet
	case "data":
		m.Data, err = v.object(t.body.root)
	case "layout":
		m.Layout, err = v.layout()
	default:
		err = badValue("want code, length, padding, guessed, data or layout")
	}
	return err
}

func (t jsonText) uint16() (uint16, error) {
	n, err := strconv.ParseUint(string(t), 10, 16)
	if err != nil {
		return 0, badValue("want a number of 0 to 65535, got %s", t.brief())
	}
	return uint16(n), nil
}

func (t jsonText) hex() ([]byte, error) {
	s, err := t.text()
	if err != nil {
		return nil, err
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return nil, badValue("want hex digits, got %s", t.brief())
	}
	return b, nil
}

func (t jsonText) layout() (*Layout, error) {
	l := &Layout{}
	err := t.members(func(name string, v jsonText) error {
		switch name {
		case "size":
			n, err := v.uint16()
			l.Size = int(n)
			return err
		case "at":
			return v.elements(func(v jsonText) error {
				n, err := v.uint16()
				l.At = append(l.At, int(n))
				return err
			})
		case "gaps":
			return v.elements(func(v jsonText) error {
				g, err := v.gap()
				l.Gaps = append(l.Gaps, g)
				return err
			})
		}
		return badValue("there is no field %s", shown.Quote(name))
	})
	return l, err
}

func (t jsonText) gap() (g Gap, err error) {
	err = t.members(func(name string, v jsonText) (err error) {
		switch name {
		case "at":
			var n uint16
			n, err = v.uint16()
			g.Off = int(n)
		case "hex":
			g.Data, err = v.hex()
		default:
			err = badValue("there is no field %s", shown.Quote(name))
		}
		return err
	})
	return g, err
}

// object reads the fields of m.
func (t jsonText) object(m *member) (Object, error) {
	const least = len(`"a":0,`) // that a member takes: most may be left out
	o := make(Object, 0, min(len(m.members), len(t)/least))
	err := t.members(func(name string, v jsonText) error {
		sub := m.named[name]
		if sub == nil {
			return badValue("there is no field %s", shown.Quote(name))
		}
		value, err := v.value(sub)
		if err != nil {
			return inField(err, name)
		}
		o = append(o, Member{Name: sub.name, Value: value})
		return nil
	})
	return o, err
}

// value reads a value of m.
func (t jsonText) value(m *member) (Value, error) {
	switch m.typ {
	case TypeObject:
		return t.object(m)
	case TypeString:
		return t.text()
	case TypeBytes:
		return t.hex()
	case TypeArray:
		return t.list(func(v jsonText) (Value, error) {
			if m.elem.bare {
				return v.value(m.elem.root.members[0])
			}
			return v.object(m.elem.root)
		})
	case TypeFixed:
		return t.list(func(v jsonText) (Value, error) { return v.value(m.item) })
	case TypeVec3, TypeVec3FA:
		return t.vec3(m.typ)
	case TypeCustomize:
		return t.customize()
	case TypeSkillID, TypeSkillID32:
		if t[0] == '{' {
			return t.skill(m.typ)
		}
	}
	s, err := t.scalarText()
	if err != nil {
		return nil, err
	}
	return scalarFromText(m.typ, s)
}

func (t jsonText) list(read func(jsonText) (Value, error)) (Value, error) {
	list := []Value{}
	err := t.elements(func(v jsonText) error {
		if len(list) == MaxPacket {
			return &ValueError{What: fmt.Sprintf("more than %d values", MaxPacket), Err: ErrTooLong}
		}
		value, err := read(v)
		if err != nil {
			return inElement(err, len(list))
		}
		list = append(list, value)
		return nil
	})
	return list, err
}

func (t jsonText) vec3(typ Type) (Value, error) {
	var f [3]float32
	err := t.members(func(name string, v jsonText) (err error) {
		i := strings.Index("xyz", name)
		if len(name) != 1 || i < 0 {
			return badValue("there is no field %s", shown.Quote(name))
		}
		f[i], err = v.coordinate(typ)
		return err
	})
	if typ == TypeVec3 {
		return Vec3(f), err
	}
	return Vec3FA(f), err
}

// coordinate reads one number of a vec3, or of a vec3fa in radians.
func (t jsonText) coordinate(typ Type) (float32, error) {
	s, err := t.scalarText()
	if err != nil {
		return 0, err
	}
	if typ == TypeVec3FA && t[0] != '"' {
		d, err := doubleFromText(s)
		if err != nil {
			return 0, err
		}
		return narrow(d.(float64) * 32768 / math.Pi)
	}
	f, err := floatFromText(s)
	if err != nil {
		return 0, err
	}
	return f.(float32), nil
}

func (t jsonText) customize() (Value, error) {
	var c Customize
	err := t.members(func(name string, v jsonText) error {
		for i, key := range customizeKeys {
			if key == name {
				n, err := v.number(8)
				c[i] = byte(n)
				return err
			}
		}
		return badValue("there is no field %s", shown.Quote(name))
	})
	return c, err
}

// skill reads a skill id: its parts, or the raw number, or both if they agree.
func (t jsonText) skill(typ Type) (Value, error) {
	var id SkillID
	var raw Value
	parts := 0
	err := t.members(func(name string, v jsonText) error {
		if name != "raw" {
			parts++
			return id.parsePart(name, v)
		}
		s, err := v.scalarText()
		if err == nil {
			raw, err = scalarFromText(typ, s)
		}
		return err
	})
	switch {
	case err != nil || raw == nil:
		return id, err
	case parts > 0 && raw != Value(id):
		return nil, badValue("raw is %+v, and the other fields %+v: leave one of them out", raw, id)
	}
	return raw, nil
}

func (id *SkillID) parsePart(name string, v jsonText) (err error) {
	var n uint64
	switch name {
	case "reserved":
		n, err = v.number(32)
		id.Reserved = uint32(n)
	case "npc":
		id.NPC = v == "true"
		if v != "true" && v != "false" {
			err = badValue("want true or false, got %s", v.brief())
		}
	case "type":
		n, err = v.number(8)
		id.Type = uint8(n)
	case "huntingZoneId":
		n, err = v.number(16)
		id.HuntingZone = uint16(n)
	case "id":
		n, err = v.number(32)
		id.ID = uint32(n)
	default:
		err = badValue("there is no field %s", shown.Quote(name))
	}
	return err
}

// number reads an unsigned integer.
func (t jsonText) number(bits int) (uint64, error) {
	n, err := strconv.ParseUint(string(t), 10, bits)
	if err != nil {
		return 0, badValue("want a number of %d bits, got %s", bits, t.brief())
	}
	return n, nil
}
