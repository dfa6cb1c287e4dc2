package kinds

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"

	"lorefs/casc"
	"lorefs/internal/source"
	"lorefs/nodes"
)

// Error is the error of a source that is not there, is none, or can't be read. Its text
// names the file; the cause is that of the format, such as [datacenter.ErrKey].
type Error struct {
	// Option is the name of the option that asked for what fails, empty for the source.
	Option string
	Err    error
}

func (e *Error) Error() string {
	if e.Option != "" {
		return e.Option + ": " + e.Err.Error()
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

func errorf(format string, args ...any) error { return &Error{Err: fmt.Errorf(format, args...)} }

// at puts the path of a source in front of an error that does not name it. It leaves alone
// what is an Error already, and the end of the context.
func at(path string, err error) error {
	if known(err) {
		return err
	}
	return errorf("%s: %w", path, err)
}

func known(err error) bool {
	_, is := errors.AsType[*Error](err)
	return is || err == nil || errors.Is(err, context.Canceled)
}

// Unreadable is the error of a path that can't be opened. What the system was asked to do is
// of no use to anybody; other errors name the path.
func Unreadable(path string, err error) error {
	if known(err) {
		return err
	}
	if pe, ok := errors.AsType[*iofs.PathError](err); ok {
		return errorf("%s: %w", path, pe.Err)
	}
	return &Error{Err: err}
}

// ErrReadOnly means that sources of a kind can't be edited.
var ErrReadOnly = errors.New("sources of this kind can't be edited")

// UnnamedEditsError tells of edits, left behind in a folder of world geometry, of what the
// data center that it is shown with does not name.
type UnnamedEditsError struct {
	Folder string
	Err    error
}

func (e *UnnamedEditsError) Error() string {
	return "edits were left behind of what the data center does not name: " + e.Err.Error()
}

func (e *UnnamedEditsError) Unwrap() error { return e.Err }

// InterruptedError tells how far a check was when its context ended.
type InterruptedError struct {
	Path        string
	Done, Total int64
	// At is where another check can go on.
	At casc.Place
}

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("%s: interrupted after %d of %d bytes", e.Path, e.Done, e.Total)
}

// changed makes an error that says that the source changed match [nodes.ErrChanged], too.
func changed(err error) error {
	if errors.Is(err, source.ErrChanged) {
		return &changedError{err}
	}
	return err
}

type changedError struct{ err error }

func (e *changedError) Error() string        { return e.err.Error() }
func (e *changedError) Unwrap() error        { return e.err }
func (e *changedError) Is(target error) bool { return target == nodes.ErrChanged }

// guarded tells of a changed source in the tree's words.
type guarded struct{ file *source.File }

func (g guarded) ReadAt(p []byte, off int64) (int, error) {
	n, err := g.file.ReadAt(p, off)
	return n, changed(err)
}

// guardedFS is guarded for a folder.
type guardedFS struct{ folder *source.Folder }

func (g guardedFS) Open(name string) (iofs.File, error) {
	f, err := g.folder.Open(name)
	return f, changed(err)
}

func (g guardedFS) Stat(name string) (iofs.FileInfo, error) {
	info, err := g.folder.Stat(name)
	return info, changed(err)
}
