package table

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"lorefs/datacenter"
	"lorefs/internal/tabular"
)

// line returns the tables from that of the sheets down to t.
func (t *Table) line() (line []*Table) {
	for ; t != nil; t = t.up {
		line = append(line, t)
	}
	slices.Reverse(line)
	return line
}

// Columns returns the names of the columns, as WTF-8.
func (t *Table) Columns() []string {
	names := t.file.Names()
	taken := map[string]bool{}
	for _, i := range t.attrs {
		taken[strings.ToLower(names[i-1])] = true
	}
	ours := []string{"_row"}
	if t.up != nil {
		ours = append(ours, "_parent", "_sheet")
	}
	for _, above := range t.line() {
		for _, i := range above.keys {
			if above != t {
				ours = append(ours, "_"+names[above.name-1]+"_"+names[i-1])
			}
		}
	}
	columns := make([]string, 0, len(ours)+len(t.attrs))
	for _, name := range ours {
		for taken[strings.ToLower(name)] {
			name = "_" + name
		}
		taken[strings.ToLower(name)] = true
		columns = append(columns, name)
	}
	for _, i := range t.attrs {
		columns = append(columns, names[i-1])
	}
	return columns
}

// Written tells what became of a table.
type Written struct {
	Rows int64
	// Broken is how many texts have U+FFFD in the place of half of a surrogate pair.
	Broken int64
}

// blocks is how many blocks of the file a table that is being written remembers.
const blocks = 16

// Write writes the table to w.
func (t *Table) Write(ctx context.Context, w io.Writer, f tabular.Format) (Written, error) {
	own := t.file.Private(blocks)
	root, err := own.Root()
	if err != nil {
		return Written{}, err
	}
	line := t.line()
	wr := writer{
		ctx: ctx, line: line, out: tabular.NewWriter(w, f, t.Columns()),
		rows: make([]int64, len(line)), above: make([]ancestor, len(line)),
		places: make([]int, len(own.Names())+1), cells: make([]Cell, len(t.attrs)),
	}
	for place, name := range t.attrs {
		wr.places[name] = place
	}
	if err := wr.level(root, 0); err != nil {
		return Written{}, fmt.Errorf("table %s: %w", t.Path, err)
	}
	return Written{wr.out.Rows(), wr.out.Broken()}, wr.out.End()
}

// Cell is the value of an attribute in a row, which may have none.
type Cell struct {
	datacenter.Attribute
	Has bool
}

// Put writes the cell to a table. It uses and returns a buffer.
func (c *Cell) Put(w *tabular.Writer, buf []byte) (_ []byte, err error) {
	if !c.Has {
		w.Absent()
		return buf, nil
	}
	if w.Format().IsJSON() {
		buf, err = c.AppendJSON(buf[:0])
		w.Plain(buf)
		return buf, err
	}
	if buf, err = c.AppendText(buf[:0]); c.Type() == datacenter.String {
		w.Text(buf)
	} else {
		w.Plain(buf)
	}
	return buf, err
}

// writer writes one table.
type writer struct {
	ctx  context.Context //nolint:containedctx // only lives during Write
	line []*Table
	out  *tabular.Writer
	// rows counts the nodes of each level so far, and above are those on the path.
	rows  []int64
	above []ancestor
	// places has the place of each attribute among the cells, by the index of its name.
	places []int
	cells  []Cell
	attrs  []datacenter.Attribute
	buf    []byte
}

// ancestor is a node on the path. Its keys are read when the first row below it needs them.
type ancestor struct {
	datacenter.Node
	known bool
	keys  []Cell
}

// level writes what is below n, a node at a depth.
func (w *writer) level(n datacenter.Node, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	name, first, sorted := w.line[depth].name, 0, n.Sorted()
	if sorted && n.ChildCount() > fewChildren {
		c, ok, err := n.ChildNamed(name, 0)
		if err != nil || !ok {
			return err
		}
		first = n.ChildIndex(c)
	}
	for c, err := range n.ChildrenFrom(first) {
		if err != nil {
			return err
		}
		if sorted && c.NameIndex() > name {
			break
		}
		if c.NameIndex() != name {
			continue
		}
		if err := w.node(c, depth); err != nil {
			return err
		}
	}
	return nil
}

// fewChildren are read faster than they are searched.
const fewChildren = 16

// node writes the row of a node, or what is below it.
func (w *writer) node(n datacenter.Node, depth int) error {
	w.rows[depth]++
	switch {
	case depth == len(w.line)-1:
		return w.row(n)
	case n.ChildCount() == 0:
		return nil
	}
	a := &w.above[depth]
	a.Node, a.known = n, false
	return w.level(n, depth+1)
}

func (w *writer) row(n datacenter.Node) (err error) {
	last := len(w.rows) - 1
	w.number(w.rows[last] - 1)
	if last > 0 {
		w.number(w.rows[last-1] - 1)
		w.number(w.rows[0] - 1)
	}
	for i := range w.above[:last] {
		if err := w.keys(&w.above[i], w.line[i].keys); err != nil {
			return err
		}
	}
	clear(w.cells)
	if w.attrs, err = n.AppendAttributes(w.attrs[:0], nil); err != nil {
		return err
	}
	for _, a := range w.attrs {
		w.cells[w.places[a.NameIndex()]] = Cell{a, true}
	}
	if err := w.put(w.cells); err != nil {
		return err
	}
	return w.out.EndRow()
}

func (w *writer) number(n int64) {
	w.buf = strconv.AppendInt(w.buf[:0], n, 10)
	w.out.Plain(w.buf)
}

// keys writes the keys of a node above.
func (w *writer) keys(a *ancestor, names []uint16) (err error) {
	if !a.known {
		a.known, a.keys = true, a.keys[:0]
		for _, name := range names {
			var c Cell
			if c.Attribute, c.Has, err = a.Attribute(name); err != nil {
				return err
			}
			a.keys = append(a.keys, c)
		}
	}
	return w.put(a.keys)
}

func (w *writer) put(cells []Cell) (err error) {
	for i := range cells {
		if w.buf, err = cells[i].Put(w.out, w.buf); err != nil {
			return err
		}
	}
	return nil
}
