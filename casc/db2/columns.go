package db2

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Type is what the values of a column are.
type Type uint8

// The types of columns. A definition calls them int, float, string and locstring.
const (
	Int Type = iota
	Float
	String
	LocString
	// raw is a whole record whose fields nobody knows.
	raw
)

// Column is what a definition says of a column.
type Column struct {
	Name string
	Type Type
	// Bits is the size of an Int, 0 if the definition doesn't say it.
	Bits   int
	Signed bool
	// Array is how many values there are, or 0 if it is no array.
	Array int
	// ID and Relation mark the ID of a row and that of the row of another table that it belongs to.
	// Inline is set if the column is in the records.
	ID, Relation, Inline bool
}

// ErrDefinition means that a definition doesn't fit what a table says of itself.
var ErrDefinition = errors.New("the definition does not fit the table")

// Options say how a table is read. The zero Options read it without a definition.
type Options struct {
	// Columns are those of the definition, in its order.
	Columns []Column
	// Locale is the language of strings of WDBC that have places for many: the number of its place,
	// and 1 for the first. With 0, all are shown.
	Locale int
}

// Shown is a column as a view has it.
type Shown struct {
	Name string
	// Array is how many values there are, or 0 if it is no array.
	Array int
	// cell is the first of the cells.
	cell int
}

// View is a table as its columns show it. It may be used by several goroutines at once.
type View struct {
	// Columns are in the order of the definition.
	Columns []Shown
	// Doubles counts rows that are left out since their ID is that of another row before, and Lost
	// copies of rows that are not there.
	Doubles, Lost int

	t     *Table
	cells []cell
	rows  []row
	// spans are the records of a sparse table.
	spans []span
	// foreign has the foreign ID of each record.
	foreign []uint32
}

// View joins a table with a definition. The error matches [ErrDefinition] if the definition is the
// reason: the table can be read without it.
func (t *Table) View(o Options) (*View, error) {
	columns, fields := o.Columns, t.fields
	var err error
	switch {
	case columns == nil && t.described && !t.sparse():
		columns = t.guess()
	case columns == nil:
		columns, fields = t.guessWords()
	case !t.described:
		columns, fields, err = t.place(columns)
	}
	if err != nil {
		return nil, err
	}
	v := &View{t: t}
	if err := v.join(columns, fields, o.Locale); err != nil {
		return nil, err
	}
	return v, v.readRows(columns, fields)
}

// unfit returns an error that matches ErrDefinition.
func unfit(text string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDefinition, fmt.Sprintf(text, args...))
}

// unnamed is the name of a field without a definition.
func unnamed(i int) string { return "Field_" + strconv.Itoa(i) }

// idColumn is the column of IDs that are in no record.
var idColumn = Column{Name: "ID", Bits: numberBits, Signed: true, ID: true}

// guess returns columns for fields without a definition.
func (t *Table) guess() []Column {
	var list []Column
	if t.listsIDs() {
		list = append(list, idColumn)
	}
	for i, f := range t.fields {
		c := Column{Name: unnamed(i), Bits: typeBits(f.width), Signed: f.packing != packBits, Inline: true}
		if f.packing != packNone && f.packing != packSigned && f.packing != packBits {
			c.Bits = numberBits
		}
		if n := max(f.count, f.most); n > 1 {
			c.Array = n
		}
		c.ID = !t.listsIDs() && i == int(t.idIndex)
		list = append(list, c)
	}
	if t.hasForeign() {
		list = append(list, Column{Name: "Relation", Bits: numberBits, Signed: true, Relation: true})
	}
	return list
}

// typeBits returns the size of the type that holds so many bits.
func typeBits(width int) int {
	for _, bits := range []int{8, 16, 32} {
		if width <= bits {
			return bits
		}
	}
	return 64
}

// guessWords returns columns and fields for records of which nothing is known but their size: words
// of 4 bytes, and of 1 at the end. Of a sparse table it is the whole record.
func (t *Table) guessWords() ([]Column, []field) {
	if t.sparse() {
		return []Column{idColumn, {Name: unnamed(0), Type: raw, Inline: true}}, []field{{count: 1}}
	}
	var list []Column
	if t.listsIDs() {
		list = append(list, idColumn)
	}
	var fields []field
	for at := uint32(0); at < min(t.RecordSize, mostFields); {
		bits := numberBits
		if at+4 > t.RecordSize {
			bits = 8
		}
		list = append(list, Column{Name: unnamed(len(fields)), Bits: bits, Signed: true, Inline: true})
		fields = append(fields, field{at: int(at) * 8, width: bits, count: 1})
		at += uint32(bits / 8)
	}
	return list, fields
}

// listsIDs reports whether IDs are in no record.
func (t *Table) listsIDs() bool {
	return t.flags&flagIDs != 0 || slices.ContainsFunc(t.sections, func(s section) bool { return len(s.ids)+len(s.spans) > 0 })
}

