package overlay

import (
	"context"
	"log/slog"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// Source is a tree whose files can be given other contents. Its nodes are numbered by it,
// none as another was before, and it shows at once what was edited. Its names are its own:
// the overlay keeps those of scratch files only. All that edits, Name, Open and Now are
// called one at a time.
//
// A file and a directory that can be changed are Writable by Attr, Lookup and ReadDir, and
// entries have their ModTime.
//
// An edit happens as a whole or not at all. The source keeps the record of it, and tells of
// all that changes with it. One that it has no room for whatever the text is
// [nodes.ErrNotPermitted]. Where an edit is told of a hidden file, unless that is 0, it
// removes this one as well: the text was its before it was renamed, and it would be left
// without a name.
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
	// Put makes a text what a file holds.
	Put(ctx context.Context, file nodes.ID, text []byte, hidden nodes.ID) error
	// Make makes a file with a text, or a directory, by a name that the source says to be
	// its own.
	Make(ctx context.Context, dir nodes.ID, name string, kind nodes.Kind, text []byte, hidden nodes.ID) (nodes.ID, error)
	// Move gives a node another name, in place of what has that, or exchanges the two. What
	// is replaced is of the same kind and, as a directory, empty. dir may be 0 as in Name.
	Move(ctx context.Context, id, dir nodes.ID, name string, mode nodes.RenameMode) error
	// Remove removes a file, or a directory that is empty.
	Remove(ctx context.Context, id nodes.ID) error
	// Now is what a file holds now: it can be read when the file holds something else, or
	// has gone.
	Now(ctx context.Context, file nodes.ID) (Content, error)
	// Sync makes durable what was edited.
	Sync() error
	// Watch has w told of each change of what the source shows. It is called once, before
	// all else.
	Watch(w Watcher)
}

// Watcher is told what a source shows otherwise, also from within an edit. It takes no lock
// that is held while the source edits, and is not told under one that Where needs.
type Watcher interface {
	// Changed tells what caches may hold otherwise.
	Changed(c nodes.Change)
	// Edited tells of a file that it holds something else, since the time that the source
	// tells.
	Edited(file nodes.ID)
	// Gone tells that a node of the source is no more, though the overlay did not ask for
	// that. What is in a directory besides goes with it.
	Gone(id nodes.ID)
	// Holds tells of a directory whether something is in it besides what the source has.
	Holds(dir nodes.ID) bool
}

// Name is what a source says of a name in a directory.
type Name struct {
	// Text is how the source spells it.
	Text string
	// ID is the node of the source that has the name, 0 if none has. It need not be the one
	// that is shown there.
	ID   nodes.ID
	Kind nodes.Kind
	// Writable tells that a file can be changed. Sole tells that what it holds is nowhere
	// else, not even in what is saved: no text that is refused takes its place.
	Writable, Sole bool
	// File and Dir are what can be made by the name if no node has it.
	File, Dir Made
}

// Made is what a file or a directory would be that is made.
type Made struct {
	// Own tells that it would be one of the source. Else it is scratch.
	Own bool
	// Err is why there can't be one, nil if there can.
	Err error
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
	// Empty tells that a new file which nobody has written to becomes one of the source,
	// with an empty text, when it is closed. Else it waits for its text.
	Empty bool
	// Now is the time that edits happen at.
	Now func() time.Time
	// Limits are how much all texts may have that are held in memory.
	Limits editing.Limits
	// Logger is told of texts that were refused and can't be kept under both names.
	Logger *slog.Logger
}
