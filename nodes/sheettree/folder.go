package sheettree

import (
	"context"
	"fmt"
	"path"
	"time"

	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// folderState has what the data center does not know of a folder. It is guarded by edits.mu.
type folderState struct {
	name string
	// id and schemaID are 0 if the folder and the schema have the number of the family. Those
	// that were made have numbers of their own. place is the position of the folder in a
	// listing.
	id, schemaID nodes.ID
	place        uint32
	// stays says that the folder exists without sheets: it was made, or lost its sheets.
	stays bool
	// noSchema says that the inferred schema was removed. written is the schema that was written
	// in its place.
	noSchema bool
	written  *written
}

// written is a schema that somebody wrote. It does not change.
type written struct {
	text []byte
	at   time.Time
	// says is the parsed text. It is nil if that gives no types.
	says *xsd.Schema
}

// state returns a copy of the state of a folder. Without one, it is a new state.
func (e *edits) state(name string) folderState {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if f := e.folders[name]; f != nil {
		return *f
	}
	return folderState{name: name}
}

// change changes the state of a folder by do.
func (e *edits) change(name string, do func(f *folderState)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.folders[name]
	if f == nil {
		f = &folderState{name: name}
		e.folders[name] = f
	}
	do(f)
}

// newID returns an unused number for f. The caller holds mu.
func (e *edits) newID(k kind, f *folderState) nodes.ID {
	e.made++
	id := k.id(e.made)
	e.byID[id] = f
	return id
}

// identify gives a folder numbers of its own. The caller holds mu.
func (e *edits) identify(f *folderState) {
	f.id, f.schemaID = e.newID(madeFolder, f), e.newID(madeSchema, f)
	f.place = e.made
}

// isThere reports whether there is a folder with a name.
func (e *edits) isThere(name string) bool {
	f := e.state(name)
	return f.stays || e.hasSheets(name) || name != "" && e.hasSchema(name) || e.HasMore(e.folderID(name))
}

// hasSheets reports whether the data center has sheets in a folder.
func (e *edits) hasSheets(name string) bool {
	family, ok := e.src.Family(name)
	if !ok {
		return false
	}
	for range family.Sheets(0) {
		return true
	}
	return false
}

// folderID returns the ID of an existing folder.
func (e *edits) folderID(name string) nodes.ID {
	if name == "" {
		return nodes.Root
	}
	if f := e.state(name); f.id != 0 {
		return f.id
	}
	if f, ok := e.src.Family(name); ok {
		return folder.id(f.ID())
	}
	return 0
}

// hasSchema reports whether a folder has a schema; the root has one, too. An inferred schema
// goes with the last sheet, unless its file shows another text.
func (e *edits) hasSchema(name string) bool {
	f := e.state(name)
	return f.written != nil || !f.noSchema && (name == "" || e.hasSheets(name)) || e.HasText(e.schemaID(name))
}

// schemaID returns the ID of the schema of a folder.
func (e *edits) schemaID(name string) nodes.ID {
	if f := e.state(name); f.schemaID != 0 {
		return f.schemaID
	}
	if name == "" {
		return commonID
	}
	if f, ok := e.src.Family(name); ok {
		return schema.id(f.ID())
	}
	return 0
}

// at says what an ID refers to: a folder ("" is the root), its schema, or a sheet.
type at struct {
	kind   kind
	folder string
	sheet  sheets.Sheet
}

// at returns what an ID refers to.
func (e *edits) at(ctx context.Context, id nodes.ID) (at, error) {
	if err := e.check(ctx); err != nil {
		return at{}, err
	}
	k, number, ok := split(id)
	a := at{kind: k}
	switch {
	case id == nodes.Root:
		return at{kind: folder}, nil
	case !ok:
	case k == sheet:
		n, _ := SheetNumber(id)
		if a.sheet, ok = e.src.Sheet(n); ok {
			return a, nil
		}
	case k == common:
		a.kind = schema
	default:
		a.kind, a.folder, ok = e.byNumber(k, number, id)
	}
	ok = ok && (a.kind == folder && e.folderID(a.folder) == id && e.isThere(a.folder) ||
		a.kind == schema && e.schemaID(a.folder) == id && e.hasSchema(a.folder))
	if !ok {
		return at{}, nodes.NotExist(id)
	}
	return a, nil
}

// byNumber finds a folder or its schema, which may have numbers of their own.
func (e *edits) byNumber(k kind, number uint32, id nodes.ID) (of kind, folderName string, ok bool) {
	of = folder
	if k == schema || k == madeSchema {
		of = schema
	}
	e.mu.RLock()
	f := e.byID[id]
	if f != nil {
		folderName = f.name
	}
	e.mu.RUnlock()
	if f != nil {
		return of, folderName, true
	}
	family, ok := e.src.FamilyByID(number)
	if !ok || k != folder && k != schema {
		return 0, "", false
	}
	return of, family.File, true
}

// folder returns the name of the folder with an ID.
func (e *edits) folder(ctx context.Context, id nodes.ID) (name string, err error) {
	a, err := e.at(ctx, id)
	if err == nil && a.kind != folder {
		err = fmt.Errorf("%v: %w", id, nodes.ErrNotDir)
	}
	return a.folder, err
}

// class says what a file is by its name.
type class uint8

const (
	scratchFile class = iota
	sheetFile
	schemaFile
	// noFile is a name that looks like that of a sheet, but that no sheet of the folder can
	// have. A file saved under it would be lost.
	noFile
)

// classOf returns the class of a name in a folder.
func classOf(dir, name string) class {
	switch {
	case overlay.IsScratch(name), overlay.IsScratch(dir):
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

// schemaName returns the file name of the schema of a folder.
func schemaName(dir string) string {
	if dir == "" {
		return xsd.CommonFile
	}
	return dir + ".xsd"
}
