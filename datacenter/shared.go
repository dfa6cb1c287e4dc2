package datacenter

// Run identifies a stored run of children or of attributes. Nodes that share their children
// have the same Run, so what you computed for one you can reuse for the other. The zero Run
// is that of a node without any.
type Run struct {
	// First is the place of the first child among all stored nodes, below
	// Counts.StoredNodes. For attributes it only distinguishes runs.
	First uint32
	// Count is the number of elements, placeholders included.
	Count uint16
}

// ChildRun returns the run of n's children.
func (n Node) ChildRun() Run {
	if n.raw.childCount == 0 {
		return Run{}
	}
	return Run{First: n.file.number(n.raw.childAddr), Count: n.raw.childCount}
}

// AttributeRun returns the run of n's attributes.
func (n Node) AttributeRun() Run {
	if n.raw.attrCount == 0 {
		return Run{}
	}
	return Run{First: uint32(n.raw.attrAddr.Segment)<<16 | uint32(n.raw.attrAddr.Element), Count: n.raw.attrCount}
}

// SharesChildren reports whether another node has the run of n's children, too, or a run that its
// first child is in. It is the same for all nodes with the run.
func (n Node) SharesChildren() bool {
	return n.raw.childCount > 0 && n.file.sharedNodes.shares(n.raw.childAddr)
}

// IsShared reports whether n is in the runs of more than one node.
func (n Node) IsShared() bool { return n.file.sharedNodes.shares(n.addr) }

// SharesAttributes is SharesChildren for the run of n's attributes.
func (n Node) SharesAttributes() bool {
	return n.raw.attrCount > 0 && n.file.sharedAttributes.shares(n.raw.attrAddr)
}

// KeyIndex returns the index of the node's key definition in [File.KeyDefinitions]. An
// index beyond them means the empty definition.
func (n Node) KeyIndex() uint16 { return n.raw.key }
