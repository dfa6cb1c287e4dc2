package db2

import (
	"bytes"
	"iter"
	"slices"
)

// Comparison compares the rows of two views of a table, such as those of two builds of the game. Rows
// are the same if their IDs are, and columns if their names are.
type Comparison struct {
	// Only are the columns that only the old or the new view has, or, of arrays of which one is longer,
	// the further values. They are not compared.
	Only [2][]string

	views [2]*View
	both  []common
}

// common is a value that the rows of both views have, by the places of its cells.
type common struct {
	name  string
	cells [2]int
}

// RowChange is a row that differs. Old and New are its places in the views, or -1 if it is in one only.
type RowChange struct {
	ID       int32
	Old, New int
	// Values are those that differ in a row that both have.
	Values []ValueChange
}

// ValueChange is a value that differs, by the name that it has in CSV. Old and New are JSON.
type ValueChange struct {
	Name     string
	Old, New []byte
}

// Compare compares two views.
func Compare(old, now *View) *Comparison {
	c := &Comparison{views: [...]*View{old, now}}
	for i := range old.Columns {
		x := &old.Columns[i]
		y := now.column(x.Name)
		if y == nil {
			c.Only[0] = append(c.Only[0], x.Name)
			continue
		}
		n, m := max(1, x.Array), max(1, y.Array)
		for k := range max(n, m) {
			switch {
			case k >= m:
				c.Only[0] = append(c.Only[0], x.Cell(k, CSV))
			case k >= n:
				c.Only[1] = append(c.Only[1], y.Cell(k, CSV))
			default:
				c.both = append(c.both, common{x.Cell(k, CSV), [...]int{x.cell + k, y.cell + k}})
			}
		}
	}
	for i := range now.Columns {
		if name := now.Columns[i].Name; old.column(name) == nil {
			c.Only[1] = append(c.Only[1], name)
		}
	}
	return c
}

// column returns the column of a name, or nil.
func (v *View) column(name string) *Shown {
	i := slices.IndexFunc(v.Columns, func(s Shown) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &v.Columns[i]
}

// Rows yields the rows that differ, by ID. An error comes last. Rows are left out that one view has and
// a section of the other hides, as far as that is known.
func (c *Comparison) Rows() iter.Seq2[RowChange, error] {
	return func(yield func(RowChange, error) bool) {
		old, now := c.views[0].byID(), c.views[1].byID()
		var values [2][]value
		for len(old)+len(now) > 0 {
			change := RowChange{Old: -1, New: -1}
			order := 0 // of the next IDs
			switch {
			case len(now) == 0:
				order = -1
			case len(old) == 0:
				order = 1
			default:
				order = compareIDs(c.views[0].ID(old[0]), c.views[1].ID(now[0]))
			}
			if order <= 0 {
				change.ID, change.Old, old = c.views[0].ID(old[0]), old[0], old[1:]
			}
			if order >= 0 {
				change.ID, change.New, now = c.views[1].ID(now[0]), now[0], now[1:]
			}
			var err error
			if order == 0 {
				change.Values, err = c.compare(&change, &values)
			}
			same := order == 0 && change.Values == nil
			if err == nil && (same || change.Old < 0 && c.views[0].Hides(change.ID) || change.New < 0 && c.views[1].Hides(change.ID)) {
				continue
			}
			if !yield(change, err) || err != nil {
				return
			}
		}
	}
}

// byID returns the places of the rows in the order of their IDs.
func (v *View) byID() []int {
	list := make([]int, len(v.rows))
	for i := range list {
		list[i] = i
	}
	if v.t.fileOrder {
		slices.SortStableFunc(list, func(i, k int) int { return compareIDs(v.rows[i].id, v.rows[k].id) })
	}
	return list
}

// value is what [reader.read] returns of a cell.
type value struct {
	n    uint64
	text []byte
}

// values reads all cells of a row: those of a sparse table can only be read one after the other.
func (v *View) values(i int, to []value) ([]value, error) {
	r := v.reader(i, &v.t.sections[0])
	for k := range v.cells {
		n, text, err := r.read(&v.cells[k])
		if err != nil {
			return nil, err
		}
		to = append(to, value{n, text})
	}
	return to, nil
}

// compare returns the values that differ in a row that both have.
func (c *Comparison) compare(row *RowChange, values *[2][]value) (list []ValueChange, err error) {
	for side, i := range [...]int{row.Old, row.New} {
		if values[side], err = c.views[side].values(i, values[side][:0]); err != nil {
			return nil, err
		}
	}
	for _, both := range c.both {
		a, b := &c.views[0].cells[both.cells[0]], &c.views[1].cells[both.cells[1]]
		x, y := values[0][both.cells[0]], values[1][both.cells[1]]
		// The number of a text says only where it is.
		if a.isAlike(b) && (x.n == y.n || a.isText()) && bytes.Equal(x.text, y.text) {
			continue
		}
		// Numbers may differ in bits that their types leave out.
		was, is := a.appendJSON(nil, x.n, x.text), b.appendJSON(nil, y.n, y.text)
		if !bytes.Equal(was, is) {
			list = append(list, ValueChange{both.name, was, is})
		}
	}
	return list, nil
}

func (c *cell) isText() bool { return c.typ == String || c.typ == LocString }

// isAlike reports whether equal values of two cells are written alike.
func (c *cell) isAlike(d *cell) bool {
	return c.typ == d.typ && c.signed == d.signed && c.bits == d.bits
}
