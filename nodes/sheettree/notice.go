package sheettree

import (
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/nodes"
)

// changed takes notice of what was edited, here or elsewhere.
func (e *edits) changed(a *edit.Applied) {
	own := a.By == e
	for _, c := range a.Sheets {
		e.edited(c.Sheet, own)
	}
	for i := range a.Effects {
		if x := &a.Effects[i]; own {
			e.own(x)
		} else {
			e.others(x)
		}
	}
}

// edited tells of a sheet that was edited.
func (e *edits) edited(n edit.Number, own bool) {
	s, there := e.src.Sheet(n)
	switch {
	case own: // who asked for it knows what became of it
		e.Changed(nodes.Change{ID: SheetID(n)})
	case there:
		e.Edited(SheetID(n))
	default:
		e.Gone(SheetID(n), nodes.File, nil)
	}
	if there {
		e.Changed(nodes.Change{ID: e.schemaID(e.src.FamilyOf(s).File)})
	}
}

// sheetPlace is where a sheet is: nowhere, if name is empty.
type sheetPlace struct{ folder, name string }

// placeOf is where a sheet is; it is nowhere if it is none.
func (e *edits) placeOf(at *edit.EntryAt) sheetPlace {
	if at.Name == "" || at.Attribute || at.Parent != 0 {
		return sheetPlace{}
	}
	in := e.src.FolderOf(at.Name)
	return sheetPlace{in, sheets.FileName(in, at.Ordinal)}
}

// own takes notice of what an edit of this tree did to the names of sheets. Who asked for it
// knows them; but the schema comes with the first sheet, and the folder stays behind the last.
func (e *edits) own(x *edit.Effect) {
	before, now := e.placeOf(&x.Before), e.placeOf(&x.After)
	if now.name == "" && before.name != "" {
		e.change(before.folder, func(f *folderState) { f.stays = true })
	}
	if f, ok := e.src.Family(now.folder); ok && before != now && f.Count() == 1 {
		e.Changed(nodes.Change{Dir: e.folderID(now.folder), Name: f.SchemaFile()})
	}
}

// others likewise tells of an edit of somebody else.
func (e *edits) others(x *edit.Effect) {
	before, now := e.placeOf(&x.Before), e.placeOf(&x.After)
	if before == now {
		return
	}
	for _, p := range []sheetPlace{before, now} {
		if p.folder == "" {
			continue
		}
		// The schema may have come or gone with it, and so may the folder.
		dir := e.folderID(p.folder)
		e.Changed(nodes.Change{Dir: dir, Name: p.name})
		e.Changed(nodes.Change{Dir: dir, Name: schemaName(p.folder)})
		e.Changed(nodes.Change{Dir: nodes.Root, Name: p.folder})
	}
}
