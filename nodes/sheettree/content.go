package sheettree

import (
	"context"
	"fmt"

	"lorefs/datacenter"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// content is a file that is more than a sheet: one that is open for writing, one whose
// text was refused, one that is no sheet, or one that was removed while it was in use. It
// is guarded by Editable.mu, and changed by whoever holds Editable.editing; but the
// sheet may go at any time.
type content struct {
	id nodes.ID
	// folder and name are where it is; name is empty once it was removed.
	folder *folderState
	name   string
	// sheet is the one that it shows, 0 if none. hides is the one that it was before
	// it was renamed to a scratch file.
	sheet, hides datacenter.Number
	cursor       uint64

	// Draft is what is read, if it is held; else the data center's draft or the file has
	// it.
	editing.Draft
}

// count keeps account of the memory that texts take. The caller holds mu.
func (e *Editable) count(c *content) { e.drafts.Count(&c.Draft, c.name != "") }

// open is the content that there is of a file, or nil.
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
	attr, err := e.attr(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case attr.Kind == nodes.Dir:
		return nil, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	c := &content{id: id}
	if n, ok := e.sheetOf(id); ok {
		s, ok := e.src.Sheet(n)
		if !ok {
			return nil, nodes.NotExist(id)
		}
		f := e.src.FamilyOf(s)
		c.folder, c.name, c.sheet = e.state(f.File), f.SheetFile(s.Ordinal), n
		return c, nil
	}
	switch k, number, _ := split(id); k {
	case common:
		c.folder, c.name = e.state(""), "DataCenter.xsd"
	case schema:
		f, ok := e.src.FamilyByID(number)
		if !ok {
			return nil, nodes.NotExist(id)
		}
		c.folder, c.name = e.state(f.File), f.SchemaFile()
	default:
		return nil, nodes.NotExist(id)
	}
	return c, nil
}

// hold makes a text of what a file shows. The caller holds editing.
func (e *Editable) hold(ctx context.Context, c *content) error {
	if err := e.owner.Hold(ctx, c.id, &c.Text); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files[c.id] = c
	e.count(c)
	return nil
}

// leave makes the content of a file that is about to go elsewhere, with all that there
// is to read for whoever has it open. It ends with stay, or another state.
func (e *Editable) leave(ctx context.Context, id nodes.ID) (*content, error) {
	c, err := e.content(ctx, id)
	if err == nil {
		err = e.hold(ctx, c)
	}
	return c, err
}

// stay is the end of leave if the file does not go.
func (e *Editable) stay(c *content) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settle(c)
}

// settle forgets the text of a content that is nothing but a sheet, or a schema that
// nobody wrote. The caller holds mu.
func (e *Editable) settle(c *content) {
	if c.Dirty() || c.Problem() != nil || c.name == "" || c.folder.scratch[c.name] == c {
		return
	}
	c.Drop()
	e.count(c)
	if !c.Open() {
		delete(e.files, c.id)
	}
}

// gone notes that a file is no more. The caller holds mu.
func (e *Editable) gone(c *content) {
	if c.name != "" && classOf(c.folder.name, c.name) == schemaFile {
		c.folder.noSchema = true
	}
	e.take(c)
	if c.sheet != 0 {
		delete(e.shown, c.sheet)
		delete(e.sheets, c.id)
	}
	e.times.Drop(c.id)
	c.name, c.sheet = "", 0
	c.Tried(nil)
	c.Keep()
	e.files[c.id] = c // until Forget
	e.count(c)
}

// Forget implements [nodes.Mutable].
func (e *Editable) Forget(id nodes.ID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := e.files[id]; c != nil && c.name == "" && !c.Open() {
		delete(e.files, id)
		e.times.Drop(id)
	}
	if f := e.byID[id]; f != nil && f.removed {
		delete(e.byID, id)
		e.times.Drop(id)
	}
}
