package sheets

import (
	"encoding/binary"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/vocab"
)

// plainTag measures the start tag of a node of the file without writing it, for nearly all
// nodes: their attributes occurred before on this path, no text needs an escape, and nothing
// needs the extra namespace. ok is false for any other, of which nothing is learned then.
func (m *measurer) plainTag(n *item, el *element, parent bool) (size int, ok bool, err error) {
	e, name := m.e, m.e.voc.Spelling(n.name)
	keys := e.voc.StoredKeys(n.node)
	if name.Escaped || n.node.Flags() != 0 || keys != el.keys {
		return 0, false, nil
	}
	if e.attrs, err = n.node.AppendAttributes(e.attrs[:0], nil); err != nil {
		return 0, false, err
	}
	size = len("<") + len(name.Element) + len(" />")
	if parent {
		size += len(">") - len(" />")
	}
	m.places = m.places[:0]
	hint := 0
	for i := range e.attrs {
		a := &e.attrs[i]
		name := vocab.NameID(a.NameIndex())
		place, known := el.attribute(name, hint)
		spelled, escaped := e.voc.Spelling(name).Attribute()
		if !known || el.attrs[place].typ != a.Type() || escaped || name == e.voc.Value {
			return 0, false, nil
		}
		length, plain, err := plainLen(a)
		if err != nil || !plain {
			return 0, false, err
		}
		size += len(` =""`) + len(spelled) + length
		m.places = append(m.places, place)
		hint = place + 1
	}
	for _, i := range m.places {
		m.learn.seen(el, i)
	}
	m.learn.keys(el, keys)
	m.learn.node(el, false)
	return size, true, nil
}

// plainLen returns the length of a value's text; ok is false for a text that needs an escape in
// an attribute.
func plainLen(a *datacenter.Attribute) (n int, ok bool, err error) {
	if a.Type() != datacenter.String {
		n, err = a.TextLen()
		return n, err == nil, err
	}
	units, err := a.Units()
	if err != nil {
		return 0, false, err
	}
	const (
		ascii, twoBytes          = 0x80, 0x800
		surrogates, noncharacter = 0xd800, 0xfffe
		behindSurrogates         = 0xe000
	)
	for ; len(units) > 1; units = units[2:] {
		switch u := binary.LittleEndian.Uint16(units); {
		case u < ascii:
			if attributeText[byte(u)] != plain {
				return 0, false, nil
			}
			n++
		case u < twoBytes:
			n += 2
		case u < surrogates, u >= behindSurrogates && u < noncharacter:
			n += 3
		default:
			return 0, false, nil
		}
	}
	return n, true, nil
}
