package sheettree

import (
	"slices"
	"sync"

	"lorefs/datacenter/edit"
	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// EditOptions configure NewEditable. Limits.Texts is also the most bytes of all schemas that are
// written. The default limits are 200 MiB and 1 GiB.
type EditOptions struct {
	overlay.EditOptions
	// MaxRecord is the most bytes of the record of one text's edits, see [edit.RecordBound].
	// Default: there is no limit.
	MaxRecord int64
}

const maxText = 200 << 20

// Editable is a Tree whose sheets can be changed as texts. When a text is closed, it is compared
// with the sheet of a [edit.Draft]. An Editable is safe for parallel use.
//
// Package overlay describes what happens to a text that is not a sheet, and to files whose names
// are neither those of sheets nor of schemas. A new sheet exists once its text is a sheet. A
// schema that is written, Name/Name.xsd, gives types and keys to new sheets, as long as the tree
// lives.
type Editable struct {
	*overlay.Tree
	edits *edits
}

// NewEditable returns the editable tree of t, which has to be a tree of the draft d.
func NewEditable(t *Tree, d *edit.Draft, opts EditOptions) *Editable {
	opts.SetDefaults(overlay.Limits{Text: maxText, Texts: overlay.MaxTexts})
	e := &edits{Tree: t, draft: d, opts: opts, folders: map[string]*folderState{}, byID: map[nodes.ID]*folderState{}}
	return &Editable{edits: e, Tree: overlay.New(e, overlay.Options{FirstID: scratch.id(0), EditOptions: opts.EditOptions})}
}

// Notices returns what the user should know about the texts written so far.
func (e *Editable) Notices() []string {
	e.edits.mu.RLock()
	defer e.edits.mu.RUnlock()
	return slices.Clone(e.edits.told)
}

// edits is the [overlay.Source] of an Editable: the Tree of a draft, the edits by texts, and the
// state of folders that the draft does not know.
type edits struct {
	*Tree
	overlay.Watcher
	draft *edit.Draft
	opts  EditOptions

	// mu guards everything below, only while memory is used. Neither the draft nor the Watcher
	// is called under it.
	mu sync.RWMutex
	// folders has, by name, the folders that have state beyond the data center. The name of the
	// root is "". byID has those with numbers of their own.
	folders map[string]*folderState
	byID    map[nodes.ID]*folderState
	// made counts the numbers that were given. texts is the bytes of all written schemas.
	made  uint32
	texts int64
	// told has the notices for the user of what is not stored.
	told []string
}

var _ overlay.Source = (*edits)(nil)

// Watch implements [overlay.Source].
func (e *edits) Watch(w overlay.Watcher) {
	e.Watcher = w
	e.draft.Watch(e.changed)
}

// Sync implements [overlay.Source].
