package casc

import (
	"fmt"
	"io"
)

// place is where an encoded file is.
type place struct {
	io.ReaderAt
	size int64
	// file and off say where, for errors: the archive, or a file of its own, and
	// where in it the encoded file begins.
	file string
	off  int64
	// number is that of the place among all of the source, below 1<<40.
	number uint64
}

func (p *place) String() string { return fmt.Sprintf("%s at %#x", p.file, p.off) }

// archives finds encoded files.
type archives interface {
	// find looks for the file whose encoding key begins with key, which has
	// ShortKeySize bytes at least. The error matches ErrNotLocal if it is not here.
	find(key []byte) (place, error)
	// has is find without opening anything.
	has(key []byte) bool
	// problems are faults that the source lives with.
	problems() []error
	io.Closer
}
