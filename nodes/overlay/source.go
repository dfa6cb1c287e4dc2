package overlay

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"lorefs/nodes"
)

// Source is a tree whose files can be given new contents. It gives its nodes their numbers, none
// of them twice, and shows an edit at once. The overlay keeps the names of scratch files only;
// all others are the source's. Calls that edit, and those of Name, Open and Now, are never
// concurrent.
//
// Attr, Lookup and ReadDir report files and directories that can be changed as Writable, and
// entries have their ModTime.
//
// An edit happens as a whole or not at all. The source keeps the record of it, and tells the
// Watcher of everything that it changes. An edit that is impossible with any text fails with
// [nodes.ErrNotPermitted].
type Source interface {
	nodes.Tree
	// Where returns the directory of a node of the source and the node's name there. The
	// directory of the root is 0.
	Where(id nodes.ID) (dir nodes.ID, name string)
	// Name describes a name in a directory; dir is 0 for a directory that is not the source's.
	// An error says why nothing in the directory can be made, renamed or removed:
	// [nodes.ErrNotExist], [nodes.ErrNotDir], [nodes.ErrReadOnly].
	Name(ctx context.Context, dir nodes.ID, name string) (Name, error)
	// Open returns an error if a file can't be opened for writing: [nodes.ErrIsDir],
	// [nodes.ErrReadOnly], [nodes.ErrChanged].
	Open(ctx context.Context, file nodes.ID) error
	// Put makes a text the content of the file at a place, which may be a new one. It returns
	// the number that the file has from then on.
	Put(ctx context.Context, to Place, text []byte, from From) (nodes.ID, error)
	// Mkdir makes a directory. Name has said that the source owns directories of that name.
	Mkdir(ctx context.Context, dir nodes.ID, name string) (nodes.ID, error)
	// Move renames a node, which replaces the node that has the new name, or exchanges the two.
	// A replaced node is of the same kind and, if it is a directory, empty.
	Move(ctx context.Context, m Move) error
	// Remove removes a file, or a directory that has only hidden files.
	Remove(ctx context.Context, id nodes.ID) error
	// Now returns the present content of a file. It stays readable after the file has changed or
	// gone.
	Now(ctx context.Context, file nodes.ID) (Content, error)
	// Watch sets the Watcher that is told of each change of what the source shows. It is called
	// once, before all other methods.
	Watch(w Watcher)
}

// Place is a name in a directory of a source.
type Place struct {
	// Dir is 0 for a directory that is not the source's. Dir is also 0, and Name empty, if the
	// file with the number ID is written to and stays where it is.
	Dir  nodes.ID
	Name string
	// ID is the node of the source that has the name, or 0.
	ID nodes.ID
}

// From says where a text comes from.
type From struct {
	// File is the number of the file that was written. If Renamed is set, it is the file that is
	// renamed to the place.
	File    nodes.ID
	Renamed bool
	// Hidden, if not 0, is removed together with the edit. It is what File was before it was
	// renamed to a scratch file, and would have no name after the edit.
	Hidden nodes.ID
	// Undecided says that those who made File are writing it still, and that it was put without
	// a text so far. It can become what it would have become if it had not been put.
	Undecided bool
	// Extra goes with the content of File, see [Valued].
	Extra any
}

// Move describes an edit of [Source.Move].
type Move struct {
	ID nodes.ID
	To Place
	// Exchange says that the node at To gets the name of ID.
	Exchange bool
	// Text and Other are what readers of ID and To see while these are written to. They are nil
	// if readers see the source's content. Only a Valued source uses them.
	Text, Other []byte
	// Undecided and Note are those of From, for ID.
	Undecided bool
	Extra     any
}

// Valued is a Source whose files are single values. A value is written at once and as a whole,
// so no refused text is kept: the file becomes what it was before.
type Valued interface {
	Source
	// NewID returns the number of a new file, which keeps it when it becomes one of the source.
	NewID() (nodes.ID, error)
	// Extra returns what the source knows of a file beside its content, which the file keeps when it becomes
	// scratch.
	Extra(file nodes.ID) any
	// Refuse returns an error if no text with this beginning can be put.
	Refuse(to Place, begin []byte, from From) error
}

