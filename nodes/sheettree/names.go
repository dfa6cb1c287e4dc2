package sheettree

import (
	"context"
	"fmt"

	"lorefs/datacenter/sheets"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// Where implements [overlay.Source].
func (e *edits) Where(id nodes.ID) (dir nodes.ID, name string) {
	k, number, _ := split(id)
	switch k {
	case sheet:
		n, _ := SheetNumber(id)
		if s, ok := e.src.Sheet(n); ok {
			f := e.src.FamilyOf(s)
			return e.folderID(f.File), f.SheetFile(s.Ordinal)
		}
	case common:
		return nodes.Root, schemaName("")
	case folder, schema, madeFolder, madeSchema:
		of, in, ok := e.byNumber(k, number, id)
		if ok && of == schema {
			return e.folderID(in), schemaName(in)
		}
		if ok {
			return nodes.Root, in
		}
	}
	return 0, ""
}

// Name implements [overlay.Source].
func (e *edits) Name(ctx context.Context, dir nodes.ID, name string) (overlay.Name, error) {
	at := overlay.Name{Text: name, Writable: true}
	in, err := e.folder(ctx, dir)
	if err != nil {
		return at, err
	}
	switch classOf(in, name) {
	case scratchFile:
	case noFile:
		at.File.Err = noSheet(in, name)
	case schemaFile:
		at.Sole = e.state(in).written != nil
		fallthrough
	case sheetFile:
		at.File.Own = true
	}
	at.Dir = overlay.Made{Own: true, Err: e.mayBeFolder(in, name)}
	at.ID, at.Kind = e.named(in, name)
	return at, nil
}

// named returns the node of the source with a name, or 0.
func (e *edits) named(in, name string) (nodes.ID, nodes.Kind) {
	if name == schemaName(in) && e.hasSchema(in) {
		return e.schemaID(in), nodes.File
	}
	if in == "" && name != "" && name != schemaName(in) && e.isThere(name) {
		return e.folderID(name), nodes.Dir
	}
	if _, s, ok := e.sheetNamed(in, name); ok && in != "" {
		return SheetID(s.Number), nodes.File
	}
	return 0, 0
}

// noSheet returns the error for a file whose name looks like that of a sheet, but isn't.
func noSheet(in, name string) error {
	if in == "" {
		return fmt.Errorf("%w: sheets lie in folders, as Name/Name-00000.xml: %q does not", nodes.ErrInvalid, name)
	}
	return fmt.Errorf("%w: sheets in %s are called %s-00000.xml and so on: %q is not", nodes.ErrInvalid, in, in, name)
}

// mayBeFolder returns why there can't be a folder with a name.
func (e *edits) mayBeFolder(in, name string) error {
	if in != "" {
		return fmt.Errorf("%w: folders of sheets have no folders in them", nodes.ErrNotPermitted)
	}
	if _, ok := e.src.NameOf(name); !ok && !overlay.IsScratch(name) {
		return fmt.Errorf("%w: no sheets can be called %q", nodes.ErrInvalid, name)
	}
	return nil
}

// target returns the sheet that has, or shall get, the name of a file. A new sheet has no
// number.
func (e *edits) target(in, name string) (sheets.Sheet, error) {
	of, ok := e.src.NameOf(in)
	ordinal, isSheet := sheets.FileOrdinal(in, name)
	if !ok || !isSheet {
		return sheets.Sheet{}, fmt.Errorf("%w: no sheet can be called %s/%s", nodes.ErrInvalid, in, name)
	}
	if child, ok := e.draft.Child(0, of, ordinal); ok {
		if s, ok := e.src.Sheet(child.Number); ok {
			return s, nil
		}
	}
	return sheets.Sheet{Name: of, Ordinal: ordinal}, nil
}
