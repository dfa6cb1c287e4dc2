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

// Sweep removes what writers that died have left beside the file at path, and returns the
// paths that it removed. The file itself need not exist. Sweep touches only names that
// Replace makes, and no name of a living writer. A file that was in the place of the one at
// path, and has no other name, gets a lasting name: the error is then a [*KeptError],
// possibly joined with others.
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
	// The other names of a new file come first, since they are recognized by its own.
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

// resolveName splits the path of a file. It follows links if the file exists.
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
	// path is the name itself, owner that of the new file that it belongs to, which may be
	// the same, and file that of the file to replace.
	path, owner, file string
	mark              string
}

// errLeave means that a name is not ours to remove, or does not exist any more.
var errLeave = errors.New("left alone")

// sweep removes the name if its owner does not exist or is not locked. The other names have
// no locks of their own: they may lead to the old file, which others lock for other reasons.
func (l *leftover) sweep() error {
	f, err := filelock.OpenFile(l.owner, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, iofs.ErrNotExist):
		// Its writer died or has finished; names are never used twice.
	case err != nil:
		return errLeave // a file that can't be opened is not ours
	default:
		// Hold the lock until the file is removed. Otherwise a writer that has just made it
		// could lock it and then lose it.
		defer f.Close()
		if err := filelock.LockFile(f); err != nil {
			return errLeave // its writer lives, or that is unknown
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

// hasOtherName reports whether the file also has one of the other names that Replace gives
// it. If not, it may be the only copy of the old file, or a file of another program.
func (l *leftover) hasOtherName() bool {
	for _, name := range []string{l.owner, l.file, l.file + backupSuffix} {
		if same(l.path, name) {
			return true
		}
	}
	return false
}

// same reports whether two paths are one file. It does not follow links.
func same(a, b string) bool {
	infoA, errA := os.Lstat(a)
	infoB, errB := os.Lstat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
