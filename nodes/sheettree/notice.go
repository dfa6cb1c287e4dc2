package sheettree

import (
	"errors"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets"
	"lorefs/nodes"
)

func isNotExist(err error) bool { return errors.Is(err, nodes.ErrNotExist) }

// sheetPlace is where a sheet is: nowhere, if name is empty.
type sheetPlace struct{ folder, name string }

// placeOf is where a sheet is now.
func (e *Editable) placeOf(n datacenter.Number) sheetPlace {
	s, ok := e.src.Sheet(n)
	if !ok {
		return sheetPlace{}
	}
	f := e.src.FamilyOf(s)
	return sheetPlace{f.File, f.SheetFile(s.Ordinal)}
}

// changed takes notice of what was edited, here or elsewhere. The draft calls it, in
// the middle of an edit: whoever edits may hold editing, so it takes mu only.
func (e *Editable) changed(edits *datacenter.Applied) {
	own := edits.By == e
	for _, c := range edits.Sheets {
		now := e.placeOf(c.Sheet)
		for _, told := range e.note(c.Sheet, now, own) {
			e.owner.Tell(told)
		}
	}
}

// note gives what caches may hold otherwise now that a sheet was edited. Own tells that
// this tree has asked for it.
func (e *Editable) note(n datacenter.Number, now sheetPlace, own bool) []nodes.Change {
	before, moved := e.moved(n, now)
	told := []nodes.Change{{ID: e.fileOf(n, now, own)}}
	if now.folder != "" {
		if f, ok := e.src.Family(now.folder); ok {
			told = append(told, nodes.Change{ID: schema.id(f.ID())})
		}
	}
	if own { // who asked for it knows; but the schema comes with the first sheet
		f, ok := e.src.Family(now.folder)
		if moved && ok && f.Count() == 1 {
			told = append(told, nodes.Change{Dir: e.folderID(now.folder), Name: f.SchemaFile()})
		}
		return told
	}
	if !moved {
		return told
	}
	for _, p := range []sheetPlace{before, now} {
		if p.folder == "" {
			continue
		}
		// The schema may have come or gone with it, and so may the folder.
		told = append(told,
			nodes.Change{Dir: e.folderID(p.folder), Name: p.name},
			nodes.Change{Dir: e.folderID(p.folder), Name: p.folder + ".xsd"},
			nodes.Change{Dir: nodes.Root, Name: p.folder})
	}
	return told
}

// moved notes where a sheet is, and tells where it was if that is elsewhere.
func (e *Editable) moved(n datacenter.Number, now sheetPlace) (before sheetPlace, moved bool) {
	e.mu.RLock()
	before, known := e.places[n]
	e.mu.RUnlock()
	if !known {
		before = sheetPlace{}
		if s, ok := e.src.Stored(n); ok {
			f := e.src.FamilyOf(s)
			before = sheetPlace{f.File, sheets.FileName(f.File, s.Ordinal)}
		}
	}
	if before == now {
		return before, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.places[n] = now
	return before, true
}

// fileOf gives the file of a sheet. If somebody else has edited that, its time is the
// edit's; if it has gone, so has the file.
func (e *Editable) fileOf(n datacenter.Number, now sheetPlace, own bool) nodes.ID {
	e.mu.Lock()
	defer e.mu.Unlock()
	id := e.shownID(n)
	c := e.files[id]
	if own {
		return id
	}
	if c == nil || !c.Held() {
		e.times.Drop(id)
	}
	if now.name == "" {
		if c != nil && c.sheet == n {
			e.gone(c)
		}
		if hid := e.hidden[n]; hid != nil {
			hid.hides = 0
			delete(e.hidden, n)
		}
	} else if c != nil && c.sheet == n {
		c.folder, c.name = e.state(now.folder), now.name
	}
	return id
}
