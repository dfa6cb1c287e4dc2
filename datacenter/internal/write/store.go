package write

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"lorefs/datacenter/internal/form"
	"lorefs/internal/wtf8"
)

// Options are the options for writing a data center. The zero value is right but for
// the header, which edit.Snapshot.Write takes from the file.
type Options struct {
	// Layout is the layout to write. Default: LayoutV6X64.
	Layout form.Layout
	// Header is written, but with the version of the layout.
	Header form.Header
	// Revision replaces the header's revision. Default: the header's.
	Revision *uint32
	// Key is the key for encryption. Default: the first of DefaultKeys.
	Key *form.Key
	// Level is the deflate level, 0 to 9. Default: 6.
	Level *int
	// Progress is called by a Rewriter now and then, with the number of stored nodes that it has
	// moved and their total. What is left then takes little time. Default: no reports.
	Progress func(done, total int64)
}

const defaultLevel = 6

func (o *Options) setDefaults() {
	if o.Layout == form.LayoutAuto {
		o.Layout = form.LayoutV6X64
	}
	if o.Key == nil {
		o.Key = &form.DefaultKeys()[0]
	}
	if o.Level == nil {
		level := defaultLevel
		o.Level = &level
	}
	o.Header.Version = o.Layout.Version()
	if o.Revision != nil {
		o.Header.Revision = *o.Revision
	}
}

// Store lays out a data center. It keeps the data in the form of the file, and each run of attributes or
// children, and each string, once, however often it is added.
//
// Errors are sticky: Write or Open returns the first one. A Store is not safe for concurrent use.
type Store struct {
	Opts    Options
	deflate *deflater
	held    bool           // Hold was called
	Loading sync.WaitGroup // blocks that are read ahead for the Rewriter
	names   []string
	index   map[string]uint16

	keys       []form.KeyNames
	keyIndex   map[form.KeyNames]uint16
	Attributes runStore
	nodes      runStore
	Values     stringStore

	root    form.Node
	rootRun []form.Attribute
	sheets  []form.Node
	run     []byte // a buffer
	// Reordered is set if children were added in another order than they are written in.
	Reordered bool
	err       error
}

// NewStore returns a Store for nodes and attributes with the given names. The order of
// the names is the order of attributes, and of children of different names. __root__ and
// __value__ always come last, whether they are in names or not.
func NewStore(names []string, opts Options) (*Store, error) {
	opts.setDefaults()
	d := newDeflater(*opts.Level)
	b := &Store{
		Opts: opts, deflate: d, index: map[string]uint16{}, keyIndex: map[form.KeyNames]uint16{},
		Attributes: newAttributeStore(d, opts.Layout),
		nodes:      newNodeStore(d, opts.Layout),
		Values:     newStringStore(d, form.ValueBuckets),
	}
	for _, name := range names {
		if _, twice := b.index[name]; !twice && name != form.RootName && name != form.ValueName {
			b.addName(name)
		}
	}
	b.addName(form.RootName)
	b.addName(form.ValueName)
	if len(b.names) > form.MaxNames {
		return nil, fmt.Errorf("datacenter: %d names: %w", len(b.names), form.ErrTooLarge)
	}
	b.KeyOf(form.KeyNames{}) // the empty definition must be the first
	// The root must lie at 0:0, so its place is taken first.
	if _, err := b.nodes.place(form.Node{}.Append(nil, form.Packed)); err != nil {
		return nil, err
	}
	b.root = form.Node{Name: b.index[form.RootName]}
	return b, nil
}

// ReserveFor makes room for the counts that a file states. It ignores counts that are larger
// than those of real files, since they may be false.
func (b *Store) ReserveFor(c form.Counts) {
	const (
		perRun = 8 // elements: in real files a run has 6 attributes and 7 nodes on average
		most   = 1 << 21
	)
	b.Reserve(int(min(c.StoredAttributes/perRun, most)), int(min(c.StoredNodes/perRun, most)), int(min(c.Values, most)))
}

// Reserve makes room for so many different runs of attributes, runs of children, and strings, before the
// first is stored. More may come: it saves the time for making room later.
func (b *Store) Reserve(attributes, children, texts int) {
	b.Attributes.Found.reserve(attributes)
	b.nodes.Found.reserve(children)
	b.Values.reserve(texts)
}

func (b *Store) addName(name string) {
	b.names = append(b.names, name)
	b.index[name] = uint16(len(b.names))
}

// KeyOf returns the index of a key definition.
func (b *Store) KeyOf(k form.KeyNames) uint16 {
	i, ok := b.keyIndex[k]
	if !ok {
		if len(b.keys) == form.MaxKeys {
			b.Fail(fmt.Errorf("datacenter: more than %d key definitions: %w", form.MaxKeys, form.ErrTooLarge))
			return 0
		}
		i = uint16(len(b.keys))
		b.keys = append(b.keys, k)
		b.keyIndex[k] = i
	}
	return i
}

// Fail keeps the first error, with which Write fails.
func (b *Store) Fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// keyNames returns a key definition as it is written.
func (b *Store) keyNames(keys form.KeyDefinition) (k form.KeyNames) {
	if len(keys) > len(k) {
		b.Fail(fmt.Errorf("datacenter: %d keys of a node: %w", len(keys), form.ErrTooLarge))
		keys = keys[:len(k)]
	}
	for i, key := range keys {
		k[i] = b.NameIndex(key)
	}
	return k
}

