package overlay

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"lorefs/nodes"
)

// place is a name in a directory that can be changed, and the node that has the name.
type place struct {
	Name string
	// ID and Kind are 0 if nothing has the name.
	ID   nodes.ID
	Kind nodes.Kind
	dir  nodes.ID
	// in is the directory if it is the source's, else 0.
	in nodes.ID
	// file is the file with the name; nil if there is none, or only the source knows it.
	file *file
	// of tells what the source knows of the name.
	of Name
}

// Exists reports whether something has the name.
func (p *place) Exists() bool { return p.ID != 0 }

// IsDir reports whether a directory has the name.
func (p *place) IsDir() bool { return p.Kind == nodes.Dir }

// source returns the node of the source that is seen at the place, or 0.
func (p *place) source() nodes.ID {
	switch {
	case !p.Exists():
		return 0
	case p.file == nil:
		return p.of.ID
	case p.file.pending:
		return 0
	}
	return p.file.of
}

// isSource reports whether a file that gets the name becomes one of the source.
func (p *place) isSource() bool { return p.of.ID != 0 || p.of.File.Own }

// find looks up a name. The caller holds editing.
func (t *Tree) find(ctx context.Context, dir nodes.ID, name string) (*place, error) {
	p := &place{Name: name, dir: dir, in: dir}
	if in := t.fileOf(dir); in != nil {
		switch {
		case in.kind != nodes.Dir:
			return p, fmt.Errorf("%v: %w", dir, nodes.ErrNotDir)
		case in.removed:
			return p, nodes.NotExist(dir)
		}
		p.in = 0
	}
	var err error
	if p.of, err = t.src.Name(ctx, p.in, name); err != nil {
		return p, err
	}
	p.Name = p.of.Text
	t.mu.RLock()
	defer t.mu.RUnlock()
	if p.file = t.named(dir, p.Name); p.file == nil && p.of.ID != 0 {
		var apart bool
		if p.file, apart = t.shown[p.of.ID]; !apart {
			p.ID, p.Kind, p.file = p.of.ID, p.of.Kind, t.files[p.of.ID]
		}
	}
	if p.file != nil {
		p.ID, p.Kind = p.file.id, p.file.kind
	}
	return p, nil
}

// maxName is the longest name of a scratch file, in bytes.
const maxName = 255

