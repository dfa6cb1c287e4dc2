package datacenter

import (
	"context"
	"fmt"
	"io"
	"slices"

	"lorefs/internal/wtf8"
)

// Rewriter makes a new file from another one, f, that it resembles. It moves each stored
// run of f once, so the work grows with the stored nodes. Nodes that are not in f are given
// in the form of the new file. It is for use by one goroutine.
type Rewriter struct {
	ctx context.Context
	f   *File // the same file, for this goroutine only
	b   *Builder

	names []uint16 // new name indexes by old ones
	keys  []uint16 // new key indexes by old ones
	// What has been moved, by its place in f.
	strings   movedStrings
	attrRuns  movedRuns
	childRuns movedRuns

	// moved is the number of stored nodes that were moved, and told the last that Progress was
	// called with.
	moved, told int64

	attrs []StoredAttribute // scratch
	// pending and encoded are scratch of moveAttributes. asked has the strings that askForStrings has
	// read, those from nextAsked on may still have to be moved.
	pending   []pendingRun
	encoded   []byte
	asked     []askedString
	nextAsked int

	levels [][]StoredNode // scratch, one for each depth
	runs   [][]Node       // the same for the nodes of f
}

// NewRewriter returns a Rewriter from f to a file with the names of f, followed by names.
// It must be closed.
func NewRewriter(ctx context.Context, f *File, names []string, opts WriteOptions) (*Rewriter, error) {
	if err := f.CheckNames(); err != nil {
		return nil, err
	}
	b, err := NewBuilder(slices.Concat(f.names, names), opts)
	if err != nil {
		return nil, err
	}
	r := &Rewriter{
		ctx: ctx, f: f.ReadAhead(&b.loading), b: b,
		names:    make([]uint16, len(f.names)+1),
		strings:  newMovedStrings(f.regions.values.data),
		attrRuns: newMovedRuns(f.regions.attributes), childRuns: newMovedRuns(f.regions.nodes),
	}
	b.reserve(f.counts)
	for i, name := range f.names {
		r.names[i+1] = b.NameIndex(name)
	}
	for _, k := range f.keys {
		for i, n := range k {
			k[i] = r.names[n]
		}
		r.keys = append(r.keys, b.keyOf(k))
	}
	return r, nil
}

// Close stops the work in the background.
func (r *Rewriter) Close() { r.b.Abandon() }

// Name returns the index of a name in the new file.
func (r *Rewriter) Name(name string) uint16 { return r.b.NameIndex(name) }

// Key returns the index of a key definition in the new file. k has names of the new file.
func (r *Rewriter) Key(k KeyNames) uint16 { return r.b.keyOf(k) }

// Node moves a node of f with its whole subtree.
func (r *Rewriter) Node(n Node) (StoredNode, error) { return r.node(n, 0) }

// Attributes moves the attributes of a node of f.
func (r *Rewriter) Attributes(n Node) ([]StoredAttribute, error) { return r.attributes(n, nil) }

// Attribute moves an attribute of f and gives it a name of the new file.
func (r *Rewriter) Attribute(name uint16, a Attribute) (raw StoredAttribute, err error) {
	if raw = a.raw(); a.typ == String {
		raw, err = r.string(a)
	}
	raw.name = name
	return raw, err
}

// Value makes a new attribute.
func (r *Rewriter) Value(name uint16, v Value) (StoredAttribute, error) {
	raw := v.stored()
	if v.typ == String {
		i, err := r.b.values.intern(wtf8.AppendUTF16(nil, v.text))
		if err != nil {
			return raw, err
		}
		raw = r.b.values.attribute(i)
	}
	raw.name = name
	return raw, nil
}

// Begin makes a node without children. End adds them. It does not matter what node of f it was.
func (r *Rewriter) Begin(_ Node, name, key uint16, flags KeyFlags, attrs []StoredAttribute) (n StoredNode, err error) {
	n = StoredNode{name: name, flags: uint8(flags), key: key, attrCount: uint16(len(attrs))}
	n.attrAddr, err = r.b.addAttributes(attrs)
	return n, err
}

