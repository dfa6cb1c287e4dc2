package datacenter

import (
	"context"
	"fmt"
	"io"
	"math"

	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/write"
)

// Builder lays out a data center node by node:
//
//	b, err := NewBuilder(names, opts)
//	b.Begin("ItemData", nil, 0)      a sheet
//	b.Begin("Item", keys, 0)
//	b.Int("id", 7)
//	b.String("name", "sword")
//	b.End()
//	b.End()
//	err = b.Write(ctx, w)
//
// A Builder keeps its data in the form of the file. It keeps each run of attributes or
// children once, however often you add it. You may add attributes and children in any order:
// the Builder sorts them as the format demands. Children with one name, one key definition
// and equal keys stay in the order in which you added them.
//
// Errors are sticky: Write returns the first one. A Builder is not safe for concurrent use.
type Builder struct {
	to *write.Store
	// open has the nodes between Begin and End, the root first, of which only the children are used.
	open []openNode
}

// openNode is a node that is still given attributes and children.
type openNode struct {
	raw      form.Node
	attrs    []form.Attribute
	children []form.Node
}

// NewBuilder returns a Builder for nodes and attributes with the given names. The order of
// the names is the order of attributes, and of children of different names. __root__ and
// __value__ always come last, whether they are in names or not.
func NewBuilder(names []string, opts WriteOptions) (*Builder, error) {
	to, err := write.NewStore(names, opts)
	if err != nil {
		return nil, err
	}
	return &Builder{to: to, open: make([]openNode, 1)}, nil
}

// Begin begins a child of the open node that was begun last. If no node is open, the child
// is a sheet.
func (b *Builder) Begin(name string, keys KeyDefinition, flags KeyFlags) {
	if len(b.open) > MaxDepth {
		b.to.Fail(fmt.Errorf("datacenter: nested deeper than %d: %w", MaxDepth, ErrTooLarge))
	}
	b.push(b.to.NewNode(name, keys, flags))
}

// push opens a node. It reuses the buffers of the last node at this depth, since there are
// millions of nodes but only a dozen are open at a time.
func (b *Builder) push(n form.Node) {
	if len(b.open) == cap(b.open) {
		b.open = append(b.open, openNode{raw: n})
		return
	}
	b.open = b.open[:len(b.open)+1]
	top := b.top()
	*top = openNode{raw: n, attrs: top.attrs[:0], children: top.children[:0]}
}

func (b *Builder) top() *openNode { return &b.open[len(b.open)-1] }

func (b *Builder) attribute(r form.Attribute) {
	if n := b.top(); len(b.open) > 1 {
		n.attrs = append(n.attrs, r)
		return
	}
	b.to.Fail(fmt.Errorf("datacenter: BUG: the root has no attributes"))
}

// Int adds an attribute to the open node that was begun last, as do Float, Bool, String and
// Text.
func (b *Builder) Int(name string, v int32) { b.number(name, Int, uint32(v)) }

// Float adds an attribute.
func (b *Builder) Float(name string, v float32) {
	b.number(name, Float, math.Float32bits(v))
}

// Bool adds an attribute.
func (b *Builder) Bool(name string, v bool) { b.number(name, Bool, uint32(form.Bit(v))) }

// String adds an attribute. v is WTF-8.
func (b *Builder) String(name, v string) {
	r := form.NewAttribute(b.to.NameIndex(name), String, 0)
	b.to.SetText(&r, v)
	b.attribute(r)
}

// Text sets the text of the node, that is, the attribute __value__.
func (b *Builder) Text(v string) { b.String(ValueName, v) }

func (b *Builder) number(name string, t Type, bits uint32) {
	b.attribute(form.NewAttribute(b.to.NameIndex(name), t, bits))
}

// End ends the open node that was begun last.
func (b *Builder) End() {
	if len(b.open) == 1 {
		b.to.Fail(fmt.Errorf("datacenter: BUG: End without Begin"))
		return
	}
	n := b.top()
	b.open = b.open[:len(b.open)-1]
	stored := b.to.EndNode(n.raw, n.attrs, n.children)
	b.top().children = append(b.top().children, stored)
}

// Write writes the data center. It must be called once, after the last End.
func (b *Builder) Write(ctx context.Context, w io.Writer) error {
	if len(b.open) != 1 {
		b.to.Fail(fmt.Errorf("datacenter: BUG: %d nodes are not ended", len(b.open)-1))
	}
	b.to.SetRoot(0, 0, nil, b.open[0].children)
	return b.to.Write(ctx, w)
}
