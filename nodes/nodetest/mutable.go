package nodetest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"lorefs/nodes"
)

// Mutable is a [nodes.Mutable] in memory: it holds any bytes under any name, and
// extended attributes called user.*. The zero value is not ready, see [NewMutable].
type Mutable struct {
	// Valid judges what a file is to hold from now on; nil takes everything. It
	// is asked at Flush and, for the new name, at Rename. Set it before use.
	Valid func(name string, content []byte) error
	// ReadOnly tells of a name, of a file or of a directory, that it can't be
	// changed; nil is none. Set it before use.
	ReadOnly func(name string) bool

	// mu guards everything below, and the nodes.
	mu    sync.RWMutex
	nodes map[nodes.ID]*mutNode
	last  nodes.ID
	watch func(nodes.Change)
	// syncs and forgotten are for tests to look at.
	syncs     int
	forgotten map[nodes.ID]int
}

var (
	_ nodes.Mutable     = (*Mutable)(nil)
	_ nodes.Xattrer     = (*Mutable)(nil)
	_ nodes.XattrSetter = (*Mutable)(nil)
)

type mutNode struct {
	id      nodes.ID
	kind    nodes.Kind
	name    string
	removed bool
	mtime   time.Time
	xattrs  map[string][]byte
	// own is what a file holds for good, content what everybody sees.
	own, content []byte
	state        draftState
	writers      int
	// entries of a directory are in the order of their cursors.
	entries []mutEntry
	seq     uint64
}

type mutEntry struct {
	name string
	node *mutNode
	next uint64
}

// draftState tells how content came to differ from own.
type draftState uint8

const (
	asOwn draftState = iota
	emptied
	written
)

// NewMutable returns a tree that holds the files, whose paths have slashes. A
// path that ends in one is a directory.
func NewMutable(files map[string]string) *Mutable {
	m := &Mutable{nodes: map[nodes.ID]*mutNode{}, last: nodes.Root, forgotten: map[nodes.ID]int{}}
	m.nodes[nodes.Root] = &mutNode{id: nodes.Root, kind: nodes.Dir, mtime: time.Now()}
	for _, p := range slices.Sorted(maps.Keys(files)) {
		dir := m.nodes[nodes.Root]
		parts := strings.Split(p, "/")
		for _, name := range parts[:len(parts)-1] {
			dir = m.childDir(dir, name)
		}
		if name := parts[len(parts)-1]; name != "" {
			n := m.add(dir, name, nodes.File)
			n.own = []byte(files[p])
			n.content = slices.Clone(n.own)
		}
	}
	return m
}

func (m *Mutable) childDir(dir *mutNode, name string) *mutNode {
	if i := dir.find(name); i >= 0 {
		return dir.entries[i].node
	}
	return m.add(dir, name, nodes.Dir)
}

// Syncs counts the calls of Sync.
func (m *Mutable) Syncs() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.syncs
}

// Forgotten counts the calls of Forget for one node.
func (m *Mutable) Forgotten(id nodes.ID) int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.forgotten[id]
}

// Put changes the content of a file as if the source did by itself, and tells
// whoever watches.
func (m *Mutable) Put(id nodes.ID, content string) {
	m.mu.Lock()
	n := m.nodes[id]
	n.own, n.content, n.state = []byte(content), []byte(content), asOwn
	n.mtime = time.Now()
	m.mu.Unlock()
	m.tell(nodes.Change{ID: id})
}

// Replace gives a name in a directory to a new file, as if the source did by
// itself. quiet leaves the name out of what is told.
func (m *Mutable) Replace(dir nodes.ID, name, content string, quiet bool) nodes.ID {
	m.mu.Lock()
	d := m.nodes[dir]
	if i := d.find(name); i >= 0 {
		m.cut(d, i)
	}
	n := m.add(d, name, nodes.File)
	n.own, n.content = []byte(content), []byte(content)
	m.mu.Unlock()
	c := nodes.Change{Dir: dir, Name: name}
	if quiet {
		c.Name = ""
	}
	m.tell(c)
	return n.id
}

// Drop takes a name away as if the source did by itself.
func (m *Mutable) Drop(dir nodes.ID, name string) {
	m.mu.Lock()
	d := m.nodes[dir]
	if i := d.find(name); i >= 0 {
		m.cut(d, i)
	}
	m.mu.Unlock()
	m.tell(nodes.Change{Dir: dir, Name: name})
}

func (m *Mutable) tell(c nodes.Change) {
	if m.watch != nil {
		m.watch(c)
	}
}

// The caller of what follows holds mu.

