package db2

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// source is where the value of a cell is.
type source uint8

const (
	fromRecord source = iota
	fromSigned
	fromPallet
	fromCommon
	fromID
	fromForeign
)

// cell is one value of each row: a column has one, or one for each value of its array.
type cell struct {
	from   source
	typ    Type
	signed bool
	// inline is set if a record of a sparse table has bytes for it.
	inline bool
	// bits is the size of the type, width how many bits the record has of it.
	bits, width int
	// at is the bit of the record at which it begins.
	at int
	// stride is the length of an array in a pallet, and k the number of the value in it.
	stride, k int
	pallet    part
	common    []pair
	standard  uint32
}

// cell returns value k of a column. f is nil if it is in no record.
func (v *View) cell(c *Column, f *field, k int) cell {
	one := cell{typ: c.Type, signed: c.Signed, bits: numberBits, inline: c.Inline, k: k}
	if c.Type == Int && c.Bits > 0 {
		one.bits = min(c.Bits, 64)
	}
	if f != nil {
		one.width, one.at, one.stride = f.width, f.at, max(1, f.count)
		one.pallet, one.common, one.standard = f.pallet, f.common, f.standard
		if f.packing == packNone {
			one.at += k * f.width
		}
		one.from = [...]source{fromRecord, fromRecord, fromCommon, fromPallet, fromPallet, fromSigned}[f.packing]
	}
	switch {
	case c.ID && !v.t.fileOrder:
		one.from, one.bits, one.signed, one.typ = fromID, numberBits, true, Int
	case f == nil:
		one.from, one.bits, one.signed = fromForeign, numberBits, true
	}
	return one
}

// reader reads the cells of one row, in their order.
type reader struct {
	v  *View
	id int32
	s  *section
	// at is where the record begins. In a sparse table it is where the next cell does, and end where
	// the record ends.
	at, end int
	record  uint32
}

// reader returns a reader of a row. Its section is most often the one that was there before.
func (v *View) reader(i int, s *section) reader {
	one := v.rows[i]
	r := reader{v: v, id: one.id, record: one.record, s: s}
	if v.t.sparse() {
		span := v.spans[one.record]
		r.at, r.end = int(span.at), int(span.at)+int(span.n)
		return r
	}
	if s == nil || one.record-s.first >= s.n {
		list := v.t.sections
		at, found := slices.BinarySearchFunc(list, one.record, func(s section, record uint32) int {
			switch {
			case record < s.first:
				return 1
			case record-s.first >= s.n:
				return -1
			}
			return 0
		})
		if !found {
			panic("BUG: a row of no section")
		}
		r.s = &list[at]
	}
	r.at = r.s.records.at + int(one.record-r.s.first)*int(v.t.RecordSize)
	return r
}

// read returns the number of a cell, or its text.
func (r *reader) read(c *cell) (n uint64, text []byte, err error) {
	t := r.v.t
	if t.sparse() && c.inline && c.from != fromCommon {
		return r.next(c)
	}
	switch c.from {
	case fromRecord:
		n = t.bits(r.at, c.at, c.width)
	case fromSigned:
		n = extend(t.bits(r.at, c.at, c.width), c.width)
	case fromPallet:
		index := t.bits(r.at, c.at, c.width)
		at := index*uint64(c.stride) + uint64(c.k)
		if index >= uint64(len(c.pallet.bytes)) || at >= uint64(len(c.pallet.bytes)/4) {
			return 0, nil, t.name.Bad(int64(r.at), "row %d: value %d of a pallet that has %d", r.id, at, len(c.pallet.bytes)/4)
		}
		n = uint64(binary.LittleEndian.Uint32(c.pallet.bytes[at*4:]))
	case fromCommon:
		n = c.commonOf(r.id)
	case fromID:
		return uint64(r.id), nil, nil
	case fromForeign:
		n = r.foreign()
	}
	if c.typ == String || c.typ == LocString {
		text, err = r.text(c, uint32(n))
	}
	return n, text, err
}

