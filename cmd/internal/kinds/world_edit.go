package kinds

import (
	"context"
	"errors"
	"os"

	"lorefs/cmd/internal/save"
	"lorefs/geometry"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
	"lorefs/nodes/worldtree"
)

func (w *world) edit(ctx context.Context, o EditOptions) ([]Session, []nodes.Mount, error) {
	s, err := w.session(ctx, "", o)
	if err != nil {
		return nil, nil, err
	}
	return []Session{s}, wholeRoot(s.tree), nil
}

func (w *world) session(ctx context.Context, at string, o EditOptions) (*treeSession[worldtree.Edit], error) {
	if w.distant != nil {
		return nil, errorf("%s: %w", w.dir, ErrNotLocal)
	}
	s, err := save.Open(save.Folders, w.dir, save.Options{NoBackup: o.NoBackup, Salvage: o.Salvage, Source: o.Source, Logger: o.Logger, Disk: o.disk})
	if err != nil {
		return nil, err
	}
	tree := worldtree.NewEditable(w.tree, worldtree.EditOptions{
		EditOptions: overlay.EditOptions{Sync: s.Sync}, Begin: s.Begin, Encode: geometry.EncodeOptions{Quality: o.Quality},
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
	session := &treeSession[worldtree.Edit]{path: w.dir, at: at, files: s, tree: tree, spare: sparing(w.blocks, 0)}
	session.store = func(ctx context.Context, store func(c toSave) error) error {
		return tree.Save(ctx, func(c *worldtree.Changed) error { return store(changedWorld{c}) })
	}
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
	tree, err := w.draftOf(ctx, j, path)
	return &treeSession[worldtree.Edit]{path: w.dir, tree: tree}, err
}

// takeUnsaved implements archive.
func (w *world) takeUnsaved(ctx context.Context) error {
	j, err := unsavedOf(w.dir)
	if err == nil && j != nil {
		w.draft, err = w.draftOf(ctx, j, w.dir)
	}
	return err
}

// draftOf returns the tree with the edits of a journal.
func (w *world) draftOf(ctx context.Context, j *save.Journal, path string) (*worldtree.Editable, error) {
	tree := worldtree.NewEditable(w.tree, worldtree.EditOptions{})
	return tree, j.Unsaved(path, func(file string, record []byte) error {
		_, err := tree.Replay(ctx, file, record)
		return err
	})
}

// changedWorld is an edited file of the folder.
type changedWorld struct{ *worldtree.Changed }

func (c changedWorld) Of() (file string, size, edits int64) { return c.File, c.Size, c.Edits }

func (c changedWorld) Compare(_ context.Context, f *os.File) error { return c.Changed.Compare(f) }
