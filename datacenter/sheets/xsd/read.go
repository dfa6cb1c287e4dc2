package xsd

import (
	"bytes"
	"slices"
	"strconv"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/internal/xmltext"
	"lorefs/internal/shown"
)

// Read reads an XSD in the form of novadrop-dc's own and inferred schemas, which is also
// this package's: a flat list of named complex types with sequences of elements, attributes
// of the types xsd:int, xsd:float, xsd:string and xsd:boolean, and one element, which is
// the sheet. Other forms are refused, because a guess would pack wrong values. file is the
// name for errors, which are a SyntaxError of package sheets.
func Read(file string, data []byte) (*Schema, error) {
	x, err := xmltext.New(file, data)
	if err != nil {
		return nil, err
	}
	x.MaxDepth = schemaDepth
	r := &schemaReader{x: x, types: map[string]*readType{}}
	if err := r.schema(); err != nil {
		return nil, err
	}
	return r.link()
}

// schemaDepth bounds how deep the elements of a schema nest.
const schemaDepth = 128

// schemaReader collects what a schema declares. Types are resolved at the end, since they
// may be used before, and in themselves.
type schemaReader struct {
	x       *xmltext.Reader
	escaped bool // names are
	types   map[string]*readType
	all     []*readType
	sheet   *readChild
}

// readType is a complex type, and the names of the types of its children.
type readType struct {
	ElementType
	children []readChild
	declared map[string]bool // attributes
}

// readChild is an xsd:element.
type readChild struct {
	name     string
	of       *readType // declared inside of it
	typeName string    // if of is nil
	min, max int
	at       int
}

// schema reads the whole file.
func (r *schemaReader) schema() error {
	// The first token can only be a start tag: text would be an error.
	if _, err := r.x.Next(); err != nil {
		return err
	}
	name, err := r.local()
	if err != nil {
		return err
	}
	if name != "schema" {
		return r.x.Errorf(r.x.NameAt(), "the element %s: want xsd:schema", shown.Quote(r.x.Name.Full))
	}
	if names, _, ok := r.foreign(spell.SpaceLore, "names"); ok {
		r.escaped = names == "escaped"
	}
	return r.children("schema", func(name string) error {
		switch name {
		case "complexType":
			return r.namedType()
		case "element":
			return r.sheetElement()
		case "import":
			return r.skip()
		}
		return r.notUnderstood()
	})
}

// children calls visit for each child of the open element, by its local name. visit must
// read the child to its end.
func (r *schemaReader) children(of string, visit func(name string) error) error {
	for {
		token, err := r.x.Next()
		if err != nil {
			return err
		}
		switch token {
		case xmltext.EndTag:
			r.x.Pop()
			return nil
		case xmltext.TextPiece:
			if !r.x.Blank {
				return r.x.Errorf(r.x.TextAt(), "text in xsd:%s", of)
			}
			continue
		}
		name, err := r.local()
		switch {
		case err != nil:
			return err
		case name == "annotation":
			err = r.skip()
		case name == "":
			err = r.notUnderstood()
		default:
			err = visit(name)
		}
		if err != nil {
			return err
		}
	}
}

// local returns the name of the element that began, if it is one of XML Schema.
func (r *schemaReader) local() (string, error) {
	space, err := r.x.Resolve(r.x.Name, r.x.NameAt())
	if err != nil || space != spell.SpaceSchema {
		return "", err
	}
	return string(r.x.Name.Local()), nil
}

func (r *schemaReader) notUnderstood() error {
	return r.x.Errorf(r.x.NameAt(), "%s is not understood here", shown.Quote(r.x.Name.Full))
}

// skip reads to the end of the element that began.
func (r *schemaReader) skip() error {
	for depth := r.x.Depth(); r.x.Depth() >= depth; {
		token, err := r.x.Next()
		if err != nil {
			return err
		}
		if token == xmltext.EndTag {
			r.x.Pop()
		}
	}
	return nil
}

// empty reads the end of an element without content.
func (r *schemaReader) empty(of string) error {
	return r.children(of, func(string) error { return r.notUnderstood() })
}

// value returns an attribute of the element that began, without white space around it. at
// is where the value begins or, if there is none, the name of the element.
func (r *schemaReader) value(name string) (value string, at int, ok bool) {
	for i := range r.x.Attrs {
		if a := &r.x.Attrs[i]; string(a.Name.Full) == name {
			return string(bytes.TrimSpace(a.Value)), a.From, true
		}
	}
	return "", r.x.NameAt(), false
}

// named returns where the attribute called name of the element that began is.
func (r *schemaReader) named(name string) int {
	for i := range r.x.Attrs {
		if a := &r.x.Attrs[i]; string(a.Name.Full) == name {
			return a.At
		}
	}
	return r.x.NameAt()
}

// foreign returns an attribute of another namespace.
func (r *schemaReader) foreign(space, name string) (value string, at int, ok bool) {
	for i := range r.x.Attrs {
		a := &r.x.Attrs[i]
		if a.Name.Prefix == 0 || string(a.Name.Local()) != name {
			continue
		}
		if uri, err := r.x.Resolve(a.Name, a.At); err == nil && uri == space {
			return string(a.Value), a.From, true
		}
	}
	return "", r.x.NameAt(), false
}

