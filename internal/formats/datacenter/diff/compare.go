package diff

import (
	"context"
	"errors"
	"iter"
	"slices"

	"lorefs/datacenter"
	"lorefs/internal/align"
	"lorefs/internal/formats/datacenter/identity"
)

// Options are the options of Compare. The zero value compares everything.
type Options struct {
	// IgnoreKeys and IgnoreFlags are for data that was converted from a form without them.
	// Keys still identify nodes.
	IgnoreKeys, IgnoreFlags bool
	// IgnoreOrder skips OrderChanged.
	IgnoreOrder bool
}

// Compare yields the differences between a and b, in the order of a walk of a: the flags of
// a node, its keys, its attributes, and then its children. An error is yielded last: the end
// of ctx, a mistake in a file, or two names in a file that are the same text.
func Compare(ctx context.Context, a, b *datacenter.File, opts Options) iter.Seq2[Difference, error] {
	return CompareOthers(ctx, a, b, nil, opts)
}

// CompareOthers is Compare without the sheets of some names. Either file may lack them.
func CompareOthers(ctx context.Context, a, b *datacenter.File, without map[string]bool, opts Options) iter.Seq2[Difference, error] {
	return func(yield func(Difference, error) bool) {
		c := &comparer{ctx: ctx, opts: opts, yield: yield, without: without}
		err := c.compare(a, b)
		if err != nil && !errors.Is(err, errStopped) {
			yield(Difference{}, err)
		}
	}
}

// errStopped ends a comparison whose reader has stopped.
var errStopped = errors.New("stopped")

// comparer compares two files.
type comparer struct {
	ctx   context.Context
	opts  Options
	yield func(Difference, error) bool
	found int64 // the number of differences so far
	// visitor is called instead of yield, if there is one.
	visitor Visitor

	// without are the names of sheets that are not compared.
	without map[string]bool

	a, b *side
	*datacenter.Comparer

	// x and y are buffers for the attributes of either side, and spare are lists of children
	// for reuse.
	x, y  []attribute
	spare [][]child
}

func (c *comparer) compare(a, b *datacenter.File) error {
	c.Comparer = datacenter.NewComparer(c.ctx, a, b)
	c.IgnoreKeys, c.IgnoreFlags = c.opts.IgnoreKeys, c.opts.IgnoreFlags
	if err := c.open(a, b); err != nil {
		return err
	}
	x, err := a.Root()
	if err != nil {
		return err
	}
	y, err := b.Root()
	if err != nil {
		return err
	}
	c.lookAhead(a, b, x, y)
	return c.node(x, y)
}

func (c *comparer) emit(d Difference) error {
	c.found++
	if !c.yield(d, nil) {
		return errStopped
	}
	return nil
}

// node compares two nodes that belong together. The paths lead to them.
func (c *comparer) node(x, y datacenter.Node) error {
	if err := c.self(x, y); err != nil {
		return err
	}
	if c.SameBelow(x, y) {
		return nil
	}
	if err := c.ctx.Err(); err != nil {
		return err
	}
	before := c.found
	if err := c.children(x, y); err != nil {
		return err
	}
	if c.found == before {
		c.NoteBelow(x, y)
	}
	return nil
}

// children compares the children of two nodes.
func (c *comparer) children(x, y datacenter.Node) error {
	xs, err := c.compared(c.a, x)
	defer func() { c.give(xs) }()
	if err != nil {
		return err
	}
	ys, err := c.compared(c.b, y)
	defer func() { c.give(ys) }()
	if err != nil {
		return err
	}
	for i, j := 0, 0; i < len(xs) || j < len(ys); {
		var name uint32
		if j == len(ys) || i < len(xs) && xs[i].name < ys[j].name {
			name = xs[i].name
		} else {
			name = ys[j].name
		}
		iEnd, jEnd := endOf(xs, i, name), endOf(ys, j, name)
		if err := c.siblings(xs[i:iEnd], ys[j:jEnd]); err != nil {
			return err
		}
		i, j = iEnd, jEnd
	}
	return nil
}

