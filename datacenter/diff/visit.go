package diff

import (
	"context"

	"lorefs/datacenter"
)

// Way is how a node is reached: the nodes from the sheet to itself. That of the root is
// empty. It is good until the visitor returns.
type Way []WayStep

// WayStep is a node on a way, which has Place others of its name before it.
type WayStep struct {
	Node  datacenter.Node
	Place int
}

// Visitor is told what differs between two data centers, by the nodes.
type Visitor interface {
	// Changed is told of two nodes that belong together and differ in their flags, their
	// keys or their attributes.
	Changed(a, b Way) error
	// Removed is told of a node that only the first has, and of its parent in the second.
	Removed(a, parent Way) error
	// Added is told of a node that only the second has, and of its parent in the first.
	Added(parent, b Way) error
	// Moved is told of two nodes that belong together where others of their name passed
	// them. Nothing is told of what else differs between them.
	Moved(a, b Way) error
}

// Visit compares a and b as [Compare] does. An error of v is the last that happens.
func Visit(ctx context.Context, a, b *datacenter.File, parts Parts, v Visitor) error {
	c := &comparer{ctx: ctx, opts: Options{Parts: parts}, visitor: v}
	return c.compare(a, b)
}

// visitSelf is self for a visitor.
func (c *comparer) visitSelf(x, y datacenter.Node) error {
	if c.SameFlags(x, y) && c.SameKeys(x, y) {
		if same, err := c.SameAttributes(x, y); same || err != nil {
			return err
		}
	}
	c.found++
	return c.visitor.Changed(c.a.way, c.b.way)
}
