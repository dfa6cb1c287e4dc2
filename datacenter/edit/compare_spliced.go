package edit

import (
	"context"
	"maps"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"lorefs/datacenter"
	"lorefs/internal/cores"
)

// CompareSpliced is [Written.Compare] for g, which is [datacenter.Spliced.Wanted] or the file that
// Splice wrote. The check of the splice proves that g has all bytes of the base that were not
// changed on purpose. So a node that was not edited is equal with its subtree if it is stored as
// the base has it, and the work grows with the edits. The base is not read: Splice has noted how
// the children of the draft nodes are stored.
func (w *Written) CompareSpliced(ctx context.Context, g *datacenter.File) error {
	if err := w.compareCounts(g); err != nil {
		return err
	}
	root, err := g.Root()
	if err != nil {
		return err
	}
	c := newSplicedComparer(ctx, newComparer(ctx, w, w.s.base, g))
	sheets, err := c.self(w.s.root, root)
	if err != nil {
		return err
	}
	w.became = c.became
	return w.compareSplicedSheets(ctx, c, sheets)
}

// compareSplicedSheets compares the sheets, on all cores. Each goroutine takes the next one.
func (w *Written) compareSplicedSheets(ctx context.Context, first *splicedComparer, sheets []pair) error {
	group, ctx := errgroup.WithContext(ctx)
	comparers := make([]*splicedComparer, min(cores.Count(), len(sheets)))
	var next atomic.Int64
	for i := range comparers {
		x := *first.comparer
		x.Comparer = first.Beside(ctx, x.f, x.g)
		comparers[i] = newSplicedComparer(ctx, &x)
		group.Go(func() error {
			for k := next.Add(1) - 1; k < int64(len(sheets)); k = next.Add(1) - 1 {
				if err := comparers[i].node(sheets[k].x.node, sheets[k].y); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	for _, c := range comparers {
		maps.Copy(w.became, c.became)
	}
	return err
}

// splicedComparer is a comparer for what Splice wrote.
type splicedComparer struct {
	*comparer
	ctx    context.Context
	became map[*draftNode]datacenter.Node
}

func newSplicedComparer(ctx context.Context, c *comparer) *splicedComparer {
	return &splicedComparer{comparer: c, ctx: ctx, became: map[*draftNode]datacenter.Node{}}
}

// node compares a draft node with the node of g that it became.
func (c *splicedComparer) node(n *draftNode, y datacenter.Node) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	kids, err := c.self(n, y)
	if err != nil {
		return err
	}
	for _, k := range kids {
		if err := c.node(k.x.node, k.y); err != nil {
			return err
		}
	}
	return nil
}

// self is node without what is below the children. It returns those that are draft nodes.
func (c *splicedComparer) self(n *draftNode, y datacenter.Node) (kids []pair, err error) {
	x := c.s.at(n)
	c.became[n] = y
	if err := c.label(n, &x, y); err != nil {
		return nil, err
	}
	if err := c.attributes(n, &x, y); err != nil {
		return nil, err
	}
	stored := c.w.stored[n].kids
	for p, err := range c.w.eachPair(n, &x, y) {
		if err != nil {
			return nil, err
		}
		if !p.y.IsStoredAs(stored[0]) {
			return nil, differs(p.y, "it is stored otherwise")
		}
		stored = stored[1:]
		if p.x.node != nil {
			kids = append(kids, p)
		}
	}
	return kids, nil
}

// attributes compares the attributes of a draft node.
func (c *splicedComparer) attributes(n *draftNode, x *nodeState, y datacenter.Node) error {
	if !x.changed {
		if base := n.base; !base.SameStoredAttributes(y) {
			return c.told(c.SameAttributes(base, y))
		}
		return nil
	}
	if count := x.attrCount(); count != y.AttributeCount() {
		return differs(y, "%d attributes instead of %d", y.AttributeCount(), count)
	}
	runs := c.w.stored[n]
	runs.addrs = runs.addrs[:0]
	for i := range x.attrs {
		a := &x.attrs[i]
		if a.dead {
			continue
		}
		got, ok, err := y.Attribute(c.names[a.name])
		if err != nil {
			return err
		}
		if !ok || !got.IsStoredAs(runs.attrs[len(runs.addrs)]) {
			return differs(y, "%s is missing, or stored otherwise", c.s.name(a.name))
		}
		runs.addrs = append(runs.addrs, got.Address())
		if !a.changed {
			continue
		}
		if err := newValue(a, y, got); err != nil {
			return err
		}
	}
	return nil
}
