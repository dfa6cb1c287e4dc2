package dctest

import (
	"math"

	"lorefs/datacenter"
)

func nodeEdits() []edit {
	var edits []edit
	edits = append(edits, cycleEdits()...)
	edits = append(edits, runEdits()...)
	return append(edits, orderEdits()...)
}

// pointTo makes the node at one path the only child of that at another.
func (m *Image) pointTo(from, to []int) {
	target := m.Child(to...)
	at := m.nodeAt(from)
	m.Put16(at+NodeChildCount, 1)
	m.PutAddress(at+m.NodeChildAddress(), target)
}

func cycleEdits() []edit {
	return []edit{
		{"own child", "a node is its own child", AtVerify, func(m *Image) { m.pointTo(items, items) }},
		{"cycle of three", "a node is below itself", AtVerify, func(m *Image) { m.pointTo(end, quest) }},
		{"cycle through the root", "the root is below itself", AtVerify, func(m *Image) { m.pointTo(end, nil) }},
		{"root is its own child", "the root is its own child", AtVerify, func(m *Image) { m.pointTo(nil, nil) }},
	}
}

func runEdits() []edit {
	put := func(path []int, field int64, v uint16) func(*Image) {
		return func(m *Image) { m.Put16(m.nodeAt(path)+field, v) }
	}
	children := func(segment, element uint16) func(*Image) {
		return func(m *Image) {
			m.PutAddress(m.nodeAt(items)+m.NodeChildAddress(), datacenter.Address{Segment: segment, Element: element})
		}
	}
	attributes := func(segment, element uint16) func(*Image) {
		return func(m *Image) {
			m.PutAddress(m.nodeAt(sword)+NodeAttributeAddress, datacenter.Address{Segment: segment, Element: element})
		}
	}
	return []edit{
		{"children in no segment", "the address of children has no segment", AtRead, children(1, 0)},
		{"children at no element", "the address of children has no element", AtRead, children(0, 60000)},
		{"children nowhere", "there are children, but their address is 65535:65535", AtRead, children(65535, 65535)},
		{"children in the slack", "children are not in use", AtRead, children(0, subjectFull-2)},
		{"children across the end", "children go beyond the end of their segment", AtRead, children(0, subjectFull-1)},
		{"attributes in no segment", "the address of attributes has no segment", AtRead, attributes(1, 0)},
		{"attributes at no element", "the address of attributes has no element", AtRead, attributes(0, 60000)},
		{"attributes nowhere", "there are attributes, but their address is 65535:65535", AtRead, attributes(65535, 65535)},
		{"attributes in the slack", "attributes are not in use", AtRead, attributes(0, subjectFull-5)},
		{"attributes across the end", "attributes go beyond the end of their segment", AtRead, attributes(0, subjectFull-1)},
		{"child_count huge", "children go beyond the end of their segment", AtRead, put(items, NodeChildCount, math.MaxUint16)},
		{"child_count into the slack", "children are not in use", AtRead, put(items, NodeChildCount, 100)},
		{"attribute_count huge", "attributes go beyond the end of their segment", AtRead, put(sword, NodeAttributeCount, math.MaxUint16)},
		{"attribute_count into the slack", "attributes are not in use", AtRead, put(sword, NodeAttributeCount, 100)},
		{"node name out of range", "name_index is larger than the count of names", AtRead, put(sword, NodeName, math.MaxUint16)},
		{"key index out of range", "key_index is not below the count of keys", AtRead, put(sword, NodeKey, 4095<<4)},
		{"root is a placeholder", "the root has no name", AtOpen, put(nil, NodeName, 0)},
		{"root_count huge", "the sheets go beyond the end of their segment", AtRead, put(nil, NodeChildCount, math.MaxUint16)},
	}
}

func orderEdits() []edit {
	swap := func(a, b []int) func(*Image) {
		return func(m *Image) { m.swap(m.nodeAt(a), m.nodeAt(b), m.Nodes.Size) }
	}
	return []edit{
		{"children not sorted by name", "children are not in the order of their names", AtVerify, swap(items, quest)},
		{"children not sorted by key", "children are not in the order of their keys", AtVerify, swap(coat, sword)},
		{"root has another name", "the root is not called __root__", AtVerify, func(m *Image) {
			m.Put16(m.nodeAt(nil)+NodeName, m.U16(m.nodeAt(items)+NodeName))
		}},
		{"root has an attribute", "the root has an attribute", AtVerify, func(m *Image) {
			m.Put16(m.nodeAt(nil)+NodeAttributeCount, 1)
			m.PutAddress(m.nodeAt(nil)+NodeAttributeAddress, datacenter.Address{})
		}},
		{"second root", "a node that is not the root is called __root__", AtVerify, func(m *Image) {
			m.Put16(m.nodeAt(end)+NodeName, uint16(m.Index(&m.Names, RootName)))
		}},
		{"key flags", "key_flags has a bit without meaning", AtVerify, func(m *Image) {
			at := m.nodeAt(end) + NodeKey
			m.Put16(at, m.U16(at)|2)
		}},
	}
}
