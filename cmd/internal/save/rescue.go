package save

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lorefs/internal/replace"
)

const (
	// A conflict file has the name of the edited file, conflictMark, and the time in the form
	// conflictTime.
	conflictMark = ".conflict-"
	conflictTime = "20060102-150405"
)

// rescue calls write with the path of a conflict file and returns that path: beside the file, which
// another program has replaced, or, if that fails, beside the journal.
func (e *ledger) rescue(file string, write func(path string) error) (string, error) {
	suffix := conflictMark + time.Now().Format(conflictTime)
	beside := file + suffix
	err := write(beside)
	if err == nil {
		return beside, nil
	}
	state, stateErr := e.besideJournal(file)
	if stateErr == nil {
		state += suffix
		stateErr = write(state)
	}
	if stateErr != nil {
		return "", errors.Join(err, stateErr)
	}
	return state, nil
}

// besideJournal returns the path that conflict files and patches beside the journal begin with.
func (e *ledger) besideJournal(file string) (string, error) {
	return statePath(e.kind.Folder, nameOf(e.source)+"-"+filepath.Base(file))
}

const (
	// A patch of edits has the name of the edited file, patchMark, the time, and patchSuffix.
	patchMark   = ".edits-"
	patchSuffix = ".lorepatch"
)

// KeepPatch writes the edits of a source as a patch, and returns its path; see keepPatch.
func (s *Set) KeepPatch(text []byte) (string, error) {
	return s.ledger.keepPatch(s.ledger.source, text)
}

// keepPatch writes a patch of the edits of a file: beside the journal or, if that fails, beside the
// file. It returns the path of the patch.
func (e *ledger) keepPatch(file string, text []byte) (string, error) {
	suffix := patchMark + time.Now().Format(conflictTime) + patchSuffix
	state, err := e.besideJournal(file)
	if err == nil {
		state += suffix
		err = e.writePatch(state, text)
	}
	if err == nil {
		return state, nil
	}
	beside := file + suffix
	if besideErr := e.writePatch(beside, text); besideErr != nil {
		return "", errors.Join(err, besideErr)
	}
	return beside, nil
}

// writePatch makes a durable file.
func (e *ledger) writePatch(path string, text []byte) error {
	return replace.Create(context.Background(), path, nil, replace.Options{Private: true, Disk: e.disk}, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}, nil)
}

// stale returns the error of edits whose file has changed. base identifies the file before that,
// and began is the time of the first edit.
func (e *ledger) stale(file string, base Identity, began time.Time) *StaleError {
	j := e.kind.describe(e.path())
	j.askLeft()
	s := &StaleError{Journal: e.path(), File: file, Edits: j.Edits, AtMost: j.AtMost, Patch: e.lastPatch(file, began)}
	if backup := file + ".bak"; identifies(backup, base) {
		s.Backup = backup
	}
	if s.Patch == "" && e.patch != nil {
		var err error
		if s.Patch, err = e.patchStale(&j, file, s); err != nil {
			e.log.Warn("no patch could be made of edits that can't be replayed", "journal", s.Journal, "err", err)
		}
	}
	return s
}

// patchStale writes a patch of the edits of a journal that nobody may ever be able to replay. It
// returns the path, which is empty if none are left.
func (e *ledger) patchStale(j *Journal, file string, why error) (string, error) {
	base := j.Base()
	if base == "" {
		return "", j.LackError()
	}
	text, err := e.patch(j, base, why)
	if err != nil || len(text) == 0 {
		return "", err
	}
	return e.keepPatch(file, text)
}

// lastPatch returns the newest patch of a file's edits, empty if none was written since the first
// edit. An older patch has other edits; a user who took it for these would drop the journal and lose
// them.
func (e *ledger) lastPatch(file string, since time.Time) (newest string) {
	state, err := e.besideJournal(file)
	if err != nil {
		return ""
	}
	for _, from := range []string{file, state} {
		dir, base := filepath.Split(from)
		entries, err := os.ReadDir(filepath.Clean(dir))
		if err != nil {
			continue
		}
		for _, entry := range entries { // sorted by name, and so by time
			name := entry.Name()
			if !strings.HasPrefix(name, base+patchMark) || !strings.HasSuffix(name, patchSuffix) {
				continue
			}
			if info, err := entry.Info(); err == nil && !info.ModTime().Before(since) {
				newest = filepath.Join(dir, name)
			}
		}
	}
	return newest
}

// identifies reports whether a file has the content want. It is false for a file that can't be
// read.
func identifies(path string, want Identity) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() != want.Size {
		return false
	}
	now, err := identify(path)
	return err == nil && now == want
}

// conflictsBegun returns the paths of conflict files that have a temporary file. All of them begin
// with the path file.
func conflictsBegun(file string) []string {
	dir, base := filepath.Split(file)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil // opening the file reports it
	}
	var paths []string
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), "."+base+conflictMark)
		if ok && len(rest) > len(conflictTime) {
			paths = append(paths, file+conflictMark+rest[:len(conflictTime)])
		}
	}
	return paths
}
