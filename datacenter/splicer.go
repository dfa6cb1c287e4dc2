package datacenter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// ErrWhole means that a file can't be spliced, but can be written as a whole by a [Rewriter]: a name
// or a key definition is new; another layout, key or level of compression is asked for; too much of
// the stream changes; too many elements are unused; or the file breaks a rule of the format.
var ErrWhole = errors.New("it has to be written as a whole")

// maxUnused is the largest share of unused elements in a region, as a divisor: 2 %. A file with more
// is written as a whole, which leaves them out.
const maxUnused = 50

// spareEntries is for how many new nodes there is room from the start. To find room when the first of
// them comes would copy the numbers of all nodes once more.
const spareEntries = 1 << 16

// largestWindow is the window of 32 KiB in a zlib header. A splice keeps the header, but its matches
// may be as far as that.
const largestWindow = 7

// Splicer makes a new file from another one, f, by changing a few places of its inflated data. What
// is given to it resembles what a Rewriter is given, but indexes and addresses are those of f. It is
// for use by one goroutine.
//
// A run that has one referrer, which itself has only one, and so on up to the root, is changed in
// place. Of any other run the changed form is added as a new run. So each node above a change is
// changed in place or added as well. New elements go into the slack of a region's last segment, or
// are inserted behind it. No element changes its address.
type Splicer struct {
	f      *File
	header Header
	names  map[string]uint16

	attributes, nodes spliceRuns
	values            splicedValues
	edits             editList

	// entries is the tally's, as it becomes.
	entries        []uint32
	logical, steps int64
	maxName        uint16
	// nodesBelow has the number of logical nodes in runs of children of f.
	nodesBelow map[runKey]int64
	// lost are the nodes of f whose runs lost a referrer.
	lost []StoredNode

	// open are the nodes that were begun, from the root down. sheets are the names of the sheets in
	// which something changes.
	open   []splicedNode
	sheets map[uint16]bool
	// scratch is for attributes that lie in two blocks of f.
	scratch []byte
	err     error // the first error of a method that returns none
}

// splicedNode is a node that was begun.
type splicedNode struct {
	// was is the node of f, or the zero Node. alone is set if only one path leads to it there, and
	// it keeps its place below its parent.
	was   Node
	alone bool
	// kids are the children in f, and fates says what becomes of each.
	kids  []StoredNode
	fates []fate
	// more is the number of logical nodes that came to it, or less than 0.
	more int64
}

// fate says whether a child stays, changes or goes.
type fate uint8

const (
	gone   fate = iota // it is no child any more
	kept               // it stays as it is
	edited             // it was begun
)

// NewSplicer returns a Splicer of f. It returns an ErrWhole if opts want more than another revision,
// or if f does not follow all rules on which a splice depends.
func NewSplicer(f *File, opts WriteOptions) (*Splicer, error) {
	if err := f.checkSplice(opts); err != nil {
		return nil, err
	}
	if err := f.CheckNames(); err != nil {
		return nil, err
	}
	root, err := f.Root()
	if err != nil {
		return nil, err
	}
	if root.Name() != RootName {
		return nil, whole("its root is called %s", root.Name())
	}
	s := &Splicer{
		f: f, header: f.header, names: make(map[string]uint16, len(f.names)),
		attributes: newSpliceRuns(f.regions.attributes, f.layout.AttributeSize(), &f.sharedAttributes),
		nodes:      newSpliceRuns(f.regions.nodes, f.layout.NodeSize(), &f.sharedNodes),
		values:     newSplicedValues(f),
		entries:    append(make([]uint32, 0, len(f.entries)+spareEntries), f.entries...), logical: f.logical, steps: f.steps, maxName: f.maxName,
		nodesBelow: map[runKey]int64{}, sheets: map[uint16]bool{},
	}
	if opts.Revision != nil && f.layout != LayoutV3 {
		s.header.Revision = *opts.Revision
	}
	for i, name := range f.names {
		s.names[name] = uint16(i + 1)
	}
	return s, s.push(root, true)
}

