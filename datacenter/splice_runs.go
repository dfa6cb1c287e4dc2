package datacenter

import (
	"cmp"
	"fmt"
	"slices"
)

// spliceRuns are the runs of one region, as they become.
type spliceRuns struct {
	grownRegion
	// shared has the marks of the file and of what was added.
	shared marks
	// stored finds the added runs by their bytes, so that each is stored once.
	stored map[string]Address
	// changed has the runs of the file that are changed in place.
	changed map[Address][]byte
}

func newSpliceRuns(segs []segment, size int64, shared *marks) spliceRuns {
	r := spliceRuns{
		grownRegion: newGrownRegion(segs, size), shared: *shared,
		stored: map[string]Address{}, changed: map[Address][]byte{},
	}
	r.shared.base, r.shared.many = slices.Clone(shared.base), slices.Clone(shared.many)
	return r
}

// share notes one more referrer of a run that has one.
func (r *spliceRuns) share(addr Address, count uint16) {
	if count > 0 {
		r.shared.set(r.shared.number(addr), count)
	}
}

// isPrivate reports whether a run has one referrer.
func (r *spliceRuns) isPrivate(addr Address, count int) bool {
	return r.shared.none(r.shared.number(addr), uint16(count))
}

// spareShare is how many elements of a run that grew get a spare one behind them: what grew once will
// probably grow again.
const spareShare = 32

// add stores a run, unless an equal one was added before, and some unused elements behind it.
func (r *spliceRuns) add(elements []byte, spare int) (addr Address, fresh bool, err error) {
	if len(elements) == 0 {
		return absent, false, nil
	}
	count := int64(len(elements)) / r.size
	if addr, ok := r.stored[string(elements)]; ok {
		r.share(addr, uint16(count))
		return addr, false, nil
	}
	if r.room() < count+int64(spare) {
		spare = 0
	}
	if addr, err = r.place(append(elements, make([]byte, int64(spare)*r.size)...)); err != nil {
		return absent, false, err
	}
	r.stored[string(elements)] = addr
	r.shared.unused += int64(spare)
	r.shared.base = addressBases(r.counts)
	r.shared.grow(addressable(r.counts))
	return addr, true, nil
}

// setAttributes stores the attributes of the node that was begun last.
func (s *Splicer) setAttributes(n *StoredNode, attrs []StoredAttribute) error {
	if err := limit(len(attrs), "attributes"); err != nil {
		return err
	}
	attrs = slices.SortedFunc(slices.Values(attrs), func(x, y StoredAttribute) int { return cmp.Compare(x.name, y.name) })
	var b []byte
	for i, a := range attrs {
		if i > 0 && a.name == attrs[i-1].name {
			return fmt.Errorf("datacenter: %w: %s comes twice", ErrValue, s.f.spell(a.name))
		}
		b = a.append(b, s.f.layout)
	}
	n.attrAddr, n.attrCount = absent, uint16(len(attrs))
	r, top := &s.attributes, s.top()
	if top.was.file == nil {
		var err error
		n.attrAddr, _, err = r.add(b, 0)
		return err
	}
	addr, count := top.was.raw.attrAddr, top.was.raw.attrCount
	was, err := s.f.storedAttributes(addr, count)
	if err != nil {
		return err
	}
	switch {
	case slices.Equal(was, attrs):
		s.keepAttributes(n)
		return nil
	case top.alone && len(attrs) > 0 && len(attrs) <= int(count) && r.isPrivate(addr, int(count)):
		n.attrAddr = addr
		r.changed[addr] = b
		r.shared.unused += int64(int(count) - len(attrs))
		return s.edits.overwrite(s.f, s.f.attributeOffset(addr), b, int(r.size), func(was, is []byte) bool {
			return parseAttribute(was) == parseAttribute(is)
		})
	case top.alone:
		s.lost = append(s.lost, StoredNode{attrAddr: addr, attrCount: count})
	}
	n.attrAddr, _, err = r.add(b, 0)
	return err
}

