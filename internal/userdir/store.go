package userdir

import (
	"cmp"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Store keeps data under keys in the files of one folder, the newest of them up to a number
// of bytes. It is safe for parallel use, also by several processes.
type Store struct {
	dir   *Dir
	limit int64
}

// suffix is the extension of the files of a Store.
const suffix = ".idx"

// maxKeyLen keeps names of files far below what any system accepts.
const maxKeyLen = 128

// NewStore returns a Store of at most limit bytes in dir, in which nothing else may lie.
func NewStore(dir *Dir, limit int64) *Store { return &Store{dir: dir, limit: limit} }

// Load returns what was saved under key, or an error that matches [iofs.ErrNotExist]. The
// caller has to check the data.
func (s *Store) Load(key string) ([]byte, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	data, err := s.dir.ReadFile(key+suffix, s.limit)
	if err != nil {
		return nil, err
	}
	// Mark it as used, so that it stays. If that fails it does no harm.
	now := time.Now()
	_ = s.dir.root.Chtimes(key+suffix, now, now)
	return data, nil
}

// Save saves data under key. If there is too much it drops what has not been used for
// longest. It does not keep data that is too large by itself.
func (s *Store) Save(key string, data []byte) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if int64(len(data)) > s.limit {
		return fmt.Errorf("%d bytes are too many to keep: the limit is %d", len(data), s.limit)
	}
	if err := s.dir.WriteFile(key+suffix, data); err != nil {
		return err
	}
	return s.prune(key + suffix)
}

// checkKey allows letters, digits and "-", so that a key is a file's name.
func checkKey(key string) error {
	bad := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
	}
	if key == "" || len(key) > maxKeyLen || strings.ContainsFunc(key, bad) {
		return fmt.Errorf("%q is no key", key)
	}
	return nil
}

// prune removes the oldest files beyond the limit, but never keep. Partial files from a
// crash go the same way, since they get no newer.
func (s *Store) prune(keep string) error {
	files, err := s.files()
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return cmp.Compare(b.ModTime().UnixNano(), a.ModTime().UnixNano()) })
	total := int64(0)
	for _, f := range files {
		if f.Name() == keep {
			total += f.Size()
		}
	}
	for _, f := range files {
		if f.Name() == keep {
			continue
		}
		if total += f.Size(); total > s.limit {
			if err := s.dir.Remove(f.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) files() ([]os.FileInfo, error) {
	entries, err := iofs.ReadDir(s.dir.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	files := make([]os.FileInfo, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, iofs.ErrNotExist) {
			continue // another process was faster
		}
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			files = append(files, info)
		}
	}
	return files, nil
}
