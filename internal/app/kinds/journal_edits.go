package kinds

import (
	"context"
	"fmt"
	"io"
	iofs "io/fs"
	"iter"
	"os"

	"lorefs/internal/app/save"
	"lorefs/internal/app/save/dcsave"
	"lorefs/internal/shown"
)

// lister lists edits that are not saved.
type lister interface {
	Edits(ctx context.Context) iter.Seq2[Edit, error]
	// WritePatch writes them as a patch. The error for a source that has no patches matches
	// [ErrNoPatch].
	WritePatch(ctx context.Context, w io.Writer) error
}

// BaseOf returns the path of what the unsaved edits of a journal were made on: the source,
// its backup or, if it is not empty, base, which has to be that. The result is empty if it
// is gone, or if all is saved.
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
	for _, path := range []string{j.Source, j.Source + ".bak"} {
		if info, err := os.Stat(path); err != nil || info.IsDir() != j.IsOfFolder() {
			continue
		}
		if is, err := j.Belongs(path); err == nil && is {
			return path, nil
		}
	}
	return "", nil
}

// WriteUnsaved writes the edits of a journal that were made on the source, which was opened
// from a path. The source is neither locked nor changed, and can't be used any more.
func (s *Source) WriteUnsaved(ctx context.Context, w io.Writer, j *save.Journal, path string, f EditsFormat) error {
	l, err := s.unsaved(ctx, j, path)
	switch {
	case err != nil:
		return err
	case f == EditsPatch:
		return l.WritePatch(ctx, w)
	}
	return writeEdits(w, f, l.Edits(ctx))
}

// WriteNotes writes the edits of a journal without what they were made on, as far as the
// journal's notes tell.
func WriteNotes(w io.Writer, j *save.Journal, f EditsFormat) error {
	switch {
	case j.State == save.StateSaved || j.Edits == 0:
		return nil
	case !j.IsOf(dcsave.Kind):
		return fmt.Errorf("%s: %w: only the files on which the edits were made tell what they are", j.Source, iofs.ErrNotExist)
	}
	p, missing, err := dcsave.PatchOf(j)
	switch {
	case err != nil:
		return err
	case f == EditsPatch:
		_, err = w.Write(p.Append(nil))
	default:
		err = writeEdits(w, f, patchEdits(p))
	}
	if err == nil && missing > 0 {
		err = fmt.Errorf("of %s the journal does not note all: only the file on which they were made can tell", shown.Plural(missing, "edit"))
	}
	return err
}
