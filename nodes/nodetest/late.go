package nodetest

import (
	"context"
	"iter"
	"sync/atomic"

	"lorefs/nodes"
)

// LateSizes shows a tree whose listings don't know how large files are.
type LateSizes struct {
	nodes.Tree
	// Asked counts calls of Attr for files.
	Asked atomic.Int64
}

func late(e nodes.Entry) nodes.Entry {
	if e.Kind == nodes.File {
		e.Size = nodes.UnknownSize
	}
	return e
}

// Attr implements [nodes.Tree].
func (l *LateSizes) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	attr, err := l.Tree.Attr(ctx, id)
	if attr.Kind == nodes.File {
		l.Asked.Add(1)
	}
	return attr, err
}

// Lookup implements [nodes.Tree].
func (l *LateSizes) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	e, err := l.Tree.Lookup(ctx, dir, name)
	return late(e), err
}

// ReadDir implements [nodes.Tree].
func (l *LateSizes) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		for e, err := range l.Tree.ReadDir(ctx, dir, cursor) {
			if !yield(late(e), err) {
				return
			}
		}
	}
}

// Readlink implements [nodes.Linker].
func (l *LateSizes) Readlink(ctx context.Context, link nodes.ID) (string, error) {
	return nodes.Readlink(ctx, l.Tree, link)
}
