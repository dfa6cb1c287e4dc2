package form

import "fmt"

// The largest sizes of a node and of an attribute in a file of any layout.
const (
	MaxNodeSize      = 24
	MaxAttributeSize = 12
)

// Node reads the node at addr. It returns an error for a placeholder, and for a node that no path from the
// root leads to, since such a node has not been checked.
func (f *File) Node(addr Address) (Node, error) {
	size := int(f.Layout.NodeSize())
	off, err := Run(f.Regions.Nodes, addr, 1, int64(size))
	if err != nil {
		return Node{}, fmt.Errorf("datacenter: node %v: %w", addr, err)
	}
	var scratch [MaxNodeSize]byte
	b, err := f.View(off, size, scratch[:])
	if err != nil {
		return Node{}, err
	}
	n := ParseNode(b, f.Layout)
	if n.Name == 0 {
		return Node{}, nodeError(addr, off, "a placeholder where a node is expected")
	}
	if f.Entries != nil && f.EntriesOf(addr) == 0 {
		return Node{}, fmt.Errorf("datacenter: node %v: no path leads to it: %w", addr, ErrAddress)
	}
	return n, nil
}

// RawAttribute reads the attribute at addr. Nobody has checked it.
func (f *File) RawAttribute(addr Address) (Attribute, error) {
	size := int(f.Layout.AttributeSize())
	off, err := Run(f.Regions.Attributes, addr, 1, int64(size))
	if err != nil {
		return Attribute{}, fmt.Errorf("datacenter: attribute %v: %w", addr, err)
	}
	var scratch [MaxAttributeSize]byte
	b, err := f.View(off, size, scratch[:])
	if err != nil {
		return Attribute{}, err
	}
	return ParseAttribute(b), nil
}

// Decode returns the type of the stored attribute r at addr, or an error that says what is wrong with r.
func (f *File) Decode(addr Address, r Attribute) (Type, error) {
	if r.Name == 0 || int(r.Name) > len(f.Names) {
		return 0, f.BadAttribute(addr, "name index %d: want 1 to %d", r.Name, len(f.Names))
	}
	typ, err := r.DecodeType()
	if err != nil {
		return typ, f.BadAttribute(addr, "%w", err)
	}
	if r.Name == f.ValueName && typ != String {
		return typ, f.BadAttribute(addr, "%s is of type %v: want string", ValueName, typ)
	}
	return typ, nil
}

// StoredAttributes returns a run of attributes.
func (f *File) StoredAttributes(addr Address, count uint16) ([]Attribute, error) {
	size := int(f.Layout.AttributeSize())
	attrs := make([]Attribute, 0, count)
	err := f.eachElement(f.Regions.Attributes, addr, int(count), size, func(b []byte) {
		attrs = append(attrs, ParseAttribute(b))
	})
	return attrs, err
}

// StoredChildren returns the run of a node's children, placeholders included.
func (f *File) StoredChildren(n Node) ([]Node, error) {
	return f.AppendRun(make([]Node, 0, n.ChildCount), n.ChildRun())
}

// AppendRun appends a run of children, placeholders included.
func (f *File) AppendRun(dst []Node, r RunKey) ([]Node, error) {
	err := f.eachElement(f.Regions.Nodes, r.Addr, int(r.Count), int(f.Layout.NodeSize()), func(b []byte) {
		dst = append(dst, ParseNode(b, f.Layout))
	})
	return dst, err
}

// eachElement passes the elements of a run, of size bytes, to visit.
func (f *File) eachElement(segs []Segment, addr Address, count, size int, visit func(b []byte)) error {
	if count == 0 {
		return nil
	}
	off, err := Run(segs, addr, count, int64(size))
	if err != nil {
		return fmt.Errorf("datacenter: %w", err)
	}
	var scratch [MaxNodeSize]byte
	for count > 0 {
		b, err := f.Elements(off, count, size, scratch[:])
		if err != nil {
			return err
		}
		count -= len(b) / size
		off += int64(len(b))
		for ; len(b) >= size; b = b[size:] {
			visit(b)
		}
	}
	return nil
}

// Number returns the place of the node at addr, which must exist, among all stored ones.
func (f *File) Number(addr Address) uint32 {
	return f.Base[addr.Segment] + uint32(addr.Element)
}

// EntriesOf returns the number of logical nodes and attributes in the subtree of the node at addr, which must
// exist, itself included.
func (f *File) EntriesOf(addr Address) uint32 { return f.Entries[f.Number(addr)] }

// NodeOffset returns the offset of the node at addr, which must exist.
func (f *File) NodeOffset(addr Address) int64 {
	return f.Regions.Nodes[addr.Segment].Off + int64(addr.Element)*f.Layout.NodeSize()
}

// AttributeOffset returns the offset of the attribute at addr, which must exist.
func (f *File) AttributeOffset(addr Address) int64 {
	return f.Regions.Attributes[addr.Segment].Off + int64(addr.Element)*f.Layout.AttributeSize()
}

// BadNode returns an error about the node at addr.
func (f *File) BadNode(addr Address, format string, args ...any) error {
	return nodeError(addr, f.NodeOffset(addr), format, args...)
}

// BadAttribute returns an error about the attribute at addr.
func (f *File) BadAttribute(addr Address, format string, args ...any) error {
	return attributeError(addr, f.AttributeOffset(addr), format, args...)
}