// BeginSame is Begin for a node of f that keeps its attributes.
func (r *Rewriter) BeginSame(was Node, name, key uint16, flags KeyFlags) (StoredNode, error) {
	attrs, err := r.Attributes(was)
	if err != nil {
		return StoredNode{}, err
	}
	return r.Begin(was, name, key, flags, attrs)
}

// End adds the children to a node.
func (r *Rewriter) End(_ Node, n *StoredNode, children []StoredNode) (err error) {
	n.childCount = uint16(len(children))
	n.childAddr, err = r.b.addChildren(children)
	return err
}

// Compare compares siblings by everything but their former place.
func (r *Rewriter) Compare(x, y StoredNode) int { return r.b.compareNodes(x, y) }

// Root sets the keys, flags, attributes and children of the root.
func (r *Rewriter) Root(_ Node, key uint16, flags KeyFlags, attrs []StoredAttribute, children []StoredNode) {
	top := r.b.top()
	top.raw.flags, top.raw.key = uint8(flags), key
	top.attrs, top.children = attrs, children
}

// Write writes the new file. It must be called once. It reports whether some siblings of f
// were not in the order that the format demands.
func (r *Rewriter) Write(ctx context.Context, w io.Writer) (reordered bool, err error) {
	err = r.b.Write(ctx, w)
	return r.b.reordered, err
}

// keyOf returns the new key index of a node. A definition that does not exist becomes
// empty.
func (r *Rewriter) keyOf(n Node) uint16 {
	if int(n.raw.key) < len(r.keys) {
		return r.keys[n.raw.key]
	}
	return 0
}

// node moves a node's runs and returns the new stored node.
func (r *Rewriter) node(n Node, depth int) (StoredNode, error) {
	n.file = r.f
	raw := StoredNode{name: r.names[n.raw.name], flags: n.raw.flags, attrAddr: absent, childAddr: absent}
	raw.key = r.keyOf(n)
	var err error
	if raw.attrCount = n.raw.attrCount; raw.attrCount > 0 {
		if raw.attrAddr, err = r.attrRun(n); err != nil {
			return raw, err
		}
	}
	if n.raw.childCount > 0 {
		var moved movedRun
		moved, err = r.childRun(n, depth)
		raw.childAddr, raw.childCount = moved.addr, moved.count
	}
	return raw, err
}

func (r *Rewriter) attrRun(n Node) (Address, error) {
	k := runKey{n.raw.attrAddr, n.raw.attrCount}
	if moved, ok := r.attrRuns.get(k); ok {
		return moved.addr, nil
	}
	var err error
	if r.attrs, err = r.attributes(n, r.attrs[:0]); err != nil {
		return absent, err
	}
	addr, err := r.b.addAttributes(r.attrs)
	if err == nil {
		r.attrRuns.put(k, movedRun{addr, k.count})
	}
	return addr, err
}

// attributes appends the new stored attributes of n.
func (r *Rewriter) attributes(n Node, dst []StoredAttribute) ([]StoredAttribute, error) {
	if run, ok := r.plainRun(n, dst); ok {
		return run, nil
	}
	for a, err := range n.Attributes() {
		if err != nil {
			return dst, err
		}
		raw := a.raw()
		if a.typ == String {
			if raw, err = r.string(a); err != nil {
				return dst, err
			}
		}
		raw.name = r.names[a.name]
		dst = append(dst, raw)
	}
	return dst, nil
}

// plainRun is attributes for nearly all runs: they lie in one block, their names ascend,
// and nothing is wrong with them. It reports false for any other run and appends nothing,
// so that all special cases and errors are handled in attributes.
func (r *Rewriter) plainRun(n Node, dst []StoredAttribute) ([]StoredAttribute, bool) {
	size, count := int(r.f.layout.AttributeSize()), int(n.raw.attrCount)
	if count == 0 {
		return dst, true
	}
	off, err := run(r.f.regions.attributes, n.raw.attrAddr, count, int64(size))
	if err != nil {
		return dst, false
	}
	var scratch [maxAttributeSize]byte
	b, err := r.f.elements(off, count, size, scratch[:])
	if err != nil || len(b) < count*size {
		return dst, false
	}
	moved := dst
	prev := uint16(0)
	for ; len(b) >= size; b = b[size:] {
		raw := parseAttribute(b)
		ok := raw.name > prev && int(raw.name) < len(r.names)
		prev = raw.name
		if ok {
			raw, ok = r.plain(raw)
		}
		if !ok {
			return dst, false
		}
		raw.name = r.names[prev]
		moved = append(moved, raw)
	}
	return moved, true
}

