package main

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"log/slog"
	"sync"

	"lorefs/datacenter"
	"lorefs/internal/filelock"
	"lorefs/internal/journal"
	"lorefs/internal/session"
	"lorefs/internal/source"
	"lorefs/internal/userdir"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/dctree"
)

// maxIndexBytes is how much of the cache folder the indexes of data centers may
// take; that of a large one has some 25 MB.
const maxIndexBytes = 2 << 30

// opened is a source that can be looked into.
type opened struct {
	file *source.File
	kind string
	dc   *datacenter.File
	// blocks holds what was inflated.
	blocks *blockcache.Cache
	// index is nil with --no-cache.
	index *indexStore
	tree  nodes.Tree
	views []view

	// session and editable are nil unless the source is being edited.
	session  *session.Session
	editable *dctree.Editable
}

// view is one directory in the root of the tree.
type view struct {
	Name  string `json:"name"`
	Nodes int64  `json:"nodes"`
}

// openSource turns a path into a tree. show is told how far the first pass over
// the source is.
func openSource(ctx context.Context, path string, f *sourceFlags, log *slog.Logger, show func(done, total int64)) (*opened, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	s, err := openFile(path, int64(f.cacheSize))
	if err != nil {
		return nil, err
	}
	opts, err := f.options(s, log)
	if err == nil {
		opts.Progress = show
		if s.index = f.store(log); s.index != nil {
			opts.Index = s.index
		}
		s.dc, err = datacenter.Open(ctx, s.reader(), s.file.Size(), opts)
	}
	if err == nil {
		err = s.mux()
	}
	if err != nil {
		return nil, errors.Join(f.explain(path, err), s.Close())
	}
	return s, nil
}

// edit makes what was opened editable, and makes edits again that a crash has
// left behind.
func (s *opened) edit(ctx context.Context, o session.Options) error {
	var err error
	o.Reopen = func() datacenter.Options {
		opts := datacenter.Options{
			Keys: []datacenter.Key{s.dc.Key()}, Blocks: blockcache.New(reopenCache).View(), Logger: o.Logger,
		}
		if s.index != nil { // the next mount is of the new file
			opts.Index = s.index
		}
		return opts
	}
	if s.session, err = session.Open(ctx, s.file, s.dc, o); err != nil {
		return explainSession(err)
	}
	tree, err := s.dctree()
	if err != nil {
		return err
	}
	s.editable = dctree.NewEditable(tree, s.session.Draft(), dctree.EditOptions{Sync: s.session.Sync})
	return s.muxWith(s.editable)
}

// reopenCache is for reading back, once and in order, what was saved.
const reopenCache = 64 << 20

// explainSession says what can be done about a source that can't be edited.
func explainSession(err error) error {
	switch {
	case errors.Is(err, session.ErrStale):
		return &commandError{code: exitUnsaved, err: err, hint: "to have them back, put the file back that they were made on, " +
			"which may be the .bak; to give them up, use lorefs journal drop"}
	case errors.Is(err, filelock.ErrLocked):
		return &commandError{
			code: exitBusy, err: fmt.Errorf("somebody edits it already: %w", err),
			hint: "after umount(8) it is being saved for some seconds; lorefs unmount waits for that",
		}
	case errors.Is(err, journal.ErrDamaged):
		return &commandError{code: exitUnsaved, err: err, hint: "lorefs journal replay --salvage saves what lies before the damage; " +
			"lorefs journal drop gives all up"}
	}
	return &commandError{code: exitSource, err: err}
}

// openFile opens the file only.
func openFile(path string, cacheSize int64) (*opened, error) {
	file, err := source.Open(path)
	if err != nil {
		if pe, ok := errors.AsType[*iofs.PathError](err); ok {
			err = fmt.Errorf("%s: %w", path, pe.Err)
		}
		return nil, &commandError{code: exitSource, err: err}
	}
	return &opened{file: file, kind: kindDataCenter, blocks: blockcache.New(cacheSize)}, nil
}

// options are what datacenter is told in any case.
func (f *sourceFlags) options(s *opened, log *slog.Logger) (datacenter.Options, error) {
	layout, err := datacenter.ParseLayout(f.layout)
	if err != nil {
		return datacenter.Options{}, err
	}
	keys, err := f.keys()
	return datacenter.Options{
		Layout: layout, Keys: keys, Blocks: s.blocks.View(), ModTime: s.file.ModTime(), Logger: log,
	}, err
}

// store is where the index is kept between runs. A folder that can't be used
// makes the start slower and nothing else.
func (f *sourceFlags) store(log *slog.Logger) *indexStore {
	if f.noCache {
		return nil
	}
	open := userdir.Cache
	if f.cacheBase != "" {
		open = func(sub ...string) (*userdir.Dir, error) { return userdir.Below(f.cacheBase, sub...) }
	}
	dir, err := open("index")
	if err != nil {
		log.Warn("the index is not kept for the next time", "err", err)
		return nil
	}
	return &indexStore{Store: userdir.NewStore(dir, maxIndexBytes), log: log}
}

// indexStore saves behind the back of the one who asks for it: writing and
// syncing 20 MB can take as long as inflating the source does.
type indexStore struct {
	*userdir.Store
	log    *slog.Logger
	saving sync.WaitGroup
}

// Save returns at once.
func (s *indexStore) Save(key string, data []byte) error {
	s.saving.Go(func() {
		if err := s.Store.Save(key, data); err != nil {
			s.log.Warn("the index is not kept for the next time", "err", err)
		}
	})
	return nil
}

// mux puts all views of the source under one root. The order of the trees is
// part of the inode numbers: later ones go behind the present ones.
func (s *opened) mux() error {
	tree, err := s.dctree()
	if err != nil {
		return err
	}
	return s.muxWith(tree)
}

func (s *opened) dctree() (*dctree.Tree, error) {
	return dctree.New(s.dc, dctree.Options{
		ModTime: s.file.ModTime(), SourceSize: s.file.Size(), Check: s.check,
	})
}

func (s *opened) muxWith(tree nodes.Tree) error {
	description, err := describe(s).json()
	if err != nil {
		return err
	}
	s.views = []view{{Name: "tree", Nodes: tree.Usage().Nodes}}
	s.tree, err = nodes.NewMux(s.file.ModTime(), []nodes.Mount{
		{Name: "tree", Tree: tree},
		{Name: "datacenter.json", Content: string(description)},
	})
	return err
}

// Close gives the source back, and waits until its index is saved.
func (s *opened) Close() error {
	var err error
	if s.session != nil {
		err = s.session.Close()
	}
	if s.index != nil {
		s.index.saving.Wait()
	}
	return errors.Join(err, s.file.Close())
}

// check tells whether the source is still what it was.
func (s *opened) check() error { return changed(s.file.Check()) }

func (s *opened) reader() guarded { return guarded{s.file} }

// guarded tells of a changed source in the tree's words.
type guarded struct{ file *source.File }

func (g guarded) ReadAt(p []byte, off int64) (int, error) {
	n, err := g.file.ReadAt(p, off)
	return n, changed(err)
}

// changed makes an error that says that the source changed match
// [nodes.ErrChanged], too.
func changed(err error) error {
	if errors.Is(err, source.ErrChanged) {
		return &changedError{err}
	}
	return err
}

type changedError struct{ err error }

func (e *changedError) Error() string        { return e.err.Error() }
func (e *changedError) Unwrap() error        { return e.err }
func (e *changedError) Is(target error) bool { return target == nodes.ErrChanged }

// explain turns what datacenter says of a file into what a user can do about it.
func (f *sourceFlags) explain(path string, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: interrupted", path)
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
