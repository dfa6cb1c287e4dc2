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

// memory is the [overlay.Source] of a [Mutable]. All names are its own, so that nothing is
// scratch; what does not fit is refused, and the file is again what it was.
type memory struct {
	overlay.Watcher
	of *Mutable // which says what is valid

	// mu guards everything below, and the nodes. The Watcher is not told under it.
	mu    sync.RWMutex
	nodes map[nodes.ID]*memoryNode
	last  nodes.ID
	syncs int
}

var _ overlay.Valued = (*memory)(nil)

// memoryNode can be read by its number, wherever it is, until it is forgotten.
type memoryNode struct {
	id   nodes.ID
	kind nodes.Kind
	// dir is nil for the root, and for what was removed.
	dir   *memoryNode
	name  string
	mtime time.Time // when it was made; the overlay has what came later
	text  string
	// entries are those of a directory. It lists them in the order of their numbers, which
	// are the cursors.
	entries map[string]*memoryNode
}

// The caller of what follows holds mu.

func (s *memory) add(kind nodes.Kind) *memoryNode {
	s.last++
	return s.addAs(s.last, kind)
}

func (s *memory) addAs(id nodes.ID, kind nodes.Kind) *memoryNode {
	n := &memoryNode{id: id, kind: kind, mtime: time.Now(), entries: map[string]*memoryNode{}}
	s.nodes[id] = n
	return n
}

// link gives a node a name in place of what has it, which is returned.
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

func (s *memory) node(id nodes.ID, kind nodes.Kind) (*memoryNode, error) {
	n := s.nodes[id]
	switch {
	case n == nil:
		return nil, nodes.NotExist(id)
	case kind == nodes.Dir && n.kind != nodes.Dir:
		return nil, nodes.ErrNotDir
	case kind == nodes.File && n.kind != nodes.File:
		return nil, nodes.ErrIsDir
	}
	return n, nil
}

func (s *memory) writable(n *memoryNode) bool { return s.of.ReadOnly == nil || !s.of.ReadOnly(n.name) }

// judge tells whether a file of a name may hold a text.
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

func (s *memory) forget(id nodes.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.nodes[id]; n != nil && n.dir == nil && id != nodes.Root {
		delete(s.nodes, id)
	}
}

// tell tells of an edit that nobody asked for, and of the node that has gone with it, which
// may be nil.
func (s *memory) tell(gone *memoryNode, c nodes.Change) {
	if gone != nil {
		s.Gone(gone.id, gone.kind, was{gone.text, gone.mtime})
	}
	s.Changed(c)
}

// Attr implements [nodes.Tree].
func (s *memory) Attr(_ context.Context, id nodes.ID) (nodes.Attr, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, err := s.node(id, 0)
	if err != nil {
		return nodes.Attr{}, err
	}
	return nodes.Attr{
		Kind: n.kind, Size: int64(len(n.text)), ModTime: n.mtime, Writable: s.writable(n),
		Removed: n.dir == nil && id != nodes.Root,
	}, nil
}

// Lookup implements [nodes.Tree].
func (s *memory) Lookup(_ context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d, err := s.node(dir, nodes.Dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	n := d.entries[name]
	if n == nil {
		return nodes.Entry{}, nodes.NotExist(name)
	}
	return s.entry(n), nil
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
	s.mu.RLock()
	defer s.mu.RUnlock()
	d, err := s.node(dir, nodes.Dir)
	if err != nil {
		return nil, err
	}
	for _, n := range d.entries {
		if e := s.entry(n); uint64(e.ID) > cursor {
			e.Next = uint64(e.ID)
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b nodes.Entry) int { return cmp.Compare(a.Next, b.Next) })
	return entries, nil
}

// ReadAt implements [nodes.Tree].
func (s *memory) ReadAt(_ context.Context, file nodes.ID, p []byte, off int64) (int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, err := s.node(file, nodes.File)
	if err != nil {
		return 0, err
	}
	return nodes.ReadContent(n.text, p, off)
}

// Usage implements [nodes.Tree].
func (s *memory) Usage() nodes.Usage {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return nodes.Usage{Nodes: int64(len(s.nodes))}
}

// Where implements [overlay.Source].
func (s *memory) Where(id nodes.ID) (dir nodes.ID, name string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if n := s.nodes[id]; n != nil && n.dir != nil {
		return n.dir.id, n.name
	}
	return 0, ""
}

// Name implements [overlay.Source].
func (s *memory) Name(_ context.Context, dir nodes.ID, name string) (overlay.Name, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at := overlay.Name{Text: name, File: overlay.Made{Own: true}, Dir: overlay.Made{Own: true}}
	d, err := s.node(dir, nodes.Dir)
	switch {
	case err != nil:
		return at, err
	case d.dir == nil && dir != nodes.Root:
		return at, nodes.NotExist(dir)
	case !s.writable(d):
		return at, nodes.ErrReadOnly
	case !legal(name):
		return at, nodes.ErrInvalid
	}
	if n := d.entries[name]; n != nil {
		at.ID, at.Kind, at.Writable = n.id, n.kind, s.writable(n)
	}
	return at, nil
}

// Open implements [overlay.Source].
func (s *memory) Open(_ context.Context, file nodes.ID) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, err := s.node(file, nodes.File)
	if err == nil && !s.writable(n) {
		err = nodes.ErrReadOnly
	}
	return err
}

