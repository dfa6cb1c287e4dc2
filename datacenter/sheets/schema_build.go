package sheets

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/shown"
)

// A small file can have many paths with long names. In real schemas the longest type name
// has 163 bytes, and the largest schema less than 100 KB.
const (
	maxTypeName = 512
	// maxSchema is the largest size of a schema's text in bytes, approximately.
	maxSchema = 1 << 28
	// entryText is the approximate size of an element or attribute without its name.
	entryText = 100
)

// Schema returns the schema of the sheets of a family, including those of a draft.
func (f *Family) Schema(ctx context.Context) (*xsd.Schema, error) {
	if err := f.find(ctx); err != nil {
		return nil, err
	}
	if err := f.catchUp(ctx); err != nil {
		return nil, err
	}
	f.flight.mu.Lock()
	es := f.current()
	f.flight.mu.Unlock()
	return f.schema(es)
}

// schema returns the schema of settled elements.
func (f *Family) schema(es *elements) (*xsd.Schema, error) {
	b := schemaBuilder{voc: f.src.voc, types: make([]*xsd.ElementType, len(es.all)), taken: map[string]int{}}
	root := b.element(es.all[0], f.src.voc.Spelling(f.name).Element)
	if b.size > maxSchema {
		return nil, fmt.Errorf("sheets: the schema of %s has more than %d bytes: %w", shown.Quote(f.Name), maxSchema, datacenter.ErrTooLarge)
	}
	return &xsd.Schema{Sheet: f.Name, Root: root}, nil
}

// schemaBuilder makes one type for each element.
type schemaBuilder struct {
	voc   *vocab.Vocabulary
	types []*xsd.ElementType
	// taken has the names of types, with the number to append for the next type of that
	// name.
	taken map[string]int
	// size is the approximate size of the text, up to maxSchema.
	size int
}

func (b *schemaBuilder) element(el *element, name string) *xsd.ElementType {
	if t := b.types[el.id]; t != nil {
		return t
	}
	t := &xsd.ElementType{
		Name: b.unique(name), Keys: b.voc.KeySpelling(el.keys).Def, Text: el.text,
		Attributes: make([]xsd.AttributeType, len(el.attrs)), Children: make([]xsd.ChildType, len(el.kids)),
	}
	b.types[el.id] = t
	b.size += entryText + 2*len(t.Name) // its definition and its use
	for i, a := range el.attrs {
		t.Attributes[i] = xsd.AttributeType{Name: b.voc.Spelling(a.name).Raw, Type: a.typ, Required: a.seen == el.visits}
		b.size += entryText + len(t.Attributes[i].Name)
	}
	slices.SortFunc(t.Attributes, func(a, b xsd.AttributeType) int { return spell.Compare(a.Name, b.Name) })
	kids := slices.Clone(el.kids)
	slices.SortFunc(kids, func(x, y elementChild) int {
		return spell.Compare(b.voc.Spelling(x.name).Raw, b.voc.Spelling(y.name).Raw)
	})
	for i, c := range kids {
		s := b.voc.Spelling(c.name)
		if b.size += entryText + len(s.Element); b.size > maxSchema {
			return t
		}
		child := xsd.ChildType{Name: s.Raw, Max: 1}
		if c.seen == el.bodies {
			child.Min = 1
		}
		if c.repeated {
			child.Max = xsd.Unbounded
		}
		child.Type = b.element(c.elem, t.Name+"_"+s.Element)
		t.Children[i] = child
	}
	return t
}

// unique returns a type name that no other type has. A path that is longer than maxTypeName
// is not part of the name.
func (b *schemaBuilder) unique(name string) string {
	if len(name) > maxTypeName {
		name = "Type"
	}
	unique, n := name, b.taken[name]
	for ; b.taken[unique] > 0; n++ {
		unique = name + "_" + strconv.Itoa(n)
	}
	b.taken[name] = max(n, 2)
	b.taken[unique] = max(b.taken[unique], 2)
	return unique
}
