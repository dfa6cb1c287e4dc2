//go:build linux || darwin || freebsd

package fs

import (
	"errors"
	"sync"
	"sync/atomic"

	"lorefs/nodes"
)

// edits is what a mount has besides if its tree can be changed.
type edits struct {
	tree nodes.Mutable
	// setter is nil if extended attributes can't be set.
	setter nodes.XattrSetter
	// changes counts all changes, told those that the tree made by itself.
	changes, told changes
	open          openFiles
	notices       notices
	refs          refs
}

var errNotMutable = errors.New("the source cannot be changed: it has to be mounted read-only")

// newEdits makes what o asks for: nil for a mount that is read-only.
func newEdits(tree nodes.Tree, o Options) (*edits, error) {
	if !o.ReadWrite {
		return nil, nil //nolint:nilnil // nil is what a mount has that is read-only
	}
	t, ok := nodes.Edits(tree)
	if !ok {
		return nil, errNotMutable
	}
	e := &edits{tree: t}
	if s, ok := nodes.XattrSets(tree); ok && !o.NoXattr {
		e.setter = s
	}
	e.open.init()
	e.notices.init()
	e.refs.init()
	t.Watch(e.notice)
	return e, nil
}

// notice is told by the tree what caches may hold otherwise.
func (e *edits) notice(c nodes.Change) {
	e.changes.begin()
	e.told.begin()
	e.notices.add(c)
	e.told.end()
	e.changes.end()
}

// changes tells an answer that was made up while something changed from one that
// holds. The kernel itself drops what it is told of an inode that it has changed
// meanwhile, but only as long as it remembers the inode; of one that it has
// dropped and learns of anew, or has yet to learn of, it takes any size for a day.
//
// So each change counts when it begins and when it ends. An answer holds if no
// change was on its way when it was begun, and none has begun since; any other is
// handed out as good for this once.
type changes struct {
	begun, ended atomic.Uint64
}

func (c *changes) begin() { c.begun.Add(1) }

func (c *changes) end() { c.ended.Add(1) }

// now returns what unchanged wants to know later.
func (c *changes) now() uint64 { return c.ended.Load() }

// unchanged reports whether nothing changes nor has changed since now was asked.
func (c *changes) unchanged(since uint64) bool { return c.begun.Load() == since }

// now and holds tell whether an answer may be kept, see [changes]. All may that
// are about a tree which does not change.
func (m *mount) now() uint64 {
	if m.edits == nil {
		return 0
	}
	return m.edits.changes.now()
}

func (m *mount) holds(since uint64) bool {
	return m.edits == nil || m.edits.changes.unchanged(since)
}

// refs counts how often the kernel was told of each node. When it has forgotten
// them all, nobody can ask for the node any more, and the tree is told. go-fuse
// counts as well, but by node in its own tree of names, which one that was removed
// while it was open has left.
type refs struct {
	// mu is held while the tree is told, so that no node is found again, opened
	// and removed in between.
	mu sync.Mutex
	n  map[nodes.ID]uint64
}

func (r *refs) init() { r.n = map[nodes.ID]uint64{} }

func (r *refs) add(id nodes.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n[id]++
}

// drop takes n references away and calls gone if those were the last.
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
