package protocol

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"lorefs/internal/shown"
	"lorefs/internal/wtf8"
)

// Encode makes the packet of m, header included. It accepts integers of any type that fit
// the field.
//
// An error is a [*ValueError] or matches [ErrTooLong] or [ErrLayout].
func (t *Table) Encode(m *Message) ([]byte, error) {
	packet, err := t.encode(m, m.Layout, MaxPacket)
	if err != nil || m.Layout == nil {
		return packet, err
	}
	return packet, t.checkLayout(m, packet)
}

// checkLayout checks that a packet made by a layout holds the values. A layout that belongs
// to other values may make data overwrite other data.
func (t *Table) checkLayout(m *Message, packet []byte) error {
	lenient := *t
	lenient.opts.Strict = false
	got, err := lenient.Decode(packet)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLayout, err)
	}
	// Without a layout, equal values make equal packets. This packet may be longer than
	// allowed, and its offsets are meaningless then: where two fields share bytes, it has
	// them twice.
	want, err := t.encode(m, nil, maxUnshared)
	if err != nil {
		return err
	}
	have, err := t.encode(got, nil, maxUnshared)
	if err != nil {
		return err
	}
	if !bytes.Equal(have[codeAt:], want[codeAt:]) {
		return fmt.Errorf("%w: some data would lie over other data", ErrLayout)
	}
	return nil
}

// maxUnshared is the most bytes that a packet accepted by a walker can have if no two
// fields share bytes.
const maxUnshared = workPerByte * MaxPacket

// codeAt is the offset of a packet's code, behind its length.
const codeAt = 2

// encode makes a packet of at most limit bytes.
func (t *Table) encode(m *Message, lay *Layout, limit int) ([]byte, error) {
	e := encoder{t: t, limit: limit}
	if lay != nil {
		if lay.Size < t.body.size || lay.Size > MaxPacket {
			return nil, fmt.Errorf("%w: a size of %d bytes", ErrLayout, lay.Size)
		}
		if err := e.fill(lay); err != nil {
			return nil, err
		}
	}
	base, err := e.reserve(t.body.size)
	if err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint16(e.p[codeAt:], m.Code)
	if t.opts.Padded {
		copy(e.p[headerSize:], m.Padding[:])
	}
	if err := e.scope(&t.body, base, m.Data); err != nil {
		return nil, err
	}
	if len(e.at) > 0 {
		return nil, fmt.Errorf("%w: it has %d places that nothing is put at", ErrLayout, len(e.at))
	}
	if len(e.p) > limit {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLong, len(e.p))
	}
	length := uint16(len(e.p))
	if m.Length != nil {
		length = *m.Length
	}
	binary.LittleEndian.PutUint16(e.p, length)
	return e.p, nil
}

// encoder makes a packet. Without a layout it appends. With one, p has its final size from
// the start, and at has the places that are still free.
type encoder struct {
	t      *Table
	p      []byte
	limit  int // of len(p)
	layout bool
	at     []int
	begun  bool // the fixed part is reserved
}

// fill makes p of the layout's size, with the bytes that belong to no field.
func (e *encoder) fill(lay *Layout) error {
	e.layout, e.at = true, lay.At
	e.p = make([]byte, lay.Size)
	for _, g := range lay.Gaps {
		if g.Off < 0 || g.Off > len(e.p) || len(g.Data) > len(e.p)-g.Off {
			return fmt.Errorf("%w: a gap at %d of %d bytes in a packet of %d", ErrLayout, g.Off, len(g.Data), len(e.p))
		}
		copy(e.p[g.Off:], g.Data)
	}
	return nil
}