func (m *Mutable) add(dir *mutNode, name string, kind nodes.Kind) *mutNode {
	m.last++
	n := &mutNode{id: m.last, kind: kind, mtime: time.Now()}
	m.nodes[n.id] = n
	dir.link(name, n)
	return n
}

func (n *mutNode) link(name string, child *mutNode) {
	n.seq++
	n.entries = append(n.entries, mutEntry{name: name, node: child, next: n.seq})
	child.name, child.removed = name, false
	n.mtime = time.Now()
}

// cut takes an entry away.
func (m *Mutable) cut(dir *mutNode, i int) {
	dir.entries[i].node.removed = true
	dir.entries = slices.Delete(dir.entries, i, i+1)
	dir.mtime = time.Now()
}

func (n *mutNode) find(name string) int {
	return slices.IndexFunc(n.entries, func(e mutEntry) bool { return e.name == name })
}

func (m *Mutable) node(id nodes.ID, kind nodes.Kind) (*mutNode, error) {
	n := m.nodes[id]
	switch {
	case n == nil:
		return nil, nodes.NotExist(fmt.Sprintf("node %d", id))
	case kind == nodes.Dir && n.kind != nodes.Dir:
		return nil, nodes.ErrNotDir
	case kind == nodes.File && n.kind != nodes.File:
		return nil, nodes.ErrIsDir
	}
	return n, nil
}

func (m *Mutable) writable(n *mutNode) bool { return m.ReadOnly == nil || !m.ReadOnly(n.name) }

// changeable is a directory whose entries can be changed.
func (m *Mutable) changeable(dir nodes.ID) (*mutNode, error) {
	d, err := m.node(dir, nodes.Dir)
	if err != nil {
		return nil, err
	}
	if d.removed {
		return nil, nodes.NotExist(d.name)
	}
	if !m.writable(d) {
		return nil, nodes.ErrReadOnly
	}
	return d, nil
}

func (m *Mutable) entry(e mutEntry) nodes.Entry {
	n := e.node
	return nodes.Entry{
		Name: e.name, ID: n.id, Kind: n.kind, Size: int64(len(n.content)), ModTime: n.mtime,
		Writable: m.writable(n), Next: e.next,
	}
}

// Attr implements [nodes.Tree].
func (m *Mutable) Attr(_ context.Context, id nodes.ID) (nodes.Attr, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.node(id, 0)
	if err != nil {
		return nodes.Attr{}, err
	}
	return nodes.Attr{
		Kind: n.kind, Size: int64(len(n.content)), ModTime: n.mtime, Writable: m.writable(n), Removed: n.removed,
	}, nil
}

