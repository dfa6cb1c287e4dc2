package protocol

import (
	"encoding/binary"

	"lorefs/internal/wtf8"
)

// Decode reads a packet, header included. It keeps no part of it.
func (t *Table) Decode(packet []byte) (*Message, error) {
	return new(Decoder).Decode(t, packet)
}

// Decoder reads packet after packet into the same memory. The zero value is ready for use. It is
// not safe for parallel use.
type Decoder struct {
	message Message
	// members and text hold the values. members has room for all that the walker has counted.
	members []Member
	text    []byte
	p       []byte
}

// Decode reads a packet, header included. It keeps no part of it. The message is valid until
// the next call.
func (d *Decoder) Decode(t *Table, packet []byte) (*Message, error) {
	w, err := t.walk(packet)
	if err != nil {
		return nil, err
	}
	defer w.release()
	le, m := binary.LittleEndian, &d.message
	*m = Message{Code: le.Uint16(packet[codeAt:])}
	if length := le.Uint16(packet); int(length) != len(packet) {
		m.Length = new(length)
	}
	if t.opts.Padded {
		copy(m.Padding[:], packet[headerSize:])
	}
	if !w.plain {
		m.Layout = w.layout()
	}
	d.members, d.text, d.p = d.members[:0], d.text[:0], packet
	if d.members == nil || cap(d.members) < w.values {
		d.members = make([]Member, 0, w.values)
	}
	if d.text == nil {
		d.text = []byte{} // values that are empty are never nil, whoever makes them
	}
	m.Data = d.object(t.body.root, 0)
	d.p = nil
	return m, nil
}

// take takes room for n members.
func (d *Decoder) take(n int) []Member {
	at := len(d.members)
	d.members = d.members[:at+n]
	return d.members[at : at+n : at+n]
}

// values returns how many members the values in m take, without those of arrays.
func (m *member) values() int {
	n := 0
	for _, sub := range m.members {
		n += 1 + sub.values()
	}
	if m.typ == TypeFixed {
		n += m.n * (1 + m.item.values())
	}
	return n
}

func (d *Decoder) u16(off int) int { return int(binary.LittleEndian.Uint16(d.p[off:])) }

func (d *Decoder) object(m *member, base int) Object {
	o := d.take(len(m.members))
	for i, sub := range m.members {
		o[i].Name = sub.name
		d.value(&o[i].Value, sub, base)
	}
	return o
}

// value sets to to the value of m.
func (d *Decoder) value(to *Value, m *member, base int) {
	if m.typ.scalar() {
		decodeScalar(to, m.typ, d.p[base+m.at:])
		return
	}
	switch m.typ {
	case TypeObject:
		*to = d.object(m, base).Value()
	case TypeString:
		off := d.u16(base + m.at)
		begin := len(d.text)
		d.text = wtf8.Append(d.text, d.p[off:off+textLen(d.p[off:])-2])
		*to = Value{kind: KindText, data: d.text[begin:len(d.text):len(d.text)]}
	case TypeBytes:
		begin := len(d.text)
		if n := d.u16(base + m.countAt); n > 0 {
			d.text = append(d.text, d.p[d.u16(base+m.at):][:n]...)
		}
		*to = Value{kind: KindBytes, data: d.text[begin:len(d.text):len(d.text)]}
	case TypeArray:
		d.array(to, m, base)
	case TypeFixed:
		list := d.take(m.n)
		for i := range list {
			list[i].Name = ""
			d.value(&list[i].Value, m.item, base+m.at+i*m.item.stride)
		}
		*to = Value{kind: KindList, parts: list}
	}
}

func (d *Decoder) array(to *Value, m *member, base int) {
	list := d.take(d.u16(base + m.countAt))
	here := d.u16(base + m.at)
	for i := range list {
		list[i].Name = ""
		if m.elem.bare {
			d.value(&list[i].Value, m.elem.root.members[0], here)
		} else {
			list[i].Value = d.object(m.elem.root, here).Value()
		}
		here = d.u16(here + 2)
	}
	*to = Value{kind: KindList, parts: list}
}

// decodeScalar sets to to the value at the beginning of p.
func decodeScalar(to *Value, typ Type, p []byte) {
	le := binary.LittleEndian
	kind, bits, more := KindUint, uint64(0), uint32(0)
	switch typ {
	case TypeBool:
		if bits = uint64(p[0]); bits <= 1 {
			kind = KindBool
		}
	case TypeByte:
		bits = uint64(p[0])
	case TypeInt16:
		kind, bits = KindInt, uint64(int16(le.Uint16(p)))
	case TypeUint16:
		bits = uint64(le.Uint16(p))
	case TypeInt32:
		kind, bits = KindInt, uint64(int32(le.Uint32(p)))
	case TypeUint32:
		bits = uint64(le.Uint32(p))
	case TypeInt64:
		kind, bits = KindInt, le.Uint64(p)
	case TypeUint64:
		bits = le.Uint64(p)
	case TypeFloat:
		kind, bits = KindFloat, uint64(le.Uint32(p))
	case TypeDouble:
		kind, bits = KindDouble, le.Uint64(p)
	case TypeAngle:
		kind, bits = KindAngle, uint64(le.Uint16(p))
	case TypeVec3:
		kind, bits, more = KindVec3, le.Uint64(p), le.Uint32(p[8:])
	case TypeVec3FA:
		kind, bits, more = KindVec3FA, le.Uint64(p), le.Uint32(p[8:])
	case TypeSkillID:
		*to = skill64.unpack(le.Uint64(p)).Value()
		return
	case TypeSkillID32:
		*to = skill32.unpack(uint64(le.Uint32(p))).Value()
		return
	case TypeCustomize:
		kind, bits = KindCustomize, le.Uint64(p)
	}
	*to = Value{kind: kind, bits: bits, more: more}
}
