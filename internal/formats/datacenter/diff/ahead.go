package diff

import (
	"sync"
	"sync/atomic"

	"lorefs/datacenter"
	"lorefs/internal/cores"
)

// sheetPair is a sheet of each file. They probably belong together.
type sheetPair struct{ x, y datacenter.Address }

// lookAhead compares sheets on all cores and notes which of their parts are equal. The walk
// then goes only through the others. It reports nothing: what differs, and what can't be
// read, is found again by the walk, in its order.
func (c *comparer) lookAhead(a, b *datacenter.File, x, y datacenter.Node) {
	pairs, err := c.pairs(x, y)
	if err != nil {
		return
	}
	var (
		loading, working sync.WaitGroup
		next             atomic.Int64
	)
	defer loading.Wait()
	defer working.Wait()
	for range min(cores.Count(), len(pairs)) {
		f, g := a.ReadAhead(&loading), b.ReadAhead(&loading)
		beside := c.Beside(c.ctx, f, g)
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(pairs) && c.ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				p, err := f.Node(pairs[i].x)
				if err != nil {
					continue
				}
				q, err := g.Node(pairs[i].y)
				if err == nil {
					_, _ = beside.Same(p, q)
				}
			}
		})
	}
}

// pairs pairs the sheets of each name from the first one on. If one file has more of them,
// it pairs them from the last one on as well.
func (c *comparer) pairs(x, y datacenter.Node) (pairs []sheetPair, err error) {
	xs, err := c.compared(c.a, x)
	defer func() { c.give(xs) }()
	if err != nil {
		return nil, err
	}
	ys, err := c.compared(c.b, y)
	defer func() { c.give(ys) }()
	if err != nil {
		return nil, err
	}
	for i, j := 0, 0; i < len(xs) && j < len(ys); {
		iEnd, jEnd := endOf(xs, i, xs[i].name), endOf(ys, j, xs[i].name)
		if j == jEnd && ys[j].name < xs[i].name {
			j++
			continue
		}
		n, m := iEnd-i, jEnd-j
		for k := range min(n, m) {
			pairs = append(pairs, sheetPair{xs[i+k].node.Address(), ys[j+k].node.Address()})
			if n != m {
				pairs = append(pairs, sheetPair{xs[iEnd-1-k].node.Address(), ys[jEnd-1-k].node.Address()})
			}
		}
		i, j = iEnd, jEnd
	}
	return pairs, nil
}
