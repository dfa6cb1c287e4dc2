package casckind

import (
	"context"

	"lorefs/casc/db2"
	"lorefs/casc/db2/dbd"
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
			Read: func(ctx context.Context) ([]byte, error) { return c.tree.ReadFilled(ctx, id, db2.MaxSize) },
		})
	}
	opts := tablekind.Reading(&o.Tables)
	// What the storage says of its build holds; --build may be its key.
	opts.Build, _ = dbd.ParseBuild(c.storage.Build.Version)
	opts.ModTime, opts.Library, opts.Unnamed = c.since, lib, tablekind.Telling(o.Logger)
	opts.Check = func() error { return kinds.Changed(in.Check()) }
	c.tables = &clientTables{tabletree.New(list, opts), in}
	return nil
}
