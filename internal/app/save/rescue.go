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
	// conflictMark stands behind a file's name in that of its conflict file, and
	// conflictTime, which tells when it was written, behind that.
	conflictMark = ".conflict-"
	conflictTime = "20060102-150405"
)

// rescue has write make a file of what was edited, where there is none: beside the
// file, which somebody else has replaced, or, where that can't be, beside the
// journal. It gives the path of what was written.
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

// besideJournal is what conflict files of a file that are not beside it begin with.
func (e *ledger) besideJournal(file string) (string, error) {
	return statePath(e.kind.Folder, nameOf(e.source)+"-"+filepath.Base(file))
}

const (
	// textMark stands behind a file's name in that of the text of its edits, textSuffix
	// behind the time.
	textMark   = ".edits-"
	textSuffix = ".txt"
)

// KeepText writes the edits of a source as text, and gives the path of that: see keepText.
func (s *Set) KeepText(text []byte) (string, error) { return s.ledger.keepText(s.path, text) }

// keepText writes the edits of a file as text, which is for people: beside the journal or,
// where that can't be, beside the file. It gives the path of the text.
func (e *ledger) keepText(file string, text []byte) (string, error) {
	suffix := textMark + time.Now().Format(conflictTime) + textSuffix
	state, err := e.besideJournal(file)
	if err == nil {
		state += suffix
		err = e.writeText(state, text)
	}
	if err == nil {
		return state, nil
	}
	beside := file + suffix
	if besideErr := e.writeText(beside, text); besideErr != nil {
		return "", errors.Join(err, besideErr)
	}
	return beside, nil
}

// writeText makes a file that lasts.
func (e *ledger) writeText(path string, text []byte) error {
	return replace.Create(context.Background(), path, nil, replace.Options{Private: true, Disk: e.disk}, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}, nil)
}

// stale is the error of edits that belong to a file that is another one now: base is what
// it was, and began when the first of them was made.
func (e *ledger) stale(file string, base Identity, edits int, began time.Time) *StaleError {
	s := &StaleError{Journal: e.path(), File: file, Edits: edits, Text: e.lastText(file, began)}
	if backup := file + ".bak"; identifies(backup, base) {
		s.Backup = backup
	}
	return s
}

// lastText is the newest text of a file's edits, empty if there is none that was written
// since a time: an older one has other edits, and who believed that it has these would give
// up the journal.
func (e *ledger) lastText(file string, since time.Time) (newest string) {
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
		for _, entry := range entries { // in the order of their names, and so of their times
			name := entry.Name()
			if !strings.HasPrefix(name, base+textMark) || !strings.HasSuffix(name, textSuffix) {
				continue
			}
			if info, err := entry.Info(); err == nil && !info.ModTime().Before(since) {
				newest = filepath.Join(dir, name)
			}
		}
	}
	return newest
}

// identifies tells whether a file has a content. One that can't be read has not.
func identifies(path string, want Identity) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() != want.Size {
		return false
	}
	now, err := identify(path)
	return err == nil && now == want
}

// conflictsBegun are the paths of conflict files of which a temporary one is there. All
// of them begin with the path file.
func conflictsBegun(file string) []string {
	dir, base := filepath.Split(file)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return nil // whoever opens the file will tell
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
