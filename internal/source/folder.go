package source

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// checkShare is how long Check of a folder rests after checking all files, in multiples of
// the time it took: so it costs one part in a hundred at most.
const checkShare = 100

// Folder is a folder with small files, as an [io/fs.FS]. It guards the files that were
// opened: each has to stay as it was. Other files may come, go and change. Its methods are
// safe for parallel use.
type Folder struct {
	path  string
	files iofs.FS

	mu sync.Mutex
	// seen describes each file when it was first opened; guarded by mu.
	seen map[string]os.FileInfo

	// changed is set for good once a file has been found changed.
	changed atomic.Pointer[changedError]
	// next is when Check looks again, in nanoseconds since began.
	next  atomic.Int64
	began time.Time
}

// OpenFolder opens a folder for reading.
func OpenFolder(path string) (*Folder, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory", path)
	}
	return &Folder{path: abs, files: os.DirFS(abs), seen: make(map[string]os.FileInfo), began: time.Now()}, nil
}

// Path returns the absolute path of the folder.
func (d *Folder) Path() string { return d.path }

// Open opens a file or a directory below the folder, and nothing else, because opening a
// pipe would wait for a writer. If the file has changed since it was opened before, the
// error matches [ErrChanged].
func (d *Folder) Open(name string) (iofs.File, error) {
	info, err := d.Stat(name)
	if err == nil && !info.IsDir() {
		err = regular(name, info)
	}
	if err != nil {
		return nil, err
	}
	if err := d.remember(name, info); err != nil {
		return nil, err
	}
	return d.open(name)
}

// open opens what was no pipe or device a moment ago: without O_NONBLOCK, a pipe that took
// its place would block.
func (d *Folder) open(name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(d.path, filepath.FromSlash(name)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if pe, ok := errors.AsType[*iofs.PathError](err); ok {
		pe.Path = name
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		err = regular(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Stat describes what a name leads to, without opening it. If that was opened before and
// has changed, the error matches [ErrChanged].
func (d *Folder) Stat(name string) (iofs.FileInfo, error) {
	info, err := iofs.Stat(d.files, name)
	if err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return nil, err
	}
	d.mu.Lock()
	was, known := d.seen[name]
	d.mu.Unlock()
	if known {
		if changed := d.compare(name, was, info); changed != nil {
			return nil, changed
		}
	}
	return info, err
}

// remember remembers a file that is about to be read.
func (d *Folder) remember(name string, info os.FileInfo) error {
	d.mu.Lock()
	was, known := d.seen[name]
	if !known && !info.IsDir() {
		d.seen[name] = info
	}
	d.mu.Unlock()
	if !known {
		return nil
	}
	return d.compare(name, was, info)
}

// compare marks the folder as changed if a file has changed.
func (d *Folder) compare(name string, was, info os.FileInfo) error {
	how := "it is gone"
	if info != nil {
		how = difference(was, info)
	}
	if how == "" {
		return nil
	}
	d.changed.CompareAndSwap(nil, &changedError{path: filepath.Join(d.path, filepath.FromSlash(name)), how: how})
	return d.changed.Load()
}

// Check returns nil if all files that were opened are unchanged, or an error that matches
// [ErrChanged]. It is cheap enough for every request. It notices a change within a quarter
// of a second, or later if there are thousands of files.
func (d *Folder) Check() error {
	if e := d.changed.Load(); e != nil {
		return e
	}
	next, start := d.next.Load(), time.Since(d.began)
	if int64(start) < next || !d.next.CompareAndSwap(next, int64(start+checkEvery)) {
		return nil
	}
	err := d.CheckNow()
	end := time.Since(d.began)
	d.next.Store(int64(end + max(checkEvery, checkShare*(end-start))))
	return err
}

// CheckNow is Check, but always looks.
func (d *Folder) CheckNow() error {
	d.mu.Lock()
	seen := maps.Clone(d.seen)
	d.mu.Unlock()
	for name, was := range seen {
		info, err := iofs.Stat(d.files, name)
		if err != nil && !errors.Is(err, iofs.ErrNotExist) {
			continue // unknown now; each read checks the file itself
		}
		if err := d.compare(name, was, info); err != nil {
			return err
		}
	}
	if e := d.changed.Load(); e != nil {
		return e
	}
	return nil
}
