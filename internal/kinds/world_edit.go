package kinds

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"lorefs/geometry"
	"lorefs/internal/save"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
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
func (w *world) edit(ctx context.Context, o EditOptions) ([]Editor, []nodes.Mount, error) {
	e, err := w.editor(ctx, "", o)
	if err != nil {
		return nil, nil, err
	}
	return []Editor{e}, wholeRoot(e.tree), nil
}

func (w *world) editor(ctx context.Context, at string, o EditOptions) (*worldEditor, error) {
	s, err := save.Open(save.Folders, w.dir, save.Options{NoBackup: o.NoBackup, Salvage: o.Salvage, Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	tree := worldtree.NewEditable(w.tree, worldtree.EditOptions{
		Begin: s.Begin, Log: s.Log, Sync: s.Sync, Encode: geometry.EncodeOptions{Quality: o.Quality},
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

func (e *worldEditor) Path() string        { return e.dir }
func (e *worldEditor) Pending() int64      { return e.session.Pending() }
func (e *worldEditor) Journal() string     { return e.session.Journal() }
func (e *worldEditor) Replayed() int       { return e.session.Replayed() }
func (e *worldEditor) Converts() string    { return "" }
func (*worldEditor) Notices() []string     { return nil }
func (*worldEditor) KeepText(error) string { return "" }
func (e *worldEditor) Close() error        { return e.session.Close() }

func (e *worldEditor) Refused() []overlay.Refused { return refusedIn(e.at, e.tree.Refused()) }
func (e *worldEditor) Loose() overlay.Loose       { return looseIn(e.at, e.tree.Loose()) }

// Save saves the files that were edited. Some are packed at once; they are put in place
// one after the other.
func (e *worldEditor) Save(ctx context.Context, _ bool) (save.Report, error) {
	began := time.Now()
	var r save.Report
	err := e.tree.Save(ctx, func(c *worldtree.Changed) error {
		if c.Same {
			return e.session.Settle(c.File)
		}
		f := &changedFile{c: c, files: e.session}
		saved, err := e.session.Commit(ctx, c.File, f)
		if errors.Is(err, source.ErrChanged) {
			err = e.session.Rescue(ctx, c.File, f, nil, err)
		}
		if saved.Info != nil {
			r.Edits += saved.Edits
			r.Add(e.dir, saved)
		}
		return err
	})
	r.Seconds = time.Since(began).Seconds()
	return r, err
}

// changedFile makes a new file of the folder by packing all of it. What was changed is a
// snapshot by itself.
type changedFile struct {
	c     *worldtree.Changed
	files *save.Set
	// info describes the file that was checked last.
	info os.FileInfo
}

// Check is [save.Edited]'s.
func (f *changedFile) Check() error { return f.files.CheckFile(f.c.File) }

// Snapshot is [save.Edited]'s.
func (f *changedFile) Snapshot() (save.Snapshot, error) { return wholeFile{f}, nil }

// wholeFile is a [save.Snapshot].
type wholeFile struct{ *changedFile }

func (f wholeFile) Size() int64 { return f.c.Size }

func (f wholeFile) Write(ctx context.Context, w io.Writer) error { return f.c.Write(ctx, w) }

func (f wholeFile) Check(_ context.Context, g *os.File) (err error) {
	if f.info, err = g.Stat(); err != nil {
		return err
	}
	return f.c.Compare(g)
}

// Rebase is [worldtree.Changed.Replace].
func (f wholeFile) Rebase(_ context.Context, publish func(later [][]byte) error) error {
	return f.c.Replace(func(later [][]byte) (os.FileInfo, error) {
		err := publish(later)
		if err != nil && !save.IsInPlace(err) {
			return nil, err
		}
		return f.info, err
	})
}

// Index has nothing to do: what is kept of a world is found out when it is looked at.
func (f wholeFile) Index() error { return nil }

func (f wholeFile) Close() {}