// plain returns the new form of an attribute, but for its name. It reports false if
// something is wrong with the attribute.
func (r *Rewriter) plain(raw StoredAttribute) (StoredAttribute, bool) {
	switch Type(raw.typeCode) {
	case String:
		moved, err := r.value(raw.value())
		return moved, err == nil
	case Int: // and Bool
		return raw, raw.extended <= 1 && raw.name != r.f.valueName
	case Float:
		raw.extended = 0 // means nothing
		return raw, raw.name != r.f.valueName
	}
	return raw, false
}

// string moves a string and returns an attribute that refers to it.
func (r *Rewriter) string(a Attribute) (StoredAttribute, error) {
	raw, err := r.value(a.stringAddress())
	if err != nil {
		return raw, a.bad("%w", err)
	}
	return raw, nil
}

// value moves the string at addr.
func (r *Rewriter) value(addr Address) (StoredAttribute, error) {
	values := r.f.regions.values.data
	if _, err := run(values, addr, 1, charSize); err != nil {
		return StoredAttribute{}, fmt.Errorf("string: %w", err)
	}
	if i, ok := r.strings.get(addr); ok {
		return r.b.values.attribute(i), nil
	}
	s, err := r.readString(addr)
	if err != nil {
		return StoredAttribute{}, err
	}
	i, err := r.b.values.internHashed(s.units, s.hash)
	if err != nil {
		return StoredAttribute{}, err
	}
	r.strings.put(addr, i)
	return r.b.values.attribute(i), nil
}

func (r *Rewriter) childRun(n Node, depth int) (movedRun, error) {
	k := runKey{n.raw.childAddr, n.raw.childCount}
	if moved, ok := r.childRuns.get(k); ok {
		return moved, nil
	}
	if err := r.ctx.Err(); err != nil {
		return movedRun{}, err
	}
	if depth == len(r.levels) {
		r.levels, r.runs = append(r.levels, nil), append(r.runs, nil)
	}
	run, err := r.children(n, r.levels[depth][:0], depth)
	if err != nil {
		return movedRun{}, err
	}
	r.levels[depth] = run
	addr, err := r.b.addChildren(run)
	if err != nil {
		return movedRun{}, err
	}
	moved := movedRun{addr, uint16(len(run))}
	r.childRuns.put(k, moved)
	r.tell(len(run))
	return moved, nil
}

// tell counts stored nodes that were moved.
func (r *Rewriter) tell(nodes int) {
	const every = 1 << 12
	r.moved += int64(nodes)
	if r.b.opts.Progress != nil && r.moved-r.told >= every {
		r.told = r.moved
		r.b.opts.Progress(r.moved, r.f.counts.StoredNodes)
	}
}

// children appends the new stored children of n, which is depth levels below the node that is
// moved.
func (r *Rewriter) children(n Node, dst []StoredNode, depth int) ([]StoredNode, error) {
	run, err := n.AppendChildren(r.runs[depth][:0], 0, n.ChildCount())
	r.runs[depth] = run
	if err != nil {
		return dst, err
	}
	for i, ready := 0, 0; i < len(run); i++ {
		if i == ready {
			ready += r.batch(run[i:])
			r.moveAttributes(run[i:ready])
		}
		c := run[i]
		if c.raw.name == 0 {
			continue // a placeholder
		}
		raw, err := r.node(c, depth+1)
		if err != nil {
			return dst, err
		}
		dst = append(dst, raw)
	}
	return dst, nil
}
