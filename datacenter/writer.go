package datacenter

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"lorefs/internal/wtf8"
)

// WriteOptions are the options for writing a data center. The zero value is right but for
// the header, which edit.Snapshot.Write takes from the file.
type WriteOptions struct {
	// Layout is the layout to write. Default: LayoutV6X64.
	Layout Layout
	// Header is written, but with the version of the layout.
	Header Header
	// Revision replaces the header's revision. Default: the header's.
	Revision *uint32
	// Key is the key for encryption. Default: the first of DefaultKeys.
	Key *Key
	// Level is the deflate level, 0 to 9. Default: 6.
	Level *int
	// Progress is called by a Rewriter now and then, with the number of stored nodes that it has
	// moved and their total. What is left then takes little time. Default: no reports.
	Progress func(done, total int64)
}

const defaultLevel = 6

func (o *WriteOptions) setDefaults() {
	if o.Layout == LayoutAuto {
		o.Layout = LayoutV6X64
	}
	if o.Key == nil {
		o.Key = &DefaultKeys()[0]
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

// Builder lays out a data center node by node:
//
//	b, err := NewBuilder(names, opts)
//	b.Begin("ItemData", nil, 0)      a sheet
//	b.Begin("Item", keys, 0)
//	b.Int("id", 7)
//	b.String("name", "sword")
//	b.End()
//	b.End()
//	err = b.Write(ctx, w)
//
// A Builder keeps its data in the form of the file. It keeps each run of attributes or
// children once, however often you add it. You may add attributes and children in any order:
// the Builder sorts them as the format demands. Children with one name, one key definition
// and equal keys stay in the order in which you added them.
//
// Errors are sticky: Write or Open returns the first one. A Builder is not safe for concurrent use, but for
// StoreText and an AttributeBatch.
type Builder struct {
	opts    WriteOptions
	deflate *deflater
	held    bool           // [Builder.Hold] was called
	loading sync.WaitGroup // blocks that are read ahead for the Rewriter
	names   []string
	index   map[string]uint16

	keys     []KeyNames
	keyIndex map[KeyNames]uint16
	// attributeTurn is for attributes while an AttributeBatch may be stored. seen are segments that
	// need no turn: what is in them does not change.
	attributeTurn sync.Mutex
	attributes    runStore
	seen          [][]byte
	nodes         runStore
	// textTurn is for values while StoreText may be called.
	textTurn sync.Mutex
	values   stringStore // guarded by textTurn

	// open has the nodes between Begin and End, the root first.
	open []openNode
	// run and text are buffers.
	run, text []byte
	// reordered is set if children were added in another order than they are written in.
	reordered bool
	err       error
}

// openNode is a node that is still given attributes and children.
type openNode struct {
	raw      StoredNode
	attrs    []StoredAttribute
	children []StoredNode
}

// NewBuilder returns a Builder for nodes and attributes with the given names. The order of
// the names is the order of attributes, and of children of different names. __root__ and
// __value__ always come last, whether they are in names or not.
func NewBuilder(names []string, opts WriteOptions) (*Builder, error) {
	opts.setDefaults()
	d := newDeflater(*opts.Level)
	b := &Builder{
		opts: opts, deflate: d, index: map[string]uint16{}, keyIndex: map[KeyNames]uint16{},
		attributes: newAttributeStore(d, opts.Layout),
		nodes:      newNodeStore(d, opts.Layout),
		values:     newStringStore(d, valueBuckets),
	}
	for _, name := range names {
		if _, twice := b.index[name]; !twice && name != RootName && name != ValueName {
			b.addName(name)
		}
	}
	b.addName(RootName)
	b.addName(ValueName)
	if len(b.names) > MaxNames {
		return nil, fmt.Errorf("datacenter: %d names: %w", len(b.names), ErrTooLarge)
	}
	b.keyOf(KeyNames{}) // the empty definition must be the first
	// The root must lie at 0:0, so its place is taken first.
	if _, err := b.nodes.place(StoredNode{}.append(nil, packed)); err != nil {
		return nil, err
	}
	b.open = []openNode{{raw: StoredNode{name: b.index[RootName]}}}
	return b, nil
}

// reserve makes room for the counts that a file states. It ignores counts that are larger
// than those of real files, since they may be false.
func (b *Builder) reserve(c Counts) {
	const (
		perRun = 8 // elements: in real files a run has 6 attributes and 7 nodes on average
		most   = 1 << 21
	)
	b.Reserve(int(min(c.StoredAttributes/perRun, most)), int(min(c.StoredNodes/perRun, most)), int(min(c.Values, most)))
}

// Reserve makes room for so many different runs of attributes, runs of children, and strings, before the
// first is stored. More may come: it saves the time for making room later.
func (b *Builder) Reserve(attributes, children, texts int) {
	b.attributes.found.reserve(attributes)
	b.nodes.found.reserve(children)
	b.values.reserve(texts)
}

func (b *Builder) addName(name string) {
	b.names = append(b.names, name)
	b.index[name] = uint16(len(b.names))
}

// keyOf returns the index of a key definition.
func (b *Builder) keyOf(k KeyNames) uint16 {
	i, ok := b.keyIndex[k]
	if !ok {
		if len(b.keys) == MaxKeys {
			b.fail(fmt.Errorf("datacenter: more than %d key definitions: %w", MaxKeys, ErrTooLarge))
			return 0
		}
		i = uint16(len(b.keys))
		b.keys = append(b.keys, k)
		b.keyIndex[k] = i
	}
	return i
}

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Begin begins a child of the open node that was begun last. If no node is open, the child
// is a sheet.
func (b *Builder) Begin(name string, keys KeyDefinition, flags KeyFlags) {
	if len(b.open) > MaxDepth {
		b.fail(fmt.Errorf("datacenter: nested deeper than %d: %w", MaxDepth, ErrTooLarge))
	}
	b.push(b.NewNode(name, keys, flags))
}

// keyNames returns a key definition as it is written.
func (b *Builder) keyNames(keys KeyDefinition) (k KeyNames) {
	if len(keys) > len(k) {
		b.fail(fmt.Errorf("datacenter: %d keys of a node: %w", len(keys), ErrTooLarge))
		keys = keys[:len(k)]
	}
	for i, key := range keys {
		k[i] = b.NameIndex(key)
	}
	return k
}

// push opens a node. It reuses the buffers of the last node at this depth, since there are
// millions of nodes but only a dozen are open at a time.
func (b *Builder) push(n StoredNode) {
	if len(b.open) == cap(b.open) {
		b.open = append(b.open, openNode{raw: n})
		return
	}
	b.open = b.open[:len(b.open)+1]
	top := b.top()
	*top = openNode{raw: n, attrs: top.attrs[:0], children: top.children[:0]}
}

func (b *Builder) top() *openNode { return &b.open[len(b.open)-1] }

func (b *Builder) attribute(r StoredAttribute) {
	if n := b.top(); len(b.open) > 1 {
		n.attrs = append(n.attrs, r)
		return
	}
	b.fail(fmt.Errorf("datacenter: BUG: the root has no attributes"))
}

// Int adds an attribute to the open node that was begun last, as do Float, Bool, String and
// Text.
func (b *Builder) Int(name string, v int32) { b.number(name, Int, uint32(v)) }

// Float adds an attribute.
func (b *Builder) Float(name string, v float32) {
	b.number(name, Float, math.Float32bits(v))
}

// Bool adds an attribute.
func (b *Builder) Bool(name string, v bool) { b.number(name, Bool, uint32(bit(v))) }

// String adds an attribute. v is WTF-8.
func (b *Builder) String(name, v string) {
	r := NewAttribute(b.NameIndex(name), String)
	if b.err != nil {
		return // it may be that there is no such name
	}
	b.text = wtf8.AppendUTF16(b.text[:0], v)
	t, err := b.storeUnits(b.text)
	if err != nil {
		b.fail(fmt.Errorf("%s: %w", name, err))
		return
	}
	r.SetText(t)
	b.attribute(r)
}

// Text sets the text of the node, that is, the attribute __value__.
func (b *Builder) Text(v string) { b.String(ValueName, v) }

func (b *Builder) number(name string, t Type, bits uint32) {
	r := NewAttribute(b.NameIndex(name), t)
	r.SetNumber(bits)
	b.attribute(r)
}

func stringAttribute(addr Address, hash uint16) StoredAttribute {
	return StoredAttribute{typeCode: uint8(String), extended: hash, bits: uint32(addr.Segment) | uint32(addr.Element)<<16}
}

// End ends the open node that was begun last.
func (b *Builder) End() {
	if len(b.open) == 1 {
		b.fail(fmt.Errorf("datacenter: BUG: End without Begin"))
		return
	}
	n := b.finish()
	b.top().children = append(b.top().children, n)
}

// finish removes the top node from open and stores its runs.
func (b *Builder) finish() StoredNode {
	n := *b.top()
	b.open = b.open[:len(b.open)-1]
	var err error
	if b.err != nil {
		return n.raw // indexes may be 0, but nothing will be written
	}
	if n.raw.attrAddr, err = b.addAttributes(n.attrs); err != nil {
		b.fail(fmt.Errorf("%s: %w", b.names[n.raw.name-1], err))
	} else {
		n.raw.attrCount = uint16(len(n.attrs))
	}
	if n.raw.childAddr, err = b.addChildren(n.children); err != nil {
		b.fail(fmt.Errorf("%s: %w", b.names[n.raw.name-1], err))
	} else {
		n.raw.childCount = uint16(len(n.children))
	}
	return n.raw
}

// addAttributes sorts and stores a run of attributes.
func (b *Builder) addAttributes(run []StoredAttribute) (Address, error) {
	if len(run) > math.MaxUint16 {
		return absent, fmt.Errorf("datacenter: %d attributes: %w", len(run), ErrTooLarge)
	}
	var err error
	if b.run, err = b.encodeAttributes(b.run[:0], run); err != nil {
		return absent, err
	}
	return b.attributes.add(b.run)
}

// encodeAttributes sorts a run of attributes and appends its stored form.
func (b *Builder) encodeAttributes(dst []byte, run []StoredAttribute) ([]byte, error) {
	for i := 1; i < len(run); i++ {
		if run[i].name < run[i-1].name {
			slices.SortFunc(run, func(x, y StoredAttribute) int { return int(x.name) - int(y.name) })
			break
		}
	}
	for i, a := range run {
		if i > 0 && a.name == run[i-1].name {
			return dst, fmt.Errorf("datacenter: %w: %s comes twice", ErrValue, b.names[a.name-1])
		}
		dst = a.append(dst, packed)
	}
	return dst, nil
}

// addChildren stores a run of children. It sorts them first, stably.
func (b *Builder) addChildren(run []StoredNode) (Address, error) {
	if len(run) > math.MaxUint16 {
		return absent, fmt.Errorf("datacenter: %d children: %w", len(run), ErrTooLarge)
	}
	if !b.inOrder(run) {
		b.reordered = true
		slices.SortStableFunc(run, b.compareNodes)
	}
	b.run = b.run[:0]
	for _, n := range run {
		b.run = n.append(b.run, packed)
	}
	return b.nodes.add(b.run)
}

// inOrder reports whether siblings are sorted. Nearly all of them are, and by their names.
func (b *Builder) inOrder(run []StoredNode) bool {
	for i := 1; i < len(run); i++ {
		x, y := &run[i-1], &run[i]
		byName := x.name < y.name || x.name == y.name && x.key == 0 && y.key == 0
		if !byName && b.compareNodes(*x, *y) > 0 {
			return false
		}
	}
	return true
}

// compareNodes compares siblings.
func (b *Builder) compareNodes(x, y StoredNode) int {
	if x.name != y.name || x.key == 0 && y.key == 0 {
		return int(x.name) - int(y.name)
	}
	spell := func(i uint16) string { return b.names[i-1] }
	c, _ := CompareSiblings(b.keys[x.key], b.keys[y.key], spell, func(key uint16) int {
		p, pok := b.findAttribute(x, key)
		q, qok := b.findAttribute(y, key)
		return compareValues(p, pok, q, qok, b.stored)
	})
	return c
}

// stored returns the units of a string that is stored.
func (b *Builder) stored(addr Address) []byte {
	b.textTurn.Lock()
	defer b.textTurn.Unlock()
	return b.values.at(addr)
}

// findAttribute finds an attribute of a node whose attributes are stored.
func (b *Builder) findAttribute(n StoredNode, name uint16) (StoredAttribute, bool) {
	if n.attrCount == 0 {
		return StoredAttribute{}, false
	}
	run := b.attributesAt(n.attrAddr)[:int(n.attrCount)*b.attributes.size]
	for ; len(run) > 0; run = run[b.attributes.size:] {
		if a := parseAttribute(run); a.name == name {
			return a, true
		}
	}
	return StoredAttribute{}, false
}

// Write writes the data center. It must be called once, after the last End.
func (b *Builder) Write(ctx context.Context, w io.Writer) error {
	defer b.Abandon()
	if b.held {
		b.fail(fmt.Errorf("datacenter: BUG: Write after Hold"))
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
func (b *Builder) image() (*imageWriter, error) {
	if b.err == nil && len(b.open) != 1 {
		b.fail(fmt.Errorf("datacenter: BUG: %d nodes are not ended", len(b.open)-1))
	}
	if b.err != nil {
		return nil, b.err
	}
	root := b.finish()
	if b.err != nil {
		return nil, b.err
	}
	copy(b.nodes.segments[0], root.append(nil, packed))
	// Equal runs and strings are not looked for any more, and what follows needs memory of its own.
	b.attributes.found, b.nodes.found, b.values.found = table{}, table{}, table{}
	img := &imageWriter{b: b, names: newStringStore(b.values.deflate, nameBuckets)}
	for _, name := range b.names {
		if _, err := img.names.add(wtf8.AppendUTF16(nil, name)); err != nil {
			return nil, fmt.Errorf("the name %q: %w", name, err)
		}
	}
	return img, nil
}

// Abandon stops all work in the background. It must be called if neither Write nor Open is.
func (b *Builder) Abandon() {
	b.deflate.stop()
	b.loading.Wait()
}
