package dckind

import (
	"context"
	"errors"
	iofs "io/fs"
	"iter"
	"log/slog"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/kinds/worldkind"
	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/datacenter/sheets"
	"lorefs/datacenter/verify"
	"lorefs/internal/jsonout"
	"lorefs/internal/origin"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/dctree"
	"lorefs/nodes/keytree"
	"lorefs/nodes/sheettree"
)

// DataCenter is an open data center.
type DataCenter struct {
	kinds.Plain
	file kinds.Original
	dc   *datacenter.File
	// index is nil if no index is kept.
	index *kinds.IndexStore
	// blocks is the cache of inflated blocks, of dc and of the files that are saved.
	blocks *blockcache.Cache
	log    *slog.Logger
	// keys are tried for a copy of the file.
	keys []datacenter.Key
	// draft has the edits of takeUnsaved; nil if there are none.
	draft *edit.Draft
	// sheets are the sheets that are shown.
	sheets *sheets.Source
	// world is nil if no world is shown.
	world *worldkind.World
	// sizesLater is as in the options.
	sizesLater bool
}

// keysDir is the directory of nodes by their keys.
const keysDir = "by-key"

// Kind returns the kind of data centers.
func Kind() *kinds.Kind {
	return &kinds.Kind{
		Name:        kinds.DataCenterName,
		Noun:        "a data center",
		Exports:     "sheets",
		Plain:       "tree",
		Links:       keysDir,
		Editable:    true,
		Strict:      true,
		Sheets:      true,
		AnyFile:     true,
		Recognize:   mayBeDataCenter,
		OpenArchive: openDataCenter,
		Findings:    verifyDataCenter,
	}
}

// mayBeDataCenter takes any file for a data center that is long enough: a key may open it.
func mayBeDataCenter(_ string, info iofs.FileInfo) (bool, error) {
	return !info.IsDir() && (!info.Mode().IsRegular() || info.Size() >= datacenter.LeastSize), nil
}

func openDataCenter(ctx context.Context, path string, o kinds.Opening) (kinds.Archive, error) {
	file, err := kinds.OpenOriginal(ctx, path, o.Options)
	if err != nil {
		return nil, kinds.Unreadable(path, err)
	}
	d := &DataCenter{file: file, blocks: o.Blocks, log: o.Logger, keys: o.DataCenter.Keys, sizesLater: o.DataCenter.SizesLater}
	opts := d.options(o)
	if d.index = o.StoreFor(file); d.index != nil {
		opts.Index, opts.Later = d.index, d.index.Later
	}
	d.dc, err = datacenter.Open(ctx, d.reader(), file.Size(), opts)
	if err == nil && o.DataCenter.World != "" {
		d.world, err = d.openWorld(ctx, o)
	}
	if err != nil {
		return nil, errors.Join(kinds.At(path, err), d.Close())
	}
	return d, nil
}

// CheckDataCenter returns an error unless a file on this machine is a data center that a key opens.
func CheckDataCenter(path string, o *kinds.Options) error {
	if origin.IsRemote(path) {
		return nil
	}
	f, err := source.Open(path)
	if err != nil {
		return kinds.Unreadable(path, err)
	}
	defer f.Close()
	return kinds.At(path, datacenter.CheckKey(f, f.Size(), o.DataCenter.Keys))
}

// options returns the options that all uses of the datacenter package share.
func (d *DataCenter) options(o kinds.Opening) datacenter.Options {
	_, far := d.file.(*kinds.Distant)
	return datacenter.Options{
		Layout: o.DataCenter.Layout, Keys: o.DataCenter.Keys, Blocks: o.Blocks.View(), ModTime: d.file.ModTime(),
		Logger: o.Logger, Progress: o.Progress, KeepBlocks: far || o.DataCenter.Whole, HoldBlocks: o.DataCenter.Once,
	}
}

// File returns the data center in its file.
func (d *DataCenter) File() *datacenter.File { return d.dc }

func (d *DataCenter) reader() kinds.Guarded { return kinds.Guarded{File: d.file} }

// ModTime implements [kinds.Archive].
func (d *DataCenter) ModTime() time.Time { return d.file.ModTime() }

// unchanged is a cheap Check of the data center without the world.
func (d *DataCenter) unchanged() error { return kinds.Changed(d.file.Check()) }

// CheckFile returns an error if the file has changed since it was opened. It does not check
// the world.
func (d *DataCenter) CheckFile() error { return kinds.Changed(d.file.CheckNow()) }

// Check returns an error if the file has changed since it was opened, or the world if there
// is one.
func (d *DataCenter) Check() error {
	err := d.CheckFile()
	if err == nil && d.world != nil {
		err = d.world.Check()
	}
	return err
}

// Describe returns what the header and the counts of the file say.
func (d *DataCenter) Describe() (kinds.Description, error) { return describeDataCenter(d), nil }

// QuickSizes is the largest number of sheets and schemas, at most 2^16 of each. All of tree/
// has millions of files.
func (d *DataCenter) QuickSizes() int {
	if d.world != nil {
		return 0
	}
	return 1 << 17
}

