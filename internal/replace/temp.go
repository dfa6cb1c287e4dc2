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
	// tempMark separates a file's name from the random part.
	tempMark   = ".lorefs-"
	tempSuffix = ".tmp"
	// randomLen is the length of the random part, in hexadecimal digits.
	randomLen = 16

	// tries is how often a name is tried. More than one is needed only if Sweep runs at the
	// same time.
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
		// Sweep may take the file for abandoned before it is locked. Any other error means
		// that the system has no locks; then Sweep removes nothing.
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

// isAt reports whether a path is this file.
func (t *tempFile) isAt(path string) bool {
	mine, err := t.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}

func (t *tempFile) close() error {
	if t.closed {
		return nil
	}
	t.closed = true
	return t.Close()
}

// These marks follow the random part in names that belong to a new file.
const (
	backupMark = ".bak"  // a second name of the old file
	copyMark   = ".copy" // a copy of the old file, possibly incomplete
	swapMark   = ".swap" // a second name of the new file or, after the exchange, the old file
)

// sibling returns a temporary name that belongs to this file.
func (t *tempFile) sibling(mark string) string {
	return strings.TrimSuffix(t.path, tempSuffix) + mark + tempSuffix
}

// keptMark separates a file's name from the random part in the name of a file that has no
// other name and may be worth keeping.
const keptMark = ".kept-"

// keep gives a file with a temporary name a lasting one beside path.
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

// tempName is a parsed temporary name.
type tempName struct {
	// random is its random part, and mark what follows that: empty for a new file.
	random, mark string
	// owner is the name of the new file that it belongs to, which may be the same.
	owner string
}

// parseName parses a name, and reports whether replacing base makes such names.
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
