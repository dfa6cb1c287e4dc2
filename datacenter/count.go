package datacenter

import (
	"encoding/binary"
	"math"
)

const (
	// MaxDepth is how deep nodes may nest. Real files stay below 23.
	MaxDepth = 1024
	// MaxEntries is how many nodes and attributes a file may have when each is
	// counted once for every path that leads to it. The largest real file has
	// some 70 million; sharing lets a small file claim any number.
	MaxEntries = 1<<27 - 1
	// maxSteps bounds the sum of all stored child counts, which is the work of
	// counting. Real files have a few million.
	maxSteps = 1 << 27
)

// Counts says how much a file holds. A logical node is one path from the root;
// stored nodes are what the file has, of which one may serve many paths.
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

// nodeTable is what counting needs of each stored node, in the file's order.
// It lives for the first pass only.
type nodeTable struct {
	layout Layout
	base   []uint32 // of each segment, the number of its first node
	off    []int64  // of each segment, where its nodes lie

	name       []uint16
	attrCount  []uint16
	childCount []uint16
	attrAddr   []uint32
	childAddr  []uint32
}

// add takes nodes that go by in the first pass, b those of seg from number
// first on. It is called at least once a segment, so that base is complete.
func (t *nodeTable) add(seg segment, first int, b []byte) {
	if first == 0 {
		t.base = append(t.base, uint32(len(t.name)))
		t.off = append(t.off, seg.off)
	}
	size := int(t.layout.NodeSize())
	for ; len(b) >= size; b = b[size:] {
		n := parseNode(b, t.layout)
		t.name = append(t.name, n.name)
		t.attrCount = append(t.attrCount, n.attrCount)
		t.childCount = append(t.childCount, n.childCount)
		t.attrAddr = append(t.attrAddr, n.attrAddr.pack())
		t.childAddr = append(t.childAddr, n.childAddr.pack())
	}
}

// tally is the outcome of counting.
type tally struct {
	// entries is, of each stored node, the number of logical nodes and
	// attributes that hang below one path to it, itself included. 0 means that
	// no path leads to the node.
	entries []uint32
	logical int64 // nodes, each counted once for every path
	// sorted is true if no run of children has its names out of order, so that
	// a name can be searched by halving.
	sorted bool
	// placeholders is true if some run of children holds a node without name.
	placeholders bool
	// maxName is the highest name index in use, and maxNameAt the node's place.
	maxName   uint16
	maxNameAt int64
}

// frame is a node whose children are being counted.
type frame struct {
	node   uint32 // its number
	next   int32  // the child to look at next
	height uint16
	prev   uint16 // name of the child before next
	sum    uint64
	nodes  uint64
}

// counting walks the graph once, each stored node once, children first.
type counting struct {
	*nodeTable
	attributes, nodes []segment
	tally
	nodesOf []uint32 // like entries, nodes only
	height  []uint16 // levels below a node
	stack   []frame
	steps   int64
}

// visiting marks a node in entries whose subtree is not done.
const visiting = math.MaxUint32

// count counts what hangs below each stored node and checks on the way that
// every run lies in its segment, that no node is below itself, and that depth
// and number are bearable. It does not look at attributes themselves.
func (t *nodeTable) count(attributes, nodes []segment) (*tally, error) {
	if len(nodes) == 0 || nodes[0].used == 0 {
		return nil, badf(0, "no root node: nothing is at 0:0 of the nodes")
	}
	c := &counting{
		nodeTable: t, attributes: attributes, nodes: nodes,
		tally:   tally{entries: make([]uint32, len(t.name)), sorted: true},
		nodesOf: make([]uint32, len(t.name)),
		height:  make([]uint16, len(t.name)),
	}
	if t.name[0] == 0 {
		return nil, badf(nodes[0].off, "the root node is a placeholder: want the name __root__")
	}
	if err := c.enter(0); err != nil {
		return nil, err
	}
	for len(c.stack) > 0 {
		if err := c.step(); err != nil {
			return nil, err
		}
	}
	c.logical = int64(c.nodesOf[0])
	return &c.tally, nil
}

// at is where node n lies.
func (t *nodeTable) at(n uint32) (Address, int64) {
	seg := 0
	for seg+1 < len(t.base) && t.base[seg+1] <= n {
		seg++
	}
	elem := n - t.base[seg]
	return Address{uint16(seg), uint16(elem)}, t.off[seg] + int64(elem)*t.layout.NodeSize()
}

