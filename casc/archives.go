package casc

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

// place is where an encoded file is.
type place struct {
	io.ReaderAt
	size int64
	// file and off say where, for errors: the archive, or a file of its own, and
	// where in it the encoded file begins.
	file string
	off  int64
}

func (p *place) String() string { return fmt.Sprintf("%s at %#x", p.file, p.off) }

// archives finds encoded files.
type archives interface {
	// find looks for the file whose encoding key begins with key, which has
	// ShortKeySize bytes at least. The error matches ErrNotLocal if it is not here.
	find(key []byte) (place, error)
	// has is find without opening anything. An error means that it can't be told.
	has(key []byte) (bool, error)
	// refresh looks whether the files are still what they were, and takes over what
	// has changed. It is false if nothing has.
	refresh() (bool, error)
	// spans are all files, in the order of their places, but those of which faults say
	// that they can't be told.
	spans() (all []spanEntry, faults []error)
	// at is where one of spans is.
	at(e *spanEntry) (place, error)
	// problems are faults that the source lives with.
	problems() []error
	io.Closer
}

// sortSpans puts files in the order of their places.
func sortSpans(all []spanEntry) {
	slices.SortFunc(all, func(a, b spanEntry) int {
		return cmp.Or(cmp.Compare(a.at.Archive, b.at.Archive), cmp.Compare(a.at.Off, b.at.Off), a.key.Compare(b.key))
	})
}
