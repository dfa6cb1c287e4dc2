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

// treeSession is a source that is being edited, and whose edits each have a path in its tree.
type treeSession[E treeEdit[E]] struct {
	// path is that of the source.
	path string
	// at is the directory of the mount that shows the source, with a slash at its end; empty
	// for the root.
	at    string
	files *save.Set
	tree  editableTree[E]
	// store saves what the tree holds, and calls store for each file that becomes another.
	store func(ctx context.Context, store func(c toSave) error) error
	// file is the source if that is a file, else nil.
	file *source.File
	// spare is that of [sparing].
	spare func() (end func())
	// replayed is the number of edits that a crash had left.
	replayed int
}

// treeEdit is an edit with a path. At puts a directory of the mount before it.
type treeEdit[E any] interface {
	Edit
	At(dir string) E
}

// editableTree is the tree of a treeSession. Its methods take files and directories, and mean all
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

// toSave is an edited file, to be saved as it was when the save began.
type toSave interface {
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

func (s *treeSession[E]) Path() string         { return s.path }
func (s *treeSession[E]) Dir() string          { return s.at }
func (s *treeSession[E]) Pending() int64       { return s.tree.Pending() }
func (s *treeSession[E]) Journal() string      { return s.files.Journal() }
func (s *treeSession[E]) Replayed() int        { return s.replayed }
func (s *treeSession[E]) Converts() string     { return "" }
func (*treeSession[E]) Notices() []string      { return nil }
func (*treeSession[E]) KeepPatch(error) string { return "" }
func (s *treeSession[E]) Close() error         { return s.files.Close() }

func (s *treeSession[E]) Refused() []overlay.Refused { return refusedIn(s.at, s.tree.Refused()) }
func (s *treeSession[E]) Loose() overlay.Loose       { return looseIn(s.at, s.tree.Loose()) }

// Save saves the files that were edited. It packs several at the same time, and replaces one
// after the other.
func (s *treeSession[E]) Save(ctx context.Context, _ save.How, show func(save.Progress)) (save.Report, error) {
	defer s.spare()()
	began := time.Now()
	var r save.Report
	// The tree goes on with files that are in place, so an earlier save that failed at its very end
	// has left nothing to save, but the journal takes no edits.
	if err := s.files.SyncAgain(); err != nil {
		return r, err
	}
	const steps = 2                                                   // a file is written, and checked
	progress := save.Progress{Total: steps * int64(s.files.Edited())} // edits may come to more
	step := func(stage string) {
		progress.Stage = stage
		show(progress)
		progress.Done++
		progress.Total = max(progress.Total, progress.Done)
	}
	show(save.Progress{Stage: save.Writing, Total: progress.Total}) // it packs first
	err := s.store(ctx, func(c toSave) error {
		f := &changedFile{c: c, files: s.files, source: s.file, step: step}
		var edits int64
		f.name, f.size, edits = c.Of()
		saved, err := s.files.Commit(ctx, f.name, f)
		if errors.Is(err, source.ErrChanged) {
			err = s.files.Rescue(ctx, f.name, f, nil, err)
		}
		if saved.Info != nil {
			r.Edits += edits
			r.Add(s.path, saved)
		}
		return err
	})
	s.files.Settle()
	r.Seconds = time.Since(began).Seconds()
	return r, err
}

// changedFile is an edited file of a source. All of it is written anew from a snapshot.
type changedFile struct {
	c     toSave
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
func (s *treeSession[E]) Edits(ctx context.Context) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		for d, err := range s.tree.Edits(ctx) {
			if !yield(d.At(s.at), err) {
				return
			}
		}
	}
}

// WritePatch implements Session.
func (s *treeSession[E]) WritePatch(context.Context, io.Writer) error { return ErrNoPatch }

// Open implements Session.
func (s *treeSession[E]) Open() []string { return s.openIn() }

func (s *treeSession[E]) openIn(ids ...nodes.ID) []string { return s.allIn(s.tree.Unflushed(ids...)) }

// allIn puts the directory of the mount before paths.
func (s *treeSession[E]) allIn(paths []string) []string {
	for i := range paths {
		paths[i] = s.at + paths[i]
	}
	return paths
}

// Revert implements Session. A path leads to one file or directory, so all does not matter.
func (s *treeSession[E]) Revert(ctx context.Context, paths []string, _ bool) (r Reverted, err error) {
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
	taken, err := s.tree.Revert(ctx, ids...)
	for _, d := range taken {
		r.Edits = append(r.Edits, d.At(s.at))
	}
	r.Texts = s.allIn(s.tree.TakeBack(ids...))
	r.Open = s.openIn(ids...)
	return r, errors.Join(err, s.files.Sync())
}

// EditsAt implements Session.
func (s *treeSession[E]) EditsAt(ctx context.Context, paths []string, _ func(path string) bool) (list []Edit, err error) {
	var ids []nodes.ID
	for _, path := range paths {
		id, err := s.find(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		ids = append(ids, id)
	}
	for d, err := range s.tree.Edits(ctx, ids...) {
		if err != nil {
			return list, err
		}
		list = append(list, d.At(s.at))
	}
	for _, path := range s.openIn(ids...) {
		list = append(list, newOpenFile(path))
	}
	return list, nil
}

// find finds the node at a path in the mount.
func (s *treeSession[E]) find(ctx context.Context, name string) (nodes.ID, error) {
	id := nodes.Root
	for part := range strings.SplitSeq(strings.TrimPrefix(path.Clean(name)+"/", s.at), "/") {
		if part == "" || part == "." {
			continue
		}
		e, err := s.tree.Lookup(ctx, id, part)
		if errors.Is(err, nodes.ErrNotExist) {
			if r, ok := s.tree.(remover); ok {
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
func (s *treeSession[E]) isEdited(ctx context.Context, id nodes.ID) (bool, error) {
	for _, err := range s.tree.Edits(ctx, id) {
		return true, err
	}
	return len(s.tree.Refused(id))+len(s.tree.Unflushed(id)) > 0, nil
}

// Discard implements Session.
func (s *treeSession[E]) Discard() error {
	s.tree.TakeBack()
	return s.files.Discard()
}
