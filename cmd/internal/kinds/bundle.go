package kinds

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"iter"
	"os"
	"text/tabwriter"
	"time"

	"lorefs/cmd/internal/save"
	"lorefs/internal/shown"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/bundle"
	"lorefs/nodes/overlay"
	"lorefs/nodes/resourcetree"
)

// bundles are the formats of files that hold other files. Each is a kind of source.
var bundles = []*bundle.Format{resourcetree.Format}

// bundleKind returns the kind of the files of a format.
func bundleKind(f *bundle.Format) *Kind {
	return &Kind{
		Name: f.Name, Noun: f.Noun, Editable: true, Strict: true,
		Pack: func(ctx context.Context, dir, to string, o FolderPacking) (Packed, error) {
			return packFolder(ctx, f, dir, to, o)
		},
		is: func(path string, info iofs.FileInfo) (bool, error) { return isBundle(f, path, info) },
		open: func(ctx context.Context, path string, o opening) (archive, error) {
			b, err := newBundled(ctx, f, path, o.Options)
			if err != nil {
				return nil, err
			}
			b.blocks = o.blocks
			return b, nil
		},
		verify: func(ctx context.Context, path string, o opening, v VerifyOptions) iter.Seq2[Finding, error] {
			return verifyBundle(ctx, f, path, o, v.Strict)
		},
	}
}

func isBundle(f *bundle.Format, path string, info iofs.FileInfo) (bool, error) {
	if !info.Mode().IsRegular() {
		return false, nil
	}
	file, err := source.Open(path)
	if err != nil {
		return false, err
	}
	is, err := f.Detect(file, file.Size())
	return is, errors.Join(err, file.Close())
}

// bundled is an open file that holds other files.
type bundled struct {
	plain
	format *bundle.Format
	file   original
	files  bundle.Files
	tree   *bundle.Tree
	// draft has the edits of takeUnsaved; nil if there are none.
	draft *bundle.Editable
	// blocks is the cache of the source, which holds nothing of a bundle. Its budget is memory
	// that a save can have.
	blocks *blockcache.Cache
}

func newBundled(ctx context.Context, f *bundle.Format, path string, o *Options) (*bundled, error) {
	file, err := openOriginal(ctx, path, o)
	if err != nil {
		return nil, Unreadable(path, err)
	}
	b := &bundled{format: f, file: file}
	if b.files, err = f.Open(guarded{file}, file.Size()); err != nil {
		return nil, errors.Join(at(path, err), file.Close())
	}
	b.tree = bundle.New(b.files, bundle.Options{ModTime: file.ModTime(), SourceSize: file.Size(), Check: b.Check})
	return b, nil
}

// ModTime implements archive.
func (b *bundled) ModTime() time.Time { return b.file.ModTime() }

// Check implements archive.
func (b *bundled) Check() error { return changed(b.file.Check()) }

// Close implements archive. The files that saves have put in the place of the first one are closed
// once nobody can read them any more.
func (b *bundled) Close() error { return b.file.Close() }

func (b *bundled) mounts() ([]nodes.Mount, error) { return wholeRoot(b.shown()), nil }

// shown returns the tree that is shown.
func (b *bundled) shown() nodes.Tree {
	if b.draft != nil {
		return b.draft
	}
	return b.tree
}

