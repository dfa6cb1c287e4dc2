package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Folder is a tree of objects as an [iofs.FS], as it was when it was opened. Its files can be
// read anywhere. It is safe for parallel use.
type Folder struct {
	store *Store
	pins  map[string]pin
	dirs  map[string][]iofs.DirEntry

	mu    sync.Mutex // guards files
	files map[string]*File
}

// OpenFolder lists what lies below the source.
func (s *Store) OpenFolder(ctx context.Context) (*Folder, error) {
	all, err := s.all(ctx)
	if err != nil {
		return nil, err
	}
	d := &Folder{store: s, pins: map[string]pin{}, dirs: map[string][]iofs.DirEntry{".": nil}, files: map[string]*File{}}
	for _, l := range all {
		if _, twice := d.pins[l.path]; !twice {
			d.pins[l.path] = l.pin
		}
	}
	for name, p := range d.pins { // all of which add has to know
		d.add(name, iofs.FileInfoToDirEntry(info{name: path.Base(name), pin: p}))
		if len(d.dirs) > maxListed {
			return nil, named(s.shown(""), errManyFolders)
		}
	}
	for _, entries := range d.dirs {
		slices.SortFunc(entries, func(a, b iofs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	}
	return d, nil
}

var errManyFolders = fmt.Errorf("more than %d folders are too many", maxListed)

// add adds an entry to its folder, and that to the one above. A store may have both an object
// a and an object a/b: then a is the file.
func (d *Folder) add(name string, e iofs.DirEntry) {
	dir := path.Dir(name)
	_, known := d.dirs[dir]
	d.dirs[dir] = append(d.dirs[dir], e)
	if _, isFile := d.pins[dir]; !known && !isFile {
		d.add(dir, iofs.FileInfoToDirEntry(info{name: path.Base(dir), dir: true}))
	}
}

// Path returns the name of the folder for messages.
func (d *Folder) Path() string { return d.store.shown("") }

// ModTime returns the time of the newest file.
func (d *Folder) ModTime() (newest time.Time) {
	for _, p := range d.pins {
		if p.modified.After(newest) {
			newest = p.modified
		}
	}
	return newest
}

// Settled reports whether the times of all files can stand for their content.
func (d *Folder) Settled() bool {
	for _, p := range d.pins {
		if !p.settled() {
			return false
		}
	}
	return true
}

// Check returns an error that matches [source.ErrChanged] if a file was found changed when it
// was read.
func (d *Folder) Check() error {
	if e := d.store.changed.Load(); e != nil {
		return e
	}
	return nil
}

// Stat implements [iofs.StatFS].
func (d *Folder) Stat(name string) (iofs.FileInfo, error) {
	if p, ok := d.pins[name]; ok {
		return info{name: path.Base(name), pin: p}, nil
	}
	if _, ok := d.dirs[name]; ok {
		return info{name: path.Base(name), dir: true}, nil
	}
	return nil, &iofs.PathError{Op: "stat", Path: name, Err: iofs.ErrNotExist}
}

// ReadDir implements [iofs.ReadDirFS].
func (d *Folder) ReadDir(name string) ([]iofs.DirEntry, error) {
	entries, ok := d.dirs[name]
	if _, isFile := d.pins[name]; !ok || isFile {
		return nil, &iofs.PathError{Op: "readdir", Path: name, Err: iofs.ErrNotExist}
	}
	return slices.Clone(entries), nil
}

// Open implements [iofs.FS]. Files implement [io.ReaderAt].
func (d *Folder) Open(name string) (iofs.File, error) {
	about, err := d.Stat(name)
	if err != nil {
		return nil, err
	}
	if about.IsDir() {
		return &openDir{openInfo: openInfo{about}, entries: d.dirs[name]}, nil
	}
	f := d.file(name)
	return &openFile{openInfo{about}, f, io.NewSectionReader(f, 0, f.Size())}, nil
}

// file returns the file at a path. There is one for all who read it.
func (d *Folder) file(name string) *File {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, ok := d.files[name]
	if !ok {
		f = d.store.newFile(name, d.pins[name])
		d.files[name] = f
	}
	return f
}

// Fetch has the cache get files, several at a time, so that reading them one by one waits for none.
// Without a cache it does nothing. It ends when a file can't be had: reading that tells why.
func (d *Folder) Fetch(names []string) {
	if d.store.cache == nil {
		return
	}
	var next atomic.Int64
	var failed atomic.Bool
	var fetching sync.WaitGroup
	for range min(maxAsked, len(names)) {
		fetching.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names) && !failed.Load(); i = int(next.Add(1)) - 1 {
				if p, ok := d.pins[names[i]]; !ok || p.size == 0 {
					continue
				}
				if _, err := d.file(names[i]).ReadAt(make([]byte, 1), 0); err != nil {
					failed.Store(true)
				}
			}
		})
	}
	fetching.Wait()
}

// Close closes the store.
func (d *Folder) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, f := range d.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(append(errs, d.store.Close())...)
}

// info describes a file or a folder.
type info struct {
	name string
	dir  bool
	pin
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return i.modified }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return nil }

func (i info) Mode() iofs.FileMode {
	if i.dir {
		return iofs.ModeDir | 0o555
	}
	return 0o444
}

// openInfo serves open files and folders alike.
type openInfo struct{ about iofs.FileInfo }

func (o openInfo) Stat() (iofs.FileInfo, error) { return o.about, nil }
func (openInfo) Close() error                   { return nil }

// openFile is a file that is read from its beginning, or anywhere.
type openFile struct {
	openInfo
	*File
	*io.SectionReader
}

func (o *openFile) Close() error                            { return nil } // the file is for others as well
func (o *openFile) ReadAt(p []byte, off int64) (int, error) { return o.File.ReadAt(p, off) }

// openDir is a folder that is listed in parts.
type openDir struct {
	openInfo
	entries []iofs.DirEntry
}

func (o *openDir) Read([]byte) (int, error) {
	return 0, &iofs.PathError{Op: "read", Path: o.about.Name(), Err: syscall.EISDIR}
}

// ReadDir implements [iofs.ReadDirFile].
func (o *openDir) ReadDir(n int) ([]iofs.DirEntry, error) {
	if n <= 0 {
		n = len(o.entries)
	} else if len(o.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(o.entries))
	some := slices.Clone(o.entries[:n])
	o.entries = o.entries[n:]
	return some, nil
}
