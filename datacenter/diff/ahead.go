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
func (c *comparer) lookAhead(a, b *datacenter.File, xs, ys []child) {
	pairs := pairs(xs, ys)
	var (
		loading, working sync.WaitGroup
		next             atomic.Int64
	)
	defer loading.Wait()
	defer working.Wait()
	for range min(cores.Count(), len(pairs)) {
		f, g := datacenter.Of(a.Form().ReadAhead(&loading)), datacenter.Of(b.Form().ReadAhead(&loading))
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
func pairs(xs, ys []child) (pairs []sheetPair) {
	for xs, ys := range byName(xs, ys) {
		n, m := len(xs), len(ys)
		for k := range min(n, m) {
			if ys[k].standIn {
				continue
			}
			pairs = append(pairs, sheetPair{xs[k].node.Address(), ys[k].node.Address()})
			if n != m {
				pairs = append(pairs, sheetPair{xs[n-1-k].node.Address(), ys[m-1-k].node.Address()})
			}
		}
	}
	return pairs
}
