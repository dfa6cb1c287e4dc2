package sheets

import (
	"context"

	"golang.org/x/sync/errgroup"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/datacenter/sheets/xsd"
)

// LearnSchema is [Family.Schema] for those who will not ask for a size: it reads no values, and
// a large family on several cores. The sheets must be those of the file, without a draft.
func (f *Family) LearnSchema(ctx context.Context) (*xsd.Schema, error) {
	if info := f.known(); info != nil || f.src.draft != nil {
		return f.Schema(ctx)
	}
	l, err := f.learnOnce(ctx)
	if err != nil {
		return nil, err
	}
	return f.schema(l.elements)
}

// learn infers the elements of the sheets in some parts, see parts.
func (f *Family) learn(ctx context.Context, most int, least int64) (*elements, error) {
	parts, err := f.parts(most, least)
	if err != nil {
		return nil, err
	}
	learned := make([]*elements, len(parts))
	g, inner := errgroup.WithContext(ctx)
	for i, part := range parts {
		g.Go(func() (err error) {
			learned[i], err = f.learnPart(inner, part)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	es := learned[0]
	for _, from := range learned[1:] {
		if len(from.all) < maxPaths {
			es.join(es.all[0], from.all[0])
		}
		if len(es.all) >= maxPaths || len(from.all) >= maxPaths {
			// Beyond the limit, paths are shared by the order in which they are met.
			es, err = f.learnPart(ctx, f.base)
			break
		}
	}
	if err == nil {
		es.settle()
	}
	return es, err
}

// schemaPart is the least number of entries that are learned by a goroutine of their own. A run of
// children that is used in several parts is learned in each.
const schemaPart = 1 << 21

// parts splits the sheets of the file into lists with about as many entries each, but at least
// some. There are at most so many lists: a small file can have any number of entries.
func (f *Family) parts(most int, least int64) (parts [][]Sheet, err error) {
	entries, total := make([]int64, len(f.base)), int64(0)
	for i, s := range f.base {
		n, err := f.src.file.Node(s.addr)
		if err != nil {
			return nil, err
		}
		entries[i] = int64(n.Entries())
		total += entries[i]
	}
	size := max(least, total/int64(most)+1)
	from, sum := 0, int64(0)
	for i := range f.base {
		if sum += entries[i]; sum >= size {
			parts = append(parts, f.base[from:i+1])
			from, sum = i+1, 0
		}
	}
	if from < len(f.base) || from == 0 {
		parts = append(parts, f.base[from:])
	}
	return parts, nil
}

// learnPart infers the elements of some of the sheets.
func (f *Family) learnPart(ctx context.Context, sheets []Sheet) (*elements, error) {
	e, err := f.src.encoder(ctx)
	if err != nil {
		return nil, err
	}
	defer f.src.release(e)
	e.measures()
	es := newElements(f.src.opts.Strategy, f.name)
	p := schemaPass{ctx: ctx, e: e, learn: learner{es: es}, runs: map[runKey]bool{}}
	defer p.settleShapes()
	for _, s := range sheets {
		n, err := e.file.Node(s.addr)
		if err == nil {
			err = p.node(n, es.all[0])
		}
		if err != nil {
			return nil, err
		}
	}
	return es, nil
}

// schemaPass learns from each stored run of children, and from each start tag, once for each path
// that leads to it.
type schemaPass struct {
	ctx   context.Context
	e     *encoder
	learn learner
	// runs are those that are known, of runs that can be met again on a path.
	runs map[runKey]bool

	// kids has, for each node on the path, those of its children that are being learned.
	kids  []datacenter.Node
	names []vocab.NameID
	short []uint16
	words []form.AttributeWord
	// shapes has shapesEach shapes for each element.
	shapes []tagShape
}

// tagShape are the names and types of the attributes of a tag, and how often tags of that shape were
// met that the element has not counted yet. Most tags of an element have one of few shapes.
type tagShape struct {
	tagKinds
	text  bool // whether there is a __value__
	count uint32
}

const (
	// shapesEach is how many shapes of an element are remembered, by their number of attributes.
	shapesEach = 4
	// kidsAtOnce is how many children are read at once.
	kidsAtOnce = 64
)

// node learns a node and all below it.
func (p *schemaPass) node(n datacenter.Node, el *element) error {
	count := n.ChildCount()
	// What has one place in the file is met once on each path, without being remembered.
	again := count > 0 && (n.SharesChildren() || n.IsShared())
	key := runKey{el.id, n.ChildRun()}
	if again && p.runs[key] {
		return p.tag(n, el, true)
	}
	base := len(p.kids)
	if err := p.body(n, el); err != nil {
		return err
	}
	parent := len(p.names) > 0
	if err := p.tag(n, el, parent); err != nil {
		return err
	}
	if parent {
		if err := p.children(n, el, base); err != nil {
			return err
		}
	}
	p.kids = p.kids[:base]
	if again && parent {
		p.runs[key] = true
	}
	return nil
}

// children learns the children of a node. The first of them are in kids from base on.
func (p *schemaPass) children(n datacenter.Node, el *element, base int) (err error) {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	var kid *element
	for from := 0; ; {
		for i := base; i < len(p.kids); i++ {
			child := p.kids[i]
			name := vocab.NameID(child.NameIndex())
			if name == 0 {
				continue // a placeholder
			}
			if kid == nil || kid.name != name {
				kid = el.kid(name)
			}
			if err := p.node(child, kid); err != nil {
				return err
			}
		}
		if from += kidsAtOnce; from >= n.ChildCount() {
			return nil
		}
		if p.kids, err = n.AppendChildren(p.kids[:base], from, kidsAtOnce); err != nil {
			return err
		}
	}
}

// body learns the names of a node's children, which it leaves in names. The first children are in
// kids then.
func (p *schemaPass) body(n datacenter.Node, el *element) (err error) {
	base, count := len(p.kids), n.ChildCount()
	p.names = p.names[:0]
	if count > 0 {
		if p.kids, err = n.AppendChildren(p.kids, 0, kidsAtOnce); err != nil {
			return err
		}
	}
	for i := base; i < len(p.kids); i++ {
		if name := p.kids[i].NameIndex(); name != 0 {
			p.names = append(p.names, vocab.NameID(name))
		}
	}
	if count > kidsAtOnce {
		if p.short, err = n.AppendChildNames(p.short[:0]); err != nil {
			return err
		}
		for _, name := range p.short[kidsAtOnce:] {
			if name != 0 {
				p.names = append(p.names, vocab.NameID(name))
			}
		}
	}
	p.learn.body(el, p.names)
	return nil
}

// tag learns a start tag.
func (p *schemaPass) tag(n datacenter.Node, el *element, parent bool) (err error) {
	if p.words, err = n.AppendAttributeWords(p.words[:0]); err != nil {
		return err
	}
	for el.id*shapesEach >= len(p.shapes) {
		p.shapes = append(p.shapes, make([]tagShape, shapesEach)...)
	}
	s := &p.shapes[el.id*shapesEach+len(p.words)%shapesEach]
	if !s.matches(el, p.words) {
		if err := p.shape(n, el, s); err != nil {
			return err
		}
	}
	s.count++
	el.text = el.text || s.text && !parent
	p.learn.keys(el, p.e.voc.StoredKeys(n))
	return nil
}

// shape checks the attributes of a node, and makes their shape that of s.
func (p *schemaPass) shape(n datacenter.Node, el *element, s *tagShape) (err error) {
	e := p.e
	if e.attrs, err = n.AppendAttributes(e.attrs[:0], nil); err != nil {
		return err
	}
	p.settleShape(s)
	s.set(el, p.words)
	s.text = false
	hint := 0
	for _, a := range e.attrs {
		if name := vocab.NameID(a.NameIndex()); name != e.voc.Value {
			hint = p.learn.attribute(el, name, a.Type(), hint) + 1
			el.attrs[hint-1].seen-- // settleShape counts it
			_, escaped := e.voc.Spelling(name).Attribute()
			el.odd = el.odd || escaped || el.attrs[hint-1].typ != a.Type()
		} else {
			s.text = true
		}
	}
	return nil
}

// settleShape counts the tags of a shape.
func (p *schemaPass) settleShape(s *tagShape) {
	hint := 0
	for _, kind := range s.kinds {
		if name := vocab.NameID(uint16(kind)); s.count > 0 && name != p.e.voc.Value {
			i, _ := s.el.attribute(name, hint)
			s.el.attrs[i].seen += s.count
			hint = i + 1
		}
	}
	if s.el != nil {
		s.el.visits += s.count
	}
	s.count = 0
}

// settleShapes counts the tags of all shapes.
func (p *schemaPass) settleShapes() {
	for i := range p.shapes {
		p.settleShape(&p.shapes[i])
	}
}
