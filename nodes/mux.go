package nodes

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"
)

// Mount is one name in the root directory of a [NewMux]: a tree or a small file.
type Mount struct {
	Name string
	// Tree is shown as the directory called Name. If it is nil, Name is a file with
	// Content.
	Tree    Tree
	Content string
}

// The ID of a node under a mux is a view number in the bits above viewShift and the node's
// own ID below. View 0 is the mux's own: its root and its files. The sign bit stays clear,
// see [MaxID].
const (
	viewShift = 60
	maxViews  = 7
)

// MaxMuxID is the highest ID that a tree mounted in a [NewMux] may use.
const MaxMuxID ID = 1<<viewShift - 1

// mux shows several trees under one root. It does not change after NewMux.
type mux struct {
	top *muxRoot
	// views[v-1] is the tree of view v.
	views []muxView
	// entries is the root directory in listing order.
	entries []Entry
	caps    Caps
}

type muxView struct {
	name string
	tree Tree
}

var (
	_ Mutable     = (*mux)(nil)
	_ Xattrer     = (*mux)(nil)
	_ XattrSetter = (*mux)(nil)
	_ Linker      = (*mux)(nil)
	_ Capable     = (*mux)(nil)
)

// NewMux returns a tree whose root holds the mounts in the given order. The IDs of a
// mounted tree depend only on its place among the trees, so they are stable as long as the
// order of the mounts is. The result can do what any of the trees can, see [Caps]. Changes
// to what is in no [Mutable] tree, such as the root itself, return [ErrReadOnly]; a move
// between two trees returns [ErrCross].
//
// There is room for seven trees with IDs up to [MaxMuxID]. A call that meets a higher ID
// returns an error.
func NewMux(mtime time.Time, mounts []Mount) (Tree, error) {
	top, err := newMuxRoot(mtime, mounts)
	if err != nil {
		return nil, err
	}
	m := &mux{top: top}
	for i, mt := range mounts {
		e := Entry{
			Name: mt.Name, ID: firstMount + ID(i), Kind: File, Size: int64(len(mt.Content)),
			ModTime: mtime, Next: uint64(i + 1),
		}
		if mt.Tree != nil {
			m.views = append(m.views, muxView{name: mt.Name, tree: mt.Tree})
			m.caps |= capsOf(mt.Tree)
			e.ID, e.Kind, e.Size = ID(len(m.views))<<viewShift|Root, Dir, 0
		}
		m.entries = append(m.entries, e)
	}
	if len(m.views) > maxViews {
		return nil, fmt.Errorf("nodes: %d trees under one root, there is room for %d", len(m.views), maxViews)
	}
	return m, nil
}

func (m *mux) Caps() Caps { return m.caps }

// split returns the tree of a node and the node's ID there.
func (m *mux) split(id ID) (Tree, ID, error) {
	view, own := id>>viewShift, id&MaxMuxID
	if view == 0 {
		if _, err := m.top.content(own); err != nil && own != Root {
			return nil, 0, err
		}
		return m.top, own, nil
	}
	if view > ID(len(m.views)) {
		return nil, 0, NotExist(fmt.Sprintf("node %d", id))
	}
	return m.views[view-1].tree, own, nil
}

// export turns an entry of a mounted tree into one of the mux.
func (m *mux) export(view ID, e Entry) (Entry, error) {
	if e.ID > MaxMuxID {
		return Entry{}, fmt.Errorf("internal error: %q of tree %q has the number %d, above %d",
			e.Name, m.views[view-1].name, e.ID, MaxMuxID)
	}
	e.ID |= view << viewShift
	return e, nil
}

func (m *mux) Attr(ctx context.Context, id ID) (Attr, error) {
	t, own, err := m.split(id)
	if err != nil {
		return Attr{}, err
	}
	return t.Attr(ctx, own)
}

func (m *mux) Lookup(ctx context.Context, dir ID, name string) (Entry, error) {
	if dir == Root {
		i := slices.IndexFunc(m.entries, func(e Entry) bool { return e.Name == name })
		if i < 0 {
			return Entry{}, NotExist(name)
		}
		e, err := m.rootEntry(ctx, i)
		e.Next = 0
		return e, err
	}
	t, own, err := m.split(dir)
	if err != nil {
		return Entry{}, err
	}
	e, err := t.Lookup(ctx, own, name)
	if err != nil || t == Tree(m.top) {
		return e, err
	}
	return m.export(dir>>viewShift, e)
}

func (m *mux) ReadDir(ctx context.Context, dir ID, cursor uint64) iter.Seq2[Entry, error] {
	if dir == Root {
		return m.readRoot(ctx, cursor)
	}
	t, own, err := m.split(dir)
	if err != nil {
		return func(yield func(Entry, error) bool) { yield(Entry{}, err) }
	}
	entries := t.ReadDir(ctx, own, cursor)
	if t == Tree(m.top) {
		return entries
	}
	return func(yield func(Entry, error) bool) {
		for e, err := range entries {
			if err == nil {
				e, err = m.export(dir>>viewShift, e)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// rootEntry returns entry i of the root, as its tree describes it now. If the tree fails,
// it returns the mux's own entry, so that the other trees can still be listed.
func (m *mux) rootEntry(ctx context.Context, i int) (Entry, error) {
	e := m.entries[i]
	if attr, err := m.Attr(ctx, e.ID); err == nil {
		e.ModTime, e.Writable = attr.ModTime, attr.Writable
	}
	return e, ctx.Err()
}

func (m *mux) readRoot(ctx context.Context, cursor uint64) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if cursor > uint64(len(m.entries)) {
			yield(Entry{}, NotExist(fmt.Sprintf("cursor %d of the root", cursor)))
			return
		}
		for i := int(cursor); i < len(m.entries); i++ {
			e, err := m.rootEntry(ctx, i)
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (m *mux) ReadAt(ctx context.Context, file ID, p []byte, off int64) (int, error) {
	t, own, err := m.split(file)
	if err != nil {
		return 0, err
	}
	return t.ReadAt(ctx, own, p, off)
}

// Usage counts the nodes of all trees. The trees are views of one source, so its size is
// the largest of theirs, not the sum.
func (m *mux) Usage() Usage {
	u := m.top.Usage()
	for _, v := range m.views {
		vu := v.tree.Usage()
		u.Nodes += vu.Nodes
		u.Bytes = max(u.Bytes, vu.Bytes)
	}
	return u
}

func (m *mux) Readlink(ctx context.Context, link ID) (string, error) {
	t, own, err := m.split(link)
	if err != nil {
		return "", err
	}
	return Readlink(ctx, t, own)
}

func (m *mux) Xattr(ctx context.Context, id ID, name string) ([]byte, error) {
	t, own, err := m.split(id)
	if err != nil {
		return nil, err
	}
	if x, ok := Xattrs(t); ok {
		return x.Xattr(ctx, own, name)
	}
	return nil, ErrNoXattr
}

func (m *mux) Xattrs(ctx context.Context, id ID) ([]string, error) {
	t, own, err := m.split(id)
	if err != nil {
		return nil, err
	}
	if x, ok := Xattrs(t); ok {
		return x.Xattrs(ctx, own)
	}
	_, err = t.Attr(ctx, own)
	return nil, err
}

// Stream implements [Streamer] for those mounted trees that do.
func (m *mux) Stream(ctx context.Context, file ID, w io.Writer) (n int64, ok bool, err error) {
	t, own, err := m.split(file)
	if err != nil {
		return 0, false, err
	}
	if s, can := t.(Streamer); can {
		return s.Stream(ctx, own, w)
	}
	return 0, false, nil
}
