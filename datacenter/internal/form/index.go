package form

import (
	"fmt"
	"math"
	"slices"
)

// Index is the result of the first pass over a file.
type Index struct {
	Layout    Layout
	Header    Header
	Regions   Regions
	StreamEnd int64
	Checkpoints
	Tally
	Counts Counts

	// Names holds the text of each name. The name index in a node or an attribute is one
	// more than the place here.
	Names []string
	Keys  []KeyNames
	// Base has the number of the first node of each segment.
	Base []uint32

	// ValueName is the index of __value__, 0 if there is none.
	ValueName uint16
	// CountErr says why the nodes could not be counted. A File that Open returned has
	// neither a CountErr nor an AdlerErr.
	CountErr error
	// NoAdler is set if no checksum follows the data. Verify uses it. It is not remembered, and
	// need not be for a splice, which adds the checksum.
	NoAdler bool
	// AdlerErr is set if the checksum of the data is wrong.
	AdlerErr error
}

const (
	// RootName is the name of the root.
	RootName = "__root__"
	// ValueName is the name of the attribute that is a node's text.
	ValueName = "__value__"

	// MaxNames is the number of names that an index can distinguish, __root__ and __value__
	// included.
	MaxNames = math.MaxUint16
	// MaxRun is the maximum number of attributes, and of children, of a node.
	MaxRun = math.MaxUint16
	// MaxKeyNames is the maximum number of names in a key definition.
	MaxKeyNames = len(KeyNames{})
	// MaxNameBytes bounds the total length of the names. Real files have some 100 KB.
	// Overlapping strings let a file claim gigabytes.
	MaxNameBytes = 64 << 20
	// MaxKeys is the number of key definitions that a node can distinguish.
	MaxKeys = 1 << 12
)

// readTables reads the small tables and computes what depends on them. It also checks the
// name indexes, which counting could not, since the names lie behind the nodes.
func (f *File) readTables() error {
	f.derive()
	if err := f.readNames(); err != nil {
		return fmt.Errorf("names: %w", err)
	}
	if err := f.readKeys(); err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	f.findValueName()
	if f.CountErr == nil && int(f.MaxName) > len(f.Names) {
		f.CountErr = &FormatError{
			Off: f.maxNameAt, Where: "node", What: fmt.Sprintf("name index %d: there are %d names", f.MaxName, len(f.Names)),
			Err: ErrName,
		}
	}
	f.Counts = Counts{
		StoredNodes:      Used(f.Regions.Nodes),
		StoredAttributes: Used(f.Regions.Attributes),
		Names:            int64(f.Regions.Names.Addrs.Count),
		Values:           int64(f.Regions.Values.Addrs.Count),
		Keys:             int64(f.Regions.Keys.Count),
	}
	if f.CountErr != nil {
		return nil
	}
	f.Counts.Nodes = f.Logical
	f.Counts.Attributes = int64(f.Entries[0]) - f.Logical
	return f.countSheets()
}

// Addressable returns how many elements of the segments have an address.
func Addressable(segs []Segment) (n int64) {
	for _, s := range segs {
		n += int64(s.Addressable())
	}
	return n
}

// Used returns how many elements of the segments are in use.
func Used(segs []Segment) (n int64) {
	for _, s := range segs {
		n += int64(s.Used)
	}
	return n
}

// derive computes the parts of the index that an IndexStore does not keep.
func (f *File) derive() {
	f.Base = AddressBases(f.Regions.Nodes)
}

func (f *File) findValueName() {
	for i, name := range f.Names {
		if name == ValueName {
			f.ValueName = uint16(i + 1)
		}
	}
}

// readNames reads the names in the order of their indexes, which is the order of the
// table's addresses.
func (f *File) readNames() error {
	t := f.Regions.Names
	count := int(min(t.Addrs.Count, MaxNames))
	f.Names = make([]string, 0, count)
	total := 0
	var buf []byte
	var scratch [AddressSize]byte
	for i := range count {
		off := t.Addrs.Off + int64(i)*AddressSize
		b, err := f.View(off, AddressSize, scratch[:])
		if err != nil {
			return err
		}
		if buf, err = f.AppendString(buf[:0], t.Data, ParseAddress(b)); err != nil {
			return &FormatError{Off: off, What: fmt.Sprintf("name %d", i+1), Err: err}
		}
		if total += len(buf); total > MaxNameBytes {
			return Badf(off, "the names up to %d have more than %d bytes", i+1, MaxNameBytes)
		}
		f.Names = append(f.Names, string(buf))
	}
	return nil
}

func (f *File) readKeys() error {
	count := int(min(f.Regions.Keys.Count, MaxKeys))
	f.Keys = make([]KeyNames, count)
	var scratch [KeySize]byte
	for i := range f.Keys {
		b, err := f.View(f.Regions.Keys.Off+int64(i)*KeySize, KeySize, scratch[:])
		if err != nil {
			return err
		}
		f.Keys[i] = parseKeyNames(b)
	}
	return nil
}

// countSheets counts the root's children.
func (f *File) countSheets() error {
	root, err := f.Node(Address{})
	if err != nil {
		return err
	}
	sheets, err := f.StoredChildren(root)
	for _, n := range sheets {
		if n.Name != 0 {
			f.Counts.Sheets++
		}
	}
	return err
}

// Name returns the text of a name index.
func (f *File) Name(index uint16) (string, bool) {
	if index == 0 || int(index) > len(f.Names) {
		return "", false
	}
	return f.Names[index-1], true
}

// NameIndexes returns the indexes of names in the file, from 1 on. The result begins with a
// 0, for no name. The index of a name that the file lacks is 0.
func (f *File) NameIndexes(names []string) []uint16 {
	list := make([]uint16, len(names)+1)
	for i, name := range names {
		list[i+1] = f.IndexOf(name)
	}
	return list
}

// IndexOf returns the index of a name, or 0.
func (f *File) IndexOf(name string) uint16 {
	x := &f.nameIndex
	x.once.Do(func() {
		x.of = make(map[string]uint16, len(f.Names))
		for i, name := range f.Names {
			x.of[name] = uint16(i + 1)
		}
	})
	return x.of[name]
}

// CheckNames returns an error if a name of the file has more than one index, or a key
// definition names a name that does not exist. In such a file a new name could get a
// meaning that nobody gave it.
func (f *File) CheckNames() error {
	seen := make(map[string]bool, len(f.Names))
	for i, name := range f.Names {
		if seen[name] {
			return Badf(f.Regions.Names.Addrs.Off+int64(i)*AddressSize, "the name %q comes twice: the file can't be edited", name)
		}
		seen[name] = true
	}
	for i, k := range f.Keys {
		if int(slices.Max(k[:])) > len(f.Names) {
			return Badf(f.Regions.Keys.Off+int64(i)*KeySize, "key %d has a name that there is not: the file can't be edited", i)
		}
	}
	return nil
}

// KeyDefinition returns the key definition with an index.
func (f *File) KeyDefinition(index uint16) KeyDefinition {
	def := KeyDefinition{}
	if int(index) >= len(f.Keys) {
		return def
	}
	for _, n := range f.Keys[index] {
		if name, ok := f.Name(n); ok {
			def = append(def, name)
		}
	}
	return def
}

// Spell returns the text of a name index, or "" if there is no such name.
func (f *File) Spell(i uint16) string {
	name, _ := f.Name(i)
	return name
}
