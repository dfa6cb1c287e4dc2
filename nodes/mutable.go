package nodes

import (
	"context"
	"errors"
	"time"
)

// Mutable is a tree that can be changed. Its methods, too, are safe for parallel use, and
// each happens either as a whole or not at all.
//
// Names and IDs are stable while the tree lives: removing an entry renames no other, and no
// ID is used twice. A removed node can be read by its ID until [Mutable.Forget]; its Attr
// says Removed.
//
// Errors match, besides those of [Tree], [ErrExist], [ErrNotEmpty], [ErrReadOnly],
// [ErrNotPermitted], [ErrInvalid], [ErrTooLarge], [ErrNoSpace] or [ErrCross] where they
// apply.
type Mutable interface {
	Tree
	Changing
	// Create makes an empty file; [ErrExist] if dir has the name.
	Create(ctx context.Context, dir ID, name string) (Entry, error)
	// Mkdir makes an empty directory; [ErrExist] if dir has the name.
	Mkdir(ctx context.Context, dir ID, name string) (Entry, error)
	// Remove removes the entry of dir called name. The entry must be of that kind, else
	// Remove returns [ErrIsDir] or [ErrNotDir]. A directory must be empty, else it returns
	// [ErrNotEmpty].
	Remove(ctx context.Context, dir ID, name string, kind Kind) error
	// Rename moves an entry as rename(2) does. An entry that has the new name is replaced
	// if it is of the same kind and no directory with entries. The moved entry keeps its
	// ID.
	Rename(ctx context.Context, dir ID, name string, toDir ID, toName string, mode RenameMode) error
	// OpenWrite opens a file to change its content.
	OpenWrite(ctx context.Context, file ID) (Writer, error)
	// SetModTime sets the time that Attr returns.
	SetModTime(ctx context.Context, id ID, mtime time.Time) error
	// Sync returns when every change made so far would survive a power cut.
	Sync(ctx context.Context) error
	// Forget says that nobody holds the node any more. A removed node may then be dropped.
	// It is a hint.
	Forget(id ID)
}

// Changing is a tree that changes while it is shown. Besides a [Mutable] that is one which
// shows what others edit, or a source that grows.
type Changing interface {
	// Watch has f called for each change that a caller would not expect from its own call,
	// so that it can drop what it has cached. f must not block and must not call the tree.
	// Watch is called once, before any other method.
	Watch(f func(Change))
}

// RenameMode says what Rename does if the new name is in use.
type RenameMode uint8

const (
	// RenameReplace replaces the entry that has the new name.
	RenameReplace RenameMode = iota
	// RenameKeep returns [ErrExist] if the new name is in use.
	RenameKeep
	// RenameExchange swaps two entries, which both exist.
	RenameExchange
)

// Writer changes the content of one file. Several Writers of a file change the same
// content, and readers see it at once, but only Flush makes it permanent. Content that is
// invalid at Flush is dropped and the file is as it was before; or the file goes on showing
// it, while nothing else changes.
type Writer interface {
	// WriteAt writes p at off, which may be past the end: zeros fill the gap. It returns
	// [ErrInvalid] early only if what p begins can't become valid. An empty p changes
	// nothing, but makes the next Flush commit the content: truncate(2) of a path needs
	// that, as no other call follows it.
	WriteAt(ctx context.Context, p []byte, off int64) (int, error)
	// Truncate cuts or extends the content.
	Truncate(ctx context.Context, size int64) error
	// Flush is called for each close(2) of a handle; there may be several before the last.
	// It returns [ErrInvalid] if the content is not valid for the file. It does not return
	// that for a file that was emptied, or made, and not written since, because shells flush
	// a file in between. After Flush the content survives the end of the process.
	Flush(ctx context.Context) error
	// Sync is fsync(2): Flush, and then Mutable.Sync. It returns [ErrInvalid] for a file that was
	// emptied, too. A new one without a text has nothing that could be lost.
	Sync(ctx context.Context) error
	// Release ends the Writer, and flushes what has not been flushed. No program receives
	// its error any more, so the caller has to tell the user.
	Release() error
}

// XattrSetter is implemented by a [Mutable] whose extended attributes can be set.
type XattrSetter interface {
	// SetXattr sets a value. It returns [ErrInvalid] if the value does not fit the name,
	// and [ErrNotPermitted] if the name can't be set.
	SetXattr(ctx context.Context, id ID, name string, value []byte) error
	// RemoveXattr removes a value. It returns [ErrNoXattr] or [ErrNotPermitted].
	RemoveXattr(ctx context.Context, id ID, name string) error
}

// Change says what a cache may hold that is no longer true.
type Change struct {
	// ID is the node whose content, listing or attributes changed, or 0.
	ID ID
	// From says that the content of ID before it is what it was.
	From int64
	// Dir is the directory in which Name was added, removed or given to another node, or 0.
	// An empty Name means any name.
	Dir  ID
	Name string
}

// Errors of a Mutable.
var (
	ErrExist    = errors.New("the name is in use")
	ErrNotEmpty = errors.New("the directory is not empty")
	// ErrReadOnly means that this part of the tree can't be changed.
	ErrReadOnly = errors.New("it can't be changed")
	// ErrNotPermitted means that the source can't hold such a thing.
	ErrNotPermitted = errors.New("not possible in such a source")
	// ErrInvalid means a value or a name that the source cannot hold.
	ErrInvalid = errors.New("not a value that fits")
	// ErrNameTooLong means a name that is longer than the source, or a file system, can hold.
	ErrNameTooLong = errors.New("the name is too long")
	// ErrTooLarge means a value or a number of entries above what the source can hold.
	ErrTooLarge = errors.New("more than the source can hold")
	// ErrNoSpace means that there is no room left for changes.
	ErrNoSpace = errors.New("no room left")
	// ErrCross means a move between parts of the tree that have nothing in common.
	ErrCross = errors.New("different parts of the tree")
)
