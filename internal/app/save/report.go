package save

import (
	"errors"
	"path/filepath"

	"lorefs/internal/replace"
)

// Report tells a user what was saved of a source.
type Report struct {
	// Path is the source, empty if there was nothing to save.
	Path string `json:"path,omitempty"`
	// Edits is how many it holds that the one before did not, Bytes the size of what was
	// written.
	Edits int64 `json:"edits"`
	Bytes int64 `json:"bytes"`
	// Backup is the path of the file before, empty if it was not kept, and of several *.bak.
	Backup string `json:"backup,omitempty"`
	// Seconds is how long it took.
	Seconds float64 `json:"seconds"`
	// Problem is why nothing can be edited any more although all is saved, or empty.
	Problem string `json:"problem,omitempty"`
}

// Add adds a file of the source at path. Edits are for the caller to count.
func (r *Report) Add(path string, s Saved) {
	r.Path, r.Bytes = path, r.Bytes+s.Info.Size()
	switch {
	case r.Backup == "":
		r.Backup = s.Backup
	case s.Backup != "":
		r.Backup = filepath.Join(filepath.Dir(r.Backup), "*.bak")
	}
	if s.Problem != nil {
		r.Problem = s.Problem.Error()
	}
}

// IsInPlace tells of an error of a save whether the new file is in its place all the same.
func IsInPlace(err error) bool { return errors.Is(err, replace.ErrUnsynced) }
