package save

import (
	"errors"
	"path/filepath"

	"lorefs/internal/replace"
)

// Report tells the user what was saved of a source.
type Report struct {
	// Path is the path of the source, empty if there was nothing to save.
	Path string `json:"path,omitempty"`
	// Edits is the number of edits that were saved, and Bytes the size of the new files.
	Edits int64 `json:"edits"`
	Bytes int64 `json:"bytes"`
	// Backup is the path of the old file, or a pattern *.bak if there are several. It is empty if
	// none was kept.
	Backup string `json:"backup,omitempty"`
	// Kept are the paths of the new files whose old ones were kept, each as NAME.bak.
	Kept []string `json:"kept,omitempty"`
	// Seconds is the time that the save took.
	Seconds float64 `json:"seconds"`
	// Problem says why nothing can be edited any more although everything is saved, or is empty.
	Problem string `json:"problem,omitempty"`
}

// Add adds a saved file of the source at path. The caller counts the edits.
func (r *Report) Add(path string, s Saved) {
	r.Path, r.Bytes = path, r.Bytes+s.Info.Size()
	switch {
	case r.Backup == "":
		r.Backup = s.Backup
	case s.Backup != "":
		r.Backup = filepath.Join(filepath.Dir(r.Backup), "*.bak")
	}
	if s.Backup != "" {
		r.Kept = append(r.Kept, s.Path)
	}
	if s.Problem != nil {
		r.Problem = s.Problem.Error()
	}
}

// IsInPlace reports whether the new file is in place although a save has failed with err.
func IsInPlace(err error) bool { return errors.Is(err, replace.ErrUnsynced) }
