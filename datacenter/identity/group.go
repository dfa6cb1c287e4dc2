package identity

import (
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/query"
)

// group is nodes of one name, called rows, and what distinguishes each from the others.
type group[N any] struct {
	nodes []N
	// first has the row of the first child of each parent, and then the number of all rows.
	first []int
	// sheets says that the rows are sheets. Sheets that nothing distinguishes count as one.
	sheets bool
	// without are attributes that no row goes by, unless they are keys or an id.
	without []string
	// choices has the set that the path of each row uses, as an index of sets; sets[0] is
	// empty. alone says that the set matches no other row.
	choices []uint16
	alone   []bool
	sets    []attributeSet
	// same has the rows that the set of a row matches, and hashes the hash of all rows in
	// such a list.
	same   map[int32][]int32
	hashes map[*int32]uint64
}

// attributeSet is the attributes in a predicate.
type attributeSet struct {
	names []string
	// given says that they are keys or an id, whose purpose is to identify nodes.
	given bool
}

// maxDefinitions is the largest number of key definitions that are tried for one group.
// Groups of real data centers have one.
const maxDefinitions = 4

// tell chooses what distinguishes each row from all others: keys, an id, or the first set of
// attributes that does. Keys and an id are used even if they match other rows too. For
// sheets, the set is chosen that matches the fewest.
func (g *group[N]) tell(tree PathTree[N]) error {
	c := &chooser[N]{group: g, table: g.table(tree), left: make([]int32, len(g.nodes)), hashes: make([]uint64, len(g.nodes))}
	c.counts = newCounts(len(g.nodes))
	c.open = len(g.nodes)
	for row := range c.left {
		c.left[row] = int32(len(g.nodes)) - 1
	}
	g.choices, g.alone, g.sets = make([]uint16, len(g.nodes)), make([]bool, len(g.nodes)), []attributeSet{{}}
	if err := c.given(tree); err != nil {
		return err
	}
	if len(g.nodes) == 1 {
		g.alone[0] = true
		return nil
	}
	if c.open == 0 {
		return nil
	}
	c.table.without = g.without
	if err := c.table.find(rankOther); err != nil {
		return err
	}
	for set := range c.table.sets() {
		if c.try(set, false, nil); c.open == 0 {
			break
		}
	}
	return nil
}

// table returns a table of the attributes of the rows.
func (g *group[N]) table(tree PathTree[N]) table {
	return table{rows: len(g.nodes), exact: true, each: func(row int, names []string, visit attributeVisitor) error {
		return visitNamed(tree, g.nodes[row], names, visit)
	}}
}

// chooser makes the choices of a group.
type chooser[N any] struct {
	*group[N]
	table  table
	left   []int32 // how many others the choice of each row matches
	open   int     // how many rows have a choice that matches others
	hashes []uint64
	counts *counts
}

// given tries keys, then an id.
func (c *chooser[N]) given(tree PathTree[N]) error {
	var defs []datacenter.KeyDefinition
	of := make([]int, len(c.nodes)) // the definition of each row
	for row, n := range c.nodes {
		def := tree.Keys(n)
		of[row] = slices.IndexFunc(defs, func(d datacenter.KeyDefinition) bool { return slices.Equal(d, def) })
		if of[row] < 0 && len(defs) < maxDefinitions && len(def) > 0 {
			of[row] = len(defs)
			defs = append(defs, def)
		}
	}
	for i, def := range defs {
		if err := c.tryNames(def, func(row int) bool { return of[row] == i }); err != nil {
			return err
		}
	}
	if c.open == 0 {
		return nil
	}
	return c.tryNames([]string{idName}, nil)
}

func (c *chooser[N]) tryNames(names []string, fits func(row int) bool) error {
	if err := c.table.fill(names); err != nil {
		return err
	}
	set := make(columnSet, len(names))
	for i := range set {
		set[i] = uint8(i)
	}
	c.try(set, true, fits)
	return nil
}