// NewID implements [overlay.Valued].
func (s *memory) NewID() (nodes.ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	return s.last, nil
}

// Put implements [overlay.Source]. A new file that nobody has written to is empty, whatever
// is valid.
func (s *memory) Put(_ context.Context, to overlay.Place, text []byte, from overlay.From) (nodes.ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if to.Dir == 0 {
		n, err := s.node(to.ID, nodes.File)
		if err == nil {
			err = s.judge(n.name, text)
		}
		if err == nil {
			n.text = string(text)
		}
		return to.ID, err
	}
	d, err := s.node(to.Dir, nodes.Dir)
	if err == nil && (len(text) > 0 || from.Renamed) {
		err = s.judge(to.Name, text)
	}
	if err != nil {
		return 0, err
	}
	n := s.addAs(from.File, nodes.File)
	n.text = string(text)
	d.link(to.Name, n)
	return n.id, nil
}

// Mkdir implements [overlay.Source].
func (s *memory) Mkdir(_ context.Context, dir nodes.ID, name string) (nodes.ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.node(dir, nodes.Dir)
	if err != nil {
		return 0, err
	}
	n := s.add(nodes.Dir)
	d.link(name, n)
	return n.id, nil
}

// Move implements [overlay.Source].
func (s *memory) Move(_ context.Context, m overlay.Move) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, other, to := s.nodes[m.ID], s.nodes[m.To.ID], s.nodes[m.To.Dir]
	dir, name := n.dir, n.name
	text, err := s.holds(n, m.Text, m.To.Name)
	if err != nil {
		return err
	}
	back := ""
	if m.Exchange {
		if back, err = s.holds(other, m.Other, name); err != nil {
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

// holds is what a node holds once it has a name, if it may: what is written to it, unless
// that is nil.
func (s *memory) holds(n *memoryNode, written []byte, name string) (string, error) {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	n, err := s.node(id, 0)
	if err == nil {
		n.cut()
	}
	return err
}

// Now implements [overlay.Source].
func (s *memory) Now(_ context.Context, file nodes.ID) (overlay.Content, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, err := s.node(file, nodes.File)
	if err != nil {
		return nil, err
	}
	return was{n.text, n.mtime}, nil
}

// Sync implements [overlay.Source].
func (s *memory) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.syncs++
	return nil
}

// Watch implements [overlay.Source].
func (s *memory) Watch(w overlay.Watcher) { s.Watcher = w }

// Note implements [overlay.Valued].
func (s *memory) Note(nodes.ID) any { return nil }

// Refuse implements [overlay.Valued].
func (s *memory) Refuse(_ overlay.Place, begin []byte, _ overlay.From) error {
	if s.of.Hopeless == nil {
		return nil
	}
	return s.of.Hopeless(begin)
}

// was is what a file held.
type was struct {
	text string
	at   time.Time
}

func (w was) Size(context.Context) (int64, error) { return int64(len(w.text)), nil }
func (w was) ModTime() time.Time                  { return w.at }

func (w was) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	return nodes.ReadContent(w.text, p, off)
}
