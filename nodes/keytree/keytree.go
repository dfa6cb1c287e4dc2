package keytree

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/treepath"
	"lorefs/nodes"
)

// Options configure New.
type Options struct {
	// ModTime is the time of everything.
	ModTime time.Time
	// SourceSize is the size of the .dat in bytes, for statfs(2).
	SourceSize int64
	// Check returns an error if the source is no longer what it was when it was opened. It is
	// called before anything is read. Default: nil.
	Check func() error
}

// Tree is the tree of links. It is safe for parallel use.
type Tree struct {
	file  *datacenter.File
	draft *edit.Draft // or nil
	src   *sheets.Source
	opts  Options
	names names
	cache cache
	usage int64

	mu sync.Mutex // guards watcher
	// watcher is told of changes. It may be nil.
	watcher func(nodes.Change)
}

var (
	_ nodes.Tree     = (*Tree)(nil)
	_ nodes.Linker   = (*Tree)(nil)
	_ nodes.Changing = (*Tree)(nil)
	_ nodes.Capable  = (*Tree)(nil)
)

// Caps implements [nodes.Capable]: only a draft changes.
func (t *Tree) Caps() nodes.Caps {
	if t.draft == nil {
		return nodes.CapLink
	}
	return nodes.CapLink | nodes.CapChange
}

// New returns the tree of f or, if d is not nil, of d, which must be a draft of f. src has the
// sheets of the same. The links lead to a directory tree beside that of the tree.
func New(f *datacenter.File, d *edit.Draft, src *sheets.Source, opts Options) (*Tree, error) {
	if opts.Check == nil {
		opts.Check = func() error { return nil }
	}
	spelled, err := treepath.NewNames(f)
	if err != nil {
		return nil, err
	}
	t := &Tree{
		file: f, draft: d, src: src, opts: opts,
		names: names{file: spelled, numbers: map[string]uint32{}, texts: f.Names()},
	}
	t.cache.init()
	if t.usage, err = t.most(); err != nil {
		return nil, err
	}
	if d != nil {
		d.Watch(t.changed)
	}
	return t, nil
}

// most returns how many nodes there are at most: a link and a directory for each child of a sheet
// of the file, and directories for sheets and families.
func (t *Tree) most() (most int64, err error) {
	top, err := t.file.Root()
	if err != nil {
		return 0, err
	}
	most = 1
	for s, err := range top.Children() {
		if err != nil {
			return 0, err
		}
		most += 2 + 2*int64(s.ChildCount())
	}
	return most, nil
}

// Usage returns the size of the .dat, and a number of nodes that is too high rather than too
// low: how many there are is only known when everything was listed.
func (t *Tree) Usage() nodes.Usage {
	u := nodes.Usage{Bytes: t.opts.SourceSize, Nodes: t.usage}
	if t.draft != nil {
		c := t.file.Counts()
		u.Nodes += 2 * max(t.draft.Entries()-c.Nodes-c.Attributes, 0)
	}
	return u
}

// wrap maps the errors of the format to those of the tree.
func wrap(err error) error {
	switch {
	case errors.Is(err, datacenter.ErrChanged):
		return nodes.Mark(err, nodes.ErrChanged)
	case errors.Is(err, edit.ErrGone):
		return nodes.Mark(err, nodes.ErrNotExist)
	}
	return err
}

// place returns what an ID refers to, and of a directory its family.
func (t *Tree) place(ctx context.Context, id nodes.ID) (p place, f *sheets.Family, err error) {
	if err := ctx.Err(); err != nil {
		return p, nil, err
	}
	if err := t.opts.Check(); err != nil {
		return p, nil, err
	}
	p, ok := split(id)
	if ok {
		switch p.kind {
		case family, familyKids:
			f, ok = t.src.FamilyByID(p.of)
		case sheet, sheetKids:
			var s sheets.Sheet
			if s, ok = t.src.Sheet(edit.Number(p.of)); ok {
				f = t.src.FamilyOf(s)
			}
		}
	}
	if ok && (p.kind == familyKids || p.kind == sheetKids) {
		_, ok = t.names.text(p.name)
	}
	if !ok {
		return p, nil, nodes.NotExist(id)
	}
	return p, f, nil
}

// Attr implements [nodes.Tree].
func (t *Tree) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	p, _, err := t.place(ctx, id)
	if err != nil {
		return nodes.Attr{}, err
	}
	attr := nodes.Attr{Kind: nodes.Dir, ModTime: t.opts.ModTime}
	if p.kind == link {
		attr.Kind = nodes.Link
		target, err := t.target(ctx, p)
		attr.Size = int64(len(target))
		return attr, err
	}
	return attr, nil
}

// dir returns the directory with an ID, and its family.
func (t *Tree) dir(ctx context.Context, id nodes.ID) (p place, f *sheets.Family, err error) {
	p, f, err = t.place(ctx, id)
	if err == nil && p.kind == link {
		err = fmt.Errorf("%v: %w", id, nodes.ErrNotDir)
	}
	return p, f, err
}

// ReadAt implements [nodes.Tree]. There are no files.
func (t *Tree) ReadAt(ctx context.Context, id nodes.ID, _ []byte, _ int64) (int, error) {
	p, _, err := t.place(ctx, id)
	switch {
	case err != nil:
		return 0, err
	case p.kind == link:
		return 0, fmt.Errorf("%v is a link: %w", id, nodes.ErrInvalid)
	}
	return 0, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
}

