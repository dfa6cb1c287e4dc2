package worldtree

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"slices"
)

// Diff yields what differs between two worlds: the squares and areas that both have, as an edit of a
// would be that made b of it, and the files that only one has. They are sorted by their paths, areas
// last.
func Diff(ctx context.Context, a, b *Tree) iter.Seq2[Edit, error] {
	return func(yield func(Edit, error) bool) {
		for _, p := range pairs(a, b) {
			list, err := p.compare(ctx, a, b)
			if err != nil {
				yield(Edit{}, err)
				return
			}
			for _, d := range list {
				if !yield(d, nil) {
					return
				}
			}
		}
	}
}

// pair is the sources of one name in two worlds. One of them may be nil.
type pair struct{ was, is *source }

// any returns a source of the pair.
func (p pair) any() *source {
	if p.was != nil {
		return p.was
	}
	return p.is
}

func pairs(a, b *Tree) (all []pair) {
	for _, s := range a.sources {
		all = append(all, pair{s, b.byName[s.kind][s.name]})
	}
	for _, s := range b.sources {
		if a.byName[s.kind][s.name] == nil {
			all = append(all, pair{nil, s})
		}
	}
	slices.SortFunc(all, func(x, y pair) int {
		p, q := x.any(), y.any()
		return cmp.Or(cmp.Compare(p.kind, q.kind), cmp.Compare(p.name, q.name))
	})
	return all
}

// compare returns what differs between the files of a pair.
func (p pair) compare(ctx context.Context, a, b *Tree) (list []Edit, err error) {
	switch {
	case p.was == nil:
		return []Edit{{Kind: FileAdded, Path: p.is.path(-1)}}, nil
	case p.is == nil:
		return []Edit{{Kind: FileRemoved, Path: p.was.path(-1)}}, nil
	}
	before, err := a.image(ctx, p.was.now())
	if err != nil {
		return nil, err
	}
	after, err := b.image(ctx, p.is.now())
	if err != nil || bytes.Equal(before, after) {
		return nil, err
	}
	if p.was.kind == area {
		d := Edit{Kind: AreaChanged, Path: p.was.path(-1)}
		err := d.compareAreas(before, after)
		return []Edit{d}, err
	}
	for square := range differ(before, after) {
		d := Edit{Kind: SquareChanged, Path: p.was.path(square)}
		if err := d.compareSquares(before, after, square); err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}
