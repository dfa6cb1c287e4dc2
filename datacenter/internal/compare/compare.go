package compare

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/siblings"
)

// Comparer compares nodes of two files, f and g, with their subtrees. It ignores
// differences in layout, in the numbers of names, and in the order of children of different
// names. Runs that several nodes share are compared once: for each run of f it remembers
// the equal run of g, which takes 8 bytes for each stored node and attribute and one for
// each character.
type Comparer struct {
	// IgnoreKeys and IgnoreFlags leave keys and flags out of the comparison.
	IgnoreKeys, IgnoreFlags bool
	// Reordered says that g has siblings of f in the order that the format demands, while f
	// may have them in another order.
	Reordered bool

	ctx  context.Context
	f, g *form.File
	// fNames has g's name index for each of f's, 0 for a name that g lacks. fKeys has f's
	// key definitions in terms of g's names, without gaps. gKeys are g's key definitions.
	fNames       []uint16
	fKeys, gKeys []form.KeyNames
	order        *siblings.SiblingOrder // f's
	*equals
	// x and y are buffers, one for each file. levels has a buffer for each depth.
	x, y   []form.Attribute
	levels [][]datacenter.Node
	depth  int
	// The difference that was found, and its node.
	at     datacenter.Node
	format string
	args   []any
}

// NewComparer returns a Comparer of nodes of f and g. It is for one goroutine; use
// [Comparer.Beside] for others.
func NewComparer(ctx context.Context, f, g *datacenter.File) *Comparer {
	return newRunComparer(ctx, f.Form(), g.Form(), newEquals(f.Form()))
}

// Beside returns a Comparer for another goroutine, which reads the two files through f and
// g. Both share what they find to be equal.
func (c *Comparer) Beside(ctx context.Context, f, g *datacenter.File) *Comparer {
	return c.beside(ctx, f.Form(), g.Form())
}

func (c *Comparer) beside(ctx context.Context, f, g *form.File) *Comparer {
	x := newRunComparer(ctx, f, g, c.equals)
	x.IgnoreKeys, x.IgnoreFlags, x.Reordered = c.IgnoreKeys, c.IgnoreFlags, c.Reordered
	return x
}

func newRunComparer(ctx context.Context, f, g *form.File, eq *equals) *Comparer {
	c := &Comparer{ctx: ctx, f: f, g: g, fNames: g.NameIndexes(f.Names), order: siblings.NewSiblingOrder(datacenter.Of(f)), equals: eq}
	for _, k := range f.Keys {
		c.fKeys = append(c.fKeys, asWritten(k, c.fNames))
	}
	own := g.NameIndexes(g.Names)
	for _, k := range g.Keys {
		c.gKeys = append(c.gKeys, asWritten(k, own))
	}
	return c
}

// asWritten translates the name indexes of a key definition by names. It drops an index that
// does not exist. A name without a new index makes the definition differ from all others.
func asWritten(k form.KeyNames, names []uint16) form.KeyNames {
	for i, name := range k {
		switch {
		case int(name) >= len(names):
			k[i] = 0
		case name != 0:
			if k[i] = names[name]; k[i] == 0 {
				return form.KeyNames{0, 1} // slide never returns this, so it equals no definition
			}
		}
	}
	return form.Slide(k)
}

// keyAt returns the key definition with an index, or the empty one if it does not exist.
func keyAt(defs []form.KeyNames, key uint16) form.KeyNames {
	if int(key) < len(defs) {
		return defs[key]
	}
	return form.KeyNames{}
}

// SameKeys reports whether two nodes have the same key definition, or keys are ignored.
func (c *Comparer) SameKeys(x, y datacenter.Node) bool {
	return c.IgnoreKeys || keyAt(c.fKeys, x.Form().Key) == keyAt(c.gKeys, y.Form().Key)
}

// SameFlags reports whether two nodes have the same flags, or flags are ignored.
func (c *Comparer) SameFlags(x, y datacenter.Node) bool {
	return c.IgnoreFlags || x.Form().Flags == y.Form().Flags
}

// Difference returns the difference that made a method return false, and its node in g.
func (c *Comparer) Difference() (at datacenter.Node, what error) {
	return c.at, fmt.Errorf(c.format, c.args...)
}