// checkSplice returns an ErrWhole if a splice of f would not be right.
func (f *File) checkSplice(opts WriteOptions) error {
	inFile, inflated := f.TrailingBytes()
	marker, ok := f.Footer()
	n := len(f.names)
	switch {
	case opts.Layout != LayoutAuto && opts.Layout != f.layout:
		return whole("the layout %v becomes %v", f.layout, opts.Layout)
	case opts.Key != nil && (opts.Key.Key != f.key.Key || opts.Key.IV != f.key.IV):
		return whole("it gets another key")
	case opts.Level != nil:
		return whole("a level of compression is asked for")
	case f.countErr != nil || f.adlerErr != nil || f.noAdler || inFile != 0 || inflated != 0 || !ok || marker != 0:
		return whole("it is damaged")
	case f.zlib[0]>>4 != largestWindow:
		return whole("its stream says that no match is farther than %d bytes", 1<<(8+f.zlib[0]>>4))
	case !f.sorted:
		return whole("its nodes are not in the order of their names")
	case n < 2 || f.names[n-2] != RootName || f.names[n-1] != ValueName:
		return whole("its last names are not %s and %s", RootName, ValueName)
	case len(f.keys) == 0 || f.keys[0] != KeyNames{} || int64(f.regions.keys.count) > MaxKeys:
		return whole("its key definitions are not as they should be")
	}
	return nil
}

// Name returns the index of a name.
func (s *Splicer) Name(name string) uint16 {
	i, ok := s.names[name]
	if !ok {
		s.note(whole("the name %q is new", name))
	}
	return i
}

// Key returns the index of a key definition.
func (s *Splicer) Key(k KeyNames) uint16 {
	i := slices.Index(s.f.keys, k)
	if i < 0 {
		s.note(whole("a key definition is new"))
		return 0
	}
	return uint16(i)
}

// Node returns the stored form of a node of f that stays as it is, with its whole subtree, and
// becomes a child of the node that was begun last.
func (s *Splicer) Node(n Node) (StoredNode, error) {
	p := s.top()
	if i, ok := p.childAt(n); ok && p.fates[i] == gone {
		p.fates[i] = kept
		return n.raw, nil
	}
	s.touch(n.raw.name)
	s.share(n.raw)
	below, err := s.countNodes(n.raw)
	p.more += below
	return n.raw, err
}

// Kept is Node for the address of a node that was a child of the node that was begun last. It reads
// nothing. ok is false for any other node.
func (s *Splicer) Kept(addr Address) (n StoredNode, ok bool) {
	p := s.top()
	first := p.was.raw.childAddr
	i := int(addr.Element) - int(first.Element)
	if addr.Segment != first.Segment || i < 0 || i >= len(p.kids) || p.fates[i] != gone || p.kids[i].name == 0 {
		return n, false
	}
	p.fates[i] = kept
	return p.kids[i], true
}

// Attributes returns the stored attributes of a node of f.
func (s *Splicer) Attributes(n Node) ([]StoredAttribute, error) {
	return s.f.storedAttributes(n.raw.attrAddr, n.raw.attrCount)
}

// Attribute returns the stored form of an attribute of f, with another name.
func (s *Splicer) Attribute(name uint16, a Attribute) (StoredAttribute, error) {
	raw, err := s.f.rawAttribute(a.addr)
	raw.name = name
	return raw, err
}

// Value returns the stored form of a new attribute.
func (s *Splicer) Value(name uint16, v Value) (StoredAttribute, error) {
	raw := v.stored()
	if v.typ == String {
		var err error
		if raw, err = s.values.attribute(v.text); err != nil {
			return raw, err
		}
	}
	raw.name = name
	return raw, nil
}

