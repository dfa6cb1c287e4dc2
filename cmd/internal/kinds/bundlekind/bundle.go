// Package bundlekind is the kind of source of files that hold other files, of each format that package bundle
// can be given. pack.go packs the files of a folder into one.
package bundlekind

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"iter"
	"os"
	"text/tabwriter"
	"time"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/save"
	"lorefs/internal/shown"
	"lorefs/internal/source"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
	"lorefs/nodes/bundle"
	"lorefs/nodes/overlay"
	"lorefs/nodes/resourcetree"
)

// Formats are the formats of files that hold other files. Each is a kind of source.
var Formats = []*bundle.Format{resourcetree.Format}

// Kind returns the kind of the files of a format.
func Kind(f *bundle.Format) *kinds.Kind {
	return &kinds.Kind{
		Name: f.Name, Noun: f.Noun, Editable: true, Strict: true,
		Pack: func(ctx context.Context, dir, to string, o kinds.FolderPacking) (kinds.Packed, error) {
			return packFolder(ctx, f, dir, to, o)
		},
		Recognize: func(path string, info iofs.FileInfo) (bool, error) { return isBundle(f, path, info) },
		OpenArchive: func(ctx context.Context, path string, o kinds.Opening) (kinds.Archive, error) {
			b, err := newBundled(ctx, f, path, o.Options)
			if err != nil {
				return nil, err
			}
			b.blocks = o.Blocks
			return b, nil
		},
		Findings: func(ctx context.Context, path string, o kinds.Opening, v kinds.VerifyOptions) iter.Seq2[kinds.Finding, error] {
			return verifyBundle(ctx, f, path, o, v.Strict)
		},
		Diff: diffBundles,
	}
}

// diffBundles yields the files that two bundles do not both have as they are.
func diffBundles(ctx context.Context, a, b kinds.Archive) iter.Seq2[kinds.Edit, error] {
	return kinds.EditsOf(bundle.Diff(ctx, a.(*bundled).shown(), b.(*bundled).shown()))
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
	kinds.Plain
	format *bundle.Format
	file   kinds.Original
	files  bundle.Files
	tree   *bundle.Tree
	// draft has the edits of takeUnsaved; nil if there are none.
	draft *bundle.Editable
	// blocks is the cache of the source, which holds nothing of a bundle. Its budget is memory
	// that a save can have.
	blocks *blockcache.Cache
}

func newBundled(ctx context.Context, f *bundle.Format, path string, o *kinds.Options) (*bundled, error) {
	file, err := kinds.OpenOriginal(ctx, path, o)
	if err != nil {
		return nil, kinds.Unreadable(path, err)
	}
	b := &bundled{format: f, file: file}
	if b.files, err = f.Open(kinds.Guarded{File: file}, file.Size()); err != nil {
		return nil, errors.Join(kinds.At(path, err), file.Close())
	}
	b.tree = bundle.New(b.files, bundle.Options{ModTime: file.ModTime(), SourceSize: file.Size(), Check: b.Check})
	return b, nil
}

// ModTime implements [kinds.Archive].
func (b *bundled) ModTime() time.Time { return b.file.ModTime() }

// Check implements [kinds.Archive].
func (b *bundled) Check() error { return kinds.Changed(b.file.Check()) }

// Close implements [kinds.Archive]. The files that saves have put in the place of the first one are closed
// once nobody can read them any more.
func (b *bundled) Close() error { return b.file.Close() }

func (b *bundled) Mounts() ([]nodes.Mount, error) { return kinds.WholeRoot(b.shown()), nil }

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

// Describe implements [kinds.Archive].
func (b *bundled) Describe() (kinds.Description, error) {
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

// Print implements [kinds.Description].
func (d bundleDescription) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	shown.Fprintf(t, "files\t%d\n", d.Files)
	shown.Fprintf(t, "bytes\t%d, in a file of %d\n", d.Bytes, d.SourceSize)
	return t.Flush()
}