// next reads a cell of a sparse table.
func (r *reader) next(c *cell) (n uint64, text []byte, err error) {
	data := r.v.t.data[r.at:r.end]
	switch c.typ {
	case raw:
		r.at = r.end
		return 0, data, nil
	case String, LocString:
		text, _, found := bytes.Cut(data, nul)
		if !found {
			return 0, nil, r.v.t.name.Bad(int64(r.at), "row %d: a string without end", r.id)
		}
		r.at += len(text) + 1
		return 0, text, nil
	}
	size := c.width / 8
	if size > len(data) {
		return 0, nil, r.v.t.name.Bad(int64(r.at), "row %d: %d bytes expected, %d there", r.id, size, len(data))
	}
	r.at += size
	if c.from == fromID {
		return uint64(r.id), nil, nil
	}
	return little(data[:size]), nil, nil
}

// bits returns up to 64 bits at a bit of a record. Whoever made the field has seen that they are there.
func (t *Table) bits(record, bit, width int) uint64 {
	at, shift := record+bit>>3, bit&7
	var n uint64
	if at+8 <= len(t.data) {
		n = binary.LittleEndian.Uint64(t.data[at:])
	} else {
		n = little(t.data[at:])
	}
	n >>= shift
	if shift+width > 64 {
		n |= uint64(t.data[at+8]) << (64 - shift)
	}
	if width < 64 {
		n &= 1<<width - 1
	}
	return n
}

// extend returns a number of so many bits, the highest of which is its sign, in 64 bits.
func extend(n uint64, bits int) uint64 {
	free := 64 - bits
	return uint64(int64(n<<free) >> free)
}

// commonOf returns the value of a row.
func (c *cell) commonOf(id int32) uint64 {
	i, found := slices.BinarySearchFunc(c.common, id, func(p pair, id int32) int { return compareIDs(p.id, id) })
	if found {
		return uint64(c.common[i].value)
	}
	return uint64(c.standard)
}

// foreign returns the foreign ID of the row, 0 if it has none.
func (r *reader) foreign() uint64 {
	t := r.v.t
	switch {
	case t.secondary != nil:
		at := (int64(r.id) - int64(t.MinID)) * idSize
		if at >= 0 && at+idSize <= int64(len(t.secondary)) {
			return uint64(binary.LittleEndian.Uint32(t.secondary[at:]))
		}
	case int(r.record) < len(r.v.foreign):
		return uint64(r.v.foreign[r.record])
	}
	return 0
}

// text returns the string that the number of a cell leads to.
func (r *reader) text(c *cell, n uint32) ([]byte, error) {
	t, s := r.v.t, r.s
	at := int64(n)
	if t.relative {
		if n == 0 {
			return nil, nil
		}
		// Blocks of strings follow all records, those that are left out included.
		at = int64(int32(n)) + int64(r.record)*int64(t.RecordSize) + int64(c.at/8) - int64(t.Records)*int64(t.RecordSize)
		if at < 0 {
			return nil, nil
		}
		if at < s.stringsAt || at >= s.stringsAt+int64(len(s.strings.bytes)) {
			s = t.stringSection(at)
		}
	}
	if s == nil || at-s.stringsAt >= int64(len(s.strings.bytes)) {
		return nil, t.name.Bad(int64(r.at+c.at/8), "row %d: byte %d of the strings, of which there are fewer", r.id, at)
	}
	text, _, found := bytes.Cut(s.strings.bytes[at-s.stringsAt:], nul)
	if !found {
		return nil, t.name.Bad(int64(s.strings.at)+at-s.stringsAt, "row %d: a string without end", r.id)
	}
	return text, nil
}

// nul ends a string.
var nul = []byte{0}

// stringSection returns the section that has a byte of the strings, or nil.
func (t *Table) stringSection(at int64) *section {
	for i := range t.sections {
		s := &t.sections[i]
		if at >= s.stringsAt && at < s.stringsAt+int64(len(s.strings.bytes)) {
			return s
		}
	}
	return nil
}