// Lookup implements [nodes.Tree].
func (m *Mutable) Lookup(_ context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	d, err := m.node(dir, nodes.Dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	i := d.find(name)
	if i < 0 {
		return nodes.Entry{}, nodes.NotExist(name)
	}
	e := m.entry(d.entries[i])
	e.Next = 0
	return e, nil
}

// ReadDir implements [nodes.Tree].
func (m *Mutable) ReadDir(_ context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		entries, err := m.list(dir, cursor)
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (m *Mutable) list(dir nodes.ID, cursor uint64) ([]nodes.Entry, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	d, err := m.node(dir, nodes.Dir)
	if err != nil {
		return nil, err
	}
	from, found := slices.BinarySearchFunc(d.entries, cursor, func(e mutEntry, c uint64) int { return cmp.Compare(e.next, c) })
	if found {
		from++
	}
	var out []nodes.Entry
	for _, e := range d.entries[from:] {
		out = append(out, m.entry(e))
	}
	return out, nil
}

// ReadAt implements [nodes.Tree].
func (m *Mutable) ReadAt(_ context.Context, file nodes.ID, p []byte, off int64) (int, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.node(file, nodes.File)
	if err != nil {
		return 0, err
	}
	return bytes.NewReader(n.content).ReadAt(p, off)
}

// Usage implements [nodes.Tree].
func (m *Mutable) Usage() nodes.Usage {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return nodes.Usage{Nodes: int64(len(m.nodes))}
}

// Create implements [nodes.Mutable].
func (m *Mutable) Create(_ context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	return m.make(dir, name, nodes.File)
}

// Mkdir implements [nodes.Mutable].
func (m *Mutable) Mkdir(_ context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	return m.make(dir, name, nodes.Dir)
}

func (m *Mutable) make(dir nodes.ID, name string, kind nodes.Kind) (nodes.Entry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, err := m.changeable(dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	if !legal(name) {
		return nodes.Entry{}, nodes.ErrInvalid
	}
	if d.find(name) >= 0 {
		return nodes.Entry{}, nodes.ErrExist
	}
	n := m.add(d, name, kind)
	return m.entry(mutEntry{name: name, node: n}), nil
}

// Remove implements [nodes.Mutable].
func (m *Mutable) Remove(_ context.Context, dir nodes.ID, name string, kind nodes.Kind) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	d, err := m.changeable(dir)
	if err != nil {
		return err
	}
	i := d.find(name)
	if i < 0 {
		return nodes.NotExist(name)
	}
	if err := removable(d.entries[i].node, kind); err != nil {
		return err
	}
	m.cut(d, i)
	return nil
}

func removable(n *mutNode, kind nodes.Kind) error {
	switch {
	case n.kind == nodes.Dir && kind == nodes.File:
		return nodes.ErrIsDir
	case n.kind == nodes.File && kind == nodes.Dir:
		return nodes.ErrNotDir
	case len(n.entries) > 0:
		return nodes.ErrNotEmpty
	}
	return nil
}

// Rename implements [nodes.Mutable].
func (m *Mutable) Rename(_ context.Context, dir nodes.ID, name string, toDir nodes.ID, toName string, mode nodes.RenameMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, err := m.changeable(dir)
	if err != nil {
		return err
	}
	to, err := m.changeable(toDir)
	if err != nil {
		return err
	}
	i, j := from.find(name), to.find(toName)
	if i < 0 || (j < 0 && mode == nodes.RenameExchange) {
		return nodes.NotExist(name)
	}
	n := from.entries[i].node
	if m.below(to, n) || !legal(toName) {
		return nodes.ErrInvalid
	}
	if j >= 0 && to.entries[j].node == n {
		return nil
	}
	if mode == nodes.RenameExchange {
		return m.exchange(from, i, to, j)
	}
	return m.move(from, i, to, toName, mode)
}

// below tells whether d is n or in it.
func (m *Mutable) below(d, n *mutNode) bool {
	return d == n || slices.ContainsFunc(n.entries, func(e mutEntry) bool { return m.below(d, e.node) })
}

func (m *Mutable) move(from *mutNode, i int, to *mutNode, toName string, mode nodes.RenameMode) error {
	n := from.entries[i].node
	if err := m.judge(toName, n); err != nil {
		return err
	}
	if j := to.find(toName); j >= 0 {
		if mode == nodes.RenameKeep {
			return nodes.ErrExist
		}
		if err := removable(to.entries[j].node, n.kind); err != nil {
			return err
		}
		m.cut(to, j)
		i = slices.IndexFunc(from.entries, func(e mutEntry) bool { return e.node == n })
	}
	m.cut(from, i)
	to.link(toName, n)
	return nil
}

func (m *Mutable) exchange(from *mutNode, i int, to *mutNode, j int) error {
	a, b := &from.entries[i], &to.entries[j]
	if m.below(from, b.node) {
		return nodes.ErrInvalid
	}
	if err := m.judge(b.name, a.node); err != nil {
		return err
	}
	if err := m.judge(a.name, b.node); err != nil {
		return err
	}
	a.node, b.node = b.node, a.node
	a.node.name, b.node.name = a.name, b.name
	from.mtime, to.mtime = time.Now(), time.Now()
	return nil
}

// judge tells whether a node may have a name.
func (m *Mutable) judge(name string, n *mutNode) error {
	if n.kind == nodes.Dir || m.Valid == nil {
		return nil
	}
	return m.Valid(name, n.content)
}

// SetModTime implements [nodes.Mutable].
func (m *Mutable) SetModTime(_ context.Context, id nodes.ID, mtime time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.node(id, 0)
	if err != nil {
		return err
	}
	if !m.writable(n) {
		return nodes.ErrReadOnly
	}
	n.mtime = mtime
	return nil
}

// Sync implements [nodes.Mutable].
func (m *Mutable) Sync(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.syncs++
	return nil
}

// Forget implements [nodes.Mutable].
func (m *Mutable) Forget(id nodes.ID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.nodes[id]; n != nil && n.removed && n.writers == 0 {
		delete(m.nodes, id)
	}
	m.forgotten[id]++
}

// Watch implements [nodes.Mutable].
func (m *Mutable) Watch(f func(nodes.Change)) { m.watch = f }

// Xattr implements [nodes.Xattrer].
func (m *Mutable) Xattr(_ context.Context, id nodes.ID, name string) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.node(id, 0)
	if err != nil {
		return nil, err
	}
	value, ok := n.xattrs[name]
	if !ok {
		return nil, nodes.ErrNoXattr
	}
	return value, nil
}

// Xattrs implements [nodes.Xattrer].
func (m *Mutable) Xattrs(_ context.Context, id nodes.ID) ([]string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	n, err := m.node(id, 0)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(n.xattrs)), nil
}

