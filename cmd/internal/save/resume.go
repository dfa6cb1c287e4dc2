package save

import (
	"context"
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"

	"lorefs/internal/journal"
	"lorefs/internal/replace"
)

// resume opens the journal that a crash has left, and returns its contents, nil if there is none.
// If it is damaged it is refused, unless salvage is set: then its records before the damage are
// used. An error of the journal is a [*JournalError].
func (e *ledger) resume(salvage bool) (*journal.Contents, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	path, err := e.kind.JournalPath(e.source)
	if err != nil {
		return nil, err
	}
	e.sweepJournal(path)
	e.sweepBases()
	var j *journal.Journal
	var contents *journal.Contents
	if err = e.mend(path, salvage); err == nil {
		j, contents, err = journal.Resume(e.disk, path)
	}
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, e.dropBases(path) // those of a process that died before there was an edit
	}
	if err != nil {
		return nil, &JournalError{Path: path, Err: err}
	}
	if err := e.take(j); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return contents, nil
}

// sweep removes what an unfinished save or rescue of a file has left. It logs what it removes, and
// what it must not remove.
func (e *ledger) sweep(file string) {
	files := append(conflictsBegun(file), file)
	if state, err := e.besideJournal(file); err == nil { // else nothing was written there
		files = append(files, conflictsBegun(state)...)
	}
	for _, f := range files {
		removed, err := replace.Sweep(f)
		if _, isKept := errors.AsType[*replace.KeptError](err); isKept {
			e.log.Warn("a save that did not end has left a file that nobody else may have", "err", err)
			err = nil
		}
		if err != nil || len(removed) > 0 {
			e.log.Info("removed what a save has left that did not end", "files", removed, "err", err)
		}
	}
}

// sweepJournal removes the temporary files of a process that died while making or renewing the
// journal.
func (e *ledger) sweepJournal(path string) {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // opening the journal reports it
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, "."+base+".") || !strings.HasSuffix(name, ".tmp") {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			e.log.Warn("can't remove what is left of making a journal", "err", err)
		}
	}
}

// damagedSuffix is appended to the name of a damaged journal.
const damagedSuffix = ".damaged"

// mend makes sure that a journal can be resumed. If it is torn, of an earlier version, or damaged
// and to be salvaged, a journal of its whole records replaces it. If bytes are lost by that, the
// old file is kept under another name, since what looks like a torn record may be more. A crash at
// any point leaves the old journal or the new one in place.
func (e *ledger) mend(path string, salvage bool) error {
	contents, err := journal.Read(path)
	if err != nil {
		return err
	}
	resumable, damage, dropped := contents.Resumable(), contents.Damage(), contents.Unreadable()
	records := contents.Len()
	if err := contents.Close(); err != nil || resumable {
		return err
	}
	if damage != nil && !salvage {
		return damage
	}
	if damage == nil && dropped == 0 {
		return journal.Renew(e.disk, path)
	}
	kept, err := e.keep(path)
	if err == nil {
		if err := keepBases(path, kept); err != nil {
			e.log.Info("the damaged journal has no copy of what was edited", "journal", kept, "err", err)
		}
		err = e.disk.SyncDir(filepath.Dir(path))
	}
	if err == nil {
		err = journal.Renew(e.disk, path)
	}
	if err != nil {
		return err
	}
	if damage != nil {
		e.log.Warn("took what is whole of a damaged journal", "records", records,
			"damage", damage, "bytes dropped", dropped, "kept", kept)
	} else {
		e.log.Warn("the journal's last record was not complete", "journal", path, "bytes dropped", dropped, "kept", kept)
	}
	return nil
}

// keep gives a file a second name that is not in use. Where files can have only one name, it makes
// a copy.
func (e *ledger) keep(path string) (string, error) {
	for i := range 1000 {
		name := path + damagedSuffix
		if i > 0 {
			name = fmt.Sprintf("%s.%d", name, i)
		}
		err := e.disk.Link(path, name)
		if err != nil && !errors.Is(err, iofs.ErrExist) {
			err = e.copyFile(path, name)
		}
		if !errors.Is(err, iofs.ErrExist) {
			return name, err
		}
	}
	return "", fmt.Errorf("%s%s.999: %w", path, damagedSuffix, iofs.ErrExist)
}

func (e *ledger) copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() // It was only read.
	return replace.Create(context.Background(), to, in, replace.Options{Disk: e.disk}, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	}, nil)
}
