package journal

import (
	"bytes"
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"lorefs/internal/disk"
)

// Create makes a journal at path with a header. If something is there already the error
// matches [iofs.ErrExist]. The journal is synced, and so is its folder.
func Create(fs disk.FS, path string, header []byte) (*Journal, error) {
	return begin(fs, path, header, putInPlace)
}

// begin makes a journal. put makes its file.
func begin(fs disk.FS, path string, about []byte, put func(fs disk.FS, path string, data []byte) error) (*Journal, error) {
	if len(about) > MaxHeader {
		return nil, fmt.Errorf("journal: a header of %d bytes, more than %d", len(about), MaxHeader)
	}
	mark := rand.Uint32N(1<<32-1) + 1
	data := appendHead(nil, mark, about)
	h, err := parseHead(bytes.NewReader(data), int64(len(data)))
	if err == nil {
		err = put(fs, path, data)
	}
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f, err := fs.Open(path, os.O_RDWR)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal: %w", err), fs.Remove(path))
	}
	return newJournal(fs, path, f, &Contents{head: h, promises: promises{h.first, h.first}, end: h.first}), nil
}

// putInPlace makes a whole and durable file, or none.
func putInPlace(fs disk.FS, path string, data []byte) error {
	temp := tempName(path)
	if err := writeNew(fs, temp, data); err != nil {
		return err
	}
	if err := moveNew(fs, temp, path); err != nil {
		return errors.Join(err, fs.Remove(temp))
	}
	if err := fs.SyncDir(filepath.Dir(path)); err != nil {
		return errors.Join(err, fs.Remove(path))
	}
	return nil
}

// tempName returns the name of a file before it is moved to its place.
func tempName(path string) string {
	dir, base := filepath.Split(path)
	return fmt.Sprintf("%s.%s.%016x.tmp", dir, base, rand.Uint64())
}

func writeNew(fs disk.FS, path string, data []byte) error {
	f, err := fs.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	err = disk.WriteFull(f, data, 0)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return errors.Join(err, fs.Remove(path))
	}
	return nil
}

// moveNew renames a file to a name that must not exist yet. Only a second name guarantees
// that; where files have only one, it looks first.
func moveNew(fs disk.FS, from, to string) error {
	err := fs.Link(from, to)
	if err == nil {
		if err = fs.Remove(from); err != nil {
			err = errors.Join(err, fs.Remove(to))
		}
		return err
	}
	if errors.Is(err, iofs.ErrExist) {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: iofs.ErrExist}
	} else if !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	return fs.Rename(from, to)
}

// Resume opens a journal to append to it. If the journal is not Resumable it fails and does
// not touch it; the error matches ErrDamaged if the journal is damaged. The contents can be
// read until the journal is closed.
func Resume(fs disk.FS, path string) (*Journal, *Contents, error) {
	c, f, err := open(fs, path, os.O_RDWR)
	if err != nil {
		return nil, nil, err
	}
	if err = c.damage; err == nil && !c.Resumable() {
		err = errors.New("journal: it has to be renewed before something is added to it")
	}
	// The process that appended and promised the last records may have died before syncing
	// them. The promise that counts must be durable before the other one is overwritten.
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	j := newJournal(fs, path, f, c)
	if err := j.Sync(); err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	return j, c, nil
}

// Renew replaces a journal by one with only the records before the first that is not whole, so that
// Resume accepts it. Everything else is lost, unless the old file has another name. A crash leaves
// the old journal or the new one. Nobody may have the journal open.
func Renew(fs disk.FS, path string) error {
	c, err := read(fs, path)
	if err != nil {
		return err
	}
	temp := tempName(path)
	err = errors.Join(copyWhole(fs, temp, c), c.Close())
	if err == nil {
		err = fs.Rename(temp, path)
	}
	if err != nil {
		rmErr := fs.Remove(temp)
		if errors.Is(rmErr, iofs.ErrNotExist) {
			rmErr = nil
		}
		return errors.Join(fmt.Errorf("journal: %s: %w", path, err), rmErr)
	}
	return fs.SyncDir(filepath.Dir(path))
}

// copyWhole makes a journal of the whole records of another.
func copyWhole(fs disk.FS, path string, c *Contents) error {
	j, err := begin(fs, path, c.Header(), writeNew)
	if err != nil {
		return err
	}
	for record, err := range c.Records() {
		if err != nil && err == c.damage { //nolint:errorlint // damage that was not there before is an error
			break
		}
		if err == nil {
			err = j.Append(record)
		}
		if err != nil {
			return errors.Join(err, j.Close())
		}
	}
	return j.Close()
}
