package tabletree

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"lorefs/casc/db2"
	"lorefs/internal/shown"
	"lorefs/nodes"
)

// Difference is what differs between two sources of tables: a [RowDifference] or a [TableDifference].
// Its fields are encoded in their order, and scripts rely on their names.
type Difference interface {
	// Append appends lines for people. Each ends with a newline.
	Append(dst []byte) []byte
}

// RowDifference is a row that differs.
type RowDifference struct {
	// Kind is row_added, row_removed or row_changed, and Path the table and the ID.
	Kind  string `json:"kind"`
	Path  string `json:"path"`
	Table string `json:"table"`
	ID    int32  `json:"id"`
	// Row is a row that was added or removed, as a line of the table has it.
	Row json.RawMessage `json:"row,omitempty"`
	// Values are those that were changed.
	Values []ValueDifference `json:"values,omitempty"`
}

// ValueDifference is a value that was changed. Column is its name in CSV.
type ValueDifference struct {
	Column string          `json:"column"`
	Old    json.RawMessage `json:"old"`
	New    json.RawMessage `json:"new"`
}

// TableDifference is a table that only one source has, or what of a table was not compared.
type TableDifference struct {
	// Kind is table_added, table_removed, columns_not_compared, rows_not_compared or
	// table_not_compared.
	Kind  string `json:"kind"`
	Path  string `json:"path"`
	Table string `json:"table"`
	// OldRows and NewRows count the rows of a table that only one source has, or those that need a
	// missing key.
	OldRows int `json:"old_rows,omitempty"`
	NewRows int `json:"new_rows,omitempty"`
	// OldColumns and NewColumns are those that only one of the tables has.
	OldColumns []string `json:"old_columns,omitempty"`
	NewColumns []string `json:"new_columns,omitempty"`
	// What says why a table was not compared.
	What string `json:"what,omitempty"`
}

// The kinds of differences.
const (
	rowAdded          = "row_added"
	rowRemoved        = "row_removed"
	rowChanged        = "row_changed"
	tableAdded        = "table_added"
	tableRemoved      = "table_removed"
	columnsUncompared = "columns_not_compared"
	rowsUncompared    = "rows_not_compared"
	tableUncompared   = "table_not_compared"
)

// Append implements [Difference].
func (d *RowDifference) Append(dst []byte) []byte {
	path := shown.Text(d.Path)
	switch d.Kind {
	case rowAdded:
		return fmt.Appendf(dst, "+ %s: %s\n", path, shown.Text(string(d.Row)))
	case rowRemoved:
		return fmt.Appendf(dst, "- %s: %s\n", path, shown.Text(string(d.Row)))
	}
	for _, v := range d.Values {
		dst = fmt.Appendf(dst, "~ %s %s: %s, was %s\n", path, shown.Text(v.Column), shown.Text(string(v.New)), shown.Text(string(v.Old)))
	}
	return dst
}

// Append implements [Difference].
func (d *TableDifference) Append(dst []byte) []byte {
	path := shown.Text(d.Path)
	switch d.Kind {
	case tableAdded:
		return fmt.Appendf(dst, "+ %s: %s\n", path, shown.Plural(d.NewRows, "row"))
	case tableRemoved:
		return fmt.Appendf(dst, "- %s: %s\n", path, shown.Plural(d.OldRows, "row"))
	case tableUncompared:
		return fmt.Appendf(dst, "? %s: not compared: %s\n", path, shown.Text(d.What))
	}
	dst = fmt.Appendf(dst, "? %s: not compared:", path)
	end := ""
	for _, side := range []struct {
		name    string
		rows    int
		columns []string
	}{{"A", d.OldRows, d.OldColumns}, {"B", d.NewRows, d.NewColumns}} {
		switch {
		case side.rows > 0:
			dst = fmt.Appendf(dst, "%s %s of %s whose key is missing", end, shown.Plural(side.rows, "row"), side.name)
		case side.columns != nil:
			dst = fmt.Appendf(dst, "%s %s, which only %s has", end, shown.Text(strings.Join(side.columns, ", ")), side.name)
		default:
			continue
		}
		end = ";"
	}
	return append(dst, '\n')
}

