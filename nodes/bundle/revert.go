package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"lorefs/internal/shown"
	"lorefs/nodes"
)

// EditKind says what was done to a file.
type EditKind string

// The kinds of edits.
const (
	FileAdded   EditKind = "file_added"
	FileRemoved EditKind = "file_removed"
	FileChanged EditKind = "file_changed"
)

// Edit is a file that the folder and the source do not both have as it is. It is encoded as a JSON
// object, and scripts rely on the names of its members. A file that was renamed is one that was
// removed and one that was added.
type Edit struct {
	Kind EditKind `json:"kind"`
	// Path is the path of the file in the tree.
	Path string `json:"path"`
	// OldSize is the size of the file that the source holds, and Size that of the file in the
	// folder; 0 if there is none.
	OldSize int64 `json:"old_size"`
	Size    int64 `json:"size"`
}

// Append appends the edit as a line.
func (d Edit) Append(dst []byte) []byte {
	path := shown.Text(d.Path)
	switch d.Kind {
	case FileAdded:
		return fmt.Appendf(dst, "+ %s: %d bytes\n", path, d.Size)
	case FileRemoved:
		return fmt.Appendf(dst, "- %s: %d bytes\n", path, d.OldSize)
	}
	return fmt.Appendf(dst, "~ %s: %d bytes, was %d\n", path, d.Size, d.OldSize)
}

// At returns the edit with its path below a directory, which is empty or ends in a slash.
func (d Edit) At(dir string) Edit {
	d.Path = dir + d.Path
	return d
}

// Gone returns the number that stands for a file which the source holds and the folder has no more,
// for Edits and Revert.
func (e *Editable) Gone(dir nodes.ID, name string) (nodes.ID, bool) {
	e.edits.mu.Lock()
	defer e.edits.mu.Unlock()
	if _, held := e.edits.base[name]; dir != nodes.Root || !held || e.edits.byName[name] != nil {
		return 0, false
	}
	id := e.edits.gone[name]
	if id == 0 {
		e.edits.lastID++
		id = e.edits.lastID
		e.edits.gone[name] = id
	}
	return id, true
}

// Edits yields the edits of files, or all if no node is given or the root is among them, sorted by
// their names.
func (e *Editable) Edits(_ context.Context, ids ...nodes.ID) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		for _, name := range e.chosen(ids) {
			if d, is := e.edits.describe(name); is && !yield(d, nil) {
				return
			}
		}
	}
}

// chosen returns the names of edited files.
func (e *Editable) chosen(ids []nodes.ID) []string {
	of := make([]nodes.ID, len(ids))
	for i, id := range ids {
		of[i] = e.Of(id)
	}
	e.edits.mu.RLock()
	defer e.edits.mu.RUnlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(e.edits.differs)), func(name string) bool {
		id := e.edits.gone[name]
		if m := e.edits.byName[name]; m != nil {
			id = m.id
		}
		return len(of) > 0 && !slices.Contains(of, id) && !slices.Contains(of, nodes.Root)
	})
}

// describe describes the edit of a name; is is false if there is none.
func (e *edits) describe(name string) (d Edit, is bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if _, is = e.differs[name]; !is {
		return d, false
	}
	m, b := e.byName[name], e.base[name]
	d = Edit{Kind: FileChanged, Path: name}
	if m == nil {
		d.Kind = FileRemoved
	} else {
		d.Size = m.content.size
	}
	if b.content == nil {
		d.Kind = FileAdded
	} else {
		d.OldSize = b.size
	}
	return d, true
}

// Revert takes back the edits of files, or all as for Edits, and returns them as they were. It logs
// what it does as edits. If some can't be taken back, the others are nevertheless.
func (e *Editable) Revert(ctx context.Context, ids ...nodes.ID) (taken []Edit, err error) {
	var errs []error
	for _, name := range e.edits.addedFirst(e.chosen(ids)) {
		err := e.Alone(func() error {
			d, is := e.edits.describe(name)
			if !is {
				return nil
			}
			err := e.edits.revert(ctx, name)
			if err == nil {
				taken = append(taken, d)
			}
			return err
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	slices.SortFunc(taken, func(a, b Edit) int { return cmp.Compare(a.Path, b.Path) })
	return taken, errors.Join(errs...)
}

// addedFirst puts names that the source does not hold before the others, since a file of such a name
// may be in the place of one that is to come back.
func (e *edits) addedFirst(names []string) []string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	var added, held []string
	for _, name := range names {
		if _, is := e.base[name]; is {
			held = append(held, name)
		} else {
			added = append(added, name)
		}
	}
	return append(added, held...)
}

// revert takes back the edit of a name. Nothing else is edited meanwhile.
func (e *edits) revert(ctx context.Context, name string) error {
	e.mu.RLock()
	var now member
	m, id := e.byName[name], e.gone[name]
	if m != nil {
		now = *m
	}
	e.mu.RUnlock()
	b, held := e.base[name]
	if !held {
		if err := e.make(ctx, 0, op{kind: opRemove, name: name}); err != nil {
			return err
		}
		e.Gone(now.id, nodes.File, was{now.content, now.modTime})
		e.Changed(nodes.Change{Dir: nodes.Root, Name: name})
		return nil
	}
	o := op{kind: opBack, name: name}
	if e.isSaving { // the record may have to be made on the new file
		o.kind = opPut
		var err error
		if o.text, err = b.bytesOf(ctx, e.opts.Limits.Text); err != nil {
			return err
		}
	}
	if err := e.make(ctx, id, o); err != nil {
		return err
	}
	if m != nil {
		e.Edited(now.id)
	} else {
		e.Changed(nodes.Change{Dir: nodes.Root, Name: name})
	}
	return nil
}

// bytesOf reads the whole content, of up to most bytes.
func (c *content) bytesOf(ctx context.Context, most int64) ([]byte, error) {
	if c.size > most {
		return nil, fmt.Errorf("%w: %d bytes, where %d are the most while it is saved", nodes.ErrTooLarge, c.size, most)
	}
	text := make([]byte, c.size)
	_, err := io.ReadFull(c.reader(ctx), text)
	return text, err
}
