package kinds

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"lorefs/geometry"
	"lorefs/internal/app/save"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
	"lorefs/nodes/worldtree"
)

// worldSession is a folder of world geometry that is being edited.
type worldSession struct {
	dir string
	// at is the directory of the mount that shows the folder, with a slash at its end; empty
	// for the root.
	at    string
	files *save.Set
	tree  *worldtree.Editable
	// spare is that of [sparing].
	spare func() (end func())
	// replayed is the number of edits that a crash had left.
	replayed int
}

func (w *world) edit(ctx context.Context, o EditOptions) ([]Session, []nodes.Mount, error) {
	s, err := w.session(ctx, "", o)
	if err != nil {
		return nil, nil, err
	}
	return []Session{s}, wholeRoot(s.tree), nil
}

func (w *world) session(ctx context.Context, at string, o EditOptions) (*worldSession, error) {
	if w.distant != nil {
		return nil, errorf("%s: %w", w.dir, ErrNotLocal)
	}
	s, err := save.Open(save.Folders, w.dir, save.Options{NoBackup: o.NoBackup, Salvage: o.Salvage, Logger: o.Logger})
	if err != nil {
		return nil, err
	}
	tree := worldtree.NewEditable(w.tree, worldtree.EditOptions{
		Begin: s.Begin, Sync: s.Sync, Encode: geometry.EncodeOptions{Quality: o.Quality},
		Log: func(file string, record []byte, edits int64) error {
			err := s.Log(file, record)
			if err == nil {
				s.Count(file, edits)
			}
			return err
		},
	})
	// Another process that had the lock before may have replaced files since the tree was
	// made.
	if err = w.tree.Check(); err == nil {
		err = replayWorld(ctx, s, tree)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	session := &worldSession{dir: w.dir, at: at, files: s, tree: tree, spare: sparing(w.blocks)}
	if s.Replayed() > 0 {
		session.replayed = int(tree.Pending())
	}
	return session, nil
}

// replayWorld makes the edits again that a crash has left. If none is left of them, the journal
// goes.
func replayWorld(ctx context.Context, s *save.Set, tree *worldtree.Editable) error {
	edits := map[string]int64{}
	err := s.Replay(ctx, func(file string, record []byte) (err error) {
		edits[file], err = tree.Replay(ctx, file, record)
		return err
	})
	if err != nil {
		return err // the journal is as it was
	}
	for file, count := range edits {
		s.Count(file, count)
	}
	s.Settle()
	return nil
}

// unsaved implements archive.
func (w *world) unsaved(ctx context.Context, j *save.Journal, path string) (lister, error) {
	tree := worldtree.NewEditable(w.tree, worldtree.EditOptions{})
	err := j.UnsavedOf(path, func(string, []byte) {}, func(file string, record []byte) error {
		_, err := tree.Replay(ctx, file, record)
		return err
	})
	return &worldSession{dir: w.dir, tree: tree}, err
}

func (s *worldSession) Path() string         { return s.dir }
func (s *worldSession) Dir() string          { return s.at }
func (s *worldSession) Pending() int64       { return s.tree.Pending() }
func (s *worldSession) Journal() string      { return s.files.Journal() }
func (s *worldSession) Replayed() int        { return s.replayed }
func (s *worldSession) Converts() string     { return "" }
func (*worldSession) Notices() []string      { return nil }
func (*worldSession) KeepPatch(error) string { return "" }
func (s *worldSession) Close() error         { return s.files.Close() }

func (s *worldSession) Refused() []overlay.Refused { return refusedIn(s.at, s.tree.Refused()) }
func (s *worldSession) Loose() overlay.Loose       { return looseIn(s.at, s.tree.Loose()) }

// Save saves the files that were edited. It packs several at the same time, and replaces one
// after the other.
func (s *worldSession) Save(ctx context.Context, _ save.How, show func(save.Progress)) (save.Report, error) {
	defer s.spare()()
	began := time.Now()
	var r save.Report
	const steps = 2                                                   // a file is written, and checked
	progress := save.Progress{Total: steps * int64(s.files.Edited())} // edits may come to more
	step := func(stage string) {
		progress.Stage = stage
		show(progress)
		progress.Done++
		progress.Total = max(progress.Total, progress.Done)
	}
	show(save.Progress{Stage: save.Writing, Total: progress.Total}) // it packs first
	err := s.tree.Save(ctx, func(c *worldtree.Changed) error {
		f := &changedFile{c: c, files: s.files, step: step}
		saved, err := s.files.Commit(ctx, c.File, f)
		if errors.Is(err, source.ErrChanged) {
			err = s.files.Rescue(ctx, c.File, f, nil, err)
		}
		if saved.Info != nil {
			r.Edits += c.Edits
			r.Add(s.dir, saved)
		}
		return err
	})
	s.files.Settle()
	r.Seconds = time.Since(began).Seconds()
	return r, err
}

// changedFile is an edited file of the folder. All of it is packed anew from a snapshot.
type changedFile struct {
	c     *worldtree.Changed
	files *save.Set
	// step is called when a stage of the save begins.
	step func(stage string)
	// info describes the file that was checked last.
	info os.FileInfo
}

// Check implements [save.Edited].
func (f *changedFile) Check() error { return f.files.CheckFile(f.c.File) }

// Snapshot implements [save.Edited].
func (f *changedFile) Snapshot() (save.Snapshot, error) { return wholeFile{f}, nil }

// wholeFile implements [save.Snapshot].
type wholeFile struct{ *changedFile }

func (f wholeFile) Size() int64 { return f.c.Size }

func (f wholeFile) Write(ctx context.Context, w io.Writer) error {
	f.step(save.Writing)
	return f.c.Write(ctx, w)
}

func (f wholeFile) Check(_ context.Context, g *os.File, _ save.Identity) (err error) {
	f.step(save.Checking)
	if f.info, err = g.Stat(); err != nil {
		return err
	}
	return f.c.Compare(g)
}

// Rebase implements [save.Snapshot].
func (f wholeFile) Rebase(_ context.Context, publish func(later [][]byte) error) error {
	return f.c.Replace(func(later [][]byte, edits int64) (os.FileInfo, error) {
		err := publish(later)
		if err != nil && !save.IsInPlace(err) {
			return nil, err
		}
		f.files.Count(f.c.File, edits)
		return f.info, err
	})
}

// Index does nothing, since the index of a world is computed when the new file is looked at.
func (f wholeFile) Index() error { return nil }

func (f wholeFile) Close() {}
