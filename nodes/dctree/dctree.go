package dctree

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/treepath"
	"lorefs/nodes"
)

// Options configure New.
type Options struct {
	// ModTime is the time of all files.
	ModTime time.Time
	// SourceSize is the size of the .dat in bytes, for statfs(2).
	SourceSize int64
	// Check returns an error if the source is no longer what it was when it was opened. It is
	// called before anything is read. Default: nil.
	Check func() error
}

// Tree is the tree of a data center. It is safe for parallel use. It keeps nothing in memory but
// the spelling of the names.
type Tree struct {
	file *datacenter.File
	opts Options

	names *treepath.Names
	// indexes has the indexes of names by how they are spelled.
	indexes map[string]uint16
}

var (
	_ nodes.Tree    = (*Tree)(nil)
	_ nodes.Xattrer = (*Tree)(nil)
)

// New returns the tree of f. It fails if two names of f are the same text, since two entries of
// a directory could then have the same name.
func New(f *datacenter.File, opts Options) (*Tree, error) {
	if opts.Check == nil {
		opts.Check = func() error { return nil }
	}
	names, err := treepath.NewNames(f)
	if err != nil {
		return nil, err
	}
	t := &Tree{file: f, opts: opts, names: names, indexes: make(map[string]uint16, len(f.Names()))}
	for i := range f.Names() {
		t.indexes[names.Escaped(uint16(i+1))] = uint16(i + 1)
	}
	return t, nil
}

// Usage returns the size of the .dat, and the number of nodes and attributes.
func (t *Tree) Usage() nodes.Usage {
	c := t.file.Counts()
	return nodes.Usage{Bytes: t.opts.SourceSize, Nodes: c.Nodes + c.Attributes}
}

// check is called first by every method.
func (t *Tree) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.opts.Check()
}

// wrap maps the errors of the format to those of the tree.
func wrap(err error) error {
	if errors.Is(err, datacenter.ErrChanged) {
		return nodes.Mark(err, nodes.ErrChanged)
	}
	return err
}

// dir returns the node with an ID.
func (t *Tree) dir(id nodes.ID) (number uint32, n datacenter.Node, err error) {
	number, addr, attribute, ok := split(id)
	if !ok {
		return 0, n, nodes.NotExist(id)
	}
	if attribute {
		return 0, n, fmt.Errorf("%v: %w", id, nodes.ErrNotDir)
	}
	if n, err = t.file.Node(addr); err != nil {
		return 0, n, t.missing(id, err)
	}
	if n.Entries() == 0 {
		return 0, n, nodes.NotExist(id)
	}
	return number, n, nil
}

// missing returns the error for an unknown ID. If the source itself fails, it is err.
func (t *Tree) missing(id nodes.ID, err error) error {
	if errors.Is(err, datacenter.ErrAddress) {
		return nodes.NotExist(id)
	}
	return wrap(err)
}

// attribute returns the attribute with an ID.
func (t *Tree) attribute(id nodes.ID) (datacenter.Attribute, error) {
	_, addr, attribute, ok := split(id)
	if !ok {
		return datacenter.Attribute{}, nodes.NotExist(id)
	}
	if !attribute {
		return datacenter.Attribute{}, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	}
	a, err := t.file.Attribute(addr)
	if err != nil {
		return a, t.missing(id, err)
	}
	return a, nil
}

// Attr implements [nodes.Tree].
func (t *Tree) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if err := t.check(ctx); err != nil {
		return nodes.Attr{}, err
	}
	attr := nodes.Attr{Kind: nodes.Dir, ModTime: t.opts.ModTime}
	if _, _, attribute, ok := split(id); !ok || !attribute {
		_, _, err := t.dir(id)
		return attr, err
	}
	a, err := t.attribute(id)
	if err != nil {
		return nodes.Attr{}, err
	}
	attr.Kind = nodes.File
	attr.Size, err = fileSize(a)
	return attr, err
}

// fileSize returns the size of an attribute's file: the value and a newline.
func fileSize(a datacenter.Attribute) (int64, error) {
	n, err := a.TextLen()
	return int64(n) + 1, wrap(err)
}

// ReadAt implements [nodes.Tree].
func (t *Tree) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	if err := t.check(ctx); err != nil {
		return 0, err
	}
	a, err := t.attribute(id)
	if err != nil {
		return 0, err
	}
	var scratch [256]byte
	text, err := a.AppendText(scratch[:0])
	if err != nil {
		return 0, wrap(err)
	}
	return nodes.ReadContent(append(text, '\n'), p, off)
}

