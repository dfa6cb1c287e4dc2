package kinds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path"
	"strings"
	"time"

	"lorefs/cmd/internal/save"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// TreeSession is a source that is being edited, and whose edits each have a path in its tree.
type TreeSession[E treeEdit[E]] struct {
	// Where is the path of the source.
	Where string
	// Below is the directory of the mount that shows the source, with a slash at its end; empty
	// for the root.
	Below string
	Files *save.Set
	Tree  editableTree[E]
	// Store saves what the tree holds, and calls store for each file that becomes another.
	Store func(ctx context.Context, store func(c ToSave) error) error
	// Single is the source if that is a file, else nil.
	Single *source.File
	// Spare implements [Sparing].
	Spare func() (end func())
	// Again is the number of edits that a crash had left.
	Again int
}

// treeEdit is an edit with a path. At puts a directory of the mount before it.
type treeEdit[E any] interface {
	Edit
	At(dir string) E
}

// editableTree is the tree of a TreeSession. Its methods take files and directories, and mean all
// if there are none. Those that it has from the overlay are described there.
type editableTree[E any] interface {
	nodes.Tree
	// Pending returns the number of edits, and Edits yields them.
	Pending() int64
	Edits(ctx context.Context, ids ...nodes.ID) iter.Seq2[E, error]
	// Revert takes back edits, and returns them as they were.
	Revert(ctx context.Context, ids ...nodes.ID) ([]E, error)

	Refused(ids ...nodes.ID) []overlay.Refused
	Loose() overlay.Loose
	Unflushed(ids ...nodes.ID) []string
	TakeBack(ids ...nodes.ID) []string
}

// remover is an editableTree from which files can be removed.
type remover interface {
	// Gone returns the number that stands for a file that was removed.
	Gone(dir nodes.ID, name string) (nodes.ID, bool)
}

// ToSave is an edited file, to be saved as it was when the save began.
type ToSave interface {
	// Of returns the name of the file in a source that is a folder, its size before, and the
	// number of its edits.
	Of() (file string, size, edits int64)
	// Write writes the new file, and Compare checks what was written.
	Write(ctx context.Context, w io.Writer) error
	Compare(ctx context.Context, f *os.File) error
	// Replace calls put, which puts the new file in its place, while nobody edits. later has the
	// records of the edits made since, and edits is how many these make. put returns the new
	// file's FileInfo, or nil if the file is not in its place.
	Replace(put func(later [][]byte, edits int64) (os.FileInfo, error)) error
}

// Path implements [Session].
func (s *TreeSession[E]) Path() string { return s.Where }

// Dir implements [Session].
func (s *TreeSession[E]) Dir() string { return s.Below }

// Pending implements [Session].
func (s *TreeSession[E]) Pending() int64 { return s.Tree.Pending() }

// Journal implements [Session].
func (s *TreeSession[E]) Journal() string { return s.Files.Journal() }

// Replayed implements [Session].
func (s *TreeSession[E]) Replayed() int { return s.Again }

// Converts implements [Session].
func (s *TreeSession[E]) Converts() string { return "" }

// Notices implements [Session].
func (*TreeSession[E]) Notices() []string { return nil }

// KeepPatch implements [Session].
func (*TreeSession[E]) KeepPatch(error) string { return "" }

// Close implements [Session].
func (s *TreeSession[E]) Close() error { return s.Files.Close() }

// Refused implements [Session].
func (s *TreeSession[E]) Refused() []overlay.Refused { return RefusedIn(s.Below, s.Tree.Refused()) }

// Loose implements [Session].
func (s *TreeSession[E]) Loose() overlay.Loose { return LooseIn(s.Below, s.Tree.Loose()) }

// Save saves the files that were edited. It packs several at the same time, and replaces one
// after the other.
func (s *TreeSession[E]) Save(ctx context.Context, _ save.How, show func(save.Progress)) (save.Report, error) {
	defer s.Spare()()
	began := time.Now()
	var r save.Report
	// The tree goes on with files that are in place, so an earlier save that failed at its very end
	// has left nothing to save, but the journal takes no edits.
	if err := s.Files.SyncAgain(); err != nil {
		return r, err
	}
	const steps = 2                                                   // a file is written, and checked
	progress := save.Progress{Total: steps * int64(s.Files.Edited())} // edits may come to more
	step := func(stage string) {
		progress.Stage = stage
		show(progress)
		progress.Done++
		progress.Total = max(progress.Total, progress.Done)
	}
	show(save.Progress{Stage: save.Writing, Total: progress.Total}) // it packs first
	err := s.Store(ctx, func(c ToSave) error {
		f := &changedFile{c: c, files: s.Files, source: s.Single, step: step}
		var edits int64
		f.name, f.size, edits = c.Of()
		saved, err := s.Files.Commit(ctx, f.name, f)
		if errors.Is(err, source.ErrChanged) {
			err = s.Files.Rescue(ctx, f.name, f, nil, err)
		}
		if saved.Info != nil {
			r.Edits += edits
			r.Add(s.Where, saved)
		}
		return err
	})
	s.Files.Settle()
	r.Seconds = time.Since(began).Seconds()
	return r, err
}

// changedFile is an edited file of a source. All of it is written anew from a snapshot.
type changedFile struct {
	c     ToSave
	name  string
	size  int64
	files *save.Set
	// source is the file if the source is one, else nil.
	source *source.File
	// step is called when a stage of the save begins.
	step func(stage string)
	// info describes the file that was checked last.
	info os.FileInfo
}

// Check implements [save.Edited].
func (f *changedFile) Check() error { return f.files.CheckFile(f.name) }

// Snapshot implements [save.Edited].
func (f *changedFile) Snapshot() (save.Snapshot, error) { return wholeFile{f}, nil }

