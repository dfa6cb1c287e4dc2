package replace

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"

	"lorefs/internal/filelock"
)

// keepOld makes NAME.bak the old file.
func (r *replacement) keepOld() error {
	if r.o.NoBackup {
		return nil
	}
	to := r.path + backupSuffix
	// If both are one file already, as after a crash between the two renames,
	// there is nothing to do, and rename(2) would do nothing and leave both names.
	if !same(r.path, to) {
		if err := r.step(StepLink, r.path, r.secondName); err != nil {
			return err
		}
		if err := r.step(StepBackup, to, func() error { return os.Rename(r.backup, to) }); err != nil {
			return err
		}
	}
	// The old file must have a lasting name before it loses its own.
	return r.step(StepSyncBackup, r.dir(), func() error { return SyncDir(r.dir()) })
}

// same tells whether two paths, not followed if they are links, are one file.
func same(a, b string) bool {
	infoA, errA := os.Lstat(a)
	infoB, errB := os.Lstat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// secondName gives the old file another name, or copies it where files have only
// one: the ways in which systems say that are too many to list.
func (r *replacement) secondName() error {
	r.backup = r.temp.backupPath()
	linkErr := r.o.link(r.path, r.backup)
	if linkErr == nil {
		return nil
	}
	if err := r.copyOld(); err != nil {
		return fmt.Errorf("%w; copying it instead: %w", linkErr, err)
	}
	return nil
}

func (r *replacement) copyOld() error {
	from, err := filelock.OpenFile(r.path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer from.Close() // It was only read.
	to, err := filelock.OpenFile(r.backup, os.O_WRONLY|os.O_CREATE|os.O_EXCL, tempPerm)
	if err != nil {
		if errors.Is(err, iofs.ErrExist) {
			r.backup = "" // It is somebody else's, and stays.
		}
		return err
	}
	err = r.writeAll(to, StepCopy, func(w io.Writer) error {
		_, err := io.Copy(w, from)
		return err
	})
	if err == nil {
		r.model(to, from, r.old)
		err = to.Sync()
	}
	if closeErr := to.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chtimes(r.backup, r.old.ModTime(), r.old.ModTime())
	}
	return err
}