// verifyBundle checks what the format can check, and then reads every file.
func verifyBundle(ctx context.Context, f *bundle.Format, path string, o kinds.Opening, strict bool) iter.Seq2[kinds.Finding, error] {
	return func(yield func(kinds.Finding, error) bool) {
		file, err := kinds.OpenOriginal(ctx, path, o.Options)
		if err != nil {
			yield(kinds.Finding{}, kinds.Unreadable(path, err))
			return
		}
		defer file.Close()
		for found, err := range f.Verify(kinds.Guarded{File: file}, file.Size(), strict) {
			if !yield(kinds.NewFinding(found.Off, true, found.Where, found.What, found), kinds.At(path, err)) || err != nil {
				return
			}
		}
		if files, err := f.Open(kinds.Guarded{File: file}, file.Size()); err == nil { // else that was found
			err = readAll(ctx, files, o.Progress)
			if err == nil {
				err = kinds.Changed(file.CheckNow())
			}
			if err != nil {
				yield(kinds.Finding{}, kinds.At(path, err))
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

func (b *bundled) BeginEdits(ctx context.Context, o kinds.EditOptions) ([]kinds.Session, []nodes.Mount, error) {
	file, ok := b.file.(*source.File)
	if !ok {
		return nil, nil, kinds.Errorf("%s: %w", b.file.Path(), kinds.ErrNotLocal)
	}
	s, err := save.Open(save.Files, b.file.Path(), save.Options{
		NoBackup: o.NoBackup, Salvage: o.Salvage, Source: o.Source, Check: b.file.CheckNow, Logger: o.Logger,
	})
	if err != nil {
		return nil, nil, err
	}
	tree := bundle.NewEditable(b.tree, b.format, bundle.EditOptions{
		EditOptions: overlay.EditOptions{
			Sync: s.Sync, Check: func() error { return kinds.Changed(b.file.CheckNow()) }, Logger: o.Logger,
		},
		Log:    func(record []byte) error { return s.Log("", record) },
		Count:  func(edits int64) { s.Count("", edits) },
		Reopen: b.reopen,
	})
	err = s.Replay(ctx, func(_ string, record []byte) error { return tree.Replay(ctx, record) })
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	session := &kinds.TreeSession[bundle.Edit]{
		Where: b.file.Path(), Files: s, Tree: tree, Single: file, Spare: kinds.Sparing(b.blocks, 0), Again: int(tree.Pending()),
		Store: func(ctx context.Context, store func(c kinds.ToSave) error) error {
			return tree.Save(ctx, func(c *bundle.Changed) error { return store(changedBundle{c}) })
		},
	}
	s.Count("", tree.Pending())
	s.Settle()
	return []kinds.Session{session}, kinds.WholeRoot(tree), nil
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
		files, err = b.format.Open(kinds.Guarded{File: from}, from.Size())
	}
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	return files, nil
}

// changedBundle is the whole source. As the only file it has no name.
type changedBundle struct{ *bundle.Changed }

func (c changedBundle) Of() (file string, size, edits int64) { return "", c.Size, c.Edits }

// Unsaved implements [kinds.Archive].
func (b *bundled) Unsaved(ctx context.Context, j *save.Journal, path string) (kinds.Lister, error) {
	tree, err := b.draftOf(ctx, j, path)
	return &kinds.TreeSession[bundle.Edit]{Where: path, Tree: tree}, err
}

// ShowUnsaved implements [kinds.Archive].
func (b *bundled) ShowUnsaved(ctx context.Context) error {
	j, err := kinds.UnsavedOf(b.file.Path())
	if err == nil && j != nil {
		b.draft, err = b.draftOf(ctx, j, b.file.Path())
	}
	return err
}

// InPlace implements [kinds.Archive].
func (b *bundled) InPlace() error { return kinds.InPlace(b.file) }

// draftOf returns the tree with the edits of a journal.
func (b *bundled) draftOf(ctx context.Context, j *save.Journal, path string) (*bundle.Editable, error) {
	tree := bundle.NewEditable(b.tree, b.format, bundle.EditOptions{})
	return tree, j.Unsaved(path, func(_ string, record []byte) error {
		return tree.Replay(ctx, record)
	})
}

// Servers returns the servers that it is read from.
func (b *bundled) Servers() []*kinds.Server { return kinds.ServersIn(b.file) }

// Fetched returns what was fetched, see [kinds.Source.Remote].
func (b *bundled) Fetched() *kinds.RemoteStatus { return kinds.FetchedFor(b.file) }
