package overlay

import (
	"context"
	"log/slog"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// Source is a tree whose files can be given other contents. Its nodes are numbered by it, and
// it shows at once what was put. Its names are its own: the overlay keeps those of scratch
// files only. Name, Open, Put and Now are called one at a time.
//
// A file and a directory that can be changed are Writable by Attr, Lookup and ReadDir, and
// entries have their ModTime.
type Source interface {
	nodes.Tree
	// Where is the directory of a node of the source, and its name there. The
	// directory is 0 for the root.
	Where(id nodes.ID) (dir nodes.ID, name string)
	// Name says what a name is in a directory; dir is 0 for a directory that is none of
	// the source's. The error says why nothing there can be made, renamed or removed:
	// [nodes.ErrNotExist], [nodes.ErrNotDir], [nodes.ErrReadOnly].
	Name(ctx context.Context, dir nodes.ID, name string) (Name, error)
	// Open is asked before a file is opened for writing: [nodes.ErrIsDir],
	// [nodes.ErrReadOnly], [nodes.ErrChanged].
	Open(ctx context.Context, file nodes.ID) error
	// Put makes a text what a file holds, as a whole or not at all. The source keeps the
	// record of it, and tells of all that changes with it.
	Put(ctx context.Context, file nodes.ID, text []byte) error
	// Now is what a file holds now: it can be read when the file holds something else.
	Now(file nodes.ID) Content
	// Sync makes durable what was put.
	Sync() error
	// Watch has f called for each change of what the source shows, also from within Put.
	// It is called once, before all else.
	Watch(f func(nodes.Change))
}

// Name is what a source says of a name in a directory.
type Name struct {
	// Text is how the source spells it.
	Text string
	// File is the file of the source that has the name, 0 if it is that of none. It need not
	// be the one that is shown there.
	File nodes.ID
	// Writable tells that the file can be changed.
	Writable bool
	// Scratch is why no scratch file can have the name, nil if one can. It is not looked
	// at if a file of the source has the name.
	Scratch error
}

// Content is what a file of a source held at some time.
type Content interface {
	Size(ctx context.Context) (int64, error)
	ModTime() time.Time
	// ReadAt is that of [nodes.Tree].
	ReadAt(ctx context.Context, p []byte, off int64) (int, error)
}

// Options are what New has to be told.
type Options struct {
	// FirstID is the first of the numbers that the overlay gives; all from there on are
	// none of the source's.
	FirstID nodes.ID
	// Kept is the error of who wants to remove or move a file of the source.
	Kept error
	// Now is the time that edits happen at.
	Now func() time.Time
	// Limits are how much all texts may have that are held in memory.
	Limits editing.Limits
	// Logger is told of texts that were refused and can't be kept under both names.
	Logger *slog.Logger
}
