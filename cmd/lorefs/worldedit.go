package main

import (
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"time"

	"lorefs/geometry"
	"lorefs/internal/save"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/editing"
	"lorefs/nodes/worldtree"
)

// worldEditor is a folder of world geometry that is being edited.
type worldEditor struct {
	dir string
	// at is where the folder is shown: empty, or with a slash behind it.
	at      string
	session *save.Set
	tree    *worldtree.Editable
}

// edit makes the folder editable.
func (w *world) edit(ctx context.Context, o editOptions) ([]sourceEditor, []nodes.Mount, error) {
	e, err := w.editor(ctx, "", o)
	if err != nil {
		return nil, nil, err
	}
	return []sourceEditor{e}, wholeRoot(e.tree), nil
}

func (w *world) editor(ctx context.Context, at string, o editOptions) (*worldEditor, error) {
	s, err := save.Open(save.Folders, w.dir, save.Options{NoBackup: o.noBackup, Salvage: o.salvage, Logger: o.log})
	if err != nil {
		return nil, err
	}
	tree := worldtree.NewEditable(w.tree, worldtree.EditOptions{
		Begin: s.Begin, Log: s.Log, Sync: s.Sync, Encode: geometry.EncodeOptions{Quality: o.quality},
	})
	// Whoever had the lock before may have replaced files since the tree was made.
	if err = w.tree.Check(); err == nil {
		err = s.Replay(ctx, func(file string, record []byte) error { return tree.Replay(ctx, file, record) })
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &worldEditor{w.dir, at, s, tree}, nil
}

func (e *worldEditor) path() string     { return e.dir }
func (e *worldEditor) pending() int64   { return e.session.Pending() }
func (e *worldEditor) journal() string  { return e.session.Journal() }
func (e *worldEditor) replayed() int    { return e.session.Replayed() }
func (e *worldEditor) converts() string { return "" }
func (e *worldEditor) Close() error     { return e.session.Close() }

func (e *worldEditor) refused() []editing.Refused { return refusedIn(e.at, e.tree.Refused()) }
func (e *worldEditor) loose() editing.Loose       { return looseIn(e.at, e.tree.Loose()) }

// save saves the files that were edited. Some are packed at once; they are put in place
// one after the other.
func (e *worldEditor) save(ctx context.Context, _ bool) (save.Report, error) {
	began := time.Now()
	var r save.Report
	err := e.tree.Save(ctx, func(c *worldtree.Changed) (iofs.FileInfo, error) {
		if c.Same {
			return nil, e.session.Settle(c.File)
		}
		edited := &changedFile{c, e.session}
		saved, err := e.session.Commit(ctx, c.File, edited)
		if errors.Is(err, source.ErrChanged) {
			err = e.session.Rescue(ctx, c.File, edited, nil, err)
		}
		if saved.Info == nil {
			return nil, err
		}
		r.Edits += saved.Edits
		r.Add(e.dir, saved)
		return saved.Info, err
	})
	r.Seconds = time.Since(began).Seconds()
	return r, err
}

// changedFile is a file of the folder that is saved as a whole. Nobody edits it meanwhile.
type changedFile struct {
	c     *worldtree.Changed
	files *save.Set
}

// Check is [save.Edited]'s.
func (f *changedFile) Check() error { return f.files.CheckFile(f.c.File) }

// Snapshot is [save.Edited]'s: what was changed is one by itself.
func (f *changedFile) Snapshot() (save.Snapshot, error) { return wholeFile{f.c}, nil }

// wholeFile makes a new file by packing all of it.
type wholeFile struct{ *worldtree.Changed }

// Size is [save.Snapshot]'s.
func (f wholeFile) Size() int64 { return f.Changed.Size }

// Check is [save.Snapshot]'s.
func (f wholeFile) Check(_ context.Context, g *os.File) error { return f.Compare(g) }

// Close is [save.Snapshot]'s.
func (f wholeFile) Close() {}

// Index has nothing to do: what is kept of a world is found out when it is looked at.
func (f wholeFile) Index() error { return nil }

// Rebase is [save.Snapshot]'s.
func (f wholeFile) Rebase(_ context.Context, publish func(later [][]byte) error) error {
	return publish(nil)
}
