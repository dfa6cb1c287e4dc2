package sheettree

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"lorefs/datacenter"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// Editor makes edits of a draft that others edit as well.
type Editor interface {
	// Change makes the edits that plan gives, all or none, by somebody, see
	// [datacenter.Draft.ApplyPlan]. Nobody else edits the draft from before plan is called
	// until it is done.
	Change(ctx context.Context, by any, plan func() ([]datacenter.Edit, error)) error
	// RemoveHidden removes what was renamed to scratch files.
	RemoveHidden(ctx context.Context) error
}

// EditOptions are what NewEditable may be told.
type EditOptions struct {
	// Editor makes the edits. Default: the draft does, so nobody else may edit it.
	Editor Editor
	// Sync makes what the Draft has logged durable. Default: nothing is done.
	Sync func() error
	// Check is asked before a file is opened for writing, as the Tree's may look only now and
	// then whether the source is still the same. Default: only that is asked.
	Check func() error
	// Now is the time that edits happen at. Default: time.Now.
	Now func() time.Time
	// MaxText is how many bytes the text of a file may have, MaxTexts how many all may
	// have that are being written or could not be saved. Default: 200 MiB and 1 GiB.
	MaxText, MaxTexts int64
	// MaxRecord is how long the record of what one text changes may be, see
	// [datacenter.RecordBound]. Default: there is no limit.
	MaxRecord int64
	// Logger is told once of each thing in texts that is not stored. Default: nobody is.
	Logger *slog.Logger
}

// Editable is a Tree whose sheets can be changed: each as a text, which when it is
// closed is compared with the sheet of a [datacenter.Draft]. It is safe for parallel use.
//
// A text that is no sheet is refused, but kept, see [editing.Drafts]. The sheet stays as
// it was.
//
// Files that are not called like a sheet are scratch: they hold any bytes, in memory,
// and are in no saved file. So is a new sheet until its text is one. A schema that
// is written, Name/Name.xsd, gives types and keys to new sheets, for as long as the
// tree lives.
type Editable struct {
	*Tree
	draft *datacenter.Draft
	opts  EditOptions
	// methods, owner, times and drafts are what package editing does for all such trees.
	methods
	owner  *editing.Owner
	times  *editing.Times
	drafts *editing.Drafts[*place]

	// editing is held by whoever changes something, also while the Editor works. It
	// is taken before all that the Editor takes, and before mu.
	editing sync.Mutex
	// mu guards everything below for as long as memory is looked at. Who holds editing
	// may read without it, but for what Forget and the draft's changes change: files,
	// and what is in contents.
	mu sync.RWMutex
	// files are those that are more than a sheet: open for writing, scratch, with a
	// text that was refused, or removed but perhaps still in use.
	files map[nodes.ID]*content
	// folders are those of which there is more to know than the data center does, by
	// name; that of the root is "". byID has those that have an ID of their own.
	folders map[string]*folderState
	byID    map[nodes.ID]*folderState
	// shown are the files of sheets that have not the sheet's own ID, sheets is the
	// inverse.
	shown  map[datacenter.Number]nodes.ID
	sheets map[nodes.ID]datacenter.Number
	// hidden are sheets whose file was renamed to a scratch file, which it is now.
	// Editors do so before they write it anew: the draft keeps the sheet until then,
	// or until the scratch file is removed or all is saved.
	hidden map[datacenter.Number]*content
	// places are where sheets are, if not where the file has them.
	places map[datacenter.Number]sheetPlace
	// made counts the IDs that were given, cursor the scratch files.
	made   uint32
	cursor uint64
	// told is what the user was told of what is not stored.
	told []string
}

var (
	_ nodes.Mutable = (*Editable)(nil)
	_ nodes.Xattrer = (*Editable)(nil)
)

const defaultMaxText = 200 << 20

