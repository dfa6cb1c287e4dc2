package sheets

import (
	"context"
	"slices"
	"strconv"
)

// Schema gives the schema of the sheets of a family, those in a draft included.
func (f *Family) Schema(ctx context.Context) (*Schema, error) {
	if err := f.find(ctx); err != nil {
		return nil, err
	}
	if err := f.catchUp(ctx); err != nil {
		return nil, err
	}
	f.flight.mu.Lock()
	es := f.current()
	f.flight.mu.Unlock()
	b := schemaBuilder{voc: f.src.voc, types: make([]*ElementType, len(es.all)), taken: map[string]bool{}}
	return &Schema{Sheet: f.Name, Root: b.element(es.all[0], f.src.voc.spelling(f.name).element)}, nil
}

// schemaBuilder makes types of elements, each once.
type schemaBuilder struct {
	voc   *vocabulary
	types []*ElementType
	taken map[string]bool // names of types
}

func (b *schemaBuilder) element(el *element, name string) *ElementType {
	if t := b.types[el.id]; t != nil {
		return t
	}
	t := &ElementType{
		Name: b.unique(name), Keys: b.voc.keySpelling(el.keys).def, Text: el.text,
		Attributes: make([]AttributeType, len(el.attrs)), Children: make([]ChildType, len(el.kids)),
	}
	b.types[el.id] = t
	for i, a := range el.attrs {
		t.Attributes[i] = AttributeType{Name: b.voc.spelling(a.name).raw, Type: a.typ, Required: a.seen == el.visits}
	}
	slices.SortFunc(t.Attributes, func(a, b AttributeType) int { return CompareNames(a.Name, b.Name) })
	kids := slices.Clone(el.kids)
	slices.SortFunc(kids, func(x, y elementChild) int {
		return CompareNames(b.voc.spelling(x.name).raw, b.voc.spelling(y.name).raw)
	})
	for i, c := range kids {
		s := b.voc.spelling(c.name)
		child := ChildType{Name: s.raw, Max: 1}
		if c.seen == el.bodies {
			child.Min = 1
		}
		if c.repeated {
			child.Max = Unbounded
		}
		child.Type = b.element(c.elem, t.Name+"_"+s.element)
		t.Children[i] = child
	}
	return t
}

// unique gives a type a name that no other has.
func (b *schemaBuilder) unique(name string) string {
	unique := name
	for n := 2; b.taken[unique]; n++ {
		unique = name + "_" + strconv.Itoa(n)
	}
	b.taken[unique] = true
	return unique
}
