package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"lorefs/internal/source"
	"lorefs/nodes"
)

// archive is an open source of some kind.
type archive interface {
	// show gives what the root of a mount holds. The order is part of the inode
	// numbers: what comes later goes behind. A single tree without a name is the
	// root itself, see wholeRoot.
	show() ([]nodes.Mount, error)
	// describe says what is known of the source as a whole.
	describe() (description, error)
	// modTime is when the source last changed before it was opened.
	modTime() time.Time
	// check tells whether the source is still what it was when it was opened.
	check() error
	// Close gives the source back.
	Close() error
}

// wholeRoot is what show gives for a tree that is the root of the mount itself.
func wholeRoot(tree nodes.Tree) []nodes.Mount { return []nodes.Mount{{Tree: tree}} }

// description is what is known of a source as a whole: what info prints, and the
// file in the root of a mount.
type description interface {
	// print writes it for people.
	print(w io.Writer) error
}

// kind is what there is to know of one kind of source ahead of opening it.
type kind struct {
	name string
	// source is what messages call one.
	source string
	// is tells whether what lies at a path is of this kind.
	is   func(path string, info iofs.FileInfo) (bool, error)
	open func(ctx context.Context, path string, o opening) (archive, error)
	// verify checks all that the format allows to be checked, and shows what it
	// finds. It may be nil.
	verify func(ctx context.Context, path string, o opening, v *verifying) error
	// exports is the directory that export copies unless told otherwise; empty: all.
	exports string
}

// opening is what a kind is told to open a source.
type opening struct {
	flags *sourceFlags
	// blocks keeps what was decoded.
	blocks *cache
	log    *slog.Logger
	// progress is told how far the first pass over the source is.
	progress func(done, total int64)
}

const kindAuto = "auto"

// kinds are tried in this order. A data center can't be told from noise before it is
// decrypted, so every file is one that is nothing else.
func kinds() []kind {
	return []kind{cascKind(), worldKind(), packetsKind(), dataCenterKind()}
}

// kindNames are the values of --kind.
func kindNames() string {
	names := []string{kindAuto}
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// kindOf finds out what a source is, unless --kind says so, and refuses options that are for
// other kinds.
func (f *sourceFlags) kindOf(path string) (kind, error) {
	k, err := f.findKind(path)
	if err == nil {
		err = f.checkKind(path, k)
	}
	return k, err
}

func (f *sourceFlags) findKind(path string) (kind, error) {
	info, err := os.Stat(path)
	if err != nil {
		return kind{}, explainOpen(path, err)
	}
	for _, k := range kinds() {
		if f.kind == k.name {
			return k, nil
		}
		if f.kind != kindAuto {
			continue
		}
		is, err := k.is(path, info)
		if err != nil {
			return kind{}, explainOpen(path, err)
		}
		if is {
			return k, nil
		}
	}
	return kind{}, &commandError{code: exitSource, err: fmt.Errorf("%s: not a source that lorefs knows", path)}
}

// explainOpen is the error of a source that can't be opened at all.
func explainOpen(path string, err error) error {
	if pe, ok := errors.AsType[*iofs.PathError](err); ok {
		err = fmt.Errorf("%s: %w", path, pe.Err)
	}
	return &commandError{code: exitSource, err: err}
}

// guarded tells of a changed source in the tree's words.
type guarded struct{ file *source.File }

func (g guarded) ReadAt(p []byte, off int64) (int, error) {
	n, err := g.file.ReadAt(p, off)
	return n, changed(err)
}

// changed makes an error that says that the source changed match
// [nodes.ErrChanged], too.
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