// Begin begins a child of the node that was begun last. was is what it is in f, or the zero Node. End
// adds its children.
func (s *Splicer) Begin(was Node, name, key uint16, flags KeyFlags, attrs []StoredAttribute) (StoredNode, error) {
	n, err := s.begin(was, name, key, flags)
	if err != nil {
		return n, err
	}
	return n, s.setAttributes(&n, attrs)
}

// BeginSame is Begin for a node of f that keeps its attributes. They are not even read.
func (s *Splicer) BeginSame(was Node, name, key uint16, flags KeyFlags) (StoredNode, error) {
	n, err := s.begin(was, name, key, flags)
	if err != nil {
		return n, err
	}
	n.attrCount = was.raw.attrCount
	s.keepAttributes(&n)
	return n, nil
}

// begin begins a node without attributes.
func (s *Splicer) begin(was Node, name, key uint16, flags KeyFlags) (StoredNode, error) {
	if s.err != nil {
		return StoredNode{}, s.err
	}
	s.touch(name)
	s.touch(was.raw.name)
	s.maxName = max(s.maxName, name)
	p := s.top()
	alone := false
	if i, ok := p.childAt(was); ok && p.fates[i] == gone {
		p.fates[i] = edited
		alone = p.alone && !s.nodes.shared.has(s.f.number(was.addr))
	} else {
		p.more++
		if was.file != nil {
			below, err := s.countNodes(was.raw)
			if err != nil {
				return StoredNode{}, err
			}
			p.more += below - 1
		}
	}
	if err := s.push(was, alone); err != nil {
		return StoredNode{}, err
	}
	return StoredNode{name: name, flags: uint8(flags), key: key}, nil
}

// End adds the children to the node that was begun last, in the order of Compare.
func (s *Splicer) End(_ Node, n *StoredNode, children []StoredNode) error {
	if err := s.setChildren(n, children); err != nil {
		return err
	}
	more := s.top().more
	s.open = s.open[:len(s.open)-1]
	s.top().more += more
	return nil
}

// Root sets the keys, flags, attributes and children of the root.
func (s *Splicer) Root(was Node, key uint16, flags KeyFlags, attrs []StoredAttribute, children []StoredNode) {
	n := StoredNode{name: was.raw.name, flags: uint8(flags), key: key}
	if err := s.setAttributes(&n, attrs); err != nil {
		s.note(err)
		return
	}
	for i, k := range s.top().kids {
		if s.top().fates[i] == gone {
			s.touch(k.name)
		}
	}
	if err := s.setChildren(&n, children); err != nil {
		s.note(err)
		return
	}
	s.logical += s.top().more
	s.setEntries(0, n)
	if n != was.raw {
		s.steps += int64(n.childCount) - int64(was.raw.childCount)
		s.note(s.overwriteNodes(was.addr, n.append(nil, s.f.layout)))
	}
}

// Compare compares siblings by everything but their former place.
func (s *Splicer) Compare(x, y StoredNode) int {
	if x.name != y.name || x.key == 0 && y.key == 0 {
		return int(x.name) - int(y.name)
	}
	c, _ := CompareSiblings(s.keyNames(x), s.keyNames(y), s.f.spell, func(key uint16) int {
		p, pok := s.attribute(x, key)
		q, qok := s.attribute(y, key)
		return compareValues(p, pok, q, qok, func(addr Address) []byte {
			units, err := s.values.units(addr)
			s.note(err)
			return units
		})
	})
	return c
}

// note keeps the first error.
func (s *Splicer) note(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *Splicer) keyNames(n StoredNode) KeyNames {
	if int(n.key) >= len(s.f.keys) {
		return KeyNames{}
	}
	return s.f.keys[n.key]
}

// attribute finds an attribute of a node.
func (s *Splicer) attribute(n StoredNode, name uint16) (StoredAttribute, bool) {
	b, err := s.attributeBytes(n)
	s.note(err)
	for size := int(s.attributes.size); len(b) >= size; b = b[size:] {
		if a := parseAttribute(b); a.name == name {
			return a, true
		}
	}
	return StoredAttribute{}, false
}