func (t *Table) hasForeign() bool {
	return t.secondary != nil || slices.ContainsFunc(t.sections, func(s section) bool { return len(s.relation.bytes) > 0 })
}

// places are how many places a string of many languages can have. If there is more than one, a number
// follows them, which has a bit for each language.
var places = [...]int{1, 8, 16}

// maskEnd follows the name of such a string in the name of its number.
const maskEnd = "_mask"

// place tells where the fields of a table are that doesn't say it. If strings have several places,
// columns for their numbers join the definition's.
func (t *Table) place(columns []Column) ([]Column, []field, error) {
	for _, n := range places {
		list := withPlaces(columns, n)
		fields, size := packed(list)
		if uint64(size) == uint64(t.RecordSize)*8 || t.sparse() {
			return list, fields, nil
		}
	}
	_, size := packed(columns)
	return nil, nil, unfit("it has records of %d bytes, the table has %d", size/8, t.RecordSize)
}

// withPlaces returns columns whose strings of many languages have n places.
func withPlaces(columns []Column, n int) []Column {
	if n == 1 {
		return columns
	}
	var list []Column
	for _, c := range columns {
		if c.Type != LocString {
			list = append(list, c)
			continue
		}
		c.Array = n
		list = append(list, c, Column{Name: c.Name + maskEnd, Bits: numberBits, Inline: true})
	}
	return list
}

// packed returns the fields of columns that lie close to each other, and the bits of all.
func packed(columns []Column) (list []field, size int) {
	for _, c := range columns {
		if !c.Inline {
			continue
		}
		f := field{at: size, width: numberBits, count: max(1, c.Array)}
		if c.Type == Int && c.Bits > 0 {
			f.width = c.Bits
		}
		size += f.width * f.count
		list = append(list, f)
	}
	return list, size
}

// mostCells is more than any table has values in a row.
const mostCells = 1 << 16

// join makes the columns and cells of the view.
func (v *View) join(columns []Column, fields []field, locale int) error {
	inline := 0
	for i := range columns {
		c := &columns[i]
		n := c.Array
		var f *field
		if c.Inline {
			if inline++; inline > len(fields) {
				return unfit("it has more columns in records than the %d of the table", len(fields))
			}
			f = &fields[inline-1]
			var err error
			if n, err = v.count(c, f); err != nil {
				return err
			}
		}
		if len(v.cells)+n > mostCells {
			return v.t.name.Bad(0, "more than %d values in a row", mostCells)
		}
		v.addColumn(c, f, n, locale)
	}
	if inline != len(fields) {
		return unfit("it has %d columns in records, the table has %d", inline, len(fields))
	}
	return nil
}

// count returns the length of an array, or 0 for what is none. What the file says holds.
func (v *View) count(c *Column, f *field) (int, error) {
	n := c.Array
	switch {
	case f.count > 1 || c.Array > 0 && f.count > 0:
		n = f.count
	case f.most > 0 && n > f.most:
		return 0, unfit("%s has %d values, and there is room for %d", c.Name, n, f.most)
	}
	if v.t.Records > 0 && c.Type != Int && c.Type != raw && f.packing == packNone && f.width != numberBits {
		return 0, unfit("%s is no whole number, but has %d bits", c.Name, f.width)
	}
	if n > mostFields {
		return 0, v.t.name.Bad(0, "%s has %d values, want at most %d", c.Name, n, mostFields)
	}
	if end := f.end(n); !v.t.sparse() && uint64(end) > uint64(v.t.RecordSize)*8 {
		return 0, v.t.name.Bad(0, "%s ends at bit %d of records of %d bytes", c.Name, end, v.t.RecordSize)
	}
	return n, nil
}

// end returns the bit of a record behind a field of n values.
func (f *field) end(n int) int {
	switch f.packing {
	case packCommon:
		return 0
	case packNone:
		return f.at + f.width*max(1, n)
	}
	return f.at + f.width
}

func (v *View) addColumn(c *Column, f *field, n, locale int) {
	one := n
	chosen := locale > 0 && v.t.fileOrder && c.Type == LocString && n > 1
	masked := locale > 0 && v.t.fileOrder && !v.t.described && v.isMask(c)
	if chosen {
		n = 0
	}
	if !masked {
		v.Columns = append(v.Columns, Shown{c.Name, n, len(v.cells)})
	}
	for k := range max(1, one) {
		if chosen && k != min(locale, one)-1 || masked {
			continue
		}
		v.cells = append(v.cells, v.cell(c, f, k))
	}
}

// isMask reports whether a column is the number behind the string that was added last.
func (v *View) isMask(c *Column) bool {
	n := len(v.Columns)
	return n > 0 && v.cells[v.Columns[n-1].cell].typ == LocString && c.Name == v.Columns[n-1].Name+maskEnd
}
