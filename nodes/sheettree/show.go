package sheettree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"lorefs/datacenter/sheets"
	"lorefs/nodes"
)

// Usage implements [nodes.Tree].
func (e *edits) Usage() nodes.Usage {
	u := e.Tree.Usage()
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, f := range e.folders {
		if f.stays {
			u.Nodes++
		}
		if f.written != nil {
			u.Nodes++
		}
	}
	return u
}

// Attr implements [nodes.Tree].
func (e *edits) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	a, err := e.at(ctx, id)
	if err != nil {
		return nodes.Attr{}, err
	}
	var entry nodes.Entry
	switch a.kind {
	case folder:
		entry = e.folderEntry(a.folder)
	case schema:
		entry, err = e.schemaEntry(ctx, a.folder)
	default:
		entry, err = e.sheetEntry(ctx, e.src.FamilyOf(a.sheet), a.sheet)
	}
	return nodes.Attr{Kind: entry.Kind, Size: entry.Size, ModTime: entry.ModTime, Writable: true}, err
}

// ReadAt implements [nodes.Tree].
func (e *edits) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	a, err := e.at(ctx, id)
	switch {
	case err != nil:
		return 0, err
	case a.kind == folder:
		return 0, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	case a.kind == sheet:
		return e.Tree.ReadAt(ctx, id, p, off)
	}
	text, err := e.schemaText(ctx, a.folder)
	if err != nil {
		return 0, err
	}
	return nodes.ReadContent(text, p, off)
}

// schemaText returns the written schema of a folder, else the inferred one.
func (e *edits) schemaText(ctx context.Context, name string) ([]byte, error) {
	if w := e.state(name).written; w != nil {
		return w.text, nil
	}
	if name == "" {
		return e.Tree.schemaText(ctx, node{kind: common})
	}
	f, ok := e.src.Family(name)
	if !ok {
		return nil, nodes.NotExist(strconv.Quote(name))
	}
	return e.Tree.schemaText(ctx, node{kind: schema, family: f})
}

// Lookup implements [nodes.Tree].
func (e *edits) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	in, err := e.folder(ctx, dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	return e.lookup(ctx, in, name)
}

func (e *edits) lookup(ctx context.Context, in, name string) (nodes.Entry, error) {
	switch {
	case name == schemaName(in):
		if e.hasSchema(in) {
			return e.schemaEntry(ctx, in)
		}
	case in == "":
		if name != "" && e.isThere(name) {
			return e.folderEntry(name), nil
		}
	default:
		if f, s, ok := e.sheetNamed(in, name); ok {
			return e.sheetEntry(ctx, f, s)
		}
	}
	return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
}

// sheetNamed finds a sheet by the name of its file.
func (e *edits) sheetNamed(in, name string) (f *sheets.Family, s sheets.Sheet, ok bool) {
	if f, ok = e.src.Family(in); ok {
		s, ok = f.Named(name)
	}
	return f, s, ok
}

func (e *edits) folderEntry(name string) nodes.Entry {
	return nodes.Entry{Name: name, ID: e.folderID(name), Kind: nodes.Dir, ModTime: e.Tree.opts.ModTime, Writable: true}
}

func (e *edits) schemaEntry(ctx context.Context, in string) (nodes.Entry, error) {
	entry := nodes.Entry{Name: schemaName(in), ID: e.schemaID(in), Kind: nodes.File, ModTime: e.Tree.opts.ModTime, Writable: true}
	if w := e.state(in).written; w != nil {
		entry.ModTime = w.at
	}
	text, err := e.schemaText(ctx, in)
	entry.Size = int64(len(text))
	return entry, err
}

func (e *edits) sheetEntry(ctx context.Context, f *sheets.Family, s sheets.Sheet) (nodes.Entry, error) {
	entry, err := e.Tree.sheetEntry(ctx, f, s)
	entry.Writable = true
	return entry, err
}

// madeCursor is the first cursor of folders with numbers of their own.
const madeCursor = 1 << 39

// ReadDir implements [nodes.Tree]. Folders that were made come behind all others.
func (e *edits) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		in, err := e.folder(ctx, dir)
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		if cursor == 0 {
			cursor = 1
			if e.hasSchema(in) {
				entry, err := e.schemaEntry(ctx, in)
				entry.Next = cursor
				if !yield(entry, err) || err != nil {
					return
				}
			}
		}
		if in == "" {
			e.listFolders(cursor, yield)
		} else {
			e.listSheets(ctx, in, cursor, yield)
		}
	}
}

// listFolders lists the folders from a cursor on, which is behind that of the schema.
func (e *edits) listFolders(cursor uint64, yield func(nodes.Entry, error) bool) {
	families := e.src.Families()
	for ; cursor <= uint64(len(families)); cursor++ {
		name := families[cursor-1].File
		if e.state(name).id != 0 || !e.isThere(name) {
			continue
		}
		entry := e.folderEntry(name)
		entry.Next = cursor + 1
		if !yield(entry, nil) {
			return
		}
	}
	for _, f := range e.madeFrom(max(cursor, madeCursor)) {
		if !e.isThere(f.name) {
			continue
		}
		entry := e.folderEntry(f.name)
		entry.Next = f.cursor() + 1
		if !yield(entry, nil) {
			return
		}
	}
}

// cursor returns the cursor of a folder with a number of its own.
func (f *folderState) cursor() uint64 { return madeCursor + uint64(f.place) }

// madeFrom returns the folders with numbers of their own from a cursor on, sorted by cursor.
func (e *edits) madeFrom(cursor uint64) []folderState {
	e.mu.RLock()
	defer e.mu.RUnlock()
	var list []folderState
	for _, f := range e.folders {
		if f.id != 0 && f.cursor() >= cursor {
			list = append(list, *f)
		}
	}
	slices.SortFunc(list, func(a, b folderState) int { return cmp.Compare(a.place, b.place) })
	return list
}

// listSheets lists the sheets of a folder from a cursor on, which is behind that of the schema.
func (e *edits) listSheets(ctx context.Context, in string, cursor uint64, yield func(nodes.Entry, error) bool) {
	f, ok := e.src.Family(in)
	if !ok {
		return
	}
	for s, next := range f.Sheets(cursor - 1) {
		entry, err := e.sheetEntry(ctx, f, s)
		if isNotExist(err) {
			continue // removed meanwhile
		}
		entry.Next = next + 1
		if !yield(entry, err) || err != nil {
			return
		}
	}
}

func isNotExist(err error) bool { return errors.Is(err, nodes.ErrNotExist) }
