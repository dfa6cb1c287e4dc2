package db2

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// row is the ID of a row, and its record: one of all sections, or one of the spans.
type row struct {
	id     int32
	record uint32
}

// span is a record of a sparse table.
type span struct {
	at uint32
	n  uint16
}

func compareIDs(a, b int32) int { return cmp.Compare(a, b) }

func byID(a, b row) int { return compareIDs(a.id, b.id) }

// Len returns how many rows there are.
func (v *View) Len() int { return len(v.rows) }

// ID returns the ID of a row. Rows of WDBC and WDB2 are in the order of the file, all others in that
// of their IDs.
func (v *View) ID(i int) int32 { return v.rows[i].id }

// Find returns the row of an ID.
func (v *View) Find(id int32) (int, bool) {
	if v.t.fileOrder {
		i := slices.IndexFunc(v.rows, func(r row) bool { return r.id == id })
		return i, i >= 0
	}
	return slices.BinarySearchFunc(v.rows, row{id: id}, byID)
}

// Hides reports whether a section that can't be read has a row, as far as the table tells.
func (v *View) Hides(id int32) bool {
	_, found := slices.BinarySearch(v.t.secret, id)
	return found && len(v.t.Hidden()) > 0
}

// readRows lists the rows of all sections that can be read.
func (v *View) readRows(columns []Column, fields []field) error {
	inline := v.t.inlineID(columns, fields)
	for i := range v.t.sections {
		s := &v.t.sections[i]
		if s.hidden {
			continue
		}
		before := len(v.rows)
		var err error
		if v.t.sparse() {
			err = v.addSpans(s)
		} else {
			err = v.addRecords(s, inline)
		}
		if err == nil {
			err = v.addForeign(s, before)
		}
		if err != nil {
			return err
		}
	}
	if v.t.fileOrder {
		return nil
	}
	v.sortRows()
	v.addCopies()
	return nil
}

// inlineID returns the field that has the ID, or nil.
func (t *Table) inlineID(columns []Column, fields []field) *field {
	if t.described {
		if i := int(t.idIndex); i < len(t.fields) {
			return &t.fields[i]
		}
		return nil
	}
	i := 0
	for _, c := range columns {
		if c.Inline && c.ID {
			return &fields[i]
		}
		if c.Inline {
			i++
		}
	}
	return nil
}

// addRecords adds the rows of the records of a section.
func (v *View) addRecords(s *section, inline *field) error {
	t := v.t
	at := int64(s.records.at)
	switch listed := len(s.ids); {
	case uint64(listed) == uint64(s.n)*idSize && s.n > 0:
		inline = nil
	case listed > 0:
		return t.name.Bad(at, "%d bytes of IDs for %d records", listed, s.n)
	case t.RecordSize == 0 && s.n > 0:
		return t.name.Bad(at, "%d records without any byte or ID", s.n)
	case inline != nil && inline.packing != packNone && inline.packing != packBits && inline.packing != packSigned:
		return t.name.Bad(at, "the ID is packed in a way that needs the ID")
	case inline == nil && t.described && s.n > 0:
		return t.name.Bad(at, "%d records without IDs", s.n)
	}
	counted := isZero(s.ids)
	v.rows = slices.Grow(v.rows, int(s.n))
	for i := range s.n {
		r := row{record: s.first + i}
		switch {
		case counted:
			r.id = t.MinID + int32(r.record)
		case len(s.ids) > 0:
			r.id = int32(binary.LittleEndian.Uint32(s.ids[i*idSize:]))
		case inline != nil:
			r.id = int32(t.bits(s.records.at+int(i)*int(t.RecordSize), inline.at, min(inline.width, numberBits)))
		default:
			r.id = int32(i)
		}
		v.rows = append(v.rows, r)
	}
	return nil
}

