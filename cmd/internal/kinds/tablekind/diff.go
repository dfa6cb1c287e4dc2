package tablekind

import (
	"context"
	"iter"

	"lorefs/cmd/internal/kinds"
	"lorefs/nodes/tabletree"
)

// diffTables yields the tables and rows that differ.
func diffTables(ctx context.Context, a, b kinds.Archive) iter.Seq2[kinds.Edit, error] {
	old, now := a.(*tables), b.(*tables)
	if old.file != nil && now.file != nil { // two files are one table, whatever they are called
		now.list[0].Name = old.list[0].Name
		now.tree = tabletree.New(now.list, now.options)
	}
	return Edits(tabletree.Diff(ctx, old.tree, now.tree))
}

// Edits returns differences as edits, and errors as users should see them.
func Edits(list iter.Seq2[tabletree.Difference, error]) iter.Seq2[kinds.Edit, error] {
	return func(yield func(kinds.Edit, error) bool) {
		for d, err := range list {
			if !kinds.Known(err) {
				err = &kinds.Error{Err: err}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}
