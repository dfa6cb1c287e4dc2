package query

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/table"
	"lorefs/datacenter/treepath"
	"lorefs/internal/tabular"
)

// Rows are the rows of a table of what a query finds.
type Rows struct {
	query      *Query
	evaluation *evaluation
	path       *treepath.Path
	// columns are those of the table, then those that it is sorted by, of which there are order.
	columns []boundColumn
	order   int
	names   []string
	// wanted are the indexes of the names of a node's own attributes that are columns, and own
	// are those of a node.
	wanted []bool
	own    []datacenter.Attribute
}

// Row is one of the rows.
type Row struct{ cells []rowCell }

// rowCell is a cell of a row: text, if there is no attribute but a function.
type rowCell struct {
	table.Cell
	text string
	is   function
}

// Put writes the cells of a row to a table.
func (r *Row) Put(w *tabular.Writer, buf []byte) (_ []byte, err error) {
	for i := range r.cells {
		c := &r.cells[i]
		if c.is == noFunction {
			buf, err = c.Put(w, buf)
		} else {
			buf = append(buf[:0], c.text...)
			w.Text(buf)
		}
		if err != nil {
			return buf, err
		}
	}
	return buf, w.EndRow()
}

// boundColumn is a column with what it takes to find its value in a file.
type boundColumn struct {
	*column
	// attribute is the index of an attribute's name, 0 if the file does not have it; search
	// finds one below the node.
	attribute uint16
	search    *searcher
	found     datacenter.Attribute
}

// Rows returns the rows of a table of what q finds in a file, in the order of a walk or, if sorted
// is not nil, in that one: what has no value is first, then numbers, then texts. A table with all
// attributes takes a walk to know them.
func (q *Query) Rows(ctx context.Context, f *datacenter.File, columns, sorted *Columns) (*Rows, error) {
	names, err := treepath.NewNames(f)
	if err != nil {
		return nil, err
	}
	r := &Rows{query: q, evaluation: &evaluation{ctx: ctx, file: f, names: names, memos: maxMemos}, path: treepath.NewPath(names), wanted: make([]bool, len(f.Names())+1)}
	for i := range columns.list {
		c := &columns.list[i]
		if c.function != allFunction {
			r.bind(c)
			continue
		}
		all, err := r.attributes()
		if err != nil {
			return nil, err
		}
		for _, name := range all {
			r.bind(&column{name: f.Names()[name-1], path: path{{attribute: true, name: f.Names()[name-1]}}})
		}
	}
	for i := range r.columns {
		r.names = append(r.names, r.columns[i].name)
	}
	if sorted != nil {
		r.order = len(sorted.list)
		for i := range sorted.list {
			r.bind(&sorted.list[i])
		}
	}
	return r, nil
}

// Names returns the names of the columns.
func (r *Rows) Names() []string { return r.names }

// bind adds a column.
func (r *Rows) bind(c *column) {
	b := boundColumn{column: c}
	switch {
	case len(c.path) == 1 && !c.path[0].deep:
		b.attribute = r.evaluation.names.Index(c.path[0].name)
		r.wanted[b.attribute] = true
	case len(c.path) > 0:
		b.search = r.evaluation.searcher([]path{c.path})
	}
	r.columns = append(r.columns, b)
	if s := b.search; s != nil {
		at := len(r.columns) - 1
		s.onAttribute = func(_ datacenter.Node, a datacenter.Attribute) bool {
			s.found++
			r.columns[at].found = a
			return false
		}
	}
}

// attributes returns the indexes of the names of all attributes of the nodes that the query finds,
// in order, with the text last.
func (r *Rows) attributes() ([]uint16, error) {
	seen := make([]bool, len(r.evaluation.file.Names())+1)
	var attrs []datacenter.Attribute
	err := r.each(func(n datacenter.Node, _ *datacenter.Attribute) (more bool) {
		attrs, r.evaluation.err = n.AppendAttributes(attrs[:0], func(a datacenter.Attribute) bool { return !seen[a.NameIndex()] })
		for _, a := range attrs {
			seen[a.NameIndex()] = true
		}
		return r.evaluation.err == nil
	})
	var all []uint16
	text := r.evaluation.names.Index(textName)
	for i, is := range seen {
		if is && uint16(i) != text {
			all = append(all, uint16(i))
		}
	}
	if seen[text] {
		all = append(all, text)
	}
	return all, err
}

// each calls visit for what the query finds: nodes, and attributes with the nodes that have them.
func (r *Rows) each(visit func(n datacenter.Node, a *datacenter.Attribute) bool) error {
	root, err := r.evaluation.file.Root()
	if err != nil {
		return err
	}
	s := r.evaluation.searcher(r.query.paths)
	s.path = r.path
	s.onNode = func(n datacenter.Node) bool {
		s.found++
		return visit(n, nil)
	}
	s.onAttribute = func(n datacenter.Node, a datacenter.Attribute) bool {
		s.found++
		return visit(n, &a)
	}
	s.start(root)
	return r.evaluation.err
}

