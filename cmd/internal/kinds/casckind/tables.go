package casckind

import (
	"context"
	"errors"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"lorefs/casc"
	"lorefs/casc/db2"
	"lorefs/casc/db2/dbd"
	"lorefs/casc/root"
	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/tablekind"
	"lorefs/nodes"
	"lorefs/nodes/casctree"
	"lorefs/nodes/tabletree"
)

// clientTables are the client tables of a storage of World of Warcraft, beside its files.
type clientTables struct {
	tree        *tabletree.Tree
	definitions kinds.Folder
}

// openTables lists the tables of the storage. Without definitions, and without names of files that tell of
// tables, there is nothing to show.
func (c *cascStorage) openTables(ctx context.Context, o kinds.Opening) error {
	in, lib, err := definitionsOf(ctx, o.Options)
	if err != nil {
		return err
	}
	list, err := c.listTables(ctx, lib)
	if err != nil || lib == nil && list == nil {
		return errors.Join(err, tablekind.CloseDefinitions(in))
	}
	opts := c.tableOptions(o.Options, in, lib)
	opts.Source, opts.Secrets = c.path, c.storage.KeySum()
	if c.index != nil {
		opts.Index = c.index
	}
	c.tables = &clientTables{tabletree.New(list, opts), in}
	return nil
}

// definitionsOf opens the definitions of client tables. Both are nil if there are none.
func definitionsOf(ctx context.Context, o *kinds.Options) (in kinds.Folder, lib *dbd.Library, err error) {
	if o.Tables.Definitions == "" {
		return nil, nil, nil
	}
	return tablekind.OpenDefinitions(ctx, o.Tables.Definitions, o)
}

// byIDFolder is the folder of the tree in which files are found by their IDs.
const byIDFolder = "by-id"

