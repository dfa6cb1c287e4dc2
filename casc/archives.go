package casc

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"lorefs/casc/index"
	"lorefs/casc/keys"
)

// place is where an encoded file is.
type place struct {
	io.ReaderAt
	size int64
	// file and off are the place for errors: the archive, or a loose file, and the offset
	// of the encoded file in it.
	file string
	off  int64
	// proven says that only bytes come from it that the key of the file has proven.
	proven bool
}

func (p *place) String() string { return fmt.Sprintf("%s at %#x", p.file, p.off) }

// archives finds encoded files, in an installed game or in a mirror.
type archives interface {
	// find looks for the file whose encoding key begins with key, which has keys.ShortSize
	// bytes at least. If the file is not here the error matches ErrNotLocal.
	find(ctx context.Context, key []byte) (place, error)
	// others returns the places besides that of find, for when what is there is not the file: an
	// index may have several entries of a key, of which some are out of date.
	others(key []byte) []place
	// has is find without opening anything. An error means that it could not find out.
	has(key []byte) (bool, error)
	// refresh looks whether the files have changed, and takes over what is new. It returns
	// false if nothing is.
	refresh() (bool, error)
	// spans returns all files, in the order of their places. It leaves out those that it
	// can't list because of faults.
	spans(ctx context.Context) (all []spanEntry, faults []error)
	// at returns the place of an entry of spans.
	at(ctx context.Context, e *spanEntry) (place, error)
	// shmem reads what programs that share an install coordinate by. Without it the error
	// matches io/fs.ErrNotExist.
	shmem() (*index.Shmem, error)
	// indexNames returns the sorted names of the indexes of a CDN that are here.
	indexNames() ([]keys.Key, error)
	// readIndex reads an index of indexNames.
	readIndex(ctx context.Context, name keys.Key) (*index.Archive, error)
	// diskSize returns the number of bytes of all that is here.
	diskSize() int64
	// problems returns the faults that did not keep the archives from being opened.
	problems() []error
	io.Closer
}

// sortSpans sorts files by their places.
func sortSpans(all []spanEntry) {
	slices.SortFunc(all, func(a, b spanEntry) int {
		return cmp.Or(cmp.Compare(a.at.Archive, b.at.Archive), cmp.Compare(a.at.Off, b.at.Off), a.key.Compare(b.key))
	})
}