// bundleDescription is the output of info for a file that holds others. Its fields are printed in
// this order, and scripts rely on their names.
type bundleDescription struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`

	SourceSize  int64     `json:"source_size"`
	SourceMtime time.Time `json:"source_mtime"`
}

// Describe implements archive.
func (b *bundled) Describe() (Description, error) {
	d := bundleDescription{SourceSize: b.file.Size(), SourceMtime: b.file.ModTime().UTC()}
	for e, err := range b.shown().ReadDir(context.Background(), nodes.Root, 0) {
		if err == nil {
			e, err = nodes.WithSize(context.Background(), b.shown(), e)
		}
		if err != nil {
			return nil, err
		}
		d.Files, d.Bytes = d.Files+1, d.Bytes+e.Size
	}
	return d, b.Check()
}

// Print implements [Description].
func (d bundleDescription) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	shown.Fprintf(t, "files\t%d\n", d.Files)
	shown.Fprintf(t, "bytes\t%d, in a file of %d\n", d.Bytes, d.SourceSize)
	return t.Flush()
}

// verifyBundle checks what the format can check, and then reads every file.
func verifyBundle(ctx context.Context, f *bundle.Format, path string, o opening, strict bool) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		file, err := openOriginal(ctx, path, o.Options)
		if err != nil {
			yield(Finding{}, Unreadable(path, err))
			return
		}
		defer file.Close()
		for found, err := range f.Verify(guarded{file}, file.Size(), strict) {
			if !yield(Finding{inflatedFinding{found.Off, true, found.Where, found.What}, found}, at(path, err)) || err != nil {
				return
			}
		}
		if files, err := f.Open(guarded{file}, file.Size()); err == nil { // else that was found
			err = readAll(ctx, files, o.Progress)
			if err == nil {
				err = changed(file.CheckNow())
			}
			if err != nil {
				yield(Finding{}, at(path, err))
			}
		}
	}
}

// readAll reads all files.
func readAll(ctx context.Context, files bundle.Files, progress func(done, total int64)) error {
	total, done := int64(0), int64(0)
	for i := range files.Len() {
		total += files.Size(i)
	}
	for i := range files.Len() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, io.NewSectionReader(readerOf{files, i}, 0, files.Size(i))); err != nil {
			return err
		}
		done += files.Size(i)
		progress(done, total)
	}
	return nil
}

// readerOf reads one of several files.
type readerOf struct {
	files bundle.Files
	i     int
}

func (r readerOf) ReadAt(p []byte, off int64) (int, error) { return r.files.ReadAt(r.i, p, off) }

func (b *bundled) edit(ctx context.Context, o EditOptions) ([]Session, []nodes.Mount, error) {
	file, ok := b.file.(*source.File)
	if !ok {
		return nil, nil, errorf("%s: %w", b.file.Path(), ErrNotLocal)
	}
	s, err := save.Open(save.Files, b.file.Path(), save.Options{
		NoBackup: o.NoBackup, Salvage: o.Salvage, Source: o.Source, Check: b.file.CheckNow, Logger: o.Logger,
	})
	if err != nil {
		return nil, nil, err
	}
	tree := bundle.NewEditable(b.tree, b.format, bundle.EditOptions{
		EditOptions: overlay.EditOptions{
			Sync: s.Sync, Check: func() error { return changed(b.file.CheckNow()) }, Logger: o.Logger,
		},
		Log:    func(record []byte) error { return s.Log("", record) },
		Count:  func(edits int64) { s.Count("", edits) },
		Reopen: b.reopen,
	})
	err = s.Replay(ctx, func(_ string, record []byte) error { return tree.Replay(ctx, record) })
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	session := &treeSession[bundle.Edit]{
		path: b.file.Path(), files: s, tree: tree, file: file, spare: sparing(b.blocks, 0), replayed: int(tree.Pending()),
		store: func(ctx context.Context, store func(c toSave) error) error {
			return tree.Save(ctx, func(c *bundle.Changed) error { return store(changedBundle{c}) })
		},
	}
	s.Count("", tree.Pending())
	s.Settle()
	return []Session{session}, wholeRoot(tree), nil
}

// reopen opens a file that a save wrote. It has a name for the moment only.
func (b *bundled) reopen(f *os.File) (bundle.Files, error) {
	from, err := source.Open(f.Name())
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(from.Info(), info) {
		err = source.ErrChanged
	}
	var files bundle.Files
	if err == nil {
		files, err = b.format.Open(guarded{from}, from.Size())
	}
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	return files, nil
}

// changedBundle is the whole source. As the only file it has no name.
type changedBundle struct{ *bundle.Changed }

func (c changedBundle) Of() (file string, size, edits int64) { return "", c.Size, c.Edits }

// unsaved implements archive.
func (b *bundled) unsaved(ctx context.Context, j *save.Journal, path string) (lister, error) {
	tree, err := b.draftOf(ctx, j, path)
	return &treeSession[bundle.Edit]{path: path, tree: tree}, err
}

// takeUnsaved implements archive.
func (b *bundled) takeUnsaved(ctx context.Context) error {
	j, err := unsavedOf(b.file.Path())
	if err == nil && j != nil {
		b.draft, err = b.draftOf(ctx, j, b.file.Path())
	}
	return err
}

// inPlace implements archive.
func (b *bundled) inPlace() error { return inPlace(b.file) }

// draftOf returns the tree with the edits of a journal.
func (b *bundled) draftOf(ctx context.Context, j *save.Journal, path string) (*bundle.Editable, error) {
	tree := bundle.NewEditable(b.tree, b.format, bundle.EditOptions{})
	return tree, j.Unsaved(path, func(_ string, record []byte) error {
		return tree.Replay(ctx, record)
	})
}