// addSpans adds the rows of an offset map.
func (v *View) addSpans(s *section) error {
	t := v.t
	for i := range len(s.spans) / spanSize {
		b := s.spans[i*spanSize:]
		one := span{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint16(b[4:])}
		r := row{t.MinID + int32(i), uint32(len(v.spans))}
		if s.spanIDs != nil {
			r.id = int32(binary.LittleEndian.Uint32(s.spanIDs[i*idSize:]))
		}
		v.spans = append(v.spans, one)
		if one.at == 0 || one.n == 0 {
			continue
		}
		if uint64(one.at)+uint64(one.n) > uint64(len(t.data)) {
			return t.name.Bad(int64(one.at), "row %d: %d bytes expected, the file has %d", r.id, one.n, len(t.data))
		}
		v.rows = append(v.rows, r)
	}
	return nil
}

// addForeign reads the foreign IDs of a section, whose rows begin at before.
func (v *View) addForeign(s *section, before int) error {
	p := s.relation
	if len(p.bytes) == 0 {
		return nil
	}
	bad := func(text string, args ...any) error { return v.t.name.Bad(int64(p.at), "foreign IDs: "+text, args...) }
	if len(p.bytes) < relationHead {
		return bad("%d bytes, want at least %d", len(p.bytes), relationHead)
	}
	n, list := binary.LittleEndian.Uint32(p.bytes), p.bytes[relationHead:]
	if uint64(n)*copySize > uint64(len(list)) {
		return bad("%d of them in %d bytes", n, len(p.bytes))
	}
	if v.foreign == nil {
		v.foreign = make([]uint32, v.t.recordCount())
	}
	first, count := s.first, s.n
	if v.t.sparse() {
		count = uint32(len(s.spans) / spanSize)
		first = uint32(len(v.spans)) - count
	}
	var rows map[int32]uint32 // where entries name rows
	if v.t.flags&flagSecondary != 0 {
		rows = map[int32]uint32{}
		for _, r := range v.rows[before:] {
			rows[r.id] = r.record
		}
	}
	for ; n > 0; n, list = n-1, list[copySize:] {
		foreign, at := binary.LittleEndian.Uint32(list), binary.LittleEndian.Uint32(list[4:])
		if rows != nil {
			if record, ok := rows[int32(at)]; ok {
				v.foreign[record] = foreign
			}
			continue
		}
		if at >= count {
			return bad("one for record %d, there are %d", at, count)
		}
		v.foreign[first+at] = foreign
	}
	return nil
}

// recordCount returns how many records or spans there are.
func (t *Table) recordCount() (n int) {
	for i := range t.sections {
		s := &t.sections[i]
		if t.sparse() {
			n += len(s.spans) / spanSize
		} else {
			n += int(s.n)
		}
	}
	return n
}

// sortRows sorts rows by ID. Of those with the same one, the first stays.
func (v *View) sortRows() {
	if !slices.IsSortedFunc(v.rows, byID) {
		slices.SortStableFunc(v.rows, byID)
	}
	n := len(v.rows)
	v.rows = slices.CompactFunc(v.rows, func(a, b row) bool { return a.id == b.id })
	v.Doubles = n - len(v.rows)
}

// addCopies adds the copies. One may be a copy of another one before, but not of itself or of one that
// follows, so that there are no cycles.
func (v *View) addCopies() {
	copied := map[int32]uint32{}
	find := func(id int32) (uint32, bool) {
		if i, ok := slices.BinarySearchFunc(v.rows, row{id: id}, byID); ok {
			return v.rows[i].record, true
		}
		record, ok := copied[id]
		return record, ok
	}
	var list []row
	for i := range v.t.sections {
		s := &v.t.sections[i]
		if s.hidden {
			continue
		}
		for b := s.copies; len(b) >= copySize; b = b[copySize:] {
			id, source := int32(binary.LittleEndian.Uint32(b)), int32(binary.LittleEndian.Uint32(b[4:]))
			if id == source {
				continue
			}
			record, there := find(source)
			_, double := find(id)
			switch {
			case !there:
				v.Lost++
			case double:
				v.Doubles++
			default:
				copied[id] = record
				list = append(list, row{id, record})
			}
		}
	}
	if list == nil {
		return
	}
	v.rows = append(v.rows, list...)
	slices.SortFunc(v.rows, byID)
}
