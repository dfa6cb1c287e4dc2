package datacenter

import "lorefs/datacenter/internal/form"

// Sorted reports whether every run of children is in the order of the name indexes, as the
// format demands. Only then does ChildNamed search by halving.
func (f *File) Sorted() bool { return f.in.Sorted }

// Sorted reports whether the children of n are in order, with no placeholders among them.
// Then children of one name are neighbours, and ChildNamed takes few steps.
func (n Node) Sorted() bool {
	return n.ChildCount() == 0 || n.in.Sorted && !n.in.Placeholders
}

// Attr returns the attribute of n with a name.
func (n Node) Attr(name string) (Attribute, bool, error) {
	i := n.in.IndexOf(name)
	if i == 0 {
		return Attribute{}, false, nil
	}
	return n.Attribute(i)
}

// Child returns the first child of n with a name.
func (n Node) Child(name string) (Node, bool, error) {
	i := n.in.IndexOf(name)
	if i == 0 {
		return Node{}, false, nil
	}
	return n.ChildNamed(i, 0)
}

// Attribute returns the attribute of n whose name has the given index. It searches a run that
// is not short by halving. If that fails, it searches from the start, since the run may be out
// of order.
func (n Node) Attribute(name uint16) (Attribute, bool, error) {
	f, lo, hi := n.in, 0, int(n.raw.AttrCount)
	if hi == 0 {
		return Attribute{}, false, nil
	}
	if a, found, ok := n.shortRun(name); ok {
		return a, found, nil
	}
	if _, err := form.Run(f.Regions.Attributes, n.raw.AttrAddr, hi, 0); err != nil {
		return Attribute{}, false, f.BadNode(n.addr, "attributes: %w", err)
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		a, err := n.AttributeAt(mid)
		switch {
		case err != nil:
			return Attribute{}, false, err
		case a.name == name:
			return a, true, nil
		case a.name < name:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	for a, err := range n.Attributes() {
		if err != nil {
			return Attribute{}, false, err
		}
		if a.name == name {
			return a, true, nil
		}
	}
	return Attribute{}, false, nil
}

// shortRun is Attribute for nearly all runs: they are short and lie in one block, and nothing is
// wrong with them. ok is false for any other.
func (n Node) shortRun(name uint16) (a Attribute, found, ok bool) {
	const short = 32
	f, count := n.in, int(n.raw.AttrCount)
	size := int(f.Layout.AttributeSize())
	off, err := form.Run(f.Regions.Attributes, n.raw.AttrAddr, count, int64(size))
	if err != nil || count > short {
		return a, false, false
	}
	var scratch [form.MaxAttributeSize]byte
	b, err := f.Elements(off, count, size, scratch[:])
	if err != nil || len(b) < count*size {
		return a, false, false
	}
	prev := uint16(0)
	for addr := n.raw.AttrAddr; len(b) >= size; addr.Element++ {
		r := form.ParseAttribute(b)
		typ, err := r.DecodeType()
		if err != nil || r.Name <= prev || int(r.Name) > len(f.Names) || r.Name == f.ValueName && typ != String {
			return a, false, false
		}
		if r.Name == name {
			a, found = Attribute{in: f, addr: addr, name: name, typ: typ, bits: r.Bits}, true
		}
		prev, b = r.Name, b[size:]
	}
	return a, found, true
}

// ChildNamed returns the child of n that has the name with the given index and ordinal
// children of the same name before it.
func (n Node) ChildNamed(name uint16, ordinal int) (Node, bool, error) {
	f := n.in
	if n.raw.ChildCount == 0 {
		return Node{}, false, nil
	}
	first, err := n.firstNamed(name)
	if err != nil {
		return Node{}, false, err
	}
	if f.Sorted && !f.Placeholders { // children of one name are neighbours
		if first+ordinal >= n.ChildCount() {
			return Node{}, false, nil
		}
		child, err := n.ChildAt(first + ordinal)
		return child, err == nil && child.raw.Name == name, err
	}
	for child, err := range n.ChildrenFrom(first) {
		switch {
		case err != nil:
			return Node{}, false, err
		case child.raw.Name == name && ordinal == 0:
			return child, true, nil
		case child.raw.Name == name:
			ordinal--
		case f.Sorted:
			return Node{}, false, nil
		}
	}
	return Node{}, false, nil
}

// Ordinal returns how many children of n before child have the same name as child.
func (n Node) Ordinal(child Node) (int, error) {
	first, err := n.firstNamed(child.raw.Name)
	if err != nil {
		return 0, err
	}
	if n.in.Sorted && !n.in.Placeholders {
		return n.ChildIndex(child) - first, nil
	}
	ordinal := 0
	for c, err := range n.ChildrenFrom(first) {
		if err != nil {
			return 0, err
		}
		if c.addr == child.addr {
			break
		}
		if c.raw.Name == child.raw.Name {
			ordinal++
		}
	}
	return ordinal, nil
}

// firstNamed returns the place of the first child with a name, or the place where it would
// be. It returns 0 in a file that is not sorted.
func (n Node) firstNamed(name uint16) (int, error) {
	if !n.in.Sorted {
		return 0, nil
	}
	lo, hi := 0, n.ChildCount()
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		// Placeholders have no place in the order: compare the next node instead.
		probe, child := mid, Node{}
		for ; probe < hi; probe++ {
			var err error
			if child, err = n.ChildAt(probe); err != nil {
				return 0, err
			}
			if child.raw.Name != 0 {
				break
			}
		}
		if probe < hi && child.raw.Name < name {
			lo = probe + 1
		} else {
			hi = mid
		}
	}
	return lo, nil
}