// enter puts node n on the stack.
func (c *counting) enter(n uint32) error {
	attrs := int(c.attrCount[n])
	if attrs > 0 {
		if _, err := run(c.attributes, unpackAddress(c.attrAddr[n]), attrs, 0); err != nil {
			return c.bad(n, "attributes: %w", err)
		}
	}
	if k := int(c.childCount[n]); k > 0 {
		if _, err := run(c.nodes, unpackAddress(c.childAddr[n]), k, 0); err != nil {
			return c.bad(n, "children: %w", err)
		}
		if c.steps += int64(k); c.steps > maxSteps {
			return c.bad(n, "more than %d children are announced in all", maxSteps)
		}
	}
	if len(c.stack) > MaxDepth {
		return c.bad(n, "nested deeper than %d", MaxDepth)
	}
	if c.name[n] > c.maxName {
		c.maxName = c.name[n]
		_, c.maxNameAt = c.at(n)
	}
	c.entries[n] = visiting
	c.stack = append(c.stack, frame{node: n, sum: 1 + uint64(attrs), nodes: 1})
	return nil
}

// step looks at one more child of the top node, or takes that node off.
func (c *counting) step() error {
	top := &c.stack[len(c.stack)-1]
	n := top.node
	if int(top.next) == int(c.childCount[n]) {
		c.leave(*top)
		return nil
	}
	addr := unpackAddress(c.childAddr[n])
	child := c.base[addr.Segment] + uint32(addr.Element) + uint32(top.next)
	name := c.name[child]
	if name == 0 {
		c.placeholders = true
		top.next++
		return nil
	}
	switch c.entries[child] {
	case 0:
		return c.enter(child) // comes back to this child when it is counted
	case visiting:
		where, _ := c.at(child)
		return c.bad(n, "its child %v is its own ancestor: a cycle", where)
	}
	if name < top.prev {
		c.sorted = false
	}
	top.prev = name
	top.sum += uint64(c.entries[child])
	top.nodes += uint64(c.nodesOf[child])
	top.height = max(top.height, c.height[child]+1)
	top.next++
	if top.sum > MaxEntries {
		return c.bad(n, "more than %d nodes and attributes hang below it", MaxEntries)
	}
	if len(c.stack)-1+int(top.height) > MaxDepth {
		return c.bad(n, "nested deeper than %d", MaxDepth)
	}
	return nil
}

func (c *counting) leave(f frame) {
	c.entries[f.node] = uint32(f.sum)
	c.nodesOf[f.node] = uint32(f.nodes)
	c.height[f.node] = f.height
	c.stack = c.stack[:len(c.stack)-1]
}

func (c *counting) bad(n uint32, format string, args ...any) error {
	addr, off := c.at(n)
	return nodeError(addr, off, format, args...)
}

// rawNode is a DataCenterNode.
type rawNode struct {
	name       uint16 // one-based; 0 marks a placeholder, whose other fields mean nothing
	flags      uint8  // 4 bits
	key        uint16 // 12 bits
	attrCount  uint16
	childCount uint16
	attrAddr   Address
	childAddr  Address
}

// parseNode reads a node from b, l.NodeSize() bytes.
func parseNode(b []byte, l Layout) rawNode {
	_ = b[15]
	le := binary.LittleEndian
	keys := le.Uint16(b[2:])
	n := rawNode{
		name:       le.Uint16(b),
		flags:      uint8(keys & 0xf),
		key:        keys >> 4,
		attrCount:  le.Uint16(b[4:]),
		childCount: le.Uint16(b[6:]),
		attrAddr:   parseAddress(b[8:]),
	}
	if l == LayoutV6X64 {
		n.childAddr = parseAddress(b[16:])
	} else {
		n.childAddr = parseAddress(b[12:])
	}
	return n
}

// append is the inverse of parseNode. Padding is 0.
func (n rawNode) append(b []byte, l Layout) []byte {
	le := binary.LittleEndian
	b = le.AppendUint16(b, n.name)
	b = le.AppendUint16(b, uint16(n.flags)|n.key<<4)
	b = le.AppendUint16(b, n.attrCount)
	b = le.AppendUint16(b, n.childCount)
	b = n.attrAddr.append(b)
	if l == LayoutV6X64 {
		b = le.AppendUint32(b, 0)
	}
	b = n.childAddr.append(b)
	if l == LayoutV6X64 {
		b = le.AppendUint32(b, 0)
	}
	return b
}
