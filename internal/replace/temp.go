package replace

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lorefs/internal/disk"
	"lorefs/internal/filelock"
)

const (
	// tempMark is what stands between a file's name and the random part.
	tempMark   = ".lorefs-"
	tempSuffix = ".tmp"
	// randomLen is the length of the random part, in hexadecimal digits.
	randomLen = 16

	// tries is how often a name is made up. A second one is needed only if Sweep
	// runs elsewhere at that moment.
	tries = 100
)

// tempFile is a new file that is not in its place yet.
type tempFile struct {
	disk.File
	disk   disk.FS
	path   string
	closed bool
}

// createTemp makes and locks a file beside path.
func createTemp(fs disk.FS, path string) (*tempFile, error) {
	dir, base := filepath.Split(path)
	var last error
	for range tries {
		temp := fmt.Sprintf("%s.%s%s%0*x%s", dir, base, tempMark, randomLen, rand.Uint64(), tempSuffix)
		f, err := fs.Open(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL)
		if errors.Is(err, iofs.ErrExist) {
			last = err
			continue
		}
		if err != nil {
			return nil, err
		}
		t := &tempFile{File: f, disk: fs, path: temp}
		// Between making and locking, Sweep may take the file for abandoned. Any
		// other failure means that locks cannot be had; then Sweep keeps off too.
		last = filelock.LockFile(f.OS())
		if !errors.Is(last, filelock.ErrLocked) && t.isAt(temp) {
			return t, nil
		}
		if err := t.discard(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("no name for a temporary file was left after %d: %w", tries, last)
}

func (t *tempFile) discard() error {
	err := t.close()
	if rmErr := t.disk.Remove(t.path); rmErr != nil && !errors.Is(rmErr, iofs.ErrNotExist) {
		err = errors.Join(err, rmErr)
	}
	return err
}

// isAt tells whether a path leads to this file.
func (t *tempFile) isAt(path string) bool {
	mine, err := t.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}

// close closes the file once.
func (t *tempFile) close() error {
	if t.closed {
		return nil
	}
	t.closed = true
	return t.Close()
}

// The marks of names that belong to a new file, and stand behind its random part.
const (
	backupMark = ".bak"  // a second name of the old file
	copyMark   = ".copy" // a copy of the old file, maybe half written
	swapMark   = ".swap" // a second name of the new file, or the old file behind the exchange
)

// sibling is a temporary name that belongs to this file.
func (t *tempFile) sibling(mark string) string {
	return strings.TrimSuffix(t.path, tempSuffix) + mark + tempSuffix
}

// keptMark stands between a file's name and the random part, in the name of a file that
// has no other and that somebody may want.
const keptMark = ".kept-"

// keep gives a file with a temporary name one that shows, beside the one that it came
// from.
func keep(fs disk.FS, temp, path string) (string, error) {
	mark, ok := parseName(filepath.Base(temp), filepath.Base(path))
	if !ok {
		return temp, fmt.Errorf("BUG: %s is no temporary name of %s", temp, path)
	}
	kept := path + keptMark + mark.random
	if err := fs.Rename(temp, kept); err != nil {
		return temp, err
	}
	return kept, nil
}

// tempName is what a temporary name says.
type tempName struct {
	// random is its random part, and mark what stands behind it: empty for a new file.
	random, mark string
	// owner is the name of the new file that it belongs to, which may be itself.
	owner string
}

// parseName tells whether a name is one that replacing base makes.
func parseName(name, base string) (tempName, bool) {
	prefix := "." + base + tempMark
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok || len(rest) < randomLen {
		return tempName{}, false
	}
	n := tempName{random: rest[:randomLen], owner: prefix + rest[:randomLen] + tempSuffix}
	n.mark, ok = strings.CutSuffix(rest[randomLen:], tempSuffix)
	if !ok || strings.Trim(n.random, "0123456789abcdef") != "" {
		return tempName{}, false
	}
	return n, slices.Contains([]string{"", backupMark, copyMark, swapMark}, n.mark)
}
