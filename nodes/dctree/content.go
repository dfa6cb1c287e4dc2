package dctree

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"lorefs/datacenter"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// textName is the attribute that holds a node's text, a string.
const textName = "__value__"

// maxContent is the largest content of a file: no value is longer, with each of
// its characters three bytes and a newline behind.
const maxContent = 3<<20 + 1

// content is a file that is more than the value of an attribute: one that is
// open for writing, a scratch file, or one that was removed while it was in use.
// What is not fixed is guarded by Editable.mu, and changed by whoever holds
// Editable.editing.
type content struct {
	id     nodes.ID
	number datacenter.Number

	// dir and name are where it is; name is empty once it was removed.
	dir  datacenter.Number
	name string
	// attribute tells that the draft has it. Else it is a scratch file, and cursor
	// is its place in the directory.
	attribute bool
	cursor    uint64
	// hides is the attribute that this was before it was renamed to a scratch
	// file, nil if it was none. See dirState.hidden.
	hides     *attributeKey
	hidesType datacenter.Type
	// typ is what setfattr(1) said before there was a value; 0 is nothing.
	typ datacenter.Type

	// Text is what is read, if held; else the draft or the file has it.
	editing.Text
}

// fileAttr is what Attr tells of a content.
func (e *Editable) fileAttr(id nodes.ID) (size int64, removed, ok bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	c := e.files[id]
	if c == nil || !c.Held() {
		return 0, false, false
	}
	return c.Size(), c.name == "", true
}

// readContent is ReadAt of a content.
func (e *Editable) readContent(id nodes.ID, p []byte, off int64) (n int, ok bool, err error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	c := e.files[id]
	if c == nil || !c.Held() {
		return 0, false, nil
	}
	n, err = c.ReadAt(p, off)
	return n, true, err
}

// open is the content that there is of a file, or nil. Also who holds editing has
// to ask by it, since Forget does not wait for them.
func (e *Editable) open(id nodes.ID) *content {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.files[id]
}

// content makes the content of a file. The caller holds editing.
func (e *Editable) content(ctx context.Context, id nodes.ID) (*content, error) {
	if c := e.open(id); c != nil {
		return c, nil
	}
	n, attribute, ok := number(id)
	switch {
	case !ok:
		return nil, nodes.NotExist(id)
	case !attribute:
		return nil, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	}
	dir, name, err := e.draft.Holder(n)
	if err != nil {
		return nil, refusal(err)
	}
	c := &content{id: id, number: n, dir: dir, attribute: true}
	if c.name, err = e.spelled(dir, name); err != nil {
		return nil, err
	}
	return c, ctx.Err()
}

// spelled is the name of the file of an attribute that a draft node has.
func (e *Editable) spelled(dir datacenter.Number, name string) (string, error) {
	of, _ := e.draft.Node(dir)
	d, ok := e.draft.Attribute(dir, name)
	if !ok {
		return "", nodes.NotExist(name)
	}
	return e.attributeName(dir, &of, &d)
}

// settle forgets the text of a content that is nothing but an attribute's value. The
// caller holds editing and mu.
func (e *Editable) settle(c *content) {
	if !c.attribute || c.name == "" || c.Dirty() {
		return
	}
	c.Drop()
	if !c.Open() {
		delete(e.files, c.id)
	}
}

// commit makes the value of an attribute of what was written. If it fits none,
// the file is as it was before. The caller holds editing.
func (e *Editable) commit(ctx context.Context, c *content) error {
	if c.name == "" || editing.IsScratch(c.name) {
		e.mu.Lock()
		defer e.mu.Unlock()
		c.Clean()
		return nil
	}
	err := e.set(ctx, c)
	if err != nil {
		e.revert(c)
	}
	return err
}

// set gives an attribute what its file holds as value.
func (e *Editable) set(ctx context.Context, c *content) error {
	if err := e.check(ctx); err != nil {
		return err
	}
	name, marked, err := e.attributeFile(c.name)
	if err != nil {
		return err
	}
	t, err := e.typeOf(c)
	if err != nil {
		return err
	}
	v, err := valueOf(t, string(c.Bytes()))
	if err != nil {
		return err
	}
	err = e.apply(ctx, datacenter.Edit{
		Op: datacenter.SetAttribute, Node: c.dir, Name: name, Value: v, Attr: c.number,
	})
	if err != nil {
		return refusal(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !c.attribute {
		e.dropScratch(c)
		c.attribute = true
		e.marked[c.number] = marked
		e.unhide(attributeKey{c.dir, name})
	}
	c.typ = 0
	e.show(c, v)
	return nil
}

// show lets a value be seen instead of what was written, which may be spelled in
// another way. The caller holds mu.
func (e *Editable) show(c *content, v datacenter.Value) {
	delete(e.bare, c.number)
	if v.Type() == datacenter.String && !bytes.HasSuffix(c.Bytes(), []byte("\n")) {
		e.bare[c.number] = true
	}
	text := v.Text()
	if !e.bare[c.number] {
		text += "\n"
	}
	if text != string(c.Bytes()) {
		e.owner.Tell(nodes.Change{ID: c.id})
	}
	c.Drop()
}

// revert makes a file what it was before it was written to.
func (e *Editable) revert(c *content) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.attribute {
		c.Drop()
		c.typ = 0
	} else {
		c.Empty()
	}
	e.owner.Tell(nodes.Change{ID: c.id})
}

// trimNewline takes off what a file has behind its value.
func trimNewline(text string) string { return strings.TrimSuffix(text, "\n") }

// valueOf reads a value from the content of a file. Type 0 is not known.
func valueOf(t datacenter.Type, data string) (v datacenter.Value, err error) {
	text := trimNewline(data)
	if t == 0 {
		v, err = datacenter.InferValue(text)
	} else {
		v, err = datacenter.ParseValue(t, text)
	}
	if err != nil {
		return v, refusal(err)
	}
	return v, nil
}

// typeOf is the type that the value of a file has to have; 0 is any: that of the
// attribute, else the one that it had before it was removed, else the one that
// it has elsewhere on the path.
func (e *Editable) typeOf(c *content) (datacenter.Type, error) {
	if c.typ != 0 {
		return c.typ, nil
	}
	name, _, err := e.attributeFile(c.name)
	if err != nil {
		return 0, err
	}
	return e.typeAt(c.dir, name)
}

// typeAt is typeOf for any place.
func (e *Editable) typeAt(dir datacenter.Number, name string) (datacenter.Type, error) {
	if name == textName {
		return datacenter.String, nil
	}
	if d, ok := e.draft.Attribute(dir, name); ok {
		return e.storedType(&d)
	}
	if t := e.notedType(dir, name); t != 0 {
		return t, nil
	}
	t, _, err := e.draft.TypeOnPath(dir, name)
	return t, refusal(err)
}

// storedType is the type of an attribute of the draft.
func (e *Editable) storedType(d *datacenter.DraftEntry) (datacenter.Type, error) {
	if t := d.Value.Type(); t != 0 {
		return t, nil
	}
	a, err := e.file.Attribute(d.Addr)
	return a.Type(), wrap(err)
}
