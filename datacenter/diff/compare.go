package diff

import (
	"context"
	"errors"
	"iter"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/identity"
	"lorefs/datacenter/internal/align"
	"lorefs/datacenter/internal/compare"
)

// Options are the options of Compare. The zero value compares everything.
type Options struct {
	// IgnoreKeys and IgnoreFlags are for data that was converted from a form without them.
	// Keys still identify nodes.
	IgnoreKeys, IgnoreFlags bool
	// IgnoreOrder skips OrderChanged.
	IgnoreOrder bool
	// Parts are the sides that are parts: sheets of which they have none of the name are not compared.
	Parts Parts
}

// Parts tells of two files which are parts, and not all there is.
type Parts struct{ A, B bool }

// lack reports whether a part lacks the sheets of a name, of which there are these.
func (p Parts) lack(xs, ys []child) bool { return p.A && len(xs) == 0 || p.B && len(ys) == 0 }

// Compare yields the differences between a and b, in the order of a walk of a: the flags of
// a node, its keys, its attributes, and then its children. An error is yielded last: the end
// of ctx, a mistake in a file, or two names in a file that are the same text.
func Compare(ctx context.Context, a, b *datacenter.File, opts Options) iter.Seq2[Difference, error] {
	return CompareOthers(ctx, a, b, nil, opts)
}

// CompareOthers is Compare for files of which one lacks sheets that both are known to have
// alike: b may lack any, a only all of a name. same has their ascending places by their names:
// in b those that they would have if sheets were written without the order of their keys.
// The error is a [SameError], before any difference, if they matter to what is yielded.
func CompareOthers(ctx context.Context, a, b *datacenter.File, same map[string][]int, opts Options) iter.Seq2[Difference, error] {
	return func(yield func(Difference, error) bool) {
		c := &comparer{ctx: ctx, opts: opts, yield: yield, alike: same}
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

	// alike are the places of sheets that are not compared, by their names. settled are the
	// matches of the sheets of some of these names, by the numbers of the names.
	alike   map[string][]int
	settled map[uint32][]int32

	a, b *side
	*compare.Comparer

	// x and y are buffers for the attributes of either side, and spare are lists of children
	// for reuse.
	x, y  []attribute
	spare [][]child
}

func (c *comparer) compare(a, b *datacenter.File) error {
	c.Comparer = compare.NewComparer(c.ctx, a, b)
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
	xs, ys, err := c.sheets(x, y)
	if err != nil {
		return err
	}
	c.lookAhead(a, b, xs, ys)
	if err := c.settle(a, b, xs, ys); err != nil {
		return err
	}
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
	xs, err := c.a.children(x, c.take())
	defer func() { c.give(xs) }()
	if err != nil {
		return err
	}
	ys, err := c.b.children(y, c.take())
	defer func() { c.give(ys) }()
	if err != nil {
		return err
	}
	if len(c.a.way) == 0 { // these are the sheets
		if xs, ys, err = c.standIn(xs, ys); err != nil {
			return err
		}
	}
	for xs, ys := range byName(xs, ys) {
		if err := c.siblings(xs, ys); err != nil {
			return err
		}
	}
	return nil
}

// byName yields the children of each name, of two lists that are sorted by it.
func byName(xs, ys []child) iter.Seq2[[]child, []child] {
	return func(yield func(xs, ys []child) bool) {
		for i, j := 0, 0; i < len(xs) || j < len(ys); {
			var name uint32
			if j == len(ys) || i < len(xs) && xs[i].name < ys[j].name {
				name = xs[i].name
			} else {
				name = ys[j].name
			}
			iEnd, jEnd := endOf(xs, i, name), endOf(ys, j, name)
			if !yield(xs[i:iEnd], ys[j:jEnd]) {
				return
			}
			i, j = iEnd, jEnd
		}
	}
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
	if len(c.a.way) == 0 && len(xs) > 0 {
		if to, ok := c.settled[xs[0].name]; ok {
			return c.aligned(xs, ys, to)
		}
	}
	front, back, err := c.ends(xs, ys)
	if err != nil {
		return err
	}
	xs, ys = xs[front:len(xs)-back], ys[front:len(ys)-back]
	to := unmatched(len(xs))
	if err := c.match(c.a.siblings(xs), c.b.siblings(ys), to); err != nil {
		return err
	}
	return c.aligned(xs, ys, to)
}

// ends returns how many children are equal from the first one on, and how many of the others
// from the last one on.
func (c *comparer) ends(xs, ys []child) (front, back int, err error) {
	most := min(len(xs), len(ys))
	for ; front < most; front++ {
		if same, err := c.alikeAt(xs[front], ys[front]); err != nil {
			return front, 0, err
		} else if !same {
			break
		}
	}
	for ; back < most-front; back++ {
		if same, err := c.alikeAt(xs[len(xs)-1-back], ys[len(ys)-1-back]); err != nil || !same {
			return front, back, err
		}
	}
	return front, back, nil
}

// alikeAt reports whether two children in corresponding places are equal.
func (c *comparer) alikeAt(x, y child) (bool, error) {
	if y.standIn {
		return true, nil // for x: where sheets are missing, both sides have as many
	}
	return c.Same(x.node, y.node)
}

// unmatched returns no match for each of n siblings.
func unmatched(n int) []int32 { return slices.Repeat([]int32{align.None}, n) }

// match sets the place in q of the child that belongs to each of p, where to has none. Both
// sides use the keys of the first one that has any.
func (c *comparer) match(p, q identity.Siblings[datacenter.Node], to []int32) error {
	if len(p.Nodes) == 0 || len(q.Nodes) == 0 {
		return nil
	}
	return identity.Match(p, q, keysOf(p, q), to)
}

// keysOf returns the keys by which siblings match.
func keysOf(p, q identity.Siblings[datacenter.Node]) []string {
	if keys := p.Nodes[0].Keys(); len(keys) > 0 {
		return keys
	}
	return q.Nodes[0].Keys()
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
	if y.standIn {
		return nil
	}
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
