package kinds

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"path"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/pack"
	"lorefs/internal/formats/datacenter/partof"
)

// Part returns what a folder has of the data center, which is called name, if it has the sheets that has says, by
// their paths in it.
func (d *DataCenter) Part(name string, has func(file string) bool) partof.Export {
	families, counts := d.sheets.Families(), d.dc.Counts()
	e := partof.Export{Kinds: map[string]partof.Numbers{}, Of: partof.Origin{
		Name: name, Revision: d.dc.Header().Revision, Kinds: len(families),
		Sheets: counts.Sheets, Nodes: counts.Nodes, Attributes: counts.Attributes,
	}}
	for _, f := range families {
		var numbers []uint32
		for sheet := range f.Sheets(0) {
			if has(path.Join(f.File, f.SheetFile(sheet.Ordinal))) {
				numbers = append(numbers, sheet.Ordinal)
			}
		}
		if len(numbers) > 0 {
			e.Kinds[f.File] = partof.NumbersOf(numbers, f.Count())
		}
	}
	return e
}

// MarkOf returns what a folder of sheets says that it is a part of, or nil if it says nothing.
func MarkOf(dir string) (*partof.Mark, error) {
	m, err := partof.Read(pack.Dir(dir))
	return m, inFolder(dir, err)
}

// Loans yields the sheets of the data center, for a folder that lacks some.
func (d *DataCenter) Loans(ctx context.Context) iter.Seq[pack.Loan] {
	counts := d.dc.Counts()
	size := (counts.Nodes + counts.Attributes) / max(counts.Sheets, 1) * sheetBytes
	return func(yield func(pack.Loan) bool) {
		for _, family := range d.sheets.Families() {
			for sheet := range family.Sheets(0) {
				l := pack.Loan{Path: path.Join(family.File, family.SheetFile(sheet.Ordinal)), Size: size, Text: func() ([]byte, error) {
					var text restartable
					_, err := d.sheets.WriteSheet(ctx, &text, sheet)
					return text.Bytes(), err
				}}
				if !yield(l) {
					return
				}
			}
		}
	}
}

// sheetBytes is about how many bytes of a sheet a node or an attribute takes.
const sheetBytes = 20

// restartable is a buffer for a sheet of a family that is not measured.
type restartable struct{ bytes.Buffer }

// Restart implements [sheets.Restarter].
func (r *restartable) Restart() error {
	r.Reset()
	return nil
}

// Completed returns a folder with the sheets that, as its mark says, were never written there, though others of
// their kind were and are still there. It takes them from what the folder is a part of, and says how many. The mark
// may be nil.
func Completed(folder *pack.Folder, mark *partof.Mark, whole iter.Seq[pack.Loan]) (_ *pack.Folder, lent int, err error) {
	if mark == nil {
		return folder, 0, nil
	}
	kinds, files := map[string]bool{}, map[string]bool{}
	for file := range folder.Sheets() {
		kinds[path.Dir(file)], files[file] = true, true
	}
	var loans []pack.Loan
	for l := range whole {
		kind, name := path.Split(l.Path)
		kind = path.Clean(kind)
		number, ok := sheets.FileOrdinal(kind, name)
		if ok && kinds[kind] && !files[l.Path] && !mark.Sheets(kind).Has(number) {
			loans = append(loans, l)
		}
	}
	folder, err = folder.With(loans)
	return folder, len(loans), err
}

// SheetNames returns the names of all sheets of a file, sorted.
func SheetNames(f *datacenter.File) ([]string, error) {
	root, err := f.Root()
	if err != nil {
		return nil, err
	}
	seen := map[uint16]string{}
	for n, err := range root.Children() {
		if err != nil {
			return nil, err
		}
		if _, ok := seen[n.NameIndex()]; !ok {
			seen[n.NameIndex()] = n.Name()
		}
	}
	return slices.Sorted(maps.Values(seen)), nil
}
