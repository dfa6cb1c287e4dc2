package sheettree

import (
	"context"
	"fmt"
	"path"

	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// folderState is what is to know of a folder beyond what the data center knows. It
// is guarded by Editable.mu.
type folderState struct {
	name string
	// id is 0 if the folder has that of its family; a folder that was made has its
	// own for good.
	id nodes.ID
	// cursor is its place among what was made.
	cursor  uint64
	removed bool
	// stays tells that the folder is there without sheets: it was made, or lost them.
	stays bool
	// scratch are the files that are no sheets, by name, order has them by their
	// cursors.
	scratch map[string]*content
	order   editing.Order[content]
	// noSchema tells that the schema that is made out from the data was removed.
	noSchema bool
	// schema is what the file says that was written in its place, nil if there is none
	// or if it says nothing.
	schema *xsd.Schema
}

// state gives that of a folder, which need not have had one. The caller holds mu.
func (e *Editable) state(name string) *folderState {
	f := e.folders[name]
	if f == nil {
		f = &folderState{name: name, scratch: map[string]*content{}}
		e.folders[name] = f
	}
	return f
}

// folderAt is a folder at hand: the root, if name is empty.
type folderAt struct {
	name   string
	id     nodes.ID
	family *sheets.Family // nil if there is none
}

// folder finds what an ID stands for, which has to be a folder.
func (e *Editable) folder(ctx context.Context, id nodes.ID) (folderAt, error) {
	if err := e.check(ctx); err != nil {
		return folderAt{}, err
	}
	if id == nodes.Root {
		return folderAt{id: id}, nil
	}
	e.mu.RLock()
	state, file := e.byID[id], e.files[id]
	e.mu.RUnlock()
	if state != nil && !state.removed {
		f, _ := e.src.Family(state.name)
		return folderAt{name: state.name, id: id, family: f}, nil
	}
	k, number, ok := split(id)
	switch {
	case state != nil, !ok:
		return folderAt{}, nodes.NotExist(id)
	case file != nil, k == common, k == schema, k == sheet, k == madeFile:
		if _, err := e.attr(ctx, id); err != nil {
			return folderAt{}, err
		}
		return folderAt{}, fmt.Errorf("%v: %w", id, nodes.ErrNotDir)
	case k != folder:
		return folderAt{}, nodes.NotExist(id)
	}
	f, ok := e.src.FamilyByID(number)
	if !ok || !e.isThere(f.File) || e.folderID(f.File) != id {
		return folderAt{}, nodes.NotExist(id)
	}
	return folderAt{name: f.File, id: id, family: f}, nil
}

// isThere tells whether there is a folder of a name.
func (e *Editable) isThere(name string) bool {
	e.mu.RLock()
	f := e.folders[name]
	stays := f != nil && (f.stays || len(f.scratch) > 0)
	e.mu.RUnlock()
	return stays || e.hasSheets(name)
}

// hasSheets tells whether the data center has sheets that lie in a folder.
func (e *Editable) hasSheets(name string) bool {
	family, ok := e.src.Family(name)
	if !ok {
		return false
	}
	for range family.Sheets(0) {
		return true
	}
	return false
}

// folderID is the ID of a folder that is there.
func (e *Editable) folderID(name string) nodes.ID {
	if name == "" {
		return nodes.Root
	}
	e.mu.RLock()
	state := e.folders[name]
	e.mu.RUnlock()
	if state != nil && state.id != 0 {
		return state.id
	}
	if f, ok := e.src.Family(name); ok {
		return folder.id(f.ID())
	}
	return 0
}

// Classes of names of files.
type class uint8

const (
	scratchFile class = iota
	sheetFile
	schemaFile
	// noFile is a name that looks like that of a sheet, but is none that the folder
	// could have. What is saved by it would be lost.
	noFile
)

// classOf tells what a file of a name is in a folder.
func classOf(dir, name string) class {
	switch {
	case editing.IsScratch(name), editing.IsScratch(dir):
		return scratchFile
	case dir == "" && name == xsd.CommonFile, dir != "" && name == dir+".xsd":
		return schemaFile
	case path.Ext(name) != ".xml":
		return scratchFile
	}
	if _, ok := sheets.FileOrdinal(dir, name); ok && dir != "" {
		return sheetFile
	}
	return noFile
}

// put puts a content into a folder, as a file that is no sheet. The caller holds mu.
func (e *Editable) put(c *content, dir, name string) {
	f := e.state(dir)
	c.folder, c.name, c.sheet = f, name, 0
	c.Keep()
	c.cursor = e.cursor
	e.cursor++
	f.scratch[name] = c
	f.order.Put(c.cursor, c)
	e.files[c.id] = c
}

// take takes it out. The caller holds mu.
func (e *Editable) take(c *content) {
	f := c.folder
	if f == nil || f.scratch[c.name] != c {
		return
	}
	delete(f.scratch, c.name)
	f.order.Take(c.cursor)
	if classOf(f.name, c.name) == schemaFile {
		f.schema, f.noSchema = nil, true
	}
}
