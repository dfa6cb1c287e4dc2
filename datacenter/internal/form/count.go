package form

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
)

const (
	// MaxDepth is the maximum depth of nodes. Real files stay below 23.
	MaxDepth = 1024
	// MaxEntries is the maximum number of nodes and attributes of a file, each counted once
	// for every path that leads to it. The largest real file has some 70 million. Since
	// runs can be shared, a small file can claim any number.
	MaxEntries = 1<<27 - 1
	// MaxSteps bounds the sum of all stored child counts, which is the work of
	// counting. Real files have a few million.
	MaxSteps = 1 << 26
)

// Counts are the sizes of a file. A logical node is one path from the root. A stored node
// is one in the file, to which many paths may lead.
type Counts struct {
	Nodes            int64 `json:"nodes"`
	Attributes       int64 `json:"attributes"`
	StoredNodes      int64 `json:"stored_nodes"`
	StoredAttributes int64 `json:"stored_attributes"`
	Sheets           int64 `json:"sheets"`
	Names            int64 `json:"names"`
	Values           int64 `json:"values"`
	Keys             int64 `json:"keys"`
}

// NodeTable has what counting needs of each stored node that has an address, in the file's
// order. It is dropped after the first pass.
type NodeTable struct {
	layout   Layout
	segments [][]tabledNode
	off      []int64 // the offset of each segment's nodes
	count    uint32

	size int64        // of the data
	free []tabledNode // memory for the next segments
}

// tableAtLeast is for how many nodes memory is taken at once, if the data can have so many.
const tableAtLeast = 1 << 19

// tabledNode is a node. Once it is counted, its addresses are not needed any more, and their place has
// what its parents need: that saves memory, which the kernel would have to find first.
type tabledNode struct {
	name, attrCount, childCount uint16
	// state is 0 before the node is reached, visiting while its children are counted, and then one
	// more than the number of levels below it.
	state uint16
	// attrs and children are the addresses of the runs of attributes and of children, as
	// [Address.ref]. Once the node is counted, they are the numbers of entries and of logical nodes
	// in its subtree, itself included.
	attrs, children uint32
}

// visiting is the state of a node whose subtree is not counted yet.
const visiting = math.MaxUint16

func (n *tabledNode) isCounted() bool { return n.state != 0 && n.state != visiting }

// add adds nodes of seg during the first pass: b holds them, beginning with number first.
// It is called at least once for each segment.
func (t *NodeTable) add(seg Segment, first int, b []byte) {
	if first == 0 {
		t.segments = append(t.segments, t.take(seg))
		t.off = append(t.off, seg.Off)
		t.count += seg.Addressable()
	}
	last := len(t.segments) - 1
	nodes, size := t.segments[last], int(t.layout.NodeSize())
	childAddr := 12
	if t.layout == LayoutV6X64 {
		childAddr = 16
	}
	// As parseNode, which takes twice as long.
	for le := binary.LittleEndian; len(b) >= size && len(nodes) < cap(nodes); b = b[size:] {
		nodes = append(nodes, tabledNode{
			name: le.Uint16(b), attrCount: le.Uint16(b[4:]), childCount: le.Uint16(b[6:]),
			attrs: ParseAddress(b[8:]).Ref(), children: ParseAddress(b[childAddr:]).Ref(),
		})
	}
	t.segments[last] = nodes
}

// take returns memory for the nodes of a segment.
func (t *NodeTable) take(seg Segment) []tabledNode {
	n := int(seg.Addressable())
	if len(t.free) < n {
		left := (t.size - seg.Off) / t.layout.NodeSize()
		t.free = make([]tabledNode, max(n, int(min(left, tableAtLeast))))
	}
	nodes := t.free[:0:n]
	t.free = t.free[n:]
	return nodes
}

// Tally is the result of counting.
type Tally struct {
	// Entries has, for each stored node, the number of logical nodes and attributes in its
	// subtree, itself included, as seen from one path. 0 means that no path leads to the
	// node.
	Entries []uint32
	Logical int64 // nodes, each counted once for every path
	// Sorted is true if the names in every run of children are in order, so that a search
	// can halve the run.
	Sorted bool
	// Placeholders is true if some run of children holds a node without name.
	Placeholders bool
	// MaxName is the highest name index in use, and maxNameAt the offset of the node that
	// has it.
	MaxName   uint16
	maxNameAt int64
	// Steps is the sum of the child counts of all stored nodes that a path leads to.
	Steps int64
	// SharedAttributes and SharedNodes say what a splice must not change in place.
	SharedAttributes, SharedNodes Marks
}

// counting counts the entries in the subtree of each stored node, children first.
type counting struct {
	*NodeTable
	attributes, nodes []Segment
	Tally
	maxNameNode Address
	stack       []frame

	// attributeMarks and nodeMarks become the tally's.
	attributeMarks, nodeMarks marker
}

