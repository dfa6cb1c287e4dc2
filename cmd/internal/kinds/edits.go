package kinds

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"

	"lorefs/internal/jsonout"
	"lorefs/internal/shown"
	"lorefs/nodes"
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

// NotInPatchError means that a patch was written that has not all edits of a source, since those of
// the file or folder at Path can't be in one.
type NotInPatchError struct {
	Path  string
	Edits int64
}

func (e *NotInPatchError) Error() string {
	return fmt.Sprintf("the patch lacks %s of %s: %v", shown.Plural(int(e.Edits), "edit"), e.Path, ErrNoPatch)
}

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

// EditsOf yields edits of a kind as any.
func EditsOf[E Edit](edits iter.Seq2[E, error]) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		for e, err := range edits {
			if !yield(e, err) {
				return
			}
		}
	}
}

// WriteEdits writes edits as text or JSON.
func WriteEdits(w io.Writer, f EditsFormat, edits iter.Seq2[Edit, error]) error {
	out := bufio.NewWriterSize(w, editsBuffer)
	lines := jsonout.NewLines(out)
	for e, err := range edits {
		if err == nil && f == EditsJSON {
			err = lines.Write(e)
		} else if err == nil {
			_, err = out.Write(e.Append(out.AvailableBuffer()))
		}
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
	}
	return out.Flush()
}

// editsBuffer is the size of the pieces in which lists of edits are written.
const editsBuffer = 64 << 10

// FileState tells what JSON says of a file besides edits.
type FileState struct {
	Kind string `json:"kind"`
	// Path is the path in the mount.
	Path string `json:"path"`
}

// OpenFile says that a program has a file open with text that is not an edit yet.
type OpenFile struct{ FileState }

// NewOpenFile returns what is said of an open file at a path in the mount.
func NewOpenFile(path string) OpenFile { return OpenFile{FileState{"open", path}} }

// Append implements [Edit].
func (f OpenFile) Append(dst []byte) []byte {
	return fmt.Appendf(dst, "? %s is open: a program has not written all of it yet\n", shown.Text(f.Path))
}

// SessionsOf returns the sessions that edit the source at a path without links; all if the
// path is empty.
func (s *Source) SessionsOf(path string) []Session {
	if path == "" {
		return s.Sessions
	}
	return slices.DeleteFunc(slices.Clone(s.Sessions), func(e Session) bool {
		own, err := withoutLinks(e.Path())
		return err != nil || own != path
	})
}

// WriteEdits writes the edits of all sessions of a source, see [Source.SessionsOf], or those at
// some paths of the mount, which are not for patches: see [Session.EditsAt]. Text and
// JSON also name the files that are open with text that is not an edit yet. If only some of the
// sessions have patches, the error is a [*NotInPatchError] for each other one that has edits.
func (s *Source) WriteEdits(ctx context.Context, w io.Writer, f EditsFormat, of string, paths ...string) error {
	if len(paths) > 0 {
		return WriteEdits(w, f, s.editsAt(ctx, of, paths))
	}
	if f != EditsPatch {
		return WriteEdits(w, f, s.edits(ctx, of))
	}
	var lacking error
	for i, e := range s.SessionsOf(of) {
		if i > 0 && e.Pending() == 0 {
			continue // a folder beside the data center
		}
		err := e.WritePatch(ctx, w)
		switch {
		case i > 0 && errors.Is(err, ErrNoPatch):
			lacking = errors.Join(lacking, &NotInPatchError{e.Path(), e.Pending()})
		case err != nil:
			return fmt.Errorf("%s: %w", e.Path(), err)
		}
	}
	return lacking
}

// edits yields the edits and the open files of all sessions of a source.
func (s *Source) edits(ctx context.Context, of string) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		for _, e := range s.SessionsOf(of) {
			for edit, err := range e.Edits(ctx) {
				if err != nil {
					err = fmt.Errorf("%s: %w", e.Path(), err)
				}
				if !yield(edit, err) || err != nil {
					return
				}
			}
			for _, path := range e.Open() {
				if !yield(NewOpenFile(path), nil) {
					return
				}
			}
		}
	}
}