// NewEditable makes the editable tree of t, which has to be of a draft: d.
func NewEditable(t *Tree, d *datacenter.Draft, opts EditOptions) *Editable {
	if opts.Editor == nil {
		opts.Editor = alone{d}
	}
	if opts.MaxText == 0 {
		opts.MaxText = defaultMaxText
	}
	if opts.MaxTexts == 0 {
		opts.MaxTexts = editing.MaxTexts
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	e := &Editable{
		Tree: t, draft: d, opts: opts,
		files:   map[nodes.ID]*content{},
		folders: map[string]*folderState{}, byID: map[nodes.ID]*folderState{},
		shown: map[datacenter.Number]nodes.ID{}, sheets: map[nodes.ID]datacenter.Number{},
		hidden: map[datacenter.Number]*content{},
		places: map[datacenter.Number]sheetPlace{},
		cursor: scratchCursor,
	}
	if e.opts.Check == nil {
		e.opts.Check = func() error { return nil }
	}
	e.owner = editing.NewOwner(e, &e.editing, &e.mu, opts.Sync, opts.Now)
	e.times = e.owner.Times
	e.methods = editing.NewMethods(e.owner, editing.Own[*place]{
		Find: e.find, Remove: e.remove, Rename: e.rename, Exchange: e.exchange,
	})
	e.drafts = editing.NewDrafts(e.owner, editing.Limits{Text: opts.MaxText, Texts: opts.MaxTexts}, editing.Drafted[*place]{
		Of: e.draftOf, All: e.allDrafts, Slot: e.slot,
	}, opts.Logger)
	d.Watch(e.changed)
	return e
}

// alone is the Editor of a draft that nobody else edits.
type alone struct{ draft *datacenter.Draft }

func (a alone) Change(ctx context.Context, by any, plan func() ([]datacenter.Edit, error)) error {
	return a.draft.ApplyPlan(ctx, by, plan)
}

func (a alone) RemoveHidden(context.Context) error { return nil }

// newID gives an ID that nothing has. The caller holds mu.
func (e *Editable) newID(k kind) nodes.ID {
	e.made++
	return k.id(e.made)
}

// shownID is the ID of the file that shows a sheet. The caller holds mu.
func (e *Editable) shownID(n datacenter.Number) nodes.ID {
	if id, ok := e.shown[n]; ok {
		return id
	}
	return SheetID(n)
}

// sheetOf is the inverse of shownID; n is 0 and ok false for what shows no sheet. The
// caller holds mu.
func (e *Editable) sheetOf(id nodes.ID) (n datacenter.Number, ok bool) {
	if n, ok = e.sheets[id]; ok {
		return n, true
	}
	n, ok = SheetNumber(id)
	if _, other := e.shown[n]; !ok || other || e.hidden[n] != nil {
		return 0, false
	}
	return n, true
}

// show lets a file show a sheet. The caller holds mu.
func (e *Editable) show(n datacenter.Number, id nodes.ID) {
	delete(e.sheets, e.shown[n])
	delete(e.shown, n)
	if id != SheetID(n) {
		e.shown[n], e.sheets[id] = id, n
	}
}

// Usage is the .dat's size, and the number of directories and files now.
func (e *Editable) Usage() nodes.Usage {
	u := e.Tree.Usage()
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, f := range e.folders {
		u.Nodes += int64(len(f.scratch))
	}
	u.Nodes += int64(len(e.byID))
	return u
}

// Attr implements [nodes.Tree].
func (e *Editable) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if err := e.check(ctx); err != nil {
		return nodes.Attr{}, err
	}
	attr, err := e.attr(ctx, id)
	if err != nil {
		return nodes.Attr{}, err
	}
	attr.Writable = true
	attr.ModTime = e.times.Of(id, attr.ModTime)
	return attr, nil
}

func (e *Editable) attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	e.mu.RLock()
	c, state := e.files[id], e.byID[id]
	attr := nodes.Attr{Kind: nodes.File, ModTime: e.Tree.opts.ModTime}
	if c != nil && c.Held() {
		attr.Size, attr.Removed = c.Size(), c.name == ""
		e.mu.RUnlock()
		return attr, nil
	}
	n, isSheet := e.sheetOf(id)
	e.mu.RUnlock()
	if state != nil {
		return nodes.Attr{Kind: nodes.Dir, ModTime: attr.ModTime, Removed: state.removed}, nil
	}
	if !isSheet {
		return e.otherAttr(ctx, id)
	}
	s, ok := e.src.Sheet(n)
	if !ok {
		return nodes.Attr{}, nodes.NotExist(id)
	}
	attr.ModTime = e.modTime(node{kind: sheet, sheet: s})
	var err error
	attr.Size, err = e.size(ctx, node{kind: sheet, sheet: s})
	return attr, err
}

// otherAttr is attr for what the Tree knows, but sheets.
func (e *Editable) otherAttr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if k, _, ok := split(id); ok && k == sheet {
		return nodes.Attr{}, nodes.NotExist(id)
	}
	return e.Tree.Attr(ctx, id)
}

// ReadAt implements [nodes.Tree].
func (e *Editable) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	if err := e.check(ctx); err != nil {
		return 0, err
	}
	e.mu.RLock()
	if c := e.files[id]; c != nil && c.Held() {
		defer e.mu.RUnlock()
		return c.ReadAt(p, off)
	}
	state := e.byID[id]
	n, isSheet := e.sheetOf(id)
	e.mu.RUnlock()
	switch {
	case state != nil:
		return 0, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	case isSheet:
		return e.Tree.ReadAt(ctx, SheetID(n), p, off)
	}
	if _, err := e.otherAttr(ctx, id); err != nil {
		return 0, err
	}
	return e.Tree.ReadAt(ctx, id, p, off)
}
