package save

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"lorefs/internal/disk"
	"lorefs/internal/userdir"
)

// baseSuffix ends the name of the folder with the bases of a source, beside its journal.
const baseSuffix = ".base"

// baseName returns the name of the base of a file of a source.
func baseName(source, file string) string {
	if file == "" {
		return filepath.Base(source)
	}
	return file
}

// tempBase begins the name of a base that is not whole yet. No file of a source has such a name.
const tempBase = ".part-"

// keepBase keeps a copy of a file that is about to be edited for the first time. id is its identity,
// and head the header of a journal, which is begun before: so a base that a dying process leaves
// belongs to a journal, and goes with it. An edit needs no base: an error is one of the journal, and why
// there is no base is only logged.
func (e *ledger) keepBase(head func() ([]byte, error), file, path string, id Identity) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tried[file] == id || e.closed {
		return nil
	}
	if err := e.begun(head); err != nil {
		return e.appendError(err)
	}
	e.tried[file] = id
	if err := e.makeBase(file, path, id); err != nil {
		e.lackBase(err)
	}
	return nil
}

// lackBase says once that a base is not kept.
func (e *ledger) lackBase(err error) {
	if !e.lacks {
		e.log.Warn("no copy is kept of what is edited: if it is overwritten before it is saved, nobody can tell what the edits were made on",
			"source", e.source, "err", err)
	}
	e.lacks = true
}

// makeBase makes the base of a file. It gets its name when it is whole. The system copies it: where
// the file system can share the blocks of two files, it does. The disk gets it in the background, for
// which sync waits. The caller holds mu.
func (e *ledger) makeBase(file, path string, id Identity) error {
	dir, err := userdir.State(e.kind.Folder, nameOf(e.source)+baseSuffix)
	if err != nil {
		return err
	}
	defer dir.Close()
	to := filepath.Join(dir.Path(), baseName(e.source, file))
	if identifies(to, id) {
		return nil // it was left by the process that made the edits
	}
	part := filepath.Join(dir.Path(), tempBase+filepath.Base(to))
	temp, err := e.disk.Open(part, os.O_CREATE|os.O_EXCL|os.O_RDWR)
	if err != nil {
		return err
	}
	err = copyTo(temp, path, id.Size)
	if err = errors.Join(err, temp.Close()); err == nil { // Windows renames no open file
		err = e.disk.Rename(part, to)
	}
	if err != nil {
		return errors.Join(err, e.disk.Remove(part))
	}
	e.bases.Go(func() {
		if err := errors.Join(e.syncFile(to), e.disk.SyncDir(filepath.Dir(to))); err != nil {
			e.log.Warn("the copy of what is edited may not survive a power cut", "err", err)
		}
	})
	return nil
}

// syncFile makes the content of a file durable.
func (e *ledger) syncFile(path string) error {
	f, err := e.disk.Open(path, os.O_RDWR)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// copyTo copies the file at a path.
func copyTo(to disk.File, path string, size int64) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close() // It was only read.
	n, err := to.CopyFrom(from)
	if err == nil && n != size {
		err = fmt.Errorf("%s has %d bytes, want %d", path, n, size)
	}
	return err
}

// giveUpBases removes the bases to make room for the journal, which matters more. It reports
// whether there were any.
func (e *ledger) giveUpBases(why error) bool {
	if !errors.Is(why, syscall.ENOSPC) && !errors.Is(why, syscall.EDQUOT) {
		return false
	}
	dir := e.basesDir()
	if _, err := os.Lstat(dir); err != nil {
		return false
	}
	e.bases.Wait()
	e.lackBase(why)
	return removeBases(dir) == nil
}

// basesDir returns the path of the folder of the bases.
func (e *ledger) basesDir() string {
	path, err := e.kind.JournalPath(e.source)
	if err != nil {
		return ""
	}
	return basesOf(path)
}

// basesOf returns the path of the folder of the bases that belong to a journal, which may be one that
// was put aside because of damage.
func basesOf(journal string) string {
	name, rest, _ := strings.Cut(filepath.Base(journal), journalSuffix)
	return filepath.Join(filepath.Dir(journal), name+rest+baseSuffix)
}

// dropBases removes the bases of a journal that is gone. What can't be removed now is removed when
// the source is edited next.
func dropBases(journal string) error { return removeBases(basesOf(journal)) }

// removeBases removes a folder of bases, if there is one. [os.RemoveAll] fails under wine.
func removeBases(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		err = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name())))
	}
	return errors.Join(err, os.Remove(dir))
}

// keepBases gives the bases of a journal a second name for a copy of the journal. Where files have
// only one name, the copy gets none.
func keepBases(journal, kept string) error {
	from, to := basesOf(journal), basesOf(kept)
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	dir, err := userdir.State(filepath.Base(filepath.Dir(to)), filepath.Base(to))
	if err != nil {
		return err
	}
	defer dir.Close()
	for _, entry := range entries {
		if err := os.Link(filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// sweepBases removes what a process has left that died while it made a base.
func (e *ledger) sweepBases() {
	dir := e.basesDir()
	parts, _ := filepath.Glob(filepath.Join(dir, tempBase+"*")) // the pattern is a good one
	for _, part := range parts {
		if err := os.Remove(part); err != nil {
			e.log.Warn("can't remove what is left of making a copy", "err", err)
		}
	}
}

// keepBase keeps the file that edits are about to belong to. The caller holds mu.
func (s *Set) keepBase(file string, f *fileState) error {
	return s.ledger.keepBase(s.header, file, s.pathOf(file), f.base)
}

// KeptBase returns the path of the copy of what the edits were made on: a file, or a folder with the
// edited files. It need not exist.
func (j *Journal) KeptBase() string {
	dir := basesOf(j.Path)
	if j.kind.Many {
		return dir
	}
	return filepath.Join(dir, baseName(j.Source, ""))
}

// Base returns the path of what the unsaved edits were made on: the source, its backup, or the copy
// that was kept. It is empty if none of them is that, or if all is saved.
func (j *Journal) Base() string {
	for _, path := range []string{j.Source, j.Source + ".bak", j.KeptBase()} {
		if info, err := os.Stat(path); err != nil || info.IsDir() != j.IsOfFolder() {
			continue
		}
		if is, err := j.Belongs(path); err == nil && is {
			return path
		}
	}
	return ""
}

// LackError says that nobody can tell what edits are, since what they were made on is gone.
func (j *Journal) LackError() error {
	why := "it was overwritten or is gone, and no copy was kept"
	if _, err := os.Lstat(j.KeptBase()); err == nil {
		why = "it was overwritten or is gone, and the copy that was kept in " + j.KeptBase() + " is damaged"
	}
	return fmt.Errorf("%s of %s can't be shown without the file that they were made on: %s; if you have it elsewhere, give it with: lorefs journal show --base FILE %s",
		j.Count(), j.Source, why, j.Source)
}
