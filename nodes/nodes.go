package nodes

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"iter"
	"time"
)

// ID names one node of a [Tree]. It is the inode number of a mount as well, so
// for one source it is the same at every mount, and it is below 2^63: go-fuse
// takes the upper half for numbers of its own.
type ID uint64

// Root is the ID of every tree's root directory. 0 names nothing.
const Root ID = 1

// MaxID is the highest number a node may have.
const MaxID ID = 1<<63 - 1

// Kind tells what a node is. It never changes during a node's life.
type Kind uint8

const (
	// Dir is a directory.
	Dir Kind = iota + 1
	// File is a regular file.
	File
	// Link is a symbolic link. Only a [Linker] has some.
	Link
)

func (k Kind) String() string {
	switch k {
	case Dir:
		return "directory"
	case File:
		return "file"
	case Link:
		return "link"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Attr is what stat(2) tells of a node.
type Attr struct {
	Kind Kind
	// Size is a file's exact size in bytes: a read never finds more or fewer.
	// It is 0 for directories, and the length of its target for a link.
	Size int64
	// ModTime is when the content last changed.
	ModTime time.Time
	// Writable tells that the content of the file, or the entries of the
	// directory, can be changed. It is true only in a [Mutable] tree.
	Writable bool
	// Removed tells that no directory has the node any more.
	Removed bool
}

// Entry is one name in a directory, with what a listing needs of its node so
// that nobody has to ask again.
type Entry struct {
	Name string
	ID   ID
	Kind Kind
	// Size is what Attr would tell, or [UnknownSize].
	Size int64
	// ModTime is what Attr would tell; the zero time stands for the one of the
	// directory that the entry is in, so that most trees need not set it.
	ModTime time.Time
	// Writable is what Attr would tell.
	Writable bool
	// Next is the cursor of the entry behind this one, never 0. It stays good
	// for as long as the tree does.
	Next uint64
}

// UnknownSize is the size of an [Entry] whose file has to be decoded before its size is
// known, which a listing of names must not wait for. Attr finds it when it is asked.
const UnknownSize = -1

// WithSize returns e with its size, for which it asks the tree if the listing did not
// know it.
func WithSize(ctx context.Context, tree Tree, e Entry) (Entry, error) {
	if e.Size != UnknownSize {
		return e, nil
	}
	attr, err := tree.Attr(ctx, e.ID)
	e.Size = attr.Size
	return e, err
}

// Tree is a read-only tree of directories, files and links. All methods may be called
// from many goroutines at once. An ID comes from the tree itself (Root, Lookup
// or ReadDir); one that it never gave out is an error that matches
// [ErrNotExist], not a fault.
//
// Only files may be reachable under two names. A directory has one: a mount
// holds one parent for it, and would leak the other.
//
// Errors match [ErrNotExist], [ErrNotDir], [ErrIsDir], [ErrChanged],
// [ErrUnavailable] or [ErrNoKey] where one of those is meant; every other error
// means that the source could not be read. That includes an [iofs.ErrNotExist]
// which is not ErrNotExist: a file of the source that has gone says nothing
// about what the tree holds.
type Tree interface {
	// Attr describes a node.
	Attr(ctx context.Context, id ID) (Attr, error)
	// Lookup finds the entry of dir that is called name. Its Next is unset, and its
	// size may be unknown where that of the listing is.
	Lookup(ctx context.Context, dir ID, name string) (Entry, error)
	// ReadDir yields the entries of dir, from the one that cursor names: 0 is
	// the first, and Entry.Next of any entry is the one behind it. The order
	// is the source's and the same at each call. An error is yielded last.
	// No lock may be held across a yield: the loop's body calls the tree
	// again, and may take as long as whoever reads the listing.
	ReadDir(ctx context.Context, dir ID, cursor uint64) iter.Seq2[Entry, error]
	// ReadAt is [io.ReaderAt] on a file's content. The end of the file is
	// [io.EOF] itself, never wrapped, and comes at Attr.Size: everything else
	// that ends a read early, also an EOF of the source, is another error.
	ReadAt(ctx context.Context, file ID, p []byte, off int64) (int, error)
	// Usage sums the tree up, for statfs(2).
	Usage() Usage
}

// Xattrer is implemented by trees whose nodes have extended attributes.
type Xattrer interface {
	// Xattr gets the value of one attribute; one that the node does not have
	// is an error that matches [ErrNoXattr].
	Xattr(ctx context.Context, id ID, name string) ([]byte, error)
	// Xattrs lists the names of a node's attributes.
	Xattrs(ctx context.Context, id ID) ([]string, error)
}

// Linker is implemented by trees that have symbolic links.
type Linker interface {
	// Readlink returns the target of a link: a relative path, with "/" between names.
	// Anything but a link is an error that matches [ErrInvalid].
	Readlink(ctx context.Context, link ID) (string, error)
}

// Usage sums up a tree.
type Usage struct {
	// Bytes is the size of what the tree is made from.
	Bytes int64
	// Nodes counts directories and files.
	Nodes int64
}

// Errors of a Tree.
var (
	// ErrNotExist means that the tree knows for sure that there is no such name
	// or number. It matches [iofs.ErrNotExist] as well, but not the other way round.
	ErrNotExist = fmt.Errorf("%w", iofs.ErrNotExist)

	ErrNotDir  = errors.New("not a directory")
	ErrIsDir   = errors.New("is a directory")
	ErrNoXattr = errors.New("no such extended attribute")
	// ErrChanged means that the source is no longer what it was when it was opened.
	ErrChanged = errors.New("the source changed since it was opened")
	// ErrUnavailable means that the content is known of but not held locally.
	ErrUnavailable = errors.New("content is not available locally")
	// ErrNoKey means that the content is encrypted with a key nobody gave.
	ErrNoKey = errors.New("content is encrypted with an unknown key")
)

// NotExist is the [ErrNotExist] for a name that a directory does not have, or
// for an ID that is none of the tree's.
func NotExist(what any) error {
	return fmt.Errorf("%v: %w", what, ErrNotExist)
}

// Mark returns an error of the source, whose text says all that is wrong, as one that
// matches an error of this package, too.
func Mark(err, as error) error { return marked{err, as} }

type marked struct {
	error
	as error
}

func (m marked) Unwrap() []error { return []error{m.error, m.as} }
