package worldtree

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"lorefs/geometry"
	"lorefs/nodes"
	"lorefs/nodes/editing"
)

// EditOptions are what NewEditable may be told.
type EditOptions struct {
	// Begin is told that a file is about to be edited, before anything of it is looked
	// at: the edit that is logged next belongs to the file as it is now. It is not called
	// while there is an edit to save. Its error is the edit's. Default: nobody is told.
	Begin func(file string) error
	// Log keeps the record of an edit of a file before it counts; its error is the
	// edit's. It must not keep the record itself. [Editable.Replay] takes it back.
	// Default: nothing is kept.
	Log func(file string, record []byte) error
	// Sync makes what was logged durable. Default: nothing is done.
	Sync func() error
	// Encode says how files are written when they are saved. Default: as known
	// files are, which takes long.
	Encode geometry.EncodeOptions
	// Now is the time that edits happen at. Default: time.Now.
	Now func() time.Time
	// MaxText is how many bytes the text of a file may have, MaxTexts how many all may
	// have that are being written, that were refused, or that are nobody's. Default: 256
	// MiB and 1 GiB.
	MaxText, MaxTexts int64
}

// defaultMaxText is more than the JSON of the largest zones has; that of an area of 50 MB
// has about as much.
const defaultMaxText = 256 << 20

// Editable is a Tree of which the JSON of zones, squares and areas can be changed:
// what is written is checked when it is flushed, and shows in everything that is
// made of the zone or area at once. It is safe for parallel use.
//
// A text that is refused is kept, see [editing.Drafts]. The zone, square or area stays as
// it was. It is shown again by who removes the file: another one has the name then.
//
// All other names in those directories are scratch: files and directories in
// memory, which hold anything and are never saved. Moved onto the name of a zone,
// a square or an area, what a scratch file holds becomes that one's content. Zones
// and areas can't be removed, nor made. One that was renamed to a scratch file, as
// editors do, is out of sight until there is a file of its name again, and for
// good stays what it was if there never is.
type Editable struct {
	*Tree
	opts EditOptions
	// methods, owner, times and drafts are what package editing does for all such trees.
	// A file that is written to has its own time, see item.
	methods
	owner  *editing.Owner
	times  *editing.Times
	drafts *editing.Drafts[*place]

	// editing is held by whoever changes something, also while it decodes or logs.
	// It is taken before mu.
	editing sync.Mutex
	// mu guards everything below, and the items, for as long as memory is looked
	// at. Who holds editing may read without it, but for what Forget changes: items.
	mu sync.RWMutex
	// items are the files and directories of which there is more to know than the
	// Tree does.
	items map[nodes.ID]*item
	// dirs are the directories that such are in.
	dirs map[nodes.ID]*dirState
	// made counts the items that got a number of their own, versions those of
	// sources.
	made, versions uint64
}

var (
	_ nodes.Mutable = (*Editable)(nil)
	_ nodes.Xattrer = (*Editable)(nil)
)

// NewEditable makes t editable. Nobody may use t by itself any more.
func NewEditable(t *Tree, opts EditOptions) *Editable {
	if opts.Begin == nil {
		opts.Begin = func(string) error { return nil }
	}
	if opts.Log == nil {
		opts.Log = func(string, []byte) error { return nil }
	}
	if opts.MaxText == 0 {
		opts.MaxText = defaultMaxText
	}
	if opts.MaxTexts == 0 {
		opts.MaxTexts = editing.MaxTexts
	}
	e := &Editable{
		Tree: t, opts: opts,
		items: map[nodes.ID]*item{}, dirs: map[nodes.ID]*dirState{},
	}
	e.owner = editing.NewOwner(e, &e.editing, &e.mu, opts.Sync, opts.Now)
	e.times = e.owner.Times
	e.methods = editing.NewMethods(e.owner, editing.Own[*place]{
		Find: e.find, Remove: e.remove, Rename: e.rename, Exchange: e.exchange,
	})
	e.drafts = editing.NewDrafts(e.owner, editing.Limits{Text: opts.MaxText, Texts: opts.MaxTexts}, editing.Drafted[*place]{
		Of: e.draftOf, All: e.allDrafts, Slot: e.slot,
	}, t.opts.Logger)
	return e
}

// Usage counts the scratch files as well.
func (e *Editable) Usage() nodes.Usage {
	e.mu.RLock()
	defer e.mu.RUnlock()
	u := e.Tree.Usage()
	for _, d := range e.dirs {
		u.Nodes += int64(d.scratch.Len())
	}
	return u
}

