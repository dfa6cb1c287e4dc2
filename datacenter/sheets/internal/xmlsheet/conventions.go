package xmlsheet

import (
	"bytes"
	"fmt"
	"strconv"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/internal/xmltext"
	"lorefs/internal/shown"
)

// conventions splits the attributes of a start tag: those of the data go to the node, those
// of our namespace describe it, and others are ignored.
func (p *Parser) conventions() error {
	x := p.x
	var ours []*xmltext.Attr
	for i := range x.Attrs {
		a := &x.Attrs[i]
		if a.Name.Prefix == 0 {
			continue
		}
		space, err := x.Resolve(a.Name, a.At)
		if err != nil {
			return err
		}
		if space == spell.SpaceLore {
			ours = append(ours, a)
		}
	}
	for _, a := range ours {
		if string(a.Name.Local()) == "names" {
			if len(p.open) > 1 || string(a.Value) != "escaped" {
				return x.Errorf(a.At, `want dc:names="escaped", on the first element only`)
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

// attributes handles those of the data.
func (p *Parser) attributes() error {
	for i := range p.x.Attrs {
		a := &p.x.Attrs[i]
		if a.Name.Prefix > 0 || a.Declares() {
			continue
		}
		if string(a.Name.Full) == spell.ValueName {
			return p.x.Errorf(a.At, "an attribute %s: want the text between the tags, or dc:value", spell.ValueName)
		}
		name, err := p.name(a.Name.Full, a.At)
		if err != nil {
			return err
		}
		if len(a.Value) >= xmltext.LongText {
			if _, err := datacenter.StringValue(string(a.Value)); err != nil {
				return p.Wrong(a.At, string(name), err)
			}
		}
		p.node.Attributes = append(p.node.Attributes, Attribute{Name: name, Value: a.Value, Offset: a.At})
	}
	if p.escaped {
		return p.checkTwice()
	}
	return nil
}

// checkTwice refuses two spellings of one attribute name.
func (p *Parser) checkTwice() error {
	seen := make(map[string]bool, len(p.node.Attributes))
	for _, a := range p.node.Attributes {
		if seen[string(a.Name)] {
			return p.x.Errorf(a.Offset, "the attribute %s comes twice", shown.Quote(a.Name))
		}
		seen[string(a.Name)] = true
	}
	return nil
}

// convention handles an attribute of our namespace.
func (p *Parser) convention(a *xmltext.Attr) error {
	switch string(a.Name.Local()) {
	case "names":
		return nil
	case "value":
		n := &p.open[len(p.open)-1]
		n.value, n.has, n.at = true, true, a.From
		p.text = append(p.text, a.Value...)
		return nil
	case "flags":
		flags, err := strconv.ParseUint(string(a.Value), 10, 4)
		if err != nil {
			return p.Wrong(a.At, "dc:flags", fmt.Errorf("%w: %s is not a number from 0 to 15", datacenter.ErrValue, shown.Quote(a.Value)))
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
	return p.x.Errorf(a.At, "the attribute %s is unknown: want names, value, flags, keys, types or escaped", shown.Quote(a.Name.Full))
}

func (p *Parser) keys(a *xmltext.Attr) error {
	p.node.HasKeys = true
	p.node.Keys = datacenter.KeyDefinition{}
	for item := range bytes.FieldsSeq(a.Value) {
		name, err := p.name(item, a.From)
		if err != nil {
			return err
		}
		p.node.Keys = append(p.node.Keys, string(name))
	}
	if len(p.node.Keys) > form.MaxKeyNames {
		return p.x.TooLarge(a.From, "%d keys of a node, which can have %d", len(p.node.Keys), form.MaxKeyNames)
	}
	return nil
}

func (p *Parser) types(a *xmltext.Attr) error {
	for item := range bytes.FieldsSeq(a.Value) {
		colon := bytes.LastIndexByte(item, ':')
		if colon < 0 {
			return p.x.Errorf(a.At, "dc:types: %s: want name:type", shown.Quote(item))
		}
		t, err := datacenter.ParseType(string(item[colon+1:]))
		if err != nil {
			return p.Wrong(a.At, "dc:types", err)
		}
		at, err := p.named(item[:colon], a)
		if err != nil {
			return err
		}
		if at != nil {
			at.Type = t
		} else if t != datacenter.String {
			return p.Wrong(a.At, "dc:types", fmt.Errorf("%w: %s is a string, always", datacenter.ErrValue, spell.ValueName))
		}
	}
	return nil
}

// named finds an attribute by its spelling in a list; nil means the text.
func (p *Parser) named(spelled []byte, list *xmltext.Attr) (*Attribute, error) {
	if string(spelled) == spell.ValueName {
		return nil, nil
	}
	name, err := p.name(spelled, list.From)
	if err != nil {
		return nil, err
	}
	if i := p.index.find(p.node.Attributes, name); i >= 0 {
		return &p.node.Attributes[i], nil
	}
	return nil, p.x.Errorf(list.At, "%s names %s, which the element does not have", list.Name.Full, shown.Quote(spelled))
}

func (p *Parser) unescapeValues(list *xmltext.Attr) error {
	for item := range bytes.FieldsSeq(list.Value) {
		a, err := p.named(item, list)
		if err != nil {
			return err
		}
		if a == nil {
			p.open[len(p.open)-1].escaped = true
			continue
		}
		if a.Value, err = spell.UnescapeValue(a.Value); err != nil {
			return p.Wrong(a.Offset, string(a.Name), err)
		}
	}
	return nil
}