// Watcher is told of changes of what a source shows, also during an edit. Its methods take no
// lock that is held while the source edits. A source must not call them under a lock that Where
// needs.
type Watcher interface {
	// Changed reports a change that makes caches stale.
	Changed(c nodes.Change)
	// Edited reports that a file other than the one that is put has a new content. The file has
	// the time that the source tells.
	Edited(file nodes.ID)
	// Gone reports that a node of the source no longer exists, though the overlay did not ask
	// for that. was is its last content, or nil if that is unknown. Everything that the overlay
	// has in a directory goes with the directory.
	Gone(id nodes.ID, kind nodes.Kind, was Content)
	// Back reports that nodes which were removed, or gone, are the source's again, under their
	// numbers.
	Back()
	// HasMore reports whether a directory has anything besides what the source has in it.
	HasMore(dir nodes.ID) bool
	// HasText reports whether a file shows a text that the source does not have, because it is
	// being written or was refused. A source must not drop such a file by itself without calling
	// Gone, or the text would be lost.
	HasText(file nodes.ID) bool
}

// Name tells what a source knows of a name in a directory.
type Name struct {
	// Text is the name as the source spells it.
	Text string
	// ID is the node of the source that has the name, or 0. The overlay may show another one
	// there.
	ID   nodes.ID
	Kind nodes.Kind
	// Writable says that a file can be changed. Sole says that its content is nowhere else, not
	// even in what is saved, so a refused text must not replace it.
	Writable, Sole bool
	// File and Dir say what can be made by the name if no node has it.
	File, Dir Made
	// Twin is another name that can't exist beside this one, and TwinID is the file of the
	// source that has it. Both may be empty.
	Twin   string
	TwinID nodes.ID
}

// Made says what a new file or directory would be.
type Made struct {
	// Own says that it would be the source's. Otherwise it is scratch.
	Own bool
	// Err is the reason if it can't be made.
	Err error
}

// Content is a file of a source as it was at some time.
type Content interface {
	Size(ctx context.Context) (int64, error)
	ModTime() time.Time
	// ReadAt works like that of [nodes.Tree].
	ReadAt(ctx context.Context, p []byte, off int64) (int, error)
}

// Options configure New.
type Options struct {
	// FirstID is the first number that the overlay gives. The source must have no number from
	// there on.
	FirstID nodes.ID
	// Empty says that a new file which is closed before anything was written becomes one of the
	// source, with an empty text. Otherwise such a file waits for its text.
	Empty bool
	EditOptions
}

// EditOptions are the options that all editable trees have.
type EditOptions struct {
	// Sync makes all edits durable that were made. Default: nothing is done.
	Sync func() error
	// Check returns an error if a file can't be opened for writing because the source has
	// changed. The check of the source may be done only now and then. Default: there is only
	// that one.
	Check func() error
	// Now returns the time of an edit. Default: time.Now.
	Now func() time.Time
	// Limits bound the texts that are held in memory.
	Limits Limits
	// Logger gets a message for each refused text that can't be kept under both names, and for
	// what is in a text and not stored. Default: none.
	Logger *slog.Logger
}

// MaxTexts is the usual default of [Limits.Texts].
const MaxTexts = 1 << 30

// Limits are the most bytes of one text, and of all texts that are held together: those that are
// being written, were refused or are scratch.
type Limits struct{ Text, Texts int64 }

// SetDefaults sets the options that are missing. limits are the defaults of the Limits.
func (o *EditOptions) SetDefaults(limits Limits) {
	if o.Sync == nil {
		o.Sync = func() error { return nil }
	}
	if o.Check == nil {
		o.Check = func() error { return nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Limits.Text = cmp.Or(o.Limits.Text, limits.Text)
	o.Limits.Texts = cmp.Or(o.Limits.Texts, limits.Texts)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}
