package overlay

import (
	"context"
	"log/slog"
	"time"

	"lorefs/nodes"
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
// [nodes.ErrNotPermitted].
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
	// Put makes a text what the file at a place holds, which may be a new one. It gives the
	// number that the file has from then on.
	Put(ctx context.Context, to Place, text []byte, from From) (nodes.ID, error)
	// Mkdir makes a directory by a name that the source says to be its own.
	Mkdir(ctx context.Context, dir nodes.ID, name string) (nodes.ID, error)
	// Move gives a node another name, in place of what has that, or exchanges the two. What
	// is replaced is of the same kind and, as a directory, empty.
	Move(ctx context.Context, m Move) error
	// Remove removes a file, or a directory in which nothing is but what is hidden.
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

// Place is a name in a directory of a source.
type Place struct {
	// Dir is 0 for a directory that is none of the source's. It is 0 as well, and the Name
	// empty, where ID is that of a file which is written to, and stays where it is.
	Dir  nodes.ID
	Name string
	// ID is the node of the source that has the name, 0 if none has.
	ID nodes.ID
}

// From is where a text comes from.
type From struct {
	// File is the number of the file that was written or, if it is Renamed, that is to be
	// the one at the place.
	File    nodes.ID
	Renamed bool
	// Hidden is removed with the edit, unless it is 0: it was File before that was renamed,
	// and would be left without a name.
	Hidden nodes.ID
	// Note is what is noted of File, see [Valued].
	Note any
}

// Move is what [Source.Move] is to do.
type Move struct {
	ID nodes.ID
	To Place
	// Exchange tells that To gets the name of ID.
	Exchange bool
	// Text and Other are what ID and To show to whoever reads them because somebody writes to
	// them, nil if that is what the source has. Only a Valued source makes something of
	// them.
	Text, Other []byte
	// Note is what is noted of ID.
	Note any
}

// Valued is a Source whose files are single values. They are written at once and anew, so
// that no text is kept that was refused: the file is again what it was.
type Valued interface {
	Source
	// NewID gives the number of a new file. It keeps it when it becomes one of the source.
	NewID() (nodes.ID, error)
	// Note is what goes along with what a file holds when that becomes scratch.
	Note(file nodes.ID) any
	// Refuse is the error if no text that begins so can be put.
	Refuse(to Place, begin []byte, from From) error
}

// Watcher is told what a source shows otherwise, also from within an edit. It takes no lock
// that is held while the source edits, and is not told under one that Where needs.
type Watcher interface {
	// Changed tells what caches may hold otherwise.
	Changed(c nodes.Change)
	// Edited tells of a file other than the one that is put that it holds something else,
	// since the time that the source tells.
	Edited(file nodes.ID)
	// Gone tells that a node of the source is no more, though the overlay did not ask for
	// that, and what it was; nil if nobody can say. What is in a directory besides goes with
	// it.
	Gone(id nodes.ID, kind nodes.Kind, was Content)
	// Holds tells of a directory whether something is in it besides what the source has.
	Holds(dir nodes.ID) bool
	// Keeps tells of a file that it shows a text which the source does not have: somebody
	// writes it, or it was refused. A source must not let such a file go by itself, unless it
	// tells that it is Gone.
	Keeps(file nodes.ID) bool
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
	// Twin is another name that a file can't have beside one of this name, TwinID the file of
	// the source that has it; both may be empty.
	Twin   string
	TwinID nodes.ID
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
	// Now is the time that edits happen at. Default: time.Now.
	Now func() time.Time
	// Limits are how much all texts may have that are held in memory.
	Limits Limits
	// Logger is told of texts that were refused and can't be kept under both names.
	Logger *slog.Logger
}

// MaxTexts is how many bytes the texts of a Tree may have together, unless it is told
// otherwise.
const MaxTexts = 1 << 30

// Limits are how many bytes a text may have, and all that are held together.
type Limits struct{ Text, Texts int64 }
