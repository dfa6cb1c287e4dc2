package sheets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"lorefs/datacenter/sheets/internal/jsonsheet"
)

// JSONFile returns the name of a sheet's file as JSON.
func (f *Family) JSONFile(ordinal uint32) string {
	return strings.TrimSuffix(f.SheetFile(ordinal), ".xml") + ".json"
}

// WriteJSON writes a sheet of a file as one JSON document, with one node on a line:
//
//	{"name":"Item","keys":["id"],"flags":1,"attributes":{"id":1,"rate":0.5,"rare":true},"text":"…","children":[
//	{"name":"Item",…}]}
//
// Members that a node does not have are omitted. Attributes and children are in the file's
// order. Floats always have a point or an exponent, which distinguishes them from ints; NaN
// and infinities are "NaN", "Infinity" and "-Infinity". An unpaired surrogate in a string is
// written as \ud800.
func (s *Source) WriteJSON(ctx context.Context, w io.Writer, sheet Sheet) error {
	if s.draft != nil {
		return errors.New("sheets: a draft can't be written as JSON")
	}
	e, err := s.encoder(ctx)
	if err != nil {
		return err
	}
	defer s.release(e)
	n, err := e.file.Node(sheet.addr)
	if err == nil {
		err = jsonsheet.Write(ctx, w, n)
	}
	if err != nil {
		return fmt.Errorf("sheet %s %d: %w", sheet.Name, sheet.Ordinal, err)
	}
	return nil
}