// differ stores a difference at y.
func (c *Comparer) differ(y datacenter.Node, format string, args ...any) (bool, error) {
	c.at, c.format, c.args = y, format, args
	return false, nil
}

// Same reports whether a node of f and its subtree are equal to those of a node of g.
func (c *Comparer) Same(x, y datacenter.Node) (bool, error) {
	c.depth = 0
	return c.same(x, y)
}

func (c *Comparer) same(x, y datacenter.Node) (bool, error) {
	if y.Form().Name != c.fNames[x.Form().Name] || !c.SameFlags(x, y) {
		return c.differ(y, "want %s with the flags %d", x.Name(), x.Form().Flags)
	}
	if !c.SameKeys(x, y) {
		return c.differ(y, "the keys are %v, not %v", y.Keys(), x.Keys())
	}
	if same, err := c.SameAttributes(x, y); !same || err != nil || c.SameBelow(x, y) {
		return same, err
	}
	same, err := c.children(x, y)
	if same && err == nil {
		c.NoteBelow(x, y)
	}
	return same, err
}

// SameBelow reports whether the children of x are known to equal those of y, with their
// subtrees.
func (c *Comparer) SameBelow(x, y datacenter.Node) bool {
	if x.Form().ChildCount == 0 || y.Form().ChildCount == 0 {
		return x.Form().ChildCount == y.Form().ChildCount
	}
	return c.sameChildren(x.Form().ChildRun(), y.Form().ChildRun())
}

// NoteBelow makes the Comparer treat the children of x as equal to those of y without
// reading them. This restricts a check to what is new.
func (c *Comparer) NoteBelow(x, y datacenter.Node) {
	if x.Form().ChildCount > 0 {
		c.equals.children.note(x.Form().ChildRun(), y.Form().ChildRun())
	}
}

// children is Same for the children of two nodes.
func (c *Comparer) children(x, y datacenter.Node) (bool, error) {
	if err := c.ctx.Err(); err != nil {
		return false, err
	}
	xs, err := c.run(x)
	if err != nil {
		return false, err
	}
	if !c.g.Sorted {
		return c.unsorted(xs, y)
	}
	c.depth++
	i := 0
	for child, err := range y.Children() {
		if err != nil {
			return false, err
		}
		if i == len(xs) {
			return c.differ(y, "more than the %d children that it had", i)
		}
		if same, err := c.same(xs[i], child); !same || err != nil {
			return false, err
		}
		i++
	}
	c.depth--
	if i < len(xs) {
		return c.differ(y, "%d children instead of %d", i, len(xs))
	}
	return true, nil
}

// unsorted is children for a y whose children may have their names in any order.
func (c *Comparer) unsorted(xs []datacenter.Node, y datacenter.Node) (bool, error) {
	var ys []datacenter.Node
	for child, err := range y.Children() {
		if err != nil {
			return false, err
		}
		ys = append(ys, child)
	}
	if len(xs) != len(ys) {
		return c.differ(y, "%d children instead of %d", len(ys), len(xs))
	}
	slices.SortStableFunc(ys, func(p, q datacenter.Node) int { return cmp.Compare(p.Form().Name, q.Form().Name) })
	c.depth++
	for i := range xs {
		if same, err := c.same(xs[i], ys[i]); !same || err != nil {
			return false, err
		}
	}
	c.depth--
	return true, nil
}

// Run returns the children of x in the order in which g has them. They are valid until the
// comparison returns to this depth.
func (c *Comparer) run(x datacenter.Node) ([]datacenter.Node, error) {
	if c.depth == len(c.levels) {
		c.levels = append(c.levels, nil)
	}
	run, last, ordered := c.levels[c.depth][:0], uint16(0), true
	for child, err := range x.Children() {
		if err != nil {
			return nil, err
		}
		run = append(run, child)
		name := c.fNames[child.Form().Name]
		ordered = ordered && last <= name
		last = name
	}
	c.levels[c.depth] = run
	if c.Reordered {
		return run, c.order.Sort(run)
	}
	if !ordered {
		slices.SortStableFunc(run, func(p, q datacenter.Node) int { return cmp.Compare(c.fNames[p.Form().Name], c.fNames[q.Form().Name]) })
	}
	return run, nil
}

