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
	// differing are the attributes that differ between rows, the most likely ones first, if
	// isSurveyed.
	differing  []string
	isSurveyed bool
	choices
	// given are the choices of keys and an id alone.
	given choices
	// same has by choice which rows a set matches.
	same map[uint16]*likeness
}

// choices say what distinguishes each row.
type choices struct {
	// of has the set that the path of each row uses, as an index of sets; sets[0] is empty.
	// others is how many other rows it matches.
	of     []uint16
	others []int32
	sets   []attributeSet
	// open is the number of rows whose set matches others.
	open int
}

func newChoices(rows int) choices {
	return choices{of: make([]uint16, rows), others: slices.Repeat([]int32{int32(rows) - 1}, rows), sets: []attributeSet{{}}, open: rows}
}

func (c *choices) clone() choices {
	return choices{slices.Clone(c.of), slices.Clone(c.others), slices.Clone(c.sets), c.open}
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

// newGroup returns a group. It chooses what distinguishes each row from all others: keys, an id,
// or the first set of attributes that does. Keys and an id are used even if they match other rows
// too. For sheets, the set is chosen that matches the fewest.
func newGroup[N any](tree PathTree[N], room *room, nodes []N, first []int, sheets bool) (*group[N], error) {
	g := &group[N]{nodes: nodes, first: first, sheets: sheets}
	if len(nodes) == 1 {
		names, err := givenNames(tree, nodes[0])
		g.choices = choices{of: []uint16{0}, others: []int32{0}, sets: []attributeSet{{names: names, given: true}}}
		return g, err
	}
	g.choices = newChoices(len(nodes))
	c := newChooser(g, tree, room)
	if err := c.tryGiven(tree); err != nil {
		return nil, err
	}
	if g.open > 0 {
		g.given = g.clone()
	}
	return g, c.tryDiffering(nil)
}

// givenNames returns the names of a node's keys, or of an id, if their values can be in a path.
func givenNames[N any](tree PathTree[N], n N) ([]string, error) {
	keys := tree.Keys(n)
	wanted, found := append(slices.Clip(keys), idName), make([]bool, len(keys)+1)
	err := visitNamed(tree, n, wanted, func(name string, typ datacenter.Type, text []byte) {
		if i := slices.Index(wanted, name); i >= 0 && Sayable(typ, text) {
			found[i] = true
			found[len(keys)] = found[len(keys)] || name == idName
		}
	})
	switch {
	case err != nil:
		return nil, err
	case len(keys) > 0 && !slices.Contains(found[:len(keys)], false):
		return keys, nil
	case found[len(keys)]:
		return []string{idName}, nil
	}
	return nil, nil
}

// without returns the group with other choices: no row goes by one of some attributes, unless
// they are keys or an id.
func (g *group[N]) without(tree PathTree[N], room *room, names []string) (*group[N], error) {
	other := &group[N]{nodes: g.nodes, first: g.first, sheets: g.sheets, differing: g.differing, isSurveyed: true, choices: g.given.clone()}
	return other, newChooser(other, tree, room).tryDiffering(names)
}

// chooser makes the choices of a group.
type chooser[N any] struct {
	*group[N]
	table table
}

func newChooser[N any](g *group[N], tree PathTree[N], room *room) *chooser[N] {
	room.tidy()
	room.hashes = resized(room.hashes, len(g.nodes))
	room.counts.resize(len(g.nodes))
	return &chooser[N]{group: g, table: table{room: room, rows: rowsOf(tree, g.nodes), count: len(g.nodes)}}
}

// tryGiven tries keys, then an id.
func (c *chooser[N]) tryGiven(tree PathTree[N]) error {
	var defs []datacenter.KeyDefinition
	of := make([]int8, len(c.nodes)) // the definition of each row
	names := []string{idName}
	for row, n := range c.nodes {
		def := tree.Keys(n)
		i := slices.IndexFunc(defs, func(d datacenter.KeyDefinition) bool { return slices.Equal(d, def) })
		if i < 0 && len(defs) < maxDefinitions && len(def) > 0 {
			i = len(defs)
			defs = append(defs, def)
			for _, name := range def {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		of[row] = int8(i)
	}
	if err := c.survey(names, len(defs) > 0); err != nil {
		return err
	}
	for i, def := range defs {
		var set columnSet
		for _, name := range def {
			if at := uint8(slices.Index(names, name)); !slices.Contains(set, at) {
				set = append(set, at)
			}
		}
		if len(set) == len(def) {
			c.try(set, true, func(row int) bool { return of[row] == int8(i) })
		}
	}
	if c.open > 0 {
		c.try(columnSet{0}, true, nil)
	}
	return nil
}

// survey makes the columns of some names. Unless keys will probably do, it finds out which
// attributes differ.
func (c *chooser[N]) survey(names []string, byKeys bool) (err error) {
	if byKeys {
		return c.table.fill(names)
	}
	c.differing, err = c.table.survey(names, rankOther)
	c.isSurveyed = true
	return err
}

// tryDiffering tries sets of the attributes that differ, but for those with some names.
func (c *chooser[N]) tryDiffering(without []string) error {
	if c.open == 0 {
		return nil
	}
	if !c.isSurveyed {
		if err := c.survey(nil, false); err != nil {
			return err
		}
	}
	names := slices.DeleteFunc(slices.Clone(c.differing), func(name string) bool { return slices.Contains(without, name) })
	if err := c.table.fill(names); err != nil {
		return err
	}
	for set := range c.table.sets() {
		if c.try(set, false, nil); c.open == 0 {
			break
		}
	}
	return nil
}

// try chooses a set for those rows for which it is better than their choice so far.
func (c *chooser[N]) try(set columnSet, given bool, fits func(row int) bool) {
	hashes, counts := c.table.hashes, &c.table.counts
	c.table.hash(set, hashes)
	counts.count(hashes)
	choice, used := uint16(len(c.sets)), false
	for row, h := range hashes {
		if c.others[row] == 0 || h == 0 || fits != nil && !fits(row) {
			continue
		}
		others := counts.of(h) - 1
		switch {
		case others == 0, given && c.of[row] == 0, (given || c.sheets) && others < c.others[row]:
			c.of[row], c.others[row], used = choice, others, true
		}
		if others == 0 {
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
	set := &g.sets[g.of[row]]
	return !set.given && slices.ContainsFunc(set.names, func(name string) bool { return slices.Contains(names, name) })
}

// predicate returns the predicate of a row, and all rows that match it.
func (g *group[N]) predicate(tree PathTree[N], room *room, row int) (predicate []byte, same []int32, err error) {
	set := g.sets[g.of[row]]
	if predicate, err = appendPredicate(nil, tree, g.nodes[row], set.names); err != nil {
		return nil, nil, err
	}
	if g.others[row] == 0 {
		return predicate, []int32{int32(row)}, nil
	}
	same, err = g.like(tree, room, row)
	return predicate, same, err
}

// like returns the rows whose attributes of a set are equal to those of a row.
func (g *group[N]) like(tree PathTree[N], room *room, row int) ([]int32, error) {
	choice := g.of[row]
	l := g.same[choice]
	if l == nil {
		t := table{room: room, rows: rowsOf(tree, g.nodes), count: len(g.nodes)}
		if err := t.fill(g.sets[choice].names); err != nil {
			return nil, err
		}
		set := make(columnSet, len(t.columns))
		for i := range set {
			set[i] = uint8(i)
		}
		l = &likeness{hashes: make([]uint64, t.count), rows: map[uint64][]int32{}}
		t.hash(set, l.hashes)
		for other, h := range l.hashes {
			l.rows[h] = append(l.rows[h], int32(other))
		}
		if g.same == nil {
			g.same = map[uint16]*likeness{}
		}
		g.same[choice] = l
	}
	return l.rows[l.hashes[row]], nil
}

// likeness says which rows a set of attributes does not distinguish.
type likeness struct {
	hashes []uint64 // of each row
	rows   map[uint64][]int32
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

// counts counts hashes. It is a hash table of a fixed size.
type counts struct {
	hashes []uint64
	times  []int32
}

// resize makes room for n hashes.
func (c *counts) resize(n int) {
	size := 4
	for size < 2*n {
		size *= 2
	}
	c.hashes, c.times = resized(c.hashes, size), resized(c.times, size)
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
