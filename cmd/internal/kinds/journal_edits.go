package kinds

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"

	"lorefs/cmd/internal/save"
)

// Lister lists edits that are not saved.
type Lister interface {
	Edits(ctx context.Context) iter.Seq2[Edit, error]
	// WritePatch writes them as a patch. The error for a source that has no patches matches
	// [ErrNoPatch].
	WritePatch(ctx context.Context, w io.Writer) error
}

// BaseOf returns the path of what the unsaved edits of a journal were made on: that of
// [save.Journal.Base] or, if it is not empty, base, which has to be that. If it is gone, that is an
// error. The result is empty if all is saved.
func BaseOf(j *save.Journal, base string) (string, error) {
	if base != "" {
		path, err := withoutLinks(base)
		if err != nil {
			return "", err
		}
		if _, err := os.Stat(path); err != nil {
			return "", Unreadable(base, err)
		}
		is, err := j.Belongs(path)
		if err == nil && !is {
			err = fmt.Errorf("%s is not the file on which the edits in %s were made", base, j.Path)
		}
		return path, err
	}
	path := j.Base()
	if path == "" && j.State != save.StateSaved && j.Edits > 0 {
		return "", j.LackError()
	}
	return path, nil
}

// WriteUnsaved writes the edits of a journal that were made on the source, which was opened
// from a path. The source is neither locked nor changed, and can't be used any more.
func (s *Source) WriteUnsaved(ctx context.Context, w io.Writer, j *save.Journal, path string, f EditsFormat) error {
	l, err := s.Unsaved(ctx, j, path)
	if err != nil {
		return err
	}
	return WriteList(ctx, w, l, f)
}

// WriteList writes what a Lister lists.
func WriteList(ctx context.Context, w io.Writer, l Lister, f EditsFormat) error {
	if f == EditsPatch {
		return l.WritePatch(ctx, w)
	}
	return WriteEdits(w, f, l.Edits(ctx))
}
