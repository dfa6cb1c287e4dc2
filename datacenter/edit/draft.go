package edit

import (
	"errors"
	"slices"
	"sync"

	"lorefs/datacenter"
)

// Number tells a logical node or attribute of a [Draft] from all others, for as
// long as the Draft lives. One that the file holds has the number of entries that
// a walk meets before it (0 is the root); one that was made since has a number
// above [datacenter.MaxEntries].
type Number uint32

// ErrGone means that a Number stands for nothing, or for what was removed.
var ErrGone = errors.New("it is not there any more")

// Draft is a data center that is being edited: a file, and what differs from it.
// Only nodes that were edited, and those above them, are objects; all else is
// still read from the file. What several parents share in the file is told
// apart here, so that an edit under one never shows under another.
//
// The file that it was made of stays the one by which all is known that it holds: its
// numbers and addresses, and how what was edited since differs from it, are what readers
// are told as long as the Draft lives. What is saved, and what records say, is about the
// base: that file too, until [Draft.Rebase] puts a newer one in its place.
//
// It is safe for parallel use. Edits wait for each other; reading waits for none. What is
// saved is a [Snapshot], which waits for nobody either.
type Draft struct {
	first *datacenter.File
	log   func(record []byte) error

	// planning is held by whoever edits, from before it says what until that is made. It
	// is taken before editing.
	planning sync.Mutex
	// editing is held by whoever changes something, also while it reads the
	// file. It is taken before mu.
	editing sync.Mutex
	// scratch is for writing records, and batch for edits that may be made again; they
	// belong to the holder of editing.
	scratch []byte
	batch   []Edit
	// heights remembers how deep the first file's runs are.
	heights map[datacenter.Address]int
	types   pathTypes
	watched watched
	// shrunk are the nodes from which the edits at hand took something.
	shrunk []*draftNode

	// mu guards everything below for as long as memory is looked at. Who holds
	// editing may read without it.
	mu   sync.RWMutex
	next Number
	// edits counts what was applied and is in no file yet.
	edits int64
	draftTree
	// changes tells which sheets changed.
	changes sheetChanges
	epochs  epochs
}

// draftTree is what a Draft holds of nodes, on top of its base.
type draftTree struct {
	base *datacenter.File
	// labels tell which numbers nodes have in the base.
	labels labels
	root   *draftNode
	// nodes are all draft nodes, but removed ones, and owners the nodes of all
	// attributes that are not as the first file has them.
	nodes  map[Number]*draftNode
	owners map[Number]*draftNode
	nameTable
	// entries counts the logical nodes and attributes.
	entries int64
}

// draftNode is a node that differs from the first file's, or leads to one that does.
type draftNode struct {
	number Number
	// home is the node of the first file that it was, and base that of the base. Each
	// is the zero Node if there is none.
	home, base datacenter.Node
	// parent is nil for the root, and for what was removed.
	parent              *draftNode
	homeAttrs, homeKids int
	// The state is changed only after touch. It was past before, for Snapshots, and has
	// been what it is since an edit at epoch.
	nodeState
	epoch int64
	past  *pastState
	// kidAt finds a child that lives.
	kidAt map[childKey]int
	// deadAttrs and deadKids count those added ones that are dead and not stored.
	deadAttrs, deadKids int
	// ranked is set once a child has another rank than its ordinal says, and
	// spare is where to look for an ordinal that no child has.
	ranked bool
	spare  uint32
}

// isNone tells whether there is no node.
func isNone(n datacenter.Node) bool { return n == datacenter.Node{} }

// draftAttribute is an attribute of a draft node.
type draftAttribute struct {
	number Number
	name   uint16
	dead   bool
	// edited is set if the value is the one here, not that of the first file at home.
	edited bool
	home   datacenter.Address
	seq    uint32
	value  datacenter.Value
	// stored is set if the base has it at addr, and changed if that has not its value.
	stored, changed bool
	addr            datacenter.Address
}

