package identity

import (
	"github.com/cespare/xxhash/v2"

	"lorefs/datacenter"
)

// rows are nodes whose attributes a table compares.
type rows interface {
	// read appends the attributes of a row, the first of which is read first. names gives their
	// names numbers; attributes whose names have none are left out.
	read(dst []cell, row int, names *attributeNames) ([]cell, error)
	// hash returns a hash of the value of cell i of the row that was read last, or 0 if it can't
	// be used in a path.
	hash(i int) (uint64, error)
}

// cell is an attribute of a row.
type cell struct {
	name int // its number
	typ  datacenter.Type
	// raw is equal only for equal values of one type and one name.
	raw uint64
}

// rowser is a Tree that has rows without making texts of all values.
type rowser[N any] interface {
	rows(nodes []N) rows
}

// rowsOf returns nodes as rows whose values are compared as queries do.
func rowsOf[N any](tree Tree[N], nodes []N) rows {
	if t, ok := tree.(rowser[N]); ok {
		return t.rows(nodes)
	}
	return &treeRows[N]{tree: tree, nodes: nodes, hashOf: hashExactly}
}

// treeRows are rows that are nodes of any tree.
type treeRows[N any] struct {
	tree   Tree[N]
	nodes  []N
	hashOf func(typ datacenter.Type, text []byte) uint64
	cells  []cell // of the row that was read last
}

// read implements rows.
func (t *treeRows[N]) read(dst []cell, row int, names *attributeNames) ([]cell, error) {
	from := len(dst)
	err := t.tree.Attributes(t.nodes[row], func(name string, typ datacenter.Type, text []byte) {
		c := cell{name: names.index(name), typ: typ}
		if c.name < 0 {
			return
		}
		if Sayable(typ, text) {
			c.raw = t.hashOf(typ, text) | 1
		}
		dst = append(dst, c)
	})
	t.cells = dst[from:]
	return dst, err
}

// hash implements rows.
func (t *treeRows[N]) hash(i int) (uint64, error) { return t.cells[i].raw, nil }

// twoRows are rows behind others.
type twoRows struct {
	rows  // those that were read last
	first rows
	count int // of first
	then  rows
}

// read implements rows.
func (t *twoRows) read(dst []cell, row int, names *attributeNames) ([]cell, error) {
	if t.rows = t.first; row >= t.count {
		t.rows, row = t.then, row-t.count
	}
	return t.rows.read(dst, row, names)
}

// hashExactly returns a hash of a value that is equal if queries find values equal.
func hashExactly(typ datacenter.Type, text []byte) uint64 {
	if typ == datacenter.String || typ == 0 {
		return xxhash.Sum64(text)
	}
	return hashValue(typ, text)
}
