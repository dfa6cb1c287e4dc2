package dctree

import (
	"context"

	"lorefs/datacenter"
	"lorefs/nodes/editing"
)

// rename renames what is at a place.
func (e *Editable) rename(ctx context.Context, from, to *place) error {
	if from.IsDir() {
		return e.renameDir(ctx, from, to)
	}
	return e.renameFile(ctx, from, to)
}

func (e *Editable) renameDir(ctx context.Context, from, to *place) error {
	plain, ordinal, err := e.childFile(to.Name)
	if err == nil {
		err = newName(plain)
	}
	if err != nil {
		return err
	}
	var edits []datacenter.Edit
	if to.Exists() {
		if err := e.mustBeEmpty(to); err != nil {
			return err
		}
		edits = append(edits, datacenter.Edit{Op: datacenter.RemoveNode, Node: to.number()})
	}
	edits = append(edits, datacenter.Edit{
		Op: datacenter.MoveNode, Node: from.number(), Parent: to.dir, Name: plain, Ordinal: ordinal,
	})
	e.pinMark(from)
	err = e.apply(ctx, edits...)
	if err != nil {
		return refusal(err)
	}
	if to.Exists() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.goneDir(to)
	}
	return nil
}

func (e *Editable) renameFile(ctx context.Context, from, to *place) error {
	c, err := e.leave(ctx, from)
	if err != nil {
		return err
	}
	if editing.IsScratch(to.Name) {
		err = e.toScratch(ctx, c, from, to)
	} else {
		err = e.toAttribute(ctx, c, to)
	}
	if err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.settle(c)
	}
	return err
}

// toScratch renames any file to one that is no attribute.
func (e *Editable) toScratch(ctx context.Context, c *content, from, to *place) error {
	var of attributeKey
	var t datacenter.Type
	if c.attribute {
		name, _, err := e.attributeFile(from.Name)
		if err == nil {
			t, err = e.typeAt(from.dir, name)
		}
		if err != nil {
			return err
		}
		of = attributeKey{from.dir, name}
	}
	if to.Exists() { // what has such a name is scratch
		if err := e.removeScratch(ctx, e.open(to.ID)); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.attribute {
		e.hide(c, of, t)
		c.typ = t
	} else {
		e.dropScratch(c)
	}
	e.putScratch(c, to.dir, to.Name)
	return nil
}

// toAttribute renames any file to one that is an attribute, and takes the type of
// the one that it replaces.
func (e *Editable) toAttribute(ctx context.Context, c *content, to *place) error {
	name, marked, err := e.newAttribute(to)
	if err != nil {
		return err
	}
	target := attributeKey{to.dir, name}
	own, err := e.ownType(c)
	if err != nil {
		return err
	}
	v, err := e.valueAt(c, own, target)
	if err != nil {
		return err
	}
	replaced, err := e.replaced(ctx, to)
	if err != nil {
		return err
	}
	edits, err := e.moveEdits(c, target, v)
	if err == nil {
		err = refusal(e.apply(ctx, edits...))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		if replaced != nil && replaced.attribute {
			e.settle(replaced)
		}
		return err
	}
	e.depart(c, own)
	if replaced != nil && replaced.attribute {
		e.gone(replaced)
	} else if replaced != nil {
		e.unlink(replaced)
	}
	e.unhide(target)
	e.marked[c.number] = marked
	c.dir, c.name, c.attribute, c.typ = to.dir, to.Name, true, 0
	e.show(c, v)
	e.settle(c)
	return nil
}

// replaced is the content of the file that a rename replaces, nil if there is
// none.
func (e *Editable) replaced(ctx context.Context, to *place) (*content, error) {
	if !to.Exists() {
		return nil, nil //nolint:nilnil // there is none
	}
	return e.leave(ctx, to)
}

// ownType is the type that a file has where it is; 0 is none.
func (e *Editable) ownType(c *content) (datacenter.Type, error) {
	if !c.attribute {
		return c.typ, nil
	}
	return e.typeOf(c)
}

// valueAt is the value that a file has as an attribute: of the type that is
// wanted there, else of its own.
func (e *Editable) valueAt(c *content, own datacenter.Type, at attributeKey) (datacenter.Value, error) {
	t, err := e.typeAt(at.node, at.name)
	if err != nil {
		return datacenter.Value{}, err
	}
	if t == 0 {
		t = own
	}
	return valueOf(t, string(c.Bytes()))
}

// moveEdits are those that give a file's attribute another place.
func (e *Editable) moveEdits(c *content, to attributeKey, v datacenter.Value) ([]datacenter.Edit, error) {
	var edits []datacenter.Edit
	remove := func(k attributeKey) {
		edits = append(edits, datacenter.Edit{Op: datacenter.RemoveAttribute, Node: k.node, Name: k.name})
	}
	if c.attribute {
		name, _, err := e.attributeFile(c.name)
		if err != nil {
			return nil, err
		}
		remove(attributeKey{c.dir, name})
	}
	if k, ok := e.hiddenBy(c); ok && k != to {
		remove(k) // it still has the number that c brings along
	}
	return append(edits, datacenter.Edit{Op: datacenter.SetAttribute, Node: to.node, Name: to.name, Value: v, Attr: c.number}), nil
}

// depart takes a file from the place where it was. The caller holds mu and
// editing.
func (e *Editable) depart(c *content, t datacenter.Type) {
	if c.attribute {
		if name, _, err := e.attributeFile(c.name); err == nil {
			e.noteType(attributeKey{c.dir, name}, t)
		}
	} else {
		e.dropScratch(c)
	}
	if c.hides == nil {
		return
	}
	if s := e.dirs[c.hides.node]; s != nil && s.hidden[c.hides.name] == c {
		e.noteType(*c.hides, c.hidesType)
		e.unhide(*c.hides)
	}
	c.hides = nil
}
