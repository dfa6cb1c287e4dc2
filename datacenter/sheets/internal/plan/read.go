package plan

import (
	"bytes"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/datacenter/sheets/internal/xmlsheet"
)

// newNode is a node of the text. If it is equal to a node of the sheet, it only refers to
// that, and nothing below it is kept.
type newNode struct {
	name vocab.NameID
	// like says that it has the same attributes (without __value__), keys and flags as old;
	// equal, that it is equal to old as a whole.
	like, equal bool
	old         oldNode
	// Unless it is like or equal: its attributes in attrs, and its keys in keys, where the
	// first entry is for nodes without dc:keys.
	attrFrom, attrTo int32
	keys             int32
	flags            datacenter.KeyFlags
	// Its __value__ in bytes, and its children in kids.
	hasText          bool
	textFrom, textTo int
	kidFrom, kidTo   int32
	// at is the offset of the element in the text, and textAt that of its content.
	at, textAt int
}

// newAttr is an attribute of a newNode.
type newAttr struct {
	name     vocab.NameID
	typ      datacenter.Type // 0 if the text does not have it
	from, to int             // the value, in bytes
	at       int             // the offset in the text
}

// planFrame is a node of the text that is open.
type planFrame struct {
	node    int32 // its index in nodes
	pending int   // where its children begin in pending
	// The lengths when it began, to return to if it is equal to old.
	attrs, kids, bytes, keys int
	// old is the node to compare it with, if hasOld. Its children begin at these places of
	// planner.beside and, by their names, of planner.groups.
	hasOld         bool
	old            oldNode
	beside, groups int
	group          int // the last group that was used
	// equal counts the children that are equal to one of old.
	equal int
}

// kidGroup is the children of old that have one name.
type kidGroup struct {
	name vocab.NameID
	// next is the first child, up to end, that no child of the text has matched; missed
	// counts the children of the text since then.
	next, end, missed int
}

// begin begins the sheet.
func (p *planner) begin(root oldNode) error {
	n := p.parser.Node()
	if string(n.Name) != p.sheet.Name {
		return p.wrongName(n)
	}
	p.keys = append(p.keys, nil)
	if p.sheet.Number == 0 {
		return p.open(n, oldNode{}, false, false)
	}
	like, err := p.sameSelf(root, n)
	if err != nil {
		return err
	}
	return p.open(n, root, true, like)
}

func (p *planner) beginChild() error {
	n := p.parser.Node()
	old, found, like, err := p.counterpart(n)
	if err != nil {
		return err
	}
	return p.open(n, old, found, like)
}

// counterpart returns the child of old that the next child of the text is probably equal to.
// A wrong guess only costs memory.
func (p *planner) counterpart(n *xmlsheet.Node) (old oldNode, found, like bool, err error) {
	f := &p.frames[len(p.frames)-1]
	g := p.kidGroup(f, n.Name)
	if g == nil {
		return old, false, false, nil
	}
	// Edits that added or removed nodes shift the two sides against each other by some
	// nodes.
	const around = 8
	likely := g.next + g.missed
	try := func(i int) bool {
		if i < g.next || i >= g.end || err != nil {
			return false
		}
		like, err = p.sameSelf(p.beside[i].oldNode, n)
		if like {
			old = p.beside[i].oldNode
			g.next, g.missed = i+1, 0
		}
		return like
	}
	if try(likely) {
		return old, true, true, err
	}
	for d := 1; d <= around && err == nil; d++ {
		if try(likely-d) || try(likely+d) {
			return old, true, true, err
		}
	}
	if g.missed > around && err == nil && try(g.next) {
		return old, true, true, err
	}
	g.missed++
	if likely < g.end {
		return p.beside[likely].oldNode, true, false, err
	}
	return old, false, false, err
}

// kidGroup returns the children of old with a name. It looks at a few groups only, since
// they are mostly in order.
func (p *planner) kidGroup(f *planFrame, name []byte) *kidGroup {
	const some = 64
	groups := p.groups[f.groups:]
	for i := range min(len(groups), some) {
		at := (f.group + i) % len(groups)
		if p.names.name(groups[at].name) == string(name) {
			f.group = at
			return &groups[at]
		}
	}
	return nil
}

