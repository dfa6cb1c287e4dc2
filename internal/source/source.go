// Package source opens the file that a mount or a command reads, and guards it: no bytes
// are returned from a file that has changed since it was opened. A file counts as changed
// once its path leads elsewhere, or its size or its modification time differ. It stays
// changed from then on, even if somebody restores everything.
//
// The time of the last status change does not count: it moves when somebody links or
// renames the file, which does no harm.
//
// A file that a program appends to may grow, if its reader allows that: see AllowGrowth.
//
// A caller that replaces the file deliberately calls Adopt, and goes on reading the old
// one. A caller that wants one state of a file which others replace calls Pin. A caller can also rescue what was made from a file whose path was taken: reading
// checks only the open file, while Check checks both.
package source

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"lorefs/internal/shareopen"
	"lorefs/internal/shown"
)

// ErrChanged means that the file has changed since it was opened.
var ErrChanged = errors.New("the file changed since it was opened")

// checkEvery is how often Check asks the system at most. It is called for every request of
// a mount, and 4 times a second is soon enough for people.
const checkEvery = 250 * time.Millisecond

// File is an open source. Its methods are safe for parallel use.
type File struct {
	path string
	file *os.File
	// was describes the file when it was opened, or when Grown looked last, and now what its
	// path leads to: the same, unless Adopt changed it.
	was, now atomic.Pointer[os.FileInfo]
	// pinned is set if only the open file counts, and not what its path leads to.
	pinned bool
	// grows is set if the file may grow. touched is the time of a write that Grown has seen
	// no bytes of.
	grows    bool
	followed atomic.Bool // Grown was called
	touched  time.Time
	// next is what the path may lead to as well, or nil. placing is held for reading while
	// the path is looked at, and for writing to set now or next: a look that began before
	// Expect must not see the new file.
	next    os.FileInfo
	placing sync.RWMutex
	// clock is [time.Now], except in tests.
	clock func() time.Time

	// changed is set for good once the file has been found changed. spoiled is set if that
	// was the open file itself, not only what its path leads to.
	changed, spoiled atomic.Pointer[changedError]
	// whenChanged is called with changed's error; it may be nil.
	whenChanged atomic.Pointer[func(error)]
	// checked is when Check last asked, in nanoseconds since began.
	checked atomic.Int64
	began   time.Time
}

// changedError says how a file changed.
type changedError struct{ path, how string }

func (e *changedError) Error() string        { return fmt.Sprintf("%s: %v: %s", e.path, ErrChanged, e.how) }
func (e *changedError) Is(target error) bool { return target == ErrChanged }

// Open opens a regular file for reading.
func Open(path string) (*File, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	// Look first, because opening a pipe or a device may have effects.
	info, err := os.Stat(abs)
	if err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	// Without O_NONBLOCK, a pipe that took the file's place would block.
	f, err := shareopen.Read(abs, syscall.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s := &File{path: abs, file: f, clock: time.Now, began: time.Now()}
	s.was.Store(&info)
	s.now.Store(&info)
	s.checked.Store(-int64(checkEvery))
	return s, nil
}

func regular(path string, info os.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s is %s: want a regular file", path, shown.Kind(info.Mode()))
}

// Path returns the absolute path of the file.
func (f *File) Path() string { return f.path }

// Info returns the file's description from when it was opened, or Grown looked last.
func (f *File) Info() os.FileInfo { return *f.was.Load() }

// Size returns the file's size in bytes.
func (f *File) Size() int64 { return f.Info().Size() }

// ModTime returns the file's modification time when it was opened, or Grown looked last.
func (f *File) ModTime() time.Time { return f.Info().ModTime() }

// Opened returns the open file, for its attributes. Reads from it are not guarded.
func (f *File) Opened() *os.File { return f.file }

// Close closes the file. Reads fail afterwards.
func (f *File) Close() error { return f.file.Close() }

// ReadAt implements [io.ReaderAt]. If the open file has changed afterwards it returns no
// bytes and an error that matches [ErrChanged]. It does not check the path; Check does.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if e := f.spoiled.Load(); e != nil {
		return 0, e
	}
	n, err := f.file.ReadAt(p, off)
	if intactErr := f.Intact(); intactErr != nil {
		return 0, errors.Join(intactErr, err)
	}
	return n, err
}

// Intact returns nil if the open file itself is unchanged, an error that matches
// [ErrChanged], or the error that kept it from finding out.
func (f *File) Intact() error {
	if e := f.spoiled.Load(); e != nil {
		return e
	}
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	how := f.difference(f.Info(), info)
	if how == "" {
		return nil
	}
	f.spoiled.CompareAndSwap(nil, &changedError{path: f.path, how: how})
	return f.markChanged(how)
}

// Adopt says that from now on the path leads to another file, described by info. Reads
// still come from the old one.
func (f *File) Adopt(info os.FileInfo) {
	f.placing.Lock()
	defer f.placing.Unlock()
	f.now.Store(&info)
	f.next = nil
}