// SetXattr implements [nodes.XattrSetter].
func (m *Mutable) SetXattr(_ context.Context, id nodes.ID, name string, value []byte) error {
	return m.changeXattr(id, name, func(n *mutNode) error {
		if n.xattrs == nil {
			n.xattrs = map[string][]byte{}
		}
		n.xattrs[name] = bytes.Clone(value)
		return nil
	})
}

// RemoveXattr implements [nodes.XattrSetter].
func (m *Mutable) RemoveXattr(_ context.Context, id nodes.ID, name string) error {
	return m.changeXattr(id, name, func(n *mutNode) error {
		if _, ok := n.xattrs[name]; !ok {
			return nodes.ErrNoXattr
		}
		delete(n.xattrs, name)
		return nil
	})
}

func (m *Mutable) changeXattr(id nodes.ID, name string, f func(*mutNode) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.node(id, 0)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(name, "user.") {
		return nodes.ErrNotPermitted
	}
	if !m.writable(n) {
		return nodes.ErrReadOnly
	}
	return f(n)
}

// OpenWrite implements [nodes.Mutable].
func (m *Mutable) OpenWrite(_ context.Context, file nodes.ID) (nodes.Writer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.node(file, nodes.File)
	if err != nil {
		return nil, err
	}
	if !m.writable(n) {
		return nil, nodes.ErrReadOnly
	}
	n.writers++
	return &mutWriter{m: m, n: n}, nil
}

// mutWriter is a [nodes.Writer] of one file.
type mutWriter struct {
	m *Mutable
	n *mutNode
}

// maxMutable is the largest file that a Mutable holds.
const maxMutable = 1 << 24

func (w *mutWriter) change(size int64, state draftState, f func(*mutNode)) error {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	if size < 0 || size > maxMutable {
		return nodes.ErrTooLarge
	}
	f(w.n)
	w.n.state, w.n.mtime = state, time.Now()
	return nil
}

func (n *mutNode) resize(size int64) {
	if grow := size - int64(len(n.content)); grow > 0 {
		n.content = append(n.content, make([]byte, grow)...)
	}
	n.content = n.content[:size]
}

func (w *mutWriter) WriteAt(_ context.Context, p []byte, off int64) (int, error) {
	err := w.change(off+int64(len(p)), written, func(n *mutNode) {
		if end := off + int64(len(p)); end > int64(len(n.content)) && len(p) > 0 {
			n.resize(end)
		}
		copy(n.content[min(off, int64(len(n.content))):], p)
	})
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *mutWriter) Truncate(_ context.Context, size int64) error {
	state := written
	if size == 0 {
		state = emptied
	}
	return w.change(size, state, func(n *mutNode) { n.resize(size) })
}

func (w *mutWriter) Flush(context.Context) error { return w.flush(false) }

// flush makes the content the file's own. last tells that nobody writes any more.
func (w *mutWriter) flush(last bool) error {
	w.m.mu.Lock()
	n := w.n
	if n.state == asOwn || (n.state == emptied && !last) {
		w.m.mu.Unlock()
		return nil
	}
	n.state = asOwn
	err := w.m.judge(n.name, n)
	if n.removed {
		err = nil // it has no name any more that could ask for something
	}
	if err == nil {
		n.own = bytes.Clone(n.content)
	} else {
		n.content = bytes.Clone(n.own)
	}
	w.m.mu.Unlock()
	if err != nil {
		w.m.tell(nodes.Change{ID: n.id})
	}
	return err
}

func (w *mutWriter) Sync(ctx context.Context) error {
	if err := w.Flush(ctx); err != nil {
		return err
	}
	return w.m.Sync(ctx)
}

func (w *mutWriter) Release() error {
	w.m.mu.Lock()
	w.n.writers--
	last := w.n.writers == 0
	w.m.mu.Unlock()
	return w.flush(last)
}

// ReadFile reads a file whole, past any mount.
func ReadFile(ctx context.Context, tree nodes.Tree, id nodes.ID) ([]byte, error) {
	attr, err := tree.Attr(ctx, id)
	if err != nil {
		return nil, err
	}
	p := make([]byte, attr.Size)
	n, err := tree.ReadAt(ctx, id, p, 0)
	if n < len(p) || (err != nil && !atEnd(err)) {
		return nil, fmt.Errorf("%d of %d bytes: %w", n, len(p), cmp.Or(err, io.ErrUnexpectedEOF))
	}
	return p, nil
}
