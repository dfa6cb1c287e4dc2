package casckind

import (
	"context"
	"iter"
	"path"
	"strings"

	"lorefs/casc"
	"lorefs/casc/db2"
	"lorefs/casc/db2/dbd"
	"lorefs/casc/root"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/tablekind"
	"lorefs/nodes/tabletree"
)

// clientTables are the client tables of a storage of World of Warcraft, beside its files.
type clientTables struct {
	tree        *tabletree.Tree
	definitions kinds.Folder
}

// openTables lists the tables of the storage that the manifest of the definitions names. Without
// definitions there is nothing to show.
func (c *cascStorage) openTables(ctx context.Context, o kinds.Opening) error {
	if o.Tables.Definitions == "" {
		return nil
	}
	in, lib, err := tablekind.OpenDefinitions(ctx, o.Tables.Definitions, o.Options)
	if err != nil || lib == nil {
		return err
	}
	var list []tabletree.Table
	for id, name := range lib.Files() {
		if n := len(list); n > 0 && list[n-1].Name == name || !c.tree.HasID(id) {
			continue // the older file of a table, or none
		}
		list = append(list, tabletree.Table{
			Name: name, File: name, FileID: id,
			Key:  func() string { return c.tree.KeyOf(id) },
			Read: func(ctx context.Context) ([]byte, error) { return c.tree.ReadFilled(ctx, id, db2.MaxSize) },
		})
	}
	opts := c.tableOptions(o.Options, in, lib)
	opts.Source, opts.Secrets = c.path, c.storage.KeySum()
	if c.index != nil {
		opts.Index = c.index
	}
	c.tables = &clientTables{tabletree.New(list, opts), in}
	return nil
}

// tableOptions returns how the tables of the storage are read.
func (c *cascStorage) tableOptions(o *kinds.Options, in kinds.Folder, lib *dbd.Library) tabletree.Options {
	opts := tablekind.Reading(&o.Tables)
	// What the storage says of its build holds; --build may be its key.
	opts.Build, _ = dbd.ParseBuild(c.storage.Build.Version)
	opts.ModTime, opts.Library, opts.Unnamed, opts.Logger = c.since, lib, tablekind.Telling(o.Logger), o.Logger
	opts.Check = func() error { return kinds.Changed(in.Check()) }
	return opts
}

// tableFolder is the folder that has client tables where a root has names.
const tableFolder = "dbfilesclient"

// tableOf returns the name of the table that a file of a root is, by its ID or its name, or "".
func tableOf(lib *dbd.Library, f *root.File) string {
	if name := lib.NameOfFile(f.ID); f.HasID && name != "" {
		return lib.Name(name)
	}
	dir, file := path.Split(f.Name)
	if name, ok := tablekind.TableName(file); ok && strings.EqualFold(dir, tableFolder+"/") {
		return lib.Name(name)
	}
	return ""
}

// tableDiff compares the client tables of two builds that differ. A nil one compares none.
type tableDiff struct {
	o   *kinds.Options
	in  kinds.Folder
	lib *dbd.Library
	// names are the tables by the IDs of their files, or by their names in lower case.
	ids   map[uint32]string
	names map[string]string
}

// newTableDiff opens the definitions. It returns nil if there are none.
func newTableDiff(ctx context.Context, o *kinds.Options) (*tableDiff, error) {
	if o.Tables.Definitions == "" {
		return nil, nil //nolint:nilnil // nothing is to be compared
	}
	in, lib, err := tablekind.OpenDefinitions(ctx, o.Tables.Definitions, o)
	if err != nil || lib == nil {
		return nil, err
	}
	return &tableDiff{o, in, lib, map[uint32]string{}, map[string]string{}}, nil
}

func (d *tableDiff) close() error {
	if d == nil {
		return nil
	}
	return tablekind.CloseDefinitions(d.in)
}

// add adds a file that differs. Others than tables are left out.
func (d *tableDiff) add(f *root.File) {
	if d == nil {
		return
	}
	name := tableOf(d.lib, f)
	switch {
	case name == "":
	case f.HasID:
		d.ids[f.ID] = name
	default:
		d.names[strings.ToLower(f.Name)] = name
	}
}

// diff compares the tables that were added.
func (d *tableDiff) diff(ctx context.Context, sides [2]*cascStorage) iter.Seq2[kinds.Edit, error] {
	return func(yield func(kinds.Edit, error) bool) {
		if d == nil || len(d.ids)+len(d.names) == 0 {
			return
		}
		var trees [2]*tabletree.Tree
		for i, c := range sides {
			list, err := d.tables(ctx, c)
			if err != nil {
				yield(nil, err)
				return
			}
			trees[i] = tabletree.New(list, c.tableOptions(d.o, d.in, d.lib))
		}
		for edit, err := range tablekind.Edits(tabletree.Diff(ctx, trees[0], trees[1])) {
			if !yield(edit, err) {
				return
			}
		}
	}
}

// tables returns the tables of a build that differ, each as the game would load it.
func (d *tableDiff) tables(ctx context.Context, c *cascStorage) ([]tabletree.Table, error) {
	found := map[string]root.File{}
	for f, err := range c.storage.Walk(ctx) {
		if err != nil {
			return nil, err
		}
		name := d.names[strings.ToLower(f.Name)]
		if f.HasID {
			name = d.ids[f.ID]
		}
		if other, double := found[name]; name != "" && (!double || c.storage.Fit(&f) > c.storage.Fit(&other)) {
			found[name] = f
		}
	}
	var list []tabletree.Table
	for name, f := range found {
		one := tabletree.Table{Name: name, File: name, FileID: f.ID, Read: func(ctx context.Context) ([]byte, error) {
			content, err := c.storage.Open(casc.Filled(ctx), &f)
			if err != nil {
				return nil, err
			}
			return content.ReadAll(casc.Filled(ctx), db2.MaxSize)
		}}
		if !f.CKey.IsZero() {
			one.Key = f.CKey.String
		}
		list = append(list, one)
	}
	return list, nil
}
