package casc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"slices"
	"time"

	"lorefs/casc/root"
	"lorefs/internal/readat"
)

// FS returns the files of the root as an [iofs.FS], by the names that they have there. ctx bounds
// all that is read through it. Files without a name are left out, and so are those whose name is
// no path ([iofs.ValidPath]) or that of a directory. If several have a name, Lookup chooses one.
//
// It reads the root, and holds a list of all directories. If the root is damaged, the error comes
// with the files before the damage. Files can be read at any place ([io.ReaderAt], [io.Seeker]).
func (s *Storage) FS(ctx context.Context) (iofs.FS, error) {
	files, err := s.Files(ctx)
	if files == nil && err != nil {
		return nil, err
	}
	f := &storageFS{s: s, ctx: ctx, files: files}
	var timeErr error
	if f.modTime, timeErr = s.ModTime(); timeErr != nil {
		return nil, timeErr
	}
	f.list()
	return f, err
}

// storageFS is the FS of a storage.
type storageFS struct {
	s       *Storage
	ctx     context.Context //nolint:containedctx // fs.FS takes no context
	modTime time.Time
	// files are those of the root, or those before its damage.
	files []root.File
	// dirs has the entries of each directory, sorted by name.
	dirs map[string][]child
}

// child is a name in a directory.
type child struct {
	name  string
	isDir bool
}

// list makes the directories of files.
func (f *storageFS) list() {
	files := f.files
	f.dirs = map[string][]child{".": nil}
	for i := range files {
		if iofs.ValidPath(files[i].Name) {
			f.makeDir(path.Dir(files[i].Name))
		}
	}
	for i := range files {
		name := files[i].Name
		if _, isDir := f.dirs[name]; !isDir && iofs.ValidPath(name) {
			dir := path.Dir(name)
			f.dirs[dir] = append(f.dirs[dir], child{path.Base(name), false})
		}
	}
	for dir, list := range f.dirs {
		slices.SortFunc(list, func(a, b child) int { return cmp.Compare(a.name, b.name) })
		f.dirs[dir] = slices.Compact(list)
	}
}

// makeDir makes a directory, and those above it.
func (f *storageFS) makeDir(dir string) {
	if _, known := f.dirs[dir]; known {
		return
	}
	f.dirs[dir] = nil
	up := path.Dir(dir)
	f.makeDir(up)
	f.dirs[up] = append(f.dirs[up], child{path.Base(dir), true})
}

// find returns the entry at a path.
func (f *storageFS) find(op, name string) (child, error) {
	if !iofs.ValidPath(name) {
		return child{}, &iofs.PathError{Op: op, Path: name, Err: iofs.ErrInvalid}
	}
	if _, isDir := f.dirs[name]; isDir {
		return child{path.Base(name), true}, nil
	}
	list := f.dirs[path.Dir(name)]
	i, found := slices.BinarySearchFunc(list, path.Base(name), func(c child, base string) int { return cmp.Compare(c.name, base) })
	if !found {
		return child{}, &iofs.PathError{Op: op, Path: name, Err: iofs.ErrNotExist}
	}
	return list[i], nil
}

// Open implements [iofs.FS].
func (f *storageFS) Open(name string) (iofs.File, error) {
	c, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	if c.isDir {
		return &fsDir{fs: f, name: name}, nil
	}
	file, err := f.s.lookupIn(f.files, name)
	var content *Content
	if err == nil {
		content, err = f.s.Open(f.ctx, &file)
	}
	if err != nil {
		return nil, &iofs.PathError{Op: "open", Path: name, Err: err}
	}
	r := io.NewSectionReader(readat.Bound(f.ctx, content), 0, content.Size())
	return &fsFile{SectionReader: r, info: fileInfo{c, content.Size(), f.modTime}}, nil
}

// Stat implements [iofs.StatFS].
func (f *storageFS) Stat(name string) (iofs.FileInfo, error) {
	c, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return f.info(name, c)
}