// wholeFile implements [save.Snapshot].
type wholeFile struct{ *changedFile }

func (f wholeFile) Size() int64 { return f.size }

func (f wholeFile) Write(ctx context.Context, w io.Writer) error {
	f.step(save.Writing)
	return f.c.Write(ctx, w)
}

func (f wholeFile) Check(ctx context.Context, g *os.File, _ save.Identity) (err error) {
	f.step(save.Checking)
	if f.info, err = g.Stat(); err != nil {
		return err
	}
	return f.c.Compare(ctx, g)
}

// Rebase implements [save.Snapshot].
func (f wholeFile) Rebase(_ context.Context, publish func(later [][]byte) error) error {
	return f.c.Replace(func(later [][]byte, edits int64) (os.FileInfo, error) {
		f.expect(f.info)
		err := publish(later)
		if err != nil && !save.IsInPlace(err) {
			f.expect(nil)
			return nil, err
		}
		if f.source != nil {
			f.source.Adopt(f.info)
		}
		f.files.Count(f.name, edits)
		return f.info, err
	})
}

// expect lets the source's path lead to the new file.
func (f wholeFile) expect(info os.FileInfo) {
	if f.source != nil {
		f.source.Expect(info)
	}
}

// Index does nothing, since nothing is kept of a file that is written so.
func (f wholeFile) Index() error { return nil }

func (f wholeFile) Close() {}

// Edits implements Session.
func (s *TreeSession[E]) Edits(ctx context.Context) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		for d, err := range s.Tree.Edits(ctx) {
			if !yield(d.At(s.Below), err) {
				return
			}
		}
	}
}

// WritePatch implements Session.
func (s *TreeSession[E]) WritePatch(context.Context, io.Writer) error { return ErrNoPatch }

// Open implements Session.
func (s *TreeSession[E]) Open() []string { return s.openIn() }

func (s *TreeSession[E]) openIn(ids ...nodes.ID) []string { return s.allIn(s.Tree.Unflushed(ids...)) }

// allIn puts the directory of the mount before paths.
func (s *TreeSession[E]) allIn(paths []string) []string {
	for i := range paths {
		paths[i] = s.Below + paths[i]
	}
	return paths
}

// Revert implements Session. A path leads to one file or directory, so all does not matter.
func (s *TreeSession[E]) Revert(ctx context.Context, paths []string, _ bool) (r Reverted, err error) {
	var ids []nodes.ID
	for _, path := range paths {
		id, err := s.find(ctx, path)
		edited := false
		if err == nil {
			edited, err = s.isEdited(ctx, id)
		}
		switch {
		case err != nil:
			return r, fmt.Errorf("%s: %w", path, err)
		case !edited:
			return r, &NoEditError{path}
		}
		ids = append(ids, id)
	}
	taken, err := s.Tree.Revert(ctx, ids...)
	for _, d := range taken {
		r.Edits = append(r.Edits, d.At(s.Below))
	}
	r.Texts = s.allIn(s.Tree.TakeBack(ids...))
	r.Open = s.openIn(ids...)
	return r, errors.Join(err, s.Files.Sync())
}

// EditsAt implements Session.
func (s *TreeSession[E]) EditsAt(ctx context.Context, paths []string, _ func(path string) bool) (list []Edit, err error) {
	var ids []nodes.ID
	for _, path := range paths {
		id, err := s.find(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		ids = append(ids, id)
	}
	for d, err := range s.Tree.Edits(ctx, ids...) {
		if err != nil {
			return list, err
		}
		list = append(list, d.At(s.Below))
	}
	for _, path := range s.openIn(ids...) {
		list = append(list, NewOpenFile(path))
	}
	return list, nil
}

// find finds the node at a path in the mount.
func (s *TreeSession[E]) find(ctx context.Context, name string) (nodes.ID, error) {
	id := nodes.Root
	for part := range strings.SplitSeq(strings.TrimPrefix(path.Clean(name)+"/", s.Below), "/") {
		if part == "" || part == "." {
			continue
		}
		e, err := s.Tree.Lookup(ctx, id, part)
		if errors.Is(err, nodes.ErrNotExist) {
			if r, ok := s.Tree.(remover); ok {
				if gone, is := r.Gone(id, part); is {
					e, err = nodes.Entry{ID: gone}, nil
				}
			}
		}
		if err != nil {
			return 0, err
		}
		id = e.ID
	}
	return id, nil
}

// isEdited reports whether something is at a node that Revert can take back or, as it is being
// written, has to tell of.
func (s *TreeSession[E]) isEdited(ctx context.Context, id nodes.ID) (bool, error) {
	for _, err := range s.Tree.Edits(ctx, id) {
		return true, err
	}
	return len(s.Tree.Refused(id))+len(s.Tree.Unflushed(id)) > 0, nil
}

// Discard implements Session.
func (s *TreeSession[E]) Discard() error {
	s.Tree.TakeBack()
	return s.Files.Discard()
}

// RefusedIn puts a directory of the mount before paths.
func RefusedIn(dir string, texts []overlay.Refused) []overlay.Refused {
	for i := range texts {
		texts[i].Path = dir + texts[i].Path
	}
	return texts
}

// LooseIn puts a directory of the mount before the paths of loose files.
func LooseIn(dir string, l overlay.Loose) overlay.Loose {
	return overlay.Loose{Scratch: PathsIn(dir, l.Scratch), Strays: PathsIn(dir, l.Strays)}
}

// PathsIn puts a directory of the mount before paths.
func PathsIn(dir string, paths []string) []string {
	for i := range paths {
		paths[i] = dir + paths[i]
	}
	return paths
}
