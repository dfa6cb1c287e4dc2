package main

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/dctree"
	"lorefs/nodes/sheettree"
)

const kindDataCenter = "datacenter"

// dataCenter is an open data center.
type dataCenter struct {
	file *source.File
	dc   *datacenter.File
	// index is nil with --no-cache.
	index *indexStore
	log   *slog.Logger
	// sheets are those that are shown.
	sheets *sheets.Source
	// world is nil without --world.
	world *world
}

func dataCenterKind() kind {
	return kind{
		name:   kindDataCenter,
		source: "a data center",
		is:     func(_ string, info iofs.FileInfo) (bool, error) { return !info.IsDir(), nil },
		open:   openDataCenter,
		verify: verifyDataCenter,

		exports: "sheets",
	}
}

func openDataCenter(ctx context.Context, path string, o opening) (archive, error) {
	file, err := source.Open(path)
	if err != nil {
		return nil, explainOpen(path, err)
	}
	d := &dataCenter{file: file, log: o.log}
	opts, err := o.flags.dataCenterOptions(d, o)
	if err == nil {
		if d.index = o.flags.store(o.log); d.index != nil {
			opts.Index = d.index
		}
		d.dc, err = datacenter.Open(ctx, d.reader(), file.Size(), opts)
	}
	if err == nil && o.flags.world != "" {
		d.world, err = d.openWorld(o)
	}
	if err != nil {
		return nil, errors.Join(o.flags.explain(path, err), d.Close())
	}
	return d, nil
}

// dataCenterOptions are what datacenter is told in any case.
func (f *sourceFlags) dataCenterOptions(d *dataCenter, o opening) (datacenter.Options, error) {
	layout, err := datacenter.ParseLayout(f.layout)
	if err != nil {
		return datacenter.Options{}, err
	}
	keys, err := f.dataCenterKeys()
	return datacenter.Options{
		Layout: layout, Keys: keys, Blocks: o.blocks.View(), ModTime: d.file.ModTime(),
		Logger: o.log, Progress: o.progress,
	}, err
}

// dataCenter is s as what it has to be.
func (s *opened) dataCenter() (*dataCenter, error) {
	d, ok := s.archive.(*dataCenter)
	if !ok {
		return nil, usageErrorf("this needs a data center, not a source of the kind %s", s.kind)
	}
	return d, nil
}

// dataCenterFile is the file of what has to be a data center.
func (s *opened) dataCenterFile() (*datacenter.File, error) {
	d, err := s.dataCenter()
	if err != nil {
		return nil, err
	}
	return d.dc, nil
}

func (d *dataCenter) reader() guarded { return guarded{d.file} }

func (d *dataCenter) modTime() time.Time { return d.file.ModTime() }

// unchanged is check without the world, and cheap.
func (d *dataCenter) unchanged() error { return changed(d.file.Check()) }

// unchangedNow is unchanged without regard to cost.
func (d *dataCenter) unchangedNow() error { return changed(d.file.CheckNow()) }

func (d *dataCenter) check() error {
	err := d.unchangedNow()
	if err == nil && d.world != nil {
		err = d.world.check()
	}
	return err
}

func (d *dataCenter) describe() (description, error) { return describeDataCenter(d), nil }

func (d *dataCenter) show() ([]nodes.Mount, error) {
	tree, err := d.tree()
	if err == nil {
		err = d.makeSheets(nil)
	}
	if err != nil {
		return nil, err
	}
	var world nodes.Tree
	if d.world != nil {
		world = d.world.tree
	}
	return d.showWith(tree, d.sheetTree(), world)
}

// showWith is show with trees of d that can be edited, or not. world may be nil.
func (d *dataCenter) showWith(tree, sheets, world nodes.Tree) ([]nodes.Mount, error) {
	text, err := jsonText(describeDataCenter(d))
	if err != nil {
		return nil, err
	}
	mounts := []nodes.Mount{
		{Name: "tree", Tree: tree},
		{Name: "datacenter.json", Content: text},
		{Name: "sheets", Tree: sheets},
	}
	if world != nil {
		mounts = append(mounts, nodes.Mount{Name: worldName, Tree: world})
	}
	return mounts, nil
}

// makeSheets makes the sheets of the file or, if draft is not nil, of that.
func (d *dataCenter) makeSheets(draft *datacenter.Draft) error {
	opts := sheets.Options{Logger: d.log}
	if d.index != nil {
		opts.Index = d.index
	}
	var err error
	d.sheets, err = sheets.New(d.dc, draft, opts)
	return err
}

func (d *dataCenter) sheetTree() *sheettree.Tree {
	return sheettree.New(d.sheets, sheettree.Options{
		ModTime: d.file.ModTime(), SourceSize: d.file.Size(), Check: d.unchanged,
	})
}

func (d *dataCenter) tree() (*dctree.Tree, error) {
	return dctree.New(d.dc, dctree.Options{
		ModTime: d.file.ModTime(), SourceSize: d.file.Size(), Check: d.unchanged,
	})
}

// Close waits until what is to be known the next time is saved.
func (d *dataCenter) Close() error {
	var err error
	if d.sheets != nil {
		d.sheets.Keep()
	}
	if d.world != nil {
		err = d.world.Close()
	}
	d.index.wait()
	return errors.Join(err, d.file.Close())
}

// explain turns what datacenter says of a file into what a user can do about it.
func (f *sourceFlags) explain(path string, err error) error {
	if _, told := errors.AsType[*commandError](err); told {
		return err
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, datacenter.ErrKey) && (f.key != "" || f.kind == kindDataCenter):
		return &commandError{
			code: exitKey, err: fmt.Errorf("%s: %w", path, datacenter.ErrKey),
			hint: "--key and --iv have to be those of the client that the file is from",
		}
	case errors.Is(err, datacenter.ErrKey):
		return &commandError{
			code: exitKey, err: fmt.Errorf("%s: not a source that lorefs knows, or a data center of an unknown key", path),
			hint: "--key and --iv say which",
		}
	}
	return &commandError{code: exitSource, err: fmt.Errorf("%s: %w", path, err)}
}

// verifyDataCenter needs nothing of the file to be right, so it opens it by itself.
func verifyDataCenter(ctx context.Context, path string, o opening, v *verifying) error {
	file, err := source.Open(path)
	if err != nil {
		return explainOpen(path, err)
	}
	d := &dataCenter{file: file}
	defer d.Close()
	opts, err := o.flags.dataCenterOptions(d, o)
	if err == nil {
		err = v.dataCenter(ctx, d, opts)
	}
	if err != nil {
		return o.flags.explain(path, err)
	}
	return nil
}

// dataCenter shows all findings.
func (v *verifying) dataCenter(ctx context.Context, d *dataCenter, opts datacenter.Options) error {
	verify := datacenter.Verify
	if v.strict {
		verify = datacenter.VerifyStrict
	}
	for f, err := range verify(ctx, d.reader(), d.file.Size(), opts) {
		if err != nil {
			return err
		}
		if more, err := v.found(jsonFinding{f.Off, f.InFile, f.Where, f.What}, f); err != nil || !more {
			return err
		}
	}
	return d.check()
}
