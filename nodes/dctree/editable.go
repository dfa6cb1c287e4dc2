package dctree

import (
	"log/slog"
	"sync"
	"time"

	"lorefs/datacenter"
	"lorefs/datacenter/edit"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// EditOptions are what NewEditable may be told.
type EditOptions struct {
	// Sync makes what the Draft has logged durable. Default: nothing is done.
	Sync func() error
	// Check is asked before a file is opened for writing, as the Tree's may look only now and
	// then whether the source is still the same. Default: only that is asked.
	Check func() error
	// Now is the time that edits happen at. Default: time.Now.
	Now func() time.Time
	// MaxTexts is how many bytes of memory files may take together that are open for
	// writing, or scratch. Default: 256 MiB.
	MaxTexts int64
}

const defaultMaxTexts = 256 << 20

// Editable is a Tree whose nodes and attributes can be changed: what changes is
// kept by a [edit.Draft]. It is safe for parallel use.
//
// Files whose name begins with a dot or ends in ~ are scratch, see package overlay. So is a
// new file until it holds a value that fits. Moved onto the name of an attribute, what a
// scratch file holds becomes the attribute's value.
type Editable struct {
	*overlay.Tree
	edits *edits
}

var (
	_ nodes.Mutable     = (*Editable)(nil)
	_ nodes.XattrSetter = (*Editable)(nil)
)

// NewEditable makes the editable tree of d, which is a draft of the file of t.
func NewEditable(t *Tree, d *edit.Draft, opts EditOptions) *Editable {
	if opts.Sync == nil {
		opts.Sync = func() error { return nil }
	}
	if opts.Check == nil {
		opts.Check = func() error { return nil }
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.MaxTexts == 0 {
		opts.MaxTexts = defaultMaxTexts
	}
	e := &edits{
		Tree: t, draft: d, opts: opts,
		bare: map[edit.Number]bool{}, marked: map[edit.Number]bool{}, types: map[attributeKey]datacenter.Type{},
	}
	return &Editable{edits: e, Tree: overlay.New(e, overlay.Options{
		Empty: true, Now: opts.Now, Limits: overlay.Limits{Text: maxContent, Texts: opts.MaxTexts},
		Logger: slog.New(slog.DiscardHandler),
	})}
}

// edits are the [overlay.Source] of an Editable: the file as its draft has it.
type edits struct {
	*Tree
	overlay.Watcher
	draft *edit.Draft
	opts  EditOptions

	// mu guards everything below for as long as memory is looked at.
	mu sync.RWMutex
	// bare are attributes whose value was written without a newline: they are
	// shown as they were written for as long as the tree lives.
	bare map[edit.Number]bool
	// marked tells of attributes that were created or renamed whether they are
	// spelled @name. All others are spelled as without a draft.
	marked map[edit.Number]bool
	// types are those of removed attributes: one that comes back takes it again.
	types map[attributeKey]datacenter.Type
}

var _ overlay.Valued = (*edits)(nil)

// attributeKey is an attribute by its place.
type attributeKey struct {
	node edit.Number
	name string
}

// Watch implements [overlay.Source].
func (e *edits) Watch(w overlay.Watcher) {
	e.Watcher = w
	e.draft.Watch(e.changed)
}

// Sync implements [overlay.Source].
func (e *edits) Sync() error { return e.opts.Sync() }

// Usage is the .dat's size, and the number of nodes and attributes now.
func (e *edits) Usage() nodes.Usage {
	return nodes.Usage{Bytes: e.Tree.opts.SourceSize, Nodes: e.draft.Entries()}
}
