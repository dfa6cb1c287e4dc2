package nodetest

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// memory is the [overlay.Source] of a [Mutable]. All names are its own, so nothing is scratch. A
// text that Mutable.Valid refuses is dropped, and the file becomes what it was before.
type memory struct {
	overlay.Watcher
	of *Mutable // for Valid, Hopeless and ReadOnly

	// mu guards everything below, and the nodes. The Watcher is not called under it.
	mu    sync.Mutex
	nodes map[nodes.ID]*memoryNode
	last  nodes.ID
	syncs int
}

var _ overlay.Valued = (*memory)(nil)

// memoryNode is a node. A removed one can be read by its number until it is forgotten.
type memoryNode struct {
	id   nodes.ID
	kind nodes.Kind
	// dir is nil for the root and for removed nodes.
	dir   *memoryNode
	name  string
	mtime time.Time // when it was made; the overlay has later times
	text  string
	// entries has the entries of a directory. They are listed sorted by their numbers, which are
	// the cursors.
	entries map[string]*memoryNode
}

// Callers of the functions below hold mu.

func (s *memory) add(kind nodes.Kind) *memoryNode {
	s.last++
	return s.addAs(s.last, kind)
}

func (s *memory) addAs(id nodes.ID, kind nodes.Kind) *memoryNode {
	n := &memoryNode{id: id, kind: kind, mtime: time.Now(), entries: map[string]*memoryNode{}}
	s.nodes[id] = n
	return n
}

// link gives a child a name. It returns the node that had the name before, or nil.
func (n *memoryNode) link(name string, child *memoryNode) (old *memoryNode) {
	old = n.entries[name]
	old.cut()
	n.entries[name] = child
	child.dir, child.name = n, name
	return old
}

// cut takes a node out of its directory.
func (n *memoryNode) cut() {
	if n != nil && n.dir != nil {
		delete(n.dir.entries, n.name)
		n.dir = nil
	}
}

func (s *memory) writable(n *memoryNode) bool { return s.of.ReadOnly == nil || !s.of.ReadOnly(n.name) }

// judge returns an error if a file with a name may not hold a text.
func (s *memory) judge(name string, text []byte) error {
	if s.of.Valid == nil {
		return nil
	}
	return s.of.Valid(name, text)
}

func (s *memory) entry(n *memoryNode) nodes.Entry {
	return nodes.Entry{
		Name: n.name, ID: n.id, Kind: n.kind, Size: int64(len(n.text)), ModTime: n.mtime, Writable: s.writable(n),
	}
}

// with calls f, under mu, with the node of a number. The node has to be of the kind, if that is
// not 0.
func (s *memory) with(id nodes.ID, kind nodes.Kind, f func(*memoryNode) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[id]
	switch {
	case n == nil:
		return nodes.NotExist(id)
	case kind == nodes.Dir && n.kind != nodes.Dir:
		return nodes.ErrNotDir
	case kind == nodes.File && n.kind != nodes.File:
		return nodes.ErrIsDir
	}
	return f(n)
}

// isRemoved reports whether the node is in no directory any more.
func (n *memoryNode) isRemoved() bool { return n.dir == nil && n.id != nodes.Root }

func (s *memory) forget(id nodes.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.nodes[id]; n != nil && n.isRemoved() {
		delete(s.nodes, id)
	}
}

// tell reports a change that the source made by itself, and the node that it removed, if any.
func (s *memory) tell(gone *memoryNode, c nodes.Change) {
	if gone != nil {
		s.Gone(gone.id, gone.kind, was{gone.text, gone.mtime})
	}
	s.Changed(c)
}

// Attr implements [nodes.Tree].
func (s *memory) Attr(_ context.Context, id nodes.ID) (attr nodes.Attr, err error) {
	err = s.with(id, 0, func(n *memoryNode) error {
		attr = nodes.Attr{
			Kind: n.kind, Size: int64(len(n.text)), ModTime: n.mtime, Writable: s.writable(n), Removed: n.isRemoved(),
		}
		return nil
	})
	return attr, err
}

// Lookup implements [nodes.Tree].
func (s *memory) Lookup(_ context.Context, dir nodes.ID, name string) (entry nodes.Entry, err error) {
	err = s.with(dir, nodes.Dir, func(d *memoryNode) error {
		n := d.entries[name]
		if n == nil {
			return nodes.NotExist(name)
		}
		entry = s.entry(n)
		return nil
	})
	return entry, err
}

// ReadDir implements [nodes.Tree].
func (s *memory) ReadDir(_ context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		entries, err := s.list(dir, cursor)
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

func (s *memory) list(dir nodes.ID, cursor uint64) (entries []nodes.Entry, err error) {
	err = s.with(dir, nodes.Dir, func(d *memoryNode) error {
		for _, n := range d.entries {
			if e := s.entry(n); uint64(e.ID) > cursor {
				e.Next = uint64(e.ID)
				entries = append(entries, e)
			}
		}
		return nil
	})
	slices.SortFunc(entries, func(a, b nodes.Entry) int { return cmp.Compare(a.Next, b.Next) })
	return entries, err
}

// ReadAt implements [nodes.Tree].
func (s *memory) ReadAt(_ context.Context, file nodes.ID, p []byte, off int64) (read int, err error) {
	err = s.with(file, nodes.File, func(n *memoryNode) (err error) {
		read, err = nodes.ReadContent(n.text, p, off)
		return err
	})
	return read, err
}

// Usage implements [nodes.Tree].
func (s *memory) Usage() nodes.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return nodes.Usage{Nodes: int64(len(s.nodes))}
}

