package kinds

import (
	"path"

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