// Revert takes back the edits at some paths, or all edits if there are no paths, of the
// sessions of a source; see [Session.Revert] and [Source.SessionsOf]. If a session fails,
// what the ones before took back is returned as well.
func (s *Source) Revert(ctx context.Context, of string, paths []string, all bool) (r Reverted, err error) {
	sessions := s.SessionsOf(of)
	theirs := s.pathsOf(ctx, sessions, paths)
	for i, e := range sessions {
		if len(paths) > 0 && len(theirs[i]) == 0 {
			continue
		}
		more, err := e.Revert(ctx, theirs[i], all)
		r.add(&more)
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// editsAt yields the edits and the open files at some paths.
func (s *Source) editsAt(ctx context.Context, of string, paths []string) iter.Seq2[Edit, error] {
	isThere := func(name string) bool {
		_, _, err := nodes.Find(ctx, s.Tree, strings.Split(path.Clean(name), "/"))
		return err == nil
	}
	return func(yield func(Edit, error) bool) {
		sessions := s.SessionsOf(of)
		for i, theirs := range s.pathsOf(ctx, sessions, paths) {
			if len(theirs) == 0 {
				continue
			}
			list, err := sessions[i].EditsAt(ctx, theirs, isThere)
			for _, e := range list {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// pathsOf returns which of some paths in the mount each of some sessions edits, without links.
func (s *Source) pathsOf(ctx context.Context, sessions []Session, paths []string) [][]string {
	if len(sessions) == 0 {
		return nil
	}
	theirs := make([][]string, len(sessions))
	for _, path := range paths {
		path = s.follow(ctx, path)
		i := sessionAt(sessions, path)
		theirs[i] = append(theirs[i], path)
	}
	return theirs
}

// follow follows the links of a path in the mount. A query and a path that leads nowhere stay
// as they are.
func (s *Source) follow(ctx context.Context, name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	for range maxLinks {
		_, next, err := s.find(ctx, path.Clean(name))
		if err != nil || next == "" {
			break
		}
		name = next
	}
	return name
}

// sessionAt returns the index of the session that edits a path in the mount.
func sessionAt(sessions []Session, path string) int {
	for i, e := range sessions {
		if dir := e.Dir(); dir != "" && strings.HasPrefix(path+"/", dir) {
			return i
		}
	}
	return 0
}

// Write writes what was taken back, as text or JSON.
func (r *Reverted) Write(w io.Writer, f EditsFormat) error {
	out := bufio.NewWriterSize(w, editsBuffer)
	if f == EditsJSON {
		return cmp.Or(r.writeJSON(out), out.Flush())
	}
	for _, e := range r.Edits {
		if _, err := out.Write(e.Append(out.AvailableBuffer())); err != nil {
			return err
		}
	}
	if n := len(r.Edits); n > 0 {
		shown.Fprintf(out, "took back %s\n", shown.Plural(n, "edit"))
	}
	for _, path := range r.Texts {
		shown.Fprintf(out, "gave up the text that was refused of %s\n", path)
	}
	for _, path := range r.Open {
		shown.Fprintf(out, "%s is open: what its program has not written yet is left alone\n", path)
	}
	return out.Flush()
}

func (r *Reverted) writeJSON(w io.Writer) error {
	lines := jsonout.NewLines(w)
	for _, e := range r.Edits {
		if err := lines.Write(e); err != nil {
			return err
		}
	}
	for _, path := range r.Texts {
		if err := lines.Write(FileState{"text_given_up", path}); err != nil {
			return err
		}
	}
	for _, path := range r.Open {
		if err := lines.Write(NewOpenFile(path)); err != nil {
			return err
		}
	}
	return nil
}

// Discard gives up everything that is not saved.
func (s *Source) Discard() error {
	var errs []error
	for _, e := range s.Sessions {
		errs = append(errs, e.Discard())
	}
	return errors.Join(errs...)
}
