package nodes

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"time"
)

// ID names one node of a [Tree]. It is the inode number of a mount too, so it is the same
// at every mount of a source, and below 2^63: go-fuse uses the upper half itself.
type ID uint64

// Root is the ID of every tree's root directory. 0 names nothing.
const Root ID = 1

// MaxID is the highest number a node may have.
const MaxID ID = 1<<63 - 1

// Kind is the kind of a node. It never changes.
type Kind uint8

const (
	// Dir is a directory.
	Dir Kind = iota + 1
	// File is a regular file.
	File
	// Link is a symbolic link. Only a [Linker] has links.
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

// Attr has what stat(2) returns for a node.
type Attr struct {
	Kind Kind
	// Size is a file's exact size in bytes: a read never finds more or fewer. It is 0 for
	// directories, and the length of the target for links.
	Size int64
	// ModTime is when the content last changed.
	ModTime time.Time
	// Writable is set if the content of the file, or the entries of the directory, can be
	// changed. It is true only in a [Mutable] tree.
	Writable bool
	// Removed is set if no directory has the node any more.
	Removed bool
}

// Entry is one name in a directory, with the attributes that a listing needs, so that
// callers need not ask for each.
type Entry struct {
	Name string
	ID   ID
	Kind Kind
	// Size is as in Attr, or [UnknownSize].
	Size int64
	// ModTime is as in Attr. The zero time stands for the time of the directory, so that
	// most trees need not set it.
	ModTime time.Time
	// Writable is as in Attr.
	Writable bool
	// Next is the cursor of the next entry, never 0. It stays valid while the tree lives.
	Next uint64
}

// UnknownSize is the size of an [Entry] whose file has to be decoded to learn it. A listing
// must not wait for that; Attr does.
const UnknownSize = -1

// WithSize returns e with its size, which it gets from Attr if the listing did not know it.
func WithSize(ctx context.Context, tree Tree, e Entry) (Entry, error) {
	if e.Size != UnknownSize {
		return e, nil
	}
	attr, err := tree.Attr(ctx, e.ID)
	e.Size = attr.Size
	return e, err
}

// Tree is a read-only tree of directories, files and links. All methods are safe for
// parallel use. IDs come from the tree itself (Root, Lookup or ReadDir); for any other ID a
// method returns an error that matches [ErrNotExist].
//
// Only files may be reachable under two names. A directory has one, because a mount keeps
// one parent for it and would leak the other.
//
// Errors match [ErrNotExist], [ErrNotDir], [ErrIsDir], [ErrChanged], [ErrUnavailable] or
// [ErrNoKey] where they apply. Any other error means that the source could not be read.
// That includes an [iofs.ErrNotExist] which is not ErrNotExist: a missing file of the
// source says nothing about what the tree holds.
type Tree interface {
	// Attr describes a node.
	Attr(ctx context.Context, id ID) (Attr, error)
	// Lookup finds the entry of dir called name. Its Next is not set, and its size may be
	// unknown where the listing's is.
	Lookup(ctx context.Context, dir ID, name string) (Entry, error)
	// ReadDir yields the entries of dir in the source's order, which is the same at each
	// call. It starts at cursor: 0 is the first entry, Entry.Next the entry after one. An
	// error comes last. No lock may be held across a yield, because the loop's body may
	// call the tree again or block for as long as it likes.
	ReadDir(ctx context.Context, dir ID, cursor uint64) iter.Seq2[Entry, error]
	// ReadAt is [io.ReaderAt] on a file's content. At Attr.Size it returns [io.EOF] itself,
	// never wrapped. Whatever else ends a read early, also an EOF of the source, is another
	// error.
	ReadAt(ctx context.Context, file ID, p []byte, off int64) (int, error)
	// Usage returns totals for statfs(2).
	Usage() Usage
}

// Xattrer is implemented by trees whose nodes have extended attributes.
type Xattrer interface {
	// Xattr returns the value of an attribute. If the node does not have it, the error
	// matches [ErrNoXattr].
	Xattr(ctx context.Context, id ID, name string) ([]byte, error)
	// Xattrs returns the names of a node's attributes.
	Xattrs(ctx context.Context, id ID) ([]string, error)
}

// Linker is implemented by trees that have symbolic links.
type Linker interface {
	// Readlink returns the target of a link: a relative path, with "/" between names. If
	// the node is no link, the error matches [ErrInvalid].
	Readlink(ctx context.Context, link ID) (string, error)
}

// Streamer is implemented by trees that can write a whole file faster than it can be read
// piece by piece.
type Streamer interface {
	// Stream writes the content of a file to w. If ReadAt is as fast for this file, it
	// writes nothing and ok is false.
	Stream(ctx context.Context, file ID, w io.Writer) (n int64, ok bool, err error)
}

// WholeReader is implemented by trees that can read many small files at once faster than one
// after the other, for callers that keep what they read.
type WholeReader interface {
	// ReadWhole yields the contents of files, each with the file's place in the slice. A content
	// has the size of its entry and is valid until yield returns. What can't be read in this way
	// is left out: ReadAt reads it, or returns why it can't be read.
	ReadWhole(ctx context.Context, files []Entry) iter.Seq2[int, []byte]
}

// Usage is the size of a tree and of its source.
type Usage struct {
	// Bytes is the size of the source.
	Bytes int64
	// Nodes counts directories and files.
	Nodes int64
}

// Errors of a Tree.
var (
	// ErrNotExist means that the tree has no such name or ID. It also matches
	// [iofs.ErrNotExist], but not the other way round.
	ErrNotExist = fmt.Errorf("%w", iofs.ErrNotExist)

	ErrNotDir  = errors.New("not a directory")
	ErrIsDir   = errors.New("is a directory")
	ErrNoXattr = errors.New("no such extended attribute")
	// ErrChanged means that the source has changed since it was opened.
	ErrChanged = errors.New("the source changed since it was opened")
	// ErrUnavailable means that the content is known but not held locally.
	ErrUnavailable = errors.New("content is not available locally")
	// ErrNoKey means that the content is encrypted with a key nobody gave.
	ErrNoKey = errors.New("content is encrypted with an unknown key")
)

// NotExist returns the [ErrNotExist] for a name that a directory does not have, or for an
// unknown ID.
func NotExist(what any) error {
	return fmt.Errorf("%v: %w", what, ErrNotExist)
}

// Mark returns err, with its text, as an error that also matches the error as.
func Mark(err, as error) error { return marked{err, as} }

type marked struct {
	error
	as error
}

func (m marked) Unwrap() []error { return []error{m.error, m.as} }

// ReadContent implements [Tree.ReadAt] for content that is in memory.
func ReadContent[T string | []byte](content T, p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("negative offset %d", off)
	}
	if off >= int64(len(content)) {
		return 0, io.EOF
	}
	n := copy(p, content[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
