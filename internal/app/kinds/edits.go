package kinds

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"lorefs/internal/shown"
)

// EditsFormat is a format in which edits are listed.
type EditsFormat string

// The formats.
const (
	// EditsText is lines for people, as diff prints them.
	EditsText EditsFormat = "text"
	// EditsJSON is a JSON object a line.
	EditsJSON EditsFormat = "json"
	// EditsPatch is a patch of a data center (package datacenter/patch).
	EditsPatch EditsFormat = "patch"
)

// Edit is a net difference between what is edited and the file that was last saved. It is
// encoded as a JSON object, and scripts rely on the names of its members.
type Edit interface {
	// Append appends lines for people. Each ends with a newline.
	Append(dst []byte) []byte
}

// Reverted says what a revert took back.
type Reverted struct {
	// Edits are the edits that were taken back, as they were.
	Edits []Edit
	// Texts are the paths in the mount of refused texts that were given up.
	Texts []string
	// Open are the paths in the mount of reverted files that a program has open with text
	// that is not an edit yet. They keep that text.
	Open []string
}

// add adds what another session took back.
func (r *Reverted) add(more *Reverted) {
	r.Edits = append(r.Edits, more.Edits...)
	r.Texts = append(r.Texts, more.Texts...)
	r.Open = append(r.Open, more.Open...)
}

// ErrNoPatch means that there is no patch of edits of a source: only data centers have
// patches.
var ErrNoPatch = errors.New("patches are of data centers only")

// NoEditError means that nothing is edited at a path.
type NoEditError struct{ Path string }

func (e *NoEditError) Error() string { return fmt.Sprintf("%s: nothing is edited there", e.Path) }

// SeveralError means that a path leads to several nodes with edits, and that the user did
// not say that all of them are meant.
type SeveralError struct {
	Path  string
	Nodes int
}

func (e *SeveralError) Error() string {
	return fmt.Sprintf("%s: leads to %d nodes with edits", e.Path, e.Nodes)
}

// writeEdits writes edits as text or JSON. Sessions call it.
func writeEdits(w io.Writer, f EditsFormat, edits iter.Seq2[Edit, error]) error {
	const buffer = 64 << 10
	out := bufio.NewWriterSize(w, buffer)
	lines := shown.JSONLines(out)
	for e, err := range edits {
		if err == nil && f == EditsJSON {
			err = lines.Encode(e)
		} else if err == nil {
			_, err = out.Write(e.Append(out.AvailableBuffer()))
		}
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
	}
	return out.Flush()
}

// WriteEdits writes the edits of all sessions.
func (s *Source) WriteEdits(ctx context.Context, w io.Writer, f EditsFormat) error {
	for i, e := range s.Sessions {
		if f == EditsPatch && i > 0 && e.Pending() == 0 {
			continue // a folder beside the data center
		}
		if err := e.WriteEdits(ctx, w, f); err != nil {
			return fmt.Errorf("%s: %w", e.Path(), err)
		}
	}
	return nil
}

// Revert takes back the edits at some paths, or all edits if there are no paths; see
// [Session.Revert]. If a session fails, what the ones before took back is returned as well.
func (s *Source) Revert(ctx context.Context, paths []string, all bool) (r Reverted, err error) {
	of := make([][]string, len(s.Sessions))
	for _, path := range paths {
		i := s.sessionOf(path)
		of[i] = append(of[i], path)
	}
	for i, e := range s.Sessions {
		if len(paths) > 0 && len(of[i]) == 0 {
			continue
		}
		more, err := e.Revert(ctx, of[i], all)
		r.add(&more)
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// sessionOf returns the index of the session that edits a path in the mount.
func (s *Source) sessionOf(path string) int {
	for i, e := range s.Sessions {
		if dir := e.Dir(); dir != "" && (strings.HasPrefix(path, dir) || path+"/" == dir) {
			return i
		}
	}
	return 0
}

// Discard gives up everything that is not saved.
func (s *Source) Discard() error {
	var errs []error
	for _, e := range s.Sessions {
		errs = append(errs, e.Discard())
	}
	return errors.Join(errs...)
}
