package replace

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// errUnlike means that the second name does not look like a name of the same file.
var errUnlike = errors.New("what was linked looks like another file")

// KeepOld makes the old file NAME.bak: it gives it a second name, and renames that. It
// compares the linked file with the old one, since a file that another program has put at
// NAME since Pin must not become the backup, in the place of one that is worth more. It
// syncs the folder, because the old file must have a durable name before it loses NAME.
func (f *File) KeepOld() error {
	to := f.Backup()
	if to == "" {
		return nil
	}
	// If NAME.bak is the old file already, as after a crash, there is nothing to do:
	// rename(2) would leave both names.
	if !f.isOldAt(to) {
		if err := f.step(StepLink, f.path, f.secondName); err != nil {
			return err
		}
		if err := f.step(StepBackup, to, func() error { return f.disk.Rename(f.backup, to) }); err != nil {
			return err
		}
		f.backup = ""
	}
	return f.step(StepSyncBackup, f.dir(), func() error { return f.disk.SyncDir(f.dir()) })
}

// secondName gives the old file another name. It copies the file if that fails, since
// systems report in many ways that files can have only one name.
func (f *File) secondName() error {
	second := f.temp.sibling(backupMark)
	linkErr := f.disk.Link(f.path, second)
	if linkErr == nil {
		f.backup = second
		if f.isOldAt(second) {
			return nil
		}
		// If another file has come to path since it was checked, that was linked, and must
		// not replace the backup.
		if !f.isOldAt(f.path) {
			return f.changed()
		}
		// An overlay may give the names of one file different numbers.
		if err := f.disk.Remove(second); err != nil {
			return err
		}
		linkErr = errUnlike
	}
	if err := f.copyOld(); err != nil {
		return fmt.Errorf("%w; copying it instead: %w", linkErr, err)
	}
	return nil
}

// copyOld copies the old file, and no other that has come to its place.
func (f *File) copyOld() error {
	from := f.pinned
	if from == nil {
		var err error
		if from, err = f.disk.Open(f.path, os.O_RDONLY); err != nil {
			return err
		}
		defer from.Close() // nothing was written to it
	}
	second := f.temp.sibling(copyMark)
	to, err := f.disk.Open(second, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err // another program's file has the name, and stays
	}
	f.backup = second
	err = f.writeAll(to, func(w io.Writer) error {
		_, err := io.Copy(w, io.NewSectionReader(from, 0, f.old.Size()))
		return err
	})
	if err == nil {
		f.model(to.OS(), from.OS(), f.old)
		err = to.Sync()
	}
	if closeErr := to.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chtimes(second, f.old.ModTime(), f.old.ModTime())
	}
	if err != nil {
		return err
	}
	if !f.isOldAt(f.path) { // for the same reason as above
		return f.changed()
	}
	return nil
}
