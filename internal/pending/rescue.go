package pending

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// conflictMark stands behind a file's name in that of its conflict file, and
	// conflictTime, which tells when it was written, behind that.
	conflictMark = ".conflict-"
	conflictTime = "20060102-150405"
)

// Rescue has write make a file of what was edited, where there is none: beside the
// file, which somebody else has replaced, or, where that can't be, beside the
// journal. It gives the path of what was written.
func (e *Edits) Rescue(file string, write func(path string) error) (string, error) {
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
func (e *Edits) besideJournal(file string) (string, error) {
	return statePath(e.kind.Folder, nameOf(e.source)+"-"+filepath.Base(file))
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
