package pending

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"strings"

	"lorefs/internal/journal"
	"lorefs/internal/replace"
)

// Resume goes on with the journal that a crash has left behind, and gives what it
// holds: nil if there is none. With salvage, what is whole is taken of a damaged one;
// without, it is refused. An error of the journal is a [*JournalError].
func (e *Edits) Resume(salvage bool) (*journal.Contents, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	path, err := e.kind.JournalPath(e.source)
	if err != nil {
		return nil, err
	}
	e.sweep(path)
	if salvage {
		if err := e.salvage(path); err != nil {
			return nil, &JournalError{Path: path, Err: err}
		}
	}
	j, contents, err := e.system.Resume(path)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err != nil {
		return nil, &JournalError{Path: path, Err: err}
	}
	if err := e.take(j); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	if torn := contents.Torn(); torn > 0 {
		e.log.Warn("the journal's last record was not complete", "journal", path, "bytes", torn)
	}
	return contents, nil
}

// Sweep removes what a save of a file has left that did not end, or its rescue.
func (e *Edits) Sweep(file string) {
	files := append(conflictsBegun(file), file)
	if state, err := e.besideJournal(file); err == nil { // else nothing was written there
		files = append(files, conflictsBegun(state)...)
	}
	for _, f := range files {
		if removed, err := replace.Sweep(f); err != nil || len(removed) > 0 {
			e.log.Info("removed what a save has left that did not end", "files", removed, "err", err)
		}
	}
}

// sweep removes what is left of making a journal when the process died over it.
func (e *Edits) sweep(path string) {
	dir, base := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // whoever opens the journal will tell
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

// damagedSuffix is what the name of a damaged journal gets behind it.
const damagedSuffix = ".damaged"

// salvage puts, in the place of a damaged journal, one of those of its records
// that lie ahead of the damage, and keeps it under another name. A power cut can
// leave damage in what nobody had synced yet, while what was synced lies ahead of
// it. Killed at any point, it leaves one or the other in place.
func (e *Edits) salvage(path string) error {
	contents, err := journal.Read(path)
	if errors.Is(err, iofs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer contents.Close()
	if contents.Damage() == nil {
		return nil
	}
	whole := strings.TrimSuffix(path, journalSuffix) + ".salvage"
	if err := os.Remove(whole); err != nil && !errors.Is(err, iofs.ErrNotExist) {
		return err
	}
	if err := e.copyWhole(whole, contents); err != nil {
		return err
	}
	kept, err := keep(path)
	if err != nil {
		return errors.Join(err, os.Remove(whole))
	}
	e.log.Warn("took what is whole of a damaged journal", "records", contents.Len(),
		"damage", contents.Damage(), "kept", kept)
	if err := os.Rename(whole, path); err != nil {
		return err
	}
	return e.system.SyncDir(filepath.Dir(path))
}

// copyWhole makes a journal of the whole records of another.
func (e *Edits) copyWhole(path string, contents *journal.Contents) error {
	j, err := e.system.Create(path, contents.Header())
	if err != nil {
		return err
	}
	for record, err := range contents.Records() {
		if errors.Is(err, journal.ErrDamaged) {
			break
		}
		if err == nil {
			err = j.Append(record)
		}
		if err != nil {
			return errors.Join(err, j.Remove())
		}
	}
	return j.Close()
}

// keep gives a file a second name that no other has.
func keep(path string) (string, error) {
	for i := range 1000 {
		name := path + damagedSuffix
		if i > 0 {
			name = fmt.Sprintf("%s.%d", name, i)
		}
		if err := os.Link(path, name); !errors.Is(err, iofs.ErrExist) {
			return name, err
		}
	}
	return "", fmt.Errorf("%s%s.999: %w", path, damagedSuffix, iofs.ErrExist)
}
