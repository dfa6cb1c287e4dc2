package kinds

import (
	"context"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"os"
	"path/filepath"

	"lorefs/internal/app/output"
	"lorefs/nodes/bundle"
	"lorefs/nodes/overlay"
)

// FolderPacking are the options of [Kind.Pack].
type FolderPacking struct {
	output.Options
	// Progress is called with the number of bytes that were written.
	Progress func(done, total int64)
}

// Packed says what was packed.
type Packed struct {
	// Files is the number of files. LeftOut are the names of those that were left out, since
	// editors make files with such names for themselves.
	Files   int
	LeftOut []string
}

// folderFile is a file of a folder to pack.
type folderFile struct {
	name, path string
	info       iofs.FileInfo
}

// packFolder packs the files of a folder, sorted by their names, and checks what was written.
func packFolder(ctx context.Context, f *bundle.Format, dir, to string, o FolderPacking) (Packed, error) {
	list, p, err := folderFiles(f, dir)
	if err != nil {
		return p, err
	}
	if out, err := os.Stat(to); err == nil {
		for _, in := range list {
			if os.SameFile(in.info, out) {
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

// folderFiles returns the files of a folder that are to be packed.
func folderFiles(f *bundle.Format, dir string) (list []folderFile, p Packed, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, p, Unreadable(dir, err)
	}
	for _, e := range entries {
		in := folderFile{name: e.Name(), path: filepath.Join(dir, e.Name())}
		if overlay.IsScratch(in.name) {
			p.LeftOut = append(p.LeftOut, in.name)
			continue
		}
		if in.info, err = os.Stat(in.path); err != nil {
			return nil, p, Unreadable(in.path, err)
		}
		if !in.info.Mode().IsRegular() {
			return nil, p, fmt.Errorf("%s: want a file, since %s hold nothing else", in.path, f.Noun)
		}
		if err := f.CheckName(in.name); err != nil {
			return nil, p, fmt.Errorf("%s: %w", in.path, err)
		}
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
			r.total += in.info.Size()
		}
		for _, in := range list {
			r.path = in.path
			more := yield(bundle.Input{Name: in.name, Size: in.info.Size(), Content: &r})
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
	done, total int64
	progress    func(done, total int64)
}

func (r *folderReader) Read(p []byte) (int, error) {
	err := r.ctx.Err()
	if err == nil && r.open == nil {
		r.open, err = os.Open(r.path)
	}
	if err != nil {
		return 0, err
	}
	n, err := r.open.Read(p)
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
