package xsd

import (
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/spell"
)

// Schema describes the sheets of one name. It never changes, and is safe for parallel use.
type Schema struct {
	// Sheet is the name of the sheets, as the data center has it.
	Sheet string
	// Root is the type of a sheet's own node.
	Root *ElementType
}

// ElementType describes what the nodes of one path have in common. Types may form cycles: a child
// may have a type that is above it.
type ElementType struct {
	// Name is the name of the xsd:complexType, such as ItemData_Item, as spelled there.
	Name string
	// Keys are the key attributes of the nodes.
	Keys datacenter.KeyDefinition
	// Attributes are those other than __value__, sorted by their names' UTF-16 units.
	Attributes []AttributeType
	// Children are the child types, sorted by their names' UTF-16 units.
	Children []ChildType
	// Text is set if nodes without children may have a __value__. If there are Children as
	// well, the type is mixed.
	Text bool
}

// AttributeType is an attribute of an [ElementType].
type AttributeType struct {
	Name     string
	Type     datacenter.Type
	Required bool
}

// ChildType is a name of children, and their type.
type ChildType struct {
	Name string
	Type *ElementType
	// Min and Max are how many of them a node has; Max is [Unbounded] if there may be any
	// number.
	Min, Max int
}

// Unbounded is the Max of a child that may occur any number of times.
const Unbounded = -1

// Attribute finds an attribute by its name.
func (e *ElementType) Attribute(name string) (a AttributeType, ok bool) {
	i := e.AttributeIndex([]byte(name), 0)
	if i < 0 {
		return a, false
	}
	return e.Attributes[i], true
}

// AttributeIndex finds an attribute by its name, which is likely to be at hint, or returns
// -1.
func (e *ElementType) AttributeIndex(name []byte, hint int) int {
	if hint < len(e.Attributes) && e.Attributes[hint].Name == string(name) {
		return hint
	}
	i, ok := slices.BinarySearchFunc(e.Attributes, name, func(a AttributeType, name []byte) int {
		return spell.Compare(a.Name, name)
	})
	if ok {
		return i
	}
	return -1
}

// Child finds a child by its name.
func (e *ElementType) Child(name string) (c ChildType, ok bool) {
	i, ok := slices.BinarySearchFunc(e.Children, name, func(c ChildType, name string) int {
		return spell.Compare(c.Name, name)
	})
	if ok {
		c = e.Children[i]
	}
	return c, ok
}

// ChildIndex finds a child by its name, which is likely to be at hint or next to it, or
// returns -1.
func (e *ElementType) ChildIndex(name []byte, hint int) int {
	for i := hint; i < min(hint+2, len(e.Children)); i++ {
		if e.Children[i].Name == string(name) {
			return i
		}
	}
	i, ok := slices.BinarySearchFunc(e.Children, name, func(c ChildType, name []byte) int {
		return spell.Compare(c.Name, name)
	})
	if ok {
		return i
	}
	return -1
}
