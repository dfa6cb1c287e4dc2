package journal

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Create makes a journal at path, where nothing may be yet (the error matches
// [iofs.ErrExist]), about what header says, which is kept as it is. The journal is
// synced, and so is its folder.
func Create(path string, header []byte) (*Journal, error) { return create(disk{}, path, header) }

func create(sys system, path string, header []byte) (*Journal, error) {
	if len(header) > MaxHeader {
		return nil, fmt.Errorf("journal: a header of %d bytes, more than %d", len(header), MaxHeader)
	}
	mark := rand.Uint32N(1<<32-1) + 1
	data := appendHeader(nil, mark, header)
	if err := putInPlace(sys, path, data); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f, err := sys.open(path, os.O_RDWR)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("journal: %w", err), sys.remove(path))
	}
	return newJournal(sys, path, f, mark, int64(len(data)), 0), nil
}

// putInPlace makes a file that is there as a whole, and lasts, or not at all.
func putInPlace(sys system, path string, data []byte) error {
	dir, base := filepath.Split(path)
	temp := fmt.Sprintf("%s.%s.%016x.tmp", dir, base, rand.Uint64())
	if err := writeNew(sys, temp, data); err != nil {
		return err
	}
	if err := moveNew(sys, temp, path); err != nil {
		return errors.Join(err, sys.remove(temp))
	}
	if err := sys.syncDir(filepath.Dir(path)); err != nil {
		return errors.Join(err, sys.remove(path))
	}
	return nil
}

func writeNew(sys system, path string, data []byte) error {
	f, err := sys.open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	err = writeFull(f, data, 0)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return errors.Join(err, sys.remove(path))
	}
	return nil
}

// moveNew renames a file to a name that is not there yet. A second name is the
// only way to be sure of that; where files have only one, looking has to do.
func moveNew(sys system, from, to string) error {
	err := sys.link(from, to)
	if err == nil {
		if err = sys.remove(from); err != nil {
			err = errors.Join(err, sys.remove(to))
		}
		return err
	}
	if errors.Is(err, iofs.ErrExist) {
		return err
	}
	there, err := sys.exists(to)
	if err != nil {
		return err
	}
	if there {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: iofs.ErrExist}
	}
	return sys.rename(from, to)
}

// Resume opens a journal to append to it, behind the records that it holds. A
// torn tail is cut off, which Contents.Torn tells; a damaged journal is refused
// with an error that matches ErrDamaged, and not touched. The contents can be read
// until the journal is closed.
func Resume(path string) (*Journal, *Contents, error) { return resume(disk{}, path) }

func resume(sys system, path string) (*Journal, *Contents, error) {
	c, f, err := open(sys, path, os.O_RDWR)
	if err != nil {
		return nil, nil, err
	}
	err = c.damage
	if err == nil && c.Torn() > 0 {
		err = f.Truncate(c.end)
	}
	if err == nil {
		err = f.Sync() // Whoever appended the last records may have died before.
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return newJournal(sys, path, f, c.mark, c.end, c.records), c, nil
}
