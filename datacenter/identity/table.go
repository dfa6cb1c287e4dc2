package identity

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lorefs/datacenter"
)

const (
	// maxColumns is the largest number of attributes that a table tries, and maxSet of those
	// in a set.
	maxColumns = 10
	maxSet     = 3
	// maxText is the length in characters of the longest text that is used in a path.
	maxText = 120
)

// table holds the attributes that may distinguish some nodes.
type table struct {
	*room
	rows    rows
	count   int // of rows
	columns []column
}

// room is memory for a table, which the next table can use again.
type room struct {
	names    attributeNames
	surveyed []surveyed
	cells    []cell
	values   []uint64 // of all columns
	hashes   []uint64
	counts   counts
}

// maxRoom is the largest number of rows, times columns, for which room is kept.
const maxRoom = 1 << 16

// tidy drops what is too large to be kept.
func (r *room) tidy() {
	if cap(r.values) > maxRoom || len(r.names.list) > maxRoom {
		*r = room{}
	}
}

// resized returns a slice of a length, with anything in it.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// column has the values of one attribute.
type column struct {
	name string
	// hashes has a hash for each row, or 0 if its value can't be used in a path.
	hashes []uint64
}

// The ranks of names, see Rank.
const (
	rankID = iota
	rankIndex
	rankKey
	rankName
	rankOther
)

// Rank returns how likely it is that an attribute identifies nodes. Attributes of one rank
// are tried in the order of their names.
func Rank(name string) int {
	for rank, suffix := range [...]string{rankID: "Id", rankIndex: "Index", rankKey: "Key", rankName: "Name"} {
		if strings.HasSuffix(name, suffix) || strings.EqualFold(name, suffix) {
			return rank
		}
	}
	return rankOther
}

// Sayable reports whether a value can be used in a path that people read.
func Sayable(typ datacenter.Type, text []byte) bool {
	switch typ {
	case datacenter.Int, datacenter.Bool:
		return true
	case datacenter.Float: // NaN equals nothing, and a query can't spell infinity
		return !bytes.ContainsAny(text, "NI")
	}
	count := 0
	for i := 0; i < len(text); count++ {
		c, size := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			if c, size = utf8.DecodeRune(text[i:]); c == utf8.RuneError && size == 1 {
				return false
			}
		}
		if count == maxText || unicode.IsControl(c) {
			return false
		}
		i += size
	}
	return true
}

// survey makes the columns of some names, which differ from each other. It returns the names of
// the attributes up to a rank that differ between rows, the most likely ones first. They are
// ints and strings: floats are measured, so they rarely identify anything.
//
// An attribute with values of two types has no column, since a query may find values equal that
// are not.
func (t *table) survey(wanted []string, rank int) (differing []string, err error) {
	names, list := &t.names, t.surveyed[:0]
	names.reset()
	t.columns, t.values = t.columns[:0], resized(t.values, len(wanted)*t.count)
	clear(t.values)
	for i, name := range wanted {
		names.index(name)
		t.columns = append(t.columns, column{name, t.values[i*t.count : (i+1)*t.count]})
		list = append(list, surveyed{counts: Rank(name) <= rank})
	}
	names.closed = rank < 0 // no other name counts
	defer func() { t.surveyed = list }()
	for row := range t.count {
		cells, err := t.rows.read(t.cells[:0], row, names)
		if err != nil {
			return nil, err
		}
		t.cells = cells
		for len(list) < len(names.list) {
			list = append(list, surveyed{counts: Rank(names.list[len(list)]) <= rank})
		}
		for i := range cells {
			c := &cells[i]
			a := &list[c.name]
			if c.name >= len(wanted) && !a.needs(c) {
				continue
			}
			if a.last != *c {
				if a.hash, err = t.rows.hash(i); err != nil {
					return nil, err
				}
				a.last = *c
			}
			if a.hash == 0 {
				continue
			}
			if c.name < len(wanted) {
				t.columns[c.name].hashes[row] = a.hash
				a.see(c.typ)
			}
			if a.needs(c) {
				a.add()
			}
		}
	}
	for i, a := range list {
		if i < len(wanted) && a.mixed {
			clear(t.columns[i].hashes)
		}
		if a.vary || a.rows > 0 && a.rows < t.count {
			differing = append(differing, names.list[i])
		}
	}
	slices.SortFunc(differing, func(x, y string) int {
		return cmp.Or(cmp.Compare(Rank(x), Rank(y)), strings.Compare(x, y))
	})
	return differing, nil
}

