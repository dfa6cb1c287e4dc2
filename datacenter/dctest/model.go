package dctest

import "lorefs/datacenter"

// The names that every data center has as its last ones.
const (
	RootName  = "__root__"
	ValueName = "__value__"
)

// Doc is a data center as a tree.
type Doc struct {
	// Layout is the arrangement of the file. LayoutAuto stands for LayoutV6X64.
	Layout datacenter.Layout
	// Timestamp is written as it is, but 0 stands for official files' -1.
	Timestamp float64
	// Revision is the revision of the graph. Version 3 has none.
	Revision uint32
	// Keys are additional key definitions, before those that nodes use. The empty
	// definition is always the first one and need not be given.
	Keys [][]string
	// Names are additional names, before those in use, in this order. The names in use
	// follow in novadrop's order, and RootName and ValueName last, unless they are named
	// here.
	Names []string
	// Root is the root node. Its children are the sheets.
	Root *Node
}

// Root returns a root node with the given sheets.
func Root(sheets ...*Node) *Node { return &Node{Name: RootName, Children: sheets} }

// Node is an element. A node may have several parents.
type Node struct {
	Name string
	// Keys are the names of the key attributes, at most four. An empty string leaves its
	// place empty.
	Keys  []string
	Flags uint8
	Attrs []Attr
	// Children may be in any order: an image has them sorted as the format requires.
	Children []*Node
	// Placeholder makes this a node without a name, which readers have to skip. Its other
	// fields are ignored. It keeps its position among its siblings.
	Placeholder bool
}

// Attr is an attribute. A node's text is the attribute ValueName.
type Attr struct {
	Name string
	// Value is an int32, int, float32, bool, string, []uint16 or Raw. A string may hold
	// lone surrogates as WTF-8 does.
	Value any
}

// Text returns the attribute that holds a node's text.
func Text(s string) Attr { return Attr{Name: ValueName, Value: s} }

// Raw is a value that is written unchecked.
type Raw struct {
	Type     uint8
	Extended uint16
	Value    uint32
}

// Options choose among the forms that a tree may have in a file. The zero value makes full
// segments, shared equal runs, no slack and zeros as padding.
type Options struct {
	// SegmentSize is the most elements of a segment of nodes or attributes. The default is
	// 65,535. Only a longer run makes a segment larger.
	SegmentSize int
	// StringSegmentSize is the same for segments of characters.
	StringSegmentSize int
	// FullCount is the least full_count of a segment. What exceeds used_count is slack.
	// Official files have 65,535, the default is used_count.
	FullCount int
	// Garbage, if not 0, is the seed of random bits in everything undefined: slack,
	// padding, addresses of nothing. The default is zeros, and 65535:65535 for an address.
	Garbage uint64
	// Placeholders puts a placeholder after that many children. The default is none.
	Placeholders int
	// NoSharing stores every run separately, even if an equal one is stored. The run of a
	// node with several parents is still stored once.
	NoSharing bool
	// Overlap lets a run start inside a longer one with the same end.
	Overlap bool
	// OmitNUL omits the NUL of the last string of each segment of characters. Such segments
	// have no slack.
	OmitNUL bool
	// ShareSuffixes lets a string start inside a longer one with the same end.
	ShareSuffixes bool

	Seal SealOptions

	noSpecialNames bool
}

func (o Options) segmentSize() int {
	if o.SegmentSize == 0 {
		return maxRun
	}
	return o.SegmentSize
}

func (o Options) stringSegmentSize() int {
	if o.StringSegmentSize == 0 {
		return maxRun
	}
	return o.StringSegmentSize
}

// Build returns the file of a data center.
func Build(d Doc, o Options) []byte { return NewImage(d, o).Seal(o.Seal) }
