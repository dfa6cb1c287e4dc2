package kinds

import (
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"time"

	"lorefs/cmd/internal/save"
	"lorefs/nodes"
	"lorefs/nodes/blockcache"
)

// Archive is an open source of some kind.
type Archive interface {
	// ModTime returns the modification time that the source had when it was opened.
	ModTime() time.Time
	// Describe describes the whole source. It may have to read all of it.
	Describe() (Description, error)
	// Check returns an error if the source has changed since it was opened.
	Check() error
	// Complete reports whether all names below a path are there. If some are missing, the
	// log says so, and a command that lists or copies the path has not done all of its work.
	Complete(path string) bool
	// Notices returns how the source has changed since it was opened, and faults that did
	// not keep it from being opened.
	Notices() []string
	// Readable returns why a file of the tree can't be read, as far as that is known without
	// reading it.
	Readable(ctx context.Context, file nodes.ID) error
	// HasZeros reports whether a file of the tree has zeros where the source can't be read.
	HasZeros(ctx context.Context, file nodes.ID) bool
	// QuickSizes returns how many files may be asked for their sizes at once. It is 0 if a
	// file has to be rendered to know its size, like a picture, a mesh or a packet.
	QuickSizes() int
	// AmpleRoom is how much room on a disk is enough to write all that Kind.Exports names, so that
	// its size need not be known first. It is 0 if the size is known soon.
	AmpleRoom() int64
	// QuickFiles returns how large a file may be for a mount to make it before it is read. It is
	// 0 if that takes longer than the size of the file tells, or is waited for.
	QuickFiles() int64
	Close() error

	// Mounts returns the entries of the root of a mount. Inode numbers depend on their
	// order, so a new entry has to be the last. A single tree without a name is the root
	// itself, see WholeRoot.
	Mounts() ([]nodes.Mount, error)
	// BeginEdits makes the source editable, and replays edits that a crash has left. It returns
	// the same entries as Mounts, with editable trees. The first session is for the source
	// itself; each saves its own files.
	BeginEdits(ctx context.Context, o EditOptions) ([]Session, []nodes.Mount, error)
	// Unsaved makes the edits of a journal that were made on the source at a path, in memory.
	// The source is neither locked nor changed, and must not be used otherwise.
	Unsaved(ctx context.Context, j *save.Journal, path string) (Lister, error)
	// ShowUnsaved has Mounts, and all else that shows the source, show it with the edits that are
	// not saved. The source is neither locked nor changed, and can't be edited any more.
	ShowUnsaved(ctx context.Context) error
	// InPlace returns an error that matches [nodes.ErrChanged] if another file has taken the place
	// of one that was opened.
	InPlace() error
}

// Plain implements [Archive] for a source that can't be edited and has no notices. Kinds embed
// it.
type Plain struct{}

// Complete implements [Archive].
func (Plain) Complete(string) bool { return true }

// Notices implements [Archive].
func (Plain) Notices() []string { return nil }

// QuickSizes implements [Archive].
func (Plain) QuickSizes() int { return 0 }

// AmpleRoom implements [Archive].
func (Plain) AmpleRoom() int64 { return 0 }

// QuickFiles implements [Archive].
func (Plain) QuickFiles() int64 { return 0 }

// Readable implements [Archive].
func (Plain) Readable(context.Context, nodes.ID) error { return nil }

// HasZeros implements [Archive].
func (Plain) HasZeros(context.Context, nodes.ID) bool { return false }

// Unsaved implements [Archive].
func (Plain) Unsaved(context.Context, *save.Journal, string) (Lister, error) {
	return nil, ErrReadOnly
}

// ShowUnsaved implements [Archive].
func (Plain) ShowUnsaved(context.Context) error { return nil }

// InPlace implements [Archive].
func (Plain) InPlace() error { return nil }

// BeginEdits implements [Archive].
func (Plain) BeginEdits(context.Context, EditOptions) ([]Session, []nodes.Mount, error) {
	return nil, nil, ErrReadOnly
}

// WholeRoot returns the result of [Archive.Mounts] for a tree that is the root of the mount.
func WholeRoot(tree nodes.Tree) []nodes.Mount { return []nodes.Mount{{Tree: tree}} }

// Description describes a whole source, for info. It is encoded as a JSON object, and
// scripts rely on the names of its members.
type Description interface {
	// Print writes it as a table for people.
	Print(w io.Writer) error
}

