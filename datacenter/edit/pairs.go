package edit

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lorefs/datacenter"
)

// compareSheets compares the root and, with two goroutines, the sheets. Each goroutine
// takes the next sheet. Both share what they find to be equal.
func (w *Written) compareSheets(ctx context.Context, g *datacenter.File) error {
	root, err := g.Root()
	if err != nil {
		return err
	}
	var loading sync.WaitGroup
	defer loading.Wait()
	group, ctx := errgroup.WithContext(ctx)
	top := w.s.at(w.s.root)
	first := newComparer(ctx, w, w.s.base.ReadAhead(&loading), g.ReadAhead(&loading))
	if err := first.draftSelf(w.s.root, &top, root); err != nil {
		return err
	}
	sheets, err := w.pair(w.s.root, &top, root)
	if err != nil {
		return err
	}
	from, err := w.prove(first, g)
	if err != nil {
		return err
	}
	var next, done atomic.Int64
	for range 2 {
		c := first.beside(ctx, g, &loading)
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(sheets)); i = next.Add(1) - 1 {
				p := sheets[i]
				y, err := c.g.Node(p.y.Address())
				if err != nil {
					return err
				}
				if err := c.draftChild(p.x, y); err != nil {
					return err
				}
				compared := done.Add(int64(y.Entries()))
				w.tell(from + (1-from)*float64(compared)/float64(w.s.entries))
			}
			return nil
		})
	}
	return group.Wait()
}

// proving is the part of the time that proving takes.
const proving = 0.95

// prove proves that what was moved is equal, so that the comparer need only look at draft nodes. It returns
// the part of the time that has passed then.
func (w *Written) prove(c *comparer, g *datacenter.File) (passed float64, err error) {
	moved := w.moved
	if w.moved = nil; moved == nil {
		return 0, nil
	}
	_, err = c.Prove(w.s.base, g, moved, func(part float64) { w.tell(proving * part) })
	return proving, err
}

// tell calls Progress with a part of all entries.
func (w *Written) tell(part float64) {
	if w.Progress != nil {
		w.Progress(int64(part*float64(w.s.entries)), w.s.entries)
	}
}

// pair is a child of a draft node and the node that it became.
type pair struct {
	x *draftChild
	y datacenter.Node
}

// pair returns the children of a draft node, each with that of y, the node that the draft node became.
func (w *Written) pair(n *draftNode, x *nodeState, y datacenter.Node) ([]pair, error) {
	pairs := make([]pair, 0, len(w.orders[n]))
	for p, err := range w.eachPair(n, x, y) {
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// eachPair yields what pair returns. It ignores placeholders of y. An error is yielded last.
func (w *Written) eachPair(n *draftNode, x *nodeState, y datacenter.Node) iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		order, i := w.orders[n], 0
		for child, err := range y.Children() {
			if err == nil && i == len(order) {
				err = differs(y, "more than the %d children that it had", len(order))
			}
			if err != nil {
				yield(pair{}, err)
				return
			}
			if !yield(pair{&x.kids[order[i]], child}, nil) {
				return
			}
			i++
		}
		if i < len(order) {
			yield(pair{}, differs(y, "%d children instead of %d", i, len(order)))
		}
	}
}
