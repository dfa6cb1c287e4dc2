package datacenter

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
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
	f, g *File
	// fNames has g's name index for each of f's, 0 for a name that g lacks. fKeys has f's
	// key definitions in terms of g's names, without gaps. gKeys are g's key definitions.
	fNames       []uint16
	fKeys, gKeys []KeyNames
	order        *SiblingOrder // f's
	*equals
	// x and y are buffers, one for each file. levels has a buffer for each depth.
	x, y   []StoredAttribute
	levels [][]Node
	depth  int
	// The difference that was found, and its node.
	at     Node
	format string
	args   []any
}

// NewComparer returns a Comparer of nodes of f and g. It is for one goroutine; use
// [Comparer.Beside] for others.
func NewComparer(ctx context.Context, f, g *File) *Comparer {
	return newRunComparer(ctx, f, g, newEquals(f))
}

// Beside returns a Comparer for another goroutine, which reads the two files through f and
// g. Both share what they find to be equal.
func (c *Comparer) Beside(ctx context.Context, f, g *File) *Comparer {
	x := newRunComparer(ctx, f, g, c.equals)
	x.IgnoreKeys, x.IgnoreFlags, x.Reordered = c.IgnoreKeys, c.IgnoreFlags, c.Reordered
	return x
}

func newRunComparer(ctx context.Context, f, g *File, eq *equals) *Comparer {
	c := &Comparer{ctx: ctx, f: f, g: g, fNames: g.NameIndexes(f.names), order: NewSiblingOrder(f), equals: eq}
	for _, k := range f.keys {
		c.fKeys = append(c.fKeys, asWritten(k, c.fNames))
	}
	own := g.NameIndexes(g.names)
	for _, k := range g.keys {
		c.gKeys = append(c.gKeys, asWritten(k, own))
	}
	return c
}

// asWritten translates the name indexes of a key definition by names. It drops an index that
// does not exist. A name without a new index makes the definition differ from all others.
func asWritten(k KeyNames, names []uint16) KeyNames {
	for i, name := range k {
		switch {
		case int(name) >= len(names):
			k[i] = 0
		case name != 0:
			if k[i] = names[name]; k[i] == 0 {
				return KeyNames{0, 1} // slide never returns this, so it equals no definition
			}
		}
	}
	return slide(k)
}

// keyAt returns the key definition with an index, or the empty one if it does not exist.
func keyAt(defs []KeyNames, key uint16) KeyNames {
	if int(key) < len(defs) {
		return defs[key]
	}
	return KeyNames{}
}

// SameKeys reports whether two nodes have the same key definition, or keys are ignored.
func (c *Comparer) SameKeys(x, y Node) bool {
	return c.IgnoreKeys || keyAt(c.fKeys, x.raw.key) == keyAt(c.gKeys, y.raw.key)
}

// SameFlags reports whether two nodes have the same flags, or flags are ignored.
func (c *Comparer) SameFlags(x, y Node) bool { return c.IgnoreFlags || x.raw.flags == y.raw.flags }

// Difference returns the difference that made a method return false, and its node in g.
func (c *Comparer) Difference() (at Node, what error) {
	return c.at, fmt.Errorf(c.format, c.args...)
}

// differ stores a difference at y.
func (c *Comparer) differ(y Node, format string, args ...any) (bool, error) {
	c.at, c.format, c.args = y, format, args
	return false, nil
}

// Same reports whether a node of f and its subtree are equal to those of a node of g.
func (c *Comparer) Same(x, y Node) (bool, error) {
	c.depth = 0
	return c.same(x, y)
}

