package kinds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/blockcache"
)

// archive is an open source of some kind.
type archive interface {
	// ModTime is when the source last changed before it was opened.
	ModTime() time.Time
	// Describe says what is known of the source as a whole. It may read all of it.
	Describe() (Description, error)
	// Check tells whether the source is still what it was when it was opened.
	Check() error
	// Complete is false if names of the source are missing below a path, of which the log
	// told: then what could be done with what is there is not all that was asked for.
	Complete(path string) bool
	// Notices tell what has become of the source since, and of the faults it lives with.
	Notices() []string
	// QuickSizes is of how many files the sizes are found out in no time, 0 if each has to
	// be made for that, as pictures, meshes and packets have to.
	QuickSizes() int
	// Close gives the source back.
	Close() error

	// mounts gives what the root of a mount holds. The order is part of the inode
	// numbers: what comes later goes behind. A single tree without a name is the
	// root itself, see wholeRoot.
	mounts() ([]nodes.Mount, error)
	// edit begins to edit, and makes edits again that a crash has left behind. The mounts
	// are those of mounts, of trees that can be changed. Each editor saves its own; the
	// first is the source's.
	edit(ctx context.Context, o EditOptions) ([]Editor, []nodes.Mount, error)
}

// plain is what there is to say of a source that is never edited, and has nothing to tell.
type plain struct{}

func (plain) Complete(string) bool { return true }
func (plain) Notices() []string    { return nil }
func (plain) QuickSizes() int      { return 0 }

func (plain) edit(context.Context, EditOptions) ([]Editor, []nodes.Mount, error) {
	return nil, nil, ErrReadOnly
}

// wholeRoot is what mounts gives for a tree that is the root of the mount itself.
func wholeRoot(tree nodes.Tree) []nodes.Mount { return []nodes.Mount{{Tree: tree}} }

// Description is what is known of a source as a whole: what info prints, and the
// file in the root of a mount. As JSON, it is an object; scripts rely on its names.
type Description interface {
	// Print writes it for people.
	Print(w io.Writer) error
}

// Source is an open source that can be looked into.
type Source struct {
	archive
	Kind *Kind
	// Tree is what a mount shows, and Views are the directories in its root.
	Tree  nodes.Tree
	Views []View
	// Blocks hold what was decoded.
	Blocks *blockcache.Cache
	// Editors are those of what is being edited, none of a source that is only read.
	Editors []Editor
}

// View is one directory in the root of the tree, or without a name all of it.
type View struct {
	Name  string `json:"name"`
	Nodes int64  `json:"nodes"`
}

// Open opens a source of this kind. An error is an [*Error], but for the end of ctx.
func (k *Kind) Open(ctx context.Context, path string, opts *Options) (*Source, error) {
	o := newOpening(opts)
	s := &Source{Kind: k, Blocks: o.blocks}
	var err error
	if s.archive, err = k.open(ctx, path, o); err != nil {
		return nil, err
	}
	mounts, err := s.mounts()
	if err == nil {
		err = s.mux(mounts)
	}
	if err != nil {
		return nil, errors.Join(&Error{Err: err}, s.Close())
	}
	return s, nil
}

// mux puts all views of the source under one root. A view without a name is the
// root itself.
func (s *Source) mux(mounts []nodes.Mount) error {
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

// DataCenter is the source as a data center, if it is one.
func (s *Source) DataCenter() (d *DataCenter, ok bool) {
	d, ok = s.archive.(*DataCenter)
	return d, ok
}

// Find resolves a path as a mount would show it, and its size; "/" is the root.
func (s *Source) Find(ctx context.Context, name string) (nodes.Entry, error) {
	e := nodes.Entry{Name: "/", ID: nodes.Root, Kind: nodes.Dir, ModTime: s.ModTime()}
	for part := range strings.SplitSeq(strings.TrimPrefix(path.Clean("/"+name), "/"), "/") {
		if part == "" {
			continue
		}
		if e.Kind != nodes.Dir { // the tree would call it by a number
			return e, fmt.Errorf("%s: %w", name, nodes.ErrNotDir)
		}
		next, err := s.Tree.Lookup(ctx, e.ID, part)
		if err != nil {
			return e, fmt.Errorf("%s: %w", name, err)
		}
		if next.ModTime.IsZero() {
			next.ModTime = e.ModTime
		}
		e = next
	}
	return nodes.WithSize(ctx, s.Tree, e)
}

// Content is a file of the tree.
func (s *Source) Content(ctx context.Context, e nodes.Entry) *io.SectionReader {
	return contentOf(ctx, s.Tree, e)
}

func contentOf(ctx context.Context, tree nodes.Tree, e nodes.Entry) *io.SectionReader {
	return io.NewSectionReader(content{ctx, tree, e.ID}, 0, e.Size)
}

// content is a file of a tree as an [io.ReaderAt].
type content struct {
	ctx  context.Context //nolint:containedctx // io.ReaderAt has no room for it
	tree nodes.Tree
	id   nodes.ID
}

func (c content) ReadAt(p []byte, off int64) (int, error) {
	return c.tree.ReadAt(c.ctx, c.id, p, off)
}

// Close gives the source back.
func (s *Source) Close() error {
	return errors.Join(closeEditors(s.Editors), s.archive.Close())
}