// All yields the rows. One is valid until the next, unless they are sorted. An error comes last.
func (r *Rows) All() iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		if r.order > 0 {
			r.yieldSorted(yield)
			return
		}
		row := &Row{}
		stopped := false
		err := r.each(func(n datacenter.Node, a *datacenter.Attribute) bool {
			row.cells, r.evaluation.err = r.row(row.cells[:0], n, a)
			stopped = r.evaluation.err == nil && !yield(row, nil)
			return r.evaluation.err == nil && !stopped
		})
		if err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// row appends the cells of a row.
func (r *Rows) row(cells []rowCell, n datacenter.Node, a *datacenter.Attribute) ([]rowCell, error) {
	var err error
	if r.own, err = n.AppendAttributes(r.own[:0], func(a datacenter.Attribute) bool { return r.wanted[a.NameIndex()] }); err != nil {
		return cells, err
	}
	next := 0 // the columns are mostly in the order of the file
	for i := range r.columns {
		c := &r.columns[i]
		cell := rowCell{is: c.function}
		switch c.function {
		case pathFunction:
			cell.text, err = r.pathOf(n, a)
		case nameFunction:
			cell.text = n.Name()
			if a != nil {
				cell.text = a.Name()
			}
		case valueFunction:
			cell.is = noFunction
			if a != nil {
				cell.Cell = table.Cell{Attribute: *a, Has: true}
			} else {
				cell.Attribute, cell.Has, err = attributeNamed(n, r.evaluation.names.Index(textName))
			}
		default:
			if c.search != nil {
				err = c.find(r.evaluation, n, &cell.Cell)
			} else if at := r.ownAt(c.attribute, next); at >= 0 {
				cell.Cell, next = table.Cell{Attribute: r.own[at], Has: true}, at+1
			}
		}
		if err != nil {
			return cells, err
		}
		cells = append(cells, cell)
	}
	return cells, nil
}

func (r *Rows) pathOf(n datacenter.Node, a *datacenter.Attribute) (string, error) {
	if a == nil {
		return r.path.Node(), nil
	}
	return r.path.Attribute(n, a.NameIndex())
}

// ownAt returns the place of an attribute among those of the node, which is likely to be next, or -1.
func (r *Rows) ownAt(name uint16, next int) int {
	if next < len(r.own) && r.own[next].NameIndex() == name {
		return next
	}
	return slices.IndexFunc(r.own, func(a datacenter.Attribute) bool { return a.NameIndex() == name })
}

// find finds the attribute of a column below a node.
func (c *boundColumn) find(r *evaluation, n datacenter.Node, cell *table.Cell) error {
	c.search.found = 0
	c.search.start(n)
	cell.Attribute, cell.Has = c.found, c.search.found > 0
	return r.err
}

// sortedRow is a row and the values that it is sorted by.
type sortedRow struct {
	Row
	keys []sortKey
}

// sortKey is a value in an order that has numbers before texts, whatever their types. The first has
// rank 0, which is no value.
type sortKey struct {
	rank   int
	number float64
	text   string
}

func (r *Rows) yieldSorted(yield func(*Row, error) bool) {
	var rows []sortedRow
	shown := len(r.columns) - r.order
	err := r.each(func(n datacenter.Node, a *datacenter.Attribute) bool {
		var cells []rowCell
		if cells, r.evaluation.err = r.row(make([]rowCell, 0, len(r.columns)), n, a); r.evaluation.err != nil {
			return false
		}
		one := sortedRow{Row: Row{slices.Clone(cells[:shown])}, keys: make([]sortKey, r.order)}
		for i := range one.keys {
			if one.keys[i], r.evaluation.err = keyOf(&cells[shown+i]); r.evaluation.err != nil {
				return false
			}
		}
		rows = append(rows, one)
		return true
	})
	if err != nil {
		yield(nil, err)
		return
	}
	slices.SortStableFunc(rows, func(a, b sortedRow) int { return r.compare(a.keys, b.keys) })
	for i := range rows {
		if !yield(&rows[i].Row, nil) {
			return
		}
	}
}

func (r *Rows) compare(a, b []sortKey) int {
	for i := range a {
		order := cmp.Or(a[i].rank-b[i].rank, cmp.Compare(a[i].number, b[i].number), strings.Compare(a[i].text, b[i].text))
		if r.columns[len(r.columns)-r.order+i].falling {
			order = -order
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

func keyOf(c *rowCell) (k sortKey, err error) {
	if c.is == noFunction && !c.Has {
		return k, nil
	}
	text := c.text
	if c.is == noFunction {
		v, err := c.Value()
		if err != nil {
			return k, err
		}
		text = v.Text()
	}
	if number, ok := parseNumber(text); ok {
		return sortKey{rank: 1, number: number}, nil
	}
	return sortKey{rank: 2, text: text}, nil
}
