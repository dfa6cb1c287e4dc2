package rewrite

import (
	"context"
	"fmt"
	"io"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/write"
	"lorefs/internal/wtf8"
)

// Rewriter makes a new file from another one, f, that it resembles. It moves each stored
// run of f once, so the work grows with the stored nodes. Nodes that are not in f are given
// in the form of the new file. It is for use by one goroutine.
type Rewriter struct {
	ctx context.Context
	// f is the file, for this goroutine only, and file the same for nodes.
	f    *form.File
	file *datacenter.File
	b    *write.Store

	names []uint16 // new name indexes by old ones
	keys  []uint16 // new key indexes by old ones
	// What has been moved, by its place in f.
	strings   movedStrings
	attrRuns  MovedRuns
	childRuns MovedRuns

	// moved is the number of stored nodes that were moved, and told the last that Progress was
	// called with.
	moved, told int64

	attrs []form.Attribute // scratch
	// pending and encoded are scratch of moveAttributes. asked has the strings that askForStrings has
	// read, those from nextAsked on may still have to be moved.
	pending   []pendingRun
	encoded   []byte
	asked     []askedString
	nextAsked int

	levels [][]form.Node       // scratch, one for each depth
	runs   [][]datacenter.Node // the same for the nodes of f
}

// NewRewriter returns a Rewriter from f to a file with the names of f, followed by names.
// It must be closed.
func NewRewriter(ctx context.Context, file *datacenter.File, names []string, opts write.Options) (*Rewriter, error) {
	f := file.Form()
	if err := f.CheckNames(); err != nil {
		return nil, err
	}
	b, err := write.NewStore(slices.Concat(f.Names, names), opts)
	if err != nil {
		return nil, err
	}
	own := f.ReadAhead(&b.Loading)
	r := &Rewriter{
		ctx: ctx, f: own, file: datacenter.Of(own), b: b,
		names:    make([]uint16, len(f.Names)+1),
		strings:  newMovedStrings(f.Regions.Values.Data),
		attrRuns: newMovedRuns(f.Regions.Attributes), childRuns: newMovedRuns(f.Regions.Nodes),
	}
	b.ReserveFor(f.Counts)
	for i, name := range f.Names {
		r.names[i+1] = b.NameIndex(name)
	}
	for _, k := range f.Keys {
		for i, n := range k {
			k[i] = r.names[n]
		}
		r.keys = append(r.keys, b.KeyOf(k))
	}
	return r, nil
}

// Close stops the work in the background.
func (r *Rewriter) Close() { r.b.Abandon() }

// Name returns the index of a name in the new file.
func (r *Rewriter) Name(name string) uint16 { return r.b.NameIndex(name) }

// Key returns the index of a key definition in the new file. k has names of the new file.
func (r *Rewriter) Key(k form.KeyNames) uint16 { return r.b.KeyOf(k) }

// Node moves a node of f with its whole subtree.
func (r *Rewriter) Node(n datacenter.Node) (form.Node, error) { return r.node(n, 0) }

// Attributes moves the attributes of a node of f.
func (r *Rewriter) Attributes(n datacenter.Node) ([]form.Attribute, error) {
	return r.attributes(n, nil)
}

// Attribute moves an attribute of f and gives it a name of the new file.
func (r *Rewriter) Attribute(name uint16, a datacenter.Attribute) (raw form.Attribute, err error) {
	if raw = a.Form(); a.Type() == form.String {
		raw, err = r.string(a)
	}
	raw.Name = name
	return raw, err
}

// Value makes a new attribute.
func (r *Rewriter) Value(name uint16, v datacenter.Value) (form.Attribute, error) {
	raw := form.NewAttribute(0, v.Type(), v.Bits())
	if v.Type() == form.String {
		i, err := r.b.Values.Intern(wtf8.AppendUTF16(nil, v.Text()))
		if err != nil {
			return raw, err
		}
		raw = r.b.Values.Attribute(i)
	}
	raw.Name = name
	return raw, nil
}

