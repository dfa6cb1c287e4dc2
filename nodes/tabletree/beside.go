package tabletree

import (
	"context"
	"errors"
	"io"
	"iter"

	"lorefs/nodes"
)

// besideBit is set in the IDs of a tree of tables that stands beside another one. A storage has no such
// IDs.
const besideBit = nodes.ID(1) << 61

// besideCursor is above all cursors of the root of the other tree.
const besideCursor = uint64(1) << 62

// IsBeside reports whether a node of a tree of [Beside] belongs to the tables.
func IsBeside(id nodes.ID) bool { return id&besideBit != 0 }

// Beside returns a tree whose root has the entries of another tree, and then those of the tables.
func Beside(tree nodes.Tree, tables *Tree) nodes.Tree { return &beside{tree, tables} }

type beside struct {
	nodes.Tree
	tables *Tree
}

var (
	_ nodes.Tree        = (*beside)(nil)
	_ nodes.Streamer    = (*beside)(nil)
	_ nodes.WholeReader = (*beside)(nil)
	_ nodes.Xattrer     = (*beside)(nil)
	_ nodes.Capable     = (*beside)(nil)
)

// outside returns an entry of the tables as it is in the whole tree.
func outside(e nodes.Entry) nodes.Entry {
	e.ID |= besideBit
	return e
}

// Caps implements [nodes.Capable].
func (b *beside) Caps() nodes.Caps {
	if _, ok := nodes.Xattrs(b.Tree); ok {
		return nodes.CapXattr
	}
	return 0
}

// Attr implements [nodes.Tree].
func (b *beside) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if IsBeside(id) {
		return b.tables.Attr(ctx, id&^besideBit)
	}
	return b.Tree.Attr(ctx, id)
}

// Lookup implements [nodes.Tree].
func (b *beside) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	if IsBeside(dir) {
		e, err := b.tables.Lookup(ctx, dir&^besideBit, name)
		return outside(e), err
	}
	e, err := b.Tree.Lookup(ctx, dir, name)
	if dir == nodes.Root && errors.Is(err, nodes.ErrNotExist) {
		if own, err := b.tables.Lookup(ctx, nodes.Root, name); err == nil {
			return outside(own), nil
		}
	}
	return e, err
}

// ReadDir implements [nodes.Tree].
func (b *beside) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		if IsBeside(dir) {
			for e, err := range b.tables.ReadDir(ctx, dir&^besideBit, cursor) {
				if !yield(outside(e), err) {
					return
				}
			}
			return
		}
		if cursor < besideCursor {
			for e, err := range b.Tree.ReadDir(ctx, dir, cursor) {
				if !yield(e, err) || err != nil {
					return
				}
			}
			cursor = besideCursor
		}
		if dir != nodes.Root {
			return
		}
		for e, err := range b.tables.ReadDir(ctx, nodes.Root, cursor-besideCursor) {
			e.Next += besideCursor
			if !yield(outside(e), err) {
				return
			}
		}
	}
}

// ReadAt implements [nodes.Tree].
func (b *beside) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	if IsBeside(id) {
		return b.tables.ReadAt(ctx, id&^besideBit, p, off)
	}
	return b.Tree.ReadAt(ctx, id, p, off)
}

// Usage implements [nodes.Tree].
func (b *beside) Usage() nodes.Usage {
	u := b.Tree.Usage()
	u.Nodes += b.tables.Usage().Nodes - 1 // the root is the other's
	return u
}

// Stream implements [nodes.Streamer].
func (b *beside) Stream(ctx context.Context, id nodes.ID, w io.Writer) (int64, bool, error) {
	if IsBeside(id) {
		return b.tables.Stream(ctx, id&^besideBit, w)
	}
	if s, ok := b.Tree.(nodes.Streamer); ok {
		return s.Stream(ctx, id, w)
	}
	return 0, false, nil
}

// ReadWhole implements [nodes.WholeReader]. Tables are left out: ReadAt reads them.
func (b *beside) ReadWhole(ctx context.Context, files []nodes.Entry) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		whole, ok := b.Tree.(nodes.WholeReader)
		if !ok {
			return
		}
		var others []nodes.Entry
		var places []int
		for i, e := range files {
			if !IsBeside(e.ID) {
				others, places = append(others, e), append(places, i)
			}
		}
		for i, content := range whole.ReadWhole(ctx, others) {
			if !yield(places[i], content) {
				return
			}
		}
	}
}

// Xattr implements [nodes.Xattrer]. Tables have none.
func (b *beside) Xattr(ctx context.Context, id nodes.ID, name string) ([]byte, error) {
	if x, ok := nodes.Xattrs(b.Tree); ok && !IsBeside(id) {
		return x.Xattr(ctx, id, name)
	}
	return nil, nodes.ErrNoXattr
}

// Xattrs implements [nodes.Xattrer].
func (b *beside) Xattrs(ctx context.Context, id nodes.ID) ([]string, error) {
	if x, ok := nodes.Xattrs(b.Tree); ok && !IsBeside(id) {
		return x.Xattrs(ctx, id)
	}
	return nil, nil
}