// Source is an open source.
type Source struct {
	Archive
	Kind *Kind
	// A mount shows Tree. Views are the trees below its root.
	Tree  nodes.Tree
	Views []View
	// Blocks is the cache of decoded blocks.
	Blocks *blockcache.Cache
	// Sessions is nil until the source is edited.
	Sessions []Session
}

// View is a tree with its directory in the root. Without a name it is the root itself.
type View struct {
	Name  string `json:"name"`
	Nodes int64  `json:"nodes"`
}

// Open opens a source of this kind. Unless ctx has ended, the error is an [*Error].
func (k *Kind) Open(ctx context.Context, path string, opts *Options) (*Source, error) {
	o := NewOpening(opts)
	s := &Source{Kind: k, Blocks: o.Blocks}
	var err error
	if s.Archive, err = k.OpenArchive(ctx, path, o); err != nil {
		return nil, err
	}
	mounts, err := s.Mounts()
	if err == nil {
		err = s.Show(mounts)
	}
	if err != nil {
		return nil, errors.Join(&Error{Err: err}, s.Close())
	}
	s.Tree = leavable(s.Tree, s.Archive)
	return s, nil
}

// TakeUnsaved shows the source with the edits that are not saved, which a mount holds or a crash has
// left. If the source was saved meanwhile, or replaced, the error matches [nodes.ErrChanged]. Else
// the source has one state: its files were there together, and these are their edits. With
// Options.Pinned it keeps that.
func (s *Source) TakeUnsaved(ctx context.Context) error {
	err := s.ShowUnsaved(ctx)
	// The journal was read after the files: it may be of those that have taken their place, or gone
	// with a save.
	if changed := s.InPlace(); changed != nil {
		return changed
	}
	switch {
	case errors.Is(err, iofs.ErrNotExist): // the journal went while it was read
		return &ChangedError{err}
	case err != nil:
		return err
	}
	return s.showAnew()
}

// rewriter is an archive that can be what a save would write.
type rewriter interface {
	// SaveInMemory does that. done is false if there is nothing to save.
	SaveInMemory(ctx context.Context) (done bool, err error)
}

// SaveInMemory has a data center whose unsaved edits were taken be a file that has them.
func (s *Source) SaveInMemory(ctx context.Context) error {
	r, ok := s.Archive.(rewriter)
	if !ok {
		return nil
	}
	if done, err := r.SaveInMemory(ctx); err != nil || !done {
		return err
	}
	return s.showAnew()
}

// showAnew shows the views anew after something else has taken their place.
func (s *Source) showAnew() error {
	mounts, err := s.Mounts()
	if err != nil {
		return err
	}
	return s.Show(mounts)
}

// Show shows all views under one root.
func (s *Source) Show(mounts []nodes.Mount) error {
	if len(mounts) == 1 && mounts[0].Name == "" {
		s.Tree = mounts[0].Tree
		s.Views = []View{{Nodes: s.Tree.Usage().Nodes}}
		return nil
	}
	s.Views = nil
	for _, m := range mounts {
		if m.Tree != nil {
			s.Views = append(s.Views, View{Name: m.Name, Nodes: m.Tree.Usage().Nodes})
		}
	}
	var err error
	s.Tree, err = nodes.NewMux(s.ModTime(), mounts)
	return err
}

// Content reads a file of the tree.
func (s *Source) Content(ctx context.Context, e nodes.Entry) *io.SectionReader {
	return ContentOf(ctx, s.Tree, e)
}

// ContentOf reads a file of a tree.
func ContentOf(ctx context.Context, tree nodes.Tree, e nodes.Entry) *io.SectionReader {
	return io.NewSectionReader(content{ctx, tree, e.ID}, 0, e.Size)
}

// content is an [io.ReaderAt] of a file of a tree.
type content struct {
	ctx  context.Context //nolint:containedctx // io.ReaderAt takes no context
	tree nodes.Tree
	id   nodes.ID
}

func (c content) ReadAt(p []byte, off int64) (int, error) {
	return c.tree.ReadAt(c.ctx, c.id, p, off)
}

// Close closes the sessions and the source.
func (s *Source) Close() error {
	return errors.Join(CloseSessions(s.Sessions), s.Archive.Close())
}
