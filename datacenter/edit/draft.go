package edit

import (
	"errors"
	"slices"
	"sync"

	"lorefs/datacenter"
)

// Number identifies a logical node or attribute of a [Draft] for as long as the Draft
// lives. For an entry of the first file it is the number of entries before it in a walk (0
// is the root). An entry that was made later has a number above [datacenter.MaxEntries].
type Number uint32

// ErrGone means that a Number does not exist, or that its entry was removed.
var ErrGone = errors.New("it is not there any more")

// Draft is a data center that is being edited: a file and its changes. Only edited nodes
// and their ancestors are objects; all else is read from the file. Runs that several
// parents share in the file are separate here, so an edit under one parent never shows
// under another.
//
// The file of which the Draft was made is the first file. What readers are told refers to
// it as long as the Draft lives: numbers, addresses, and what has changed. What is saved
// and what records say refers to the base. That is the first file, too, until
// [Draft.Rebase] replaces it by a newer one.
//
// A Draft is safe for concurrent use. Edits wait for each other; readers wait for nobody.
// To save, write a [Snapshot], which does not wait for edits either.
type Draft struct {
	first *datacenter.File
	log   func(record []byte) error

	// planning is held during an edit, from before its plan is asked for until the edit is
	// made. It is taken before editing.
	planning sync.Mutex
	// editing is held while something is changed, also during reads of the file. It is
	// taken before mu.
	editing sync.Mutex
	// scratch is a buffer for records, and batch collects edits that may be made again. The
	// holder of editing owns both.
	scratch []byte
	batch   []Edit
	// heights remembers the heights of the first file's runs.
	heights map[datacenter.Address]int
	types   pathTypes
	watched watched
	// shrunk has the nodes from which the current edits removed something.
	shrunk []*draftNode
	away   away

	// mu guards everything below. It is held only for work in memory. The holder of editing
	// may read without it.
	mu   sync.RWMutex
	next Number
	// made counts the edits that were made, and the saves.
	made int64
	draftTree
	// changes says which sheets changed. rebases counts the calls of Rebase.
	changes sheetChanges
	rebases int64
	epochs  epochs

	// pending is the number of changes. Its lock is taken before editing.
	pending netCount
}

// draftTree is the nodes of a Draft, on top of its base.
type draftTree struct {
	base *datacenter.File
	// labels translate numbers of the Draft to numbers of the base.
	labels labels
	root   *draftNode
	// nodes has all draft nodes but the removed ones. owners has the node of each attribute
	// that differs from the first file.
	nodes  map[Number]*draftNode
	owners map[Number]*draftNode
	nameTable
	// entries is the number of logical nodes and attributes.
	entries int64
}

// draftNode is a node that differs from the first file's, or an ancestor of one.
type draftNode struct {
	number Number
	// home is the node in the first file, and base the node in the base. Each is the zero
	// Node if there is none.
	home, base datacenter.Node
	// parent is nil for the root and for removed nodes.
	parent              *draftNode
	homeAttrs, homeKids int
	// The state is changed only after touch. It is the result of an edit at epoch. past has the
	// state before, for Snapshots.
	nodeState
	epoch int64
	past  *pastState
	// differs says that the node may differ between the first file and the base. If it was
	// changed since, saved is the state that it has in the base.
	differs bool
	saved   *nodeState
	// kidAt finds the place of a live child.
	kidAt map[childKey]int
	// deadAttrs and deadKids count the added ones that are dead and not stored.
	deadAttrs, deadKids int
	// orders find neighbours among children of a name, see order.
	orders map[uint16]*siblingOrder
	// had finds the children that the base has, see storedKids.
	had *storedKids
	// again is the removed node of the base that this node was made of, or nil.
	again *goneNode
	// ranked is set once a child has another rank than its ordinal implies. spare is where
	// the search for an unused ordinal begins.
	ranked bool
	spare  uint32
}

// isNone reports whether n is no node.
func isNone(n datacenter.Node) bool { return n == datacenter.Node{} }