// compared returns the children of n in one of the files that are compared. The caller gives
// the list back.
func (c *comparer) compared(s *side, n datacenter.Node) ([]child, error) {
	list, err := s.children(n, c.take())
	if len(s.way) == 0 && len(c.without) > 0 { // n is the root
		list = slices.DeleteFunc(list, func(k child) bool { return c.without[k.node.Name()] })
	}
	return list, err
}

// endOf returns the end of the children from i on that have a name.
func endOf(list []child, i int, name uint32) int {
	for i < len(list) && list[i].name == name {
		i++
	}
	return i
}

// siblings compares the children of one name.
func (c *comparer) siblings(xs, ys []child) error {
	for len(xs) > 0 && len(ys) > 0 {
		same, err := c.Same(xs[0].node, ys[0].node)
		if err != nil {
			return err
		}
		if !same {
			break
		}
		xs, ys = xs[1:], ys[1:]
	}
	for len(xs) > 0 && len(ys) > 0 {
		same, err := c.Same(xs[len(xs)-1].node, ys[len(ys)-1].node)
		if err != nil {
			return err
		}
		if !same {
			break
		}
		xs, ys = xs[:len(xs)-1], ys[:len(ys)-1]
	}
	to, err := c.match(xs, ys)
	if err != nil {
		return err
	}
	return c.aligned(xs, ys, to)
}

// match returns the place in ys of the child that belongs to each of xs, or none. Both sides
// use the keys of the first one that has any.
func (c *comparer) match(xs, ys []child) ([]int32, error) {
	to := make([]int32, len(xs))
	for i := range to {
		to[i] = align.None
	}
	if len(xs) == 0 || len(ys) == 0 {
		return to, nil
	}
	keys := xs[0].node.Keys()
	if len(keys) == 0 {
		keys = ys[0].node.Keys()
	}
	return to, identity.Match(c.a.siblings(xs), c.b.siblings(ys), keys, to)
}

// aligned compares siblings. to has the place in ys of the sibling that belongs to each of
// xs, or none.
func (c *comparer) aligned(xs, ys []child, to []int32) error {
	stays := align.Ascending(to)
	taken := make([]bool, len(ys))
	for _, j := range to {
		if j != align.None {
			taken[j] = true
		}
	}
	j := 0
	added := func(end int) error {
		for ; j < end; j++ {
			if taken[j] {
				continue
			}
			if err := c.lone(c.b, ys[j], NodeAdded); err != nil {
				return err
			}
		}
		return nil
	}
	for i, x := range xs {
		var err error
		switch {
		case to[i] == align.None:
			err = c.lone(c.a, x, NodeRemoved)
		case stays[i]:
			if err = added(int(to[i])); err == nil {
				err = c.pair(x, ys[to[i]], false)
			}
		default:
			err = c.pair(x, ys[to[i]], true)
		}
		if err != nil {
			return err
		}
	}
	return added(len(ys))
}

// lone reports a node that only one side has.
func (c *comparer) lone(s *side, n child, kind Kind) error {
	s.push(n)
	defer s.pop()
	if c.visitor != nil {
		c.found++
		if kind == NodeRemoved {
			return c.visitor.Removed(s.way, c.b.way)
		}
		return c.visitor.Added(c.a.way, s.way)
	}
	return c.emit(Difference{Kind: kind, Path: s.path.Node(), Entries: n.node.Entries()})
}

// pair compares two siblings that belong together.
func (c *comparer) pair(x, y child, moved bool) error {
	c.a.push(x)
	defer c.a.pop()
	c.b.push(y)
	defer c.b.pop()
	if moved && c.visitor != nil {
		c.found++
		return c.visitor.Moved(c.a.way, c.b.way)
	}
	if moved && !c.opts.IgnoreOrder {
		if err := c.emitNode(OrderChanged, Value{}, Value{}); err != nil {
			return err
		}
	}
	return c.node(x.node, y.node)
}

// emitNode yields a difference of the node that the paths lead to.
func (c *comparer) emitNode(kind Kind, old, now Value) error {
	d := Difference{Kind: kind, Path: c.a.path.Node(), Old: old, New: now}
	if p := c.b.path.Node(); p != d.Path {
		d.NewPath = p
	}
	return c.emit(d)
}