// ReadDir implements [iofs.ReadDirFS].
func (f *storageFS) ReadDir(name string) ([]iofs.DirEntry, error) {
	c, err := f.find("readdir", name)
	if err == nil && !c.isDir {
		err = &iofs.PathError{Op: "readdir", Path: name, Err: errors.New("not a directory")}
	}
	if err != nil {
		return nil, err
	}
	return f.entries(name, f.dirs[name]), nil
}

func (f *storageFS) entries(dir string, list []child) []iofs.DirEntry {
	entries := make([]iofs.DirEntry, len(list))
	for i, c := range list {
		entries[i] = dirEntry{f, path.Join(dir, c.name), c}
	}
	return entries
}

// info describes an entry. The size of a file may have to be looked for.
func (f *storageFS) info(name string, c child) (iofs.FileInfo, error) {
	if c.isDir {
		return fileInfo{c, 0, f.modTime}, nil
	}
	file, err := f.s.lookupIn(f.files, name)
	var info Info
	if err == nil {
		info, err = f.s.Stat(f.ctx, &file)
	}
	if err == nil && info.Size < 0 {
		err = errors.New("nothing states its size")
	}
	if err != nil {
		return nil, &iofs.PathError{Op: "stat", Path: name, Err: err}
	}
	return fileInfo{c, info.Size, f.modTime}, nil
}

// fileInfo implements [iofs.FileInfo].
type fileInfo struct {
	child
	size    int64
	modTime time.Time
}

func (i fileInfo) Name() string        { return i.name }
func (i fileInfo) Size() int64         { return i.size }
func (i fileInfo) Mode() iofs.FileMode { return i.mode() }
func (i fileInfo) ModTime() time.Time  { return i.modTime }
func (i fileInfo) IsDir() bool         { return i.isDir }
func (i fileInfo) Sys() any            { return nil }
func (i fileInfo) String() string      { return iofs.FormatFileInfo(i) }

func (c child) mode() iofs.FileMode {
	if c.isDir {
		return iofs.ModeDir | 0o555
	}
	return 0o444
}

// dirEntry implements [iofs.DirEntry].
type dirEntry struct {
	fs   *storageFS
	path string
	child
}

func (e dirEntry) Name() string                 { return e.name }
func (e dirEntry) IsDir() bool                  { return e.isDir }
func (e dirEntry) Type() iofs.FileMode          { return e.mode().Type() }
func (e dirEntry) Info() (iofs.FileInfo, error) { return e.fs.info(e.path, e.child) }
func (e dirEntry) String() string               { return iofs.FormatDirEntry(e) }

// fsFile implements [iofs.File].
type fsFile struct {
	*io.SectionReader
	info fileInfo
}

func (f *fsFile) Stat() (iofs.FileInfo, error) { return f.info, nil }
func (f *fsFile) Close() error                 { return nil }

// fsDir implements [iofs.ReadDirFile].
type fsDir struct {
	fs   *storageFS
	name string
	// read is how many entries were read.
	read int
}

func (d *fsDir) Stat() (iofs.FileInfo, error) { return d.fs.Stat(d.name) }
func (d *fsDir) Close() error                 { return nil }

func (d *fsDir) Read([]byte) (int, error) {
	return 0, &iofs.PathError{Op: "read", Path: d.name, Err: fmt.Errorf("%w: it is a directory", iofs.ErrInvalid)}
}

// ReadDir implements [iofs.ReadDirFile].
func (d *fsDir) ReadDir(n int) ([]iofs.DirEntry, error) {
	rest := d.fs.dirs[d.name][d.read:]
	switch {
	case n > 0 && len(rest) == 0:
		return nil, io.EOF
	case n > 0:
		rest = rest[:min(n, len(rest))]
	}
	d.read += len(rest)
	return d.fs.entries(d.name, rest), nil
}
