package dctest

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lorefs/datacenter"
)

// builder turns a tree into the elements of an image.
type builder struct {
	o      Options
	names  *stringTable
	values *stringTable
	keys   [][4]uint16
	attrs  *runs[attr]
	nodes  *runs[node]

	keyIndex map[[4]uint16]uint16
	placed   map[*Node]node
}

func newBuilder(d Doc, o Options) *builder {
	b := &builder{
		o:        o,
		names:    newStringTable(),
		values:   newStringTable(),
		attrs:    newRuns(o, appendAttrKey),
		nodes:    newRuns(o, appendNodeKey),
		keyIndex: map[[4]uint16]uint16{},
		placed:   map[*Node]node{},
	}
	for _, name := range sortedNames(d, o.noSpecialNames) {
		b.names.add(name)
	}
	b.key(nil)
	for _, key := range d.Keys {
		b.key(key)
	}
	// The root must be the first node, but is complete last.
	b.nodes.store([]node{{}})
	b.nodes.segments[0][0] = b.node(d.Root)
	return b
}

// name returns the one-based index of a name.
func (b *builder) name(name string) uint16 {
	i, ok := b.names.index[name]
	if !ok || i >= maxRun {
		panic(fmt.Sprintf("dctest: BUG: no index for name %.40q", name))
	}
	return uint16(i + 1)
}

// key returns the index of a key definition, and adds it if it is new.
func (b *builder) key(names []string) uint16 {
	var key [4]uint16
	for i, name := range names {
		if name != "" {
			key[i] = b.name(name)
		}
	}
	i, ok := b.keyIndex[key]
	if !ok {
		i = uint16(len(b.keys))
		b.keyIndex[key] = i
		b.keys = append(b.keys, key)
	}
	if i >= 1<<12 {
		panic("dctest: BUG: more than 4,096 key definitions")
	}
	return i
}

// node stores what is below n. A node's attributes come before its children's, in the order
// of an XML reader.
func (b *builder) node(n *Node) node {
	if n.Placeholder {
		return node{}
	}
	if done, ok := b.placed[n]; ok {
		return done
	}
	out := node{
		name:      b.name(n.Name),
		key:       uint16(n.Flags&0xf) | b.key(n.Keys)<<4,
		attrCount: uint16(len(n.Attrs)),
	}
	out.attrAddr = b.attrs.place(b.attrRun(n))
	run := b.childRun(n)
	out.childAddr = b.nodes.place(run)
	out.children = uint16(len(run))
	b.placed[n] = out
	return out
}

func (b *builder) attrRun(n *Node) []attr {
	run := make([]attr, len(n.Attrs))
	for i, a := range n.Attrs {
		run[i] = b.attr(a)
	}
	slices.SortStableFunc(run, func(x, y attr) int { return cmp.Compare(x.name, y.name) })
	return run
}

func (b *builder) attr(a Attr) attr {
	out := attr{name: b.name(a.Name)}
	switch v := a.Value.(type) {
	case int:
		out.code, out.value = typeInt, uint32(int32(v))
	case int32:
		out.code, out.value = typeInt, uint32(v)
	case bool:
		out.code = typeInt | 1<<2
		if v {
			out.value = 1
		}
	case float32:
		out.code, out.value = typeFloat, math.Float32bits(v)
	case string:
		b.text(&out, v)
	case []uint16:
		b.text(&out, Text8(v))
	case Raw:
		out.code, out.value = uint16(v.Type)|v.Extended<<2, v.Value
	default:
		panic(fmt.Sprintf("dctest: BUG: value %v of type %T", v, v))
	}
	return out
}

func (b *builder) text(out *attr, s string) {
	i := b.values.add(s)
	out.code = typeString | b.values.valueHash[i]<<2
	out.value = uint32(i)
	out.text = true
}

func (b *builder) childRun(n *Node) []node {
	children := b.sprinkle(b.sortedChildren(n.Children))
	run := make([]node, len(children))
	for i, c := range children {
		run[i] = b.node(c)
	}
	return run
}

// sortedChildren returns the children sorted by name index, then by key values.
// Placeholders stay where they are.
func (b *builder) sortedChildren(children []*Node) []*Node {
	named := slices.DeleteFunc(slices.Clone(children), func(n *Node) bool { return n.Placeholder })
	slices.SortStableFunc(named, func(x, y *Node) int {
		return cmp.Or(cmp.Compare(b.name(x.Name), b.name(y.Name)), compareKeys(x, y))
	})
	if len(named) == len(children) {
		return named
	}
	sorted := slices.Clone(children)
	for i, n := range sorted {
		if !n.Placeholder {
			sorted[i], named = named[0], named[1:]
		}
	}
	return sorted
}

func (b *builder) sprinkle(children []*Node) []*Node {
	every := b.o.Placeholders
	if every == 0 || len(children)+len(children)/every > maxRun {
		return children
	}
	var out []*Node
	for i, n := range children {
		out = append(out, n)
		if (i+1)%every == 0 {
			out = append(out, &Node{Placeholder: true})
		}
	}
	return out
}

// compareKeys compares the key definitions, and then the key attributes.
func compareKeys(x, y *Node) int {
	if c := slices.CompareFunc(x.definition(), y.definition(), slices.Compare[[]uint16]); c != 0 {
		return c
	}
	for _, key := range x.Keys {
		if key == "" {
			continue
		}
		if c := compareValues(x.value(key), y.value(key)); c != 0 {
			return c
		}
	}
	return 0
}

// definition returns the names of a node's keys, without gaps.
func (n *Node) definition() (names [][]uint16) {
	for _, key := range n.Keys {
		if key != "" {
			names = append(names, Units(key))
		}
	}
	return names
}

func (n *Node) value(name string) any {
	for _, a := range n.Attrs {
		if a.Name == name {
			return a.Value
		}
	}
	return nil
}

// compareValues compares the type first, then numbers by value with NaN first, and
// strings by unit.
func compareValues(x, y any) int {
	if c := cmp.Compare(rank(x), rank(y)); c != 0 {
		return c
	}
	switch rank(x) {
	case rankInt:
		return cmp.Compare(intOf(x), intOf(y))
	case rankFloat:
		return cmp.Compare(x.(float32), y.(float32))
	case rankString:
		return slices.Compare(unitsOf(x), unitsOf(y))
	case rankBool:
		return cmp.Compare(intOf(x), intOf(y))
	}
	return 0
}

const (
	rankNone = iota
	rankInt
	rankFloat
	rankString
	rankBool
)

func rank(v any) int {
	switch v.(type) {
	case int, int32:
		return rankInt
	case float32:
		return rankFloat
	case string, []uint16:
		return rankString
	case bool:
		return rankBool
	}
	return rankNone
}

func intOf(v any) int32 {
	switch v := v.(type) {
	case int:
		return int32(v)
	case int32:
		return v
	case bool:
		if v {
			return 1
		}
	}
	return 0
}

func unitsOf(v any) []uint16 {
	if s, ok := v.(string); ok {
		return Units(s)
	}
	return v.([]uint16)
}

// Type codes of attributes.
const (
	typeInt = iota + 1
	typeFloat
	typeString
)

// layout returns the layout to build, with LayoutAuto replaced.
func (d Doc) layout() datacenter.Layout {
	if d.Layout == datacenter.LayoutAuto {
		return datacenter.LayoutV6X64
	}
	return d.Layout
}