// Where implements [overlay.Source].
func (s *memory) Where(id nodes.ID) (dir nodes.ID, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.nodes[id]; n != nil && n.dir != nil {
		return n.dir.id, n.name
	}
	return 0, ""
}

// Name implements [overlay.Source].
func (s *memory) Name(_ context.Context, dir nodes.ID, name string) (overlay.Name, error) {
	at := overlay.Name{Text: name, File: overlay.Made{Own: true}, Dir: overlay.Made{Own: true}}
	err := s.with(dir, nodes.Dir, func(d *memoryNode) error {
		switch n := d.entries[name]; {
		case d.isRemoved():
			return nodes.NotExist(dir)
		case !s.writable(d):
			return nodes.ErrReadOnly
		case !legal(name):
			return nodes.ErrInvalid
		case n != nil:
			at.ID, at.Kind, at.Writable = n.id, n.kind, s.writable(n)
		}
		return nil
	})
	return at, err
}

// Open implements [overlay.Source].
func (s *memory) Open(_ context.Context, file nodes.ID) error {
	return s.with(file, nodes.File, func(n *memoryNode) error {
		if !s.writable(n) {
			return nodes.ErrReadOnly
		}
		return nil
	})
}

// NewID implements [overlay.Valued].
func (s *memory) NewID() (nodes.ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return s.last, nil
}

// Put implements [overlay.Source].
func (s *memory) Put(_ context.Context, to overlay.Place, text []byte, from overlay.From) (nodes.ID, error) {
	if to.Dir != 0 {
		return from.File, s.with(to.Dir, nodes.Dir, func(d *memoryNode) error { return s.put(d, to.Name, text, from) })
	}
	return to.ID, s.with(to.ID, nodes.File, func(n *memoryNode) error {
		err := s.judge(n.name, text)
		if err == nil {
			n.text = string(text)
		}
		return err
	})
}

// put makes a file. A file without writes is empty, even if Valid would refuse that.
func (s *memory) put(dir *memoryNode, name string, text []byte, from overlay.From) error {
	if len(text) > 0 || from.Renamed {
		if err := s.judge(name, text); err != nil {
			return err
		}
	}
	n := s.addAs(from.File, nodes.File)
	n.text = string(text)
	dir.link(name, n)
	return nil
}

// Mkdir implements [overlay.Source].
func (s *memory) Mkdir(_ context.Context, dir nodes.ID, name string) (id nodes.ID, err error) {
	err = s.with(dir, nodes.Dir, func(d *memoryNode) error {
		n := s.add(nodes.Dir)
		d.link(name, n)
		id = n.id
		return nil
	})
	return id, err
}

// Move implements [overlay.Source].
func (s *memory) Move(_ context.Context, m overlay.Move) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, other, to := s.nodes[m.ID], s.nodes[m.To.ID], s.nodes[m.To.Dir]
	dir, name := n.dir, n.name
	text, err := s.content(n, m.Text, m.To.Name)
	if err != nil {
		return err
	}
	back := ""
	if m.Exchange {
		if back, err = s.content(other, m.Other, name); err != nil {
			return err
		}
	}
	n.cut()
	to.link(m.To.Name, n)
	n.text = text
	if m.Exchange {
		dir.link(name, other)
		other.text = back
	}
	return nil
}

// content returns the content of a node under its new name, or an error if that is not valid. It
// is the text that is being written, unless that is nil.
func (s *memory) content(n *memoryNode, written []byte, name string) (string, error) {
	if n.kind == nodes.Dir {
		return "", nil
	}
	if written == nil {
		written = []byte(n.text)
	}
	return string(written), s.judge(name, written)
}

// Remove implements [overlay.Source].
func (s *memory) Remove(_ context.Context, id nodes.ID) error {
	return s.with(id, 0, func(n *memoryNode) error {
		n.cut()
		return nil
	})
}

// Now implements [overlay.Source].
func (s *memory) Now(_ context.Context, file nodes.ID) (now overlay.Content, err error) {
	err = s.with(file, nodes.File, func(n *memoryNode) error {
		now = was{n.text, n.mtime}
		return nil
	})
	return now, err
}

// sync is [overlay.EditOptions.Sync].
func (s *memory) sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.syncs++
	return nil
}

// Watch implements [overlay.Source].
func (s *memory) Watch(w overlay.Watcher) { s.Watcher = w }

// Extra implements [overlay.Valued].
func (s *memory) Extra(nodes.ID) any { return nil }

// Refuse implements [overlay.Valued].
func (s *memory) Refuse(_ overlay.Place, begin []byte, _ overlay.From) error {
	if s.of.Hopeless == nil {
		return nil
	}
	return s.of.Hopeless(begin)
}

// was is the former content of a file.
type was struct {
	text string
	at   time.Time
}

func (w was) Size(context.Context) (int64, error) { return int64(len(w.text)), nil }
func (w was) ModTime() time.Time                  { return w.at }

func (w was) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	return nodes.ReadContent(w.text, p, off)
}