// Expect says that the path is about to lead to the file described by info: from now on the
// source counts as unchanged whether it already does or not. Adopt ends that, and so does
// Expect(nil) if the new file does not come.
func (f *File) Expect(info os.FileInfo) {
	f.placing.Lock()
	defer f.placing.Unlock()
	f.next = info
}

// Pin says, before the first read, that the file is to be read as it was when it was opened, whatever
// takes its place meanwhile. Then it counts as changed only if the open file itself changes.
func (f *File) Pin() { f.pinned = true }

// InPlace returns nil if the path still leads to the open file, or an error that matches [ErrChanged].
func (f *File) InPlace() error { return inPlace(f.path, f.Info()) }

// inPlace returns nil if a path leads to the file that info describes.
func inPlace(path string, info os.FileInfo) error {
	if now, err := os.Stat(path); err != nil || !os.SameFile(now, info) {
		return &changedError{path: path, how: replaced}
	}
	return nil
}

// OnChange has when called once, in a goroutine of its own, as soon as the file is found
// changed. There can be only one such function.
func (f *File) OnChange(when func(changed error)) { f.whenChanged.Store(&when) }

// Check returns nil if the path still leads to the unchanged file, or an error that matches
// [ErrChanged]. It is cheap enough for every request, and notices a change within a quarter
// of a second.
func (f *File) Check() error {
	if err := f.known(); err != nil {
		return err
	}
	now := int64(f.clock().Sub(f.began))
	last := f.checked.Load()
	if now-last < int64(checkEvery) || !f.checked.CompareAndSwap(last, now) {
		return nil
	}
	return f.CheckNow()
}

// CheckNow is Check, but always looks.
func (f *File) CheckNow() error {
	if err := f.known(); err != nil {
		return err
	}
	if f.pinned {
		return f.Intact()
	}
	f.placing.RLock()
	want, next := *f.now.Load(), f.next
	info, err := os.Stat(f.path)
	f.placing.RUnlock()
	if err == nil && next != nil && os.SameFile(next, info) {
		want = next
	}
	switch {
	case errors.Is(err, iofs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return f.markChanged("it is gone")
	case err != nil:
		return nil // unknown now; each read checks the file itself
	case !os.SameFile(want, info):
		return f.markChanged(replaced)
	}
	if how := f.difference(want, info); how != "" {
		return f.markChanged(how)
	}
	return nil
}

// AllowGrowth says, before the first read, that somebody may append to the file while it is
// read, as a recorder does. Then it counts as changed only if it is replaced, cut, or written
// to elsewhere. A reader has to check by itself that what is read stays the same.
func (f *File) AllowGrowth() { f.grows = true }

// Grown looks how large the file has grown. It has to be allowed, and is not safe for
// parallel use with itself. The error is that of CheckNow.
//
// A writer sets the time of the file a moment before its size. So a time without new bytes is
// a write to what was there only if no bytes have come until the next call.
func (f *File) Grown() (size int64, err error) {
	f.followed.Store(true)
	if err := f.CheckNow(); err != nil {
		return 0, err
	}
	info, err := f.file.Stat()
	if err != nil {
		return 0, err
	}
	was := f.Info()
	switch {
	case info.Size() > was.Size():
		f.was.Store(&info)
		f.now.Store(&info)
		f.touched = time.Time{}
	case info.Size() < was.Size():
		return 0, f.Intact()
	case info.ModTime().Equal(was.ModTime()):
	case lateTimes:
		f.was.Store(&info)
		f.now.Store(&info)
	case f.touched.Equal(info.ModTime()):
		f.spoiled.CompareAndSwap(nil, &changedError{path: f.path, how: writtenTo})
		return 0, f.markChanged(writtenTo)
	default:
		f.touched = info.ModTime()
	}
	return info.Size(), nil
}

// lateTimes says that the system may set the time of a file when its writer closes it.
const lateTimes = runtime.GOOS == "windows"

func (f *File) known() error {
	if e := f.changed.Load(); e != nil {
		return e
	}
	return nil
}

func (f *File) markChanged(how string) error {
	if f.changed.CompareAndSwap(nil, &changedError{path: f.path, how: how}) {
		if when := f.whenChanged.Load(); when != nil {
			go (*when)(f.known())
		}
	}
	return f.known()
}

const (
	writtenTo = "it was written to"
	replaced  = "another file has taken its place"
)

// difference is the function of that name, but for the growth that is allowed.
func (f *File) difference(was, info os.FileInfo) string {
	more := info.Size() - was.Size()
	if f.grows && (more > 0 || more == 0 && f.followed.Load()) {
		return ""
	}
	return difference(was, info)
}

// difference returns what changed of a file's content, or "".
func difference(was, info os.FileInfo) string {
	switch {
	case info.Size() != was.Size():
		return fmt.Sprintf("it had %d bytes and has %d", was.Size(), info.Size())
	case !info.ModTime().Equal(was.ModTime()):
		return writtenTo
	}
	return ""
}
