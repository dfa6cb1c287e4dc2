package sheets

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/datacenter/sheets/xsd"
)

// Outline is a schema for the sheets of a family, from anywhere.
type Outline struct{ elements *elements }

// Outline returns a schema as [Source.WritePlain] needs it. The family must be of a file without
// a draft.
func (f *Family) Outline(schema *xsd.Schema) *Outline {
	b := outlining{src: f.src, names: f.src.voc.ByText(), made: map[*xsd.ElementType]*element{}}
	return &Outline{&elements{all: []*element{b.element(schema.Root, f.name)}}}
}

// outlining makes an element of each type of a schema.
type outlining struct {
	src   *Source
	names map[string]vocab.NameID
	made  map[*xsd.ElementType]*element
}

// element returns the element of a type, for nodes of a name. Names that the file does not have
// are left out: none of its nodes has them.
func (b *outlining) element(t *xsd.ElementType, name vocab.NameID) *element {
	if el := b.made[t]; el != nil {
		return el
	}
	el := &element{
		id: int(b.src.outlined.Add(1)), name: name, keys: b.src.voc.Key(t.Keys), text: t.Text, odd: true, visits: 1, bodies: 1,
	}
	b.made[t] = el
	for i := range t.Attributes {
		a := &t.Attributes[i]
		if name, ok := b.names[a.Name]; ok {
			el.attrs = append(el.attrs, elementAttribute{name: name, typ: a.Type, seen: required(a.Required)})
		}
	}
	slices.SortFunc(el.attrs, func(a, b elementAttribute) int { return cmp.Compare(a.name, b.name) })
	for i := range t.Children {
		c := &t.Children[i]
		if name, ok := b.names[c.Name]; ok {
			kid := b.element(c.Type, name)
			el.kids = append(el.kids, elementChild{name: name, elem: kid, seen: required(c.Min > 0), repeated: c.Max != 1})
		}
	}
	slices.SortFunc(el.kids, func(a, b elementChild) int { return cmp.Compare(a.name, b.name) })
	return el
}

// ErrNotPlain means that a sheet departs from a schema, so that it needs more than its values.
var ErrNotPlain = errors.New("the sheet has nodes that are not plain")

// firstPart is the size of the first part that WritePlain writes. It is small, since most sheets
// that differ from others do so early.
const firstPart = 2 << 10

// WritePlain writes a sheet of the file to w as [Source.WriteSheet] would if the schema of its
// family were another one. So it has to know neither the family's own schema nor the size of the
// sheet. The error is [ErrNotPlain] if a part of the sheet is not in the schema, or if the sheet
// has anything of the extra namespace. Parts of it may have been written then.
func (s *Source) WritePlain(ctx context.Context, w io.Writer, sheet Sheet, o *Outline) error {
	e, err := s.encoder(ctx)
	if err != nil {
		return err
	}
	defer s.release(e)
	e.tag.plain = true
	_, err = e.write(ctx, w, view{sheet: sheet, elements: o.elements}, firstPart)
	if errors.Is(err, errSchema) {
		return ErrNotPlain
	}
	return err
}
