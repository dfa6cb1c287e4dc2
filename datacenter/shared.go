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
	if n.raw.ChildCount == 0 {
		return Run{}
	}
	return Run{First: n.in.Number(n.raw.ChildAddr), Count: n.raw.ChildCount}
}

// AttributeRun returns the run of n's attributes.
func (n Node) AttributeRun() Run {
	if n.raw.AttrCount == 0 {
		return Run{}
	}
	return Run{First: uint32(n.raw.AttrAddr.Segment)<<16 | uint32(n.raw.AttrAddr.Element), Count: n.raw.AttrCount}
}

// SharesChildren reports whether another node has the run of n's children, too, or a run that its
// first child is in. It is the same for all nodes with the run.
func (n Node) SharesChildren() bool {
	return n.raw.ChildCount > 0 && n.in.SharedNodes.Shares(n.raw.ChildAddr)
}

// IsShared reports whether n is in the runs of more than one node.
func (n Node) IsShared() bool { return n.in.SharedNodes.Shares(n.addr) }

// SharesAttributes is SharesChildren for the run of n's attributes.
func (n Node) SharesAttributes() bool {
	return n.raw.AttrCount > 0 && n.in.SharedAttributes.Shares(n.raw.AttrAddr)
}

// KeyIndex returns the index of the node's key definition in [File.KeyDefinitions]. An
// index beyond them means the empty definition.
func (n Node) KeyIndex() uint16 { return n.raw.Key }
