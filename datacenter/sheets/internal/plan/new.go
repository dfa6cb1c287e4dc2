package plan

import (
	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
	"lorefs/datacenter/sheets/internal/vocab"
)

// newRef is a node that the text wants: a node of the text or, if at is below 0, a node of
// the sheet that is equal to it.
type newRef struct {
	at  int32 // in planner.nodes
	old oldNode
}

// ref returns a node of the text.
func (p *planner) ref(at int32) newRef {
	if n := &p.nodes[at]; n.equal {
		return newRef{at: -1, old: n.old}
	}
	return newRef{at: at}
}

// wanted is an attribute that the text wants.
type wanted struct {
	name vocab.NameID
	typ  datacenter.Type // 0 if unknown
	text []byte
	at   int // the offset in the text, -1 if there is none
}

// wantedAttributes returns the attributes of a node, including __value__.
func (p *planner) wantedAttributes(y newRef) ([]wanted, error) {
	if y.at < 0 {
		return p.wantedOf(y.old, true)
	}
	n := &p.nodes[y.at]
	var list []wanted
	if n.like {
		var err error
		if list, err = p.wantedOf(n.old, false); err != nil {
			return nil, err
		}
	}
	for _, a := range p.attrs[n.attrFrom:n.attrTo] {
		list = append(list, wanted{name: a.name, typ: a.typ, text: p.bytes[a.from:a.to], at: a.at})
	}
	if n.hasText {
		list = append(list, wanted{
			name: p.names.id([]byte(spell.ValueName)), typ: datacenter.String, text: p.bytes[n.textFrom:n.textTo], at: n.textAt,
		})
	}
	return list, nil
}

// wantedOf returns the attributes of a node of the sheet.
func (p *planner) wantedOf(o oldNode, withValue bool) ([]wanted, error) {
	attrs, err := p.oldAttributes(o, nil)
	if err != nil {
		return nil, err
	}
	var list []wanted
	for i := range attrs {
		a := &attrs[i]
		if !withValue && p.names.name(a.Name) == spell.ValueName {
			continue
		}
		text, err := a.AppendText(nil)
		if err != nil {
			return nil, err
		}
		list = append(list, wanted{name: a.Name, typ: a.Type(), text: text, at: -1})
	}
	return list, nil
}

// newKid is a child of a newRef.
type newKid struct {
	name vocab.NameID
	newRef
}

// wantedKids returns the children of a node, in their order.
func (p *planner) wantedKids(y newRef) ([]newKid, error) {
	var list []newKid
	if y.at < 0 {
		kids, err := p.oldKids(y.old, nil)
		for _, k := range kids {
			list = append(list, newKid{k.name, newRef{at: -1, old: k.oldNode}})
		}
		return list, err
	}
	n := &p.nodes[y.at]
	for _, at := range p.kids[n.kidFrom:n.kidTo] {
		list = append(list, newKid{p.nodes[at].name, p.ref(at)})
	}
	return list, nil
}

// wantedKeys returns the key definition of a node, if it has one, and its flags.
func (p *planner) wantedKeys(y newRef) (keys datacenter.KeyDefinition, ok bool, flags datacenter.KeyFlags, err error) {
	switch {
	case y.at < 0:
		keys, flags, err = p.oldKeys(y.old)
		return keys, true, flags, err
	case p.nodes[y.at].like:
		keys, flags, err = p.oldKeys(p.nodes[y.at].old)
		return keys, true, flags, err
	}
	n := &p.nodes[y.at]
	return p.keys[n.keys], n.keys > 0, n.flags, nil
}
