package nodetest

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// Mutable is a [nodes.Mutable] in memory. It holds any bytes under any name, and extended
// attributes called user.*. The zero value is not ready for use, see [NewMutable].
type Mutable struct {
	*overlay.Tree
	// Valid returns an error if a file may not get a content; nil accepts everything. It is
	// called at Flush and, with the new name, at Rename. Set it before use.
	Valid func(name string, content []byte) error
	// Hopeless returns an error if no valid content begins like this, and the write fails with
	// it. It is called at each write to the end of a file; nil leaves all checks to Valid. Set
	// it before use.
	Hopeless func(begin []byte) error
	// ReadOnly reports whether files and directories with a name can't be changed; nil means
	// none. Set it before use.
	ReadOnly func(name string) bool

	src *memory

	// mu guards everything below. Attributes are kept by number, which a node keeps.
	mu        sync.RWMutex
	xattrs    map[nodes.ID]map[string][]byte
	forgotten map[nodes.ID]int
}

var (
	_ nodes.Mutable     = (*Mutable)(nil)
	_ nodes.Xattrer     = (*Mutable)(nil)
	_ nodes.XattrSetter = (*Mutable)(nil)
)

// maxMutable is the largest file that a Mutable holds.
const maxMutable = 1 << 24

// NewMutable returns a tree of the files, whose paths have slashes. A path that ends in a slash
// is a directory.
func NewMutable(files map[string]string) *Mutable {
	m := &Mutable{xattrs: map[nodes.ID]map[string][]byte{}, forgotten: map[nodes.ID]int{}}
	m.src = &memory{of: m, nodes: map[nodes.ID]*memoryNode{}}
	root := m.src.add(nodes.Dir)
	for _, path := range slices.Sorted(maps.Keys(files)) {
		dir := root
		names := strings.Split(path, "/")
		file := names[len(names)-1]
		for _, name := range names[:len(names)-1] {
			if dir.entries[name] == nil {
				dir.link(name, m.src.add(nodes.Dir))
			}
			dir = dir.entries[name]
		}
		if file != "" {
			n := m.src.add(nodes.File)
			n.text = files[path]
			dir.link(file, n)
		}
	}
	m.Tree = overlay.New(m.src, overlay.Options{
		Empty: true, EditOptions: overlay.EditOptions{Sync: m.src.sync, Limits: overlay.Limits{Text: maxMutable}},
	})
	return m
}

// Syncs returns the number of calls of Sync.
func (m *Mutable) Syncs() int {
	m.src.mu.Lock()
	defer m.src.mu.Unlock()
	return m.src.syncs
}

// Forgotten returns the number of calls of Forget for one node.
func (m *Mutable) Forgotten(id nodes.ID) int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.forgotten[id]
}

// Forget implements [nodes.Mutable].
func (m *Mutable) Forget(id nodes.ID) {
	m.Tree.Forget(id)
	m.src.forget(id)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgotten[id]++
}

// Put changes the content of a file as if the source did it by itself, and tells the watcher.
func (m *Mutable) Put(id nodes.ID, content string) {
	m.src.mu.Lock()
	m.src.nodes[id].text = content
	m.src.mu.Unlock()
	m.src.Edited(id)
}

// Replace gives a name in a directory to a new file as if the source did it by itself. With
// quiet, the change that is reported doesn't have the name.
func (m *Mutable) Replace(dir nodes.ID, name, content string, quiet bool) nodes.ID {
	m.src.mu.Lock()
	n := m.src.add(nodes.File)
	n.text = content
	old := m.src.nodes[dir].link(name, n)
	m.src.mu.Unlock()
	c := nodes.Change{Dir: dir, Name: name}
	if quiet {
		c.Name = ""
	}
	m.src.tell(old, c)
	return n.id
}

// Drop removes a name as if the source did it by itself.
func (m *Mutable) Drop(dir nodes.ID, name string) {
	m.src.mu.Lock()
	old := m.src.nodes[dir].entries[name]
	old.cut()
	m.src.mu.Unlock()
	m.src.tell(old, nodes.Change{Dir: dir, Name: name})
}

// Xattr implements [nodes.Xattrer].
func (m *Mutable) Xattr(ctx context.Context, id nodes.ID, name string) ([]byte, error) {
	if _, err := m.Attr(ctx, id); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	value, ok := m.xattrs[id][name]
	if !ok {
		return nil, nodes.ErrNoXattr
	}
	return value, nil
}

// Xattrs implements [nodes.Xattrer].
func (m *Mutable) Xattrs(ctx context.Context, id nodes.ID) ([]string, error) {
	if _, err := m.Attr(ctx, id); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return slices.Sorted(maps.Keys(m.xattrs[id])), nil
}

// SetXattr implements [nodes.XattrSetter].
func (m *Mutable) SetXattr(ctx context.Context, id nodes.ID, name string, value []byte) error {
	return m.changeXattr(ctx, id, name, func(of map[string][]byte) error {
		of[name] = bytes.Clone(value)
		return nil
	})
}

// RemoveXattr implements [nodes.XattrSetter].
func (m *Mutable) RemoveXattr(ctx context.Context, id nodes.ID, name string) error {
	return m.changeXattr(ctx, id, name, func(of map[string][]byte) error {
		if _, ok := of[name]; !ok {
			return nodes.ErrNoXattr
		}
		delete(of, name)
		return nil
	})
}

func (m *Mutable) changeXattr(ctx context.Context, id nodes.ID, name string, f func(of map[string][]byte) error) error {
	attr, err := m.Attr(ctx, id)
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(name, "user."):
		return nodes.ErrNotPermitted
	case !attr.Writable:
		return nodes.ErrReadOnly
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.xattrs[id] == nil {
		m.xattrs[id] = map[string][]byte{}
	}
	return f(m.xattrs[id])
}
