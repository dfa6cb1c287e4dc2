package datacenter

import (
	"encoding/binary"
	"math"

	"lorefs/internal/hugepages"
)

const (
	// MaxDepth is the maximum depth of nodes. Real files stay below 23.
	MaxDepth = 1024
	// MaxEntries is the maximum number of nodes and attributes of a file, each counted once
	// for every path that leads to it. The largest real file has some 70 million. Since
	// runs can be shared, a small file can claim any number.
	MaxEntries = 1<<27 - 1
	// maxSteps bounds the sum of all stored child counts, which is the work of
	// counting. Real files have a few million.
	maxSteps = 1 << 26
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

// nodeTable is what counting needs of each stored node that has an address, in the file's
// order. It is dropped after the first pass.
type nodeTable struct {
	layout   Layout
	segments [][]tabledNode
	base     []uint32 // the number of each segment's first node
	off      []int64  // the offset of each segment's nodes
	count    uint32

	size int64        // of the data
	free []tabledNode // memory for the next segments
}

// tableAtLeast is for how many nodes memory is taken at once, if the data can have so many.
const tableAtLeast = 1 << 19

// tabledNode is a node. Once it is counted, its addresses are not needed any more, and their place
// has what its parents need: that saves memory, which the kernel would have to find first.
type tabledNode struct {
	attrAddr, childAddr         Address
	name, attrCount, childCount uint16
}

// setCounted notes the number of logical nodes in the node's subtree, itself included, and the
// levels below it.
func (n *tabledNode) setCounted(nodes uint32, height uint16) {
	n.childAddr = Address{Segment: uint16(nodes >> 16), Element: uint16(nodes)}
	n.attrAddr.Element = height
}

// counted returns what setCounted has noted.
func (n *tabledNode) counted() (nodes uint32, height uint16) {
	return uint32(n.childAddr.Segment)<<16 | uint32(n.childAddr.Element), n.attrAddr.Element
}

// add adds nodes of seg during the first pass: b holds them, beginning with number first.
// It is called at least once for each segment, so that base is complete.
func (t *nodeTable) add(seg segment, first int, b []byte) {
	if first == 0 {
		t.segments = append(t.segments, t.take(seg))
		t.base = append(t.base, t.count)
		t.off = append(t.off, seg.off)
		t.count += seg.addressable()
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
			attrAddr: parseAddress(b[8:]), childAddr: parseAddress(b[childAddr:]),
		})
	}
	t.segments[last] = nodes
}

// take returns memory for the nodes of a segment.
func (t *nodeTable) take(seg segment) []tabledNode {
	n := int(seg.addressable())
	if len(t.free) < n {
		left := (t.size - seg.off) / t.layout.NodeSize()
		t.free = hugepages.Make[tabledNode](max(n, int(min(left, tableAtLeast))))
	}
	nodes := t.free[:0:n]
	t.free = t.free[n:]
	return nodes
}

// number returns the place of the node at addr among all nodes.
func (t *nodeTable) number(addr Address) uint32 { return t.base[addr.Segment] + uint32(addr.Element) }

// tally is the result of counting.
type tally struct {
	// entries has, for each stored node, the number of logical nodes and attributes in its
	// subtree, itself included, as seen from one path. 0 means that no path leads to the
	// node.
	entries []uint32
	logical int64 // nodes, each counted once for every path
	// sorted is true if the names in every run of children are in order, so that a search
	// can halve the run.
	sorted bool
	// placeholders is true if some run of children holds a node without name.
	placeholders bool
	// maxName is the highest name index in use, and maxNameAt the offset of the node that
	// has it.
	maxName   uint16
	maxNameAt int64
	// steps is the sum of the child counts of all stored nodes that a path leads to.
	steps int64
	// sharedAttributes and sharedNodes say what a splice must not change in place.
	sharedAttributes, sharedNodes marks
}

// frame is a node whose children are being counted.
type frame struct {
	addr   Address
	next   int32 // the child to look at next
	height uint16
	prev   uint16 // name of the child before next
	sum    uint64
	nodes  uint64
}

// counting walks the graph. It visits each stored node once, children first.
type counting struct {
	*nodeTable
	attributes, nodes []segment
	tally
	maxNameNode Address
	stack       []frame

	// attributeMarks and nodeMarks become the tally's.
	attributeMarks, nodeMarks marker
}

// visiting marks a node in entries whose subtree is not counted yet.
const visiting = math.MaxUint32

// tally counts the entries in the subtree of each stored node. It also checks that every
// run lies in its segment, that no node is below itself, and that depth and number stay
// within their limits. It does not read the attributes.
func (t *nodeTable) tally(attributes, nodes []segment) (*tally, error) {
	if len(nodes) == 0 || nodes[0].used == 0 {
		return nil, badf(0, "no root node: nothing is at 0:0 of the nodes")
	}
	c := &counting{
		nodeTable: t, attributes: attributes, nodes: nodes,
		tally: tally{entries: zeros[uint32](t.count), sorted: true},

		attributeMarks: newMarker(attributes), nodeMarks: newMarker(nodes),
	}
	if t.segments[0][0].name == 0 {
		return nil, badf(nodes[0].off, "the root node is a placeholder: want the name __root__")
	}
	if err := c.enter(Address{}); err != nil {
		return nil, err
	}
	for len(c.stack) > 0 {
		if err := c.step(); err != nil {
			return nil, err
		}
	}
	logical, _ := t.segments[0][0].counted()
	c.logical = int64(logical)
	c.maxNameAt = c.at(c.maxNameNode)
	const root = 1 // nothing refers to it
	c.sharedAttributes = c.attributeMarks.finish(attributes, 0)
	c.sharedNodes = c.nodeMarks.finish(nodes, root)
	return &c.tally, nil
}

