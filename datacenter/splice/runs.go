package splice

import (
	"cmp"
	"fmt"
	"slices"

	"lorefs/datacenter/internal/form"
)

// spliceRuns are the runs of one region, as they become.
type spliceRuns struct {
	grownRegion
	// shared has the marks of the file and of what was added.
	shared form.Marks
	// stored finds the added runs by their bytes, so that each is stored once.
	stored map[string]form.Address
	// changed has the runs of the file that are changed in place.
	changed map[form.Address][]byte
}

func newSpliceRuns(segs []form.Segment, size int64, shared *form.Marks) spliceRuns {
	r := spliceRuns{
		grownRegion: newGrownRegion(segs, size), shared: *shared,
		stored: map[string]form.Address{}, changed: map[form.Address][]byte{},
	}
	r.shared.Base, r.shared.Many = slices.Clone(shared.Base), slices.Clone(shared.Many)
	return r
}

// share notes one more referrer of a run that has one.
func (r *spliceRuns) share(addr form.Address, count uint16) {
	if count > 0 {
		r.shared.Set(r.shared.Number(addr), count)
	}
}

// isPrivate reports whether a run has one referrer.
func (r *spliceRuns) isPrivate(addr form.Address, count int) bool {
	return r.shared.None(r.shared.Number(addr), uint16(count))
}

// spareShare is how many elements of a run that grew get a spare one behind them: what grew once will
// probably grow again.
const spareShare = 32

// add stores a run, unless an equal one was added before, and some unused elements behind it.
func (r *spliceRuns) add(elements []byte, spare int) (addr form.Address, fresh bool, err error) {
	if len(elements) == 0 {
		return form.Absent, false, nil
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
		return form.Absent, false, err
	}
	r.stored[string(elements)] = addr
	r.shared.Unused += int64(spare)
	r.shared.Base = form.AddressBases(r.counts)
	r.shared.Grow(form.Addressable(r.counts))
	return addr, true, nil
}

// setAttributes stores the attributes of the node that was begun last.
func (s *Splicer) setAttributes(n *form.Node, attrs []form.Attribute) error {
	if err := limit(len(attrs), "attributes"); err != nil {
		return err
	}
	attrs = slices.SortedFunc(slices.Values(attrs), func(x, y form.Attribute) int { return cmp.Compare(x.Name, y.Name) })
	var b []byte
	for i, a := range attrs {
		if i > 0 && a.Name == attrs[i-1].Name {
			return fmt.Errorf("datacenter: %w: %s comes twice", form.ErrValue, s.f.Spell(a.Name))
		}
		b = a.Append(b, s.f.Layout)
	}
	n.AttrAddr, n.AttrCount = form.Absent, uint16(len(attrs))
	r, top := &s.attributes, s.top()
	if isNone(top.was) {
		var err error
		n.AttrAddr, _, err = r.add(b, 0)
		return err
	}
	addr, count := top.was.Form().AttrAddr, top.was.Form().AttrCount
	was, err := s.f.StoredAttributes(addr, count)
	if err != nil {
		return err
	}
	switch {
	case slices.Equal(was, attrs):
		s.keepAttributes(n)
		return nil
	case top.alone && len(attrs) > 0 && len(attrs) <= int(count) && r.isPrivate(addr, int(count)):
		n.AttrAddr = addr
		r.changed[addr] = b
		r.shared.Unused += int64(int(count) - len(attrs))
		return s.edits.overwrite(s.f, s.f.AttributeOffset(addr), b, int(r.size), func(was, is []byte) bool {
			return form.ParseAttribute(was) == form.ParseAttribute(is)
		})
	case top.alone:
		s.lost = append(s.lost, form.Node{AttrAddr: addr, AttrCount: count})
	}
	n.AttrAddr, _, err = r.add(b, 0)
	return err
}

// keepAttributes keeps the run of attributes of the node that was begun last.
func (s *Splicer) keepAttributes(n *form.Node) {
	top := s.top()
	n.AttrAddr = top.was.Form().AttrAddr
	if !top.alone {
		s.attributes.share(n.AttrAddr, n.AttrCount)
	}
}

// setChildren stores the children of the node that was begun last.
func (s *Splicer) setChildren(n *form.Node, children []form.Node) error {
	if err := limit(len(children), "children"); err != nil {
		return err
	}
	top := s.top()
	was := top.was.Form()
	if err := s.countGone(); err != nil {
		return err
	}
	n.ChildCount = uint16(len(children))
	same := slices.Equal(top.kids, children)
	if same && len(children) == 0 {
		n.ChildAddr = form.Absent
		if !isNone(top.was) {
			n.ChildAddr = was.ChildAddr // It means nothing, but so the node stays as it is.
		}
		return nil
	}
	if same {
		n.ChildAddr = was.ChildAddr
		s.keepChildren(children)
		return nil
	}
	if len(children) > 0 && top.alone && s.fits(was.ChildAddr, len(top.kids), len(children)) {
		n.ChildAddr = was.ChildAddr
		return s.changeChildren(children)
	}
	return s.moveChildren(n, children)
}

// fits reports whether a run of children can become one of another count, in place.
func (s *Splicer) fits(addr form.Address, was, is int) bool {
	if was == 0 || !s.nodes.isPrivate(addr, was) {
		return false
	}
	if is <= was {
		return true
	}
	// What is behind the run must be unused. A placeholder looks unused, but may be in a run.
	if s.f.Placeholders || int64(addr.Element)+int64(is) > int64(s.f.Regions.Nodes[addr.Segment].Addressable()) {
		return false
	}
	for n := s.f.Number(addr) + uint32(was); n < s.f.Number(addr)+uint32(is); n++ {
		if s.f.Entries[n] != 0 || s.entries[n] != 0 || s.nodes.shared.Has(n) {
			return false
		}
	}
	return true
}