// Lookup implements [nodes.Tree].
func (t *Tree) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	if err := t.check(ctx); err != nil {
		return nodes.Entry{}, err
	}
	number, n, err := t.dir(dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	if e, ok, err := t.lookupAttribute(number, n, name); ok || err != nil {
		return e, wrap(err)
	}
	if e, ok, err := t.lookupChild(number, n, name); ok || err != nil {
		return e, wrap(err)
	}
	return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
}

func (t *Tree) lookupAttribute(number uint32, n datacenter.Node, name string) (e nodes.Entry, ok bool, err error) {
	plain, marked := name, len(name) > 0 && name[0] == '@'
	if marked {
		plain = name[1:]
	}
	index, ok := t.indexes[plain]
	if !ok {
		return e, false, nil
	}
	a, ok, err := n.Attribute(index)
	if err != nil || !ok {
		return e, false, err
	}
	_, shared, err := n.ChildNamed(index, 0)
	if err != nil || shared != marked {
		return e, false, err
	}
	e, err = t.attributeEntry(number, n, a, shared)
	return e, err == nil, err
}

func (t *Tree) lookupChild(number uint32, n datacenter.Node, name string) (nodes.Entry, bool, error) {
	plain, ordinal, ok := treepath.SplitOrdinal(name)
	index, known := t.indexes[plain]
	if !ok || !known || ordinal >= math.MaxUint16 {
		return nodes.Entry{}, false, nil
	}
	c, ok, err := n.ChildNamed(index, ordinal)
	if err != nil || !ok {
		return nodes.Entry{}, false, err
	}
	first := number + 1 + uint32(n.AttributeCount())
	return nodes.Entry{
		Name: name, Kind: nodes.Dir,
		ID: nodeID(first+n.EntriesBefore(n.ChildIndex(c)), c.Address()),
	}, true, nil
}

func (t *Tree) attributeEntry(number uint32, n datacenter.Node, a datacenter.Attribute, shared bool) (nodes.Entry, error) {
	size, err := fileSize(a)
	if err != nil {
		return nodes.Entry{}, err
	}
	name := t.names.Escaped(a.NameIndex())
	if shared {
		name = "@" + name
	}
	return nodes.Entry{
		Name: name, Kind: nodes.File, Size: size,
		ID: attributeID(number+1+uint32(n.AttributeIndex(a)), a.Address()),
	}, nil
}

// ReadDir implements [nodes.Tree]. A cursor is a position in the run of attributes, or the
// length of that run plus a position in the run of children.
func (t *Tree) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		err := t.check(ctx)
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		number, n, err := t.dir(dir)
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		attrs := uint64(n.AttributeCount())
		if cursor < attrs && !t.eachAttribute(number, n, int(cursor), yield) {
			return
		}
		t.eachChild(number, n, int(min(max(cursor, attrs)-attrs, math.MaxUint16)), yield)
	}
}

// eachAttribute yields the attributes. It returns false if the listing has to end.
func (t *Tree) eachAttribute(number uint32, n datacenter.Node, from int, yield func(nodes.Entry, error) bool) bool {
	var shared treepath.Shared
	for a, err := range n.AttributesFrom(from) {
		var e nodes.Entry
		var both bool
		if err == nil {
			both, err = shared.Has(n, a.NameIndex())
		}
		if err == nil {
			e, err = t.attributeEntry(number, n, a, both)
			e.Next = uint64(n.AttributeIndex(a)) + 1
		}
		if err != nil {
			yield(nodes.Entry{}, wrap(err))
			return false
		}
		if !yield(e, nil) {
			return false
		}
	}
	return true
}

func (t *Tree) eachChild(number uint32, n datacenter.Node, from int, yield func(nodes.Entry, error) bool) {
	if from >= n.ChildCount() {
		return
	}
	attrs := n.AttributeCount()
	number += 1 + uint32(attrs) + n.EntriesBefore(from)
	var siblings treepath.Siblings
	if err := siblings.BeginAt(n, from); err != nil {
		yield(nodes.Entry{}, wrap(err))
		return
	}
	for c, err := range n.ChildrenFrom(from) {
		if err != nil {
			yield(nodes.Entry{}, wrap(err))
			return
		}
		e := nodes.Entry{
			Name: t.names.Escaped(c.NameIndex()), Kind: nodes.Dir,
			ID:   nodeID(number, c.Address()),
			Next: uint64(attrs+n.ChildIndex(c)) + 1,
		}
		if ordinal := siblings.Next(c); ordinal > 0 {
			e.Name += "." + strconv.Itoa(ordinal)
		}
		number += c.Entries()
		if !yield(e, nil) {
			return
		}
	}
}
