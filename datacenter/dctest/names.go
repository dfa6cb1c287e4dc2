package dctest

import (
	"cmp"
	"slices"
	"strings"
)

// element is all the nodes of one path, merged. novadrop sorts names by these.
type element struct {
	name     string
	keys     nameSet
	attrs    nameSet
	children []*element
	byName   map[string]*element
}

// nameSet keeps names in the order of first sight.
type nameSet struct {
	list []string
	seen map[string]bool
}

func (s *nameSet) add(name string) {
	if s.seen[name] {
		return
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[name] = true
	s.list = append(s.list, name)
}

func (e *element) child(name string) *element {
	if c := e.byName[name]; c != nil {
		return c
	}
	if e.byName == nil {
		e.byName = map[string]*element{}
	}
	c := &element{name: name}
	e.byName[name] = c
	e.children = append(e.children, c)
	return c
}

// visit is one node at one path. Visits must be remembered, because nodes with several
// parents may have more ways to them than anyone can walk.
type visit struct {
	element *element
	node    *Node
}

func (e *element) merge(n *Node, seen map[visit]bool) {
	for _, key := range n.Keys {
		if key != "" {
			e.keys.add(key)
		}
	}
	for _, attr := range n.Attrs {
		e.attrs.add(attr.Name)
	}
	if len(n.Children) == 0 || seen[visit{e, n}] {
		return
	}
	seen[visit{e, n}] = true
	for _, c := range n.Children {
		if !c.Placeholder {
			e.child(c.Name).merge(c, seen)
		}
	}
}

// appendNames appends the names in novadrop's order: a path's own name, its key attributes,
// its other attributes, its children, each group ignoring case.
func (e *element) appendNames(names *nameSet) {
	names.add(e.name)
	for _, group := range [][]string{e.keys.list, e.attrs.list} {
		slices.SortStableFunc(group, compareFold)
		for _, name := range group {
			names.add(name)
		}
	}
	slices.SortStableFunc(e.children, func(a, b *element) int { return compareFold(a.name, b.name) })
	for _, c := range e.children {
		c.appendNames(names)
	}
}

func compareFold(a, b string) int { return cmp.Compare(strings.ToUpper(a), strings.ToUpper(b)) }

// sortedNames returns all names of a data center in the order of their indices.
func sortedNames(d Doc, noSpecial bool) []string {
	root := &element{name: d.Root.Name}
	root.merge(d.Root, map[visit]bool{})
	var used nameSet
	root.appendNames(&used)

	var names nameSet
	for _, name := range d.Names {
		names.add(name)
	}
	for _, key := range d.Keys {
		for _, name := range key {
			if name != "" {
				names.add(name)
			}
		}
	}
	for _, name := range used.list {
		if name != RootName && name != ValueName {
			names.add(name)
		}
	}
	if !noSpecial {
		names.add(RootName)
		names.add(ValueName)
	}
	return names.list
}
