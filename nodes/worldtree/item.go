package worldtree

import (
	"context"
	"fmt"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// item is a file or directory that is more than what the Tree shows: one that is
// open for writing, a scratch file, one that has taken the place of a file of the
// Tree, or one that was removed but is perhaps still in use. It is guarded by
// Editable.mu, and changed by whoever holds Editable.editing.
type item struct {
	id   nodes.ID
	kind nodes.Kind
	// dir and name are where it is; name is empty once it was removed.
	dir  nodes.ID
	name string
	// cursor is its place among the scratch files of its directory.
	cursor uint64

	// target is the file of the Tree that it is; nil for a scratch file. pending
	// tells that it has the name of one, but nobody has closed it so far.
	target  *node
	pending bool
	// hides is the file of the Tree that it was before it was renamed to a scratch
	// file, nil if it was none.
	hides *node
	// was and of are what it showed when it was removed, if no text is held.
	was *node
	of  *version

	// Draft is what is read, if it is held.
	editing.Draft
	mtime time.Time // when it was made or written to
}

// fileItem is the item of a file of the Tree of which there was none.
func (e *Editable) fileItem(id nodes.ID, n node) *item {
	return &item{id: id, kind: nodes.File, dir: e.parent(n), name: n.name(), target: &n, mtime: n.source.now().shown}
}

// count keeps account of the memory that texts take. The caller holds mu.
func (e *Editable) count(i *item) { e.drafts.Count(&i.Draft, i.name != "") }

// hold makes a text of what an item shows. The caller holds editing.
func (e *Editable) hold(ctx context.Context, i *item) error {
	if err := e.owner.Hold(ctx, i.id, &i.Text); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.count(i)
	return nil
}

// dirState is what there is in a directory beyond what the Tree has.
type dirState struct {
	// names has the items in it, scratch those that are no files of the Tree, in
	// the order of their cursors.
	names   map[string]*item
	scratch editing.Order[item]
	// hidden are the names of those files of the Tree that are not to be seen
	// under their own number: an item has the name, or nothing has.
	hidden map[string]bool
}

// scratchCursor is the first cursor of the scratch files, behind all others.
const scratchCursor = 1 << 40

// itemView stands in the place of the view in the IDs of items that have got a
// number of their own.
const itemView = 31

// newID is the caller's that holds mu.
func (e *Editable) newID() nodes.ID {
	e.made++
	return itemView<<viewShift | nodes.ID(e.made)
}

// seen is an item as it was at some moment.
type seen struct {
	kind    nodes.Kind
	data    []byte
	held    bool
	mtime   time.Time
	removed bool
	// node and of are what it shows unless data is held.
	node node
	of   *version
}

// look gives what there is beyond the Tree of a node.
func (e *Editable) look(id nodes.ID) (s seen, known bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	i := e.items[id]
	if i == nil {
		return s, false
	}
	s = seen{kind: i.kind, data: i.Bytes(), held: i.Held(), mtime: i.mtime, removed: i.name == ""}
	switch {
	case i.Held() || i.kind == nodes.Dir:
	case i.target != nil:
		s.node, s.of = *i.target, i.target.source.now()
		s.mtime = s.of.shown
	default:
		s.node, s.of = *i.was, i.of
		s.mtime = s.of.shown
	}
	return s, true
}

// readVersion reads what a version shows as a node.
func (t *Tree) readVersion(ctx context.Context, s *version, n node, p []byte, off int64) (int, error) {
	if n.square >= 0 {
		return t.readSquare(ctx, s, n.square, p, off)
	}
	return t.readView(ctx, s, n.view, p, off)
}

// state gives that of a directory, which need not have had one. The caller holds mu.
func (e *Editable) state(dir nodes.ID) *dirState {
	d := e.dirs[dir]
	if d == nil {
		d = &dirState{names: map[string]*item{}, hidden: map[string]bool{}}
		e.dirs[dir] = d
	}
	return d
}

// put puts an item into a directory. The caller holds mu.
func (e *Editable) put(i *item, dir nodes.ID, name string) {
	d := e.state(dir)
	i.dir, i.name = dir, name
	d.names[name] = i
	e.items[i.id] = i
	if i.target == nil {
		e.made++
		i.cursor = scratchCursor + e.made
		d.scratch.Put(i.cursor, i)
	}
}

// take takes an item out of its directory. The caller holds mu.
func (e *Editable) take(i *item) {
	d := e.state(i.dir)
	delete(d.names, i.name)
	d.scratch.Take(i.cursor)
}

// drop takes an item out of its directory for good. The caller holds mu.
func (e *Editable) drop(i *item) {
	e.take(i)
	e.gone(i)
}

// gone notes that an item is in no directory any more. The caller holds mu.
func (e *Editable) gone(i *item) {
	i.name, i.pending = "", false
	i.Tried(nil)
	e.count(i)
}

// lookScratch finds an item by its name. In a directory that is an item itself
// there is nothing else: ok is false with an error then.
func (e *Editable) lookScratch(ctx context.Context, dir nodes.ID, name string) (entry nodes.Entry, ok bool, err error) {
	e.mu.RLock()
	i, of := e.named(dir, name), e.items[dir]
	e.mu.RUnlock()
	switch {
	case of != nil && of.kind != nodes.Dir:
		return entry, false, fmt.Errorf("%v: %w", dir, nodes.ErrNotDir)
	case i == nil && of != nil:
		return entry, false, nodes.NotExist(name)
	case i == nil:
		return entry, false, nil
	}
	entry, err = e.entryOf(ctx, i.id, name)
	return entry, true, err
}

// named is the item with a name in a directory, nil for none. The caller holds mu.
func (e *Editable) named(dir nodes.ID, name string) *item {
	if d := e.dirs[dir]; d != nil {
		return d.names[name]
	}
	return nil
}

// entryOf describes an item.
func (e *Editable) entryOf(ctx context.Context, id nodes.ID, name string) (nodes.Entry, error) {
	attr, err := e.Attr(ctx, id)
	return nodes.Entry{
		Name: name, ID: id, Kind: attr.Kind, Size: attr.Size, ModTime: attr.ModTime, Writable: attr.Writable,
	}, err
}

// listScratch lists the scratch files of a directory.
func (e *Editable) listScratch(ctx context.Context, dir nodes.ID, cursor uint64, yield func(nodes.Entry, error) bool) {
	type place struct {
		id     nodes.ID
		name   string
		cursor uint64
	}
	var places []place
	e.mu.RLock()
	if d := e.dirs[dir]; d != nil {
		for i := range d.scratch.From(cursor) {
			places = append(places, place{i.id, i.name, i.cursor})
		}
	}
	e.mu.RUnlock()
	for _, p := range places {
		entry, err := e.entryOf(ctx, p.id, p.name)
		entry.Next = p.cursor + 1
		if !yield(entry, err) || err != nil {
			return
		}
	}
}

// Forget implements [nodes.Mutable].
func (e *Editable) Forget(id nodes.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if i := e.items[id]; i != nil && i.name == "" && !i.Open() {
		delete(e.items, id)
		delete(e.dirs, id)
		e.times.Drop(id)
	}
}
