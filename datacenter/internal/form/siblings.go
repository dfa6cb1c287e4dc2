package form

import (
	"bytes"
	"cmp"
	"math"

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
	x, y = Slide(x), Slide(y)
	for i := range x {
		switch {
		case x[i] == y[i]:
			continue
		case x[i] == 0 || y[i] == 0:
			return cmp.Compare(x[i], y[i])
		}
		p, q := wtf8.AppendUTF16(nil, name(x[i])), wtf8.AppendUTF16(nil, name(y[i]))
		if c := CompareUnits(p, q); c != 0 {
			return c
		}
	}
	return 0
}

// CompareValues compares key values. The order is: absent, int, float, string, bool;
// numbers by value, NaN first; strings by their UTF-16 units, which text returns.
func CompareValues(x Attribute, xok bool, y Attribute, yok bool, text func(Address) []byte) int {
	if !xok || !yok {
		return cmp.Compare(Bit(xok), Bit(yok))
	}
	// An unknown type is reported where the attribute is read.
	xt, _ := x.DecodeType()
	yt, _ := y.DecodeType()
	if xt != yt {
		return cmp.Compare(xt, yt)
	}
	switch xt {
	case Int:
		return cmp.Compare(int32(x.Bits), int32(y.Bits))
	case Float:
		return cmp.Compare(math.Float32frombits(x.Bits), math.Float32frombits(y.Bits))
	case String:
		if x.Bits == y.Bits {
			return 0
		}
		return CompareUnits(text(x.Value()), text(y.Value()))
	}
	return cmp.Compare(x.Bits, y.Bits)
}

// CompareUnits compares little-endian UTF-16, unit by unit.
func CompareUnits(p, q []byte) int {
	if bytes.Equal(p, q) {
		return 0
	}
	for i := 0; i+1 < min(len(p), len(q)); i += CharSize {
		// Little-endian: the second byte counts first.
		if c := cmp.Compare(uint16(p[i+1])<<8|uint16(p[i]), uint16(q[i+1])<<8|uint16(q[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(p), len(q))
}
