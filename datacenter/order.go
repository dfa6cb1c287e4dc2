package datacenter

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"lorefs/internal/wtf8"
)

// Siblings are ordered by the index of their name; then by their key definitions, where the
// empty one comes first and the others are ordered by the list of their attributes' names;
// then by the values of the keys; then by their place. novadrop compares by the keys of
// whichever sibling comes first, so siblings of different definitions may have no order at
// all. If a name has only one definition, as in official files, both orders are the same.

// CompareSiblings compares two siblings of one name that have the key definitions x and y.
// name returns the text of a name index, and values compares the siblings' values for a
// key. by is the key whose values differ; it is 0 if the definitions differ or nothing
// does.
func CompareSiblings(x, y KeyNames, name func(uint16) string, values func(key uint16) int) (order int, by uint16) {
	if x != y {
		if c := compareDefinitions(x, y, name); c != 0 {
			return c, 0
		}
	}
	for _, key := range x {
		if key == 0 {
			continue
		}
		if c := values(key); c != 0 {
			return c, key
		}
	}
	return 0, 0
}

// compareDefinitions compares the names in turn, by UTF-16 units like key values. A prefix
// of a list comes before the list.
func compareDefinitions(x, y KeyNames, name func(uint16) string) int {
	x, y = slide(x), slide(y)
	for i := range x {
		switch {
		case x[i] == y[i]:
			continue
		case x[i] == 0 || y[i] == 0:
			return cmp.Compare(x[i], y[i])
		}
		p, q := wtf8.AppendUTF16(nil, name(x[i])), wtf8.AppendUTF16(nil, name(y[i]))
		if c := compareUnits(p, q); c != 0 {
			return c
		}
	}
	return 0
}

// SiblingOrder is the order in which siblings are written. It is for use by one goroutine.
type SiblingOrder struct {
	file        *File
	root, value uint16 // the names that will be written last
	err         error  // the first error of a comparison
}

// NewSiblingOrder returns the order of a file's nodes.
func NewSiblingOrder(f *File) *SiblingOrder {
	return &SiblingOrder{
		file: f,
		root: uint16(slices.Index(f.names, RootName) + 1), value: uint16(slices.Index(f.names, ValueName) + 1),
	}
}

// Sort sorts siblings, stably.
func (s *SiblingOrder) Sort(run []Node) error {
	s.err = nil
	// Nearly all runs are in order already, and a comparison may have to read the file.
	if !slices.IsSortedFunc(run, s.compare) {
		slices.SortStableFunc(run, s.compare)
	}
	return s.err
}

// compare is [Builder.compareNodes] for nodes of a file.
func (s *SiblingOrder) compare(x, y Node) int {
	if x.raw.name != y.raw.name {
		return s.name(x.raw.name) - s.name(y.raw.name)
	}
	c, _ := s.compareKeys(x, y)
	return c
}

// name returns the place of a name among the names that will be written.
func (s *SiblingOrder) name(i uint16) int {
	switch i {
	case s.root:
		return MaxNames + 1
	case s.value:
		return MaxNames + 2
	}
	return int(i)
}

// compareKeys is [CompareSiblings] for nodes of a file.
func (s *SiblingOrder) compareKeys(x, y Node) (order int, by uint16) {
	return CompareSiblings(x.KeyNames(), y.KeyNames(), s.file.spell, func(key uint16) int {
		if s.err != nil {
			return 0
		}
		p, pok, err := x.Attribute(key)
		s.note(err)
		q, qok, err := y.Attribute(key)
		s.note(err)
		return compareValues(p.raw(), pok, q.raw(), qok, s.text)
	})
}

func (s *SiblingOrder) note(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *SiblingOrder) text(addr Address) []byte {
	units, err := s.file.stringUnits(s.file.regions.values.data, addr)
	s.note(err)
	return units
}

// compareValues compares key values. The order is: absent, int, float, string, bool;
// numbers by value, NaN first; strings by their UTF-16 units, which text returns.
func compareValues(x StoredAttribute, xok bool, y StoredAttribute, yok bool, text func(Address) []byte) int {
	if !xok || !yok {
		return cmp.Compare(bit(xok), bit(yok))
	}
	// An unknown type is reported where the attribute is read.
	xt, _ := x.decodeType()
	yt, _ := y.decodeType()
	if xt != yt {
		return cmp.Compare(xt, yt)
	}
	switch xt {
	case Int:
		return cmp.Compare(int32(x.bits), int32(y.bits))
	case Float:
		return cmp.Compare(math.Float32frombits(x.bits), math.Float32frombits(y.bits))
	case String:
		if x.bits == y.bits {
			return 0
		}
		return compareUnits(text(x.value()), text(y.value()))
	}
	return cmp.Compare(x.bits, y.bits)
}

// Compare compares the values of a key. The order is: none, int, float, string, bool;
// numbers by value, NaN first; strings by their UTF-16 units.
func (v Value) Compare(w Value) int {
	if v.typ != String || w.typ != String {
		none := func(Address) []byte { return nil }
		return compareValues(v.stored(), v.typ != 0, w.stored(), w.typ != 0, none)
	}
	return compareUnits(wtf8.AppendUTF16(nil, v.text), wtf8.AppendUTF16(nil, w.text))
}

// compareUnits compares little-endian UTF-16, unit by unit.
func compareUnits(p, q []byte) int {
	if bytes.Equal(p, q) {
		return 0
	}
	for i := 0; i+1 < min(len(p), len(q)); i += charSize {
		// Little-endian: the second byte counts first.
		if c := cmp.Compare(uint16(p[i+1])<<8|uint16(p[i]), uint16(q[i+1])<<8|uint16(q[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(p), len(q))
}
