package casc

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
)

// Indexes yields the local index files in use, by bucket. Mirrors have none.
func (s *Storage) Indexes() iter.Seq2[int, *Idx] {
	return func(yield func(int, *Idx) bool) {
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
func (s *Storage) Shmem() (*Shmem, error) {
	data, err := readFile(s.fsys, path.Join(s.ArchiveDir, "shmem"), maxText)
	if err != nil {
		return nil, err
	}
	return ParseShmem(data)
}

// IndexNames returns the sorted names of the local archive indexes: those of a mirror, or
// those in the folder indices of an install.
func (s *Storage) IndexNames() ([]Key, error) {
	if m, ok := s.archives.(*mirrorArchives); ok {
		return slices.SortedFunc(slices.Values(m.group.indexes), Key.Compare), nil
	}
	dir, err := findName(s.fsys, s.DataDir, indicesDir)
	if err != nil || dir == "" {
		return nil, err
	}
	entries, err := readDir(s.fsys, path.Join(s.DataDir, dir))
	if err != nil {
		return nil, err
	}
	var names []Key
	for _, e := range entries {
		text, index := strings.CutSuffix(e.Name(), indexSuffix)
		if key, err := ParseKey(text); index && err == nil {
			names = append(names, key)
		}
	}
	slices.SortFunc(names, Key.Compare)
	return names, nil
}

const (
	indicesDir  = "indices"
	indexSuffix = ".index"
)

// ReadIndex reads an index of IndexNames.
func (s *Storage) ReadIndex(name Key) (*ArchiveIndex, error) {
	file, err := s.indexPath(name)
	if err != nil {
		return nil, err
	}
	data, err := readFile(s.fsys, file, maxTable)
	if err != nil {
		return nil, err
	}
	x, err := parseNamedIndex(data, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return x, nil
}

func (s *Storage) indexPath(name Key) (string, error) {
	if m, ok := s.archives.(*mirrorArchives); ok {
		return m.path(name) + indexSuffix, nil
	}
	file, err := findPath(s.fsys, append(splitPath(s.DataDir), indicesDir, name.String()+indexSuffix)...)
	if err == nil && file == "" {
		err = fmt.Errorf("index %v: %w", name, ErrNotFound)
	}
	return file, err
}

func splitPath(name string) []string {
	if name == "." {
		return nil
	}
	return strings.Split(name, "/")
}

// DiskSize returns the number of bytes of the archives and of the tables beside them. It
// leaves out files that it can't look at, since the game may remove one at any time.
func (s *Storage) DiskSize() (total int64) {
	walkKeys(s.fsys, s.ArchiveDir, func(name string) {
		if st, err := stampOf(s.fsys, name); err == nil {
			total += st.size
		}
	}, func(error) {})
	return total
}
