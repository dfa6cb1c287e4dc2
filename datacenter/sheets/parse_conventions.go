package sheets

import (
	"bytes"
	"fmt"
	"strconv"

	"lorefs/datacenter"
	"lorefs/internal/shown"
)

// conventions takes the attributes of a start tag apart: those of the data go to
// the node, those of our namespace tell more of it, and others mean nothing here.
func (p *Parser) conventions() error {
	x := p.x
	var ours []*xmlAttr
	for i := range x.attrs {
		a := &x.attrs[i]
		if a.name.prefix == 0 {
			continue
		}
		space, err := x.resolve(a.name, a.at)
		if err != nil {
			return err
		}
		if space == spaceLore {
			ours = append(ours, a)
		}
	}
	for _, a := range ours {
		if string(a.name.local()) == "names" {
			if len(p.open) > 1 || string(a.value) != "escaped" {
				return x.errorf(a.at, `want dc:names="escaped", on the first element only`)
			}
			p.escaped = true
		}
	}
	if err := p.attributes(); err != nil {
		return err
	}
	for _, a := range ours {
		if err := p.convention(a); err != nil {
			return err
		}
	}
	return nil
}

// attributes are those of the data.
func (p *Parser) attributes() error {
	for i := range p.x.attrs {
		a := &p.x.attrs[i]
		if a.name.prefix > 0 || a.declares() {
			continue
		}
		if string(a.name.full) == valueName {
			return p.x.errorf(a.at, "an attribute %s: want the text between the tags, or dc:value", valueName)
		}
		name, err := p.name(a.name.full, a.at)
		if err != nil {
			return err
		}
		if len(a.value) >= longText {
			if _, err := datacenter.StringValue(string(a.value)); err != nil {
				return p.Wrong(a.from, string(name), err)
			}
		}
		p.node.Attributes = append(p.node.Attributes, Attribute{Name: name, Value: a.value, Offset: a.from})
	}
	if p.escaped {
		return p.checkTwice()
	}
	return nil
}

// checkTwice refuses two attributes of one name that is spelled in two ways.
func (p *Parser) checkTwice() error {
	seen := make(map[string]bool, len(p.node.Attributes))
	for _, a := range p.node.Attributes {
		if seen[string(a.Name)] {
			return p.x.errorf(a.Offset, "the attribute %s comes twice", shown.Quote(a.Name))
		}
		seen[string(a.Name)] = true
	}
	return nil
}

// convention takes in an attribute of our namespace.
func (p *Parser) convention(a *xmlAttr) error {
	switch string(a.name.local()) {
	case "names":
		return nil
	case "value":
		n := &p.open[len(p.open)-1]
		n.value, n.has, n.at = true, true, a.from
		p.text = append(p.text, a.value...)
		return nil
	case "flags":
		flags, err := strconv.ParseUint(string(a.value), 10, 4)
		if err != nil {
			return p.Wrong(a.from, "dc:flags", fmt.Errorf("%w: %s is not a number from 0 to 15", datacenter.ErrValue, shown.Quote(a.value)))
		}
		p.node.Flags = datacenter.KeyFlags(flags)
		return nil
	case "keys":
		return p.keys(a)
	case "types":
		return p.types(a)
	case "escaped":
		return p.unescapeValues(a)
	}
	return p.x.errorf(a.at, "the attribute %s is unknown: want names, value, flags, keys, types or escaped", shown.Quote(a.name.full))
}

func (p *Parser) keys(a *xmlAttr) error {
	p.node.HasKeys = true
	p.node.Keys = datacenter.KeyDefinition{}
	for item := range bytes.FieldsSeq(a.value) {
		name, err := p.name(item, a.from)
		if err != nil {
			return err
		}
		p.node.Keys = append(p.node.Keys, string(name))
	}
	if len(p.node.Keys) > datacenter.MaxKeyNames {
		return p.x.tooLarge(a.from, "%d keys of a node, of which there can be %d", len(p.node.Keys), datacenter.MaxKeyNames)
	}
	return nil
}

func (p *Parser) types(a *xmlAttr) error {
	for item := range bytes.FieldsSeq(a.value) {
		colon := bytes.LastIndexByte(item, ':')
		if colon < 0 {
			return p.x.errorf(a.from, "dc:types: %s: want name:type", shown.Quote(item))
		}
		t, err := datacenter.ParseType(string(item[colon+1:]))
		if err != nil {
			return p.Wrong(a.from, "dc:types", err)
		}
		at, err := p.named(item[:colon], a)
		if err != nil {
			return err
		}
		if at != nil {
			at.Type = t
		} else if t != datacenter.String {
			return p.Wrong(a.from, "dc:types", fmt.Errorf("%w: %s is a string, always", datacenter.ErrValue, valueName))
		}
	}
	return nil
}

// named finds an attribute that a list names as the sheet spells it; it is nil for
// the text.
func (p *Parser) named(spelled []byte, list *xmlAttr) (*Attribute, error) {
	if string(spelled) == valueName {
		return nil, nil
	}
	name, err := p.name(spelled, list.from)
	if err != nil {
		return nil, err
	}
	if i := p.index.find(p.node.Attributes, name); i >= 0 {
		return &p.node.Attributes[i], nil
	}
	return nil, p.x.errorf(list.from, "%s names %s, which the element does not have", list.name.full, shown.Quote(spelled))
}

func (p *Parser) unescapeValues(list *xmlAttr) error {
	for item := range bytes.FieldsSeq(list.value) {
		a, err := p.named(item, list)
		if err != nil {
			return err
		}
		if a == nil {
			p.open[len(p.open)-1].escaped = true
			continue
		}
		if a.Value, err = unescapeValue(a.Value); err != nil {
			return p.Wrong(a.Offset, string(a.Name), err)
		}
	}
	return nil
}
