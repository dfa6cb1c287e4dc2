package splice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"lorefs/datacenter"
	"lorefs/datacenter/internal/form"
	"lorefs/datacenter/internal/write"
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
	f      *form.File
	header form.Header
	names  map[string]uint16

	attributes, nodes spliceRuns
	values            splicedValues
	edits             editList

	// Entries is the tally's, as it becomes.
	entries        []uint32
	logical, steps int64
	maxName        uint16
	// nodesBelow has the number of logical nodes in runs of children of f.
	nodesBelow map[form.RunKey]int64
	// lost are the nodes of f whose runs lost a referrer.
	lost []form.Node

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
	was   datacenter.Node
	alone bool
	// kids are the children in f, and fates says what becomes of each.
	kids  []form.Node
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
func NewSplicer(file *datacenter.File, opts write.Options) (*Splicer, error) {
	f := file.Form()
	if err := checkSplice(f, opts); err != nil {
		return nil, err
	}
	if err := f.CheckNames(); err != nil {
		return nil, err
	}
	root, err := file.Root()
	if err != nil {
		return nil, err
	}
	if root.Name() != form.RootName {
		return nil, whole("its root is called %s", root.Name())
	}
	s := &Splicer{
		f: f, header: f.Header, names: make(map[string]uint16, len(f.Names)),
		attributes: newSpliceRuns(f.Regions.Attributes, f.Layout.AttributeSize(), &f.SharedAttributes),
		nodes:      newSpliceRuns(f.Regions.Nodes, f.Layout.NodeSize(), &f.SharedNodes),
		values:     newSplicedValues(f),
		entries:    append(make([]uint32, 0, len(f.Entries)+spareEntries), f.Entries...), logical: f.Logical, steps: f.Steps, maxName: f.MaxName,
		nodesBelow: map[form.RunKey]int64{}, sheets: map[uint16]bool{},
	}
	if opts.Revision != nil && f.Layout != form.LayoutV3 {
		s.header.Revision = *opts.Revision
	}
	for i, name := range f.Names {
		s.names[name] = uint16(i + 1)
	}
	return s, s.push(root, true)
}

