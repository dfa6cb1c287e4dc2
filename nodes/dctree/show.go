package dctree

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/nodes"
)

// Attr implements [nodes.Tree].
func (e *edits) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if err := e.check(ctx); err != nil {
		return nodes.Attr{}, err
	}
	attr, err := e.attr(ctx, id)
	attr.Writable = true
	return attr, err
}

func (e *edits) attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	n, attribute, ok := number(id)
	switch {
	case !ok:
		return nodes.Attr{}, nodes.NotExist(id)
	case !attribute && e.draft.Touched(n):
		return nodes.Attr{Kind: nodes.Dir, ModTime: e.Tree.opts.ModTime}, nil
	case attribute:
		if v, ok := e.draft.Value(n); ok {
			return nodes.Attr{Kind: nodes.File, Size: int64(len(e.text(n, v))), ModTime: e.Tree.opts.ModTime}, nil
		}
	}
	return e.Tree.Attr(ctx, id)
}

// text returns the content of the file of a changed attribute.
func (e *edits) text(n edit.Number, v datacenter.Value) string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.bare[n] {
		return v.Text()
	}
	return v.Text() + "\n"
}

// ReadAt implements [nodes.Tree].
func (e *edits) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	n, attribute, ok := number(id)
	if ok && !attribute && e.draft.Touched(n) {
		return 0, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	}
	if v, changed := e.draft.Value(n); ok && attribute && changed {
		if err := e.check(ctx); err != nil {
			return 0, err
		}
		return nodes.ReadContent(e.text(n, v), p, off)
	}
	return e.Tree.ReadAt(ctx, id, p, off)
}

// Lookup implements [nodes.Tree].
func (e *edits) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	if err := e.check(ctx); err != nil {
		return nodes.Entry{}, err
	}
	n, touched, err := e.dirNumber(dir)
	if err != nil {
		return nodes.Entry{}, err
	}
	var entry nodes.Entry
	if touched {
		entry, err = e.lookup(n, name)
	} else {
		entry, err = e.Tree.Lookup(ctx, dir, name)
	}
	if err != nil {
		return nodes.Entry{}, err
	}
	entry.Next = 0
	e.complete(&entry)
	return entry, nil
}

// lookup returns an entry of a draft node by its name.
func (e *edits) lookup(dir edit.Number, name string) (nodes.Entry, error) {
	of, ok := e.draft.Node(dir)
	if !ok {
		return nodes.Entry{}, nodes.NotExist(name)
	}
	if plain, _, err := e.attributeFile(name); err == nil {
		if d, ok := e.draft.Attribute(dir, plain); ok {
			if entry, err := e.entry(dir, &of, &d); err != nil || entry.Name == name {
				return entry, err
			}
		}
	}
	if plain, ordinal, err := e.childFile(name); err == nil {
		if d, ok := e.draft.Child(dir, plain, ordinal); ok {
			return e.entry(dir, &of, &d)
		}
	}
	return nodes.Entry{}, nodes.NotExist(strconv.Quote(name))
}

// entry returns the nodes.Entry of an entry of a draft node.
func (e *edits) entry(dir edit.Number, of *edit.Node, d *edit.Entry) (nodes.Entry, error) {
	entry := nodes.Entry{ID: entryID(d), Kind: nodes.Dir, Next: d.Next}
	if !d.Attribute {
		entry.Name = numbered(e.nameOf(d), d.Ordinal)
		return entry, nil
	}
	entry.Kind = nodes.File
	var err error
	if entry.Name, err = e.attributeName(dir, of, d); err != nil {
		return entry, err
	}
	if d.Value.Type() != 0 {
		entry.Size = int64(len(e.text(d.Number, d.Value)))
		return entry, nil
	}
	a, err := e.file.Attribute(d.Addr)
	if err != nil {
		return entry, wrap(err)
	}
	entry.Size, err = fileSize(a)
	return entry, err
}

// complete sets what all entries have in common.
func (e *edits) complete(entry *nodes.Entry) {
	entry.Writable = true
	entry.ModTime = e.Tree.opts.ModTime // the time of the directory may differ
}

func isNotExist(err error) bool { return errors.Is(err, nodes.ErrNotExist) }

// listBatch is how many entries of a draft node are copied at a time.
const listBatch = 128

// ReadDir implements [nodes.Tree].
func (e *edits) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		n, touched, err := e.dirNumber(dir)
		if err == nil {
			err = e.check(ctx)
		}
		if err != nil {
			yield(nodes.Entry{}, err)
			return
		}
		if !touched {
			var more bool
			if cursor, more = e.listStored(ctx, dir, n, cursor, yield); !more {
				return
			}
		}
		e.list(n, cursor, yield)
	}
}

// listStored lists a directory without edits. more is false at the end of the listing. Otherwise
// the directory was edited meanwhile, and the draft has the entries from cursor on.
func (e *edits) listStored(
	ctx context.Context, dir nodes.ID, n edit.Number, cursor uint64, yield func(nodes.Entry, error) bool,
) (_ uint64, more bool) {
	for entry, err := range e.Tree.ReadDir(ctx, dir, cursor) {
		if err == nil && e.draft.Touched(n) {
			return cursor, true
		}
		if err == nil {
			e.complete(&entry)
		}
		if !yield(entry, err) || err != nil {
			return 0, false
		}
		cursor = entry.Next
	}
	return 0, false
}

// list lists a draft node.
func (e *edits) list(dir edit.Number, cursor uint64, yield func(nodes.Entry, error) bool) {
	var batch []edit.Entry
	for {
		of, ok := e.draft.Node(dir)
		if !ok {
			return // it was removed and has no more entries
		}
		if batch, _ = e.draft.List(dir, cursor, listBatch, batch[:0]); len(batch) == 0 {
			return
		}
		for i := range batch {
			entry, err := e.entry(dir, &of, &batch[i])
			e.complete(&entry)
			if !yield(entry, err) || err != nil {
				return
			}
		}
		cursor = batch[len(batch)-1].Next
	}
}
