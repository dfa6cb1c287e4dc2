package plan

import (
	"errors"
	"fmt"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/infer"
	"lorefs/datacenter/sheets/internal/vocab"
	"lorefs/datacenter/sheets/xsd"
)

// pathTypes has the types of a path: in the sheets of the name, in an XSD, and in the text.
// Each may be nil.
type pathTypes struct {
	known, xsd *xsd.ElementType
	text       *textTypes
}

// typesHere returns the types of the current path.
func (p *planner) typesHere() *pathTypes {
	t := &pathTypes{known: p.known(), text: p.surveyed()}
	if p.xsd != nil {
		t.xsd = p.xsd.Root
	}
	for _, name := range p.path[1:] {
		t = t.child(p, name)
	}
	return t
}

// child returns the types of the path of a child.
func (t *pathTypes) child(p *planner, name vocab.NameID) *pathTypes {
	below := &pathTypes{}
	below.known = childType(t.known, p.names.name(name))
	below.xsd = childType(t.xsd, p.names.name(name))
	if t.text != nil {
		below.text = t.text.kids[name]
	}
	return below
}

func childType(e *xsd.ElementType, name string) *xsd.ElementType {
	if e == nil {
		return nil
	}
	c, ok := e.Child(name)
	if !ok {
		return nil
	}
	return c.Type
}

// attribute returns the type for a new attribute.
func (t *pathTypes) attribute(name vocab.NameID, text string) datacenter.Type {
	for _, e := range []*xsd.ElementType{t.known, t.xsd} {
		if e == nil {
			continue
		}
		if a, ok := e.Attribute(text); ok {
			return a.Type
		}
	}
	if t.text != nil {
		return t.text.attrs[name].Type()
	}
	return datacenter.String
}

// keys returns the key definition for a new node.
func (t *pathTypes) keys() datacenter.KeyDefinition {
	switch {
	case t.known != nil:
		return t.known.Keys
	case t.xsd != nil:
		return t.xsd.Keys
	}
	return nil
}

// textTypes has the types that fit the attributes of a path and of those below it, by their
// values in the text. Nodes that are equal to existing ones do not count.
type textTypes struct {
	attrs map[vocab.NameID]infer.Types
	kids  map[vocab.NameID]*textTypes
}

func newTextTypes() *textTypes {
	return &textTypes{attrs: map[vocab.NameID]infer.Types{}, kids: map[vocab.NameID]*textTypes{}}
}

// surveyed collects the types of the text on its first call.
func (p *planner) surveyed() *textTypes {
	if p.survey == nil {
		p.survey = newTextTypes()
		p.look(p.survey, 0)
	}
	return p.survey
}

func (p *planner) look(s *textTypes, at int32) {
	n := &p.nodes[at]
	if n.equal {
		return
	}
	for _, a := range p.attrs[n.attrFrom:n.attrTo] {
		set, ok := s.attrs[a.name]
		if !ok {
			set = infer.Any
		}
		if a.typ == 0 {
			set = set.With(p.bytes[a.from:a.to])
		}
		s.attrs[a.name] = set
	}
	for _, kid := range p.kids[n.kidFrom:n.kidTo] {
		name := p.nodes[kid].name
		below := s.kids[name]
		if below == nil {
			below = newTextTypes()
			s.kids[name] = below
		}
		p.look(below, kid)
	}
}

// value parses the value of an attribute.
func (p *planner) value(t datacenter.Type, w *wanted) (datacenter.Value, error) {
	v, err := datacenter.ParseValue(t, string(w.text))
	if err == nil {
		p.respelled = p.respelled || t != datacenter.String && v.Text() != string(w.text)
		return v, nil
	}
	where := fmt.Sprintf("%s %s", p.names.name(p.path[len(p.path)-1]), p.names.name(w.name))
	if w.at < 0 || !errors.Is(err, datacenter.ErrValue) && !errors.Is(err, datacenter.ErrTooLarge) {
		return v, fmt.Errorf("%s: %w", where, err)
	}
	return v, p.parser.Wrong(w.at, where, err)
}
