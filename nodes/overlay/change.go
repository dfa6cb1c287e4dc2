package overlay

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
	// file has the name; nil if there is none.
	file *file
	// of is what the source says of the name.
	of Name
}

// methods are what the tree does as others do.
type methods = editing.Methods[*place]

// find looks at a name. The caller holds editing.
func (t *Tree) find(ctx context.Context, dir nodes.ID, name string) (*place, error) {
	p := &place{Place: editing.Place{Name: name}, dir: dir}
	asked := dir
	if in := t.fileOf(dir); in != nil {
		switch {
		case in.kind != nodes.Dir:
			return p, fmt.Errorf("%v: %w", dir, nodes.ErrNotDir)
		case in.removed:
			return p, nodes.NotExist(dir)
		}
		asked = 0
	}
	var err error
	if p.of, err = t.src.Name(ctx, asked, name); err != nil {
		return p, err
	}
	p.Name = p.of.Text
	t.mu.RLock()
	defer t.mu.RUnlock()
	apart := false
	if p.file = t.named(dir, p.Name); p.of.File != 0 {
		p.file, apart = t.shown[p.of.File]
	}
	if p.file != nil {
		p.ID, p.Kind = p.file.id, p.file.kind
	} else if p.of.File != 0 && !apart {
		p.ID, p.Kind = p.of.File, nodes.File
	}
	return p, nil
}

// maxName is the longest name of a scratch file, in bytes.
const maxName = 255

// mayBeScratch tells why a place can have no scratch file.
func (p *place) mayBeScratch() error {
	if p.Name == "" || p.Name == "." || p.Name == ".." || len(p.Name) > maxName || strings.ContainsAny(p.Name, "/\x00") {
		return fmt.Errorf("%w: %q is no name", nodes.ErrInvalid, p.Name)
	}
	return p.of.Scratch
}

// Create implements [nodes.Mutable].
func (t *Tree) Create(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	return t.make(ctx, dir, name, nodes.File)
}

// Mkdir implements [nodes.Mutable].
func (t *Tree) Mkdir(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	return t.make(ctx, dir, name, nodes.Dir)
}

func (t *Tree) make(ctx context.Context, dir nodes.ID, name string, kind nodes.Kind) (nodes.Entry, error) {
	t.editing.Lock()
	defer t.editing.Unlock()
	p, err := t.find(ctx, dir, name)
	if err == nil {
		err = p.mayMake(kind)
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	t.mu.Lock()
	f := &file{id: t.newID(), kind: kind, of: p.of.File, pending: p.of.File != 0, mtime: t.owner.Now()}
	if kind == nodes.File {
		f.Keep()
	}
	t.put(f, dir, p.Name)
	t.mu.Unlock()
	t.times.Touch(dir)
	return t.entryOf(ctx, f.id, p.Name)
}

// mayMake tells why nothing of a kind can be made at a place.
func (p *place) mayMake(kind nodes.Kind) error {
	switch {
	case p.Exists():
		return nodes.ErrExist
	case p.of.File == 0:
		return p.mayBeScratch()
	case kind == nodes.Dir:
		return fmt.Errorf("%w: %s is the name of a file", nodes.ErrNotPermitted, p.Name)
	}
	return nil
}

// remove removes what is at a place.
func (t *Tree) remove(_ context.Context, p *place) error {
	switch {
	case p.IsDir() && !t.isEmpty(p.file):
		return nodes.ErrNotEmpty
	case t.isRefused(p):
		t.giveUp(p)
		return nil
	case p.file == nil, p.file.of != 0 && !p.file.pending, t.stillHides(p.file):
		return t.kept
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(p.file)
	return nil
}

func (t *Tree) isEmpty(dir *file) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	d := t.dirs[dir.id]
	return d == nil || len(d.names) == 0
}

// rename renames what is at a place.
func (t *Tree) rename(ctx context.Context, from, to *place) error {
	switch {
	case from.IsDir() && t.isIn(to.dir, from.file):
		return errInItself
	case to.IsDir() && !t.isEmpty(to.file):
		return nodes.ErrNotEmpty
	case to.of.File != 0:
		return t.ontoSource(ctx, from, to)
	}
	return t.toScratch(ctx, from, to)
}

// errInItself is why a directory can't go where it is to.
var errInItself = fmt.Errorf("%w: a directory can't be moved into itself", nodes.ErrInvalid)

// isIn tells whether a directory is another, or in it.
func (t *Tree) isIn(dir nodes.ID, other *file) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for f := t.files[dir]; f != nil; f = t.files[f.dir] {
		if f == other {
			return true
		}
	}
	return false
}

// exchange swaps two scratch files.
func (t *Tree) exchange(_ context.Context, from, to *place) error {
	switch {
	case from.IsDir() && t.isIn(to.dir, from.file), to.IsDir() && t.isIn(from.dir, to.file):
		return errInItself
	case from.of.File != 0, to.of.File != 0:
		return t.kept
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.take(from.file)
	t.take(to.file)
	t.put(from.file, to.dir, to.Name)
	t.put(to.file, from.dir, from.Name)
	return nil
}

// toScratch renames something to what is no file of the source.
func (t *Tree) toScratch(ctx context.Context, from, to *place) error {
	if err := to.mayBeScratch(); err != nil {
		return err
	}
	if to.Exists() && t.stillHides(to.file) {
		return t.kept
	}
	f := from.file
	if from.of.File != 0 {
		var err error
		if f, err = t.leave(ctx, from); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if to.file != nil {
		t.drop(to.file)
	}
	if from.file != nil {
		t.take(from.file)
	}
	if of := from.of.File; of != 0 {
		t.shown[of] = nil
		f.of, f.pending, f.hides = 0, false, of
	}
	t.put(f, to.dir, to.Name)
	return nil
}

// leave gives the file that has the name of one of the source's, and is about to leave it:
// it holds what that shows.
func (t *Tree) leave(ctx context.Context, from *place) (*file, error) {
	if !from.of.Writable {
		return nil, nodes.ErrReadOnly
	}
	f := t.fileOf(from.ID)
	if f == nil {
		f = sourceFile(from.ID, from.of.File)
	}
	return f, t.hold(ctx, f)
}

// ontoSource renames a scratch file to a file of the source, whose content it becomes.
func (t *Tree) ontoSource(ctx context.Context, from, to *place) error {
	switch {
	case !to.of.Writable:
		return nodes.ErrReadOnly
	case from.of.File != 0:
		return t.kept
	case from.IsDir():
		return nodes.ErrNotDir
	}
	f, of, before := from.file, to.of.File, t.src.Now(to.of.File)
	if f.hides != of && t.stillHides(f) {
		return t.kept
	}
	if err := t.src.Put(ctx, of, f.Bytes()); err != nil {
		t.drafts.Refuse(ctx, &f.Draft, to, err)
		return err
	}
	t.mu.Lock()
	t.replaced(to, before)
	t.take(f)
	f.of, f.hides, f.pending = of, 0, false
	f.Drop()
	t.count(f)
	t.put(f, to.dir, to.Name)
	t.mu.Unlock()
	t.owner.Tell(nodes.Change{ID: f.id}) // it may be spelled in another way now
	return t.owner.Sync()
}

// replaced removes what had the name of a file of the source. What it showed before can
// still be read. The caller holds mu.
func (t *Tree) replaced(to *place, before Content) {
	if !to.Exists() {
		return
	}
	f := t.files[to.ID]
	if f == nil {
		f = &file{id: to.ID, kind: nodes.File}
		t.files[f.id] = f
	}
	if to.file != nil {
		t.take(f)
	}
	f.was = before
	t.gone(f)
}
