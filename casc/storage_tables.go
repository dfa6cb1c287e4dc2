package casc

import (
	"context"
	"iter"

	"lorefs/casc/index"
	"lorefs/casc/internal/folder"
	"lorefs/casc/keys"
)

// Indexes yields the local index files in use, by bucket. Mirrors have none.
func (s *Storage) Indexes() iter.Seq2[int, *index.Idx] {
	l, ok := s.archives.(*folder.Installed)
	if !ok {
		return func(func(int, *index.Idx) bool) {}
	}
	return l.Open()
}

// Shmem reads shmem, which lies beside the archives of installs. If there is none the error
// matches io/fs.ErrNotExist.
func (s *Storage) Shmem() (*index.Shmem, error) { return s.archives.Shmem() }

// IndexNames returns the sorted names of the local archive indexes: those of a mirror, or
// those in the folder indices of an install.
func (s *Storage) IndexNames() ([]keys.Key, error) { return s.archives.IndexNames() }

// ReadIndex reads an index of IndexNames.
func (s *Storage) ReadIndex(ctx context.Context, name keys.Key) (*index.Archive, error) {
	return s.archives.ReadIndex(ctx, name)
}

// DiskSize returns the number of bytes of the archives and of the tables beside them. It
// leaves out files that it can't look at, since the game may remove one at any time.
func (s *Storage) DiskSize() int64 { return s.archives.DiskSize() }
