package replace

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lorefs/internal/disk"
	"lorefs/internal/filelock"
	"lorefs/internal/links"
)

// Sweep removes what writers that died left beside the file at path, which need not be
// there itself, and gives the paths of what it removed. It touches only names that Replace
// makes, and none of a writer that lives. A file that was in the place of the one at path,
// and has no other name, is kept under one that shows: the error is a [*KeptError] then,
// and may be others as well.
func Sweep(path string) ([]string, error) {
	dir, base, err := resolveName(path)
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	var left []leftover
	for _, e := range entries {
		if n, ok := parseName(e.Name(), base); ok && e.Type().IsRegular() {
			left = append(left, leftover{
				path: filepath.Join(dir, e.Name()), mark: n.mark,
				owner: filepath.Join(dir, n.owner), file: filepath.Join(dir, base),
			})
		}
	}
	// What else belongs to a new file goes first, as long as that tells what it is.
	slices.SortStableFunc(left, func(a, b leftover) int { return strings.Compare(b.mark, a.mark) })
	var removed []string
	var kept error
	for i := range left {
		err := left[i].sweep()
		if _, isKept := errors.AsType[*KeptError](err); isKept {
			kept = errors.Join(kept, err)
			continue
		}
		if err != nil && !errors.Is(err, errLeave) {
			return removed, errors.Join(kept, fmt.Errorf("sweep: %w", err))
		}
		if err == nil {
			removed = append(removed, left[i].path)
		}
	}
	return removed, kept
}

// resolveName splits the path of a file, of which links are followed if it is there.
func resolveName(path string) (dir, base string, err error) {
	whole, err := links.Resolve(path)
	if errors.Is(err, iofs.ErrNotExist) {
		whole, err = links.Resolve(filepath.Dir(path))
		whole = filepath.Join(whole, filepath.Base(path))
	}
	dir, base = filepath.Split(whole)
	return dir, base, err
}

// leftover is a temporary name.
type leftover struct {
	// path is the name itself, owner that of the new file it belongs to, which may be
	// itself, and file that of the file which is replaced.
	path, owner, file string
	mark              string
}

// errLeave means that a name is not ours to remove, or is gone.
var errLeave = errors.New("left alone")

// sweep removes the name if its owner is abandoned: not there, or not locked. Other names
// have no lock of their own, as they may lead to the old file, which others lock for
// other reasons.
func (l *leftover) sweep() error {
	f, err := filelock.OpenFile(l.owner, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		// Its writer is gone or through; names are never used twice.
	case err != nil:
		return errLeave // What cannot be opened is somebody else's.
	default:
		// The lock is held until the file is removed, or a writer that has made it
		// this very moment would lock it and lose it.
		defer f.Close()
		if err := filelock.LockFile(f); err != nil {
			return errLeave // Its writer lives, or nobody can tell.
		}
		if closeFirst {
			f.Close()
		}
	}
	if (l.mark == backupMark || l.mark == swapMark) && !l.hasOtherName() {
		kept, err := keep(disk.OS{}, l.path, l.file)
		if errors.Is(err, iofs.ErrNotExist) {
			return errLeave
		}
		return errors.Join(&KeptError{File: l.file, Kept: kept}, err)
	}
	err = os.Remove(l.path)
	if errors.Is(err, iofs.ErrNotExist) {
		return errLeave
	}
	return err
}

// hasOtherName tells whether the file is also to be had by one of the names that
// replacing gives it. If it is not, it may be the only copy of the old file, or another
// program's that came to its place.
func (l *leftover) hasOtherName() bool {
	for _, name := range []string{l.owner, l.file, l.file + backupSuffix} {
		if same(l.path, name) {
			return true
		}
	}
	return false
}

// same tells whether two paths, not followed if they are links, are one file.
func same(a, b string) bool {
	infoA, errA := os.Lstat(a)
	infoB, errB := os.Lstat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