// draftChild is a child of a draft node: one itself, or a node of the files.
type draftChild struct {
	number Number
	name   uint16
	dead   bool
	// stored is set if the base has it here, at addr.
	stored  bool
	ordinal uint32
	home    datacenter.Address
	rank    uint64
	node    *draftNode
	seq     uint32
	addr    datacenter.Address
}

// childKey tells siblings apart.
type childKey struct {
	name    uint16
	ordinal uint32
}

// NewDraft begins to edit f. log is given a record of each change before it
// counts, and its error is the edit's; [Draft.Replay] takes such records back.
// It must neither keep the record nor call the Draft. nil logs nothing.
//
// A file that could not be written anew as it is, such as one with a name that
// comes twice, is refused by a [datacenter.FormatError] or [datacenter.ErrTooLarge].
func NewDraft(f *datacenter.File, log func(record []byte) error) (*Draft, error) {
	d := &Draft{
		first: f, log: log, next: datacenter.MaxEntries + 1, heights: map[datacenter.Address]int{},
		draftTree: draftTree{
			base: f, nodes: map[Number]*draftNode{}, owners: map[Number]*draftNode{}, entries: entriesOf(f),
		},
	}
	if d.log == nil {
		d.log = func([]byte) error { return nil }
	}
	var err error
	if d.nameTable, err = newNameTable(f); err != nil {
		return nil, err
	}
	root, err := f.Root()
	if err != nil {
		return nil, err
	}
	d.root, err = d.expand(0, root, root)
	if err != nil {
		return nil, err
	}
	d.nodes[0] = d.root
	return d, nil
}

// NewNumber gives a number to what is about to be made. It is 0, with which
// nothing can be made, if the four billion that there are have been given.
func (d *Draft) NewNumber() Number {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.next
	if n > 0 {
		d.next++ // from the last one on to 0
	}
	return n
}

// Pending is how many edits are in no file yet.
func (d *Draft) Pending() int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.edits
}

// Entries is how many logical nodes and attributes there are now.
func (d *Draft) Entries() int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.entries
}

func (n *draftNode) attribute(name uint16) int {
	return slices.IndexFunc(n.attrs, func(a draftAttribute) bool { return a.name == name && !a.dead })
}

// numbered finds the attribute that lives and has a number; -1 if there is none.
func (n *draftNode) numbered(number Number) int {
	return slices.IndexFunc(n.attrs, func(a draftAttribute) bool { return a.number == number && !a.dead })
}

// compact drops what was added and is dead, once it is most of what was added: editors
// make and remove many a file in one place. The caller holds mu.
func (n *draftNode) compact() {
	const few = 16
	if n.deadAttrs > few && 2*n.deadAttrs > len(n.attrs)-n.homeAttrs ||
		n.deadKids > few && 2*n.deadKids > len(n.kids)-n.homeKids {
		n.settle()
		n.place(n.homeKids)
	}
}

// settle drops what was added and is dead, unless the base has it. The order stays, and so
// do the cursors of listings.
func (n *draftNode) settle() {
	attrs := slices.DeleteFunc(n.attrs[n.homeAttrs:], func(a draftAttribute) bool { return a.dead && !a.stored })
	kids := slices.DeleteFunc(n.kids[n.homeKids:], func(k draftChild) bool { return k.dead && !k.stored })
	n.attrs, n.deadAttrs = n.attrs[:n.homeAttrs+len(attrs)], 0
	n.kids, n.deadKids = n.kids[:n.homeKids+len(kids)], 0
}

// place lets children be found at their places, from one on.
func (n *draftNode) place(from int) {
	for i, k := range n.kids[from:] {
		if !k.dead {
			n.kidAt[childKey{k.name, k.ordinal}] = from + i
		}
	}
}

// counts are of the attributes and children that are there.
func (n *draftNode) counts() (attrs, kids int) { return n.attrCount(), len(n.kidAt) }

// depth is how many nodes are above n.
func (n *draftNode) depth() (depth int) {
	for n.parent != nil {
		n = n.parent
		depth++
	}
	return depth
}
