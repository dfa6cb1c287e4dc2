package worldkind

import (
	"context"
	"errors"
	"os"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/save"
	"lorefs/geometry"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
	"lorefs/nodes/worldtree"
)

// BeginEdits implements [kinds.Archive].
func (w *World) BeginEdits(ctx context.Context, o kinds.EditOptions) ([]kinds.Session, []nodes.Mount, error) {
	s, err := w.Session(ctx, "", o)
	if err != nil {
		return nil, nil, err
	}
	return []kinds.Session{s}, kinds.WholeRoot(s.Tree), nil
}

// Session makes the folder editable.
func (w *World) Session(ctx context.Context, at string, o kinds.EditOptions) (*kinds.TreeSession[worldtree.Edit], error) {
	if w.distant != nil {
		return nil, kinds.Errorf("%s: %w", w.Dir, kinds.ErrNotLocal)
	}
	s, err := save.Open(save.Folders, w.Dir, save.Options{NoBackup: o.NoBackup, Salvage: o.Salvage, Source: o.Source, Logger: o.Logger, Disk: o.Disk})
	if err != nil {
		return nil, err
	}
	tree := worldtree.NewEditable(w.Tree, worldtree.EditOptions{
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
	if err = w.Tree.Check(); err == nil {
		err = replayWorld(ctx, s, tree)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	session := &kinds.TreeSession[worldtree.Edit]{Where: w.Dir, Below: at, Files: s, Tree: tree, Spare: kinds.Sparing(w.blocks, 0)}
	session.Store = func(ctx context.Context, store func(c kinds.ToSave) error) error {
		return tree.Save(ctx, func(c *worldtree.Changed) error { return store(changedWorld{c}) })
	}
	if s.Replayed() > 0 {
		session.Again = int(tree.Pending())
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

// Unsaved implements [kinds.Archive].
func (w *World) Unsaved(ctx context.Context, j *save.Journal, path string) (kinds.Lister, error) {
	tree, err := w.draftOf(ctx, j, path)
	return &kinds.TreeSession[worldtree.Edit]{Where: w.Dir, Tree: tree}, err
}

// ShowUnsaved implements [kinds.Archive].
func (w *World) ShowUnsaved(ctx context.Context) error {
	j, err := kinds.UnsavedOf(w.Dir)
	if err == nil && j != nil {
		w.draft, err = w.draftOf(ctx, j, w.Dir)
	}
	return err
}

// draftOf returns the tree with the edits of a journal.
func (w *World) draftOf(ctx context.Context, j *save.Journal, path string) (*worldtree.Editable, error) {
	tree := worldtree.NewEditable(w.Tree, worldtree.EditOptions{})
	return tree, j.Unsaved(path, func(file string, record []byte) error {
		_, err := tree.Replay(ctx, file, record)
		return err
	})
}

// changedWorld is an edited file of the folder.
type changedWorld struct{ *worldtree.Changed }

func (c changedWorld) Of() (file string, size, edits int64) { return c.File, c.Size, c.Edits }

func (c changedWorld) Compare(_ context.Context, f *os.File) error { return c.Changed.Compare(f) }