// Begin makes a node without children. End adds them. It does not matter what node of f it was.
func (r *Rewriter) Begin(_ datacenter.Node, name, key uint16, flags form.KeyFlags, attrs []form.Attribute) (n form.Node, err error) {
	n = form.Node{Name: name, Flags: uint8(flags), Key: key, AttrCount: uint16(len(attrs))}
	n.AttrAddr, err = r.b.AddAttributes(attrs)
	return n, err
}

// BeginSame is Begin for a node of f that keeps its attributes.
func (r *Rewriter) BeginSame(was datacenter.Node, name, key uint16, flags form.KeyFlags) (form.Node, error) {
	attrs, err := r.Attributes(was)
	if err != nil {
		return form.Node{}, err
	}
	return r.Begin(was, name, key, flags, attrs)
}

// End adds the children to a node.
func (r *Rewriter) End(_ datacenter.Node, n *form.Node, children []form.Node) (err error) {
	n.ChildCount = uint16(len(children))
	n.ChildAddr, err = r.b.AddChildren(children)
	return err
}

// Compare compares siblings by everything but their former place.
func (r *Rewriter) Compare(x, y form.Node) int { return r.b.CompareNodes(x, y) }

// Root sets the keys, flags, attributes and children of the root.
func (r *Rewriter) Root(_ datacenter.Node, key uint16, flags form.KeyFlags, attrs []form.Attribute, children []form.Node) {
	r.b.SetRoot(key, flags, attrs, children)
}

// Write writes the new file. It must be called once. It reports whether some siblings of f
// were not in the order that the format demands.
func (r *Rewriter) Write(ctx context.Context, w io.Writer) (reordered bool, err error) {
	err = r.b.Write(ctx, w)
	return r.b.Reordered, err
}

// KeyOf returns the new key index of a node. A definition that does not exist becomes
// empty.
func (r *Rewriter) keyOf(n datacenter.Node) uint16 {
	if int(n.Form().Key) < len(r.keys) {
		return r.keys[n.Form().Key]
	}
	return 0
}

// node moves a node's runs and returns the new stored node.
func (r *Rewriter) node(n datacenter.Node, depth int) (form.Node, error) {
	n = n.In(r.file)
	raw := form.Node{Name: r.names[n.Form().Name], Flags: n.Form().Flags, AttrAddr: form.Absent, ChildAddr: form.Absent}
	raw.Key = r.keyOf(n)
	var err error
	if raw.AttrCount = n.Form().AttrCount; raw.AttrCount > 0 {
		if raw.AttrAddr, err = r.attrRun(n); err != nil {
			return raw, err
		}
	}
	if n.Form().ChildCount > 0 {
		var moved form.RunKey
		moved, err = r.childRun(n, depth)
		raw.ChildAddr, raw.ChildCount = moved.Addr, moved.Count
	}
	return raw, err
}

func (r *Rewriter) attrRun(n datacenter.Node) (form.Address, error) {
	k := form.RunKey{Addr: n.Form().AttrAddr, Count: n.Form().AttrCount}
	if moved, ok := r.attrRuns.get(k); ok {
		return moved.Addr, nil
	}
	var err error
	if r.attrs, err = r.attributes(n, r.attrs[:0]); err != nil {
		return form.Absent, err
	}
	addr, err := r.b.AddAttributes(r.attrs)
	if err == nil {
		r.attrRuns.put(k, form.RunKey{Addr: addr, Count: k.Count})
	}
	return addr, err
}

// Attributes appends the new stored attributes of n.
func (r *Rewriter) attributes(n datacenter.Node, dst []form.Attribute) ([]form.Attribute, error) {
	if run, ok := r.plainRun(n, dst); ok {
		return run, nil
	}
	for a, err := range n.Attributes() {
		if err != nil {
			return dst, err
		}
		raw := a.Form()
		if a.Type() == form.String {
			if raw, err = r.string(a); err != nil {
				return dst, err
			}
		}
		raw.Name = r.names[a.NameIndex()]
		dst = append(dst, raw)
	}
	return dst, nil
}