// keepChildren keeps a run of children as it is. What is below them may have changed.
func (s *Splicer) keepChildren(children []form.Node) {
	top := s.top()
	addr := top.was.Form().ChildAddr
	if !top.alone {
		s.nodes.share(addr, top.was.Form().ChildCount)
		return
	}
	for i, c := range children {
		if n := s.f.Number(addr) + uint32(i); c.Name != 0 && !s.nodes.shared.Has(n) {
			s.setEntries(n, c)
		}
	}
}

// countGone counts the logical nodes that the node that was begun last has lost.
func (s *Splicer) countGone() error {
	top := s.top()
	for i, fate := range top.fates {
		if fate != gone || top.kids[i].Name == 0 {
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
func (s *Splicer) changeChildren(children []form.Node) error {
	top := s.top()
	addr := top.was.Form().ChildAddr
	first := s.f.Number(addr)
	b := make([]byte, 0, int64(len(children))*s.nodes.size)
	for i, c := range children {
		b = c.Append(b, s.f.Layout)
		s.setEntries(first+uint32(i), c)
		s.steps += int64(c.ChildCount)
	}
	for i, k := range top.kids {
		if k.Name != 0 {
			s.steps -= int64(k.ChildCount)
		}
		if i >= len(children) {
			s.entries[first+uint32(i)] = 0
		}
		if top.fates[i] == gone && k.Name != 0 {
			s.lost = append(s.lost, k)
		}
	}
	s.nodes.shared.Unused += int64(len(top.kids) - len(children))
	return s.overwriteNodes(addr, b)
}

// overwriteNodes changes nodes of the file in place.
func (s *Splicer) overwriteNodes(addr form.Address, is []byte) error {
	l := s.f.Layout
	return s.edits.overwrite(s.f, s.f.NodeOffset(addr), is, int(s.nodes.size), func(was, is []byte) bool {
		return form.ParseNode(was, l) == form.ParseNode(is, l)
	})
}

// moveChildren adds a run of children. Those of the old run that only the node referred to become
// unused.
func (s *Splicer) moveChildren(n *form.Node, children []form.Node) error {
	b := make([]byte, 0, int64(len(children))*s.nodes.size)
	for _, c := range children {
		b = c.Append(b, s.f.Layout)
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
	n.ChildAddr = addr
	if fresh {
		first := s.nodes.shared.Number(addr)
		s.entries = append(s.entries, make([]uint32, form.Addressable(s.nodes.counts)-int64(len(s.entries)))...)
		for i, c := range children {
			s.setEntries(first+uint32(i), c)
			s.steps += int64(c.ChildCount)
		}
	}
	for i, k := range top.kids {
		num := s.f.Number(top.was.Form().ChildAddr) + uint32(i)
		alone := top.alone && !s.nodes.shared.Has(num)
		if alone {
			s.entries[num] = 0
			s.nodes.shared.Unused++
		}
		switch {
		case k.Name == 0:
			continue
		case alone && top.fates[i] == gone:
			s.lost = append(s.lost, k)
		case !alone && top.fates[i] == kept:
			s.share(k) // the old run still refers to its runs
		}
		if alone {
			s.steps -= int64(k.ChildCount)
		}
	}
	return nil
}

// share notes one more referrer of the runs of a node.
func (s *Splicer) share(n form.Node) {
	s.attributes.share(n.AttrAddr, n.AttrCount)
	s.nodes.share(n.ChildAddr, n.ChildCount)
}

// setEntries sets the number of entries of a stored node. Those of its children are known.
func (s *Splicer) setEntries(number uint32, n form.Node) {
	sum := 1 + uint64(n.AttrCount)
	if n.ChildCount > 0 {
		first := s.nodes.shared.Number(n.ChildAddr)
		for _, k := range s.entries[first : first+uint32(n.ChildCount)] {
			sum += uint64(k)
		}
	}
	if sum > form.MaxEntries {
		s.note(whole("more than %d nodes and attributes", form.MaxEntries))
		sum = form.MaxEntries
	}
	s.entries[number] = uint32(sum)
}

// countNodes returns the number of logical nodes in the subtree of a node of f.
func (s *Splicer) countNodes(n form.Node) (int64, error) {
	if n.ChildCount == 0 {
		return 1, nil
	}
	k := form.RunKey{Addr: n.ChildAddr, Count: n.ChildCount}
	below, ok := s.nodesBelow[k]
	if ok {
		return 1 + below, nil
	}
	kids, err := s.f.StoredChildren(n)
	if err != nil {
		return 0, err
	}
	for _, c := range kids {
		if c.Name == 0 {
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
		for i := range n.AttrCount {
			if !s.attributes.shared.Has(s.attributes.shared.Number(n.AttrAddr) + uint32(i)) {
				s.attributes.shared.Unused++
			}
		}
		kids, err := s.f.StoredChildren(n)
		if err != nil {
			return err
		}
		for i, k := range kids {
			num := s.f.Number(n.ChildAddr) + uint32(i)
			if s.nodes.shared.Has(num) {
				continue
			}
			s.entries[num] = 0
			s.nodes.shared.Unused++
			if k.Name != 0 {
				s.steps -= int64(k.ChildCount)
				s.lost = append(s.lost, k)
			}
		}
	}
	return nil
}
