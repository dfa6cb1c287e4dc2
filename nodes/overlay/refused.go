package overlay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lorefs/nodes"
)

// count updates the account of memory after the text of a file was changed. A removed file
// doesn't count, as only those that have it open can read it. The caller holds mu.
func (t *Tree) count(f *file) {
	n := int64(0)
	if !f.removed && f.Held() {
		n = f.Cap()
	}
	t.bytes += n - f.counted
	f.counted = n
}

// room returns an error if the text of a file can't have a size: [nodes.ErrTooLarge],
// [nodes.ErrNoSpace]. The caller holds editing.
func (t *Tree) room(f *file, size int64) error {
	if size > t.limits.Text {
		return fmt.Errorf("%w: a text of %d bytes, where %d are the most", nodes.ErrTooLarge, size, t.limits.Text)
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.bytes-f.counted+size > t.limits.Texts && size > f.counted {
		return fmt.Errorf("%w: texts that are not saved have %d bytes together, where %d are the most", nodes.ErrNoSpace, t.bytes, t.limits.Texts)
	}
	return nil
}

// refuse keeps the text of a file that could not be renamed to one of the source. It keeps it
// under the new name, too, because tools that save by renaming remove the file that they could
// not rename. The caller holds editing.
func (t *Tree) refuse(ctx context.Context, from *file, to *place, cause error) {
	if ctx.Err() != nil {
		return // the text was not checked to its end
	}
	t.mu.Lock()
	from.problem = cause
	text := from.Bytes()
	t.mu.Unlock()
	if err := t.showRefused(text, to, cause); err != nil {
		t.logger.Warn("a text that was refused is kept under its first name only",
			"file", to.Name, "problem", cause, "err", err)
	}
}

// showRefused makes the file at a place show a refused text.
func (t *Tree) showRefused(text []byte, to *place, cause error) error {
	f, err := t.fileFor(to)
	if err != nil {
		return err
	}
	if err := t.room(f, int64(len(text))); err != nil {
		return err
	}
	text = slices.Clone(text)
	t.mu.Lock()
	f.Hold(text)
	f.problem = cause
	f.pending, f.fresh = false, f.of == 0
	t.know(f)
	if !to.Exists() {
		t.put(f, to.dir, to.Name)
	}
	t.touch(f)
	t.count(f)
	t.mu.Unlock()
	t.tell(nodes.Change{ID: f.id})
	if !to.Exists() {
		t.tell(nodes.Change{Dir: to.dir, Name: to.Name})
	}
	return nil
}

// fileFor returns the file at a place, or a new one for it, if it may show a refused text.
func (t *Tree) fileFor(to *place) (*file, error) {
	f := to.file
	switch {
	case to.of.Sole && (f == nil || f.problem == nil):
		return nil, fmt.Errorf("%w: what is there is nowhere else, and would be lost", nodes.ErrExist)
	case f == nil:
		f = sourceFile(to.ID, to.of.ID)
	case f.Dirty():
		return nil, fmt.Errorf("%w: somebody is writing it", nodes.ErrExist)
	}
	if to.Exists() {
		return f, nil
	}
	var err error
	f.id, err = t.newID()
	return f, err
}

// giveUp removes a file that shows a refused text. A file with another number takes its place
// and shows the content of the source. The caller holds editing.
func (t *Tree) giveUp(ctx context.Context, p *place) error {
	now, err := t.src.Now(ctx, p.of.ID)
	if err != nil {
		return err
	}
	id, err := t.newID()
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replaced(p, now)
	t.put(sourceFile(id, p.of.ID), p.dir, p.Name)
	return nil
}

// isNotPermitted reports whether an error says that the edit is impossible with any text.
func isNotPermitted(err error) bool { return errors.Is(err, nodes.ErrNotPermitted) }

// Refused is a text that could not become the content of the file that shows it.
type Refused struct {
	// Path is the path of the file in the tree.
	Path    string
	Text    []byte
	Problem error
}

// Refused returns the texts that were refused and not replaced since, of the files and
// directories in, or all if there are none. The caller must not change them.
func (t *Tree) Refused(in ...nodes.ID) []Refused {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var list []Refused
	for _, f := range t.seenIn(in) {
		if f.problem != nil {
			list = append(list, Refused{Path: t.path(f), Text: f.Bytes(), Problem: f.problem})
		}
	}
	slices.SortFunc(list, func(a, b Refused) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// xattrError is the attribute that says what is wrong with the text of a file.
const xattrError = "user.lorefs.error"

// Xattrs implements [nodes.Xattrer].
func (t *Tree) Xattrs(ctx context.Context, id nodes.ID) ([]string, error) {
	problem, err := t.problem(ctx, id)
	if err != nil || problem == nil {
		return nil, err
	}
	return []string{xattrError}, nil
}

// Xattr implements [nodes.Xattrer].
func (t *Tree) Xattr(ctx context.Context, id nodes.ID, name string) ([]byte, error) {
	problem, err := t.problem(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case problem != nil && name == xattrError:
		return []byte(problem.Error()), nil
	}
	return nil, fmt.Errorf("%s: %w", name, nodes.ErrNoXattr)
}

// problem returns why the text of a file was refused, or nil.
func (t *Tree) problem(ctx context.Context, id nodes.ID) (problem, err error) {
	if _, err := t.Attr(ctx, id); err != nil {
		return nil, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	if f := t.files[id]; f != nil {
		return f.problem, nil
	}
	return nil, nil
}
