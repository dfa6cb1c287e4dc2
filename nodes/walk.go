package nodes

import (
	"context"
	"fmt"
	"iter"
)

// Find returns the node to which names lead from the root of a tree, and the directory that it is in.
// The error matches [ErrNotExist] if they lead nowhere.
func Find(ctx context.Context, tree Tree, names []string) (dir, id ID, err error) {
	at := Entry{ID: Root, Kind: Dir}
	for _, name := range names {
		if at.Kind != Dir {
			return 0, 0, NotExist(at.ID)
		}
		dir = at.ID
		if at, err = tree.Lookup(ctx, dir, name); err != nil {
			return 0, 0, err
		}
	}
	return dir, at.ID, nil
}

// WalkEntry is one step of a [Walk].
type WalkEntry struct {
	Entry
	// Path leads from the start of the walk to the entry, with "/" between names.
	Path string
	// Parent is the directory that the entry is in.
	Parent ID
}

// Walk yields everything below dir, but not dir itself: each directory before its entries,
// and entries in the tree's order. An error comes last, with the path of the directory that
// could not be listed.
func Walk(ctx context.Context, tree Tree, dir ID) iter.Seq2[WalkEntry, error] {
	return func(yield func(WalkEntry, error) bool) {
		walk(ctx, tree, dir, "", yield)
	}
}

// walk reports whether to go on.
func walk(ctx context.Context, tree Tree, dir ID, prefix string, yield func(WalkEntry, error) bool) bool {
	for e, err := range tree.ReadDir(ctx, dir, 0) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			yield(WalkEntry{Path: prefix, Parent: dir}, fmt.Errorf("list %q: %w", "/"+prefix, err))
			return false
		}
		p := e.Name
		if prefix != "" {
			p = prefix + "/" + e.Name
		}
		if !yield(WalkEntry{Entry: e, Path: p, Parent: dir}, nil) {
			return false
		}
		if e.Kind == Dir && !walk(ctx, tree, e.ID, p, yield) {
			return false
		}
	}
	return true
}
