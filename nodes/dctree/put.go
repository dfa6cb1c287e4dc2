package dctree

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// apply applies edits as this tree's own, which changed ignores.
func (e *edits) apply(ctx context.Context, edits ...edit.Edit) error {
	err := e.draft.ApplyPlan(ctx, e, func() ([]edit.Edit, error) { return edits, nil })
	return refusal(err)
}

// keyAt returns the attribute that a file at a place is, or would be.
func (e *edits) keyAt(to overlay.Place) (k attributeKey, marked bool, err error) {
	if to.Name == "" {
		k, err = e.keyOf(to.ID)
		return k, false, err
	}
	k.node, _, err = e.dirNumber(to.Dir)
	if err == nil {
		k.name, marked, err = e.attributeFile(to.Name)
	}
	return k, marked, err
}

// keyOf returns the place of the attribute with an ID.
func (e *edits) keyOf(id nodes.ID) (attributeKey, error) {
	n, _, _ := number(id)
	of, name, err := e.draft.Holder(n)
	return attributeKey{of, name}, refusal(err)
}

// Open implements [overlay.Source].
func (e *edits) Open(ctx context.Context, file nodes.ID) error {
	attr, err := e.Attr(ctx, file)
	switch {
	case err != nil:
		return err
	case attr.Kind == nodes.Dir:
		return fmt.Errorf("%v: %w", file, nodes.ErrIsDir)
	}
	_, err = e.keyOf(file)
	return err
}

// NewID implements [overlay.Valued].
func (e *edits) NewID() (nodes.ID, error) {
	n := e.draft.NewNumber()
	if n == 0 {
		return 0, fmt.Errorf("%w: no number is left for a file", nodes.ErrTooLarge)
	}
	return madeID(n, true), nil
}

// Extra implements [overlay.Valued].
func (e *edits) Extra(file nodes.ID) any {
	k, err := e.keyOf(file)
	if err != nil {
		return nil
	}
	t, err := e.typeAt(k.node, k.name)
	if err != nil {
		return nil
	}
	return t
}

// Put implements [overlay.Source]. A text that is written gets the type in extra, if that has
// one, instead of the attribute's. A file that is renamed gets the type of what it replaces.
func (e *edits) Put(ctx context.Context, to overlay.Place, text []byte, from overlay.From) (nodes.ID, error) {
	if err := e.check(ctx); err != nil {
		return 0, err
	}
	k, marked, err := e.keyAt(to)
	if err != nil {
		return 0, err
	}
	v, err := e.valueAt(k, text, from)
	if err != nil {
		return 0, err
	}
	var edits []edit.Edit
	forgo := func() {}
	if from.Hidden != 0 { // it still has the number that the file shall have
		var removed edit.Edit
		if removed, forgo, err = e.removal(from.Hidden); err != nil {
			return 0, err
		}
		edits = append(edits, removed)
	}
	n, _, _ := number(from.File)
	edits = append(edits, set(k, v, n))
	if err := e.apply(ctx, edits...); err != nil {
		return 0, err
	}
	forgo()
	if from.File != to.ID {
		e.mark(n, marked)
	}
	e.show(n, from.File, v, string(text))
	return from.File, nil
}

// valueAt reads a text as the value of an attribute.
func (e *edits) valueAt(k attributeKey, text []byte, from overlay.From) (v datacenter.Value, err error) {
	t := typeInExtra(from.Extra)
	if t == 0 || from.Renamed {
		at, err := e.typeFor(k, from.Undecided)
		if err != nil {
			return v, err
		}
		if at != 0 {
			t = at
		}
	}
	return valueOf(t, string(text))
}

func set(k attributeKey, v datacenter.Value, n edit.Number) edit.Edit {
	return edit.Edit{Op: edit.SetAttribute, Node: k.node, Name: k.name, Value: v, Attr: n}
}

func (e *edits) mark(n edit.Number, marked bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.marked[n] = marked
}

// show records how the text of a value is spelled. If the file shows another text than was put,
// it reports a change.
func (e *edits) show(n edit.Number, id nodes.ID, v datacenter.Value, text string) {
	e.mu.Lock()
	delete(e.bare, n)
	if v.Type() == datacenter.String && !strings.HasSuffix(text, "\n") {
		e.bare[n] = true
	}
	e.mu.Unlock()
	if e.text(n, v) != text {
		e.Changed(nodes.Change{ID: id})
	}
}

