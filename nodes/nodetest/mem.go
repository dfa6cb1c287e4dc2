package nodetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"lorefs/nodes"
)

// Mem is a [nodes.Tree] held in memory, made by a [Builder] or by [MemFiles]. It never changes,
// so it is safe for parallel use.
//
// A node costs 64 bytes plus its name and content, so that tests and benchmarks can hold
// the shape of a real source with millions of nodes.
type Mem struct {
	mtime time.Time
	// nodes[id] is the node with that ID; nodes[0] is unused.
	nodes []memNode
	// byName holds the children of every directory. A directory's own children are one run,
	// sorted by name.
	byName []uint32
	// mtimes and xattrs are maps because few nodes have them.
	mtimes map[nodes.ID]time.Time
	xattrs map[nodes.ID][]memXattr
	bytes  int64
}

type memNode struct {
	name    string
	content string
	parent  uint32
	// next is the next sibling in listing order, or 0.
	next uint32
	// first and last are the ends of a directory's list of children, or 0.
	first, last uint32
	// sorted and children are the run in Mem.byName.
	sorted, children uint32
	kind             nodes.Kind
}

type memXattr struct {
	name  string
	value []byte
}

// Builder makes a [Mem]. The zero value is ready for use. It is not safe for parallel use.
//
// It keeps mistakes (a name twice, a bad name, a file as a directory) for Build to return,
// so that callers need not check every line.
type Builder struct {
	m    Mem
	errs []error
}

// maxNameLen is the length of the longest name, in bytes, that file systems hold.
const maxNameLen = 255

// Dir adds a directory to parent and returns its ID.
func (b *Builder) Dir(parent nodes.ID, name string) nodes.ID {
	return b.add(parent, memNode{name: name, kind: nodes.Dir})
}

// File adds a file to parent and returns its ID.
func (b *Builder) File(parent nodes.ID, name, content string) nodes.ID {
	b.m.bytes += int64(len(content))
	return b.add(parent, memNode{name: name, kind: nodes.File, content: content})
}

// Link adds a symbolic link to parent and returns its ID.
func (b *Builder) Link(parent nodes.ID, name, target string) nodes.ID {
	return b.add(parent, memNode{name: name, kind: nodes.Link, content: target})
}

// SetModTime sets the modification time of one node.
func (b *Builder) SetModTime(id nodes.ID, mtime time.Time) {
	if b.m.mtimes == nil {
		b.m.mtimes = make(map[nodes.ID]time.Time)
	}
	b.m.mtimes[id] = mtime
}

// SetXattr adds an extended attribute to a node.
func (b *Builder) SetXattr(id nodes.ID, name string, value []byte) {
	if b.m.xattrs == nil {
		b.m.xattrs = make(map[nodes.ID][]memXattr)
	}
	b.m.xattrs[id] = append(b.m.xattrs[id], memXattr{name: name, value: value})
}

// Build returns the tree. Nodes without a time of their own get mtime. The builder is empty
// afterwards.
func (b *Builder) Build(mtime time.Time) (*Mem, error) {
	b.init()
	m := b.m
	errs := b.errs
	*b = Builder{}
	m.mtime = mtime
	m.byName = make([]uint32, 0, len(m.nodes))
	for id := range m.nodes {
		if err := m.sortChildren(nodes.ID(id)); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("nodes: build a tree: %w", err)
	}
	return &m, nil
}

func (b *Builder) init() {
	if b.m.nodes == nil {
		b.m.nodes = []memNode{{}, {kind: nodes.Dir}}
	}
}

func (b *Builder) add(parent nodes.ID, n memNode) nodes.ID {
	b.init()
	id := nodes.ID(len(b.m.nodes))
	n.parent = uint32(parent)
	b.m.nodes = append(b.m.nodes, n)
	if n.name == "" || n.name == "." || n.name == ".." || len(n.name) > maxNameLen || strings.ContainsAny(n.name, "/\x00") {
		b.errs = append(b.errs, fmt.Errorf("bad name %q", n.name))
	}
	if parent == 0 || parent >= id || b.m.nodes[parent].kind != nodes.Dir {
		b.errs = append(b.errs, fmt.Errorf("%q: parent %d is no directory", n.name, parent))
		return id
	}
	p := &b.m.nodes[parent]
	if p.last == 0 {
		p.first = uint32(id)
	} else {
		b.m.nodes[p.last].next = uint32(id)
	}
	p.last = uint32(id)
	p.children++
	return id
}

// sortChildren fills the run of byName that Lookup searches.
func (m *Mem) sortChildren(dir nodes.ID) error {
	d := &m.nodes[dir]
	d.sorted = uint32(len(m.byName))
	for id := d.first; id != 0; id = m.nodes[id].next {
		m.byName = append(m.byName, id)
	}
	run := m.byName[d.sorted:]
	slices.SortFunc(run, func(a, b uint32) int { return cmp.Compare(m.nodes[a].name, m.nodes[b].name) })
	for i := 1; i < len(run); i++ {
		if name := m.nodes[run[i]].name; name == m.nodes[run[i-1]].name {
			return fmt.Errorf("name %q twice in directory %d", name, dir)
		}
	}
	return nil
}