// keepAttributes keeps the run of attributes of the node that was begun last.
func (s *Splicer) keepAttributes(n *StoredNode) {
	top := s.top()
	n.attrAddr = top.was.raw.attrAddr
	if !top.alone {
		s.attributes.share(n.attrAddr, n.attrCount)
	}
}

// setChildren stores the children of the node that was begun last.
func (s *Splicer) setChildren(n *StoredNode, children []StoredNode) error {
	if err := limit(len(children), "children"); err != nil {
		return err
	}
	top := s.top()
	was := top.was.raw
	if err := s.countGone(); err != nil {
		return err
	}
	n.childCount = uint16(len(children))
	same := slices.Equal(top.kids, children)
	if same && len(children) == 0 {
		n.childAddr = absent
		if top.was.file != nil {
			n.childAddr = was.childAddr // It means nothing, but so the node stays as it is.
		}
		return nil
	}
	if same {
		n.childAddr = was.childAddr
		s.keepChildren(children)
		return nil
	}
	if len(children) > 0 && top.alone && s.fits(was.childAddr, len(top.kids), len(children)) {
		n.childAddr = was.childAddr
		return s.changeChildren(children)
	}
	return s.moveChildren(n, children)
}

// fits reports whether a run of children can become one of another count, in place.
func (s *Splicer) fits(addr Address, was, is int) bool {
	if was == 0 || !s.nodes.isPrivate(addr, was) {
		return false
	}
	if is <= was {
		return true
	}
	// What is behind the run must be unused. A placeholder looks unused, but may be in a run.
	if s.f.placeholders || int64(addr.Element)+int64(is) > int64(s.f.regions.nodes[addr.Segment].addressable()) {
		return false
	}
	for n := s.f.number(addr) + uint32(was); n < s.f.number(addr)+uint32(is); n++ {
		if s.f.entries[n] != 0 || s.entries[n] != 0 || s.nodes.shared.has(n) {
			return false
		}
	}
	return true
}

// keepChildren keeps a run of children as it is. What is below them may have changed.
func (s *Splicer) keepChildren(children []StoredNode) {
	top := s.top()
	addr := top.was.raw.childAddr
	if !top.alone {
		s.nodes.share(addr, top.was.raw.childCount)
		return
	}
	for i, c := range children {
		if n := s.f.number(addr) + uint32(i); c.name != 0 && !s.nodes.shared.has(n) {
			s.setEntries(n, c)
		}
	}
}

// countGone counts the logical nodes that the node that was begun last has lost.
func (s *Splicer) countGone() error {
	top := s.top()
	for i, fate := range top.fates {
		if fate != gone || top.kids[i].name == 0 {
			continue
		}
		below, err := s.countNodes(top.kids[i])
		if err != nil {
			return err
		}
		top.more -= below
	}
	return nil
}

// changeChildren changes a run of children in place. If there are fewer than before, the last nodes
// become unused.
func (s *Splicer) changeChildren(children []StoredNode) error {
	top := s.top()
	addr := top.was.raw.childAddr
	first := s.f.number(addr)
	b := make([]byte, 0, int64(len(children))*s.nodes.size)
	for i, c := range children {
		b = c.append(b, s.f.layout)
		s.setEntries(first+uint32(i), c)
		s.steps += int64(c.childCount)
	}
	for i, k := range top.kids {
		if k.name != 0 {
			s.steps -= int64(k.childCount)
		}
		if i >= len(children) {
			s.entries[first+uint32(i)] = 0
		}
		if top.fates[i] == gone && k.name != 0 {
			s.lost = append(s.lost, k)
		}
	}
	s.nodes.shared.unused += int64(len(top.kids) - len(children))
	return s.overwriteNodes(addr, b)
}

// overwriteNodes changes nodes of the file in place.
func (s *Splicer) overwriteNodes(addr Address, is []byte) error {
	l := s.f.layout
	return s.edits.overwrite(s.f, s.f.nodeOffset(addr), is, int(s.nodes.size), func(was, is []byte) bool {
		return parseNode(was, l) == parseNode(is, l)
	})
}

