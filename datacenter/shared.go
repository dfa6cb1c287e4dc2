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

// EqualParts remembers which stored parts of two files were found to be equal,
// so that what is shared is compared once. What it forgets, because many parts of
// one file equal one of the other, is only compared again. It takes 8 bytes for
// each stored node and attribute of the first file, and one for each character.
type EqualParts struct {
	equals *equals
	values []segment
}

// NewEqualParts makes one for f and any one other file.
func NewEqualParts(f *File) *EqualParts {
	return &EqualParts{newEquals(f), f.regions.values.data}
}

// Children tells whether the children of x, a node of the first file, are known
// to equal those of y.
func (p *EqualParts) Children(x, y Node) bool {
	if x.raw.childCount == 0 || y.raw.childCount == 0 {
		return x.raw.childCount == y.raw.childCount
	}
	return p.equals.children.known(x.childRun(), y.childRun())
}

// NoteChildren notes that the children of x and y are equal.
func (p *EqualParts) NoteChildren(x, y Node) {
	if x.raw.childCount > 0 {
		p.equals.children.note(x.childRun(), y.childRun())
	}
}

// Attributes tells whether the attributes of x are known to equal those of y.
func (p *EqualParts) Attributes(x, y Node) bool {
	if x.raw.attrCount == 0 || y.raw.attrCount == 0 {
		return x.raw.attrCount == y.raw.attrCount
	}
	return p.equals.attrs.known(x.attrRun(), y.attrRun())
}

// NoteAttributes notes that the attributes of x and y are equal.
func (p *EqualParts) NoteAttributes(x, y Node) {
	if x.raw.attrCount > 0 {
		p.equals.attrs.note(x.attrRun(), y.attrRun())
	}
}

// Strings tells whether the values of x, of the first file, and of y, both of
// type String, are known to be equal. It is false for addresses where nothing is.
func (p *EqualParts) Strings(x, y Attribute) bool {
	return p.stored(x.StringAddress()) && p.equals.values.known(x.StringAddress(), y.StringAddress())
}

// NoteStrings notes that the values of x and y are equal.
func (p *EqualParts) NoteStrings(x, y Attribute) {
	if p.stored(x.StringAddress()) {
		p.equals.values.note(x.StringAddress(), y.StringAddress())
	}
}

// stored tells whether there is a character at an address. Open does not look at
// the values of attributes.
func (p *EqualParts) stored(addr Address) bool {
	_, err := run(p.values, addr, 1, charSize)
	return err == nil
}
