package store

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"lorefs/casc/index"
	"lorefs/casc/keys"
	"lorefs/internal/readat"
)

// File is where an encoded file is.
type File struct {
	io.ReaderAt
	Size int64
	// In and off are the place for errors: the archive, or a loose file, and the offset
	// of the encoded file in it.
	In  string
	Off int64
	// Proven says that only bytes come from it that the key of the file has proven.
	Proven bool
}

func (p *File) String() string { return fmt.Sprintf("%s at %#x", p.In, p.Off) }

// IsBLTE reports whether the encoded file begins like BLTE.
func (p *File) IsBLTE(ctx context.Context) (bool, error) {
	const magic = "BLTE"
	b := make([]byte, min(p.Size, int64(len(magic))))
	err := readat.Full(readat.Bound(ctx, p.ReaderAt), b, 0)
	return string(b) == magic, err
}

// Archives finds encoded files, in an installed game or in a mirror.
type Archives interface {
	// Find looks for the file whose encoding key begins with key, which has keys.ShortSize
	// bytes at least. If the file is not here the error matches ErrNotLocal.
	Find(ctx context.Context, key []byte) (File, error)
	// Others returns the places besides that of find, for when what is there is not the file: an
	// index may have several entries of a key, of which some are out of date.
	Others(key []byte) []File
	// Has is find without opening anything. An error means that it could not find out.
	Has(key []byte) (bool, error)
	// Refresh looks whether the files have changed, and takes over what is new. It returns
	// false if nothing is.
	Refresh() (bool, error)
	// Spans returns all files, in the order of their places. It leaves out those that it
	// can't list because of faults.
	Spans(ctx context.Context) (all []Entry, faults []error)
	// At returns the place of an entry of spans.
	At(ctx context.Context, e *Entry) (File, error)
	// Shmem reads what programs that share an install coordinate by. Without it the error
	// matches io/fs.ErrNotExist.
	Shmem() (*index.Shmem, error)
	// IndexNames returns the sorted names of the indexes of a CDN that are here.
	IndexNames() ([]keys.Key, error)
	// ReadIndex reads an index of indexNames.
	ReadIndex(ctx context.Context, name keys.Key) (*index.Archive, error)
	// DiskSize returns the number of bytes of all that is here.
	DiskSize() int64
	// Problems returns the faults that did not keep the archives from being opened.
	Problems() []error
	io.Closer
}

// Entry is an encoded file at the place that an index states. In a mirror the number of its
// archive is its place among the sorted keys of archives, and loose files follow.
type Entry struct {
	index.Location
	Key     keys.Key
	KeySize int
	// Index is the number of the entry's index, if there are several.
	Index int
}

// Loose stands for a file that is in no record of an index.
const Loose = -1

// Sort sorts files by their places.
func Sort(all []Entry) {
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Archive, b.Archive), cmp.Compare(a.Off, b.Off), a.Key.Compare(b.Key))
	})
}