// SameAttributes reports whether two nodes have the same attributes, in any order.
func (c *Comparer) SameAttributes(x, y datacenter.Node) (bool, error) {
	count := x.Form().AttrCount
	if count != y.Form().AttrCount {
		return c.differ(y, "%d attributes instead of %d", y.Form().AttrCount, count)
	}
	if count == 0 {
		return true, nil
	}
	return c.sameRun(x.Form().AttrRun(), y.Form().AttrRun(), y)
}

// sameRun is SameAttributes for two runs of the same length. A difference is one of the node at.
func (c *Comparer) sameRun(x, y form.RunKey, at datacenter.Node) (bool, error) {
	if c.sameAttributes(x, y) {
		return true, nil
	}
	var err error
	if c.x, err = rawRun(c.f, x, c.fNames, c.x[:0]); err != nil {
		return false, err
	}
	if c.y, err = rawRun(c.g, y, nil, c.y[:0]); err != nil {
		return false, err
	}
	for i := range c.x {
		if c.x[i].Name != c.y[i].Name {
			return c.differ(at, "attribute %d is called %s", i, c.g.Names[c.y[i].Name-1])
		}
		if same, err := c.attribute(c.x[i], c.y[i], at); !same || err != nil {
			return false, err
		}
	}
	c.attrs.note(x, y)
	return true, nil
}

// SameValue reports whether an attribute of f has the type and the value of one of g.
func (c *Comparer) SameValue(x, y datacenter.Attribute) (bool, error) {
	return c.attribute(x.Form(), y.Form(), datacenter.Node{})
}

// attribute compares two values. It compares numbers as bits, since a NaN equals nothing.
func (c *Comparer) attribute(x, y form.Attribute, of datacenter.Node) (same bool, err error) {
	switch {
	case x.TypeCode != y.TypeCode:
	case x.TypeCode == uint8(form.String):
		same, err = c.sameString(x.Value(), y.Value())
	default:
		same = x.Extended == y.Extended && x.Bits == y.Bits
	}
	if !same && err == nil {
		return c.differ(of, "%s is not what it was", c.g.Spell(y.Name))
	}
	return same, err
}

func (c *Comparer) sameString(x, y form.Address) (bool, error) {
	values := c.f.Regions.Values.Data
	// Open does not check the values of attributes, so there may be no string at x.
	stored := int(x.Segment) < len(values) && uint32(x.Element) < values[x.Segment].Used
	if stored && c.values.known(x, y) {
		return true, nil
	}
	p, err := c.f.StringUnits(values, x)
	if err != nil {
		return false, err
	}
	q, err := c.g.StringUnits(c.g.Regions.Values.Data, y)
	if err != nil || !bytes.Equal(p, q) {
		return false, err
	}
	c.values.note(x, y)
	return true, nil
}

// rawRun appends the stored attributes of a run. If names is not nil, it translates their
// names by it. It sorts them by the names that result. It fails for a name or a type that
// does not exist.
func rawRun(f *form.File, r form.RunKey, names []uint16, dst []form.Attribute) ([]form.Attribute, error) {
	addr, count := r.Addr, int(r.Count)
	size := int(f.Layout.AttributeSize())
	off, err := form.Run(f.Regions.Attributes, addr, count, int64(size))
	if err != nil {
		return dst, err
	}
	var scratch [form.MaxAttributeSize]byte
	last, ordered := uint16(0), true
	for i := 0; i < count; {
		b, err := f.Elements(off+int64(i*size), count-i, size, scratch[:])
		if err != nil {
			return dst, err
		}
		for ; len(b) >= size; b = b[size:] {
			a := form.ParseAttribute(b)
			if a.Name == 0 || int(a.Name) > len(f.Names) || a.TypeCode == 0 || a.TypeCode == uint8(form.Int) && a.Extended > 1 {
				_, err := f.Decode(form.Address{Segment: addr.Segment, Element: addr.Element + uint16(i)}, a)
				return dst, err
			}
			if names != nil {
				a.Name = names[a.Name]
			}
			ordered = ordered && last <= a.Name
			last = a.Name
			dst = append(dst, a)
			i++
		}
	}
	if !ordered {
		slices.SortFunc(dst, func(p, q form.Attribute) int { return cmp.Compare(p.Name, q.Name) })
	}
	return dst, nil
}