// EndNode stores the runs of a node. After an error the node means nothing, and nothing will be written.
func (b *Store) EndNode(n form.Node, attrs []form.Attribute, children []form.Node) form.Node {
	var err error
	if b.err != nil {
		return n // indexes may be 0
	}
	if n.AttrAddr, err = b.AddAttributes(attrs); err != nil {
		b.Fail(fmt.Errorf("%s: %w", b.names[n.Name-1], err))
	} else {
		n.AttrCount = uint16(len(attrs))
	}
	if n.ChildAddr, err = b.AddChildren(children); err != nil {
		b.Fail(fmt.Errorf("%s: %w", b.names[n.Name-1], err))
	} else {
		n.ChildCount = uint16(len(children))
	}
	return n
}

// SetRoot sets the keys, flags, attributes and children of the root.
func (b *Store) SetRoot(key uint16, flags form.KeyFlags, attrs []form.Attribute, children []form.Node) {
	b.root.Flags, b.root.Key = uint8(flags), key
	b.rootRun, b.sheets = attrs, children
}

// AddSheet adds a sheet.
func (b *Store) AddSheet(n form.Node) { b.sheets = append(b.sheets, n) }

// AddAttributes sorts and stores a run of attributes.
func (b *Store) AddAttributes(run []form.Attribute) (form.Address, error) {
	if len(run) > math.MaxUint16 {
		return form.Absent, fmt.Errorf("datacenter: %d attributes: %w", len(run), form.ErrTooLarge)
	}
	var err error
	if b.run, err = b.EncodeAttributes(b.run[:0], run); err != nil {
		return form.Absent, err
	}
	return b.Attributes.add(b.run)
}

// EncodeAttributes sorts a run of attributes and appends its stored form.
func (b *Store) EncodeAttributes(dst []byte, run []form.Attribute) ([]byte, error) {
	for i := 1; i < len(run); i++ {
		if run[i].Name < run[i-1].Name {
			slices.SortFunc(run, func(x, y form.Attribute) int { return int(x.Name) - int(y.Name) })
			break
		}
	}
	for i, a := range run {
		if i > 0 && a.Name == run[i-1].Name {
			return dst, fmt.Errorf("datacenter: %w: %s comes twice", form.ErrValue, b.names[a.Name-1])
		}
		dst = a.Append(dst, form.Packed)
	}
	return dst, nil
}

// AddChildren stores a run of children. It sorts them first, stably.
func (b *Store) AddChildren(run []form.Node) (form.Address, error) {
	if len(run) > math.MaxUint16 {
		return form.Absent, fmt.Errorf("datacenter: %d children: %w", len(run), form.ErrTooLarge)
	}
	if !b.inOrder(run) {
		b.Reordered = true
		slices.SortStableFunc(run, b.CompareNodes)
	}
	b.run = b.run[:0]
	for _, n := range run {
		b.run = n.Append(b.run, form.Packed)
	}
	return b.nodes.add(b.run)
}

// inOrder reports whether siblings are sorted. Nearly all of them are, and by their names.
func (b *Store) inOrder(run []form.Node) bool {
	for i := 1; i < len(run); i++ {
		x, y := &run[i-1], &run[i]
		byName := x.Name < y.Name || x.Name == y.Name && x.Key == 0 && y.Key == 0
		if !byName && b.CompareNodes(*x, *y) > 0 {
			return false
		}
	}
	return true
}

// CompareNodes compares siblings.
func (b *Store) CompareNodes(x, y form.Node) int {
	if x.Name != y.Name || x.Key == 0 && y.Key == 0 {
		return int(x.Name) - int(y.Name)
	}
	spell := func(i uint16) string { return b.names[i-1] }
	c, _ := form.CompareSiblings(b.keys[x.Key], b.keys[y.Key], spell, func(key uint16) int {
		p, pok := b.findAttribute(x, key)
		q, qok := b.findAttribute(y, key)
		return form.CompareValues(p, pok, q, qok, b.stored)
	})
	return c
}

// stored returns the units of a string that is stored.
func (b *Store) stored(addr form.Address) []byte { return b.Values.at(addr) }

// findAttribute finds an attribute of a node whose attributes are stored.
func (b *Store) findAttribute(n form.Node, name uint16) (form.Attribute, bool) {
	if n.AttrCount == 0 {
		return form.Attribute{}, false
	}
	run := b.Attributes.from(n.AttrAddr)[:int(n.AttrCount)*b.Attributes.size]
	for ; len(run) > 0; run = run[b.Attributes.size:] {
		if a := form.ParseAttribute(run); a.Name == name {
			return a, true
		}
	}
	return form.Attribute{}, false
}

// Write writes the data center. It must be called once, when everything is added.
func (b *Store) Write(ctx context.Context, w io.Writer) error {
	defer b.Abandon()
	if b.held {
		b.Fail(fmt.Errorf("datacenter: BUG: Write after Hold"))
	}
	img, err := b.image()
	if err != nil {
		return err
	}
	if err := img.write(ctx, w); err != nil {
		return fmt.Errorf("datacenter: writing: %w", err)
	}
	return nil
}

// image ends the root, and returns what writes the data.
func (b *Store) image() (*imageWriter, error) {
	root := b.EndNode(b.root, b.rootRun, b.sheets)
	if b.err != nil {
		return nil, b.err
	}
	copy(b.nodes.segments[0], root.Append(nil, form.Packed))
	// Equal runs and strings are not looked for any more, and what follows needs memory of its own.
	b.Attributes.Found, b.nodes.Found, b.Values.Found = table{}, table{}, table{}
	img := &imageWriter{b: b, names: newStringStore(b.Values.deflate, form.NameBuckets)}
	for _, name := range b.names {
		if _, err := img.names.add(wtf8.AppendUTF16(nil, name)); err != nil {
			return nil, fmt.Errorf("the name %q: %w", name, err)
		}
	}
	return img, nil
}

// Abandon stops all work in the background. It must be called if neither Write nor Open is.
func (b *Store) Abandon() {
	b.deflate.stop()
	b.Loading.Wait()
}
