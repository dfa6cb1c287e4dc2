//go:build linux || darwin || freebsd

package fs

import (
	"errors"
	"sync"
	"sync/atomic"

	"lorefs/nodes"
)

// watched is the additional state of a mount whose tree changes, also if only by itself.
type watched struct {
	// changes counts all changes, told only those that the tree made by itself.
	changes, told changes
	notices       notices
	// edited is called with each file that the tree has changed, if programs may edit, too.
	edited func(nodes.ID)
}

// watch makes the state for a tree, nil if it doesn't change.
func watch(tree nodes.Tree) *watched {
	t, ok := nodes.Changes(tree)
	if !ok {
		return nil
	}
	w := &watched{edited: func(nodes.ID) {}}
	w.notices.init()
	t.Watch(w.notice)
	return w
}

// edits is the additional state of a mount whose tree can be changed through it.
type edits struct {
	*watched
	tree nodes.Mutable
	// setter is nil if extended attributes can't be set.
	setter nodes.XattrSetter
	open   openFiles
	pinned pinned
	refs   refs
	dead   deadDirs
}

var errNotMutable = errors.New("the source cannot be changed: it has to be mounted read-only")

// newEdits makes the edits that o asks for: nil for a read-only mount.
func newEdits(tree nodes.Tree, w *watched, o Options) (*edits, error) {
	if !o.ReadWrite {
		return nil, nil //nolint:nilnil // nil is what a mount has that is read-only
	}
	t, ok := nodes.Edits(tree)
	if !ok {
		return nil, errNotMutable
	}
	e := &edits{watched: w, tree: t}
	if s, ok := nodes.XattrSets(tree); ok && !o.NoXattr {
		e.setter = s
	}
	e.open.init()
	e.pinned.init()
	w.edited = e.pinned.add
	e.refs.init()
	return e, nil
}

// notice is called by the tree when caches may have become wrong.
func (w *watched) notice(c nodes.Change) {
	w.changes.begin()
	w.told.begin()
	if c.ID != 0 {
		w.edited(c.ID)
	}
	w.notices.add(c)
	w.told.end()
	w.changes.end()
}

// changes decides whether an answer may be cached, or was computed while something changed.
// The kernel itself drops an answer about an inode that was changed meanwhile, but only if
// it remembers the inode. It would keep a wrong size of a new inode for a day.
//
// So each change counts when it begins and when it ends. An answer may be cached if no
// change was under way when it was begun, and none has begun since. Any other answer is
// valid for this one request.
type changes struct {
	begun, ended atomic.Uint64
}

func (c *changes) begin() { c.begun.Add(1) }

func (c *changes) end() { c.ended.Add(1) }

// now returns a state for unchanged.
func (c *changes) now() uint64 { return c.ended.Load() }

// unchanged reports whether no change was under way at the call of now, and none has begun
// since.
func (c *changes) unchanged(since uint64) bool { return c.begun.Load() == since }

// now and holds report whether an answer may be cached, see [changes]. All answers of a tree
// that doesn't change may.
func (m *mount) now() uint64 {
	if m.watched == nil {
		return 0
	}
	return m.watched.changes.now()
}

func (m *mount) unchanged(since uint64) bool {
	return m.watched == nil || m.watched.changes.unchanged(since)
}

// refs counts how often the kernel was told of each node. When it has forgotten all of
// them, nobody can ask for the node any more, and the tree is told. go-fuse has counts too,
// but in its tree of names, which a node leaves when it is removed while it is open.
type refs struct {
	// mu is held while the tree is told, so that the node is not found again, opened and
	// removed in between.
	mu sync.Mutex
	n  map[nodes.ID]uint64
}

func (r *refs) init() { r.n = map[nodes.ID]uint64{} }

func (r *refs) add(id nodes.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n[id]++
}

// drop subtracts n references and calls gone if those were the last.
func (r *refs) drop(id nodes.ID, n uint64, gone func(nodes.ID)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n[id] > n {
		r.n[id] -= n
		return
	}
	delete(r.n, id)
	gone(id)
}
