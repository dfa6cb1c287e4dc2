package bundlekind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"lorefs/cmd/internal/kinds"
	"lorefs/cmd/internal/output"
	"lorefs/datacenter/partof"
	"lorefs/internal/source"
	"lorefs/nodes/bundle"
	"lorefs/nodes/overlay"
)

// folderFile is a file to pack: of a folder, or lent by another source.
type folderFile struct {
	name, path string
	size       int64
	info       iofs.FileInfo
	lent       io.ReaderAt
}

// packFolder packs the files of a folder, sorted by their names, and checks what was written.
func packFolder(ctx context.Context, f *bundle.Format, dir, to string, o kinds.FolderPacking) (kinds.Packed, error) {
	list, p, err := folderFiles(f, dir)
	if err != nil {
		return p, err
	}
	if o.Like != "" && !o.All {
		like, err := openBundle(f, o.Like)
		if err != nil {
			return p, err
		}
		defer like.Close()
		lent := like.lacking(list)
		list, p.Lent, p.Files = append(list, lent...), len(lent), len(list)+len(lent)
		slices.SortFunc(list, func(a, b folderFile) int { return cmp.Compare(a.name, b.name) })
	} else if err := mayReplace(f, dir, to, list, o); err != nil {
		return p, err
	}
	if out, err := os.Stat(to); err == nil {
		for _, in := range list {
			if in.info != nil && os.SameFile(in.info, out) {
				return p, fmt.Errorf("%s is one of the files to be packed: want another OUT", to)
			}
		}
	}
	err = output.Write(ctx, to, o.Options, func(w io.Writer) error {
		return f.Write(w, inputs(ctx, list, o.Progress))
	}, func(file *os.File) error {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		files, err := f.Open(file, info.Size())
		if err != nil {
			return fmt.Errorf("reading back what was written: %w", err)
		}
		return bundle.Compare(ctx, files, len(list), inputs(ctx, list, o.Progress))
	})
	return p, err
}

// openedBundle is a file that holds others, opened only to see and lend them.
type openedBundle struct {
	bundle.Files
	file *source.File
}

func openBundle(f *bundle.Format, path string) (*openedBundle, error) {
	file, err := source.Open(path)
	if err != nil {
		return nil, kinds.Unreadable(path, err)
	}
	files, err := f.Open(file, file.Size())
	if err != nil {
		return nil, errors.Join(kinds.At(path, err), file.Close())
	}
	return &openedBundle{files, file}, nil
}

func (b *openedBundle) Close() error { return b.file.Close() }

// lacking returns the files that a list lacks.
func (b *openedBundle) lacking(list []folderFile) (lent []folderFile) {
	has := map[string]bool{}
	for _, in := range list {
		has[in.name] = true
	}
	for i := range b.Len() {
		if name := b.Name(i); !has[name] {
			lent = append(lent, folderFile{name: name, size: b.Size(i), lent: readerOf{b.Files, i}})
		}
	}
	return lent
}

// mayReplace returns a [*kinds.LackingError] if what would be replaced has files that the folder lacks.
// Nothing tells that the folder is a part of it, but it may be.
func mayReplace(f *bundle.Format, dir, to string, list []folderFile, o kinds.FolderPacking) error {
	if o.All {
		return nil
	}
	old, err := openBundle(f, to)
	if err != nil {
		return nil //nolint:nilerr // it is nothing that anybody could lose, or writing tells
	}
	defer old.Close()
	lacking := old.lacking(list)
	if len(lacking) == 0 {
		return nil
	}
	e := &kinds.LackingError{Dir: dir, Source: to}
	for _, in := range lacking {
		e.Names = append(e.Names, in.name)
	}
	return e
}

// folderFiles returns the files of a folder that are to be packed.
func folderFiles(f *bundle.Format, dir string) (list []folderFile, p kinds.Packed, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, p, kinds.Unreadable(dir, err)
	}
	for _, e := range entries {
		in := folderFile{name: e.Name(), path: filepath.Join(dir, e.Name())}
		if in.name == partof.Record {
			continue
		}
		if overlay.IsScratch(in.name) {
			p.LeftOut = append(p.LeftOut, in.name)
			continue
		}
		if in.info, err = os.Stat(in.path); err != nil {
			return nil, p, kinds.Unreadable(in.path, err)
		}
		if !in.info.Mode().IsRegular() {
			return nil, p, fmt.Errorf("%s: want a file, since %s hold nothing else", in.path, f.Noun)
		}
		if err := f.CheckName(in.name); err != nil {
			return nil, p, fmt.Errorf("%s: %w", in.path, err)
		}
		in.size = in.info.Size()
		list = append(list, in)
	}
	p.Files = len(list)
	return list, p, nil
}

// inputs returns files to write. Each is opened when it is read.
func inputs(ctx context.Context, list []folderFile, progress func(done, total int64)) iter.Seq[bundle.Input] {
	return func(yield func(bundle.Input) bool) {
		r := folderReader{ctx: ctx, progress: progress}
		for _, in := range list {
			r.total += in.size
		}
		for _, in := range list {
			r.path, r.lent = in.path, nil
			if in.lent != nil {
				r.lent = io.NewSectionReader(in.lent, 0, in.size)
			}
			more := yield(bundle.Input{Name: in.name, Size: in.size, Content: &r})
			r.close()
			if !more {
				return
			}
		}
	}
}

// folderReader reads one file after the other.
type folderReader struct {
	ctx         context.Context //nolint:containedctx // io.Reader takes no context
	path        string
	open        *os.File
	lent        io.Reader // in place of path, or nil
	done, total int64
	progress    func(done, total int64)
}

func (r *folderReader) Read(p []byte) (int, error) {
	err := r.ctx.Err()
	if err == nil && r.open == nil && r.lent == nil {
		r.open, err = os.Open(r.path)
	}
	if err != nil {
		return 0, err
	}
	var n int
	if r.lent != nil {
		n, err = r.lent.Read(p)
	} else {
		n, err = r.open.Read(p)
	}
	r.done += int64(n)
	r.progress(r.done, r.total)
	return n, err
}

// close makes the next Read open the next file.
func (r *folderReader) close() {
	if r.open != nil {
		r.open.Close() // It was only read.
		r.open = nil
	}
}
