package dctest

import (
	"math"
	"math/bits"
)

// Counts are the nodes and attributes of a tree as a reader meets them: once for each way
// from the root, with the root, without placeholders.
type Counts struct {
	Nodes, Attributes uint64
}

// Counts counts the nodes and attributes. More than 64 bits can hold count as the largest
// number.
func (d Doc) Counts() Counts { return d.Root.counts(map[*Node]Counts{}) }

func (n *Node) counts(known map[*Node]Counts) Counts {
	if n.Placeholder {
		return Counts{}
	}
	if c, ok := known[n]; ok {
		return c
	}
	c := Counts{1, uint64(len(n.Attrs))}
	for _, child := range n.Children {
		of := child.counts(known)
		c.Nodes = saturated(c.Nodes, of.Nodes)
		c.Attributes = saturated(c.Attributes, of.Attributes)
	}
	known[n] = c
	return c
}

func saturated(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}