// open opens a node, and lists the children of its counterpart.
func (p *planner) open(n *xmlsheet.Node, old oldNode, hasOld, like bool) error {
	f := planFrame{
		node: int32(len(p.nodes)), pending: len(p.pending),
		attrs: len(p.attrs), kids: len(p.kids), bytes: len(p.bytes), keys: len(p.keys),
		hasOld: hasOld, old: old, beside: len(p.beside), groups: len(p.groups),
	}
	m := newNode{name: p.names.id(n.Name), like: like, at: n.Offset}
	if like {
		m.old = old
	} else {
		p.keep(&m, n)
	}
	p.nodes = append(p.nodes, m)
	if hasOld {
		var err error
		if p.beside, err = p.oldKids(old, p.beside); err != nil {
			return err
		}
		p.group(f.beside)
	}
	p.frames = append(p.frames, f)
	return nil
}

// group makes groups of the children in beside from from on.
func (p *planner) group(from int) {
	for i := from; i < len(p.beside); {
		end := i + 1
		for end < len(p.beside) && p.beside[end].name == p.beside[i].name {
			end++
		}
		p.groups = append(p.groups, kidGroup{name: p.beside[i].name, next: i, end: end})
		i = end
	}
}

// keep stores the attributes, keys and flags of a start tag.
func (p *planner) keep(m *newNode, n *xmlsheet.Node) {
	m.flags = n.Flags
	m.attrFrom = int32(len(p.attrs))
	for i := range n.Attributes {
		a := &n.Attributes[i]
		from := len(p.bytes)
		p.bytes = append(p.bytes, a.Value...)
		p.attrs = append(p.attrs, newAttr{name: p.names.id(a.Name), typ: a.Type, from: from, to: len(p.bytes), at: a.Offset})
	}
	m.attrTo = int32(len(p.attrs))
	if n.HasKeys {
		m.keys = int32(len(p.keys))
		p.keys = append(p.keys, slices.Clone(n.Keys))
	}
}

func (p *planner) end() error {
	f := p.frames[len(p.frames)-1]
	p.frames = p.frames[:len(p.frames)-1]
	equal, err := p.isEqual(&f)
	if err != nil {
		return err
	}
	p.beside, p.groups = p.beside[:f.beside], p.groups[:f.groups]
	m := &p.nodes[f.node]
	if equal {
		*m = newNode{name: m.name, equal: true, old: f.old, at: m.at}
		p.nodes = p.nodes[:f.node+1]
		p.attrs, p.kids, p.bytes, p.keys = p.attrs[:f.attrs], p.kids[:f.kids], p.bytes[:f.bytes], p.keys[:f.keys]
	} else {
		p.keepText(m)
		m.kidFrom = int32(len(p.kids))
		p.kids = append(p.kids, p.pending[f.pending:]...)
		m.kidTo = int32(len(p.kids))
	}
	p.pending = append(p.pending[:f.pending], f.node)
	if equal && len(p.frames) > 0 {
		p.frames[len(p.frames)-1].equal++
	}
	return nil
}

func (p *planner) keepText(m *newNode) {
	text, ok := p.parser.Text()
	if !ok {
		return
	}
	m.hasText, m.textAt = true, p.parser.TextOffset()
	m.textFrom = len(p.bytes)
	p.bytes = append(p.bytes, text...)
	m.textTo = len(p.bytes)
}

// isEqual reports whether the node that ends is equal to old. It is, if both have the same
// number of children and each child is equal to one of old in the same order.
func (p *planner) isEqual(f *planFrame) (bool, error) {
	count := len(p.pending) - f.pending
	if !f.hasOld || !p.nodes[f.node].like || f.equal != count || count != len(p.beside)-f.beside {
		return false, nil
	}
	text, ok := p.parser.Text()
	old, had, err := p.oldValue(f.old)
	return ok == had && bytes.Equal(text, old), err
}
