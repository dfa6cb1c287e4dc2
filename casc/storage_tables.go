package casc

import (
	"context"
	"iter"

	"lorefs/casc/index"
	"lorefs/casc/keys"
)

// Indexes yields the local index files in use, by bucket. Mirrors have none.
func (s *Storage) Indexes() iter.Seq2[int, *index.Idx] {
	return func(yield func(int, *index.Idx) bool) {
		l, ok := s.archives.(*localArchives)
		if !ok {
			return
		}
		for b, x := range l.now.Load().indexes {
			if x != nil && !yield(b, x.Idx) {
				return
			}
		}
	}
}

// Shmem reads shmem, which lies beside the archives of installs. If there is none the error
// matches io/fs.ErrNotExist.
func (s *Storage) Shmem() (*index.Shmem, error) { return s.archives.shmem() }

// IndexNames returns the sorted names of the local archive indexes: those of a mirror, or
// those in the folder indices of an install.
func (s *Storage) IndexNames() ([]keys.Key, error) { return s.archives.indexNames() }

// ReadIndex reads an index of IndexNames.
func (s *Storage) ReadIndex(ctx context.Context, name keys.Key) (*index.Archive, error) {
	return s.archives.readIndex(ctx, name)
}

// DiskSize returns the number of bytes of the archives and of the tables beside them. It
// leaves out files that it can't look at, since the game may remove one at any time.
func (s *Storage) DiskSize() int64 { return s.archives.diskSize() }
