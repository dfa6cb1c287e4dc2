package kinds

import (
	"context"

	"lorefs/nodes"
)

// What only some sources can do. Those of other kinds have none of it.

// preparer is an archive that can read ahead what reads of files would have to wait for.
type preparer interface {
	Prepare(ctx context.Context) error
	// Rows is Source.Rows.
	Rows() func(context.Context, []nodes.ID) ([][]int, error)
}

// numbered is an archive whose files have numbers besides names.
type numbered interface {
	FileID(file nodes.ID) (id uint32, ok bool)
	// NamesHint is Source.NamesHint.
	NamesHint(name string) string
}

// partly is an archive of which a file may be read in part.
type partly interface {
	Partial(ctx context.Context) []string
}

// keyed is an archive whose files have keys of their contents.
type keyed interface {
	SameAs(ctx context.Context, file nodes.ID, size int64, sum func(off, size int64) ([16]byte, error)) (bool, error)
}

// SameAs tells whether a file of the tree has a content by the MD5 of that, without reading the file. It returns
// false if that can't be told.
func (s *Source) SameAs(ctx context.Context, file nodes.ID, size int64, sum func(off, size int64) ([16]byte, error)) (bool, error) {
	if k, ok := s.Archive.(keyed); ok {
		return k.SameAs(ctx, file, size, sum)
	}
	return false, nil
}

// Prepare reads what reads of files would have to wait for, such as the indexes of a source on
// a CDN. It returns when that is done or ctx has ended.
func (s *Source) Prepare(ctx context.Context) error {
	if p, ok := s.Archive.(preparer); ok {
		return p.Prepare(ctx)
	}
	return nil
}

// Rows returns a function that says in which order files are best read as a whole: see
// [casc.Storage.Rows]. It returns nil for a source whose files lie nowhere in particular.
func (s *Source) Rows() func(context.Context, []nodes.ID) ([][]int, error) {
	if p, ok := s.Archive.(preparer); ok {
		return p.Rows()
	}
	return nil
}

// FileID returns the number that the root of a CASC storage has for a file of the tree.
func (s *Source) FileID(file nodes.ID) (id uint32, ok bool) {
	if n, is := s.Archive.(numbered); is {
		return n.FileID(file)
	}
	return 0, false
}

// NamesHint returns what to tell somebody who looks for names at a path, if the source has numbers
// in place of names; nothing otherwise.
func (s *Source) NamesHint(name string) string {
	if n, ok := s.Archive.(numbered); ok {
		return n.NamesHint(name)
	}
	return ""
}

// Partial returns the paths of the files that were read so far with zeros for blocks whose key
// is not known.
func (s *Source) Partial(ctx context.Context) []string {
	if p, ok := s.Archive.(partly); ok {
		return p.Partial(ctx)
	}
	return nil
}
