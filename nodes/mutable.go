package nodes

import (
	"context"
	"errors"
	"time"
)

// Mutable is a tree that can be changed. Its methods, too, may be called from
// many goroutines at once; each either happens as a whole or not at all.
//
// Names and IDs stay as they are while the tree lives: to remove an entry
// renames no other, and a number is not given twice. What was removed can be read
// under its ID until [Mutable.Forget]; its Attr is Removed.
//
// Errors match, besides those of [Tree], [ErrExist], [ErrNotEmpty],
// [ErrReadOnly], [ErrNotPermitted], [ErrInvalid], [ErrTooLarge], [ErrNoSpace] or
// [ErrCross] where one of those is meant.
type Mutable interface {
	Tree
	// Create makes an empty file; [ErrExist] if dir has the name.
	Create(ctx context.Context, dir ID, name string) (Entry, error)
	// Mkdir makes an empty directory; [ErrExist] if dir has the name.
	Mkdir(ctx context.Context, dir ID, name string) (Entry, error)
	// Remove takes the entry of dir called name away, which has to be of that
	// kind: [ErrIsDir], [ErrNotDir]. A directory has to be empty: [ErrNotEmpty].
	Remove(ctx context.Context, dir ID, name string, kind Kind) error
	// Rename moves an entry as rename(2) does: what has the new name already is
	// replaced, if it is of the same kind and, as a directory, empty. The entry
	// keeps its ID.
	Rename(ctx context.Context, dir ID, name string, toDir ID, toName string, mode RenameMode) error
	// OpenWrite opens a file to change its content.
	OpenWrite(ctx context.Context, file ID) (Writer, error)
	// SetModTime sets the time that Attr tells.
	SetModTime(ctx context.Context, id ID, mtime time.Time) error
	// Sync returns when every change made so far would survive a power cut.
	Sync(ctx context.Context) error
	// Forget tells that nobody holds the node any more; of one that was removed,
	// everything may be dropped. It is a hint.
	Forget(id ID)
	// Watch has f called for each change that is not the plain effect of a call,
	// so that caches of it can be dropped. f must not block, nor call the tree. It
	// is called once, before all else.
	Watch(f func(Change))
}

// RenameMode tells what Rename does if the new name is in use.
type RenameMode uint8

const (
	// RenameReplace replaces the entry that has the new name.
	RenameReplace RenameMode = iota
	// RenameKeep is [ErrExist] if the new name is in use.
	RenameKeep
	// RenameExchange swaps two entries, which both exist.
	RenameExchange
)

// Writer changes the content of one file. Several Writers of one file change the
// same content, and whoever reads the file sees it at once. But only Flush makes
// it the file's own. What fits no value until then is given up, and the file is as it
// was before; or the file goes on showing it, while all else is as it was before.
type Writer interface {
	// WriteAt writes p at off, which may be behind the end: zeros fill the gap.
	// An [ErrInvalid] comes early only if what p begins can't become valid.
	// An empty p changes nothing, but counts as written for Flush: that is how
	// truncate(2) of a path, after which nothing comes, gets its answer.
	WriteAt(ctx context.Context, p []byte, off int64) (int, error)
	// Truncate cuts or extends the content.
	Truncate(ctx context.Context, size int64) error
	// Flush is called for each close(2) of a handle, of which there may be several
	// before the last; [ErrInvalid] if the content is no value for the file. What was
	// emptied but not written since is left alone until Release: shells flush a
	// file in between. After Flush the content survives the end of the process.
	Flush(ctx context.Context) error
	// Sync is fsync(2): Flush, and then Mutable.Sync.
	Sync(ctx context.Context) error
	// Release ends the Writer. What has not been flushed is flushed. No program can
	// be told of an error any more, so whoever calls it has to tell the user.
	Release() error
}

// XattrSetter is implemented by a [Mutable] whose extended attributes can be set.
type XattrSetter interface {
	// SetXattr sets a value; [ErrInvalid] if it is none for that name,
	// [ErrNotPermitted] if the name is not one of those that can be set.
	SetXattr(ctx context.Context, id ID, name string, value []byte) error
	// RemoveXattr removes a value: [ErrNoXattr], [ErrNotPermitted].
	RemoveXattr(ctx context.Context, id ID, name string) error
}

// Change is something that a cache may hold otherwise.
type Change struct {
	// ID is the node whose content or attributes changed, 0 for none.
	ID ID
	// Dir is the directory in which Name has come, gone or become another node's.
	// It is 0 for none; Name may be empty for "any".
	Dir  ID
	Name string
}

// Errors of a Mutable.
var (
	ErrExist    = errors.New("the name is in use")
	ErrNotEmpty = errors.New("the directory is not empty")
	// ErrReadOnly means that this part of the tree can't be changed.
	ErrReadOnly = errors.New("it can't be changed")
	// ErrNotPermitted means that the source has no room for such a thing.
	ErrNotPermitted = errors.New("not possible in such a source")
	// ErrInvalid means a value or a name that the source cannot hold.
	ErrInvalid = errors.New("not a value that fits")
	// ErrTooLarge means a value or a number of entries above what the source can hold.
	ErrTooLarge = errors.New("more than the source can hold")
	// ErrNoSpace means that there is no room left for changes.
	ErrNoSpace = errors.New("no room left")
	// ErrCross means a move between parts of the tree that have nothing in common.
	ErrCross = errors.New("different parts of the tree")
)
