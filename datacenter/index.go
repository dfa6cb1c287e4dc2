package datacenter

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// index is what the first pass over a file found.
type index struct {
	layout    Layout
	header    Header
	regions   regions
	streamEnd int64
	checkpoints
	tally
	counts Counts

	// names holds the text of each name; a node's or an attribute's name index
	// is one more than its place here.
	names []string
	keys  []KeyNames
	// base is, of each segment of nodes, the number of its first node.
	base []uint32

	// ValueName is the index of __value__, 0 if there is none.
	valueName uint16
	// countErr is why the nodes could not be counted. No File that Open gave
	// out has one, nor an adlerErr.
	countErr error
	// noAdler is set if there is no checksum behind the data. It is for Verify,
	// and not remembered.
	noAdler bool
	// adlerErr is set if the data is not what was compressed.
	adlerErr error
}

const (
	// RootName is the name of the root.
	RootName = "__root__"
	// ValueName is the name of the attribute that is a node's text.
	ValueName = "__value__"

	// MaxNames is how many names an index can tell apart, __root__ and __value__ included.
	MaxNames = math.MaxUint16
	// MaxRun is how many attributes, and how many children, a node can have.
	MaxRun = math.MaxUint16
	// MaxKeyNames is how many names a key definition can have.
	MaxKeyNames = len(KeyNames{})
	// MaxNameBytes bounds the names together. Real files have some 100 KB;
	// overlapping strings let a file claim gigabytes.
	MaxNameBytes = 64 << 20
	// MaxKeys is how many key definitions a node can tell apart.
	MaxKeys = 1 << 12
)

// readTables reads the small tables, derives what follows from them, and
// checks what the count could not, since the names lie behind the nodes.
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

// addressable is how many elements of the segments have an address.
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

// derive computes what need not be remembered.
func (f *File) derive() {
	f.base = make([]uint32, len(f.regions.nodes))
	n := uint32(0)
	for i, s := range f.regions.nodes {
		f.base[i] = n
		n += s.addressable()
	}
}

func (f *File) findValueName() {
	for i, name := range f.names {
		if name == ValueName {
			f.valueName = uint16(i + 1)
		}
	}
}

// readNames reads the names in the order of their index, which is that of the
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

// name is the text of a name index.
func (f *File) name(index uint16) (string, bool) {
	if index == 0 || int(index) > len(f.names) {
		return "", false
	}
	return f.names[index-1], true
}

// Names are all names of the file; a name's index is one more than its place.
func (f *File) Names() []string { return f.names }

// KeyNames are all key definitions of the file as they are stored.
func (f *File) KeyNames() []KeyNames { return f.keys }

// NameIndexes gives the indexes that names have in the file, from 1 on, behind the 0 of
// none. Of a name that the file has not it is 0.
func (f *File) NameIndexes(names []string) []uint16 {
	index := make(map[string]uint16, len(f.names))
	for i, name := range f.names {
		index[name] = uint16(i + 1)
	}
	list := make([]uint16, len(names)+1)
	for i, name := range names {
		list[i+1] = index[name]
	}
	return list
}

// CheckNames tells whether each name of the file has one index, and each key definition a
// meaning. Else a new name might get a meaning that nobody gave it.
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

// KeyDefinition is one set of attribute names that nodes are looked up by.
type KeyDefinition []string

// KeyDefinitions are all of the file; a node's key index is the place here.
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

// spell is the text of a name index; it is empty if there is no such name.
func (f *File) spell(i uint16) string {
	name, _ := f.name(i)
	return name
}

// String is the definition as novadrop's schemas spell it.
func (d KeyDefinition) String() string { return strings.Join(d, " ") }
