package identity

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"lorefs/datacenter"
)

const (
	// maxColumns bounds the attributes that a table tries, and maxSet how many at a time.
	maxColumns = 10
	maxSet     = 3
	// maxText bounds a text that tells a node from others, in characters.
	maxText = 120
)

type attributeVisitor = func(name string, typ datacenter.Type, text []byte)

// table holds the attributes that may tell some nodes, its rows, apart.
type table struct {
	rows int
	each func(row int, visit attributeVisitor) error // gives the attributes of a row
	// exact tells values apart as a query does. Else spellings of one value are the same.
	exact   bool
	without []string // names of attributes that find leaves out
	columns []column
}

// column is the attributes of one name.
type column struct {
	name string
	// hashes has one for the value of each row; 0 if it has none that can be said.
	hashes []uint64
}

// The ranks of names, see rankOf.
const (
	rankID = iota
	rankIndex
	rankKey
	rankName
	rankOther
)

// rankOf tells how likely it is that an attribute is there to tell nodes apart. Those of
// one rank are tried in the order of their names.
func rankOf(name string) int {
	for rank, suffix := range [...]string{rankID: "Id", rankIndex: "Index", rankKey: "Key", rankName: "Name"} {
		if strings.HasSuffix(name, suffix) || strings.EqualFold(name, suffix) {
			return rank
		}
	}
	return rankOther
}

// Sayable tells whether a value can stand in a path that people read.
func Sayable(typ datacenter.Type, text []byte) bool {
	switch typ {
	case datacenter.Int, datacenter.Bool:
		return true
	case datacenter.Float: // NaN equals nothing, and no number is spelled like infinity
		return !strings.ContainsAny(string(text), "NI")
	}
	if utf8.RuneCount(text) > maxText || !utf8.Valid(text) {
		return false
	}
	return strings.IndexFunc(string(text), unicode.IsControl) < 0
}

// find makes the columns of the attributes up to a rank that are not the same in all rows.
// They are ints and strings: floats are measured rather than given.
func (t *table) find(rank int) error {
	type about struct {
		rows  int
		value uint64 // of the first
		vary  bool
	}
	names := map[string]*about{}
	err := t.visit(func(_ int, name string, typ datacenter.Type, hash uint64) {
		if rankOf(name) > rank || typ == datacenter.Float || typ == datacenter.Bool || slices.Contains(t.without, name) {
			return
		}
		a := names[name]
		if a == nil {
			a = &about{value: hash}
			names[name] = a
		}
		a.rows++
		a.vary = a.vary || hash != a.value
	})
	if err != nil {
		return err
	}
	var list []string
	for name, a := range names {
		if a.vary || a.rows < t.rows {
			list = append(list, name)
		}
	}
	slices.SortFunc(list, func(x, y string) int {
		return cmp.Or(cmp.Compare(rankOf(x), rankOf(y)), strings.Compare(x, y))
	})
	return t.fill(list[:min(len(list), maxColumns)])
}

// fill makes the columns of some names. One with values of two types has none: a query may
// find equal what is not.
func (t *table) fill(names []string) error {
	t.columns = nil
	for _, name := range names {
		t.columns = append(t.columns, column{name, make([]uint64, t.rows)})
	}
	types := make([]datacenter.Type, len(names))
	mixed := make([]bool, len(names))
	err := t.visit(func(row int, name string, typ datacenter.Type, hash uint64) {
		i := slices.Index(names, name)
		if i < 0 {
			return
		}
		t.columns[i].hashes[row] = hash
		types[i] = cmp.Or(types[i], typ)
		mixed[i] = mixed[i] || typ != 0 && typ != types[i]
	})
	for i := range t.columns {
		if mixed[i] {
			clear(t.columns[i].hashes)
		}
	}
	return err
}

// visit gives the values of all rows that can be said.
func (t *table) visit(visit func(row int, name string, typ datacenter.Type, hash uint64)) error {
	for row := range t.rows {
		err := t.each(row, func(name string, typ datacenter.Type, text []byte) {
			switch {
			case !Sayable(typ, text):
			case t.exact && (typ == datacenter.String || typ == 0):
				visit(row, name, typ, xxhash.Sum64(text)|1)
			default:
				visit(row, name, typ, hashValue(text)|1)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// columnSet is columns by their places, ascending.
type columnSet []uint8

// sets gives those of up to maxSet columns, the smaller ones first. Each is good until the
// next.
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

// hash gives hashes of a set of columns for all rows; 0 for those that lack one.
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