// AmpleRoom is three times what sheets take of a real file, for one with so many nodes and
// attributes that measuring them takes a while. Sheets of long texts may take more: then the disk
// gets nearly full, which ends the export.
func (d *DataCenter) AmpleRoom() int64 {
	const most, each = 1 << 20, 64
	c := d.dc.Counts()
	entries := c.Nodes + c.Attributes
	if entries < most {
		return 0
	}
	return entries * each
}

// Mounts implements [kinds.Archive].
func (d *DataCenter) Mounts() ([]nodes.Mount, error) {
	var world nodes.Tree
	if d.world != nil {
		world = d.world.Shown()
	}
	if d.draft != nil {
		t, err := d.treesOf(d.draft, func() error { return nil }, d.log)
		if err != nil {
			return nil, err
		}
		return d.mountsWith(t.tree, t.sheets, world, t.keys)
	}
	tree, err := d.tree()
	if err == nil {
		err = d.makeSheets(nil)
	}
	if err != nil {
		return nil, err
	}
	keys, err := d.keyTree(nil)
	if err != nil {
		return nil, err
	}
	return d.mountsWith(tree, d.sheetTree(), world, keys)
}

// mountsWith returns the entries of the root with the given trees, which may be editable. world
// may be nil.
func (d *DataCenter) mountsWith(tree, sheets, world nodes.Tree, keys *keytree.Tree) ([]nodes.Mount, error) {
	text, err := jsonout.Text(describeDataCenter(d))
	if err != nil {
		return nil, err
	}
	mounts := []nodes.Mount{
		{Name: "tree", Tree: tree},
		{Name: "datacenter.json", Content: text},
		{Name: "sheets", Tree: sheets},
	}
	if world != nil {
		mounts = append(mounts, nodes.Mount{Name: WorldDir, Tree: world})
	}
	return append(mounts, nodes.Mount{Name: keysDir, Tree: keys}), nil
}

// keyTree returns the links to the nodes of the file or, if draft is not nil, of the draft.
func (d *DataCenter) keyTree(draft *edit.Draft) (*keytree.Tree, error) {
	return keytree.New(d.dc, draft, d.sheets, keytree.Options{
		ModTime: d.file.ModTime(), SourceSize: d.file.Size(), Check: d.unchanged,
	})
}

// makeSheets makes the sheets of the file or, if draft is not nil, of the draft.
func (d *DataCenter) makeSheets(draft *edit.Draft) error {
	opts := sheets.Options{Logger: d.log}
	if d.index != nil {
		opts.Index = d.index
	}
	var err error
	d.sheets, err = sheets.New(d.dc, draft, opts)
	return err
}

func (d *DataCenter) sheetTree() *sheettree.Tree {
	return sheettree.New(d.sheets, sheettree.Options{
		ModTime: d.file.ModTime(), SourceSize: d.file.Size(), Check: d.unchanged, SizesLater: d.sizesLater,
	})
}

func (d *DataCenter) tree() (*dctree.Tree, error) {
	return dctree.New(d.dc, dctree.Options{
		ModTime: d.file.ModTime(), SourceSize: d.file.Size(), Check: d.unchanged,
	})
}

// Close closes the data center, after the indexes are saved.
func (d *DataCenter) Close() error {
	var err error
	if d.sheets != nil {
		d.sheets.Keep()
	}
	if d.world != nil {
		err = d.world.Close()
	}
	d.index.Wait()
	return errors.Join(err, d.file.Close())
}

// verifyDataCenter opens the file itself, because a file that is damaged anywhere can't be
// opened as a source.
func verifyDataCenter(ctx context.Context, path string, o kinds.Opening, v kinds.VerifyOptions) iter.Seq2[kinds.Finding, error] {
	return func(yield func(kinds.Finding, error) bool) {
		file, err := kinds.OpenOriginal(ctx, path, o.Options)
		if err != nil {
			yield(kinds.Finding{}, kinds.Unreadable(path, err))
			return
		}
		d := &DataCenter{file: file}
		defer d.Close()
		check := verify.File
		if v.Strict {
			check = verify.Strict
		}
		for f, err := range check(ctx, d.reader(), file.Size(), d.options(o)) {
			if err != nil {
				yield(kinds.Finding{}, kinds.At(path, err))
				return
			}
			if !yield(kinds.NewFinding(f.Off, f.InFile, f.Where, f.What, f), nil) {
				return
			}
		}
		if err := d.Check(); err != nil {
			yield(kinds.Finding{}, kinds.At(path, err))
		}
	}
}

// Servers returns the servers that it is read from.
func (d *DataCenter) Servers() []*kinds.Server {
	all := kinds.ServersIn(d.file)
	if d.world != nil {
		all = append(all, d.world.Servers()...)
	}
	return all
}

// Fetched returns what was fetched, see [kinds.Source.Remote].
func (d *DataCenter) Fetched() *kinds.RemoteStatus { return kinds.FetchedFor(d.file) }

// Of returns a source as a data center; ok is false if it is something else.
func Of(s *kinds.Source) (d *DataCenter, ok bool) {
	d, ok = s.Archive.(*DataCenter)
	return d, ok
}

// Inflated returns the size of the file in memory.
func (d *DataCenter) Inflated() int64 { return d.dc.Size() }
