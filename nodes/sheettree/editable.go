package sheettree

import (
	"log/slog"
	"slices"
	"sync"
	"time"

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
	// MaxText is how many bytes the text of a file may have, MaxTexts how many all may
	// have that are being written or could not be saved, and all schemas that were written.
	// Default: 200 MiB and 1 GiB.
	MaxText, MaxTexts int64
	// MaxRecord is how long the record of what one text changes may be, see
	// [edit.RecordBound]. Default: there is no limit.
	MaxRecord int64
	// Logger is told once of each thing in texts that is not stored. Default: nobody is.
	Logger *slog.Logger
}

const defaultMaxText = 200 << 20

func (o *EditOptions) setDefaults() {
	if o.Sync == nil {
		o.Sync = func() error { return nil }
	}
	if o.Check == nil {
		o.Check = func() error { return nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.MaxText == 0 {
		o.MaxText = defaultMaxText
	}
	if o.MaxTexts == 0 {
		o.MaxTexts = overlay.MaxTexts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// Editable is a Tree whose sheets can be changed: each as a text, which when it is
// closed is compared with the sheet of a [edit.Draft]. It is safe for parallel use.
//
// What becomes of a text that is no sheet, and of files that are called neither like a sheet
// nor like a schema, is told in package overlay. A new sheet is none until its text is one.
// A schema that is written, Name/Name.xsd, gives types and keys to new sheets, for as long as
// the tree lives.
type Editable struct {
	*overlay.Tree
	edits *edits
}

// NewEditable makes the editable tree of t, which has to be of a draft: d.
func NewEditable(t *Tree, d *edit.Draft, opts EditOptions) *Editable {
	opts.setDefaults()
	e := &edits{Tree: t, draft: d, opts: opts, folders: map[string]*folderState{}, byID: map[nodes.ID]*folderState{}}
	return &Editable{edits: e, Tree: overlay.New(e, overlay.Options{
		FirstID: scratch.id(0), Now: opts.Now, Logger: opts.Logger,
		Limits: overlay.Limits{Text: opts.MaxText, Texts: opts.MaxTexts},
	})}
}

// Notices are what the user should know of what was written so far.
func (e *Editable) Notices() []string {
	e.edits.mu.RLock()
	defer e.edits.mu.RUnlock()
	return slices.Clone(e.edits.told)
}

// edits are the [overlay.Source] of an Editable: the Tree of a draft, the edits that texts
// ask for, and what is known of folders that the draft does not know.
type edits struct {
	*Tree
	overlay.Watcher
	draft *edit.Draft
	opts  EditOptions

	// mu guards everything below, for as long as memory is looked at. Neither the draft nor
	// the Watcher is called under it.
	mu sync.RWMutex
	// folders are those of which there is more to know than the data center does, by
	// name; that of the root is "". byID has those that have numbers of their own.
	folders map[string]*folderState
	byID    map[nodes.ID]*folderState
	// made counts the numbers that were given, texts the bytes of schemas that were written.
	made  uint32
	texts int64
	// told is what the user was told of what is not stored.
	told []string
}

var _ overlay.Source = (*edits)(nil)

// Watch implements [overlay.Source].
func (e *edits) Watch(w overlay.Watcher) {
	e.Watcher = w
	e.draft.Watch(e.changed)
}

// Sync implements [overlay.Source].
func (e *edits) Sync() error { return e.opts.Sync() }
