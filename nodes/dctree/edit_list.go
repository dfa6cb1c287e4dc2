package dctree

import (
	"context"
	"iter"

	"lorefs/datacenter"
	"lorefs/nodes"
)

const (
	// listBatch is how many entries of a draft node are copied at a time.
	listBatch = 128
	// scratchCursor is the first cursor of the scratch files, behind all others.
	scratchCursor = 1 << 40
)

// ReadDir implements [nodes.Tree].
func (e *Editable) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
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

// listStored lists a directory that nobody has edited. more is false at its end;
// else somebody has by now, and the draft has what is behind cursor.
func (e *Editable) listStored(
	ctx context.Context, dir nodes.ID, n datacenter.Number, cursor uint64, yield func(nodes.Entry, error) bool,
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
func (e *Editable) list(dir datacenter.Number, cursor uint64, yield func(nodes.Entry, error) bool) {
	var batch []datacenter.DraftEntry
	for cursor < scratchCursor {
		of, ok := e.draft.Node(dir)
		if !ok {
			return // it was removed: nothing is left in it
		}
		if batch, _ = e.draft.List(dir, cursor, listBatch, batch[:0]); len(batch) == 0 {
			break
		}
		for i := range batch {
			if d := &batch[i]; d.Attribute && e.isHidden(dir, d.Name) {
				continue
			}
			entry, err := e.entry(dir, &of, &batch[i])
			e.complete(&entry)
			if !yield(entry, err) || err != nil {
				return
			}
		}
		cursor = batch[len(batch)-1].Next
	}
	e.listScratch(dir, cursor, yield)
}

func (e *Editable) listScratch(dir datacenter.Number, cursor uint64, yield func(nodes.Entry, error) bool) {
	var batch []nodes.Entry
	for {
		if batch = e.scratchFrom(dir, cursor, listBatch, batch[:0]); len(batch) == 0 {
			return
		}
		for i := range batch {
			e.complete(&batch[i])
			if !yield(batch[i], nil) {
				return
			}
		}
		cursor = batch[len(batch)-1].Next
	}
}
