package datacenter

// Reading runs in pieces: for walks of a large tree that have to stop and resume anywhere, and
// for comparisons of many nodes.

// AppendChildren appends at most limit nodes of the run of children, from place i on. A
// placeholder is appended as a node whose NameIndex is 0; use nothing else of it.
func (n Node) AppendChildren(dst []Node, i, limit int) ([]Node, error) {
	f := n.file
	end := min(i+limit, int(n.raw.childCount))
	err := n.eachRun(i, end, func(place int, b []byte) {
		addr := n.raw.childAddr
		addr.Element += uint16(place)
		dst = append(dst, Node{file: f, addr: addr, raw: parseNode(b, f.layout)})
	})
	return dst, err
}

// AppendChildNames appends the name index for each place of the run of children. It is 0
// for a placeholder.
func (n Node) AppendChildNames(dst []uint16) ([]uint16, error) {
	err := n.eachRun(0, int(n.raw.childCount), func(_ int, b []byte) {
		dst = append(dst, uint16(b[0])|uint16(b[1])<<8)
	})
	return dst, err
}

// eachRun passes the stored children at the places from i up to end to visit.
func (n Node) eachRun(i, end int, visit func(place int, b []byte)) error {
	if i >= end {
		return nil
	}
	f, size := n.file, int(n.file.layout.NodeSize())
	off, err := run(f.regions.nodes, n.raw.childAddr, int(n.raw.childCount), int64(size))
	if err != nil {
		return f.errorAt(n, "children: %w", err)
	}
	var scratch [maxNodeSize]byte
	for i < end {
		b, err := f.elements(off+int64(i*size), end-i, size, scratch[:])
		if err != nil {
			return err
		}
		for ; len(b) >= size; b = b[size:] {
			visit(i, b)
			i++
		}
	}
	return nil
}

// AppendAttributes appends what Attributes yields. It is faster.
func (n Node) AppendAttributes(dst []Attribute) ([]Attribute, error) {
	f, count, from := n.file, int(n.raw.attrCount), len(dst)
	if count == 0 {
		return dst, nil
	}
	size := int(f.layout.AttributeSize())
	off, err := run(f.regions.attributes, n.raw.attrAddr, count, int64(size))
	if err != nil {
		return dst, f.errorAt(n, "attributes: %w", err)
	}
	var scratch [maxAttributeSize]byte
	b, err := f.elements(off, count, size, scratch[:])
	if len(b) == count*size && err == nil {
		prev := uint16(0)
		for addr := n.raw.attrAddr; len(b) >= size; addr.Element++ {
			r := parseAttribute(b)
			typ, err := r.decodeType()
			if err != nil || r.name <= prev || int(r.name) > len(f.names) || r.name == f.valueName {
				break
			}
			dst = append(dst, Attribute{file: f, addr: addr, name: r.name, typ: typ, bits: r.bits})
			prev, b = r.name, b[size:]
		}
	}
	if len(dst)-from == count {
		return dst, nil
	}
	dst = dst[:from]
	for a, err := range n.Attributes() { // it knows what is wrong
		if err != nil {
			return dst, err
		}
		dst = append(dst, a)
	}
	return dst, nil
}