// attributeBytes returns the attributes of a node, as they become. They are valid until the next call.
func (s *Splicer) attributeBytes(n StoredNode) ([]byte, error) {
	if n.attrCount == 0 {
		return nil, nil
	}
	size := int(n.attrCount) * int(s.attributes.size)
	if changed, ok := s.attributes.changed[n.attrAddr]; ok {
		return changed[:size], nil
	}
	if s.attributes.isNew(n.attrAddr) {
		return s.attributes.at(n.attrAddr)[:size], nil
	}
	off, err := run(s.f.regions.attributes, n.attrAddr, int(n.attrCount), s.attributes.size)
	if err != nil {
		return nil, fmt.Errorf("datacenter: %w", err)
	}
	if cap(s.scratch) < size {
		s.scratch = make([]byte, size)
	}
	return s.f.view(off, size, s.scratch[:size])
}

// touch notes that a child of the node that was begun last changes, comes or goes.
func (s *Splicer) touch(name uint16) {
	if len(s.open) == 1 && name != 0 {
		s.sheets[name] = true
	}
}

func (s *Splicer) top() *splicedNode { return &s.open[len(s.open)-1] }

// push begins a node.
func (s *Splicer) push(was Node, alone bool) error {
	n := splicedNode{was: was, alone: alone}
	if was.file != nil {
		var err error
		if n.kids, err = s.f.storedChildren(was.raw); err != nil {
			return err
		}
		n.fates = make([]fate, len(n.kids))
	}
	s.open = append(s.open, n)
	return nil
}

// childAt returns the place of a node of f among the children that p has in f.
func (p *splicedNode) childAt(n Node) (int, bool) {
	if n.file == nil || len(p.kids) == 0 || n.addr.Segment != p.was.raw.childAddr.Segment {
		return 0, false
	}
	i := p.was.ChildIndex(n)
	return i, i >= 0 && i < len(p.kids)
}

// storedAttributes returns a run of attributes.
func (f *File) storedAttributes(addr Address, count uint16) ([]StoredAttribute, error) {
	size := int(f.layout.AttributeSize())
	attrs := make([]StoredAttribute, 0, count)
	err := f.eachElement(f.regions.attributes, addr, int(count), size, func(b []byte) {
		attrs = append(attrs, parseAttribute(b))
	})
	return attrs, err
}

// storedChildren returns the run of a node's children, placeholders included.
func (f *File) storedChildren(n StoredNode) ([]StoredNode, error) {
	size := int(f.layout.NodeSize())
	kids := make([]StoredNode, 0, n.childCount)
	err := f.eachElement(f.regions.nodes, n.childAddr, int(n.childCount), size, func(b []byte) {
		kids = append(kids, parseNode(b, f.layout))
	})
	return kids, err
}

// eachElement passes the elements of a run, of size bytes, to visit.
func (f *File) eachElement(segs []segment, addr Address, count, size int, visit func(b []byte)) error {
	if count == 0 {
		return nil
	}
	off, err := run(segs, addr, count, int64(size))
	if err != nil {
		return fmt.Errorf("datacenter: %w", err)
	}
	var scratch [maxNodeSize]byte
	for count > 0 {
		b, err := f.elements(off, count, size, scratch[:])
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

// Write writes the new file. It must be called once. It writes nothing if it returns an ErrWhole.
func (s *Splicer) Write(ctx context.Context, w io.Writer) (*Spliced, error) {
	edits, err := s.finish()
	if err != nil {
		return nil, err
	}
	stream, err := s.f.splice(ctx, w, edits)
	if errors.Is(err, errTooMany) {
		err = whole("%w", err)
	}
	if err != nil {
		return nil, err
	}
	return s.spliced(stream), nil
}

// limit returns an error if a run is too long.
func limit(n int, what string) error {
	if n > math.MaxUint16 {
		return fmt.Errorf("datacenter: %d %s: %w", n, what, ErrTooLarge)
	}
	return nil
}
