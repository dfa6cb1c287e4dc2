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
	r, err := newJSON(data)
	if err != nil {
		return nil, err
	}
	m := &Message{}
	err = r.members(func(name string) error {
		return inField(t.parsePart(m, name, r), name)
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// parsePart reads one member of the outermost object.
func (t *Table) parsePart(m *Message, name string, r *jsonReader) (err error) {
	switch name {
	case "code":
		m.Code, err = r.uint16()
	case "length":
		var n uint16
		n, err = r.uint16()
		m.Length = &n
	case "padding":
		var b []byte
		if b, err = r.hex(); err == nil && len(b) != paddingSize || !t.opts.Padded {
			return badValue("want %d bytes, for a packet that is padded", paddingSize)
		}
		copy(m.Padding[:], b)
	case "guessed": // a remark, not part of the packet
		r.Value(maxJSONNesting)
	case "data":
		m.Data, err = r.object(t.body.root)
	case "layout":
		m.Layout, err = r.layout()
	default:
		err = badValue("want code, length, padding, guessed, data or layout; the packet's fields stand below data")
	}
	return err
}

func (r *jsonReader) uint16() (uint16, error) {
	text := r.Value(maxJSONNesting)
	n, err := strconv.ParseUint(string(text), 10, 16)
	if err != nil {
		return 0, badValue("want a number of 0 to 65535, got %s", brief(text))
	}
	return uint16(n), nil
}

func (r *jsonReader) hex() ([]byte, error) {
	s, err := r.text()
	if err != nil {
		return nil, err
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return nil, badValue("want hex digits, got %s", shown.Quote(s))
	}
	return b, nil
}

func (r *jsonReader) layout() (*Layout, error) {
	l := &Layout{}
	err := r.members(func(name string) error {
		switch name {
		case "size":
			n, err := r.uint16()
			l.Size = int(n)
			return err
		case "at":
			return r.elements(func() error {
				n, err := r.uint16()
				l.At = append(l.At, int(n))
				return err
			})
		case "gaps":
			return r.elements(func() error {
				g, err := r.gap()
				l.Gaps = append(l.Gaps, g)
				return err
			})
		}
		return badValue("there is no field %s", shown.Quote(name))
	})
	return l, err
}

func (r *jsonReader) gap() (g Gap, err error) {
	err = r.members(func(name string) (err error) {
		switch name {
		case "at":
			var n uint16
			n, err = r.uint16()
			g.Off = int(n)
		case "hex":
			g.Data, err = r.hex()
		default:
			err = badValue("there is no field %s", shown.Quote(name))
		}
		return err
	})
	return g, err
}

// object reads the fields of m.
func (r *jsonReader) object(m *member) (Object, error) {
	const some = 8 // all but a few members may be left out
	o := make(Object, 0, min(len(m.members), some))
	err := r.members(func(name string) error {
		sub := m.named[name]
		if sub == nil {
			return badValue("there is no field %s", shown.Quote(name))
		}
		value, err := r.value(sub)
		if err != nil {
			return inField(err, name)
		}
		o = append(o, Member{Name: sub.name, Value: value})
		return nil
	})
	return o, err
}

// value reads a value of m.
func (r *jsonReader) value(m *member) (Value, error) {
	switch m.typ {
	case TypeObject:
		o, err := r.object(m)
		return o.Value(), err
	case TypeString:
		s, err := r.text()
		return Text(s), err
	case TypeBytes:
		b, err := r.hex()
		return Bytes(b), err
	case TypeArray:
		each := m.elem.root
		if m.elem.bare {
			each = each.members[0]
		}
		return r.list(&r.inArrays, MaxPacket, func() (Value, error) { return r.value(each) })
	case TypeFixed:
		return r.list(&r.inFixed, maxItems, func() (Value, error) { return r.value(m.item) })
	case TypeVec3, TypeVec3FA:
		return r.vec3(m.typ)
	case TypeCustomize:
		return r.customize()
	case TypeSkillID, TypeSkillID32:
		if r.Peek() == '{' {
			return r.skill(m.typ)
		}
	}
	s, err := r.scalarText()
	if err != nil {
		return Value{}, err
	}
	return scalarFromText(m.typ, s)
}

// maxItems is more than the items of T[n] in any packet that can be read, on all levels of their
// nesting.
const maxItems = workPerByte * MaxPacket * maxNesting

// list reads the values of one list. count is how many values lists of its kind have had in the
// packet so far, because a value takes far more memory than its text.
func (r *jsonReader) list(count *int, most int, read func() (Value, error)) (Value, error) {
	list := []Member{}
	err := r.elements(func() error {
		if *count++; *count > most {
			return &ValueError{What: fmt.Sprintf("more than %d values", most), Err: ErrTooLong}
		}
		value, err := read()
		if err != nil {
			return inElement(err, len(list))
		}
		list = append(list, Member{Value: value})
		return nil
	})
	return Value{kind: KindList, parts: list}, err
}

func (r *jsonReader) vec3(typ Type) (Value, error) {
	var f [3]float32
	err := r.members(func(name string) (err error) {
		i := strings.Index("xyz", name)
		if len(name) != 1 || i < 0 {
			return badValue("there is no field %s", shown.Quote(name))
		}
		f[i], err = r.coordinate(typ)
		return err
	})
	if typ == TypeVec3 {
		return Vec3(f).Value(), err
	}
	return Vec3FA(f).Value(), err
}

// coordinate reads one number of a vec3, or of a vec3fa in radians.
func (r *jsonReader) coordinate(typ Type) (float32, error) {
	inRadians := typ == TypeVec3FA && r.Peek() != '"'
	s, err := r.scalarText()
	if err != nil {
		return 0, err
	}
	if inRadians {
		d, err := doubleFromText(s)
		if err != nil {
			return 0, err
		}
		return narrow(d * 32768 / math.Pi)
	}
	return floatFromText(s)
}

func (r *jsonReader) customize() (Value, error) {
	var c Customize
	err := r.members(func(name string) error {
		for i, key := range customizeKeys {
			if key == name {
				n, err := r.number(8)
				c[i] = byte(n)
				return err
			}
		}
		return badValue("there is no field %s", shown.Quote(name))
	})
	return c.Value(), err
}

// skill reads a skill id: its parts, or the raw number, or both if they agree.
func (r *jsonReader) skill(typ Type) (Value, error) {
	var id SkillID
	var raw Value
	parts := 0
	err := r.members(func(name string) error {
		if name != "raw" {
			parts++
			return id.parsePart(name, r)
		}
		s, err := r.scalarText()
		if err == nil {
			raw, err = scalarFromText(typ, s)
		}
		return err
	})
	switch {
	case err != nil || raw.kind == KindNone:
		return id.Value(), err
	case parts > 0 && raw.SkillID() != id:
		return Value{}, badValue("raw is %+v, and the other fields %+v: leave one of them out", raw.SkillID(), id)
	}
	return raw, nil
}

func (id *SkillID) parsePart(name string, r *jsonReader) (err error) {
	var n uint64
	switch name {
	case "reserved":
		n, err = r.number(32)
		id.Reserved = uint32(n)
	case "npc":
		text := r.Value(maxJSONNesting)
		id.NPC = string(text) == "true"
		if !id.NPC && string(text) != "false" {
			err = badValue("want true or false, got %s", brief(text))
		}
	case "type":
		n, err = r.number(8)
		id.Type = uint8(n)
	case "huntingZoneId":
		n, err = r.number(16)
		id.HuntingZone = uint16(n)
	case "id":
		n, err = r.number(32)
		id.ID = uint32(n)
	default:
		err = badValue("there is no field %s", shown.Quote(name))
	}
	return err
}

// number reads an unsigned integer.
func (r *jsonReader) number(bits int) (uint64, error) {
	text := r.Value(maxJSONNesting)
	n, err := strconv.ParseUint(string(text), 10, bits)
	if err != nil {
		return 0, badValue("want a number of %d bits, got %s", bits, brief(text))
	}
	return n, nil
}