// frame is a node whose children are being counted.
type frame struct {
	addr Address
	next int // the child to look at next
}

// ErrRecount is the error of a tally in order, if paths may not lead to all nodes that were counted.
var ErrRecount = errors.New("count the nodes again, along the paths")

// Tally counts the entries in the subtree of each stored node. It also checks that every
// run lies in its segment, that no node is below itself, and that depth and number stay
// within their limits. It does not read the attributes.
//
// In real files, nearly all children stand before their parents, and paths lead to all nodes. If inOrder is
// true, Tally counts what it can in the order of the file, which takes two thirds of the time that following
// the paths from the root does. If that was wrong, or any error is found, it returns ErrRecount, and the
// table is used up.
func (t *NodeTable) Tally(attributes, nodes []Segment, inOrder bool) (*Tally, error) {
	if len(nodes) == 0 || nodes[0].Used == 0 {
		return nil, Badf(0, "no root node: nothing is at 0:0 of the nodes")
	}
	root := &t.segments[0][0]
	if root.name == 0 {
		return nil, Badf(nodes[0].Off, "the root node is a placeholder: want the name __root__")
	}
	c := &counting{
		NodeTable: t, attributes: attributes, nodes: nodes, Tally: Tally{Sorted: true},
		attributeMarks: newMarker(attributes), nodeMarks: newMarker(nodes),
	}
	if inOrder {
		c.countInOrder()
	}
	err := c.walk(root)
	c.SharedAttributes = c.attributeMarks.finish(attributes, 0)
	const roots = 1 // nothing refers to it
	c.SharedNodes = c.nodeMarks.finish(nodes, roots)
	// Nothing that was counted is below itself. So if all but the root have a referrer, paths lead to all.
	if inOrder && (err != nil || c.SharedNodes.Unused != 0 || c.nodeMarks.isSeen(0)) {
		return nil, ErrRecount
	}
	if err != nil {
		return nil, err
	}
	c.Logical = int64(root.children)
	c.maxNameAt = c.at(c.maxNameNode)
	c.Entries = c.collect()
	return &c.Tally, nil
}

// collect returns the entries of each node.
func (t *NodeTable) collect() []uint32 {
	entries := make([]uint32, int(t.count))
	i := 0
	for _, nodes := range t.segments {
		for _, n := range nodes {
			if n.isCounted() {
				entries[i] = n.attrs
			}
			i++
		}
	}
	return entries
}

// zeros returns n zeros in memory that is there already. That of make is there once it is written. If
// it is read before, the kernel first shows a page of zeros, and has to take that away from
// all cores when the page is written: of 3,000 pages, that stops the core that inflates, too.
func zeros[T uint32 | uint64](n T) []T {
	s := make([]T, n)
	clear(s)
	return s
}

// node returns the node at addr.
func (t *NodeTable) node(addr Address) *tabledNode { return &t.segments[addr.Segment][addr.Element] }

// at returns the offset of the node at addr.
func (t *NodeTable) at(addr Address) int64 {
	return t.off[addr.Segment] + int64(addr.Element)*t.layout.NodeSize()
}

// childrenOf returns the children of a node that is not counted and whose runs fit.
func (t *NodeTable) childrenOf(n *tabledNode) []tabledNode {
	if n.childCount == 0 { // its address may be anything
		return nil
	}
	addr := AddressOf(n.children)
	return t.segments[addr.Segment][addr.Element:][:n.childCount]
}

// countInOrder counts the nodes, in the order of the file, whose children are all counted. It leaves the
// others, and all in which something is wrong: they may be none that a path leads to.
func (c *counting) countInOrder() {
	looked := int64(0) // at children
	for seg, nodes := range c.segments {
		for i := range nodes {
			n := &nodes[i]
			if n.name == 0 || !c.fits(n) {
				continue
			}
			if looked += int64(n.childCount); looked > MaxSteps {
				return
			}
			children := c.childrenOf(n)
			if uncounted(children, 0) < len(children) {
				continue
			}
			s := sumOf(n, children)
			if s.entries > MaxEntries || s.levels > MaxDepth {
				continue
			}
			c.claim(Address{Segment: uint16(seg), Element: uint16(i)}, n)
			c.settle(n, s)
		}
	}
}

// fits reports whether the runs of a node lie in their segments.
func (c *counting) fits(n *tabledNode) bool {
	return (n.attrCount == 0 || fits(c.attributes, AddressOf(n.attrs), int(n.attrCount))) &&
		(n.childCount == 0 || fits(c.nodes, AddressOf(n.children), int(n.childCount)))
}