// Lookup implements [nodes.Tree].
func (t *Tree) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	p, f, err := t.dir(ctx, dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	if p.kind == root {
		return t.lookupFamily(ctx, name)
	}
	l, err := t.listing(ctx, p, f)
	if err != nil {
		return nodes.Entry{}, err
	}
	i, ok := l.byName[name]
	if !ok {
		return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
	}
	e := l.entry(int(i))
	e.Next = 0
	return e, nil
}

func (t *Tree) lookupFamily(ctx context.Context, name string) (nodes.Entry, error) {
	if f, ok := t.src.Family(name); ok {
		info, err := t.info(ctx, f)
		if err != nil || info.shows {
			return familyEntry(f), wrap(err)
		}
	}
	return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
}

func familyEntry(f *sheets.Family) nodes.Entry {
	return nodes.Entry{Name: f.File, ID: place{kind: family, of: f.ID()}.id(), Kind: nodes.Dir}
}

// listing returns the listing of a directory below the root.
func (t *Tree) listing(ctx context.Context, p place, f *sheets.Family) (*listing, error) {
	id := p.id()
	if l, _ := t.cache.get(id, f); l != nil {
		return l, nil
	}
	t.cache.making.Lock()
	defer t.cache.making.Unlock()
	l, state := t.cache.get(id, f)
	if l != nil {
		return l, nil
	}
	err := t.steady(func() (err error) {
		l, err = t.list(ctx, p, f)
		return err
	})
	if err != nil {
		return nil, wrap(err)
	}
	t.cache.put(id, f, l, state)
	return l, nil
}

// steady calls read so that what it reads of a draft is one state.
func (t *Tree) steady(read func() error) error {
	if t.draft == nil {
		return read()
	}
	return t.draft.Steady(0, read)
}

// ReadDir implements [nodes.Tree]. A cursor is one more than the place of a family, the number of
// a sheet or a node, or that of a name: entries keep it when others come and go.
func (t *Tree) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		p, f, err := t.dir(ctx, dir)
		if err == nil && p.kind == root {
			t.listFamilies(ctx, cursor, yield)
			return
		}
		var l *listing
		if err == nil {
			l, err = t.listing(ctx, p, f)
		}
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		from := sort.Search(len(l.items), func(i int) bool { return l.items[i].cursor >= cursor })
		for i := from; i < len(l.items); i++ {
			if !yield(l.entry(i), nil) {
				return
			}
		}
	}
}

func (t *Tree) listFamilies(ctx context.Context, cursor uint64, yield func(nodes.Entry, error) bool) {
	families := t.src.Families()
	for ; cursor < uint64(len(families)); cursor++ {
		f := families[cursor]
		info, err := t.info(ctx, f)
		if err != nil {
			yield(nodes.Entry{}, wrap(err))
			return
		}
		if !info.shows {
			continue
		}
		e := familyEntry(f)
		e.Next = cursor + 1
		if !yield(e, nil) {
			return
		}
	}
}

// Readlink implements [nodes.Linker].
func (t *Tree) Readlink(ctx context.Context, id nodes.ID) (string, error) {
	p, _, err := t.place(ctx, id)
	switch {
	case err != nil:
		return "", err
	case p.kind != link:
		return "", fmt.Errorf("%v is a directory: %w", id, nodes.ErrInvalid)
	}
	return t.target(ctx, p)
}

// target returns where a link leads.
func (t *Tree) target(ctx context.Context, p place) (target string, err error) {
	err = t.steady(func() error {
		s, x, ok, err := t.linked(p)
		if err == nil && !ok {
			err = nodes.NotExist(p.id())
		}
		if err != nil {
			return err
		}
		info, err := t.info(ctx, t.src.FamilyOf(s))
		target = t.targetOf(info.keyed, &node{name: s.Name, ordinal: s.Ordinal}, &x)
		return err
	})
	return target, wrap(err)
}

// targetOf returns the target of a link to a child of a sheet, or what is before the child's
// name.
func (t *Tree) targetOf(keyed bool, s, child *node) string {
	var b strings.Builder
	up := 3
	if keyed {
		up++
	}
	for range up {
		b.WriteString("../")
	}
	b.WriteString("tree/")
	b.WriteString(t.names.path(s))
	b.WriteByte('/')
	if child != nil {
		b.WriteString(t.names.path(child))
	}
	return b.String()
}

// linked returns the node that a link leads to, and its sheet. ok is false if it is no child of
// a sheet any more.
func (t *Tree) linked(p place) (s sheets.Sheet, x node, ok bool, err error) {
	x, parent, edited := t.draftNode(p.node)
	switch {
	case edited && (p.of == 0 || parent == edit.Number(p.of)):
		s, ok = t.src.Sheet(parent)
		return s, x, ok, nil
	case edited || p.of == 0:
		return s, x, false, nil
	}
	if s, ok = t.src.Sheet(edit.Number(p.of)); !ok {
		return s, x, false, nil
	}
	of, err := t.sheet(s)
	if err != nil {
		return s, x, false, err
	}
	if x, ok, err = t.child(&of, p.node); err != nil || !ok || !of.edited {
		return s, x, ok, err
	}
	e, ok := t.draft.Child(s.Number, x.name, x.ordinal)
	return s, x, ok && e.Number == p.node, nil
}