// name returns the attribute called name, spelled as in the schema.
func (r *schemaReader) name() (string, int, error) {
	name, at, ok := r.value("name")
	if !ok {
		return "", at, r.x.Errorf(at, "%s has no name", shown.Quote(r.x.Name.Full))
	}
	for i, c := range name {
		if !spell.NameChar(c, i == 0) {
			return "", at, r.x.Errorf(at, "the name %s: %q may not be in a name, or not there", shown.Quote(name), c)
		}
	}
	if name == "" {
		return "", at, r.x.Errorf(at, "an empty name")
	}
	return name, at, nil
}

// plain returns a name as the data center has it.
func (r *schemaReader) plain(spelled string, at int) (string, error) {
	name := spelled
	if r.escaped {
		name = string(spell.UnescapeName([]byte(spelled)))
	}
	if err := datacenter.CheckName(name); err != nil {
		return "", r.x.Wrap(at, "", err)
	}
	return name, nil
}

// sheetElement reads the element for the sheet.
func (r *schemaReader) sheetElement() error {
	at := r.x.NameAt()
	e, err := r.element()
	if err == nil && r.sheet != nil {
		err = r.x.Errorf(at, "a second element in xsd:schema: there is one, the sheet")
	}
	r.sheet = &e
	return err
}

// element reads an xsd:element.
func (r *schemaReader) element() (readChild, error) {
	e := readChild{min: 1, max: 1}
	spelled, at, err := r.name()
	if err != nil {
		return e, err
	}
	e.at = at
	if e.name, err = r.plain(spelled, at); err != nil {
		return e, err
	}
	if e.min, err = r.occurs("minOccurs"); err != nil {
		return e, err
	}
	if e.max, err = r.occurs("maxOccurs"); err != nil {
		return e, err
	}
	typeName, at, named := r.value("type")
	if named {
		if e.typeName, e.of, err = r.elementType(typeName, at); err != nil {
			return e, err
		}
		return e, r.empty("element")
	}
	err = r.children("element", func(name string) error {
		if name != "complexType" || e.of != nil {
			return r.notUnderstood()
		}
		var err error
		e.of, err = r.complexType()
		return err
	})
	if err == nil && e.of == nil {
		err = r.x.Errorf(e.at, "the element %s has no type", shown.Quote(e.name))
	}
	return e, err
}

// elementType returns the type that a name stands for: one of the schema's own, or one that
// is only text.
func (r *schemaReader) elementType(name string, at int) (own string, text *readType, err error) {
	space, local, err := r.qualified(name, at)
	switch {
	case err != nil:
		return "", nil, err
	case space != spell.SpaceSchema:
		return local, nil, nil
	case local != "string":
		return "", nil, r.x.Errorf(at, "an element of type %s: the text of an element is an xsd:string", shown.Quote(name))
	}
	text = &readType{ElementType: ElementType{Text: true}}
	r.all = append(r.all, text)
	return "", text, nil
}

// qualified splits a name in a value.
func (r *schemaReader) qualified(name string, at int) (space, local string, err error) {
	full := []byte(name)
	q := xmltext.Name{Full: full, Prefix: bytes.IndexByte(full, ':') + 1}
	space, err = r.x.Resolve(q, at)
	return space, string(q.Local()), err
}

// occurs returns minOccurs or maxOccurs, by default 1.
func (r *schemaReader) occurs(name string) (int, error) {
	text, _, ok := r.value(name)
	switch {
	case !ok:
		return 1, nil
	case name == "maxOccurs" && text == "unbounded":
		return Unbounded, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, r.x.Errorf(r.named(name), "%s=%s: want a number, or unbounded as maxOccurs", name, shown.Quote(text))
	}
	return int(n), nil
}

// link replaces the names of types by the types.
func (r *schemaReader) link() (*Schema, error) {
	if r.sheet == nil {
		return nil, r.x.Errorf(len(r.x.Data), "the schema has no element")
	}
	for _, t := range r.all {
		for _, c := range t.children {
			of, err := r.typeOf(&c)
			if err != nil {
				return nil, err
			}
			t.Children = append(t.Children, ChildType{Name: c.name, Type: of, Min: c.min, Max: c.max})
		}
		slices.SortFunc(t.Children, func(a, b ChildType) int { return spell.Compare(a.Name, b.Name) })
	}
	root, err := r.typeOf(r.sheet)
	if err != nil {
		return nil, err
	}
	return &Schema{Sheet: r.sheet.name, Root: root}, nil
}

func (r *schemaReader) typeOf(c *readChild) (*ElementType, error) {
	of := c.of
	if of == nil {
		of = r.types[c.typeName]
	}
	if of == nil {
		return nil, r.x.Errorf(c.at, "the type %s of the element %s is not declared", shown.Quote(c.typeName), shown.Quote(c.name))
	}
	return &of.ElementType, nil
}
