package dctree

import (
	"sync"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// EditOptions configure NewEditable. Its default limits are maxContent and maxTexts.
type EditOptions = overlay.EditOptions

// maxTexts is the most bytes of memory for all files together that are open for writing, or
// scratch.
const maxTexts = 256 << 20

// Editable is a Tree whose nodes and attributes can be changed. A [edit.Draft] keeps the
// changes. An Editable is safe for parallel use.
//
// Files whose name begins with a dot or ends in ~ are scratch, see package overlay. So is a new
// file until its content is a value that fits. If a scratch file is renamed to the name of an
// attribute, its content becomes the attribute's value.
type Editable struct {
	*overlay.Tree
	edits *edits
}

var (
	_ nodes.Mutable     = (*Editable)(nil)
	_ nodes.XattrSetter = (*Editable)(nil)
)

// NewEditable returns the editable tree of d, which has to be a draft of the file of t.
func NewEditable(t *Tree, d *edit.Draft, opts EditOptions) *Editable {
	opts.SetDefaults(overlay.Limits{Text: maxContent, Texts: maxTexts})
	e := &edits{
		Tree: t, draft: d, opts: opts,
		bare: map[edit.Number]bool{}, marked: map[edit.Number]bool{}, types: map[attributeKey]datacenter.Type{},
	}
	return &Editable{edits: e, Tree: overlay.New(e, overlay.Options{Empty: true, EditOptions: opts})}
}

// edits is the [overlay.Source] of an Editable: the tree of the draft.
type edits struct {
	*Tree
	overlay.Watcher
	draft *edit.Draft
	opts  EditOptions

	// mu guards everything below, only while memory is used.
	mu sync.RWMutex
	// bare has the attributes whose value was written without a newline. They are shown without
	// one as long as the tree lives.
	bare map[edit.Number]bool
	// marked says whether an attribute that was created or renamed is spelled @name. The
	// spelling of all others is the same as without a draft.
	marked map[edit.Number]bool
	// types has the types of removed attributes. An attribute that comes back gets its type
	// again.
	types map[attributeKey]datacenter.Type
}

var _ overlay.Valued = (*edits)(nil)

// attributeKey is the place of an attribute.
type attributeKey struct {
	node edit.Number
	name string
}

// Watch implements [overlay.Source].
func (e *edits) Watch(w overlay.Watcher) {
	e.Watcher = w
	e.draft.Watch(e.changed)
}

// Usage returns the size of the .dat, and the present number of nodes and attributes.
func (e *edits) Usage() nodes.Usage {
	return nodes.Usage{Bytes: e.Tree.opts.SourceSize, Nodes: e.draft.Entries()}
}
