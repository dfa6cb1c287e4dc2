package overlay

import (
	"context"
	"fmt"
	"iter"

	"lorefs/nodes"
)

// directory has the files of a directory that the source does not have.
type directory struct {
	// names has the scratch files by name, order has them by cursor.
	names map[string]*file
	order order[file]
}

// scratchCursor is the first cursor of scratch files. It is above all cursors of a source.
const scratchCursor = 1 << 40

// put puts a file into a directory. A file that is the source's goes to its place there. The
// caller holds mu.
func (t *Tree) put(f *file, dir nodes.ID, name string) {
	t.know(f)
	f.dir, f.name = dir, name
	if f.of != 0 {
		t.shown[f.of] = f
		return
	}
	d := t.dirs[dir]
	if d == nil {
		d = &directory{names: map[string]*file{}}
		t.dirs[dir] = d
	}
	d.names[name] = f
	f.cursor = t.cursor
	t.cursor++
	d.order.Put(f.cursor, f)
}

// take takes a file out of its directory. A file of the source that it shows is hidden then. The
// caller holds mu.
func (t *Tree) take(f *file) {
	if f.of != 0 {
		t.shown[f.of] = nil
		return
	}
	d := t.dirs[f.dir]
	delete(d.names, f.name)
	d.order.Take(f.cursor)
}

// drop removes a file. The caller holds mu.
func (t *Tree) drop(f *file) {
	t.take(f)
	t.gone(f)
}

// named returns the scratch file with a name in a directory, or nil. The caller holds mu.
func (t *Tree) named(dir nodes.ID, name string) *file {
	if d := t.dirs[dir]; d != nil {
		return d.names[name]
	}
	return nil
}

// Lookup implements [nodes.Tree].
func (t *Tree) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	if entry, ok, err := t.lookup(ctx, dir, name); ok || err != nil {
		return entry, err
	}
	entry, err := t.src.Lookup(ctx, dir, name)
	if err != nil {
		return nodes.Entry{}, err
	}
	entry, ok, err := t.complete(ctx, dir, entry)
	if err == nil && !ok {
		err = nodes.NotExist(name)
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	entry.Next = 0
	return entry, nil
}

// lookup finds a scratch file by its name. If there is none, ok is false; err is set if the
// directory is not the source's, which then can't have the name either.
func (t *Tree) lookup(ctx context.Context, dir nodes.ID, name string) (entry nodes.Entry, ok bool, err error) {
	t.mu.RLock()
	f, in := t.named(dir, name), t.files[dir]
	t.mu.RUnlock()
	switch {
	case in != nil && in.kind != nodes.Dir:
		return entry, false, fmt.Errorf("%v: %w", dir, nodes.ErrNotDir)
	case f == nil && in != nil:
		return entry, false, nodes.NotExist(name)
	case f == nil:
		return entry, false, nil
	}
	entry, err = t.entryOf(ctx, f.id, name)
	return entry, true, err
}

// ReadDir implements [nodes.Tree]. Scratch files follow the entries of the source.
func (t *Tree) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		s, known, err := t.look(dir)
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		if known {
			if s.kind != nodes.Dir {
				yield(nodes.Entry{}, fmt.Errorf("%v: %w", dir, nodes.ErrNotDir))
				return
			}
			t.listScratch(ctx, dir, cursor, yield)
			return
		}
		if cursor < scratchCursor {
			for entry, err := range t.src.ReadDir(ctx, dir, cursor) {
				ok := true
				if err == nil {
					entry, ok, err = t.complete(ctx, dir, entry)
				}
				if ok && (!yield(entry, err) || err != nil) {
					return
				}
			}
		}
		t.listScratch(ctx, dir, cursor, yield)
	}
}

// complete adds to an entry of the source what the overlay knows. ok is false if the entry is
// hidden, or a scratch file with the same name takes precedence.
func (t *Tree) complete(ctx context.Context, dir nodes.ID, entry nodes.Entry) (_ nodes.Entry, ok bool, err error) {
	t.mu.RLock()
	f, apart := t.shown[entry.ID]
	if apart && f == nil || t.named(dir, entry.Name) != nil {
		t.mu.RUnlock()
		return entry, false, nil
	}
	id := entry.ID
	if apart {
		id = f.id
	}
	_, known := t.files[id]
	t.mu.RUnlock()
	if !known {
		entry.ModTime = t.times.Of(id, entry.ModTime)
		return entry, true, nil
	}
	attr, err := t.Attr(ctx, id)
	entry.ID, entry.Size, entry.ModTime, entry.Writable = id, attr.Size, attr.ModTime, attr.Writable
	return entry, true, err
}

// entryOf returns the entry of a node.
func (t *Tree) entryOf(ctx context.Context, id nodes.ID, name string) (nodes.Entry, error) {
	attr, err := t.Attr(ctx, id)
	return nodes.Entry{
		Name: name, ID: id, Kind: attr.Kind, Size: attr.Size, ModTime: attr.ModTime, Writable: attr.Writable,
	}, err
}

// listScratch lists the scratch files of a directory.
func (t *Tree) listScratch(ctx context.Context, dir nodes.ID, cursor uint64, yield func(nodes.Entry, error) bool) {
	type at struct {
		id     nodes.ID
		name   string
		cursor uint64
	}
	var list []at
	t.mu.RLock()
	if d := t.dirs[dir]; d != nil {
		for f := range d.order.From(cursor) {
			list = append(list, at{f.id, f.name, f.cursor})
		}
	}
	t.mu.RUnlock()
	for _, a := range list {
		entry, err := t.entryOf(ctx, a.id, a.name)
		entry.Next = a.cursor + 1
		if !yield(entry, err) || err != nil {
			return
		}
	}
}
