package nodetest

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"lorefs/nodes"
)

// These are the permissions of all files and directories.
const (
	dirPerm  = 0o555
	filePerm = 0o444
	linkPerm = 0o777
)

// maxLinks is the largest number of links that are followed to one file.
const maxLinks = 40

// FS shows a tree as an [iofs.FS]. Its files implement [io.ReaderAt] and [io.Seeker] too.
// Names that are not UTF-8 are listed but can't be opened, as io/fs requires. Links are
// followed if they lead to something in the tree.
func FS(tree nodes.Tree) iofs.FS { return treeFS{tree} }

type treeFS struct{ tree nodes.Tree }

var (
	_ iofs.ReadDirFS  = treeFS{}
	_ iofs.ReadFileFS = treeFS{}
	_ iofs.ReadLinkFS = treeFS{}
	_ iofs.StatFS     = treeFS{}
)

// find resolves a path and follows all links.
func (f treeFS) find(op, name string) (fileInfo, error) {
	at := name
	for range maxLinks {
		info, err := f.findLink(op, at)
		if err != nil || info.attr.Kind != nodes.Link {
			info.name = path.Base(name)
			return info, err
		}
		target, err := nodes.Readlink(context.Background(), f.tree, info.id)
		if err != nil {
			return fileInfo{}, &iofs.PathError{Op: op, Path: name, Err: err}
		}
		at = path.Join(path.Dir(at), target)
	}
	return fileInfo{}, &iofs.PathError{Op: op, Path: name, Err: errors.New("too many links")}
}

// findLink resolves a path and follows all links but the last name.
func (f treeFS) findLink(op, name string) (fileInfo, error) {
	if !iofs.ValidPath(name) {
		return fileInfo{}, &iofs.PathError{Op: op, Path: name, Err: iofs.ErrInvalid}
	}
	ctx := context.Background()
	id := nodes.Root
	if name != "." {
		for part := range strings.SplitSeq(name, "/") {
			e, err := f.tree.Lookup(ctx, id, part)
			if err != nil {
				return fileInfo{}, &iofs.PathError{Op: op, Path: name, Err: err}
			}
			id = e.ID
		}
	}
	attr, err := f.tree.Attr(ctx, id)
	if err != nil {
		return fileInfo{}, &iofs.PathError{Op: op, Path: name, Err: err}
	}
	return fileInfo{name: path.Base(name), id: id, attr: attr}, nil
}

func (f treeFS) Lstat(name string) (iofs.FileInfo, error) {
	info, err := f.findLink("lstat", name)
	if err != nil {
		return nil, err
	}
	return info, nil
}

func (f treeFS) ReadLink(name string) (string, error) {
	info, err := f.findLink("readlink", name)
	if err != nil {
		return "", err
	}
	target, err := nodes.Readlink(context.Background(), f.tree, info.id)
	if err != nil {
		return "", &iofs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return target, nil
}

func (f treeFS) Open(name string) (iofs.File, error) {
	info, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &openDir{tree: f.tree, info: info, path: name}, nil
	}
	return &openFile{
		SectionReader: io.NewSectionReader(nodeReader{f.tree, info}, 0, info.attr.Size),
		info:          info,
	}, nil
}

func (f treeFS) Stat(name string) (iofs.FileInfo, error) {
	info, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return info, nil
}

func (f treeFS) ReadDir(name string) ([]iofs.DirEntry, error) {
	info, err := f.find("readdir", name)
	if err != nil {
		return nil, err
	}
	d := openDir{tree: f.tree, info: info, path: name}
	entries, err := d.ReadDir(-1)
	// io/fs requires FS.ReadDir to sort, unlike File.ReadDir.
	slices.SortFunc(entries, func(a, b iofs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

func (f treeFS) ReadFile(name string) ([]byte, error) {
	info, err := f.find("read", name)
	if err != nil {
		return nil, err
	}
	p := make([]byte, info.attr.Size)
	if n, err := (nodeReader{f.tree, info}).ReadAt(p, 0); err != nil && !isEnd(err) {
		return p[:n], &iofs.PathError{Op: "read", Path: name, Err: err}
	}
	return p, nil
}

// nodeReader reads one file's content as an [io.ReaderAt].
type nodeReader struct {
	tree nodes.Tree
	info fileInfo
}

// ReadAt returns an error for an early end, so that a tree which reads less than the size it
// promised is not taken for one with a short file.
func (r nodeReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.tree.ReadAt(context.Background(), r.info.id, p, off)
	if n < len(p) && (err == nil || isEnd(err)) && off+int64(n) < r.info.attr.Size {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func isEnd(err error) bool {
	return err == io.EOF //nolint:errorlint // a wrapped io.EOF comes from the source, and isn't the end of the file
}

// openFile gets Read, ReadAt and Seek from the section reader.
type openFile struct {
	*io.SectionReader
	info fileInfo
}

func (f *openFile) Stat() (iofs.FileInfo, error) { return f.info, nil }
func (f *openFile) Close() error                 { return nil }

// openDir is an open directory. Like an [os.File] it remembers how far it was listed, and
// is not safe for parallel use.
type openDir struct {
	tree   nodes.Tree
	info   fileInfo
	path   string
	cursor uint64
}

func (d *openDir) Stat() (iofs.FileInfo, error) { return d.info, nil }
func (d *openDir) Close() error                 { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &iofs.PathError{Op: "read", Path: d.path, Err: nodes.ErrIsDir}
}

func (d *openDir) ReadDir(n int) ([]iofs.DirEntry, error) {
	var entries []iofs.DirEntry
	for e, err := range d.tree.ReadDir(context.Background(), d.info.id, d.cursor) {
		if err != nil {
			return entries, &iofs.PathError{Op: "readdir", Path: d.path, Err: err}
		}
		entries = append(entries, dirEntry{d.tree, e})
		d.cursor = e.Next
		if len(entries) == n {
			return entries, nil
		}
	}
	if n > 0 && len(entries) == 0 {
		return nil, io.EOF
	}
	return entries, nil
}

type dirEntry struct {
	tree nodes.Tree
	e    nodes.Entry
}

func (d dirEntry) Name() string { return d.e.Name }
func (d dirEntry) IsDir() bool  { return d.e.Kind == nodes.Dir }

func (d dirEntry) Type() iofs.FileMode {
	switch d.e.Kind {
	case nodes.Dir:
		return iofs.ModeDir
	case nodes.Link:
		return iofs.ModeSymlink
	}
	return 0
}

func (d dirEntry) Info() (iofs.FileInfo, error) {
	attr, err := d.tree.Attr(context.Background(), d.e.ID)
	if err != nil {
		return nil, &iofs.PathError{Op: "stat", Path: d.e.Name, Err: err}
	}
	return fileInfo{name: d.e.Name, id: d.e.ID, attr: attr}, nil
}

func (d dirEntry) String() string { return iofs.FormatDirEntry(d) }

type fileInfo struct {
	name string
	id   nodes.ID
	attr nodes.Attr
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.attr.Size }
func (i fileInfo) ModTime() time.Time { return i.attr.ModTime }
func (i fileInfo) IsDir() bool        { return i.attr.Kind == nodes.Dir }

// Sys returns the node's [nodes.ID].
func (i fileInfo) Sys() any { return i.id }

func (i fileInfo) Mode() iofs.FileMode {
	switch i.attr.Kind {
	case nodes.Dir:
		return iofs.ModeDir | dirPerm
	case nodes.Link:
		return iofs.ModeSymlink | linkPerm
	}
	return filePerm
}

func (i fileInfo) String() string { return iofs.FormatFileInfo(i) }
