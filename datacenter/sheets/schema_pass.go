package sheets

import (
	"context"

	"golang.org/x/sync/errgroup"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/datacenter/sheets/xsd"
)

// LearnSchema is [Family.Schema] for those who will not ask for a size: it reads no values, and
// a large family on several cores. The sheets must be those of the file, without a draft.
func (f *Family) LearnSchema(ctx context.Context) (*xsd.Schema, error) {
	if info := f.found(); info != nil || f.src.draft != nil {
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

// schemaPass learns from each stored run of children, and from most start tags, once for each
// path that leads to it.
type schemaPass struct {
	ctx   context.Context
	e     *encoder
	learn learner
	// runs are those that are known.
	runs map[runKey]bool

	names []vocab.NameID
	short []uint16
}

// node learns a node and all below it.
func (p *schemaPass) node(n datacenter.Node, el *element) error {
	key := runKey{el.id, n.ChildRun()}
	known := n.ChildCount() > 0 && p.runs[key]
	if !known {
		if err := p.body(n, el); err != nil {
			return err
		}
	}
	parent := known || len(p.names) > 0
	if err := p.tag(n, el, parent); err != nil || known || !parent {
		return err
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	var kid *element
	for child, err := range n.Children() {
		if err != nil {
			return err
		}
		if name := vocab.NameID(child.NameIndex()); kid == nil || kid.name != name {
			kid = el.kid(name)
		}
		if err := p.node(child, kid); err != nil {
			return err
		}
	}
	p.runs[key] = true
	return nil
}

// body learns the names of a node's children, which it leaves in names.
func (p *schemaPass) body(n datacenter.Node, el *element) (err error) {
	p.names, p.short = p.names[:0], p.short[:0]
	if n.ChildCount() > 0 {
		if p.short, err = n.AppendChildNames(p.short); err != nil {
			return err
		}
	}
	for _, name := range p.short {
		if name != 0 {
			p.names = append(p.names, vocab.NameID(name))
		}
	}
	p.learn.body(el, p.names)
	return nil
}

// tag learns a start tag.
func (p *schemaPass) tag(n datacenter.Node, el *element, parent bool) (err error) {
	e := p.e
	slot, key := e.tagSizes.slot(n, el, parent)
	if slot.key == key {
		return nil
	}
	*slot = tagSlot{key: key}
	if e.attrs, err = n.AppendAttributes(e.attrs[:0], nil); err != nil {
		return err
	}
	text, hint := false, 0
	for _, a := range e.attrs {
		if name := vocab.NameID(a.NameIndex()); name != e.voc.Value {
			hint = p.learn.attribute(el, name, a.Type(), hint) + 1
		} else {
			text = true
		}
	}
	p.learn.keys(el, e.voc.StoredKeys(n))
	p.learn.node(el, text && !parent)
	return nil
}