// Loose gives the files that are no zones, squares or areas, apart from texts that were
// refused.
func (e *Editable) Loose() (loose editing.Loose) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, i := range e.items {
		if i.name != "" && i.kind != nodes.Dir && i.Problem() == nil && (i.target == nil || i.pending) {
			loose.Add(e.path(i.dir) + "/" + i.name)
		}
	}
	loose.Sort()
	return loose
}

// path spells that of a directory. The caller holds mu.
func (e *Editable) path(dir nodes.ID) string {
	if i := e.items[dir]; i != nil {
		return e.path(i.dir) + "/" + i.name
	}
	n, err := e.node(context.Background(), dir)
	switch {
	case err != nil:
		return "?"
	case n.source != nil:
		return "squares/" + n.name()
	}
	return n.name()
}

// editable tells what can be written to: files of these views.
func (n node) editable() bool {
	return n.source != nil && (n.view == zoneJSON || n.view == areaJSON || n.square >= 0)
}

// holdsEditable tells of directories in which scratch files can be.
func (n node) holdsEditable() bool {
	if n.source != nil {
		return n.view == zoneSquares && n.square < 0
	}
	return n.folder != nil && len(n.folder.views) > 0 && (n.folder.views[0] == zoneJSON || n.folder.views[0] == areaGeoJSON)
}

// itemOf is what there is beyond the Tree of a node, nil for nothing.
func (e *Editable) itemOf(id nodes.ID) *item {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.items[id]
}

// Attr implements [nodes.Tree].
func (e *Editable) Attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	if err := ctx.Err(); err != nil {
		return nodes.Attr{}, err
	}
	attr, err := e.attr(ctx, id)
	if err != nil {
		return nodes.Attr{}, err
	}
	attr.ModTime = e.times.Of(id, attr.ModTime)
	return attr, nil
}

func (e *Editable) attr(ctx context.Context, id nodes.ID) (nodes.Attr, error) {
	seen, known := e.look(id)
	if !known {
		n, err := e.node(ctx, id)
		if err != nil {
			return nodes.Attr{}, err
		}
		attr, err := e.Tree.Attr(ctx, id)
		attr.Writable = n.editable() || n.holdsEditable()
		return attr, err
	}
	attr := nodes.Attr{Kind: seen.kind, Size: int64(len(seen.data)), ModTime: seen.mtime, Writable: true, Removed: seen.removed}
	if seen.kind == nodes.Dir || seen.held {
		return attr, nil
	}
	var err error
	attr.Size, err = e.versionSize(ctx, seen.of, seen.node)
	return attr, err
}

// ReadAt implements [nodes.Tree].
func (e *Editable) ReadAt(ctx context.Context, id nodes.ID, p []byte, off int64) (int, error) {
	seen, known := e.look(id)
	switch {
	case !known:
		return e.Tree.ReadAt(ctx, id, p, off)
	case seen.kind == nodes.Dir:
		return 0, fmt.Errorf("%v: %w", id, nodes.ErrIsDir)
	case off < 0:
		return 0, fmt.Errorf("negative offset %d", off)
	case !seen.held:
		return e.readVersion(ctx, seen.of, seen.node, p, off)
	}
	// Writers change the data in place, so that it is copied under the lock.
	e.mu.RLock()
	defer e.mu.RUnlock()
	if i := e.items[id]; i != nil && i.Held() {
		return i.ReadAt(p, off)
	}
	return nodes.ReadContent(seen.data, p, off)
}

// Lookup implements [nodes.Tree].
func (e *Editable) Lookup(ctx context.Context, dir nodes.ID, name string) (nodes.Entry, error) {
	if entry, ok, err := e.lookScratch(ctx, dir, name); ok || err != nil {
		return entry, err
	}
	entry, err := e.Tree.Lookup(ctx, dir, name)
	if err != nil {
		return nodes.Entry{}, err
	}
	entry, ok, err := e.shown(ctx, dir, entry)
	if err == nil && !ok {
		err = nodes.NotExist(name)
	}
	entry.Next = 0
	return entry, err
}

// ReadDir implements [nodes.Tree]. Scratch files come behind what the Tree has.
func (e *Editable) ReadDir(ctx context.Context, dir nodes.ID, cursor uint64) iter.Seq2[nodes.Entry, error] {
	return func(yield func(nodes.Entry, error) bool) {
		if seen, known := e.look(dir); known {
			if seen.kind != nodes.Dir {
				yield(nodes.Entry{}, fmt.Errorf("%v: %w", dir, nodes.ErrNotDir))
				return
			}
			e.listScratch(ctx, dir, cursor, yield)
			return
		}
		if cursor < scratchCursor {
			for entry, err := range e.Tree.ReadDir(ctx, dir, cursor) {
				ok := true
				if err == nil {
					entry, ok, err = e.shown(ctx, dir, entry)
				}
				if ok && (!yield(entry, err) || err != nil) {
					return
				}
			}
		}
		e.listScratch(ctx, dir, cursor, yield)
	}
}

