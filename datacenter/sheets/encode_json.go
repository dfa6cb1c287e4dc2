package sheets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"lorefs/datacenter/sheets/jsonsheet"
)

// JSONFile returns the name of a sheet's file as JSON.
func (f *Family) JSONFile(ordinal uint32) string {
	return strings.TrimSuffix(f.SheetFile(ordinal), ".xml") + ".json"
}

// WriteJSON writes a sheet of a file by [jsonsheet.Write].
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