func (c *Comparer) same(x, y Node) (bool, error) {
	if y.raw.name != c.fNames[x.raw.name] || !c.SameFlags(x, y) {
		return c.differ(y, "want %s with the flags %d", x.Name(), x.raw.flags)
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
func (c *Comparer) SameBelow(x, y Node) bool {
	if x.raw.childCount == 0 || y.raw.childCount == 0 {
		return x.raw.childCount == y.raw.childCount
	}
	return c.sameChildren(x.childRun(), y.childRun())
}

// NoteBelow makes the Comparer treat the children of x as equal to those of y without
// reading them. This restricts a check to what is new.
func (c *Comparer) NoteBelow(x, y Node) {
	if x.raw.childCount > 0 {
		c.equals.children.note(x.childRun(), y.childRun())
	}
}

func (n Node) childRun() runKey { return runKey{n.raw.childAddr, n.raw.childCount} }
func (n Node) attrRun() runKey  { return runKey{n.raw.attrAddr, n.raw.attrCount} }

// children is Same for the children of two nodes.
func (c *Comparer) children(x, y Node) (bool, error) {
	if err := c.ctx.Err(); err != nil {
		return false, err
	}
	xs, err := c.run(x)
	if err != nil {
		return false, err
	}
	if !c.g.sorted {
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
func (c *Comparer) unsorted(xs []Node, y Node) (bool, error) {
	var ys []Node
	for child, err := range y.Children() {
		if err != nil {
			return false, err
		}
		ys = append(ys, child)
	}
	if len(xs) != len(ys) {
		return c.differ(y, "%d children instead of %d", len(ys), len(xs))
	}
	slices.SortStableFunc(ys, func(p, q Node) int { return cmp.Compare(p.raw.name, q.raw.name) })
	c.depth++
	for i := range xs {
		if same, err := c.same(xs[i], ys[i]); !same || err != nil {
			return false, err
		}
	}
	c.depth--
	return true, nil
}

// run returns the children of x in the order in which g has them. They are valid until the
// comparison returns to this depth.
func (c *Comparer) run(x Node) ([]Node, error) {
	if c.depth == len(c.levels) {
		c.levels = append(c.levels, nil)
	}
	run, last, ordered := c.levels[c.depth][:0], uint16(0), true
	for child, err := range x.Children() {
		if err != nil {
			return nil, err
		}
		run = append(run, child)
		name := c.fNames[child.raw.name]
		ordered = ordered && last <= name
		last = name
	}
	c.levels[c.depth] = run
	if c.Reordered {
		return run, c.order.Sort(run)
	}
	if !ordered {
		slices.SortStableFunc(run, func(p, q Node) int { return cmp.Compare(c.fNames[p.raw.name], c.fNames[q.raw.name]) })
	}
	return run, nil
}

// SameAttributes reports whether two nodes have the same attributes, in any order.
func (c *Comparer) SameAttributes(x, y Node) (bool, error) {
	count := x.raw.attrCount
	if count != y.raw.attrCount {
		return c.differ(y, "%d attributes instead of %d", y.raw.attrCount, count)
	}
	if count == 0 || c.sameAttributes(x.attrRun(), y.attrRun()) {
		return true, nil
	}
	var err error
	if c.x, err = c.f.rawRun(x.raw.attrAddr, int(count), c.fNames, c.x[:0]); err != nil {
		return false, err
	}
	if c.y, err = c.g.rawRun(y.raw.attrAddr, int(count), nil, c.y[:0]); err != nil {
		return false, err
	}
	for i := range c.x {
		if c.x[i].name != c.y[i].name {
			return c.differ(y, "attribute %d is called %s", i, c.g.names[c.y[i].name-1])
		}
		if same, err := c.attribute(c.x[i], c.y[i], y); !same || err != nil {
			return false, err
		}
	}
	c.attrs.note(x.attrRun(), y.attrRun())
	return true, nil
}

// SameValue reports whether an attribute of f has the type and the value of one of g.
func (c *Comparer) SameValue(x, y Attribute) (bool, error) {
	return c.attribute(x.raw(), y.raw(), Node{})
}

// attribute compares two values. It compares numbers as bits, since a NaN equals nothing.
func (c *Comparer) attribute(x, y StoredAttribute, of Node) (same bool, err error) {
	switch {
	case x.typeCode != y.typeCode:
	case x.typeCode == uint8(String):
		same, err = c.sameString(x.value(), y.value())
	default:
		same = x.extended == y.extended && x.bits == y.bits
	}
	if !same && err == nil {
		return c.differ(of, "%s is not what it was", c.g.spell(y.name))
	}
	return same, err
}

func (c *Comparer) sameString(x, y Address) (bool, error) {
	values := c.f.regions.values.data
	// Open does not check the values of attributes, so there may be no string at x.
	stored := int(x.Segment) < len(values) && uint32(x.Element) < values[x.Segment].used
	if stored && c.values.known(x, y) {
		return true, nil
	}
	p, err := c.f.stringUnits(values, x)
	if err != nil {
		return false, err
	}
	q, err := c.g.stringUnits(c.g.regions.values.data, y)
	if err != nil || !bytes.Equal(p, q) {
		return false, err
	}
	c.values.note(x, y)
	return true, nil
}

// rawRun appends the stored attributes of a run. If names is not nil, it translates their
// names by it. It sorts them by the names that result. It fails for a name or a type that
// does not exist.
func (f *File) rawRun(addr Address, count int, names []uint16, dst []StoredAttribute) ([]StoredAttribute, error) {
	size := int(f.layout.AttributeSize())
	off, err := run(f.regions.attributes, addr, count, int64(size))
	if err != nil {
		return dst, err
	}
	var scratch [maxAttributeSize]byte
	last, ordered := uint16(0), true
	for i := 0; i < count; {
		b, err := f.elements(off+int64(i*size), count-i, size, scratch[:])
		if err != nil {
			return dst, err
		}
		for ; len(b) >= size; b = b[size:] {
			a := parseAttribute(b)
			if a.name == 0 || int(a.name) > len(f.names) || a.typeCode == 0 || a.typeCode == uint8(Int) && a.extended > 1 {
				_, err := f.attribute(Address{addr.Segment, addr.Element + uint16(i)}, a)
				return dst, err
			}
			if names != nil {
				a.name = names[a.name]
			}
			ordered = ordered && last <= a.name
			last = a.name
			dst = append(dst, a)
			i++
		}
	}
	if !ordered {
		slices.SortFunc(dst, func(p, q StoredAttribute) int { return cmp.Compare(p.name, q.name) })
	}
	return dst, nil
}