// try chooses a set for those rows for which it is better than their choice so far.
func (c *chooser[N]) try(set columnSet, given bool, fits func(row int) bool) {
	c.table.hash(set, c.hashes)
	c.counts.count(c.hashes)
	choice, used := uint16(len(c.sets)), false
	for row, h := range c.hashes {
		if c.alone[row] || h == 0 || fits != nil && !fits(row) {
			continue
		}
		others := c.counts.of(h) - 1
		switch {
		case others == 0, given && c.choices[row] == 0, (given || c.sheets) && others < c.left[row]:
			c.choices[row], c.left[row], used = choice, others, true
		}
		if others == 0 {
			c.alone[row] = true
			c.open--
		}
	}
	if used {
		s := attributeSet{given: given}
		for _, i := range set {
			s.names = append(s.names, c.table.columns[i].name)
		}
		c.sets = append(c.sets, s)
	}
}

// goesBy reports whether the path of a row uses an attribute with one of some names that is
// neither a key nor an id.
func (g *group[N]) goesBy(row int, names []string) bool {
	set := &g.sets[g.choices[row]]
	return !set.given && slices.ContainsFunc(set.names, func(name string) bool { return slices.Contains(names, name) })
}

// predicate returns the predicate of a row, and all rows that match it.
func (g *group[N]) predicate(tree PathTree[N], row int) (predicate []byte, same []int32, err error) {
	set := g.sets[g.choices[row]]
	if predicate, err = appendPredicate(nil, tree, g.nodes[row], set.names); err != nil {
		return nil, nil, err
	}
	if g.alone[row] {
		return predicate, []int32{int32(row)}, nil
	}
	same, err = g.like(tree, row, set)
	return predicate, same, err
}

// like returns the rows whose attributes of a set are equal to those of a row.
func (g *group[N]) like(tree PathTree[N], row int, set attributeSet) ([]int32, error) {
	if same, ok := g.same[int32(row)]; ok {
		return same, nil
	}
	t := g.table(tree)
	if err := t.fill(set.names); err != nil {
		return nil, err
	}
	columns := make(columnSet, len(set.names))
	for i := range columns {
		columns[i] = uint8(i)
	}
	hashes := make([]uint64, t.rows)
	t.hash(columns, hashes)
	var same []int32
	for other, h := range hashes {
		if h == hashes[row] {
			same = append(same, int32(other))
		}
	}
	for _, other := range same {
		if g.choices[other] == g.choices[row] {
			g.same[other] = same
		}
	}
	return same, nil
}

// appendPredicate appends a predicate for the attributes of n with some names.
func appendPredicate[N any](dst []byte, tree Tree[N], n N, names []string) ([]byte, error) {
	if len(names) == 0 {
		return dst, nil
	}
	values := make([][]byte, len(names))
	err := visitNamed(tree, n, names, func(name string, typ datacenter.Type, text []byte) {
		i := slices.Index(names, name)
		switch {
		case i < 0:
		case typ == datacenter.String || typ == 0:
			values[i] = query.AppendText(nil, string(text))
		default:
			values[i] = slices.Clone(text)
		}
	})
	for i, name := range names {
		if i == 0 {
			dst = append(dst, '[')
		} else {
			dst = append(dst, " and "...)
		}
		dst = append(dst, '@')
		dst = query.AppendName(dst, name)
		dst = append(dst, '=')
		dst = append(dst, values[i]...)
	}
	return append(dst, ']'), err
}

// counts counts hashes. It is a hash table of a fixed size, which is reused.
type counts struct {
	hashes []uint64
	times  []int32
}

func newCounts(n int) *counts {
	size := 4
	for size < 2*n {
		size *= 2
	}
	return &counts{make([]uint64, size), make([]int32, size)}
}

// slot returns the index of a hash, or where to put it.
func (c *counts) slot(h uint64) int {
	mask := uint64(len(c.hashes) - 1)
	at := h * golden >> 20 & mask
	for c.times[at] != 0 && c.hashes[at] != h {
		at = (at + 1) & mask
	}
	return int(at)
}

// count counts hashes again from the start, without zeros.
func (c *counts) count(hashes []uint64) {
	clear(c.times)
	for _, h := range hashes {
		if h != 0 {
			at := c.slot(h)
			c.hashes[at] = h
			c.times[at]++
		}
	}
}

func (c *counts) of(h uint64) int32 { return c.times[c.slot(h)] }
