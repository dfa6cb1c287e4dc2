package kinds

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"strings"

	"lorefs/casc"
	"lorefs/internal/origin"
	"lorefs/internal/source"
	"lorefs/nodes"
)

// Error means that a source does not exist, is of no known kind, or can't be read. Its text
// names the file. Its cause is an error of the format, such as [datacenter.ErrKey].
type Error struct {
	// Option is the name of the option that named the file; empty for the source itself.
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

// Errorf returns an [Error].
func Errorf(format string, args ...any) error { return &Error{Err: fmt.Errorf(format, args...)} }

// At puts the path of a source before an error that does not name it. It does not change an
// [Error] or the end of a context.
func At(path string, err error) error {
	if Known(err) {
		return err
	}
	return Errorf("%s: %w", origin.Shown(path), err)
}

// Known reports whether an error says all that there is to say: it is an [Error], the end of a context, or nil.
func Known(err error) bool {
	_, is := errors.AsType[*Error](err)
	return is || err == nil || errors.Is(err, context.Canceled)
}

// Unreadable returns the error of a path that can't be opened. It drops the operation of a
// [iofs.PathError], which tells users nothing. Other errors must name the path themselves.
func Unreadable(path string, err error) error {
	if Known(err) {
		return err
	}
	if pe, ok := errors.AsType[*iofs.PathError](err); ok {
		return Errorf("%s: %w", origin.Shown(path), pe.Err)
	}
	return &Error{Err: err}
}

// ErrUnknown means that a path leads to nothing of any kind.
var ErrUnknown = errors.New("not a source that lorefs knows")

// FolderError means that a folder is no source, but has some in it. It matches [ErrUnknown].
type FolderError struct {
	Path    string
	Sources []Held
}

// Held is a source in a folder.
type Held struct {
	// Path is relative to the folder.
	Path string `json:"path"`
	Kind string `json:"kind"`
}

func (e *FolderError) Error() string {
	const most = 5
	names := make([]string, 0, most)
	for _, h := range e.Sources[:min(len(e.Sources), most)] {
		names = append(names, h.Path)
	}
	more := ""
	if n := len(e.Sources) - most; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s: %v, but has some in it: %s%s", e.Path, ErrUnknown, strings.Join(names, ", "), more)
}

func (e *FolderError) Unwrap() error { return ErrUnknown }

// ErrReadOnly means that sources of a kind can't be edited.
var ErrReadOnly = errors.New("sources of this kind can't be edited")

// UnnamedEditsError means that a crash has left edits of world geometry which the data
// center does not name.
type UnnamedEditsError struct {
	Folder string
	Err    error
}

func (e *UnnamedEditsError) Error() string {
	return "a crash has left edits of files that the data center does not name: " + e.Err.Error()
}

func (e *UnnamedEditsError) Unwrap() error { return e.Err }

// InterruptedError says how far a check had come when its context ended.
type InterruptedError struct {
	Path        string
	Done, Total int64
	// At is where the next check can go on.
	At casc.Place
}

func (e *InterruptedError) Error() string {
	return fmt.Sprintf("%s: interrupted after %d of %d bytes", e.Path, e.Done, e.Total)
}

// Changed makes [source.ErrChanged] match [nodes.ErrChanged] as well.
func Changed(err error) error {
	if errors.Is(err, source.ErrChanged) {
		return &ChangedError{err}
	}
	return err
}

// ChangedError makes an error match [nodes.ErrChanged].
type ChangedError struct{ Err error }

func (e *ChangedError) Error() string { return e.Err.Error() }
func (e *ChangedError) Unwrap() error { return e.Err }

// Is makes the error match [nodes.ErrChanged].
func (e *ChangedError) Is(target error) bool { return target == nodes.ErrChanged }

// Guarded reads a file, with errors that match [nodes.ErrChanged] if it has changed.
type Guarded struct{ File io.ReaderAt }

// ReadAt implements [io.ReaderAt].
func (g Guarded) ReadAt(p []byte, off int64) (int, error) {
	n, err := g.File.ReadAt(p, off)
	return n, Changed(err)
}

// GuardedFS does the same in a folder.
type GuardedFS struct{ Folder Folder }

// Open implements [iofs.FS].
func (g GuardedFS) Open(name string) (iofs.File, error) {
	f, err := g.Folder.Open(name)
	return f, Changed(err)
}

// Stat implements [iofs.StatFS].
func (g GuardedFS) Stat(name string) (iofs.FileInfo, error) {
	info, err := g.Folder.Stat(name)
	return info, Changed(err)
}