// plainRun is attributes for nearly all runs: they lie in one block, their names ascend,
// and nothing is wrong with them. It reports false for any other run and appends nothing,
// so that all special cases and errors are handled in attributes.
func (r *Rewriter) plainRun(n datacenter.Node, dst []form.Attribute) ([]form.Attribute, bool) {
	size, count := int(r.f.Layout.AttributeSize()), int(n.Form().AttrCount)
	if count == 0 {
		return dst, true
	}
	off, err := form.Run(r.f.Regions.Attributes, n.Form().AttrAddr, count, int64(size))
	if err != nil {
		return dst, false
	}
	var scratch [form.MaxAttributeSize]byte
	b, err := r.f.Elements(off, count, size, scratch[:])
	if err != nil || len(b) < count*size {
		return dst, false
	}
	moved := dst
	prev := uint16(0)
	for ; len(b) >= size; b = b[size:] {
		raw := form.ParseAttribute(b)
		ok := raw.Name > prev && int(raw.Name) < len(r.names)
		prev = raw.Name
		if ok {
			raw, ok = r.plain(raw)
		}
		if !ok {
			return dst, false
		}
		raw.Name = r.names[prev]
		moved = append(moved, raw)
	}
	return moved, true
}

// plain returns the new form of an attribute, but for its name. It reports false if
// something is wrong with the attribute.
func (r *Rewriter) plain(raw form.Attribute) (form.Attribute, bool) {
	switch form.Type(raw.TypeCode) {
	case form.String:
		moved, err := r.value(raw.Value())
		return moved, err == nil
	case form.Int: // and Bool
		return raw, raw.Extended <= 1 && raw.Name != r.f.ValueName
	case form.Float:
		raw.Extended = 0 // means nothing
		return raw, raw.Name != r.f.ValueName
	}
	return raw, false
}

// string moves a string and returns an attribute that refers to it.
func (r *Rewriter) string(a datacenter.Attribute) (form.Attribute, error) {
	raw, err := r.value(a.Form().Value())
	if err != nil {
		return raw, r.f.BadAttribute(a.Address(), "%w", err)
	}
	return raw, nil
}

// Value moves the string at addr.
func (r *Rewriter) value(addr form.Address) (form.Attribute, error) {
	values := r.f.Regions.Values.Data
	if _, err := form.Run(values, addr, 1, form.CharSize); err != nil {
		return form.Attribute{}, fmt.Errorf("string: %w", err)
	}
	if i, ok := r.strings.get(addr); ok {
		return r.b.Values.Attribute(i), nil
	}
	s, err := r.readString(addr)
	if err != nil {
		return form.Attribute{}, err
	}
	i, err := r.b.Values.InternHashed(s.units, s.hash)
	if err != nil {
		return form.Attribute{}, err
	}
	r.strings.put(addr, i)
	return r.b.Values.Attribute(i), nil
}

func (r *Rewriter) childRun(n datacenter.Node, depth int) (form.RunKey, error) {
	k := form.RunKey{Addr: n.Form().ChildAddr, Count: n.Form().ChildCount}
	if moved, ok := r.childRuns.get(k); ok {
		return moved, nil
	}
	if err := r.ctx.Err(); err != nil {
		return form.RunKey{}, err
	}
	if depth == len(r.levels) {
		r.levels, r.runs = append(r.levels, nil), append(r.runs, nil)
	}
	run, err := r.children(n, r.levels[depth][:0], depth)
	if err != nil {
		return form.RunKey{}, err
	}
	r.levels[depth] = run
	addr, err := r.b.AddChildren(run)
	if err != nil {
		return form.RunKey{}, err
	}
	moved := form.RunKey{Addr: addr, Count: uint16(len(run))}
	r.childRuns.put(k, moved)
	r.tell(len(run))
	return moved, nil
}

// tell counts stored nodes that were moved.
func (r *Rewriter) tell(nodes int) {
	const every = 1 << 12
	r.moved += int64(nodes)
	if r.b.Opts.Progress != nil && r.moved-r.told >= every {
		r.told = r.moved
		r.b.Opts.Progress(r.moved, r.f.Counts.StoredNodes)
	}
}

// children appends the new stored children of n, which is depth levels below the node that is
// moved.
func (r *Rewriter) children(n datacenter.Node, dst []form.Node, depth int) ([]form.Node, error) {
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
		if c.Form().Name == 0 {
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
