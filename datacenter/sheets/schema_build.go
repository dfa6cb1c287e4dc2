package sheets

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/spell"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/datacenter/sheets/xsd"
	"lorefs/internal/shown"
)

// A small file can have many paths, of names that are long. The longest name of a type
// in real schemas has 163 bytes, and the largest schema less than 100 KB.
const (
	maxTypeName = 512
	// maxSchema bounds a schema's text, about, in bytes.
	maxSchema = 1 << 28
	// entryText is about how many bytes an element or attribute has besides its name.
	entryText = 100
)

// Schema gives the schema of the sheets of a family, those in a draft included.
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
	b := schemaBuilder{voc: f.src.voc, types: make([]*xsd.ElementType, len(es.all)), taken: map[string]int{}}
	root := b.element(es.all[0], f.src.voc.Spelling(f.name).Element)
	if b.size > maxSchema {
		return nil, fmt.Errorf("sheets: the schema of %s has more than %d bytes: %w", shown.Quote(f.Name), maxSchema, datacenter.ErrTooLarge)
	}
	return &xsd.Schema{Sheet: f.Name, Root: root}, nil
}

// schemaBuilder makes types of elements, each once.
type schemaBuilder struct {
	voc   *vocab.Vocabulary
	types []*xsd.ElementType
	// taken are the names of types, with the number that the next one of that name
	// gets behind it.
	taken map[string]int
	// size is about how long the text gets. It is no schema beyond maxSchema.
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
	b.size += entryText + 2*len(t.Name) // where it is said, and where it is used
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

// unique gives a type a name that no other has. What would be longer than maxTypeName
// gets one that does not tell its path.
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