// Diff yields what differs between two sources of tables, by the names of the tables and the IDs of
// their rows. Of a table that only one has, the rows are counted. It reads tables only whose contents
// differ, as far as their keys tell, and holds one of each source at a time. An error comes last, also
// if some tables could not be compared.
func Diff(ctx context.Context, old, now *Tree) iter.Seq2[Difference, error] {
	return func(yield func(Difference, error) bool) {
		c := comparison{ctx: ctx, trees: [...]*Tree{old, now}, yield: yield}
		err := c.run()
		if err == nil && c.failed > 0 {
			err = fmt.Errorf("%s %s not compared", shown.Plural(c.failed, "table"), shown.Was(c.failed))
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}

var errStopped = errors.New("the caller has enough")

type comparison struct {
	ctx   context.Context //nolint:containedctx // it lives as long as Diff
	trees [2]*Tree
	yield func(Difference, error) bool
	// failed counts tables that can't be read.
	failed int
}

func (c *comparison) tell(d Difference) error {
	if !c.yield(d, nil) {
		return errStopped
	}
	return nil
}

// sorted returns the places of the tables in the order of their names.
func (t *Tree) sorted() []int {
	list := make([]int, len(t.tables))
	for i := range list {
		list[i] = i
	}
	slices.SortFunc(list, func(i, k int) int { return compareNames(t.tables[i].Name, t.tables[k].Name) })
	return list
}

func compareNames(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) }

// run compares all tables.
func (c *comparison) run() error {
	old, now := c.trees[0].sorted(), c.trees[1].sorted()
	for len(old)+len(now) > 0 {
		order := c.order(old, now)
		places := [2]int{-1, -1}
		var t *Table
		if order >= 0 {
			places[1], t, now = now[0], &c.trees[1].tables[now[0]], now[1:]
		}
		if order <= 0 {
			places[0], t, old = old[0], &c.trees[0].tables[old[0]], old[1:]
		}
		if order == 0 && t.sameAs(&c.trees[1].tables[places[1]]) {
			continue
		}
		about := TableDifference{Path: Folder + "/" + t.Name, Table: t.Name}
		err := c.table(&about, places)
		switch {
		case err == nil:
			continue
		case errors.Is(err, errStopped), errors.Is(err, nodes.ErrChanged):
			return err
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		}
		c.failed++
		about.Kind, about.What = tableUncompared, err.Error()
		if err := c.tell(&about); err != nil {
			return err
		}
	}
	return nil
}

// sameAs reports whether two files have one content, as far as their keys tell.
func (t *Table) sameAs(other *Table) bool {
	return t.Key != nil && other.Key != nil && t.Key() != "" && t.Key() == other.Key()
}

// order returns whether the next table is one of the old source, of the new one, or of both.
func (c *comparison) order(old, now []int) int {
	switch {
	case len(old) == 0:
		return 1
	case len(now) == 0:
		return -1
	}
	return compareNames(c.trees[0].tables[old[0]].Name, c.trees[1].tables[now[0]].Name)
}

// table compares two tables of a name, or counts the rows of one. A place is -1 if there is no table.
func (c *comparison) table(of *TableDifference, places [2]int) error {
	var sides [2]*Opened
	about := *of
	err := c.open(places, &sides)
	switch {
	case err != nil:
		return err
	case places[0] < 0:
		about.Kind, about.NewRows = tableAdded, sides[1].Len()
		return c.tell(&about)
	case places[1] < 0:
		about.Kind, about.OldRows = tableRemoved, sides[0].Len()
		return c.tell(&about)
	case sides[0] == nil:
		return nil
	}
	rows := db2.Compare(sides[0].View, sides[1].View)
	if columns := about; len(rows.Only[0])+len(rows.Only[1]) > 0 {
		columns.Kind, columns.OldColumns, columns.NewColumns = columnsUncompared, rows.Only[0], rows.Only[1]
		if err := c.tell(&columns); err != nil {
			return err
		}
	}
	about.OldRows, about.NewRows = sides[0].hiddenRows(), sides[1].hiddenRows()
	if about.OldRows+about.NewRows > 0 {
		about.Kind = rowsUncompared
		if err := c.tell(&about); err != nil {
			return err
		}
	}
	for row, err := range rows.Rows() {
		if err == nil {
			err = c.ctx.Err()
		}
		if err == nil {
			err = c.row(of, &row, sides)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// open opens the tables at some places. Both are nil if their contents are the same.
func (c *comparison) open(places [2]int, sides *[2]*Opened) (err error) {
	var contents [2][]byte
	for i, at := range places {
		if at < 0 {
			continue
		}
		if contents[i], err = c.trees[i].tables[at].Read(c.ctx); err != nil {
			return err
		}
	}
	if places[0] >= 0 && places[1] >= 0 && bytes.Equal(contents[0], contents[1]) {
		return nil
	}
	for i, at := range places {
		if at < 0 {
			continue
		}
		if sides[i], err = c.trees[i].read(at, contents[i]); err != nil {
			return err
		}
	}
	return nil
}

// hiddenRows counts the rows that are left out since their key is missing.
func (o *Opened) hiddenRows() (n int) {
	for _, h := range o.Table.Hidden() {
		n += h.Rows
	}
	return n
}

// row tells of a row that differs.
func (c *comparison) row(of *TableDifference, row *db2.RowChange, sides [2]*Opened) (err error) {
	d := RowDifference{Kind: rowChanged, Path: fmt.Sprintf("%s/%d", of.Path, row.ID), Table: of.Table, ID: row.ID}
	switch {
	case row.Old < 0:
		d.Kind = rowAdded
		d.Row, err = sides[1].AppendRow(nil, db2.JSONLines, row.New)
	case row.New < 0:
		d.Kind = rowRemoved
		d.Row, err = sides[0].AppendRow(nil, db2.JSONLines, row.Old)
	}
	if err != nil {
		return err
	}
	d.Row = bytes.TrimSuffix(d.Row, []byte("\n"))
	for _, v := range row.Values {
		d.Values = append(d.Values, ValueDifference{v.Name, v.Old, v.New})
	}
	return c.tell(&d)
}