// mayBe returns why there can't be a new file or directory at the place.
func (p *place) mayBe(what Made) error {
	if len(p.Name) > maxName {
		return fmt.Errorf("%w: %d bytes, want up to %d", nodes.ErrNameTooLong, len(p.Name), maxName)
	}
	if p.Name == "" || p.Name == "." || p.Name == ".." || strings.ContainsAny(p.Name, "/\x00") {
		return fmt.Errorf("%w: %q is no name", nodes.ErrInvalid, p.Name)
	}
	return what.Err
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
		err = t.mayMake(p, kind)
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	var id nodes.ID
	if kind == nodes.Dir && p.of.Dir.Own {
		id, err = t.src.Mkdir(ctx, p.in, p.Name)
	} else {
		id, err = t.makeFile(p, kind)
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	t.times.Touch(dir)
	return t.entryOf(ctx, id, p.Name)
}

// mayMake returns why nothing of a kind can be made at a place.
func (t *Tree) mayMake(p *place, kind nodes.Kind) error {
	switch {
	case p.Exists():
		return nodes.ErrExist
	case kind == nodes.File:
		return t.mayBeFile(p)
	case p.of.ID != 0 && !p.of.Dir.Own:
		return fmt.Errorf("%w: %s is the name of a file", nodes.ErrNotPermitted, p.Name)
	}
	return p.mayBe(p.of.Dir)
}

// mayBeFile returns why there can't be a new file at a place where none is seen.
func (t *Tree) mayBeFile(p *place) error {
	if p.of.ID != 0 {
		return nil
	}
	if err := p.mayBe(p.of.File); err != nil {
		return err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	now, apart := t.shown[p.of.TwinID]
	if p.of.TwinID != 0 && (!apart || now != nil) || p.of.Twin != "" && t.named(p.dir, p.of.Twin) != nil {
		return fmt.Errorf("%s is there by another name: %w", p.Name, nodes.ErrExist)
	}
	return nil
}

// makeFile makes a file or directory that is not the source's, or not yet.
func (t *Tree) makeFile(p *place, kind nodes.Kind) (nodes.ID, error) {
	id, err := t.newID()
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f := &file{id: id, kind: kind, of: p.of.ID, pending: p.of.ID != 0, mtime: t.now()}
	if kind == nodes.File {
		f.fresh = p.of.ID == 0 && p.of.File.Own
		f.ShowAlone()
	}
	t.put(f, p.dir, p.Name)
	return id, nil
}

// Remove implements [nodes.Mutable].
func (t *Tree) Remove(ctx context.Context, dir nodes.ID, name string, kind nodes.Kind) error {
	t.editing.Lock()
	defer t.editing.Unlock()
	p, err := t.find(ctx, dir, name)
	switch {
	case err != nil:
		return err
	case !p.Exists():
		return p.missing()
	case kind == nodes.File && p.IsDir():
		return nodes.ErrIsDir
	case kind == nodes.Dir && !p.IsDir():
		return nodes.ErrNotDir
	}
	if err := t.remove(ctx, p); err != nil {
		return err
	}
	t.times.Touch(dir)
	return nil
}

// missing returns the [nodes.ErrNotExist] for the name.
func (p *place) missing() error { return nodes.NotExist(strconv.Quote(p.Name)) }

// remove removes the node at a place.
func (t *Tree) remove(ctx context.Context, p *place) error {
	if p.IsDir() {
		return t.removeDir(ctx, p)
	}
	if p.source() != 0 {
		return t.removeSource(ctx, p)
	}
	return t.removeScratch(ctx, p.file)
}

// removeScratch removes a file that is not the source's, and the file that it hides.
func (t *Tree) removeScratch(ctx context.Context, f *file) error {
	hidden := t.hiddenBy(f)
	if hidden != 0 {
		if err := t.src.Remove(ctx, hidden); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(f)
	t.lost(hidden)
	return nil
}

// removeSource removes a file of the source. If the source doesn't permit that, then a refused
// text is removed, and the source's content is seen again.
func (t *Tree) removeSource(ctx context.Context, p *place) error {
	was, err := t.before(ctx, p)
	if err != nil {
		return err
	}
	of := p.source()
	err = t.src.Remove(ctx, of)
	if isNotPermitted(err) && p.file != nil && p.file.problem != nil {
		return t.giveUp(ctx, p)
	}
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replaced(p, was)
	t.lost(of)
	return nil
}

// removeDir removes a directory in which nothing is seen.
func (t *Tree) removeDir(ctx context.Context, p *place) error {
	if err := t.mustBeEmpty(ctx, p.ID); err != nil {
		return err
	}
	of := p.source()
	hidden := t.hiddenIn(of)
	if of != 0 {
		if err := t.src.Remove(ctx, of); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replaced(p, nil)
	t.lost(of)
	for _, file := range hidden {
		t.lost(file)
	}
	return nil
}

// hiddenIn returns the hidden files in a directory of the source.
func (t *Tree) hiddenIn(dir nodes.ID) (in []nodes.ID) {
	for _, of := range t.allHidden() {
		if at, _ := t.src.Where(of); at == dir {
			in = append(in, of)
		}
	}
	return in
}

func (t *Tree) mustBeEmpty(ctx context.Context, dir nodes.ID) error {
	for _, err := range t.ReadDir(ctx, dir, 0) {
		if err != nil {
			return err
		}
		return nodes.ErrNotEmpty
	}
	return nil
}

// before returns the content of a file of the source, to be read after another file has replaced
// it. It is nil if the file holds a text and so keeps its content.
func (t *Tree) before(ctx context.Context, p *place) (Content, error) {
	of := p.source()
	if of == 0 || p.IsDir() || p.file != nil && p.file.Held() {
		return nil, nil //nolint:nilnil // nothing has to be kept
	}
	return t.src.Now(ctx, of)
}

// replaced removes the node at a place, if there is one. before is what it showed, which can
// still be read. The caller holds mu.
func (t *Tree) replaced(p *place, before Content) {
	if !p.Exists() {
		return
	}
	f := p.file
	if f == nil {
		f = &file{id: p.ID, kind: p.Kind, of: p.of.ID, mtime: t.now()}
		t.know(f)
	}
	f.was = before
	t.drop(f)
}
