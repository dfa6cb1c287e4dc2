package replace

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"lorefs/internal/filelock"
)

const (
	// tempMark is what stands between a file's name and the random part.
	tempMark   = ".lorefs-"
	tempSuffix = ".tmp"
	// randomLen is the length of the random part, in hexadecimal digits.
	randomLen = 16

	// tempPerm holds until a file is complete.
	tempPerm = 0o600
	// tries is how often a name is made up. A second one is needed only if Sweep
	// runs elsewhere at that moment.
	tries = 100
)

// tempFile is a new file that is not in its place yet.
type tempFile struct {
	*os.File
	path   string
	closed bool
}

// createTemp makes and locks a file beside path.
func createTemp(path string) (*tempFile, error) {
	dir, base := filepath.Split(path)
	var last error
	for range tries {
		temp := fmt.Sprintf("%s.%s%s%0*x%s", dir, base, tempMark, randomLen, rand.Uint64(), tempSuffix)
		f, err := filelock.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, tempPerm)
		if errors.Is(err, iofs.ErrExist) {
			last = err
			continue
		}
		if err != nil {
			return nil, err
		}
		t := &tempFile{File: f, path: temp}
		// Between making and locking, Sweep may take the file for abandoned. Any
		// other failure means that locks cannot be had; then Sweep keeps off too.
		last = filelock.LockFile(f)
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
	if rmErr := os.Remove(t.path); rmErr != nil && !errors.Is(rmErr, iofs.ErrNotExist) {
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

// backupPath is the temporary name of the backup that belongs to this file.
func (t *tempFile) backupPath() string { return backupPath(t.path) }

func backupPath(temp string) string {
	return strings.TrimSuffix(temp, tempSuffix) + backupSuffix + tempSuffix
}

// ownerOf tells whether a name is one that replacing base makes, and gives the
// name of the new file that it belongs to, which for a new file is its own.
func ownerOf(name, base string) (owner string, ok bool) {
	prefix := "." + base + tempMark
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return "", false
	}
	rest, ok = strings.CutSuffix(rest, tempSuffix)
	if !ok {
		return "", false
	}
	rest = strings.TrimSuffix(rest, backupSuffix)
	if len(rest) != randomLen || strings.Trim(rest, "0123456789abcdef") != "" {
		return "", false
	}
	return prefix + rest + tempSuffix, true
}