// uncounted returns the place of the first child from i on that has to be counted yet.
func uncounted(children []tabledNode, i int) int {
	for i < len(children) && (children[i].name == 0 || children[i].isCounted()) {
		i++
	}
	return i
}

// sums add up the children of a node while these are counted.
type sums struct {
	entries, nodes       uint64
	levels               uint16 // below it
	sorted, placeholders bool
}

func sumOf(n *tabledNode, children []tabledNode) sums {
	s := sums{entries: 1 + uint64(n.attrCount), nodes: 1, sorted: true}
	prev := uint16(0)
	for i := range children {
		c := &children[i]
		if c.name == 0 {
			s.placeholders = true
			continue
		}
		s.entries += uint64(c.attrs)
		s.nodes += uint64(c.children)
		s.levels = max(s.levels, c.state)
		if c.name < prev {
			s.sorted = false
		}
		prev = c.name
	}
	return s
}

// settle notes that a node is counted.
func (c *counting) settle(n *tabledNode, s sums) {
	n.attrs, n.children, n.state = uint32(s.entries), uint32(s.nodes), s.levels+1
	c.Sorted = c.Sorted && s.sorted
	c.Placeholders = c.Placeholders || s.placeholders
}

// claim notes what does not depend on the children of the node at addr, whose runs were checked.
func (c *counting) claim(addr Address, n *tabledNode) {
	if n.attrCount > 0 {
		c.attributeMarks.claim(AddressOf(n.attrs), n.attrCount)
	}
	if n.childCount > 0 {
		c.Steps += int64(n.childCount)
		c.nodeMarks.claim(AddressOf(n.children), n.childCount)
	}
	if n.name > c.MaxName || n.name == c.MaxName && addr.Ref() < c.maxNameNode.Ref() {
		c.MaxName, c.maxNameNode = n.name, addr
	}
}

// walk counts what is not counted yet, along the paths from the root.
func (c *counting) walk(root *tabledNode) error {
	if root.isCounted() {
		return nil
	}
	err := c.enter(Address{})
	for err == nil && len(c.stack) > 0 {
		err = c.step()
	}
	return err
}

// enter pushes the node at addr on the stack.
func (c *counting) enter(addr Address) error {
	n := c.node(addr)
	if n.attrCount > 0 {
		if _, err := Run(c.attributes, AddressOf(n.attrs), int(n.attrCount), 0); err != nil {
			return c.bad(addr, "attributes: %w", err)
		}
	}
	if len(c.stack) > MaxDepth {
		return c.bad(addr, "nested deeper than %d", MaxDepth)
	}
	if n.childCount > 0 {
		if _, err := Run(c.nodes, AddressOf(n.children), int(n.childCount), 0); err != nil {
			return c.bad(addr, "children: %w", err)
		}
		if c.Steps+int64(n.childCount) > MaxSteps {
			return c.bad(addr, "more than %d children are announced in all", MaxSteps)
		}
	}
	c.claim(addr, n)
	n.state = visiting
	c.stack = append(c.stack, frame{addr: addr})
	return nil
}

// step looks at the children of the top node up to one that has to be counted first. If there
// is none, it counts and pops the node.
func (c *counting) step() error {
	top := &c.stack[len(c.stack)-1]
	n := c.node(top.addr)
	children := c.childrenOf(n)
	if top.next = uncounted(children, top.next); top.next < len(children) {
		addr := AddressOf(n.children)
		addr.Element += uint16(top.next)
		if children[top.next].state == visiting {
			return c.bad(top.addr, "its child %v is its own ancestor: a cycle", addr)
		}
		return c.enter(addr)
	}
	s := sumOf(n, children)
	if s.entries > MaxEntries {
		return c.bad(top.addr, "more than %d nodes and attributes hang below it", MaxEntries)
	}
	if len(c.stack)-1+int(s.levels) > MaxDepth {
		return c.bad(top.addr, "nested deeper than %d", MaxDepth)
	}
	c.settle(n, s)
	c.stack = c.stack[:len(c.stack)-1]
	return nil
}

func (c *counting) bad(addr Address, format string, args ...any) error {
	return nodeError(addr, c.at(addr), format, args...)
}

// TableNodes makes the table of a File anew, from its blocks.
func (f *File) TableNodes(ctx context.Context) (*NodeTable, error) {
	t := &NodeTable{layout: f.Layout, size: f.Stated}
	size := int(f.Layout.NodeSize())
	var scratch [MaxNodeSize]byte
	for _, seg := range f.Regions.Nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := int(seg.Addressable())
		if n == 0 {
			t.add(seg, 0, nil)
		}
		for at := 0; at < n; {
			b, err := f.Elements(seg.Off+int64(at*size), n-at, size, scratch[:])
			if err != nil {
				return nil, err
			}
			t.add(seg, at, b)
			at += len(b) / size
		}
	}
	return t, nil
}
