package dckind

import (
	"context"
	"io"
	"iter"
	"path"

	"lorefs/cmd/internal/treecopy"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/datacenter/table"
	"lorefs/internal/tabular"
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

// TableFiles yields the tables of all paths. told is called for each that is written, in parallel.
func (d *DataCenter) TableFiles(ctx context.Context, f tabular.Format, told func(table.Written)) (iter.Seq[treecopy.File], error) {
	tables, err := table.Find(ctx, d.dc)
	if err != nil {
		return nil, err
	}
	return func(yield func(treecopy.File) bool) {
		for _, t := range tables {
			file := treecopy.File{Path: t.Path + "." + f.String(), Write: func(ctx context.Context, w io.Writer) error {
				written, err := t.Write(ctx, w, f)
				told(written)
				return err
			}}
			if !yield(file) {
				return
			}
		}
	}, nil
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