// zeros returns n zeros in memory that is there already. That of make is there once it is written. If
// it is read before, the kernel first shows a page of zeros, and has to take that away from
// all cores when the page is written: of 3,000 pages, that stops the core that inflates, too.
func zeros[T uint32 | uint64](n T) []T {
	s := hugepages.Make[T](int(n))
	clear(s)
	return s
}

// at returns the offset of the node at addr.
func (t *nodeTable) at(addr Address) int64 {
	return t.off[addr.Segment] + int64(addr.Element)*t.layout.NodeSize()
}

// look checks what does not depend on the children of the node at addr, and notes it.
func (c *counting) look(addr Address, n *tabledNode) error {
	if n.attrCount > 0 {
		if _, err := run(c.attributes, n.attrAddr, int(n.attrCount), 0); err != nil {
			return c.bad(addr, "attributes: %w", err)
		}
		c.attributeMarks.claim(n.attrAddr, n.attrCount)
	}
	if len(c.stack) > MaxDepth {
		return c.bad(addr, "nested deeper than %d", MaxDepth)
	}
	if n.name > c.maxName {
		c.maxName, c.maxNameNode = n.name, addr
	}
	return nil
}

// leaf counts the node at addr, which has no children and is number i. Most nodes are leaves, so
// they don't go over the stack.
func (c *counting) leaf(addr Address, n *tabledNode, i uint32) error {
	if err := c.look(addr, n); err != nil {
		return err
	}
	c.entries[i] = 1 + uint32(n.attrCount)
	n.setCounted(1, 0)
	return nil
}

// enter pushes the node at addr on the stack.
func (c *counting) enter(addr Address) error {
	n := &c.segments[addr.Segment][addr.Element]
	if err := c.look(addr, n); err != nil {
		return err
	}
	if n.childCount > 0 {
		if _, err := run(c.nodes, n.childAddr, int(n.childCount), 0); err != nil {
			return c.bad(addr, "children: %w", err)
		}
		if c.steps += int64(n.childCount); c.steps > maxSteps {
			return c.bad(addr, "more than %d children are announced in all", maxSteps)
		}
		c.nodeMarks.claim(n.childAddr, n.childCount)
	}
	c.entries[c.number(addr)] = visiting
	c.stack = append(c.stack, frame{addr: addr, sum: 1 + uint64(n.attrCount), nodes: 1})
	return nil
}

// step looks at the children of the top node up to one whose own children come first. If there
// is none, it pops the node.
func (c *counting) step() error {
	top := &c.stack[len(c.stack)-1]
	n := &c.segments[top.addr.Segment][top.addr.Element]
	if n.childCount == 0 { // its address may be anything
		c.leave(*top)
		return nil
	}
	addr, first := n.childAddr, c.number(n.childAddr)
	children := c.segments[addr.Segment][addr.Element:][:n.childCount]
	for int(top.next) < len(children) {
		below, child := &children[top.next], first+uint32(top.next)
		if below.name == 0 {
			c.placeholders = true
			top.next++
			continue
		}
		addr.Element = n.childAddr.Element + uint16(top.next)
		switch c.entries[child] {
		case 0:
			if below.childCount > 0 {
				return c.enter(addr) // step returns to this child once it is counted
			}
			if err := c.leaf(addr, below, child); err != nil {
				return err
			}
		case visiting:
			return c.bad(top.addr, "its child %v is its own ancestor: a cycle", addr)
		}
		if err := c.add(top, child, below); err != nil {
			return err
		}
	}
	c.leave(*top)
	return nil
}

// add adds a counted child to the frame of its parent.
func (c *counting) add(top *frame, child uint32, n *tabledNode) error {
	if n.name < top.prev {
		c.sorted = false
	}
	top.prev = n.name
	nodes, height := n.counted()
	top.sum += uint64(c.entries[child])
	top.nodes += uint64(nodes)
	top.height = max(top.height, height+1)
	top.next++
	if top.sum > MaxEntries {
		return c.bad(top.addr, "more than %d nodes and attributes hang below it", MaxEntries)
	}
	if len(c.stack)-1+int(top.height) > MaxDepth {
		return c.bad(top.addr, "nested deeper than %d", MaxDepth)
	}
	return nil
}

func (c *counting) leave(f frame) {
	i := c.number(f.addr)
	c.entries[i] = uint32(f.sum)
	c.segments[f.addr.Segment][f.addr.Element].setCounted(uint32(f.nodes), f.height)
	c.stack = c.stack[:len(c.stack)-1]
}

func (c *counting) bad(addr Address, format string, args ...any) error {
	return nodeError(addr, c.at(addr), format, args...)
}
