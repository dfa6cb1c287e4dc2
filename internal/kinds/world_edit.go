package kinds

import (
	"context"
	"errors"
	iofs "io/fs"
	"os"
	"path/filepath"
	"time"

	"lorefs/geometry"
	"lorefs/internal/folderedit"
	"lorefs/internal/session"
	"lorefs/nodes"
	"lorefs/nodes/editing"
	"lorefs/nodes/worldtree"
)

// worldEditor is a folder of world geometry that is being edited.
type worldEditor struct {
	dir string
	// at is where the folder is shown: empty, or with a slash behind it.
	at      string
	session *folderedit.Session
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
	s, err := folderedit.Open(w.dir, folderedit.Options{NoBackup: o.NoBackup, Salvage: o.Salvage, Logger: o.Logger})
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

func (e *worldEditor) Refused() []editing.Refused { return refusedIn(e.at, e.tree.Refused()) }
func (e *worldEditor) Loose() editing.Loose       { return looseIn(e.at, e.tree.Loose()) }

// Save saves the files that were edited. Some are packed at once; they are put in place
// one after the other.
func (e *worldEditor) Save(ctx context.Context, _ bool) (session.Report, error) {
	began := time.Now()
	var r session.Report
	var backups []string
	err := e.tree.Save(ctx, func(c *worldtree.Changed) (iofs.FileInfo, error) {
		if c.Same {
			return nil, e.session.Settle(c.File)
		}
		saved, err := e.session.Save(ctx, folderedit.File{
			Name: c.File, Size: c.Size, Write: c.Write,
			Verify: func(f *os.File) error { return c.Compare(f) },
		})
		if saved.Info == nil {
			return nil, err
		}
		backups = append(backups, saved.Backup)
		r.Path, r.Edits, r.Bytes = e.dir, r.Edits+saved.Edits, r.Bytes+saved.Bytes
		return saved.Info, err
	})
	if len(backups) > 0 {
		r.Backup = backups[0]
	}
	if len(backups) > 1 && r.Backup != "" {
		r.Backup = filepath.Join(filepath.Dir(r.Backup), "*.bak")
	}
	r.Seconds = time.Since(began).Seconds()
	return r, err
}
