package bundle

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"lorefs/nodes"
	"lorefs/nodes/overlay"
)

// EditOptions are the options of NewEditable. Check is also called before each edit. Limits.Texts
// bounds all contents that are held until they are saved as well. The default limits are [MaxText]
// and [overlay.MaxTexts].
type EditOptions struct {
	overlay.EditOptions
	// Log keeps the record of an edit before the edit counts. Its error fails the edit. It must
	// not keep the slice. [Editable.Replay] reads the record. Default: nothing is kept.
	Log func(record []byte) error
	// Count is called after an edit with the number of edits that there are. Default: no call.
	Count func(edits int64)
	// Reopen opens a file that a save wrote. The result has to stay readable when the file has
	// another name, or none. It is needed to save.
	Reopen func(f *os.File) (Files, error)
}

// MaxText is the most bytes of a file that is put: as many as one record of the journal takes.
const MaxText = 56 << 20

func (o *EditOptions) setDefaults() {
	o.SetDefaults(overlay.Limits{Text: MaxText, Texts: overlay.MaxTexts})
	if o.Log == nil {
		o.Log = func([]byte) error { return nil }
	}
	if o.Count == nil {
		o.Count = func(int64) {}
	}
}

// Editable is a Tree whose files can be put, removed and renamed. It is safe for parallel use.
type Editable struct {
	*overlay.Tree
	edits *edits
}

// overlayID is the first number that the overlay gives. No source has so many files.
const overlayID nodes.ID = 1 << 40

// NewEditable makes t editable, as files of a format. t must not be used by itself any more.
func NewEditable(t *Tree, f *Format, opts EditOptions) *Editable {
	opts.setDefaults()
	t.writable = true
	e := &edits{Tree: t, format: f, opts: opts, lastID: firstID + nodes.ID(len(t.list))}
	e.rebase()
	return &Editable{edits: e, Tree: overlay.New(e, overlay.Options{FirstID: overlayID, Empty: true, EditOptions: opts.EditOptions})}
}

// Pending returns in how many files the folder differs from the source.
func (e *Editable) Pending() int64 { return e.edits.pending() }

// Replay repeats an edit that an Editable of the same source logged, before anything else is done.
// It logs nothing.
func (e *Editable) Replay(ctx context.Context, record []byte) error {
	ops, err := parseRecord(slices.Clone(record))
	if err != nil {
		return err
	}
	contents, err := e.edits.resolve(ctx, ops)
	if err != nil {
		return err
	}
	return e.edits.install(ops, contents, 0)
}

// edits is the [overlay.Source] of an Editable: the files as they are now, and what the source
// holds.
type edits struct {
	*Tree
	format *Format
	opts   EditOptions
	overlay.Watcher

	// base has what the source holds, by name. Only the end of a save changes it, while nobody
	// edits.
	base map[string]original
	// since has the records of edits since a save began, if one runs. Only editors use both.
	since    [][]byte
	isSaving bool

	// Tree.mu guards the fields below. differs has the names by which the source holds something
	// else, and gone the numbers of those by which the folder has nothing, as far as somebody has
	// asked. lastID and lastPlace are the last ones that were given.
	differs   map[string]struct{}
	gone      map[string]nodes.ID
	lastID    nodes.ID
	lastPlace uint64
	// inMemory is the size of contents that only exist in memory.
	inMemory int64
}

// original is a file of the source.
type original struct {
	*content
	place   uint64
	modTime time.Time
}

var _ overlay.Source = (*edits)(nil)

// rebase makes the files as they are now what the source holds. The caller holds mu, or nobody
// else has e.
func (e *edits) rebase() {
	e.base = make(map[string]original, len(e.list))
	for _, m := range e.list {
		e.base[m.name] = original{m.content, m.place, m.modTime}
		e.lastPlace = max(e.lastPlace, m.place)
	}
	e.differs, e.gone = map[string]struct{}{}, map[string]nodes.ID{}
}

func (e *edits) pending() int64 {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return int64(len(e.differs))
}

// Watch implements [overlay.Source].
func (e *edits) Watch(w overlay.Watcher) { e.Watcher = w }

// Where implements [overlay.Source].
func (e *edits) Where(id nodes.ID) (dir nodes.ID, name string) {
	if m, err := e.file(id); err == nil {
		return nodes.Root, m.name
	}
	return 0, ""
}

// errFlat is why there are no folders.
var errFlat = fmt.Errorf("%w: it holds files, and no folders", nodes.ErrNotPermitted)

