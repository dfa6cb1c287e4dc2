package table

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/treepath"
	"lorefs/internal/tabular"
)

// maxTables is the largest number of tables of a file. A real one has 3,428. With shared runs a
// small file can have any number of paths.
const maxTables = 1 << 16

// Table is the table of a path. It is safe for parallel use.
type Table struct {
	// Path is the path of the table's files without their ending: ItemData/Item. No two tables
	// have the same one, also where upper and lower case are the same.
	Path string

	file *datacenter.File
	up   *Table // nil for a table of sheets
	// name is the index of the last name of the path, and below has the tables by the next one.
	name  uint16
	below map[uint16]*Table
	// attrs are the indexes of the attributes' names, and seen has them as a set.
	attrs []uint16
	seen  map[uint16]bool
	// keys are the indexes of the names by which nodes are looked up. defined are the key
	// definitions that they are from.
	keys    []uint16
	defined map[uint16]bool
}

// Find returns the tables of a file: each before those below it, by their names. The error is [datacenter.ErrTooLarge] if there are too many.
func Find(ctx context.Context, f *datacenter.File) ([]*Table, error) {
	names, err := treepath.NewNames(f)
	if err != nil {
		return nil, err
	}
	own := f.Private(datacenter.MostPrivate)
	root, err := own.Root()
	if err != nil {
		return nil, err
	}
	top := &Table{below: map[uint16]*Table{}}
	s := survey{ctx: ctx, file: f, names: names, runs: map[runOfTable]bool{}}
	for sheet, err := range root.Children() {
		if err != nil {
			return nil, err
		}
		t, err := s.child(top, sheet)
		if err != nil {
			return nil, err
		}
		if err := s.node(sheet, t); err != nil {
			return nil, err
		}
	}
	var all []*Table
	for _, t := range top.sorted(names) {
		t.up = nil
		all = t.finish(all, names)
	}
	setPaths(top, names)
	return all, nil
}

// survey learns the tables of a file.
type survey struct {
	ctx    context.Context //nolint:containedctx // only lives during Find
	file   *datacenter.File
	names  *treepath.Names
	tables int
	// runs are the runs of children that are known, of those that can be met again on a path.
	runs  map[runOfTable]bool
	attrs []datacenter.Attribute
}

type runOfTable struct {
	*Table
	datacenter.Run
}

// child returns the table for a child of the nodes of t.
func (s *survey) child(t *Table, c datacenter.Node) (*Table, error) {
	name := c.NameIndex()
	if of := t.below[name]; of != nil {
		return of, nil
	}
	if s.tables++; s.tables > maxTables {
		return nil, fmt.Errorf("table: the data center has more than %d paths: %w", maxTables, datacenter.ErrTooLarge)
	}
	of := &Table{
		file: s.file, up: t, name: name,
		below: map[uint16]*Table{}, seen: map[uint16]bool{}, defined: map[uint16]bool{},
	}
	t.below[name] = of
	return of, nil
}

// node learns a node of t and all below it.
func (s *survey) node(n datacenter.Node, t *Table) (err error) {
	if s.attrs, err = n.AppendAttributes(s.attrs[:0], func(a datacenter.Attribute) bool { return !t.seen[a.NameIndex()] }); err != nil {
		return err
	}
	for _, a := range s.attrs {
		t.seen[a.NameIndex()] = true
		t.attrs = append(t.attrs, a.NameIndex())
	}
	if !t.defined[n.KeyIndex()] {
		t.define(n, s.names)
	}
	if n.ChildCount() == 0 {
		return nil
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	// What has one place in the file is met once on each path, without being remembered.
	again, key := n.SharesChildren() || n.IsShared(), runOfTable{t, n.ChildRun()}
	if again && s.runs[key] {
		return nil
	}
	for c, err := range n.Children() {
		if err != nil {
			return err
		}
		of, err := s.child(t, c)
		if err != nil {
			return err
		}
		if err := s.node(c, of); err != nil {
			return err
		}
	}
	if again {
		s.runs[key] = true
	}
	return nil
}

// define learns the key definition of a node.
func (t *Table) define(n datacenter.Node, names *treepath.Names) {
	t.defined[n.KeyIndex()] = true
	for _, name := range n.Keys() {
		if i := names.Index(name); !slices.Contains(t.keys, i) {
			t.keys = append(t.keys, i)
		}
	}
}

// finish puts a table and those below it behind others, and drops what only the survey needs.
func (t *Table) finish(all []*Table, names *treepath.Names) []*Table {
	slices.Sort(t.attrs)
	text := names.Index(spell.ValueName)
	if i := slices.Index(t.attrs, text); i >= 0 {
		t.attrs = append(slices.Delete(t.attrs, i, i+1), text)
	}
	t.keys = slices.DeleteFunc(t.keys, func(i uint16) bool { return !t.seen[i] })
	if id := names.Index("id"); len(t.keys) == 0 && t.seen[id] {
		t.keys = []uint16{id}
	}
	all = append(all, t)
	for _, of := range t.sorted(names) {
		all = of.finish(all, names)
	}
	t.seen, t.defined = nil, nil
	return all
}

// sorted returns the tables below in the order of their names.
func (t *Table) sorted(names *treepath.Names) []*Table {
	list := make([]*Table, 0, len(t.below))
	for _, of := range t.below {
		list = append(list, of)
	}
	slices.SortFunc(list, func(a, b *Table) int { return strings.Compare(names.Escaped(a.name), names.Escaped(b.name)) })
	return list
}

// setPaths names the files of the tables below t. A table has a file and, if there are tables
// below it, a folder: none of them is like one of its neighbours, in whatever case and with
// whatever ending.
func setPaths(t *Table, names *treepath.Names) {
	taken := map[string]bool{}
	for _, of := range t.sorted(names) {
		name := names.Escaped(of.name)
		for n := 2; collides(taken, name); n++ {
			name = fmt.Sprintf("%s~%d", names.Escaped(of.name), n)
		}
		for _, ending := range endings {
			taken[strings.ToLower(name+ending)] = true
		}
		if of.Path = name; t.Path != "" {
			of.Path = t.Path + "/" + name
		}
		setPaths(of, names)
		of.below = nil
	}
}

// endings are those of a table's folder and of its files.
var endings = func() []string {
	list := []string{""}
	for _, word := range tabular.Words {
		list = append(list, "."+word)
	}
	return list
}()

func collides(taken map[string]bool, name string) bool {
	return slices.ContainsFunc(endings, func(ending string) bool { return taken[strings.ToLower(name+ending)] })
}
