package main

import (
	"context"
	"io"
	"path"

	"github.com/spf13/cobra"

	"lorefs/internal/treecopy"
)

// sheetsAsJSON writes each sheet of a data center as a JSON document.
func (f *exporting) sheetsAsJSON(ctx context.Context, c *cobra.Command, s *opened, dir string) error {
	d, err := s.dataCenter()
	if err != nil {
		return err
	}
	return f.files.run(c, s, dir, func(o treecopy.Options) (treecopy.Report, error) {
		return treecopy.Write(ctx, d.jsonFiles, dir, o)
	})
}

// jsonFiles are the files of all sheets.
func (d *dataCenter) jsonFiles(yield func(treecopy.File) bool) {
	for _, family := range d.sheets.Families() {
		for sheet := range family.Sheets(0) {
			f := treecopy.File{
				Path: path.Join(family.File, family.JSONFile(sheet.Ordinal)),
				Write: func(ctx context.Context, w io.Writer) error {
					return d.sheets.WriteJSON(ctx, w, sheet)
				},
			}
			if !yield(f) {
				return
			}
		}
	}
}
