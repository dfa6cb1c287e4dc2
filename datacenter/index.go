package datacenter

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// index is the result of the first pass over a file.
type index struct {
	layout    Layout
	header    Header
	regions   regions
	streamEnd int64
	checkpoints
	tally
	counts Counts

	// names holds the text of each name. The name index in a node or an attribute is one
	// more than the place here.
	names []string
	keys  []KeyNames
	// base has the number of the first node of each segment.
	base []uint32

	// ValueName is the index of __value__, 0 if there is none.
	valueName uint16
	// countErr says why the nodes could not be counted. A File that Open returned has
	// neither a countErr nor an adlerErr.
	countErr error
	// noAdler is set if no checksum follows the data. Verify uses it. It is not remembered, and
	// need not be for a splice, which adds the checksum.
	noAdler bool
	// adlerErr is set if the checksum of the data is wrong.
	adlerErr error
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
	if f.countErr == nil && int(f.maxName) > len(f.names) {
		f.countErr = &FormatError{
			Off: f.maxNameAt, Where: "node", What: fmt.Sprintf("name index %d: there are %d names", f.maxName, len(f.names)),
			Err: errName,
		}
	}
	f.counts = Counts{
		StoredNodes:      used(f.regions.nodes),
		StoredAttributes: used(f.regions.attributes),
		Names:            int64(f.regions.names.addrs.count),
		Values:           int64(f.regions.values.addrs.count),
		Keys:             int64(f.regions.keys.count),
	}
	if f.countErr != nil {
		return nil
	}
	f.counts.Nodes = f.logical
	f.counts.Attributes = int64(f.entries[0]) - f.logical
	return f.countSheets()
}

// addressable returns how many elements of the segments have an address.
func addressable(segs []segment) (n int64) {
	for _, s := range segs {
		n += int64(s.addressable())
	}
	return n
}

func used(segs []segment) (n int64) {
	for _, s := range segs {
		n += int64(s.used)
	}
	return n
}

// derive computes the parts of the index that an IndexStore does not keep.
func (f *File) derive() {
	f.base = addressBases(f.regions.nodes)
}

func (f *File) findValueName() {
	for i, name := range f.names {
		if name == ValueName {
			f.valueName = uint16(i + 1)
		}
	}
}

// readNames reads the names in the order of their indexes, which is the order of the
// table's addresses.
func (f *File) readNames() error {
	t := f.regions.names
	count := int(min(t.addrs.count, MaxNames))
	f.names = make([]string, 0, count)
	total := 0
	var buf []byte
	var scratch [addressSize]byte
	for i := range count {
		off := t.addrs.off + int64(i)*addressSize
		b, err := f.view(off, addressSize, scratch[:])
		if err != nil {
			return err
		}
		if buf, err = f.appendString(buf[:0], t.data, parseAddress(b)); err != nil {
			return &FormatError{Off: off, What: fmt.Sprintf("name %d", i+1), Err: err}
		}
		if total += len(buf); total > MaxNameBytes {
			return badf(off, "the names up to %d have more than %d bytes", i+1, MaxNameBytes)
		}
		f.names = append(f.names, string(buf))
	}
	return nil
}

func (f *File) readKeys() error {
	count := int(min(f.regions.keys.count, MaxKeys))
	f.keys = make([]KeyNames, count)
	var scratch [keySize]byte
	for i := range f.keys {
		b, err := f.view(f.regions.keys.off+int64(i)*keySize, keySize, scratch[:])
		if err != nil {
			return err
		}
		f.keys[i] = parseKeyNames(b)
	}
	return nil
}

// countSheets counts the root's children.
func (f *File) countSheets() error {
	root, err := f.Root()
	if err != nil {
		return err
	}
	for _, err := range root.Children() {
		if err != nil {
			return err
		}
		f.counts.Sheets++
	}
	return nil
}

// name returns the text of a name index.
func (f *File) name(index uint16) (string, bool) {
	if index == 0 || int(index) > len(f.names) {
		return "", false
	}
	return f.names[index-1], true
}

// Names returns all names of the file. The index of a name is one more than its place.
func (f *File) Names() []string { return f.names }

// KeyNames returns all key definitions of the file as they are stored.
func (f *File) KeyNames() []KeyNames { return f.keys }

// NameIndexes returns the indexes of names in the file, from 1 on. The result begins with a
// 0, for no name. The index of a name that the file lacks is 0.
func (f *File) NameIndexes(names []string) []uint16 {
	list := make([]uint16, len(names)+1)
	for i, name := range names {
		list[i+1] = f.indexOf(name)
	}
	return list
}

// indexOf returns the index of a name, or 0.
func (f *File) indexOf(name string) uint16 {
	x := &f.nameIndex
	x.once.Do(func() {
		x.of = make(map[string]uint16, len(f.names))
		for i, name := range f.names {
			x.of[name] = uint16(i + 1)
		}
	})
	return x.of[name]
}

// CheckNames returns an error if a name of the file has more than one index, or a key
// definition names a name that does not exist. In such a file a new name could get a
// meaning that nobody gave it.
func (f *File) CheckNames() error {
	seen := make(map[string]bool, len(f.names))
	for i, name := range f.names {
		if seen[name] {
			return badf(f.regions.names.addrs.off+int64(i)*addressSize, "the name %q comes twice: the file can't be edited", name)
		}
		seen[name] = true
	}
	for i, k := range f.keys {
		if int(slices.Max(k[:])) > len(f.names) {
			return badf(f.regions.keys.off+int64(i)*keySize, "key %d has a name that there is not: the file can't be edited", i)
		}
	}
	return nil
}

// KeyDefinition is a set of attribute names by which clients look nodes up.
type KeyDefinition []string

// KeyDefinitions returns all key definitions of the file. A node's key index is the place
// here.
func (f *File) KeyDefinitions() []KeyDefinition {
	defs := make([]KeyDefinition, len(f.keys))
	for i := range f.keys {
		defs[i] = f.keyDefinition(uint16(i))
	}
	return defs
}

func (f *File) keyDefinition(index uint16) KeyDefinition {
	def := KeyDefinition{}
	if int(index) >= len(f.keys) {
		return def
	}
	for _, n := range f.keys[index] {
		if name, ok := f.name(n); ok {
			def = append(def, name)
		}
	}
	return def
}

// spell returns the text of a name index, or "" if there is no such name.
func (f *File) spell(i uint16) string {
	name, _ := f.name(i)
	return name
}

// String returns the definition as novadrop's schemas spell it.
func (d KeyDefinition) String() string { return strings.Join(d, " ") }
