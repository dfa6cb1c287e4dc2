package dckind

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/partof"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/sheets/pack"
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

// Completed returns a folder with sheets of what it is a part of, and says how many. These are the sheets that, as
// its mark says, were never written there, though others of their kind are there. The mark may be nil.
func Completed(folder *pack.Folder, mark *partof.Mark, whole iter.Seq[pack.Loan]) (*pack.Folder, int, error) {
	if mark == nil || mark.Whole() {
		return folder, 0, nil
	}
	here, files := kindsIn(folder), map[string]bool{}
	for file := range folder.Sheets() {
		files[file] = true
	}
	written := map[string]partof.Numbers{}
	for kind := range here {
		written[kind] = mark.Sheets(kind)
	}
	return lend(folder, whole, func(kind string, number uint32, file string) bool {
		return here[kind] && !files[file] && !written[kind].Has(number)
	})
}

// lend returns a folder with sheets that lacks says, and says how many.
func lend(folder *pack.Folder, from iter.Seq[pack.Loan], lacks func(kind string, number uint32, file string) bool) (*pack.Folder, int, error) {
	var loans []pack.Loan
	for l := range from {
		kind, name := path.Split(l.Path)
		kind = path.Clean(kind)
		if number, ok := sheets.FileOrdinal(kind, name); ok && lacks(kind, number, l.Path) {
			loans = append(loans, l)
		}
	}
	folder, err := folder.With(loans)
	return folder, len(loans), err
}

// kindsIn returns the folders of the sheets.
func kindsIn(folder *pack.Folder) map[string]bool {
	kinds := map[string]bool{}
	for file := range folder.Sheets() {
		kinds[path.Dir(file)] = true
	}
	return kinds
}

// PartError means that a folder is a part of a data center.
type PartError struct {
	Dir string
	Of  partof.Origin
	// Kinds is how many kinds of sheets the folder has. Without and Some are the kinds of which it has no sheet or only
	// some of those that were there.
	Kinds         int
	Without, Some []string
}

// Error implements error.
func (e *PartError) Error() string {
	switch {
	case e.Kinds < e.Of.Kinds:
		return fmt.Sprintf("%s has %d of the %d kinds of sheets of %s", e.Dir, e.Kinds, e.Of.Kinds, e.Of.Name)
	case len(e.Without) > 0:
		return fmt.Sprintf("%s has no sheets %s, which %s has", e.Dir, strings.Join(e.Without, ", "), e.Of.Name)
	}
	return fmt.Sprintf("%s has only some of the sheets %s of %s", e.Dir, strings.Join(e.Some, ", "), e.Of.Name)
}

// CheckWhole returns a [PartError] if a folder is only a part of what its mark tells. The mark may be nil.
func CheckWhole(dir string, folder *pack.Folder, mark *partof.Mark) error {
	if mark == nil {
		return nil
	}
	here := kindsIn(folder)
	e := &PartError{Dir: dir, Of: mark.Of(), Kinds: len(here)}
	for _, kind := range mark.Kinds() {
		switch {
		case !here[kind]:
			e.Without = append(e.Without, kind)
		case !mark.Sheets(kind).All:
			e.Some = append(e.Some, kind)
		}
	}
	if len(e.Without)+len(e.Some) == 0 && (mark.Whole() || e.Kinds >= e.Of.Kinds) {
		return nil
	}
	return e
}

// Base is a data center with what a folder lacks that is a part of it.
type Base struct {
	Folder *pack.Folder
	// Of is how many kinds of sheets the data center has, and Lacking are the names of those that the folder lacks.
	Of      int
	Lacking []string
	// Lent is how many sheets the folder has from the data center, and Never how many of these are of other kinds.
	Lent, Never int
}

// Fill returns a folder with all that it lacks as a part of the data center: all sheets of the kinds of which it
// has none, and those of [Completed]. The mark may be nil.
func (d *DataCenter) Fill(ctx context.Context, folder *pack.Folder, mark *partof.Mark) (b Base, err error) {
	if b.Folder, b.Never, err = Completed(folder, mark, d.Loans(ctx)); err != nil {
		return b, err
	}
	if b.Lacking, err = d.Lacking(ctx, folder); err != nil {
		return b, err
	}
	lacking := map[string]bool{}
	for _, name := range b.Lacking {
		lacking[d.sheets.FolderOf(name)] = true
	}
	b.Of = len(d.sheets.Families())
	b.Folder, b.Lent, err = lend(b.Folder, d.Loans(ctx), func(kind string, _ uint32, _ string) bool { return lacking[kind] })
	b.Lent += b.Never
	return b, err
}

// Lacking returns the sorted names of sheets of which the data center has some, and a folder none.
func (d *DataCenter) Lacking(ctx context.Context, folder *pack.Folder) (names []string, err error) {
	here, err := folder.Names(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range d.sheets.Families() {
		if !here[f.Name] {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	return names, nil
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
