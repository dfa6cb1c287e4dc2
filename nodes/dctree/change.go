package dctree

import (
	"context"
	"fmt"

	"lorefs/datacenter"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// place is where a name leads.
type place struct {
	editing.Place
	dir datacenter.Number // the directory
}

// methods are what the tree does as others do.
type methods = editing.Methods[*place]

// find looks at a name of a directory, which becomes a draft node. The caller
// holds editing.
func (e *Editable) find(ctx context.Context, dir nodes.ID, name string) (*place, error) {
	p := &place{Place: editing.Place{Name: name}}
	if err := e.check(ctx); err != nil {
		return p, err
	}
	var err error
	if p.dir, _, err = e.dirNumber(dir); err != nil {
		return p, err
	}
	if err = e.draft.Open(p.dir); err != nil {
		return p, refusal(err)
	}
	entry, err := e.lookup(p.dir, name)
	if err == nil {
		p.ID, p.Kind = entry.ID, entry.Kind
	}
	if isNotExist(err) {
		return p, nil
	}
	return p, err
}

func (p *place) number() datacenter.Number {
	n, _, _ := number(p.ID)
	return n
}

// isScratchFile tells whether a place holds a file that is no attribute.
func (e *Editable) isScratchFile(p *place) bool {
	c := e.open(p.ID)
	return c != nil && !c.attribute
}

// newAttribute tells whether a file of that name can become an attribute of the
// directory. An attribute has one file only.
func (e *Editable) newAttribute(p *place) (name string, marked bool, err error) {
	if name, marked, err = e.attributeFile(p.Name); err == nil {
		err = newName(name)
	}
	switch {
	case err != nil:
		return "", false, err
	case p.dir == 0:
		return "", false, fmt.Errorf("%w: the root of a data center has no attributes", nodes.ErrNotPermitted)
	case p.Exists():
		return name, marked, nil
	}
	other := "@" + p.Name
	if marked {
		other = p.Name[1:]
	}
	_, there := e.seen(p.dir, name)
	if _, scratch := e.scratchFile(p.dir, other); there || scratch {
		return "", false, fmt.Errorf("%q is there by another name: %w", name, nodes.ErrExist)
	}
	return name, marked, nil
}

// Create implements [nodes.Mutable].
func (e *Editable) Create(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	e.editing.Lock()
	defer e.editing.Unlock()
	p, err := e.find(ctx, dir, name)
	if err == nil && p.Exists() {
		err = nodes.ErrExist
	}
	if err == nil && !editing.IsScratch(name) {
		_, _, err = e.newAttribute(p)
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	n := e.draft.NewNumber()
	if n == 0 {
		return nodes.Entry{}, fmt.Errorf("%w: no number is left for a file", nodes.ErrTooLarge)
	}
	c := &content{id: madeID(n, true), number: n}
	e.mu.Lock()
	e.putScratch(c, p.dir, name)
	e.mu.Unlock()
	e.times.Touch(dir, c.id)
	entry := scratchEntry(c)
	entry.Next = 0
	e.complete(&entry)
	return entry, nil
}

// Mkdir implements [nodes.Mutable]. A node takes the keys of those that the file has on its
// path.
func (e *Editable) Mkdir(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	e.editing.Lock()
	defer e.editing.Unlock()
	p, err := e.find(ctx, dir, name)
	if err == nil && p.Exists() {
		err = nodes.ErrExist
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	plain, ordinal, err := e.childFile(name)
	if err == nil {
		err = newName(plain)
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	keys, err := e.draft.KeysOnPath(p.dir, plain)
	if err != nil {
		return nodes.Entry{}, refusal(err)
	}
	n := e.draft.NewNumber()
	err = e.apply(ctx, datacenter.Edit{
		Op: datacenter.AddNode, Node: n, Parent: p.dir, Name: plain, Ordinal: ordinal, Keys: keys,
	})
	if err != nil {
		return nodes.Entry{}, refusal(err)
	}
	id := madeID(n, false)
	e.times.Touch(dir, id)
	entry := nodes.Entry{Name: name, ID: id, Kind: nodes.Dir}
	e.complete(&entry)
	return entry, nil
}

// remove removes what is at a place.
func (e *Editable) remove(ctx context.Context, p *place) error {
	if p.IsDir() {
		return e.removeDir(ctx, p)
	}
	return e.removeFile(ctx, p)
}

func (e *Editable) removeDir(ctx context.Context, p *place) error {
	if err := e.mustBeEmpty(p); err != nil {
		return err
	}
	e.pinMark(p)
	err := e.apply(ctx, datacenter.Edit{Op: datacenter.RemoveNode, Node: p.number()})
	if err != nil {
		return refusal(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.goneDir(p)
	return nil
}

// pinMark makes sure that an attribute that is @name because of a directory keeps
// its name when the directory goes.
func (e *Editable) pinMark(dir *place) {
	name, ordinal, err := e.childFile(dir.Name)
	d, ok := e.draft.Attribute(dir.dir, name)
	if err != nil || ordinal > 0 || !ok {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.marked[d.Number]; !known {
		e.marked[d.Number] = true
	}
}

// goneDir notes that a directory is no more. The caller holds mu.
func (e *Editable) goneDir(p *place) {
	delete(e.dirs, p.number())
	e.removed[p.ID] = true // until Forget
}

// mustBeEmpty is for directories.
func (e *Editable) mustBeEmpty(p *place) error {
	if err := e.draft.Open(p.number()); err != nil {
		return refusal(err)
	}
	n, _ := e.draft.Node(p.number())
	entries := n.Attributes + n.Children
	if s := e.dirs[p.number()]; s != nil {
		entries += len(s.scratch) - len(s.hidden)
	}
	if entries > 0 {
		return nodes.ErrNotEmpty
	}
	return nil
}

func (e *Editable) removeFile(ctx context.Context, p *place) error {
	if e.isScratchFile(p) {
		return e.removeScratch(ctx, e.open(p.ID))
	}
	c, err := e.leave(ctx, p)
	if err != nil {
		return err
	}
	name, _, err := e.attributeFile(p.Name)
	if err == nil {
		err = e.removeAttribute(ctx, attributeKey{p.dir, name})
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		e.settle(c)
		return err
	}
	e.gone(c)
	return nil
}

// removeScratch removes a scratch file, and the attribute that it hides.
func (e *Editable) removeScratch(ctx context.Context, c *content) error {
	if k, ok := e.hiddenBy(c); ok {
		if err := e.removeAttribute(ctx, k); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unlink(c)
	return nil
}

// removeAttribute removes an attribute that may be hidden, but for its file.
func (e *Editable) removeAttribute(ctx context.Context, k attributeKey) error {
	t, err := e.typeAt(k.node, k.name)
	if err != nil {
		return err
	}
	err = e.apply(ctx, datacenter.Edit{Op: datacenter.RemoveAttribute, Node: k.node, Name: k.name})
	if err != nil {
		return refusal(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unhide(k)
	e.noteType(k, t)
	return nil
}

// leave makes the content of a file that is about to go elsewhere, with all that
// there is to read for whoever has it open. It ends with settle, or another state.
func (e *Editable) leave(ctx context.Context, p *place) (*content, error) {
	c, err := e.content(ctx, p.ID)
	if err == nil {
		err = e.owner.Hold(ctx, c.id, &c.Text)
	}
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files[c.id] = c
	return c, nil
}

// gone notes that the attribute of a content is no more. The caller holds mu.
func (e *Editable) gone(c *content) {
	delete(e.bare, c.number)
	delete(e.marked, c.number)
	e.times.Drop(c.id)
	c.name, c.attribute = "", false
	c.Clean()
	e.files[c.id] = c // until Forget
}

// unlink removes a scratch file. The caller holds mu.
func (e *Editable) unlink(c *content) {
	e.dropScratch(c)
	e.times.Drop(c.id)
	c.name = ""
	c.Clean()
}

// Forget implements [nodes.Mutable].
func (e *Editable) Forget(id nodes.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.files[id]
	if c != nil && c.name == "" && !c.Open() {
		delete(e.files, id)
	} else if !e.removed[id] {
		return
	}
	delete(e.removed, id)
	e.times.Drop(id)
}
