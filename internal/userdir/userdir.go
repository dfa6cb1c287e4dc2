// Package userdir keeps the user's files between runs: what can be made again in the cache
// folder, the rest in the state folder.
//
// A later run trusts what lies there. So a folder or a file that belongs to somebody else,
// or that others may write to, is refused, and no link is followed from lorefs' own folder
// on. Folders are made with mode 0700, files with 0600. A file is replaced as a whole or
// not at all. The content of the state folder outlasts a power cut: a new folder and its
// parent are synced before anything is put into it, and so is a folder in which a file was
// replaced.
//
// On Windows the system's own permissions on the profile folder must suffice.
package userdir

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"os/user"
	"path/filepath"
	"sync"

	"github.com/adrg/xdg"

	"lorefs/internal/disk"
)

// ErrUntrusted means that others could have written what is there.
var ErrUntrusted = errors.New("not to be trusted")

const (
	// name is lorefs' folder among the user's.
	name = "lorefs"

	dirPerm  = 0o700
	filePerm = 0o600
	// othersWrite are the mode bits that let others than the owner write.
	othersWrite = 0o022
)

// Dir is a folder that only the user writes to. It is safe for parallel use.
type Dir struct {
	path string
	root *os.Root
	// sync makes the names in a folder durable; nil if they need not be.
	sync func(path string) error
}

// Cache opens a folder below $XDG_CACHE_HOME/lorefs, or where the system keeps such files,
// and makes it if needed.
func Cache(sub ...string) (*Dir, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base, err = inHome(".cache")
	}
	if err != nil {
		return nil, fmt.Errorf("cache folder: %w", err)
	}
	return open(base, sub, nil)
}

// State opens a folder below $XDG_STATE_HOME/lorefs, or where the system keeps such files,
// and makes it if needed.
func State(sub ...string) (*Dir, error) {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_STATE_HOME") == "" {
		base, err := inHome(".local", "state")
		if err != nil {
			return nil, fmt.Errorf("state folder: %w", err)
		}
		return open(base, sub, disk.OS{}.SyncDir)
	}
	return open(stateHome(), sub, disk.OS{}.SyncDir)
}

// reloading guards the variables of package xdg.
var reloading sync.Mutex

// stateHome returns the user's folder for state by the current environment. Package xdg has
// read it before main began.
func stateHome() string {
	reloading.Lock()
	defer reloading.Unlock()
	xdg.Reload()
	return xdg.StateHome
}

// Below opens a folder below base/lorefs for files that can be made again, and makes it if
// needed.
func Below(base string, sub ...string) (*Dir, error) { return open(base, sub, nil) }

// inHome finds the home of a user if the environment does not name it, as for a mount(8)
// helper at boot.
func inHome(parts ...string) (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return filepath.Join(append([]string{u.HomeDir}, parts...)...), nil
}

// open follows links in base, which is the user's choice, but not below it. sync is the
// folder's.
func open(base string, sub []string, sync func(path string) error) (*Dir, error) {
	if err := makeBase(base, sync); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	d := &Dir{path: base, root: root, sync: sync}
	for _, part := range append([]string{name}, sub...) {
		next, err := d.enter(part)
		d.Close()
		if err != nil {
			return nil, err
		}
		d = next
	}
	return d, nil
}

// makeBase makes a folder and its parents if needed.
func makeBase(path string, sync func(path string) error) error {
	if _, err := os.Stat(path); err == nil || !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	if parent := filepath.Dir(path); parent != path {
		if err := makeBase(parent, sync); err != nil {
			return err
		}
	}
	err := os.Mkdir(path, dirPerm)
	if errors.Is(err, iofs.ErrExist) {
		return nil // another process was faster
	}
	if err != nil {
		return err
	}
	return last(path, sync)
}

// last makes a new folder durable. If it can't, it removes the folder, because a folder
// that exists is assumed to be synced.
func last(path string, sync func(path string) error) error {
	if sync == nil {
		return nil
	}
	if err := errors.Join(sync(path), sync(filepath.Dir(path))); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// enter opens a folder in d and makes it if needed.
func (d *Dir) enter(part string) (*Dir, error) {
	path := filepath.Join(d.path, part)
	err := d.root.Mkdir(part, dirPerm)
	if err == nil {
		err = last(path, d.sync)
	}
	if err != nil && !errors.Is(err, iofs.ErrExist) {
		return nil, err
	}
	there, err := d.root.Lstat(part)
	if err != nil {
		return nil, err
	}
	if !there.IsDir() {
		return nil, fmt.Errorf("%s is %w: it is no folder", path, ErrUntrusted)
	}
	if err := trusted(path, there); err != nil {
		return nil, err
	}
	root, err := d.root.OpenRoot(part)
	if err != nil {
		return nil, err
	}
	if err := same(root, ".", there, path); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Dir{path: path, root: root, sync: d.sync}, nil
}

// same checks that what was opened is what was looked at before.
func same(root *os.Root, name string, want os.FileInfo, path string) error {
	got, err := root.Stat(name)
	if err == nil && !os.SameFile(got, want) {
		err = fmt.Errorf("%s is %w: it was replaced just now", path, ErrUntrusted)
	}
	return err
}

// trusted returns nil if nobody but the user can have written to what info describes.
func trusted(path string, info os.FileInfo) error {
	if uid, ok := owner(info); ok && uid != os.Geteuid() {
		return fmt.Errorf("%s is %w: it belongs to user %d", path, ErrUntrusted, uid)
	}
	if checkModes && info.Mode().Perm()&othersWrite != 0 {
		return fmt.Errorf("%s is %w: others may write to it (mode %v)", path, ErrUntrusted, info.Mode().Perm())
	}
	return nil
}

// Path returns the path of the folder.
func (d *Dir) Path() string { return d.path }

// Close closes the folder; its files stay.
func (d *Dir) Close() error { return d.root.Close() }

// ReadFile reads a file of at most limit bytes.
func (d *Dir) ReadFile(name string, limit int64) ([]byte, error) {
	path := filepath.Join(d.path, name)
	there, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !there.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is %w: it is no regular file", path, ErrUntrusted)
	}
	if err := trusted(path, there); err != nil {
		return nil, err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	got, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !os.SameFile(got, there):
		return nil, fmt.Errorf("%s was replaced just now", path)
	case got.Size() > limit:
		return nil, fmt.Errorf("%s has %d bytes: at most %d are read", path, got.Size(), limit)
	}
	data := make([]byte, int(got.Size()))
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// WriteFile replaces a file as a whole.
func (d *Dir) WriteFile(name string, data []byte) error {
	err := d.replace(name, data)
	if err == nil && d.sync != nil {
		err = d.sync(d.path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(d.path, name), err)
	}
	return nil
}

// Remove removes a file, if it exists.
func (d *Dir) Remove(name string) error {
	if err := d.root.Remove(name); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	return nil
}
