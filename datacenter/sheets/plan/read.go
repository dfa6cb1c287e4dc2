package plan

import (
	"bytes"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/datacenter/sheets/xmlsheet"
)

// newNode is a node of the text. One that is equal to a node of the sheet as it is
// stands for that, and nothing below it is kept.
type newNode struct {
	name vocab.NameID
	// like tells that it has the attributes, but __value__, keys and flags of old;
	// equal that it is equal to old as a whole.
	like, equal bool
	old         oldNode
	// What it has itself, unless it is like or equal: places in attrs and in keys,
	// of which the first is that of nodes that say nothing.
	attrFrom, attrTo int32
	keys             int32
	flags            datacenter.KeyFlags
	// Its __value__ is in bytes. Its children are those in kids.
	hasText          bool
	textFrom, textTo int
	kidFrom, kidTo   int32
	// at is where it begins in the file, textAt where its text does.
	at, textAt int
}

// newAttr is an attribute of a newNode.
type newAttr struct {
	name     vocab.NameID
	typ      datacenter.Type // 0 if the text does not say it
	from, to int             // of the value, in bytes
	at       int             // in the file
}

// planFrame is a node of the text that is open.
type planFrame struct {
	node    int32 // its place in nodes
	pending int   // its children are in pending, from there on
	// What was there when it began, to be there again if it is all equal.
	attrs, kids, bytes, keys int
	// old is what it is compared with, if hasOld. The children of that are in
	// beside, from there on, and in groups by their names.
	hasOld         bool
	old            oldNode
	beside, groups int
	group          int // the last one that was used
	// equal counts the children that are equal to one beside.
	equal int
}

// kidGroup is the children of one name that a node beside has.
type kidGroup struct {
	name vocab.NameID
	// next is the first child that none of the text was found equal to, of those up to
	// end; missed counts the children of the text since.
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

// beginChild begins a node that has one above it.
func (p *planner) beginChild() error {
	n := p.parser.Node()
	old, found, like, err := p.counterpart(n)
	if err != nil {
		return err
	}
	return p.open(n, old, found, like)
}

// counterpart finds the child beside that the next child of the text may be equal to:
// that is no decision, but saves memory if it is right.
func (p *planner) counterpart(n *xmlsheet.Node) (old oldNode, found, like bool, err error) {
	f := &p.frames[len(p.frames)-1]
	g := p.kidGroup(f, n.Name)
	if g == nil {
		return old, false, false, nil
	}
	// Where nodes were edited, added or removed, the two sides go apart by some.
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

// kidGroup finds the children beside of a name. It looks at no more than some: they
// are mostly in order.
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

// open opens a node, and lists the children of the one beside.
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

// group makes groups of the children beside that begin at a place.
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

// keep keeps what a start tag says.
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

// end ends a node.
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

// isEqual tells whether the node that ends is equal to the one beside. If as many of
// its children as it has, and as there are, are each equal to another one of the
// same place or a later one than that before, then all are.
func (p *planner) isEqual(f *planFrame) (bool, error) {
	count := len(p.pending) - f.pending
	if !f.hasOld || !p.nodes[f.node].like || f.equal != count || count != len(p.beside)-f.beside {
		return false, nil
	}
	text, ok := p.parser.Text()
	old, had, err := p.oldValue(f.old)
	return ok == had && bytes.Equal(text, old), err
}