// checkSplice returns an ErrWhole if a splice of f would not be right.
func checkSplice(f *form.File, opts write.Options) error {
	inFile, inflated := f.Trailing()
	n := len(f.Names)
	switch {
	case opts.Layout != form.LayoutAuto && opts.Layout != f.Layout:
		return whole("the layout %v becomes %v", f.Layout, opts.Layout)
	case opts.Key != nil && (opts.Key.Key != f.Key.Key || opts.Key.IV != f.Key.IV):
		return whole("it gets another key")
	case opts.Level != nil:
		return whole("a level of compression is asked for")
	case f.CountErr != nil || f.AdlerErr != nil || f.NoAdler || inFile != 0 || inflated != 0 || !f.HasFooter() || f.Regions.Marker != 0:
		return whole("it is damaged")
	case f.Zlib[0]>>4 != largestWindow:
		return whole("its stream says that no match is farther than %d bytes", 1<<(8+f.Zlib[0]>>4))
	case !f.Sorted:
		return whole("its nodes are not in the order of their names")
	case n < 2 || f.Names[n-2] != form.RootName || f.Names[n-1] != form.ValueName:
		return whole("its last names are not %s and %s", form.RootName, form.ValueName)
	case len(f.Keys) == 0 || f.Keys[0] != form.KeyNames{} || int64(f.Regions.Keys.Count) > form.MaxKeys:
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
func (s *Splicer) Key(k form.KeyNames) uint16 {
	i := slices.Index(s.f.Keys, k)
	if i < 0 {
		s.note(whole("a key definition is new"))
		return 0
	}
	return uint16(i)
}

// Node returns the stored form of a node of f that stays as it is, with its whole subtree, and
// becomes a child of the node that was begun last.
func (s *Splicer) Node(n datacenter.Node) (form.Node, error) {
	p := s.top()
	if i, ok := p.childAt(n); ok && p.fates[i] == gone {
		p.fates[i] = kept
		return *n.Form(), nil
	}
	s.touch(n.Form().Name)
	s.share(*n.Form())
	below, err := s.countNodes(*n.Form())
	p.more += below
	return *n.Form(), err
}

// Kept is Node for the address of a node that was a child of the node that was begun last. It reads
// nothing. ok is false for any other node.
func (s *Splicer) Kept(addr form.Address) (n form.Node, ok bool) {
	p := s.top()
	first := p.was.Form().ChildAddr
	i := int(addr.Element) - int(first.Element)
	if addr.Segment != first.Segment || i < 0 || i >= len(p.kids) || p.fates[i] != gone || p.kids[i].Name == 0 {
		return n, false
	}
	p.fates[i] = kept
	return p.kids[i], true
}

// Attributes returns the stored attributes of a node of f.
func (s *Splicer) Attributes(n datacenter.Node) ([]form.Attribute, error) {
	return s.f.StoredAttributes(n.Form().AttrAddr, n.Form().AttrCount)
}

// Attribute returns the stored form of an attribute of f, with another name.
func (s *Splicer) Attribute(name uint16, a datacenter.Attribute) (form.Attribute, error) {
	raw, err := s.f.RawAttribute(a.Address())
	raw.Name = name
	return raw, err
}

// Value returns the stored form of a new attribute.
func (s *Splicer) Value(name uint16, v datacenter.Value) (form.Attribute, error) {
	raw := form.NewAttribute(0, v.Type(), v.Bits())
	if v.Type() == form.String {
		var err error
		if raw, err = s.values.attribute(v.Text()); err != nil {
			return raw, err
		}
	}
	raw.Name = name
	return raw, nil
}

// Begin begins a child of the node that was begun last. was is what it is in f, or the zero Node. End
// adds its children.
func (s *Splicer) Begin(was datacenter.Node, name, key uint16, flags form.KeyFlags, attrs []form.Attribute) (form.Node, error) {
	n, err := s.begin(was, name, key, flags)
	if err != nil {
		return n, err
	}
	return n, s.setAttributes(&n, attrs)
}

// BeginSame is Begin for a node of f that keeps its attributes. They are not even read.
func (s *Splicer) BeginSame(was datacenter.Node, name, key uint16, flags form.KeyFlags) (form.Node, error) {
	n, err := s.begin(was, name, key, flags)
	if err != nil {
		return n, err
	}
	n.AttrCount = was.Form().AttrCount
	s.keepAttributes(&n)
	return n, nil
}

// begin begins a node without attributes.
func (s *Splicer) begin(was datacenter.Node, name, key uint16, flags form.KeyFlags) (form.Node, error) {
	if s.err != nil {
		return form.Node{}, s.err
	}
	s.touch(name)
	s.touch(was.Form().Name)
	s.maxName = max(s.maxName, name)
	p := s.top()
	alone := false
	if i, ok := p.childAt(was); ok && p.fates[i] == gone {
		p.fates[i] = edited
		alone = p.alone && !s.nodes.shared.Has(s.f.Number(was.Address()))
	} else {
		p.more++
		if !isNone(was) {
			below, err := s.countNodes(*was.Form())
			if err != nil {
				return form.Node{}, err
			}
			p.more += below - 1
		}
	}
	if err := s.push(was, alone); err != nil {
		return form.Node{}, err
	}
	return form.Node{Name: name, Flags: uint8(flags), Key: key}, nil
}

// End adds the children to the node that was begun last, in the order of Compare.
func (s *Splicer) End(_ datacenter.Node, n *form.Node, children []form.Node) error {
	if err := s.setChildren(n, children); err != nil {
		return err
	}
	more := s.top().more
	s.open = s.open[:len(s.open)-1]
	s.top().more += more
	return nil
}

// Root sets the keys, flags, attributes and children of the root.
func (s *Splicer) Root(was datacenter.Node, key uint16, flags form.KeyFlags, attrs []form.Attribute, children []form.Node) {
	n := form.Node{Name: was.Form().Name, Flags: uint8(flags), Key: key}
	if err := s.setAttributes(&n, attrs); err != nil {
		s.note(err)
		return
	}
	for i, k := range s.top().kids {
		if s.top().fates[i] == gone {
			s.touch(k.Name)
		}
	}
	if err := s.setChildren(&n, children); err != nil {
		s.note(err)
		return
	}
	s.logical += s.top().more
	s.setEntries(0, n)
	if n != *was.Form() {
		s.steps += int64(n.ChildCount) - int64(was.Form().ChildCount)
		s.note(s.overwriteNodes(was.Address(), n.Append(nil, s.f.Layout)))
	}
}

// Compare compares siblings by everything but their former place.
func (s *Splicer) Compare(x, y form.Node) int {
	if x.Name != y.Name || x.Key == 0 && y.Key == 0 {
		return int(x.Name) - int(y.Name)
	}
	c, _ := form.CompareSiblings(s.keyNames(x), s.keyNames(y), s.f.Spell, func(key uint16) int {
		p, pok := s.attribute(x, key)
		q, qok := s.attribute(y, key)
		return form.CompareValues(p, pok, q, qok, func(addr form.Address) []byte {
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

func (s *Splicer) keyNames(n form.Node) form.KeyNames {
	if int(n.Key) >= len(s.f.Keys) {
		return form.KeyNames{}
	}
	return s.f.Keys[n.Key]
}

// attribute finds an attribute of a node.
func (s *Splicer) attribute(n form.Node, name uint16) (form.Attribute, bool) {
	b, err := s.attributeBytes(n)
	s.note(err)
	for size := int(s.attributes.size); len(b) >= size; b = b[size:] {
		if a := form.ParseAttribute(b); a.Name == name {
			return a, true
		}
	}
	return form.Attribute{}, false
}

// attributeBytes returns the attributes of a node, as they become. They are valid until the next call.
func (s *Splicer) attributeBytes(n form.Node) ([]byte, error) {
	if n.AttrCount == 0 {
		return nil, nil
	}
	size := int(n.AttrCount) * int(s.attributes.size)
	if changed, ok := s.attributes.changed[n.AttrAddr]; ok {
		return changed[:size], nil
	}
	if s.attributes.isNew(n.AttrAddr) {
		return s.attributes.at(n.AttrAddr)[:size], nil
	}
	off, err := form.Run(s.f.Regions.Attributes, n.AttrAddr, int(n.AttrCount), s.attributes.size)
	if err != nil {
		return nil, fmt.Errorf("datacenter: %w", err)
	}
	if cap(s.scratch) < size {
		s.scratch = make([]byte, size)
	}
	return s.f.View(off, size, s.scratch[:size])
}

// touch notes that a child of the node that was begun last changes, comes or goes.
func (s *Splicer) touch(name uint16) {
	if len(s.open) == 1 && name != 0 {
		s.sheets[name] = true
	}
}

func (s *Splicer) top() *splicedNode { return &s.open[len(s.open)-1] }

// push begins a node.
func (s *Splicer) push(was datacenter.Node, alone bool) error {
	n := splicedNode{was: was, alone: alone}
	if !isNone(was) {
		var err error
		if n.kids, err = s.f.StoredChildren(*was.Form()); err != nil {
			return err
		}
		n.fates = make([]fate, len(n.kids))
	}
	s.open = append(s.open, n)
	return nil
}

// isNone reports whether n is the zero Node.
func isNone(n datacenter.Node) bool { return n == datacenter.Node{} }

// childAt returns the place of a node of f among the children that p has in f.
func (p *splicedNode) childAt(n datacenter.Node) (int, bool) {
	if isNone(n) || len(p.kids) == 0 || n.Address().Segment != p.was.Form().ChildAddr.Segment {
		return 0, false
	}
	i := p.was.ChildIndex(n)
	return i, i >= 0 && i < len(p.kids)
}

// Write writes the new file. It must be called once. It writes nothing if it returns an ErrWhole.
func (s *Splicer) Write(ctx context.Context, w io.Writer) (*Spliced, error) {
	edits, err := s.finish()
	if err != nil {
		return nil, err
	}
	stream, err := spliceData(ctx, s.f, w, edits)
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
		return fmt.Errorf("datacenter: %d %s: %w", n, what, form.ErrTooLarge)
	}
	return nil
}
