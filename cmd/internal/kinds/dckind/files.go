package dckind

import (
	"context"
	"io"
	"iter"
	"path"

	"lorefs/cmd/internal/treecopy"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/xsd"
)

// JSONFiles yields all sheets as JSON documents.
func (d *DataCenter) JSONFiles() iter.Seq[treecopy.File] {
	return func(yield func(treecopy.File) bool) {
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
}

// SchemaFiles yields the schemas of all sheets.
func (d *DataCenter) SchemaFiles(strategy sheets.Strategy) (iter.Seq[treecopy.File], error) {
	src, err := sheets.New(d.dc, nil, sheets.Options{Strategy: strategy})
	if err != nil {
		return nil, err
	}
	return func(yield func(treecopy.File) bool) {
		common := treecopy.File{Path: xsd.CommonFile, Write: func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, xsd.Common)
			return err
		}}
		if !yield(common) {
			return
		}
		for _, f := range src.Families() {
			file := treecopy.File{Path: path.Join(f.File, f.SchemaFile()), Write: func(ctx context.Context, w io.Writer) error {
				schema, err := f.LearnSchema(ctx)
				if err != nil {
					return err
				}
				_, err = w.Write(schema.AppendXSD(nil))
				return err
			}}
			if !yield(file) {
				return
			}
		}
	}, nil
}
