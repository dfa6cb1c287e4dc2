package xsd

import (
	"slices"
	"strings"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/spell"
	"lorefs/internal/shown"
)

// schemaTypes are the types of XML Schema that attributes may have. A data center can't
// hold values of others.
var schemaTypes = map[string]datacenter.Type{
	"int": datacenter.Int, "float": datacenter.Float, "string": datacenter.String, "boolean": datacenter.Bool,
}

// namedType reads a complex type of the schema's list.
func (r *schemaReader) namedType() error {
	name, at, err := r.name()
	if err != nil {
		return err
	}
	if r.types[name] != nil {
		return r.x.Errorf(at, "the type %s is declared twice", shown.Quote(name))
	}
	t, err := r.complexType()
	if err != nil {
		return err
	}
	t.Name = name
	r.types[name] = t
	return nil
}

// complexType reads an xsd:complexType, except its name.
func (r *schemaReader) complexType() (*readType, error) {
	t := &readType{declared: map[string]bool{}}
	r.all = append(r.all, t)
	if mixed, _, ok := r.value("mixed"); ok {
		t.Text = mixed == "true" || mixed == "1"
	}
	if err := r.keys(t); err != nil {
		return nil, err
	}
	err := r.children("complexType", func(name string) error {
		switch name {
		case "sequence":
			return r.sequence(t)
		case "simpleContent":
			return r.simpleContent(t)
		}
		return r.attribute(t, name)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(t.Attributes, func(a, b AttributeType) int { return spell.Compare(a.Name, b.Name) })
	return t, nil
}

// keys reads novadrop's dc:keys of a complex type.
func (r *schemaReader) keys(t *readType) error {
	list, at, ok := r.foreign(spell.SpaceNovadrop, "keys")
	if !ok {
		return nil
	}
	for item := range strings.FieldsSeq(list) {
		name, err := r.plain(item, at)
		if err != nil {
			return err
		}
		t.Keys = append(t.Keys, name)
	}
	if len(t.Keys) > form.MaxKeyNames {
		return r.x.Errorf(at, "%d keys: there can be %d", len(t.Keys), form.MaxKeyNames)
	}
	return nil
}

// sequence reads the children of a type.
func (r *schemaReader) sequence(t *readType) error {
	for _, name := range []string{"minOccurs", "maxOccurs"} {
		n, err := r.occurs(name)
		if err != nil {
			return err
		}
		if n != 1 {
			return r.x.Errorf(r.x.NameAt(), "a sequence with %s is not understood: want it on the elements", name)
		}
	}
	if t.children != nil {
		return r.x.Errorf(r.x.NameAt(), "a second sequence in one type")
	}
	seen := map[string]bool{}
	return r.children("sequence", func(name string) error {
		if name != "element" {
			return r.notUnderstood()
		}
		e, err := r.element()
		if err != nil {
			return err
		}
		if seen[e.name] {
			return r.x.Errorf(e.at, "the element %s comes twice in one sequence", shown.Quote(e.name))
		}
		seen[e.name] = true
		t.children = append(t.children, e)
		return nil
	})
}

// simpleContent reads a type whose elements have text and no children.
func (r *schemaReader) simpleContent(t *readType) error {
	return r.children("simpleContent", func(name string) error {
		if name != "extension" {
			return r.notUnderstood()
		}
		base, at, _ := r.value("base")
		space, local, err := r.qualified(base, at)
		if err != nil {
			return err
		}
		if space != spell.SpaceSchema || local != "string" {
			return r.x.Errorf(r.named("base"), "base=%s: the text of an element is an xsd:string", shown.Quote(base))
		}
		t.Text = true
		return r.children("extension", func(name string) error { return r.attribute(t, name) })
	})
}

// attribute reads an xsd:attribute, or skips one that allows others.
func (r *schemaReader) attribute(t *readType, element string) error {
	switch element {
	case "attribute":
	case "anyAttribute":
		return r.skip()
	default:
		return r.notUnderstood()
	}
	if _, _, reference := r.value("ref"); reference {
		return r.skip() // one of another namespace, which has no data
	}
	spelled, at, err := r.name()
	if err != nil {
		return err
	}
	a := AttributeType{}
	if a.Name, err = r.plain(spelled, at); err != nil {
		return err
	}
	if a.Type, err = r.attributeType(a.Name); err != nil {
		return err
	}
	use, _, _ := r.value("use")
	switch use {
	case "", "optional":
	case "required":
		a.Required = true
	default:
		return r.x.Errorf(r.named("use"), "use=%s: want required or optional", shown.Quote(use))
	}
	if t.declared[a.Name] {
		return r.x.Errorf(at, "the attribute %s comes twice in one type", shown.Quote(a.Name))
	}
	t.declared[a.Name] = true
	t.Attributes = append(t.Attributes, a)
	return r.empty("attribute")
}

func (r *schemaReader) attributeType(of string) (datacenter.Type, error) {
	name, at, ok := r.value("type")
	if !ok {
		return 0, r.x.Errorf(at, "the attribute %s has no type", shown.Quote(of))
	}
	space, local, err := r.qualified(name, at)
	if err != nil {
		return 0, err
	}
	t, ok := schemaTypes[local]
	if space != spell.SpaceSchema || !ok {
		return 0, r.x.Errorf(at, "the attribute %s is of type %s: want xsd:int, xsd:float, xsd:string or xsd:boolean", shown.Quote(of), shown.Quote(name))
	}
	return t, nil
}