// Name implements [overlay.Source].
func (e *edits) Name(_ context.Context, dir nodes.ID, name string) (overlay.Name, error) {
	n := overlay.Name{Text: name}
	if dir == 0 {
		return n, nil
	}
	if err := e.mustBeRoot(dir); err != nil {
		return n, err
	}
	if !overlay.IsScratch(name) {
		n.File.Own, n.Dir.Err = true, errFlat
		if err := e.format.CheckName(name); err != nil {
			n.File.Err = nodes.Mark(err, nodes.ErrInvalid)
		}
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if m := e.byName[name]; m != nil {
		n.ID, n.Kind, n.Writable = m.id, nodes.File, true
	}
	return n, nil
}

// Open implements [overlay.Source].
func (e *edits) Open(ctx context.Context, file nodes.ID) error {
	if _, err := e.file(file); err != nil {
		return err
	}
	return e.check(ctx)
}

// Now implements [overlay.Source].
func (e *edits) Now(_ context.Context, file nodes.ID) (overlay.Content, error) {
	m, err := e.file(file)
	if err != nil {
		return nil, err
	}
	return was{m.content, m.modTime}, nil
}

// Put implements [overlay.Source].
func (e *edits) Put(ctx context.Context, to overlay.Place, text []byte, from overlay.From) (nodes.ID, error) {
	var ops []op
	if from.Hidden != 0 {
		hidden, err := e.file(from.Hidden)
		if err != nil {
			return 0, err
		}
		ops = append(ops, op{kind: opRemove, name: hidden.name})
	}
	name, id := to.Name, to.ID
	if id != 0 {
		m, err := e.file(id)
		if err != nil {
			return 0, err
		}
		if same, err := m.content.isEqual(ctx, text); err != nil {
			return 0, err
		} else if same && len(ops) == 0 {
			return id, nil
		}
		name = m.name
	}
	if id == 0 {
		id = e.newID()
	}
	if err := e.make(ctx, id, append(ops, op{kind: opPut, name: name, text: slices.Clone(text)})...); err != nil {
		return 0, err
	}
	e.Changed(nodes.Change{ID: id})
	return id, nil
}

func (e *edits) newID() nodes.ID {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lastID++
	return e.lastID
}

// Mkdir implements [overlay.Source].
func (e *edits) Mkdir(context.Context, nodes.ID, string) (nodes.ID, error) { return 0, errFlat }

// Move implements [overlay.Source].
func (e *edits) Move(ctx context.Context, m overlay.Move) error {
	from, err := e.file(m.ID)
	if err != nil {
		return err
	}
	o := op{kind: opRename, name: from.name, to: m.To.Name}
	if m.Exchange {
		o.kind = opExchange
	}
	return e.make(ctx, 0, o)
}

// Remove implements [overlay.Source].
func (e *edits) Remove(ctx context.Context, id nodes.ID) error {
	m, err := e.file(id)
	if err != nil {
		return err
	}
	return e.make(ctx, 0, op{kind: opRemove, name: m.name})
}

// maxRecord is the largest record, limited by the journal.
const maxRecord = 60 << 20

// make logs an edit and makes it. A file that is new has the number id.
func (e *edits) make(ctx context.Context, id nodes.ID, ops ...op) error {
	record := appendRecord(nil, ops)
	if len(record) > maxRecord {
		return fmt.Errorf("%w: %d bytes to keep of an edit, where %d are the most", nodes.ErrTooLarge, len(record), maxRecord)
	}
	if err := e.opts.Check(); err != nil {
		return err
	}
	contents, err := e.resolve(ctx, ops)
	if err != nil {
		return err
	}
	if err := e.room(contents); err != nil {
		return err
	}
	if err := e.opts.Log(record); err != nil {
		return err
	}
	if e.isSaving {
		e.since = append(e.since, record)
	}
	if err := e.install(ops, contents, id); err != nil {
		panic(fmt.Sprintf("BUG: an edit that was logged can't be made: %v", err))
	}
	e.opts.Count(e.pending())
	return nil
}

// resolve returns the content that each operation gives a file, if any. What the source holds by
// the same name is taken from there.
func (e *edits) resolve(ctx context.Context, ops []op) ([]*content, error) {
	contents := make([]*content, len(ops))
	for i, o := range ops {
		b, held := e.base[o.name]
		switch o.kind {
		case opBack:
			if !held {
				return nil, fmt.Errorf("%w: the source holds no %q to give back", errRecord, o.name)
			}
			contents[i] = b.content
		case opPut:
			if held {
				same, err := b.isEqual(ctx, o.text)
				if err != nil {
					return nil, err
				}
				if same {
					contents[i] = b.content
					continue
				}
			}
			contents[i] = textContent(o.text)
		}
	}
	return contents, nil
}

// room returns an error if there is no memory for contents. Replay does not ask: what was logged
// while a save ran may be held by the old file, and by no memory, but be new to the new one.
func (e *edits) room(contents []*content) error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	held := e.inMemory
	for _, c := range contents {
		if c != nil {
			held += int64(len(c.bytes))
		}
	}
	if held > max(e.inMemory, e.opts.Limits.Texts) {
		return fmt.Errorf("%w: what is not saved has %d bytes, where %d are the most: commit saves it", nodes.ErrNoSpace, e.inMemory, e.opts.Limits.Texts)
	}
	return nil
}