// reserve returns the place of the next datum, of n bytes.
func (e *encoder) reserve(n int) (off int, err error) {
	switch {
	case !e.layout:
		off = len(e.p)
		if off+n > e.limit {
			return 0, fmt.Errorf("%w: more than %d bytes", ErrTooLong, e.limit)
		}
		e.p = append(e.p, make([]byte, n)...)
		return off, nil
	case !e.begun:
		e.begun = true // the body is where it must be
		return 0, nil
	}
	if off, err = e.place(); err != nil {
		return 0, err
	}
	if off+n > len(e.p) {
		return 0, fmt.Errorf("%w: %d bytes at %d in a packet of %d", ErrLayout, n, off, len(e.p))
	}
	clear(e.p[off : off+n])
	return off, nil
}

// place takes the next place of the layout.
func (e *encoder) place() (off int, err error) {
	if len(e.at) == 0 {
		return 0, fmt.Errorf("%w: it has fewer places than there are data", ErrLayout)
	}
	off, e.at = e.at[0], e.at[1:]
	if off < 0 || off > MaxPacket {
		return 0, fmt.Errorf("%w: a place at %d", ErrLayout, off)
	}
	return off, nil
}

// empty returns the offset of a datum without bytes.
func (e *encoder) empty(null bool) (off int, err error) {
	if e.layout {
		return e.place()
	}
	if null {
		return 0, nil
	}
	if len(e.p) > e.limit {
		return 0, fmt.Errorf("%w: more than %d bytes", ErrTooLong, e.limit)
	}
	return len(e.p), nil
}

func (e *encoder) put16(off, v int) { binary.LittleEndian.PutUint16(e.p[off:], uint16(v)) }

// scope writes the fields of a packet or an element, whose fixed part is reserved at base,
// and then their data.
func (e *encoder) scope(s *scope, base int, o Object) error {
	data := make(map[*member]Value)
	if err := e.object(s.root, base, o, data); err != nil {
		return err
	}
	return e.data(s, base, data)
}

// bare writes an element that is one value.
func (e *encoder) bare(s *scope, base int, v Value) error {
	m := s.root.members[0]
	data := make(map[*member]Value)
	if err := e.member(m, base, v, data); err != nil {
		return err
	}
	return e.data(s, base, data)
}

// object writes the fields of fixed size, and puts the others into data.
func (e *encoder) object(m *member, base int, o Object, data map[*member]Value) error {
	for i := range o {
		if m.named[o[i].Name] == nil {
			return badValue("there is no field %s", shown.Quote(o[i].Name))
		}
	}
	for i, sub := range m.members {
		var v Value
		if i < len(o) && o[i].Name == sub.name {
			v = o[i].Value
		} else {
			v = o.Get(sub.name)
		}
		if v.kind == KindNone {
			v = sub.initial
		}
		if err := e.member(sub, base, v, data); err != nil {
			return inField(err, sub.name)
		}
	}
	return nil
}

func (e *encoder) member(m *member, base int, v Value, data map[*member]Value) error {
	switch {
	case m.typ.variable():
		data[m] = v
		return nil
	case m.typ == TypeObject:
		if v.kind != KindNone && v.kind != KindObject {
			return badValue("want an object, got %v", v.kind)
		}
		return e.object(m, base, v.parts, data)
	case m.typ == TypeFixed:
		return e.fixed(m, base, v)
	case v.kind == KindNone:
		return nil // reserved bytes are zero
	}
	return setScalar(e.p[base+m.at:base+m.at+m.stride], m.typ, v)
}

func (e *encoder) fixed(m *member, base int, v Value) error {
	if v.kind == KindNone {
		return nil
	}
	if v.kind != KindList || len(v.parts) != m.n {
		return badValue("want an array of %d values", m.n)
	}
	for i := range v.parts {
		if err := e.member(m.item, base+m.at+i*m.item.stride, v.parts[i].Value, nil); err != nil {
			return inElement(err, i)
		}
	}
	return nil
}

