package mirror

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lorefs/internal/diskspace"
	"lorefs/internal/filelock"
)

const (
	lockSuffix = ".lock"
	keysSuffix = ".keys"
	tmpSuffix  = ".part"
	// left is the age at which a temporary file, or a hold that nobody locks, is taken as left
	// behind. A process needs far less between making one and locking or renaming it.
	left = time.Hour
	// spare is the part of what may stay that is freed beyond it, so that not every file that
	// comes makes another one go.
	spare = 16
)

func lockOf(keys string) string { return strings.TrimSuffix(keys, keysSuffix) + lockSuffix }

// Own keeps an object, and all of its pieces, until the cache is closed.
func (c *Cache) Own(key [16]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own[key] {
		return
	}
	c.own[key] = true
	if c.hold == nil {
		return
	}
	f, err := filelock.OpenFile(c.keys, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.Write([]byte(hex.EncodeToString(key[:]) + "\n"))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		c.log.Debug("another process may remove an object that this one needs", "error", err)
	}
}

// owned returns the keys that running processes need, and removes the holds of those that
// have ended.
func (c *Cache) owned() map[[16]byte]bool {
	all := map[[16]byte]bool{}
	c.mu.Lock()
	for key := range c.own {
		all[key] = true
	}
	c.mu.Unlock()
	dir := filepath.Join(c.dir, holdsDir)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), lockSuffix) {
			continue
		}
		lock := filepath.Join(dir, e.Name())
		keys := strings.TrimSuffix(lock, lockSuffix) + keysSuffix
		if err := filelock.Probe(lock); err == nil {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > left {
				_ = os.Remove(keys) // both are tried again next time
				_ = os.Remove(lock)
			}
			continue
		}
		text, _ := os.ReadFile(keys) // a process that holds nothing has none
		for line := range bytes.Lines(text) {
			if key, ok := parseKey(strings.TrimSpace(string(line))); ok {
				all[key] = true
			}
		}
	}
	return all
}

func parseKey(text string) (key [16]byte, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(key) {
		return key, false
	}
	return [16]byte(b), true
}

// entry is a file of the cache.
type entry struct {
	path string
	size int64
	used time.Time
	// late is for files that go after the others.
	late bool
	own  bool
}

// Trim removes files until the cache is below its limit, and until the disk has the room that is
// left for others. If another process does that just now, it does nothing.
func (c *Cache) Trim() error {
	lock, err := filelock.Acquire(filepath.Join(c.dir, holdsDir, "trim"), "trimming the cache")
	if errors.Is(err, filelock.ErrLocked) {
		return nil
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("trim the cache: %w", err)
	}
	if lock != nil {
		defer lock.Close()
	}
	c.sweep()
	all, total, err := c.list(c.owned())
	most := c.most(total)
	if err != nil || total <= most {
		return err
	}
	slices.SortFunc(all, func(a, b entry) int {
		if a.late != b.late {
			if a.late {
				return 1
			}
			return -1
		}
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path))
	})
	var failed error
	for _, e := range all {
		if total <= most-most/spare {
			break
		}
		if e.own {
			continue
		}
		if err := c.disk.Remove(e.path); err != nil && !errors.Is(err, iofs.ErrNotExist) {
			failed = errors.Join(failed, err)
			continue
		}
		total -= e.size
		_ = os.Remove(filepath.Dir(e.path)) // unless it has other files
	}
	return failed
}

// most returns how much of total bytes may stay. On a disk that is nearly full it is less than the
// limit, or the cache would keep what nobody reads any more, and get nothing new.
func (c *Cache) most(total int64) int64 {
	space, err := diskspace.Of(c.dir)
	if err != nil { // then nobody knows
		return c.limit
	}
	return max(0, min(c.limit, total+space.Free-space.Reserve()-total/spare))
}

// sweep removes what killed processes have left.
func (c *Cache) sweep() {
	dir := filepath.Join(c.dir, tmpDir)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), tmpSuffix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > left {
			_ = c.disk.Remove(filepath.Join(dir, e.Name())) // it is tried again next time
		}
	}
}

// list lists the objects and pieces, and returns the size of all of them.
func (c *Cache) list(owned map[[16]byte]bool) (all []entry, total int64, err error) {
	for _, sub := range []string{mirrorDir, piecesDir} {
		root := filepath.Join(c.dir, sub)
		err = errors.Join(err, filepath.WalkDir(root, func(path string, d iofs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				return nil
			}
			var info iofs.FileInfo
			if err == nil {
				info, err = d.Info()
			}
			if errors.Is(err, iofs.ErrNotExist) {
				return nil // another process was faster
			}
			if err != nil {
				return err
			}
			if e, ok := entryOf(path, sub == piecesDir, owned); ok {
				e.size, e.used = info.Size(), info.ModTime()
				all, total = append(all, e), total+e.size
			}
			return nil
		}))
	}
	return all, total, err
}

// entryOf returns the entry of an object or a piece, without size and time. Any other file is
// somebody's own, who has chosen a folder with files in it for the cache.
func entryOf(path string, isPiece bool, owned map[[16]byte]bool) (entry, bool) {
	object := path
	if isPiece {
		object = filepath.Dir(path)
		if _, ok := parseSpan(filepath.Base(path)); !ok {
			return entry{}, false
		}
	}
	second := filepath.Dir(object)
	first := filepath.Dir(second)
	text, index := strings.CutSuffix(filepath.Base(object), indexSuffix)
	key, ok := parseKey(text)
	if !ok || filepath.Base(first) != text[:2] || filepath.Base(second) != text[2:4] {
		return entry{}, false
	}
	kind := Kind(filepath.Base(filepath.Dir(first)))
	return entry{path: path, late: Object{Kind: kind, Index: index}.isSmall(), own: owned[key]}, true
}
