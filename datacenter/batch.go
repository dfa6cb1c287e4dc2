package datacenter

import (
	"slices"

	"lorefs/datacenter/internal/form"
)

// Reading runs in pieces: for walks of a large tree that have to stop and resume anywhere, and
// for comparisons of many nodes.

// AppendChildren appends at most limit nodes of the run of children, from place i on. A
// placeholder is appended as a node whose NameIndex is 0; use nothing else of it.
func (n Node) AppendChildren(dst []Node, i, limit int) ([]Node, error) {
	f, size := n.in, int(n.in.Layout.NodeSize())
	var scratch [form.MaxNodeSize]byte
	end := min(i+limit, int(n.raw.ChildCount))
	for dst = slices.Grow(dst, max(end-i, 0)); i < end; {
		b, err := n.storedChildren(i, end, scratch[:])
		if err != nil {
			return dst, err
		}
		for ; len(b) >= size; b = b[size:] {
			dst = dst[:len(dst)+1]
			c := &dst[len(dst)-1]
			c.in, c.addr = f, n.ChildAddress(i)
			c.raw.Parse(b, f.Layout)
			i++
		}
	}
	return dst, nil
}

// AppendChildNames appends the name index for each place of the run of children. It is 0
// for a placeholder.
func (n Node) AppendChildNames(dst []uint16) ([]uint16, error) {
	size := int(n.in.Layout.NodeSize())
	var scratch [form.MaxNodeSize]byte
	for i, end := 0, int(n.raw.ChildCount); i < end; {
		b, err := n.storedChildren(i, end, scratch[:])
		if err != nil {
			return dst, err
		}
		i += len(b) / size
		for ; len(b) >= size; b = b[size:] {
			dst = append(dst, uint16(b[0])|uint16(b[1])<<8)
		}
	}
	return dst, nil
}

// storedChildren returns stored children from place i on, at least one but none from place
// end on.
func (n Node) storedChildren(i, end int, scratch []byte) ([]byte, error) {
	f, size := n.in, int(n.in.Layout.NodeSize())
	off, err := form.Run(f.Regions.Nodes, n.raw.ChildAddr, int(n.raw.ChildCount), int64(size))
	if err != nil {
		return nil, f.BadNode(n.addr, "children: %w", err)
	}
	return f.Elements(off+int64(i*size), end-i, size, scratch)
}

// AppendAttributes appends what Attributes yields. It is faster. If wants is not nil, it leaves out
// the attributes that wants refuses.
func (n Node) AppendAttributes(dst []Attribute, wants func(Attribute) bool) ([]Attribute, error) {
	f, count, from := n.in, int(n.raw.AttrCount), len(dst)
	if count == 0 {
		return dst, nil
	}
	size := int(f.Layout.AttributeSize())
	off, err := form.Run(f.Regions.Attributes, n.raw.AttrAddr, count, int64(size))
	if err != nil {
		return dst, f.BadNode(n.addr, "attributes: %w", err)
	}
	var scratch [form.MaxAttributeSize]byte
	b, err := f.Elements(off, count, size, scratch[:])
	if len(b) == count*size && err == nil {
		prev := uint16(0)
		dst = slices.Grow(dst, count)
		for addr := n.raw.AttrAddr; len(b) >= size; addr.Element++ {
			r := form.ParseAttribute(b)
			typ, err := r.DecodeType()
			if err != nil || r.Name <= prev || int(r.Name) > len(f.Names) || r.Name == f.ValueName && typ != String {
				break
			}
			a := &dst[:len(dst)+1][len(dst)]
			a.in, a.addr, a.name, a.typ, a.bits = f, addr, r.Name, typ, r.Bits
			if wants == nil || wants(*a) {
				dst = dst[:len(dst)+1]
			}
			if prev, b = r.Name, b[size:]; len(b) == 0 {
				return dst, nil
			}
		}
	}
	dst = dst[:from]
	for a, err := range n.Attributes() { // it knows what is wrong
		if err != nil {
			return dst, err
		}
		if wants == nil || wants(a) {
			dst = append(dst, a)
		}
	}
	return dst, nil
}

// AppendAttributeWords appends the words of n's attributes as they are stored. Nobody has checked
// them: [Node.AppendAttributes] says what is wrong with them.
func (n Node) AppendAttributeWords(dst []form.AttributeWord) ([]form.AttributeWord, error) {
	return n.in.AppendAttributeWords(dst, &n.raw, n.addr)
}
