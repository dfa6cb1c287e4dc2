package replace

import (
	"errors"
	"fmt"
	"io"
	"os"

	"lorefs/internal/filelock"
)

// errUnlike means that a second name does not look as if it led to the same file.
var errUnlike = errors.New("what was linked looks like another file")

// keepOld makes NAME.bak the old file.
func (r *replacement) keepOld() error {
	if r.fresh || r.o.NoBackup {
		return nil
	}
	to := r.path + backupSuffix
	// If NAME.bak is the old file already, as after a crash, there is nothing to do, and
	// rename(2) would do nothing and leave both names.
	if !r.isOldAt(to) {
		if err := r.step(StepLink, r.path, r.secondName); err != nil {
			return err
		}
		if err := r.step(StepBackup, to, func() error { return os.Rename(r.backup, to) }); err != nil {
			return err
		}
		r.backup = ""
	}
	// The old file must have a lasting name before it loses its own.
	return r.step(StepSyncBackup, r.dir(), func() error { return SyncDir(r.dir()) })
}

// secondName gives the old file another name, or copies it where files have only
// one: the ways in which systems say that are too many to list.
func (r *replacement) secondName() error {
	second := r.temp.sibling(backupMark)
	linkErr := r.o.link(r.path, second)
	if linkErr == nil {
		r.backup = second
		if r.isOldAt(second) {
			return nil
		}
		// Whoever came to the file's place since it was looked at has their own file
		// linked, for which the backup that there is must not go.
		if !r.isOldAt(r.path) {
			return r.changed()
		}
		// An overlay can number the names of one file differently.
		if err := os.Remove(second); err != nil {
			return err
		}
		linkErr = errUnlike
	}
	if err := r.copyOld(); err != nil {
		return fmt.Errorf("%w; copying it instead: %w", linkErr, err)
	}
	return nil
}

// copyOld copies the old file, and no other that has come to its place.
func (r *replacement) copyOld() error {
	from := r.held
	if from == nil {
		var err error
		if from, err = filelock.OpenFile(r.path, os.O_RDONLY, 0); err != nil {
			return err
		}
		defer from.Close() // It was only read.
	}
	second := r.temp.sibling(copyMark)
	to, err := filelock.OpenFile(second, os.O_WRONLY|os.O_CREATE|os.O_EXCL, tempPerm)
	if err != nil {
		return err // Whatever has the name is somebody else's, and stays.
	}
	r.backup = second
	err = r.writeAll(to, StepCopy, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(from, 0, r.old.Size()))
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
		err = os.Chtimes(second, r.old.ModTime(), r.old.ModTime())
	}
	if err != nil {
		return err
	}
	if !r.isOldAt(r.path) { // for the same reason as above
		return r.changed()
	}
	return nil
}
