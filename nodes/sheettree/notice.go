package sheettree

import (
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/nodes"
)

// changed passes on what an edit of the draft has changed, whoever made it.
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

// edited reports the edit of a sheet.
func (e *edits) edited(n edit.Number, own bool) {
	s, there := e.src.Sheet(n)
	switch {
	case own: // the overlay asked for it, and knows the result
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

// sheetPlace is the place of a sheet. With an empty name, it is nowhere.
type sheetPlace struct{ folder, name string }

// placeOf returns the place of a sheet; an entry that is not a sheet is nowhere.
func (e *edits) placeOf(at *edit.EntryAt) sheetPlace {
	if at.Name == "" || at.Attribute || at.Parent != 0 {
		return sheetPlace{}
	}
	in := e.src.FolderOf(at.Name)
	return sheetPlace{in, sheets.FileName(in, at.Ordinal)}
}

// own handles what an edit of this tree did to the names of sheets. The overlay knows these
// names already. But the schema appears with the first sheet, and the folder stays behind after
// the last.
func (e *edits) own(x *edit.Effect) {
	before, now := e.placeOf(&x.Before), e.placeOf(&x.After)
	if now.name == "" && before.name != "" {
		e.change(before.folder, func(f *folderState) { f.stays = true })
	}
	if f, ok := e.src.Family(now.folder); ok && before != now && f.Count() == 1 {
		e.Changed(nodes.Change{Dir: e.folderID(now.folder), Name: f.SchemaFile()})
	}
}

// others reports what an edit of somebody else did to the names of sheets.
func (e *edits) others(x *edit.Effect) {
	before, now := e.placeOf(&x.Before), e.placeOf(&x.After)
	if before == now {
		return
	}
	if x.Kind == edit.NodeMade {
		e.Back() // it may have been removed before
	}
	for _, p := range []sheetPlace{before, now} {
		if p.folder == "" {
			continue
		}
		// The schema may have come or gone with the sheet, and so may the folder.
		dir := e.folderID(p.folder)
		e.Changed(nodes.Change{Dir: dir, Name: p.name})
		e.Changed(nodes.Change{Dir: dir, Name: schemaName(p.folder)})
		e.Changed(nodes.Change{Dir: nodes.Root, Name: p.folder})
	}
}
