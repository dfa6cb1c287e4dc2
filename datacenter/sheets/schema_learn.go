package sheets

import (
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/sheets/internal/vocab"
)

// learner infers the elements of a family from its nodes.
type learner struct {
	es *elements
	// extending says that sheets were encoded with the elements already, so what is known
	// must not change.
	extending bool
	// settled says that all nodes were visited once.
	settled bool
	// again is true if a node without keys occurred before its path got some.
	again bool
}

// attribute learns an attribute, and returns its place; hint is a likely one.
func (l *learner) attribute(el *element, name vocab.NameID, typ datacenter.Type, hint int) int {
	i, ok := el.attribute(name, hint)
	if !ok {
		el.attrs = slices.Insert(el.attrs, i, elementAttribute{name: name, typ: typ})
	}
	l.seen(el, i)
	return i
}

// seen learns an attribute that is known, by its place.
func (l *learner) seen(el *element, i int) {
	if !l.settled {
		el.attrs[i].seen++
	}
}

// keys learns a node's key definition.
func (l *learner) keys(el *element, keys vocab.KeyID) {
	switch {
	case el.keys != 0:
	case keys == 0:
		el.unkeyed = true
	case !l.extending || el.visits == 0:
		el.keys = keys
		l.again = l.again || el.unkeyed
	}
}

// node learns a node, after its attributes.
func (l *learner) node(el *element, text bool) {
	if !l.settled {
		el.visits++
	}
	el.text = el.text || text
}

// body learns a node's children from their names, in the file's order; a placeholder has the
// name 0. Nodes with the same children count once.
func (l *learner) body(el *element, names []vocab.NameID) {
	at, last := 0, vocab.NameID(0)
	for _, name := range names {
		if name == 0 {
			continue
		}
		if name != last {
			at, last = l.es.edge(el, name), name
		}
		el.kids[at].count++
	}
	if l.settled {
		return
	}
	el.bodies++
	for i := range el.kids {
		c := &el.kids[i]
		if c.count > 0 {
			c.seen++
		}
		c.repeated = c.repeated || c.count > 1
		c.count = 0
	}
}