// fill makes the columns of some names, or of the first if they are too many.
func (t *table) fill(names []string) error {
	if len(names) == 0 {
		t.columns = nil
		return nil
	}
	_, err := t.survey(names[:min(len(names), maxColumns)], -1)
	return err
}

// surveyed tells what a survey has found out about an attribute.
type surveyed struct {
	// counts says that it matters whether the attribute differs between rows, and vary that it
	// does: then no more of its values are read. rows is the number of rows that have it, and
	// first the hash in the first of these.
	counts, vary bool
	rows         int
	first        uint64
	// typ is the type in a column, and mixed says that there are several.
	typ   datacenter.Type
	mixed bool
	// last is the value whose hash was computed last.
	last cell
	hash uint64
}

// needs reports whether it matters which value a cell has.
func (a *surveyed) needs(c *cell) bool {
	return a.counts && !a.vary && c.typ != datacenter.Float && c.typ != datacenter.Bool
}

func (a *surveyed) add() {
	if a.rows == 0 {
		a.first = a.hash
	}
	a.rows++
	a.vary = a.hash != a.first
}

func (a *surveyed) see(typ datacenter.Type) {
	a.typ = cmp.Or(a.typ, typ)
	a.mixed = a.mixed || typ != 0 && typ != a.typ
}

// attributeNames numbers names of attributes. It is quick where nodes have the same attributes
// in the same order, as siblings mostly do.
type attributeNames struct {
	list []string
	// closed says that there are no new names.
	closed  bool
	indexes map[string]int
	// next has for each name the index of the one that was asked for after it, and last is the
	// index of the last one.
	next []int
	last int
}

// reset forgets all names.
func (a *attributeNames) reset() {
	clear(a.indexes)
	a.list, a.next, a.closed = a.list[:0], a.next[:0], false
}

// index returns the number of a name. A new name has the next number, or -1 if there are no new ones.
func (a *attributeNames) index(name string) int {
	if a.closed { // they are few
		return slices.Index(a.list, name)
	}
	if len(a.list) == 0 {
		if a.indexes == nil {
			a.indexes = map[string]int{}
		}
		a.list, a.next, a.last = append(a.list, name), append(a.next, 0), 0
		a.indexes[name] = 0
		return 0
	}
	i := a.next[a.last]
	if a.list[i] != name {
		var ok bool
		if i, ok = a.indexes[name]; !ok {
			i = len(a.list)
			a.list, a.next = append(a.list, name), append(a.next, 0)
			a.indexes[name] = i
		}
		a.next[a.last] = i
	}
	a.last = i
	return i
}

// columnSet is a set of columns, by their ascending indexes.
type columnSet []uint8

// sets yields the sets of up to maxSet columns, the smaller ones first. A set is valid until
// the next.
func (t *table) sets() iter.Seq[columnSet] {
	return func(yield func(columnSet) bool) {
		var set columnSet
		var grow func(from, size int) bool
		grow = func(from, size int) bool {
			if size == 0 {
				return yield(set)
			}
			for i := from; i < len(t.columns); i++ {
				set = append(set, uint8(i))
				more := grow(i+1, size-1)
				set = set[:len(set)-1]
				if !more {
					return false
				}
			}
			return true
		}
		for size := range maxSet {
			if !grow(0, size+1) {
				return
			}
		}
	}
}

// hash computes the hashes of a set of columns for all rows, 0 for rows that lack one of
// them.
func (t *table) hash(set columnSet, hashes []uint64) {
	for row := range hashes {
		sum := uint64(golden)
		for _, i := range set {
			h := t.columns[i].hashes[row]
			if h == 0 {
				sum = 0
				break
			}
			sum = mix(sum, h) | 1
		}
		hashes[row] = sum
	}
}
