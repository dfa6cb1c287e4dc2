package datacenter

// Run names a stored run of children, or one of attributes. Nodes that share their
// children have the same Run, so what was found out of one needs not be found out
// again. The zero Run is that of a node without any.
type Run struct {
	// First is the place of the first child among all stored nodes, below
	// Counts.StoredNodes. Of attributes it has no meaning but to tell runs apart.
	First uint32
	// Count is how many there are, placeholders included.
	Count uint16
}

// ChildRun names the run of n's children.
func (n Node) ChildRun() Run {
	if n.raw.childCount == 0 {
		return Run{}
	}
	return Run{First: n.file.number(n.raw.childAddr), Count: n.raw.childCount}
}

// AttributeRun names the run of n's attributes.
func (n Node) AttributeRun() Run {
	if n.raw.attrCount == 0 {
		return Run{}
	}
	return Run{First: uint32(n.raw.attrAddr.Segment)<<16 | uint32(n.raw.attrAddr.Element), Count: n.raw.attrCount}
}

// KeyIndex is the place of the node's key definition in [File.KeyDefinitions]. It
// may be beyond them, which means the empty definition.
func (n Node) KeyIndex() uint16 { return n.raw.key }