// moveChildren adds a run of children. Those of the old run that only the node referred to become
// unused.
func (s *Splicer) moveChildren(n *StoredNode, children []StoredNode) error {
	b := make([]byte, 0, int64(len(children))*s.nodes.size)
	for _, c := range children {
		b = c.append(b, s.f.layout)
	}
	top := s.top()
	spare := 0
	if len(children) > len(top.kids) {
		spare = len(children) / spareShare
	}
	addr, fresh, err := s.nodes.add(b, spare)
	if err != nil {
		return err
	}
	n.childAddr = addr
	if fresh {
		first := s.nodes.shared.number(addr)
		s.entries = append(s.entries, make([]uint32, addressable(s.nodes.counts)-int64(len(s.entries)))...)
		for i, c := range children {
			s.setEntries(first+uint32(i), c)
			s.steps += int64(c.childCount)
		}
	}
	for i, k := range top.kids {
		num := s.f.number(top.was.raw.childAddr) + uint32(i)
		alone := top.alone && !s.nodes.shared.has(num)
		if alone {
			s.entries[num] = 0
			s.nodes.shared.unused++
		}
		switch {
		case k.name == 0:
			continue
		case alone && top.fates[i] == gone:
			s.lost = append(s.lost, k)
		case !alone && top.fates[i] == kept:
			s.share(k) // the old run still refers to its runs
		}
		if alone {
			s.steps -= int64(k.childCount)
		}
	}
	return nil
}

// share notes one more referrer of the runs of a node.
func (s *Splicer) share(n StoredNode) {
	s.attributes.share(n.attrAddr, n.attrCount)
	s.nodes.share(n.childAddr, n.childCount)
}

// setEntries sets the number of entries of a stored node. Those of its children are known.
func (s *Splicer) setEntries(number uint32, n StoredNode) {
	sum := 1 + uint64(n.attrCount)
	if n.childCount > 0 {
		first := s.nodes.shared.number(n.childAddr)
		for _, k := range s.entries[first : first+uint32(n.childCount)] {
			sum += uint64(k)
		}
	}
	if sum > MaxEntries {
		s.note(whole("more than %d nodes and attributes", MaxEntries))
		sum = MaxEntries
	}
	s.entries[number] = uint32(sum)
}

// countNodes returns the number of logical nodes in the subtree of a node of f.
func (s *Splicer) countNodes(n StoredNode) (int64, error) {
	if n.childCount == 0 {
		return 1, nil
	}
	k := runKey{n.childAddr, n.childCount}
	below, ok := s.nodesBelow[k]
	if ok {
		return 1 + below, nil
	}
	kids, err := s.f.storedChildren(n)
	if err != nil {
		return 0, err
	}
	for _, c := range kids {
		if c.name == 0 {
			continue
		}
		more, err := s.countNodes(c)
		if err != nil {
			return 0, err
		}
		below += more
	}
	s.nodesBelow[k] = below
	return 1 + below, nil
}

// dropLost finds what nothing refers to any more, since the nodes in lost were its only referrers.
func (s *Splicer) dropLost() error {
	for len(s.lost) > 0 {
		n := s.lost[len(s.lost)-1]
		s.lost = s.lost[:len(s.lost)-1]
		for i := range n.attrCount {
			if !s.attributes.shared.has(s.attributes.shared.number(n.attrAddr) + uint32(i)) {
				s.attributes.shared.unused++
			}
		}
		kids, err := s.f.storedChildren(n)
		if err != nil {
			return err
		}
		for i, k := range kids {
			num := s.f.number(n.childAddr) + uint32(i)
			if s.nodes.shared.has(num) {
				continue
			}
			s.entries[num] = 0
			s.nodes.shared.unused++
			if k.name != 0 {
				s.steps -= int64(k.childCount)
				s.lost = append(s.lost, k)
			}
		}
	}
	return nil
}
