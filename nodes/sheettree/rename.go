package sheettree

import (
	"context"
	"fmt"
	"math"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets"
	"lorefs/nodes"
)

// rename renames what is at a place. A sheet can get the number of another one; what
// becomes a sheet otherwise has to hold its text.
func (e *Editable) rename(ctx context.Context, from, to *place) error {
	if from.IsDir() {
		return e.renameFolder(from, to)
	}
	return e.renameFile(ctx, from, to)
}

// renameFolder renames a folder that has no sheets: those would have to be called
// otherwise, too.
func (e *Editable) renameFolder(from, to *place) error {
	if err := e.folderAllowed(to); err != nil {
		if from.ID == to.at.id {
			err = fmt.Errorf("%w: a folder can't be in itself", nodes.ErrInvalid)
		}
		return err
	}
	if e.hasSheets(from.Name) {
		return fmt.Errorf("%w: %s holds sheets, which are called like it", nodes.ErrNotPermitted, from.Name)
	}
	if to.Exists() {
		if err := e.removeFolder(to.Name); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.state(from.Name)
	delete(e.folders, from.Name)
	if f.id == 0 { // it keeps that of the sheets that it had
		e.identify(f)
		delete(e.byID, f.id)
		f.id = from.ID
		e.byID[f.id] = f
	}
	f.name, f.schema, f.noSchema = to.Name, nil, false
	e.folders[to.Name] = f
	return nil
}

func (e *Editable) renameFile(ctx context.Context, from, to *place) error {
	if err := to.allowed(); err != nil {
		return err
	}
	if from.sheet != 0 && to.class() == sheetFile {
		return e.renumber(ctx, from, to)
	}
	c, err := e.leave(ctx, from.ID)
	if err != nil {
		return err
	}
	switch to.class() {
	case sheetFile:
		err = e.toSheet(ctx, c, to)
	case schemaFile:
		err = e.toSchema(ctx, c, to)
	default:
		err = e.toScratch(ctx, c, to)
	}
	if err != nil {
		e.stay(c)
	}
	return err
}

// toScratch renames a file to one that is no sheet.
func (e *Editable) toScratch(ctx context.Context, c *content, to *place) error {
	if to.Exists() { // what has such a name is scratch
		if err := e.removeScratch(ctx, e.open(to.ID)); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.depart(c)
	e.put(c, to.at.name, to.Name)
	return nil
}

// depart takes a file from where it was. The sheet that it shows is hidden then. The
// caller holds mu.
func (e *Editable) depart(c *content) {
	switch {
	case c.folder.scratch[c.name] == c:
		e.take(c)
	case c.sheet != 0:
		e.keepFolder(folderAt{name: c.folder.name})
		delete(e.sheets, c.id)
		delete(e.shown, c.sheet)
		e.hidden[c.sheet], c.hides, c.sheet = c, c.sheet, 0
	default:
		c.folder.noSchema = true
	}
}

// toSchema renames a file to a schema.
func (e *Editable) toSchema(ctx context.Context, c *content, to *place) error {
	s, err := e.readSchema(to.at.name, to.Name, c.Bytes())
	if err != nil {
		if c.sheet == 0 { // else it stays what it is
			e.drafts.Refuse(ctx, &c.Draft, to, err)
		}
		return err
	}
	if old := e.open(to.ID); old != nil && to.Exists() {
		if err := e.removeScratch(ctx, old); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.depart(c)
	e.put(c, to.at.name, to.Name)
	c.Tried(nil)
	c.folder.schema = s
	return nil
}

// toSheet renames a file to a sheet: its text becomes that of the one that is there.
func (e *Editable) toSheet(ctx context.Context, c *content, to *place) error {
	dir := to.at.name
	target, err := e.target(nil, dir, to.Name)
	if err != nil {
		return err
	}
	var replaced *content
	if to.Exists() {
		if replaced, err = e.leave(ctx, to.ID); err != nil {
			return err
		}
	}
	var with []datacenter.Edit
	if c.hides != 0 && c.hides != target.Number { // that has no file any more
		with = []datacenter.Edit{{Op: datacenter.RemoveNode, Node: c.hides}}
	}
	number, err := e.apply(ctx, target, dir, to.Name, c.Bytes(), with)
	if err != nil {
		if replaced != nil {
			e.stay(replaced)
		}
		e.drafts.Refuse(ctx, &c.Draft, to, err)
		return err
	}
	e.mu.Lock()
	delete(e.hidden, c.hides)
	if replaced != nil {
		e.gone(replaced)
	}
	if c.folder.scratch[c.name] != c && c.sheet == 0 {
		c.folder.noSchema = true // it was one
	}
	e.mu.Unlock()
	e.becomes(c, dir, to.Name, number)
	return nil
}

// asideOrdinal is where a sheet waits while another takes its place.
const asideOrdinal = math.MaxUint32

// renumber gives a sheet the name of another one, or of none.
func (e *Editable) renumber(ctx context.Context, from, to *place) error {
	if from.at.name != to.at.name {
		return fmt.Errorf("%w: a sheet of %s is none of %s", nodes.ErrInvalid, from.at.name, to.at.name)
	}
	target, err := e.target(nil, to.at.name, to.Name)
	if err != nil {
		return err
	}
	var replaced *content
	if to.Exists() {
		if replaced, err = e.leave(ctx, to.ID); err != nil {
			return err
		}
	}
	err = e.change(ctx, func() ([]datacenter.Edit, error) {
		var edits []datacenter.Edit
		if target.Number != 0 {
			edits = append(edits, datacenter.Edit{Op: datacenter.RemoveNode, Node: target.Number})
		}
		return append(edits, move(from.sheet, target)), nil
	})
	if err != nil {
		if replaced != nil {
			e.stay(replaced)
		}
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if hid := e.hidden[target.Number]; hid != nil {
		hid.hides = 0
		delete(e.hidden, target.Number)
	}
	if replaced != nil {
		e.gone(replaced)
	}
	if c := e.files[from.ID]; c != nil {
		c.name = to.Name
	}
	return nil
}

// move gives a sheet the place of another.
func move(n datacenter.Number, to sheets.Sheet) datacenter.Edit {
	return datacenter.Edit{Op: datacenter.MoveNode, Node: n, Name: to.Name, Ordinal: to.Ordinal}
}

// exchange swaps two sheets, or two files that are none.
func (e *Editable) exchange(ctx context.Context, from, to *place) error {
	switch {
	case from.class() == scratchFile && to.class() == scratchFile && !from.IsDir() && !to.IsDir():
		e.mu.Lock()
		defer e.mu.Unlock()
		x, y := e.files[from.ID], e.files[to.ID]
		e.take(x)
		e.take(y)
		e.put(x, to.at.name, to.Name)
		e.put(y, from.at.name, from.Name)
		return nil
	case from.sheet == 0 || to.sheet == 0 || from.at.name != to.at.name:
		return fmt.Errorf("%w: only two sheets of one folder can be exchanged, or what is no sheet", nodes.ErrInvalid)
	}
	x, _ := e.src.Sheet(from.sheet)
	y, _ := e.src.Sheet(to.sheet)
	aside := y
	aside.Ordinal = asideOrdinal
	err := e.change(ctx, func() ([]datacenter.Edit, error) {
		return []datacenter.Edit{move(y.Number, aside), move(x.Number, y), move(y.Number, x)}, nil
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, name := range map[nodes.ID]string{from.ID: to.Name, to.ID: from.Name} {
		if c := e.files[id]; c != nil {
			c.name = name
		}
	}
	return nil
}
