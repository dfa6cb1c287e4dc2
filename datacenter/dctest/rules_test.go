package dctest_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/dctest"
	"lorefs/datacenter/internal/hash"
)

// check returns the broken rules in an inflated data center. It stops at a surprise, as the
// reader does.
func check(data []byte, layout datacenter.Layout) (found []string) {
	defer func() {
		if r := recover(); r != nil {
			found = append(found, fmt.Sprint("stopped: ", r))
		}
	}()
	c := checker{reader: read(data, layout)}
	defer func() { found = append(c.found, found...) }()
	c.need(!(c.timestamp < 0) || c.timestamp == -1, "timestamp %v", c.timestamp)
	c.table("names", c.names)
	c.table("values", c.values)
	c.special()
	c.keyDefinitions()
	c.root()
	c.tree()
	return nil
}

type checker struct {
	*reader
	found []string
}

func (c *checker) need(ok bool, format string, args ...any) {
	if !ok {
		c.found = append(c.found, fmt.Sprintf(format, args...))
	}
}

func (c *checker) table(name string, t table) {
	c.need(len(t.entries) == len(t.addresses), "%s: %d entries, %d addresses", name, len(t.entries), len(t.addresses))
	c.need(len(t.byAddress) == len(t.entries), "%s: two entries of one address", name)
	var last entry
	seen := map[uint32]bool{}
	for _, e := range t.entries {
		units, terminated := t.text(e)
		c.need(!slices.Contains(units, 0), "%s: NUL inside %d", name, e.index)
		end := int(e.address>>16) + len(units)
		c.need(terminated || end*2 == len(t.data.used[e.address&0xffff]), "%s: no NUL after %d", name, e.index)
		c.need(e.hash == hash.String(units), "%s: hash of %d", name, e.index)
		c.need(int(bucket(e.hash)%uint32(len(t.buckets))) == e.bucket, "%s: bucket of %d", name, e.index)
		c.need(e.bucket != last.bucket || e.hash >= last.hash, "%s: order at %d", name, e.index)
		c.need(!seen[e.index], "%s: index %d twice", name, e.index)
		c.need(t.addresses[e.index-1] == e.address, "%s: address of %d", name, e.index)
		seen[e.index], last = true, e
	}
}

func (c *checker) special() {
	n := len(c.names.addresses)
	c.need(n >= 2 && c.name(uint16(n-1)) == dctest.RootName && c.name(uint16(n)) == dctest.ValueName, "special names")
}

func (c *checker) keyDefinitions() {
	c.need(c.keys[0] == [4]uint16{}, "first key definition")
	for i, key := range c.keys {
		for _, name := range key {
			c.need(name == 0 || c.name(name) != dctest.ValueName, "key definition %d", i)
		}
	}
}

func (c *checker) root() {
	root := c.node(0, 0)
	c.need(root.name() != 0 && c.name(root.name()) == dctest.RootName && root.attrs() == 0, "root")
}

// tree visits every stored node once. It does not recurse, since nodes may be deep.
func (c *checker) tree() {
	const open, done = 1, 2
	state := map[uint32]int{}
	var visit func(address uint32)
	visit = func(address uint32) {
		n := c.node(address, 0)
		if n.name() == 0 || state[address] == done {
			return
		}
		if state[address] == open {
			panic("cycle")
		}
		state[address] = open
		c.one(n, address)
		for i := range n.children() {
			visit(n.childAddr() + uint32(i)<<16)
		}
		state[address] = done
	}
	visit(0)
}

func (c *checker) one(n stored, address uint32) {
	c.need(address == 0 || c.name(n.name()) != dctest.RootName, "root name at %x", address)
	c.need(n.flags() <= 1, "key flags")
	c.keyNames(n.key())
	values := map[uint16]string{}
	var last uint16
	for i := range n.attrs() {
		b := c.attrs.at(n.attrsAt(), i+1)[i*c.attrs.size:]
		name := u16(b)
		c.need(name > last, "attribute order at %x", address)
		text := c.attr(b)
		c.need(c.name(name) != dctest.ValueName || u16(b[2:])&3 == 3, "text that is none at %x", address)
		c.need(u16(b[2:]) != 1|1<<2 || u32(b[4:]) < 2, "bool at %x", address)
		values[name], last = text, name
	}
	c.order(n)
}

// order checks the children's order, by the key definitions, and by only the int attributes
// among the keys.
func (c *checker) order(n stored) {
	var last stored
	for i := range n.children() {
		child := c.node(n.childAddr(), i)
		if child.name() == 0 {
			continue
		}
		if last.b != nil {
			c.need(cmp.Or(cmp.Compare(last.name(), child.name()), c.compareKeys(last, child)) <= 0, "order of children")
		}
		last = child
	}
}

func (c *checker) compareKeys(x, y stored) int {
	if o := slices.CompareFunc(c.definition(x), c.definition(y), slices.Compare[[]uint16]); o != 0 {
		return o
	}
	for _, name := range c.keys[x.key()] {
		a, b := c.intOf(x, name), c.intOf(y, name)
		switch {
		case name == 0:
		case a == math.MinInt32 || b == math.MinInt32:
			return 0
		case a != b:
			return cmp.Compare(a, b)
		}
	}
	return 0
}

// definition returns the names of a node's keys, without gaps.
func (c *checker) definition(n stored) (names [][]uint16) {
	for _, name := range c.keys[n.key()] {
		if name != 0 {
			names = append(names, dctest.Units(c.name(name)))
		}
	}
	return names
}

// intOf returns the value of an attribute, or the least int if it is missing or no int.
func (c *checker) intOf(n stored, name uint16) int32 {
	if n.attrs() == 0 {
		return math.MinInt32
	}
	run := c.attrs.at(n.attrsAt(), n.attrs())
	for b := range slices.Chunk(run, c.attrs.size) {
		if u16(b) == name && u16(b[2:]) == 1 {
			return int32(u32(b[4:]))
		}
	}
	return math.MinInt32
}
