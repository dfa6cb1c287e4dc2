package sheettree

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"

	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/nodes"
)

// scratchCursor is the first cursor of what is no sheet, behind all others.
const scratchCursor = 1 << 40

// Lookup implements [nodes.Tree].
func (e *Editable) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	f, err := e.folder(ctx, dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	entry, err := e.lookup(ctx, f, name)
	entry.Next = 0
	return entry, err
}

func (e *Editable) lookup(ctx context.Context, f folderAt, name string) (nodes.Entry, error) {
	e.mu.RLock()
	state := e.folders[f.name]
	var c *content
	noSchema := false
	if state != nil {
		c, noSchema = state.scratch[name], state.noSchema
	}
	if c != nil {
		defer e.mu.RUnlock()
		return e.scratchEntry(c), nil
	}
	e.mu.RUnlock()
	switch {
	case f.name == "" && name == xsd.CommonFile && !noSchema:
		return e.complete(e.commonEntry()), nil
	case f.name == "":
		if e.isThere(name) {
			return e.folderEntry(name), nil
		}
	case classOf(f.name, name) == schemaFile && !noSchema && e.hasSheets(f.name):
		entry, err := e.schemaEntry(ctx, f.family)
		return e.complete(entry), err
	case f.family != nil:
		if s, ok := f.family.Named(name); ok && !e.isHidden(s) {
			return e.sheetEntry(ctx, f.family, s)
		}
	}
	return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
}

func (e *Editable) isHidden(s sheets.Sheet) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.hidden[s.Number] != nil
}

func (e *Editable) folderEntry(name string) nodes.Entry {
	return e.complete(nodes.Entry{Name: name, ID: e.folderID(name), Kind: nodes.Dir})
}

// sheetEntry describes a sheet, or the text that its file has meanwhile.
func (e *Editable) sheetEntry(ctx context.Context, f *sheets.Family, s sheets.Sheet) (nodes.Entry, error) {
	e.mu.RLock()
	id := e.shownID(s.Number)
	if c := e.files[id]; c != nil && c.Held() {
		entry := nodes.Entry{Name: f.SheetFile(s.Ordinal), ID: id, Kind: nodes.File, Size: c.Size()}
		e.mu.RUnlock()
		return e.complete(entry), nil
	}
	e.mu.RUnlock()
	entry, err := e.Tree.sheetEntry(ctx, f, s)
	entry.ID = id
	return e.complete(entry), err
}

// scratchEntry describes a file that is no sheet. The caller holds mu.
func (e *Editable) scratchEntry(c *content) nodes.Entry {
	entry := nodes.Entry{Name: c.name, ID: c.id, Kind: nodes.File, Size: c.Size(), Next: c.cursor + 1, Writable: true}
	entry.ModTime = e.times.Of(c.id, e.Tree.opts.ModTime)
	return entry
}

// complete adds what all entries have.
func (e *Editable) complete(entry nodes.Entry) nodes.Entry {
	entry.Writable = true
	if entry.ModTime.IsZero() {
		entry.ModTime = e.Tree.opts.ModTime // that of the directory may be another
	}
	entry.ModTime = e.times.Of(entry.ID, entry.ModTime)
	return entry
}

// ReadDir implements [nodes.Tree]. What is not of the data center comes behind all else.
func (e *Editable) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		f, err := e.folder(ctx, dir)
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		if cursor < scratchCursor {
			list := e.listFamilies
			if f.name != "" {
				list = e.listFamily
			}
			if !list(ctx, f, cursor, yield) {
				return
			}
		}
		e.listScratch(f.name, max(cursor, scratchCursor), yield)
	}
}

// listFamilies lists the root, but what was made. It is false if there is nothing more
// to yield.
func (e *Editable) listFamilies(ctx context.Context, root folderAt, cursor uint64, yield func(nodes.Entry, error) bool) bool {
	if cursor == 0 {
		if entry, err := e.lookup(ctx, root, xsd.CommonFile); err == nil && entry.Next < scratchCursor {
			entry.Next = 1
			if !yield(entry, nil) {
				return false
			}
		}
		cursor = 1
	}
	families := e.src.Families()
	for ; cursor <= uint64(len(families)); cursor++ {
		name := families[cursor-1].File
		if e.wasMade(name) || !e.isThere(name) {
			continue
		}
		entry := e.folderEntry(name)
		entry.Next = cursor + 1
		if !yield(entry, nil) {
			return false
		}
	}
	return true
}

// wasMade tells whether a folder has an ID of its own, and so a place behind others.
func (e *Editable) wasMade(name string) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	f := e.folders[name]
	return f != nil && f.id != 0
}

// listFamily likewise lists a folder.
func (e *Editable) listFamily(ctx context.Context, f folderAt, cursor uint64, yield func(nodes.Entry, error) bool) bool {
	if f.family == nil {
		return true
	}
	if cursor == 0 {
		entry, err := e.lookup(ctx, f, f.family.SchemaFile())
		if err == nil && entry.Next < scratchCursor {
			entry.Next = 1
			if !yield(entry, nil) {
				return false
			}
		}
		cursor = 1
	}
	for s, next := range f.family.Sheets(cursor - 1) {
		if e.isHidden(s) || e.isScratchName(f.name, f.family.SheetFile(s.Ordinal)) {
			continue
		}
		entry, err := e.sheetEntry(ctx, f.family, s)
		if isNotExist(err) {
			continue // removed since
		}
		entry.Next = next + 1
		if !yield(entry, err) || err != nil {
			return false
		}
	}
	return true
}

func (e *Editable) isScratchName(dir, name string) bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	f := e.folders[dir]
	return f != nil && f.scratch[name] != nil
}

// listScratch lists files that are no sheets and, in the root, folders that were made:
// all have cursors of one kind.
func (e *Editable) listScratch(dir string, cursor uint64, yield func(nodes.Entry, error) bool) {
	for _, entry := range e.scratchFrom(dir, cursor) {
		if !yield(entry, nil) {
			return
		}
	}
}

func (e *Editable) scratchFrom(dir string, cursor uint64) []nodes.Entry {
	var list []nodes.Entry
	e.mu.RLock()
	if f := e.folders[dir]; f != nil {
		for c := range f.order.From(cursor) {
			list = append(list, e.scratchEntry(c))
		}
	}
	if dir != "" {
		e.mu.RUnlock()
		return list
	}
	var made []*folderState
	for _, f := range e.byID {
		if !f.removed && f.cursor >= cursor {
			made = append(made, f)
		}
	}
	e.mu.RUnlock()
	for _, f := range made {
		if !e.isThere(f.name) {
			continue
		}
		entry := e.folderEntry(f.name)
		entry.Next = f.cursor + 1
		list = append(list, entry)
	}
	slices.SortFunc(list, func(a, b nodes.Entry) int {
		if a.Next != b.Next {
			return int(int64(a.Next) - int64(b.Next))
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}