// removal returns the edit that removes an attribute. then has to be called after it.
func (e *edits) removal(file nodes.ID) (change edit.Edit, then func(), err error) {
	k, err := e.keyOf(file)
	if err != nil {
		return change, nil, err
	}
	t, err := e.typeAt(k.node, k.name)
	if err != nil {
		return change, nil, err
	}
	n, _, _ := number(file)
	then = func() {
		e.rememberType(k, t)
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.bare, n)
		delete(e.marked, n)
	}
	return remove(k), then, nil
}

func remove(k attributeKey) edit.Edit {
	return edit.Edit{Op: edit.RemoveAttribute, Node: k.node, Name: k.name}
}

// rememberType remembers the type of an attribute that is removed.
func (e *edits) rememberType(k attributeKey, t datacenter.Type) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.types[k] = t
}

// Mkdir implements [overlay.Source]. What was removed is made again. Any other new node gets the
// keys of the file's nodes on the same path.
func (e *edits) Mkdir(ctx context.Context, dir nodes.ID, name string) (nodes.ID, error) {
	in, _, err := e.dirNumber(dir)
	if err != nil {
		return 0, err
	}
	plain, ordinal, err := e.childFile(name)
	if err != nil {
		return 0, err
	}
	keys, err := e.draft.KeysOnPath(in, plain)
	if err != nil {
		return 0, refusal(err)
	}
	n := e.draft.NewNumber()
	err = e.apply(ctx, edit.Edit{
		Op: edit.AddNode, Node: n, Parent: in, Name: plain, Ordinal: ordinal, Keys: keys, Again: true,
	})
	if err == nil {
		e.giveWay(in, plain, ordinal)
	}
	return madeID(n, false), err
}

// giveWay makes the attribute with the name of a new node @name. It reports whether there is
// one.
func (e *edits) giveWay(parent edit.Number, name string, ordinal uint32) bool {
	d, ok := e.draft.Attribute(parent, name)
	if !ok || ordinal > 0 {
		return false
	}
	e.mark(d.Number, true)
	return true
}

// Remove implements [overlay.Source].
func (e *edits) Remove(ctx context.Context, id nodes.ID) error {
	n, attribute, ok := number(id)
	switch {
	case !ok:
		return nodes.NotExist(id)
	case attribute:
		change, then, err := e.removal(id)
		if err == nil {
			err = e.apply(ctx, change)
		}
		if err == nil {
			then()
		}
		return err
	}
	if err := e.draft.Open(n); err != nil {
		return refusal(err)
	}
	e.pinMark(n)
	return e.apply(ctx, edit.Edit{Op: edit.RemoveNode, Node: n})
}

// pinMark makes an attribute that is @name because of a node keep this spelling when the node
// goes.
func (e *edits) pinMark(node edit.Number) {
	if of, ok := e.draft.Node(node); ok {
		e.pinMarkBeside(of.Parent, of.Name, of.Ordinal)
	}
}

// pinMarkBeside is pinMark for a node that may be gone already.
func (e *edits) pinMarkBeside(parent edit.Number, name string, ordinal uint32) {
	d, ok := e.draft.Attribute(parent, name)
	if ordinal > 0 || !ok {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.marked[d.Number]; !known {
		e.marked[d.Number] = true
	}
}

// Now implements [overlay.Source].
func (e *edits) Now(ctx context.Context, file nodes.ID) (overlay.Content, error) {
	attr, err := e.Attr(ctx, file)
	if err != nil {
		return nil, err
	}
	text := make([]byte, attr.Size)
	if n, err := e.ReadAt(ctx, file, text, 0); n < len(text) {
		return nil, fmt.Errorf("read %d bytes of %d: %w", n, len(text), err)
	}
	return content{string(text), attr.ModTime}, nil
}

// content is the former content of a file.
type content struct {
	text string
	at   time.Time
}

func (c content) Size(context.Context) (int64, error) { return int64(len(c.text)), nil }
func (c content) ModTime() time.Time                  { return c.at }

func (c content) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	return nodes.ReadContent(c.text, p, off)
}