// MemFiles makes a tree of paths and contents. A path that ends in "/" is an empty
// directory. Listings are sorted by name. MemFiles panics if a path begins with "/" or the
// map is no tree, because such maps are written in code.
func MemFiles(mtime time.Time, files map[string]string) *Mem {
	var b Builder
	dirs := map[string]nodes.ID{".": nodes.Root}
	var mkdir func(dir string) nodes.ID
	mkdir = func(dir string) nodes.ID {
		id, ok := dirs[dir]
		if !ok {
			id = b.Dir(mkdir(path.Dir(dir)), path.Base(dir))
			dirs[dir] = id
		}
		return id
	}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if path.IsAbs(name) {
			panic(fmt.Sprintf("BUG: the path %q begins with a slash", name))
		}
		if strings.HasSuffix(name, "/") {
			mkdir(path.Clean(name))
			continue
		}
		b.File(mkdir(path.Dir(name)), path.Base(name), files[name])
	}
	m, err := b.Build(mtime)
	if err != nil {
		panic(fmt.Sprintf("BUG: %v", err))
	}
	return m
}

func (m *Mem) node(id nodes.ID) (*memNode, error) {
	if id == 0 || id >= nodes.ID(len(m.nodes)) {
		return nil, nodes.NotExist(fmt.Sprintf("node %d", id))
	}
	return &m.nodes[id], nil
}

func (m *Mem) dir(id nodes.ID) (*memNode, error) {
	n, err := m.node(id)
	if err == nil && n.kind != nodes.Dir {
		return nil, nodes.ErrNotDir
	}
	return n, err
}

// Attr implements [nodes.Tree].
func (m *Mem) Attr(_ context.Context, id nodes.ID) (nodes.Attr, error) {
	n, err := m.node(id)
	if err != nil {
		return nodes.Attr{}, err
	}
	return nodes.Attr{Kind: n.kind, Size: int64(len(n.content)), ModTime: m.modTime(id)}, nil
}

// Lookup implements [nodes.Tree].
func (m *Mem) Lookup(_ context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	d, err := m.dir(dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	run := m.byName[d.sorted : d.sorted+d.children]
	i, ok := slices.BinarySearchFunc(run, name, func(id uint32, name string) int {
		return cmp.Compare(m.nodes[id].name, name)
	})
	if !ok {
		return nodes.Entry{}, nodes.NotExist(name)
	}
	e := m.entry(run[i])
	e.Next = 0
	return e, nil
}

// entry returns the entry of a node. The node's ID is the cursor of the next one.
func (m *Mem) entry(id uint32) nodes.Entry {
	n := &m.nodes[id]
	return nodes.Entry{
		Name: n.name, ID: nodes.ID(id), Kind: n.kind, Size: int64(len(n.content)),
		ModTime: m.modTime(nodes.ID(id)), Next: uint64(id),
	}
}

func (m *Mem) modTime(id nodes.ID) time.Time {
	if mtime, ok := m.mtimes[id]; ok {
		return mtime
	}
	return m.mtime
}

// ReadDir implements [nodes.Tree].
func (m *Mem) ReadDir(_ context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		d, err := m.dir(dir)
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		id := d.first
		if cursor != 0 {
			last, err := m.node(nodes.ID(cursor))
			if err != nil || last.parent != uint32(dir) {
				yield(nodes.Entry{}, nodes.NotExist(fmt.Sprintf("cursor %d of directory %d", cursor, dir)))
				return
			}
			id = last.next
		}
		for ; id != 0; id = m.nodes[id].next {
			if !yield(m.entry(id), nil) {
				return
			}
		}
	}
}

// ReadAt implements [nodes.Tree].
func (m *Mem) ReadAt(_ context.Context, file nodes.ID, p []byte, off int64) (int, error) {
	n, err := m.node(file)
	switch {
	case err != nil:
		return 0, err
	case n.kind == nodes.Dir:
		return 0, nodes.ErrIsDir
	case n.kind == nodes.Link:
		return 0, fmt.Errorf("read a link: %w", nodes.ErrInvalid)
	}
	return nodes.ReadContent(n.content, p, off)
}

// Readlink implements [nodes.Linker].
func (m *Mem) Readlink(_ context.Context, link nodes.ID) (string, error) {
	n, err := m.node(link)
	if err == nil && n.kind != nodes.Link {
		err = fmt.Errorf("the link %d is a %v: %w", link, n.kind, nodes.ErrInvalid)
	}
	if err != nil {
		return "", err
	}
	return n.content, nil
}

// Usage implements [nodes.Tree].
func (m *Mem) Usage() nodes.Usage {
	return nodes.Usage{Bytes: m.bytes, Nodes: int64(len(m.nodes) - 1)}
}

// Xattr implements [nodes.Xattrer].
func (m *Mem) Xattr(_ context.Context, id nodes.ID, name string) ([]byte, error) {
	if _, err := m.node(id); err != nil {
		return nil, err
	}
	for _, x := range m.xattrs[id] {
		if x.name == name {
			return slices.Clone(x.value), nil
		}
	}
	return nil, nodes.ErrNoXattr
}

// Xattrs implements [nodes.Xattrer].
func (m *Mem) Xattrs(_ context.Context, id nodes.ID) ([]string, error) {
	if _, err := m.node(id); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(m.xattrs[id]))
	for _, x := range m.xattrs[id] {
		names = append(names, x.name)
	}
	return names, nil
}
