package worldtree

import (
	"context"
	"fmt"
	"strings"

	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// place is a name in a directory that can be changed, and what has it.
type place struct {
	editing.Place
	dir nodes.ID
	// item has the name; nil if there is none.
	item *item
	// node is the file of the Tree that the name belongs to, hidden or not; nil if
	// it is that of none.
	node   *node
	hidden bool
}

// methods are what the tree does as others do.
type methods = editing.Methods[*place]

// find looks at a name. The caller holds editing.
func (e *Editable) find(ctx context.Context, dir nodes.ID, name string) (*place, error) {
	p := &place{Place: editing.Place{Name: name}, dir: dir}
	if in := e.itemOf(dir); in != nil {
		switch {
		case in.kind != nodes.Dir:
			return p, fmt.Errorf("%v: %w", dir, nodes.ErrNotDir)
		case in.name == "":
			return p, nodes.NotExist(dir)
		}
	} else {
		n, err := e.node(ctx, dir)
		switch {
		case err != nil:
			return p, err
		case n.kind() != nodes.Dir:
			return p, fmt.Errorf("%v: %w", dir, nodes.ErrNotDir)
		case !n.holdsEditable():
			return p, nodes.ErrReadOnly
		}
		if err := e.findNode(ctx, n, p); err != nil {
			return p, err
		}
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if d := e.dirs[dir]; d != nil {
		p.item, p.hidden = d.names[p.Name], d.hidden[p.Name]
	}
	if p.item != nil {
		p.ID, p.Kind = p.item.id, p.item.kind
	} else if p.node != nil && !p.hidden {
		p.ID, p.Kind = p.node.id(), nodes.File
	}
	return p, nil
}

// findNode finds the file of the Tree that a name belongs to, in any case of its
// letters.
func (e *Editable) findNode(ctx context.Context, dir node, p *place) error {
	if dir.source != nil {
		if square := squareNamed(p.Name); square >= 0 {
			p.node = &node{source: dir.source, view: zoneSquares, square: square}
		}
		return ctx.Err()
	}
	if dir.folder == nil {
		return nil
	}
	if i := e.placeIn(dir.folder, p.Name); i >= 0 {
		n := e.child(dir, i)
		p.node, p.Name = &n, n.name()
	}
	return ctx.Err()
}

func (e *Editable) itemNamed(dir nodes.ID, name string) *item {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.named(dir, name)
}

// maxScratchName is the longest name of a file, in bytes.
const maxScratchName = 255

// mayMake tells whether a scratch file can have a name. Who makes one that looks
// like a zone, a square or an area expects it to be saved.
func (p *place) mayMake() error {
	switch {
	case p.Name == "" || p.Name == "." || p.Name == ".." || len(p.Name) > maxScratchName || strings.ContainsAny(p.Name, "/\x00"):
		return fmt.Errorf("%w: %q is no name", nodes.ErrInvalid, p.Name)
	case strings.HasSuffix(p.Name, ".json") && !strings.HasPrefix(p.Name, "."):
		return fmt.Errorf("%w: no file of the folder is called %s, and none can be added", nodes.ErrNotPermitted, p.Name)
	}
	return nil
}

// Create implements [nodes.Mutable].
func (e *Editable) Create(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	return e.make(ctx, dir, name, nodes.File)
}

// Mkdir implements [nodes.Mutable].
func (e *Editable) Mkdir(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	return e.make(ctx, dir, name, nodes.Dir)
}

func (e *Editable) make(ctx context.Context, dir nodes.ID, name string, kind nodes.Kind) (nodes.Entry, error) {
	e.editing.Lock()
	defer e.editing.Unlock()
	p, err := e.find(ctx, dir, name)
	switch {
	case err != nil:
		return nodes.Entry{}, err
	case p.Exists():
		return nodes.Entry{}, nodes.ErrExist
	case p.node != nil && kind == nodes.Dir:
		return nodes.Entry{}, fmt.Errorf("%w: %s is the name of a file", nodes.ErrNotPermitted, p.Name)
	case p.node == nil:
		if err := p.mayMake(); err != nil {
			return nodes.Entry{}, err
		}
	}
	e.mu.Lock()
	i := &item{id: e.newID(), kind: kind, target: p.node, pending: p.node != nil, mtime: e.owner.Now()}
	if kind == nodes.File {
		i.Keep()
	}
	e.put(i, dir, p.Name)
	e.mu.Unlock()
	e.times.Touch(dir)
	return e.entryOf(ctx, i.id, p.Name)
}

// errKept is why zones and areas stay.
var errKept = fmt.Errorf("%w: zones, squares and areas can be changed, but neither removed nor moved", nodes.ErrNotPermitted)

// remove removes what is at a place.
func (e *Editable) remove(_ context.Context, p *place) error {
	switch {
	case p.IsDir() && !e.isEmpty(p.item):
		return nodes.ErrNotEmpty
	case e.isRefused(p):
		e.giveUp(p)
		return nil
	case p.item == nil, p.item.target != nil && !p.item.pending, e.stillHides(p.item):
		return errKept
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drop(p.item)
	return nil
}

func (e *Editable) isEmpty(dir *item) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	d := e.dirs[dir.id]
	return d == nil || len(d.names) == 0
}

// stillHides tells of a scratch file that it is all that is to be seen of a file of
// the Tree.
func (e *Editable) stillHides(i *item) bool {
	if i.hides == nil {
		return false
	}
	now := e.itemNamed(e.parent(*i.hides), i.hides.name())
	return now == nil || now.pending
}

// rename renames what is at a place.
func (e *Editable) rename(ctx context.Context, from, to *place) error {
	switch {
	case from.IsDir() && e.isIn(to.dir, from.item):
		return errInItself
	case to.IsDir() && !e.isEmpty(to.item):
		return nodes.ErrNotEmpty
	case to.node != nil:
		return e.ontoFile(ctx, from, to)
	}
	return e.toScratch(ctx, from, to)
}

// errInItself is why a directory can't go where it is to.
var errInItself = fmt.Errorf("%w: a directory can't be moved into itself", nodes.ErrInvalid)

// isIn tells whether a directory is another, or in it.
func (e *Editable) isIn(dir nodes.ID, other *item) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for i := e.items[dir]; i != nil; i = e.items[i.dir] {
		if i == other {
			return true
		}
	}
	return false
}

// exchange swaps two scratch files.
func (e *Editable) exchange(_ context.Context, from, to *place) error {
	switch {
	case from.IsDir() && e.isIn(to.dir, from.item), to.IsDir() && e.isIn(from.dir, to.item):
		return errInItself
	case from.node != nil, to.node != nil:
		return errKept
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.take(from.item)
	e.take(to.item)
	e.put(from.item, to.dir, to.Name)
	e.put(to.item, from.dir, from.Name)
	return nil
}

// toScratch renames something to what is no file of the Tree.
func (e *Editable) toScratch(ctx context.Context, from, to *place) error {
	if err := to.mayMake(); err != nil {
		return err
	}
	if to.Exists() && e.stillHides(to.item) {
		return errKept
	}
	i := from.item
	if from.node != nil {
		var err error
		if i, err = e.hide(ctx, from); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if to.item != nil {
		e.drop(to.item)
	}
	if from.item != nil {
		e.take(from.item)
	}
	if from.node != nil {
		e.state(from.dir).hidden[from.Name] = true
		i.target = nil
	}
	e.put(i, to.dir, to.Name)
	return nil
}

// hide makes a scratch file of what has the name of a file of the Tree: it holds
// what that shows.
func (e *Editable) hide(ctx context.Context, from *place) (*item, error) {
	if !from.node.editable() {
		return nil, nodes.ErrReadOnly
	}
	i := e.itemOf(from.ID)
	if i == nil {
		i = e.fileItem(from.ID, *from.node)
	}
	if err := e.hold(ctx, i); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	i.hides, i.pending = from.node, false
	return i, nil
}

// ontoFile renames a scratch file to a file of the Tree, whose content it becomes.
func (e *Editable) ontoFile(ctx context.Context, from, to *place) error {
	switch {
	case !to.node.editable():
		return nodes.ErrReadOnly
	case from.node != nil:
		return errKept
	case from.IsDir():
		return nodes.ErrNotDir
	}
	i, before := from.item, to.node.source.now()
	if i.hides != nil && *i.hides != *to.node && e.stillHides(i) {
		return errKept
	}
	if err := e.change(ctx, *to.node, i.Bytes()); err != nil {
		e.drafts.Refuse(ctx, &i.Draft, to, err)
		return err
	}
	e.mu.Lock()
	e.replaced(to, before)
	e.take(i)
	i.target, i.hides, i.pending = to.node, nil, false
	i.Drop()
	e.count(i)
	e.state(to.dir).hidden[to.Name] = true
	e.put(i, to.dir, to.Name)
	e.mu.Unlock()
	e.owner.Tell(nodes.Change{ID: i.id}) // it may be spelled in another way now
	return e.owner.Sync()
}

// replaced removes what had the name of a file of the Tree. What it showed before
// can still be read. The caller holds mu.
func (e *Editable) replaced(to *place, before *version) {
	if !to.Exists() {
		return
	}
	i := e.items[to.ID]
	if i == nil {
		i = &item{id: to.ID, kind: nodes.File}
		e.items[i.id] = i
	}
	if to.item != nil {
		e.take(i)
	}
	i.was, i.of, i.target = to.node, before, nil
	e.gone(i)
}