// shown completes an entry of the Tree; ok is false if it is out of sight.
func (e *Editable) shown(ctx context.Context, dir nodes.ID, entry nodes.Entry) (_ nodes.Entry, ok bool, err error) {
	e.mu.RLock()
	d := e.dirs[dir]
	hidden := d != nil && d.hidden[entry.Name]
	id := entry.ID
	if hidden {
		i := d.names[entry.Name]
		if i == nil {
			e.mu.RUnlock()
			return entry, false, nil
		}
		id = i.id
	}
	_, known := e.items[id]
	e.mu.RUnlock()
	if n, err := e.node(ctx, entry.ID); err == nil {
		entry.Writable = n.editable() || n.holdsEditable()
	}
	entry.ModTime = e.times.Of(id, entry.ModTime)
	if !known {
		return entry, true, nil
	}
	attr, err := e.Attr(ctx, id)
	entry.ID, entry.Size, entry.ModTime, entry.Writable = id, attr.Size, attr.ModTime, attr.Writable
	return entry, true, err
}

// Replay makes an edit again that was logged by an Editable of the same file, before
// anything else is done. Nothing is logged.
func (e *Editable) Replay(ctx context.Context, file string, record []byte) error {
	for _, s := range e.sources {
		if s.file != file {
			continue
		}
		c, err := e.replay(ctx, s.now(), record)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		e.install(s, c)
		return nil
	}
	return fmt.Errorf("%s: %w", file, nodes.ErrNotExist)
}

// change gives a file the content that a text says.
func (e *Editable) change(ctx context.Context, n node, text []byte) error {
	if err := e.begin(n.source.now()); err != nil {
		return err
	}
	c, err := e.parse(ctx, n, text)
	if err != nil || c == nil {
		return e.refusal(n, err)
	}
	if len(c.record) > maxRecord {
		return fmt.Errorf("%w: %d bytes to keep of an edit, where %d are the most", nodes.ErrTooLarge, len(c.record), maxRecord)
	}
	if err := e.opts.Log(n.source.file, c.record); err != nil {
		return err
	}
	before, err := e.image(ctx, n.source.now())
	if err != nil {
		before = nil // it was bad
	}
	e.install(n.source, c)
	e.tell(n.source, before, c.image)
	return nil
}

// refusal makes an error of a text match what the tree calls it, with the file's path.
func (e *Editable) refusal(n node, err error) error {
	if _, bad := errors.AsType[*geometry.JSONError](err); !bad {
		return err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	return nodes.Mark(fmt.Errorf("%s/%s: %w", e.path(e.parent(n)), n.name(), err), nodes.ErrInvalid)
}

// begin makes sure of the file that an edit is to be of. Parsing takes long: a file that
// somebody puts there from here on must not be taken for the one that was edited. Told in
// the other order, it could be.
func (e *Editable) begin(s *version) error {
	if s.edit == nil {
		if err := e.opts.Begin(s.file); err != nil {
			return err
		}
	}
	// What is looked at may come from the cache, while another file lies there.
	return s.check(e.fsys)
}

// maxRecord is the largest record: a journal takes no more.
const maxRecord = 60 << 20

// install makes a change what its source holds.
func (e *Editable) install(s *source, c *change) {
	e.mu.Lock()
	e.versions++
	number := e.versions
	e.mu.Unlock()
	next := *s.now()
	next.edit, next.shown, next.made = c.edit, e.owner.Now(), &made{number: number}
	s.forget()
	s.current.Store(&next)
	// Most will be looked at next; that the cache has no room for it is no error.
	_, _ = e.block(context.Background(), &next, imageBlock, func(context.Context) ([]byte, error) { return c.image, nil })
}

// tell tells of all that is made of a source that it changed.
func (e *Editable) tell(s *source, before, after []byte) {
	for v := range viewCount {
		if forms[v].of == s.kind && v.kindOf() == nodes.File {
			e.owner.Tell(nodes.Change{ID: node{source: s, view: v, square: -1}.id()})
		}
	}
	if s.kind == zone {
		for square := range differ(before, after) {
			e.owner.Tell(nodes.Change{ID: node{source: s, view: zoneSquares, square: square}.id()})
		}
	}
	e.mu.RLock()
	var renamed []nodes.ID
	for id, i := range e.items {
		if i.target != nil && i.target.source == s {
			renamed = append(renamed, id)
		}
	}
	e.mu.RUnlock()
	for _, id := range renamed {
		e.owner.Tell(nodes.Change{ID: id})
	}
}