// data writes what lies behind the fixed part.
func (e *encoder) data(s *scope, base int, data map[*member]Value) error {
	for _, group := range s.data {
		if len(group) > 1 {
			if err := e.turns(group, base, data); err != nil {
				return err
			}
			continue
		}
		m := group[0]
		var err error
		switch v := data[m]; m.typ {
		case TypeString:
			err = e.text(m, base, v)
		case TypeBytes:
			err = e.bytes(m, base, v)
		case TypeArray:
			err = e.array(m, base, v)
		}
		if err != nil {
			return inField(err, m.path)
		}
	}
	return nil
}

func (e *encoder) text(m *member, base int, v Value) error {
	if v.kind != KindNone && v.kind != KindText {
		return badValue("want a string, got %v", v.kind)
	}
	if len(v.data) > 3*MaxPacket {
		return fmt.Errorf("%w: a string of %d bytes", ErrTooLong, len(v.data))
	}
	units := wtf8.AppendUTF16(nil, string(v.data))
	if i := textLen(units); i >= 0 {
		return badValue("a string cannot hold U+0000, which ends it")
	}
	off, err := e.reserve(len(units) + 2)
	if err != nil {
		return err
	}
	copy(e.p[off:], units)
	e.put16(base+m.at, off)
	return nil
}

func (e *encoder) bytes(m *member, base int, v Value) error {
	if v.kind != KindNone && v.kind != KindBytes {
		return badValue("want bytes, got %v", v.kind)
	}
	b := v.data
	var off int
	var err error
	if len(b) == 0 {
		off, err = e.empty(e.t.opts.EmptyBytesNull)
	} else {
		off, err = e.reserve(len(b))
	}
	if err != nil {
		return err
	}
	if len(b) > 0 {
		copy(e.p[off:], b)
	}
	e.put16(base+m.at, off)
	e.put16(base+m.countAt, len(b))
	return nil
}

// links is an array while it is written.
type links struct {
	e    *encoder
	m    *member
	list []Member
	link int // where the offset of the next element is put
}

func (e *encoder) links(m *member, base int, v Value) (links, error) {
	if v.kind != KindNone && v.kind != KindList {
		return links{}, badValue("want an array, got %v", v.kind)
	}
	list := v.parts
	if len(list) > MaxPacket/linkSize {
		return links{}, fmt.Errorf("%w: an array of %d elements", ErrTooLong, len(list))
	}
	e.put16(base+m.countAt, len(list))
	if len(list) == 0 {
		off, err := e.empty(true)
		e.put16(base+m.at, off)
		return links{}, err
	}
	return links{e: e, m: m, list: list, link: base + m.at}, nil
}

// element writes element i. Elements must be written in order.
func (l *links) element(i int) error {
	s := l.m.elem
	here, err := l.e.reserve(s.size)
	if err != nil {
		return err
	}
	l.e.put16(l.link, here)
	l.e.put16(here, here)
	l.link = here + 2
	if s.bare {
		return l.e.bare(s, here, l.list[i].Value)
	}
	v := l.list[i].Value
	if v.kind != KindObject {
		return badValue("want an object, got %v", v.kind)
	}
	return l.e.scope(s, here, v.parts)
}

func (e *encoder) array(m *member, base int, v Value) error {
	l, err := e.links(m, base, v)
	if err != nil {
		return err
	}
	for i := range l.list {
		if err := l.element(i); err != nil {
			return inElement(err, i)
		}
	}
	return nil
}

// turns writes interleaved arrays.
func (e *encoder) turns(group []*member, base int, data map[*member]Value) error {
	all := make([]links, len(group))
	most := 0
	for i, m := range group {
		var err error
		if all[i], err = e.links(m, base, data[m]); err != nil {
			return inField(err, m.path)
		}
		most = max(most, len(all[i].list))
	}
	for i := range most {
		for j := range all {
			if i >= len(all[j].list) {
				continue
			}
			if err := all[j].element(i); err != nil {
				return inField(inElement(err, i), all[j].m.path)
			}
		}
	}
	return nil
}