// draftAttribute is an attribute of a draft node.
type draftAttribute struct {
	number Number
	name   uint16
	dead   bool
	// edited is set if the value is here, not in the first file at home.
	edited bool
	home   datacenter.Address
	seq    uint32
	value  datacenter.Value
	// stored is set if the base has it at addr. changed is set if its value there is
	// another one.
	stored, changed bool
	addr            datacenter.Address
}

// draftChild is a child of a draft node: a draft node, or a node of the files.
type draftChild struct {
	number Number
	name   uint16
	dead   bool
	// stored is set if the base has it as a child of the same node, at addr. replaced is set instead
	// while a node that was made again is what the base has there.
	stored, replaced bool
	ordinal          uint32
	home             datacenter.Address
	rank             uint64
	node             *draftNode
	seq              uint32
	addr             datacenter.Address
}

// childKey identifies a child among its siblings.
type childKey struct {
	name    uint16
	ordinal uint32
}

// NewDraft starts to edit f. It calls log with a record of each change before the change
// takes effect; an error of log fails the edit. [Draft.Replay] replays the records. log
// must neither keep the record nor call the Draft. If log is nil, nothing is logged.
//
// NewDraft fails with a [datacenter.FormatError] or [datacenter.ErrTooLarge] for a file
// that can't be written anew as it is, such as one with a name that occurs twice.
func NewDraft(f *datacenter.File, log func(record []byte) error) (*Draft, error) {
	d := &Draft{
		first: f, log: log, next: datacenter.MaxEntries + 1, heights: map[datacenter.Address]int{},
		draftTree: draftTree{
			base: f, nodes: map[Number]*draftNode{}, owners: map[Number]*draftNode{}, entries: entriesOf(f),
			labels: labels{again: map[Number]Number{}},
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

// NewNumber returns a number for a node or an attribute that is about to be made. It
// returns 0, with which nothing can be made, once all four billion numbers are used up.
func (d *Draft) NewNumber() Number {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.next
	if n > 0 {
		d.next++ // the number after the last one is 0
	}
	return n
}

// Entries returns the present number of logical nodes and attributes.
func (d *Draft) Entries() int64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.entries
}

func (n *draftNode) attribute(name uint16) int {
	return slices.IndexFunc(n.attrs, func(a draftAttribute) bool { return a.name == name && !a.dead })
}

// numbered returns the place of the live attribute with a number, or -1.
func (n *draftNode) numbered(number Number) int {
	return slices.IndexFunc(n.attrs, func(a draftAttribute) bool { return a.number == number && !a.dead })
}

// compact removes added entries that are dead if they are most of the added ones. Editors
// create and remove many files in one directory. The caller holds mu.
func (n *draftNode) compact() {
	const few = 16
	if n.deadAttrs > few && 2*n.deadAttrs > len(n.attrs)-n.homeAttrs ||
		n.deadKids > few && 2*n.deadKids > len(n.kids)-n.homeKids {
		n.settle()
		n.place(n.homeKids)
	}
}

// settle removes added entries that are dead, unless the base has them. It keeps the order,
// and so the cursors of listings.
func (n *draftNode) settle() {
	attrs := slices.DeleteFunc(n.attrs[n.homeAttrs:], func(a draftAttribute) bool { return a.dead && !a.stored })
	kids := slices.DeleteFunc(n.kids[n.homeKids:], func(k draftChild) bool { return k.dead && !k.stored && !k.replaced })
	n.attrs, n.deadAttrs = n.attrs[:n.homeAttrs+len(attrs)], 0
	n.kids, n.deadKids = n.kids[:n.homeKids+len(kids)], 0
	n.forgetFrom(n.homeKids)
	n.had = nil
}

// place updates kidAt for the children from a place on.
func (n *draftNode) place(from int) {
	for i, k := range n.kids[from:] {
		if !k.dead {
			n.kidAt[childKey{k.name, k.ordinal}] = from + i
		}
	}
}

// counts returns the numbers of live attributes and children.
func (n *draftNode) counts() (attrs, kids int) { return n.attrCount(), len(n.kidAt) }

// depth returns the number of nodes above n.
func (n *draftNode) depth() (depth int) {
	for n.parent != nil {
		n = n.parent
		depth++
	}
	return depth
}