// listTables returns the tables that the manifest of the definitions names, and those that a name in the
// tree tells of.
func (c *cascStorage) listTables(ctx context.Context, lib *dbd.Library) (list []tabletree.Table, err error) {
	listed := map[string]bool{}
	add := func(name, file string, id uint32, path ...string) {
		if listed[strings.ToLower(name)] {
			return // the older file of a table
		}
		listed[strings.ToLower(name)] = true
		list = append(list, tabletree.Table{
			Name: name, File: file, FileID: id,
			Key: func() string {
				e, err := c.find(context.Background(), path)
				if err != nil {
					return ""
				}
				return c.tree.KeyOf(e.ID)
			},
			Read: func(ctx context.Context) ([]byte, error) {
				e, err := c.find(ctx, path)
				if err != nil {
					return nil, err
				}
				return c.tree.ReadFilled(ctx, e, db2.MaxSize)
			},
		})
	}
	if lib != nil {
		for id, name := range lib.Files() {
			if c.tree.HasID(id) {
				add(name, name, id, byIDFolder, strconv.FormatUint(uint64(id), 10))
			}
		}
	}
	dir, err := c.find(ctx, []string{"files", tableFolder})
	if errors.Is(err, nodes.ErrNotExist) || err == nil && dir.Kind != nodes.Dir {
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	for e, err := range c.tree.ReadDir(ctx, dir.ID, 0) {
		if err != nil {
			return nil, err
		}
		name, ok := tablekind.TableName(e.Name)
		id, _ := c.tree.FileID(e.ID)
		if !ok || e.Kind != nodes.File || lib != nil && lib.NameOfFile(id) != "" {
			continue
		}
		if lib != nil {
			name = lib.Name(name)
		}
		add(name, e.Name, id, "files", tableFolder, e.Name)
	}
	slices.SortStableFunc(list, func(a, b tabletree.Table) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return list, nil
}

// find finds a file or directory of the tree.
func (c *cascStorage) find(ctx context.Context, path []string) (e nodes.Entry, err error) {
	e.ID = nodes.Root
	for _, name := range path {
		if e, err = c.tree.Lookup(ctx, e.ID, name); err != nil {
			break
		}
	}
	return e, err
}

// tableOptions returns how the tables of the storage are read.
func (c *cascStorage) tableOptions(o *kinds.Options, in kinds.Folder, lib *dbd.Library) tabletree.Options {
	opts := tablekind.Reading(&o.Tables)
	// What the storage says of its build holds; --build may be its key.
	opts.Build, _ = dbd.ParseBuild(c.storage.Build.Version)
	opts.ModTime, opts.Library, opts.Unnamed, opts.Logger = c.since, lib, tablekind.Telling(o.Logger), o.Logger
	if in != nil {
		opts.Check = func() error { return kinds.Changed(in.Check()) }
	}
	return opts
}

// tableFolder is the folder that has client tables where a root has names.
const tableFolder = "dbfilesclient"

// tableOf returns the name of the table that a file of a root is, by its ID or its name, or "". lib may be
// nil.
func tableOf(lib *dbd.Library, f *root.File) string {
	dir, file := path.Split(f.Name)
	name, ok := tablekind.TableName(file)
	if !ok || !strings.EqualFold(dir, tableFolder+"/") {
		name = ""
	}
	if lib == nil {
		return name
	}
	if byID := lib.NameOfFile(f.ID); f.HasID && byID != "" {
		name = byID
	}
	return lib.Name(name)
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
	in, lib, err := definitionsOf(ctx, o)
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
			list, err := c.findTables(ctx, d.name)
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

// name returns the name of the table that a file is, if that differs, or "".
func (d *tableDiff) name(f *root.File) string {
	if f.HasID {
		return d.ids[f.ID]
	}
	return d.names[strings.ToLower(f.Name)]
}

// findTables returns the tables to which name gives names, each as the game would load it. It may also name
// the file. No tree is needed.
func (c *cascStorage) findTables(ctx context.Context, name func(*root.File) string) (list []tabletree.Table, err error) {
	found := map[string]root.File{}
	for f, err := range c.storage.Walk(ctx) {
		if err != nil {
			return nil, err
		}
		name := name(&f)
		if other, double := found[name]; name != "" && (!double || c.storage.Fit(&f) > c.storage.Fit(&other)) {
			found[name] = f
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		f := found[name]
		one := tabletree.Table{Name: name, File: casctree.PathOf(c.storage.Kind(ctx), &f), FileID: f.ID}
		one.Read = func(ctx context.Context) ([]byte, error) {
			content, err := c.storage.Open(casc.Filled(ctx), &f)
			if err != nil {
				return nil, err
			}
			return content.ReadAll(casc.Filled(ctx), db2.MaxSize)
		}
		if !f.CKey.IsZero() {
			one.Key = f.CKey.String
		}
		list = append(list, one)
	}
	return list, nil
}

// verifyTables checks the client tables whose files are known, by definitions or by lists of names. Other
// errors than those of a table are left out: the check of the files tells of them.
func (c *cascStorage) verifyTables(ctx context.Context, opts tabletree.Options, names *root.ListFile, yield func(kinds.Finding, error) bool) error {
	lib := opts.Library
	if lib == nil && names == nil {
		return nil
	}
	list, err := c.findTables(ctx, func(f *root.File) string {
		if f.Name == "" {
			f.Name = root.CleanName(names.Name(f))
		}
		return tableOf(lib, f)
	})
	if err != nil {
		return err
	}
	// Without definitions only a name says that a file is a table, and it may be anything else.
	isOther := false
	for i := range list {
		read := list[i].Read
		list[i].Read = func(ctx context.Context) ([]byte, error) {
			data, err := read(ctx)
			isOther = lib == nil && err == nil && !db2.IsMagic(data)
			return data, err
		}
	}
	opts.Memory = 1 // each is read once
	tree := tabletree.New(list, opts)
	for i := range list {
		isOther = false
		found, err := tablekind.Verify(ctx, tree, i, false, lib != nil)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, nodes.ErrChanged):
			return err
		case isOther:
			continue
		}
		for _, what := range found {
			if !yield(cascFound(casc.Finding{Kind: casc.FindingDamaged, File: list[i].File, What: "table " + list[i].Name + ": " + what}), nil) {
				return nil
			}
		}
	}
	return nil
}
