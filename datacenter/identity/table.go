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
	// maxColumns is the largest number of attributes that a table tries, and maxSet of those
	// in a set.
	maxColumns = 10
	maxSet     = 3
	// maxText is the length in characters of the longest text that is used in a path.
	maxText = 120
)

type attributeVisitor = func(name string, typ datacenter.Type, text []byte)

// table holds the attributes that may distinguish some nodes, its rows.
type table struct {
	rows int
	each func(row int, names []string, visit attributeVisitor) error // see visitNamed
	// exact says that values are compared as queries do. Otherwise all spellings of a value
	// are equal.
	exact   bool
	without []string // names of attributes that find skips
	columns []column
}

// column has the values of one attribute.
type column struct {
	name string
	// hashes has a hash for each row, or 0 if its value can't be used in a path.
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

// rankOf returns how likely it is that an attribute identifies nodes. Attributes of one rank
// are tried in the order of their names.
func rankOf(name string) int {
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
		return !strings.ContainsAny(string(text), "NI")
	}
	if utf8.RuneCount(text) > maxText || !utf8.Valid(text) {
		return false
	}
	return strings.IndexFunc(string(text), unicode.IsControl) < 0
}

// find makes columns of the attributes up to a rank that differ between rows. They are ints
// and strings: floats are measured, so they rarely identify anything.
func (t *table) find(rank int) error {
	type about struct {
		rows  int
		value uint64 // of the first row
		vary  bool
	}
	names := map[string]*about{}
	err := t.visit(nil, func(_ int, name string, typ datacenter.Type, hash uint64) {
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

// fill makes the columns of some names. An attribute with values of two types has no column,
// since a query may find values equal that are not.
func (t *table) fill(names []string) error {
	t.columns = nil
	for _, name := range names {
		t.columns = append(t.columns, column{name, make([]uint64, t.rows)})
	}
	types := make([]datacenter.Type, len(names))
	mixed := make([]bool, len(names))
	err := t.visit(names, func(row int, name string, typ datacenter.Type, hash uint64) {
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

// visit calls visit for all values that can be used in a path, at least for those of names. If
// names is nil, these are all.
func (t *table) visit(names []string, visit func(row int, name string, typ datacenter.Type, hash uint64)) error {
	for row := range t.rows {
		err := t.each(row, names, func(name string, typ datacenter.Type, text []byte) {
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
