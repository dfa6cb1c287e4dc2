package casc

import (
	"iter"
	"path"
)

// Indexes gives the local index files in use, by bucket. There are none in folders
// as CDNs have them.
func (s *Storage) Indexes() iter.Seq2[int, *Idx] {
	return func(yield func(int, *Idx) bool) {
		l, ok := s.archives.(*localArchives)
		if !ok {
			return
		}
		for b, x := range l.indexes {
			if x != nil && !yield(b, x) {
				return
			}
		}
	}
}

// ArchiveIndexes gives the indexes of archives, by the keys that their files are
// called by, of folders as CDNs have them.
func (s *Storage) ArchiveIndexes() iter.Seq2[Key, *ArchiveIndex] {
	return func(yield func(Key, *ArchiveIndex) bool) {
		m, ok := s.archives.(*mirrorArchives)
		if !ok {
			return
		}
		for i := range m.indexes {
			if !yield(m.indexes[i].archive, m.indexes[i].ArchiveIndex) {
				return
			}
		}
	}
}

// Shmem reads shmem, which lies beside the archives of installs. The error matches
// io/fs.ErrNotExist if it does not.
func (s *Storage) Shmem() (*Shmem, error) {
	data, err := readFile(s.fsys, path.Join(s.ArchiveDir, "shmem"), maxText)
	if err != nil {
		return nil, err
	}
	return ParseShmem(data)
}
